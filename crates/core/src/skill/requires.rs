//! What a skill needs before it can be used, and which of it is missing.

use crate::diagnostic::excerpt;
use crate::value::Value;
use std::fmt;

/// What a skill needs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Requires {
    /// Each must be there.
    pub needs: Vec<Requirement>,
    /// What is written under `requires` and cannot be looked for, each as a sentence.
    pub unclear: Vec<String>,
}

/// One thing that a skill needs.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// What kind of thing.
    pub kind: Kind,
    /// Its name.
    pub name: String,
}

crate::definition::words! {
    /// What kind of thing a skill needs.
    Kind {
        /// An MCP server that answers.
        Mcp = "mcp",
        /// A program on the `PATH`.
        Bin = "bin",
        /// One of several programs on the `PATH`; their names are separated by `|`.
        AnyBin = "any-bin",
        /// An environment variable that is set.
        Env = "env",
        /// Another skill that is available.
        Skill = "skill",
        /// A capability that works here.
        Capability = "capability",
        /// An ability that can be run.
        Ability = "ability",
        /// Any of the above by that name.
        Any = "any",
    }
}

/// Something that a skill needs and that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// What.
    pub requirement: Requirement,
    /// Why it does not count, if more is known than that it is not there.
    pub why: Option<String>,
}

/// What there is, as far as skills may need it. Asked only for what a skill names.
pub trait World {
    /// Says why an MCP server cannot be used; nothing when it can.
    fn mcp(&self, server: &str) -> Result<(), Option<String>>;
    /// Says whether a program is on the `PATH`.
    fn program(&self, name: &str) -> bool;
    /// Says whether an environment variable is set and not empty.
    fn variable(&self, name: &str) -> bool;
    /// Says why a capability cannot be used; nothing when it can.
    fn capability(&self, id: &str) -> Result<(), Option<String>>;
    /// Says why an ability cannot be run; nothing when it can.
    fn ability(&self, name: &str) -> Result<(), Option<String>>;
}

impl Requires {
    /// Reads a string, a list or a map.
    pub fn read(value: &Value) -> Self {
        Self::default().and(value)
    }

    /// Adds what another part of the file says.
    #[must_use]
    pub fn and(mut self, value: &Value) -> Self {
        self.add(Kind::Any, value);
        let mut known = std::collections::BTreeSet::new();
        self.needs.retain(|need| known.insert(need.clone()));
        self
    }

    fn add(&mut self, kind: Kind, value: &Value) {
        match value {
            Value::Null => {}
            value if kind == Kind::AnyBin => self.add_one_of(value),
            Value::Text(text) => {
                // `a, b` is a list to the people who write it.
                for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                    self.add_word(kind, part);
                }
            }
            Value::List(items) => {
                for item in items {
                    match item {
                        Value::List(_) => self.unclear.push("a list in a list is not read".to_owned()),
                        item => self.add(kind, item),
                    }
                }
            }
            Value::Map(entries) if kind == Kind::Any => match named(entries) {
                Some((kind, name)) => self.add(kind, name),
                None => {
                    for (key, value) in entries {
                        match kind_of(key) {
                            Some(kind) => self.add(kind, value),
                            None => self.unclear.push(format!(
                                "`{}` is not a kind of thing that abide looks for",
                                excerpt(key)
                            )),
                        }
                    }
                }
            },
            // What stands below a kind says how each must be, by its name: `bins: { node: '>=18' }`.
            Value::Map(entries) => {
                for (name, how) in entries {
                    match how {
                        Value::Bool(false) => {}
                        Value::Null | Value::Bool(true) => self.add_word(kind, name),
                        how => {
                            self.add_word(kind, name);
                            if matches!(how, Value::Text(text) if text.starts_with(['<', '>', '=', '~', '^']))
                                || matches!(how, Value::Int(_) | Value::Float(_))
                            {
                                let how = how.to_string();
                                self.unclear.push(format!(
                                    "the version of `{}` ({}) is not looked at",
                                    excerpt(name),
                                    excerpt(&how)
                                ));
                            }
                        }
                    }
                }
            }
            other => self.unclear.push(format!("{} does not name anything", other.kind())),
        }
    }

    /// Adds programs of which one must be there.
    fn add_one_of(&mut self, value: &Value) {
        let mut each = Self::default();
        each.add(Kind::Bin, value);
        self.unclear.append(&mut each.unclear);
        let names: Vec<String> = each.needs.into_iter().map(|need| need.name).collect();
        if !names.is_empty() {
            self.needs.push(Requirement { kind: Kind::AnyBin, name: names.join("|") });
        }
    }

    fn add_word(&mut self, kind: Kind, word: &str) {
        let (kind, name) = match word.split_once(':') {
            Some((prefix, name)) if kind == Kind::Any => match kind_of(prefix.trim()) {
                Some(kind) => (kind, name.trim()),
                None => (kind, word),
            },
            _ => (kind, word),
        };
        let fits = !name.is_empty()
            && name.chars().all(|character| {
                character.is_alphanumeric() || matches!(character, '-' | '_' | '.' | '/' | '@' | '+' | ':')
            });
        if fits {
            self.needs.push(Requirement { kind, name: name.to_owned() });
        } else {
            self.unclear
                .push(format!("`{}` is a sentence, not a name, and is not looked for", excerpt(word)));
        }
    }

    /// Returns what is missing; `skill` says why a skill cannot be used.
    pub fn missing(
        &self,
        world: &dyn World,
        skill: &dyn Fn(&str) -> Result<(), Option<String>>,
    ) -> Vec<Missing> {
        let missing = |requirement: &Requirement| {
            let name = requirement.name.as_str();
            let found = match requirement.kind {
                Kind::Mcp => world.mcp(name),
                Kind::Bin => world.program(name).then_some(()).ok_or(None),
                Kind::AnyBin => name.split('|').any(|name| world.program(name)).then_some(()).ok_or(None),
                Kind::Env => world.variable(name).then_some(()).ok_or(None),
                Kind::Skill => skill(name),
                Kind::Capability => world.capability(name),
                Kind::Ability => world.ability(name),
                Kind::Any => any(name, world, skill),
            };
            found.err().map(|why| Missing { requirement: requirement.clone(), why })
        };
        self.needs.iter().filter_map(missing).collect()
    }
}

/// Looks for a name in every place; the most telling reason is the answer when it is in none.
fn any(
    name: &str,
    world: &dyn World,
    skill: &dyn Fn(&str) -> Result<(), Option<String>>,
) -> Result<(), Option<String>> {
    let mut reason = None;
    for found in [world.mcp(name), world.capability(name)] {
        match found {
            Ok(()) => return Ok(()),
            Err(why) => reason = reason.or(why),
        }
    }
    if world.program(name) {
        return Ok(());
    }
    for found in [skill(name), world.ability(name)] {
        match found {
            Ok(()) => return Ok(()),
            Err(why) => reason = reason.or(why),
        }
    }
    Err(reason)
}

/// Reads `{ name: x, type: bin }`; nothing if a map says something else.
fn named(entries: &[(String, Value)]) -> Option<(Kind, &Value)> {
    let under = |keys: [&str; 2]| {
        entries.iter().find(|(key, _)| keys.contains(&key.as_str())).map(|(_, value)| value)
    };
    let name = under(["name", "id"]).filter(|name| matches!(name, Value::Text(_)))?;
    let kind = match under(["type", "kind"]) {
        Some(Value::Text(word)) => kind_of(word).unwrap_or(Kind::Any),
        _ => Kind::Any,
    };
    Some((kind, name))
}

fn kind_of(word: &str) -> Option<Kind> {
    Some(match word {
        "mcp" | "mcps" | "mcp_server" | "mcp_servers" | "mcp-servers" | "servers" | "integration"
        | "integrations" => Kind::Mcp,
        "bin" | "bins" | "binary" | "binaries" | "command" | "commands" | "program" | "programs" | "cli" => {
            Kind::Bin
        }
        "anyBins" | "any_bins" | "any-bins" | "anyBin" | "any_bin" | "any-bin" => Kind::AnyBin,
        "env" | "envs" | "environment" => Kind::Env,
        "skill" | "skills" => Kind::Skill,
        "capability" | "capabilities" => Kind::Capability,
        "ability" | "abilities" => Kind::Ability,
        "any" => Kind::Any,
        _ => return None,
    })
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = excerpt(&self.name);
        match self.kind {
            Kind::Mcp => write!(out, "the MCP server `{name}`"),
            Kind::Bin => write!(out, "the program `{name}`"),
            Kind::AnyBin => write!(out, "one of the programs `{}`", name.replace('|', "`, `")),
            Kind::Env => write!(out, "the environment variable `{name}`"),
            Kind::Skill => write!(out, "the skill `{name}`"),
            Kind::Capability => write!(out, "the capability `{name}`"),
            Kind::Ability => write!(out, "the ability `{name}`"),
            Kind::Any => {
                write!(out, "`{name}` (an MCP server, a capability, a program, a skill or an ability)")
            }
        }
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.why {
            Some(why) => write!(out, "{} cannot be used: {why}", self.requirement),
            None => write!(out, "{} is not there", self.requirement),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Only;

    impl World for Only {
        fn mcp(&self, server: &str) -> Result<(), Option<String>> {
            match server {
                "notion" => Ok(()),
                "broken" => Err(Some("it does not answer".into())),
                _ => Err(None),
            }
        }
        fn program(&self, name: &str) -> bool {
            name == "git"
        }
        fn variable(&self, name: &str) -> bool {
            name == "TOKEN"
        }
        fn capability(&self, _: &str) -> Result<(), Option<String>> {
            Err(None)
        }
        fn ability(&self, _: &str) -> Result<(), Option<String>> {
            Err(None)
        }
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    fn missing(value: &Value) -> Vec<String> {
        let skill = |name: &str| if name == "other" { Ok(()) } else { Err(None) };
        Requires::read(value).missing(&Only, &skill).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_shape_is_read() {
        assert_eq!(missing(&text("notion")), [] as [&str; 0]);
        assert_eq!(missing(&text("notion, git, other")), [] as [&str; 0]);
        assert_eq!(missing(&Value::List(vec![text("bin:git"), text("env: TOKEN")])), [] as [&str; 0]);
        let map = Value::Map(vec![
            ("bins".into(), Value::List(vec![text("git"), text("jq")])),
            ("env".into(), text("KEY")),
            ("mcp".into(), text("broken")),
            ("skill".into(), text("other")),
            ("capability".into(), text("sandbox")),
            ("ability".into(), text("deploy/staging")),
        ]);
        assert_eq!(
            missing(&map),
            [
                "the program `jq` is not there",
                "the environment variable `KEY` is not there",
                "the MCP server `broken` cannot be used: it does not answer",
                "the capability `sandbox` is not there",
                "the ability `deploy/staging` is not there",
            ]
        );
        let list_of_maps = Value::List(vec![Value::Map(vec![("bin".into(), text("jq"))])]);
        assert_eq!(missing(&list_of_maps), ["the program `jq` is not there"]);
    }

    #[test]
    fn the_shapes_that_occur_in_the_wild_do_not_pass_unread() {
        let list = |items: &[&str]| Value::List(items.iter().map(|item| text(item)).collect());
        let map = |entries: &[(&str, Value)]| {
            Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
        };
        let nope = "the program `nope` is not there";
        assert_eq!(missing(&map(&[("bins", map(&[("nope", text(">=1"))]))])), [nope]);
        assert_eq!(
            missing(&map(&[("bins", map(&[("nope", Value::Null), ("git", Value::Bool(true))]))])),
            [nope]
        );
        assert_eq!(missing(&map(&[("bins", map(&[("nope", Value::Bool(false))]))])), [""; 0]);
        assert_eq!(missing(&map(&[("anyBins", list(&["nope", "git"]))])), [""; 0]);
        assert_eq!(
            missing(&map(&[("anyBins", list(&["nope", "neither"]))])),
            ["one of the programs `nope`, `neither` is not there"]
        );
        let named = map(&[("name", text("nope")), ("type", text("bin"))]);
        assert_eq!(missing(&Value::List(vec![named])), [nope]);
        assert_eq!(missing(&map(&[("name", text("git"))])), [""; 0]);
        for unread in [
            map(&[("tools", list(&["Read"]))]),
            map(&[("python", text(">=3.8"))]),
            Value::Int(3),
            map(&[("bins", map(&[("git", text(">=99"))]))]),
        ] {
            let requires = Requires::read(&unread);
            assert_eq!(requires.unclear.len(), 1, "{unread:?}: {requires:?}");
            assert_eq!(missing(&unread), [""; 0], "{unread:?}");
        }
    }

    #[test]
    fn a_server_that_failed_its_probe_does_not_count() {
        assert_eq!(
            missing(&text("broken")),
            [
                "`broken` (an MCP server, a capability, a program, a skill or an ability) cannot be used: it does not answer"
            ]
        );
    }

    #[test]
    fn what_is_no_name_is_said_and_not_looked_for() {
        let requires = Requires::read(&Value::List(vec![text("Node 18 or newer"), Value::Int(3)]));
        assert_eq!(requires.needs, []);
        assert_eq!(
            requires.unclear,
            [
                "`Node 18 or newer` is a sentence, not a name, and is not looked for",
                "an integer does not name anything"
            ]
        );
    }
}
