//! Whether it is a human who decides: approvals, plans, cancels, keys and trust are no agent's to give.
//!
//! The gate denies the commands by their names. This holds whatever a command is called and however it is started: by a copy of
//! abide under another name, by code that no line shows, on a terminal that a program made and types into.

use crate::args::{CapabilityCommand, Command, KeyCommand, SkillCommand};
use crate::gate::gate;
use crate::{Exit, Failure, Surroundings};
use abide_gate::agents::{AgentAbove, marked};

/// Returns the agent that started this process, if one did.
pub(crate) fn agent_above(surroundings: &Surroundings) -> Option<AgentAbove> {
    marked(|name| surroundings.variable(name)).or_else(|| gate(surroundings)?.client_above())
}

/// Returns whether somebody is at the terminal who may be asked.
pub(crate) fn is_here(surroundings: &Surroundings) -> bool {
    surroundings.terminal_in && agent_above(surroundings).is_none()
}

/// Refuses a command that decides, unless it is a human's.
pub(crate) fn must_decide(surroundings: &Surroundings, command: &Command) -> Result<(), Failure> {
    let Some(what) = decides(command) else { return Ok(()) };
    let Some(AgentAbove { who, sign }) = agent_above(surroundings) else { return Ok(()) };
    Err(Failure::new(
        Exit::Refused,
        format!("{what} is a human's to decide, and this process was started by {who} ({sign})"),
    )
    .help("a human types it in a terminal that no agent started"))
}

/// Returns what a command decides in the name of a human, if it does.
fn decides(command: &Command) -> Option<&'static str> {
    match command {
        Command::Approve(_) | Command::Reject(_) => Some("an answer to a run"),
        Command::Cancel(_) => Some("the end of a run"),
        Command::Resume(resume) if resume.rerun || resume.fail => Some("what becomes of an interrupted step"),
        Command::Key(key) => match key.command {
            KeyCommand::Create { .. } | KeyCommand::Revoke { .. } => Some("who may use a server"),
            KeyCommand::List { .. } => None,
        },
        Command::Skill(skill) => match skill.command {
            SkillCommand::Trust { .. } | SkillCommand::Untrust { .. } | SkillCommand::Lock => {
                Some("what is trusted")
            }
            _ => None,
        },
        Command::Capability(capability) => match capability.command {
            CapabilityCommand::Trust { .. } | CapabilityCommand::Untrust { .. } => Some("what is trusted"),
            _ => None,
        },
        _ => None,
    }
}
