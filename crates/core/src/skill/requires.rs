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
        let mut requires = Self::default();
        requires.add(Kind::Any, value);
        requires.needs.dedup();
        requires
    }

    fn add(&mut self, kind: Kind, value: &Value) {
        match value {
            Value::Null => {}
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
            Value::Map(entries) if kind == Kind::Any => {
                for (key, value) in entries {
                    match kind_of(key) {
                        Some(kind) => self.add(kind, value),
                        None => self
                            .unclear
                            .push(format!("`{}` is not a kind of thing that abide looks for", excerpt(key))),
                    }
                }
            }
            other => self.unclear.push(format!("{} does not name anything", other.kind())),
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

fn kind_of(word: &str) -> Option<Kind> {
    Some(match word {
        "mcp" | "mcps" | "mcp_server" | "mcp_servers" | "mcp-servers" | "servers" | "integration"
        | "integrations" => Kind::Mcp,
        "bin" | "bins" | "binary" | "binaries" | "command" | "commands" | "program" | "programs" | "cli" => {
            Kind::Bin
        }
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
