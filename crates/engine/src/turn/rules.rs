//! Who is asked whether a call may be made: the rules of the agent, and the gate of the run that it works for.

use crate::port::{Later, ToolSpec};
use abide_core::model::{Arguments, ToolCall};
use abide_core::policy::{self, Client, Files, Situation, StopVerdict, Verdict};
use abide_core::turn::Ruling;
use abide_core::value::Value;
use std::sync::Arc;

/// What an agent may do by itself: its permission rules.
///
/// Contract: an answer costs nothing, and the same call gets the same answer for as long as the agent's turn lasts.
pub trait Permissions: Send + Sync + 'static {
    /// Returns who must agree to a call.
    fn ruling(&self, tool: &ToolSpec, arguments: &Arguments) -> Ruling;
}

/// The tools' own word, without rules of an agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnTiers;

impl Permissions for OwnTiers {
    fn ruling(&self, tool: &ToolSpec, _: &Arguments) -> Ruling {
        tool.tier.into()
    }
}

/// Permissions of an agent that another one called: what either of them refuses is refused.
pub struct Narrowed(pub Arc<dyn Permissions>, pub Arc<dyn Permissions>);

impl Permissions for Narrowed {
    fn ruling(&self, tool: &ToolSpec, arguments: &Arguments) -> Ruling {
        self.0.ruling(tool, arguments).and(self.1.ruling(tool, arguments))
    }
}

/// What the run that a session is bound to says about a call.
///
/// Contract: it is asked before each call, because the run may have moved on; what cannot be found out is denied.
pub trait Gate: Send + Sync + 'static {
    /// Returns the verdict.
    fn verdict(&self, call: &ToolCall) -> Later<Verdict>;

    /// Returns whether the agent may stop now.
    fn stop(&self) -> Later<StopVerdict> {
        Box::pin(std::future::ready(StopVerdict::Allow))
    }

    /// Returns what the agent must know of its run when the rest of the conversation is forgotten.
    fn brief(&self) -> Later<Option<String>> {
        Box::pin(std::future::ready(None))
    }
}

/// The gate of a session that no run holds and that works on nobody's files.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenGate;

impl Gate for OpenGate {
    fn verdict(&self, _: &ToolCall) -> Later<Verdict> {
        Box::pin(std::future::ready(Verdict::Allow))
    }
}

/// The gate of one step: nothing but its grants.
pub struct StepGate {
    /// The situation, with the step as the active one.
    pub situation: Situation,
    /// What the disk knows.
    pub files: Arc<dyn Files + Send + Sync>,
}

impl Gate for StepGate {
    fn verdict(&self, call: &ToolCall) -> Later<Verdict> {
        let verdict = policy::verdict(&self.situation, &judged_call(call), &*self.files);
        Box::pin(std::future::ready(verdict))
    }
}

/// Returns a call of our own loop as the gate sees it.
pub fn judged_call(call: &ToolCall) -> policy::ToolCall {
    match &call.arguments {
        Arguments::Data(value) => policy::ToolCall::read(Client::Other, &call.name, value),
        // Anything that is no mapping is unreadable to the gate.
        Arguments::Unreadable(text) => {
            policy::ToolCall::read(Client::Other, &call.name, &Value::Text(text.clone()))
        }
    }
}
