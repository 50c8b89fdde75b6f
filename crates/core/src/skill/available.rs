//! Which skills can be used now: a skill that lacks something is not, nor one that requires it.

use super::requires::{Kind, Missing, Requires, World};
use std::cell::RefCell;
use std::collections::HashMap;

/// A skill and what it needs.
#[derive(Debug, Clone, Copy)]
pub struct Need<'a> {
    /// Its name.
    pub name: &'a str,
    /// What it needs.
    pub requires: &'a Requires,
}

/// How far a skill has been looked at.
enum Looked {
    /// It is being looked at: whoever asks is required by it.
    Now,
    Done(Vec<Missing>),
}

/// How long a chain of skills that require each other may be.
const LONGEST_CHAIN: usize = 64;

/// Returns, for each skill that cannot be used, what it lacks. Skills that are not there are not asked for.
pub fn unavailable<'a>(skills: &[Need<'a>], world: &dyn World) -> HashMap<&'a str, Vec<Missing>> {
    // Most need nothing, and are not looked at at all.
    if skills.iter().all(|need| need.requires.needs.is_empty()) {
        return HashMap::new();
    }
    let known: HashMap<&str, &'a Requires> = skills.iter().map(|need| (need.name, need.requires)).collect();
    let looked = RefCell::new(HashMap::new());
    for need in skills.iter().filter(|need| !need.requires.needs.is_empty()) {
        look(need.name, need.requires, &known, world, &looked, 0);
    }
    let lacking = looked.into_inner().into_iter().filter_map(|(name, looked)| match looked {
        Looked::Done(missing) if !missing.is_empty() => Some((name, missing)),
        _ => None,
    });
    lacking.collect()
}

fn look<'a>(
    name: &'a str,
    requires: &'a Requires,
    known: &HashMap<&str, &'a Requires>,
    world: &dyn World,
    looked: &RefCell<HashMap<&'a str, Looked>>,
    depth: usize,
) {
    if looked.borrow().contains_key(name) {
        return;
    }
    looked.borrow_mut().insert(name, Looked::Now);
    for need in requires.needs.iter().filter(|need| matches!(need.kind, Kind::Skill | Kind::Any)) {
        if let Some((name, requires)) =
            known.get(need.name.as_str()).map(|requires| (need.name.as_str(), *requires))
            && depth < LONGEST_CHAIN
        {
            look(name, requires, known, world, looked, depth + 1);
        }
    }
    let skill = |wanted: &str| {
        let Some(requires) = known.get(wanted) else { return Err(None) };
        match looked.borrow().get(wanted) {
            Some(Looked::Now) => Err(Some("it requires this one in turn".to_owned())),
            Some(Looked::Done(missing)) if missing.is_empty() => Ok(()),
            Some(Looked::Done(missing)) => Err(Some(missing[0].to_string())),
            None if requires.needs.is_empty() => Ok(()),
            None => Err(Some("too many skills require each other".to_owned())),
        }
    };
    let missing = requires.missing(world, &skill);
    looked.borrow_mut().insert(name, Looked::Done(missing));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Value;

    struct Nothing;

    impl World for Nothing {
        fn mcp(&self, _: &str) -> Result<(), Option<String>> {
            Err(None)
        }
        fn program(&self, name: &str) -> bool {
            name == "git"
        }
        fn variable(&self, _: &str) -> bool {
            false
        }
        fn capability(&self, _: &str) -> Result<(), Option<String>> {
            Err(None)
        }
        fn ability(&self, _: &str) -> Result<(), Option<String>> {
            Err(None)
        }
    }

    #[test]
    fn a_skill_falls_with_what_it_requires() {
        let requires: Vec<(&str, Requires)> = [
            ("free", None),
            ("needs-git", Some("bin:git")),
            ("needs-jq", Some("bin:jq")),
            ("on-top", Some("skill:needs-jq")),
            ("higher", Some("skill:on-top, free")),
            ("one", Some("skill:other")),
            ("other", Some("skill:one")),
            ("lost", Some("skill:nowhere")),
        ]
        .into_iter()
        .map(|(name, text)| {
            (name, text.map(|text| Requires::read(&Value::Text(text.into()))).unwrap_or_default())
        })
        .collect();
        let needs: Vec<Need<'_>> = requires.iter().map(|(name, requires)| Need { name, requires }).collect();
        let unavailable = unavailable(&needs, &Nothing);
        let mut lines: Vec<String> =
            unavailable.iter().map(|(name, missing)| format!("{name}: {}", missing[0])).collect();
        lines.sort();
        assert_eq!(
            lines,
            [
                "higher: the skill `on-top` cannot be used: the skill `needs-jq` cannot be used: the program `jq` is not there",
                "lost: the skill `nowhere` is not there",
                "needs-jq: the program `jq` is not there",
                "on-top: the skill `needs-jq` cannot be used: the program `jq` is not there",
                "one: the skill `other` cannot be used: the skill `one` cannot be used: it requires this one in turn",
                "other: the skill `one` cannot be used: it requires this one in turn",
            ]
        );
    }
}
