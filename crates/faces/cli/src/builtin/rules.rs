//! What an agent of our own loop is held to: the rules of its profile.

use abide_core::capability::Tier;
use abide_core::definition::{AgentProfile, PermissionAction};
use abide_core::model::Arguments;
use abide_core::policy::{self, Client, Files, Place};
use abide_core::turn::Ruling;
use abide_core::value::Value;
use abide_engine::port::ToolSpec;
use abide_engine::turn::Permissions;
use std::path::Path;

/// The rules of a profile.
pub(super) struct ProfileRules {
    pub(super) profile: AgentProfile,
    pub(super) place: Place,
}

impl Permissions for ProfileRules {
    fn ruling(&self, tool: &ToolSpec, arguments: &Arguments) -> Ruling {
        let data = match arguments {
            Arguments::Data(value) => value.clone(),
            Arguments::Unreadable(text) => Value::Text(text.clone()),
        };
        let call = policy::ToolCall::read(Client::Other, tool.name.as_str(), &data);
        let permit = self.profile.permits(&call, &self.place, &Disk);
        let tier = match permit.action {
            PermissionAction::Deny => Tier::Deny,
            PermissionAction::Ask => Tier::Confirm.max(tool.tier),
            // A rule that says yes spares the question; silence does not.
            PermissionAction::Allow if permit.why.is_some() && tool.tier != Tier::Deny => Tier::Auto,
            PermissionAction::Allow => tool.tier,
        };
        Ruling { tier, why: permit.why }
    }
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
