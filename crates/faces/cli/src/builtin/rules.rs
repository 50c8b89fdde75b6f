//! What an agent of our own loop is held to: the rules of its profile.

use crate::skills::permit;
use abide_core::capability::Tier;
use abide_core::definition::{AgentProfile, PermissionAction};
use abide_core::model::Arguments;
use abide_core::policy::{self, Client, Files, Place, ToolKind};
use abide_core::skill::tool::PREFIX;
use abide_core::turn::Ruling;
use abide_core::value::Value;
use abide_engine::port::ToolSpec;
use abide_engine::turn::Permissions;
use std::path::Path;

/// What happens to a call about which neither the profile nor the tool says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It is made: a step says what may be called, and the gate holds the agent to it.
    Step,
    /// A human is asked about what changes something.
    Talk,
}

/// The rules of a profile.
pub(super) struct ProfileRules {
    pub(super) profile: AgentProfile,
    pub(super) place: Place,
    pub(super) manner: Manner,
}

impl Permissions for ProfileRules {
    fn ruling(&self, tool: &ToolSpec, arguments: &Arguments) -> Ruling {
        let data = match arguments {
            Arguments::Data(value) => value.clone(),
            Arguments::Unreadable(text) => Value::Text(text.clone()),
        };
        let call = policy::ToolCall::read(Client::Other, tool.name.as_str(), &data);
        let permit = self.profile.permits(&call, &self.place, &Disk);
        let usual = match (self.manner, tool.kind) {
            (Manner::Talk, ToolKind::Edit | ToolKind::Execute) if is_of_the_project(tool) => {
                tool.tier.max(Tier::Confirm)
            }
            _ => tool.tier,
        };
        let tier = match permit.action {
            PermissionAction::Deny => Tier::Deny,
            PermissionAction::Ask => Tier::Confirm.max(tool.tier),
            // A rule that says yes spares the question; silence does not.
            PermissionAction::Allow if permit.why.is_some() && tool.tier != Tier::Deny => Tier::Auto,
            PermissionAction::Allow => usual,
        };
        Ruling { tier, why: permit.why }.and(self.skill_ruling(tool, arguments))
    }
}

impl ProfileRules {
    /// Returns what the rules for skills say about a call that loads or runs one.
    fn skill_ruling(&self, tool: &ToolSpec, arguments: &Arguments) -> Ruling {
        let name = match tool.name.as_str() {
            "skill" => match arguments {
                Arguments::Data(Value::Map(entries)) => entries.iter().find_map(|(key, value)| match value {
                    Value::Text(name) if key == "name" => Some(name.as_str()),
                    _ => None,
                }),
                _ => None,
            },
            // What models cannot say of a name is `_` in the tool's; a rule for the name itself hides the tool already.
            running => running.strip_prefix(PREFIX),
        };
        let Some(name) = name else { return Tier::Auto.into() };
        let (action, why) = permit(&self.profile, name);
        match action {
            PermissionAction::Allow => Tier::Auto.into(),
            PermissionAction::Ask => Ruling { tier: Tier::Confirm, why: Some(why) },
            PermissionAction::Deny => Ruling { tier: Tier::Deny, why: Some(why) },
        }
    }
}

/// Returns whether a tool reaches out of the session: what changes the session's own files needs nobody's yes.
fn is_of_the_project(tool: &ToolSpec) -> bool {
    matches!(tool.name.as_str(), "write" | "edit" | "bash" | "apply_patch")
}

/// The disk of this machine.
pub(super) struct Disk;

impl Files for Disk {
    fn real(&self, path: &str) -> Option<String> {
        // Of a file that is to be made, the folder tells where it will be.
        let mut missing = Vec::new();
        for ancestor in Path::new(path).ancestors().take(64) {
            if let Ok(real) = ancestor.canonicalize() {
                let real = missing.iter().rev().fold(real, |real, name| real.join(name));
                return real.to_str().map(str::to_owned);
            }
            missing.push(ancestor.file_name()?);
        }
        None
    }
}
