//! The tool `skill`: what a skill says, for an agent that wants to follow it itself.

use super::Workshop;
use crate::skills::{Reader, Unfit};
use abide_core::capability::{Risk, Tier, ToolName};
use abide_core::policy::ToolKind;
use abide_engine::port::{Beside, Later, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use serde_json::{Value, json};
use std::sync::Arc;

/// What it is called.
pub(super) const TOOL: &str = "skill";

/// Loads skills for one agent.
pub(super) struct LoadTool {
    workshop: Arc<Workshop>,
    spec: ToolSpec,
}

impl LoadTool {
    /// Makes the tool; `description` lists what the agent may use.
    pub(super) fn new(workshop: Arc<Workshop>, description: String) -> Self {
        let spec = ToolSpec {
            // Invariant: the name is a literal of letters.
            name: ToolName::parse(TOOL).expect("`skill` is a name"),
            description,
            arguments: json!({
                "type": "object",
                "properties": {
                    "name": { "type": "string", "description": "The name of the skill, as it is listed" }
                },
                "required": ["name"],
                "additionalProperties": false,
            }),
            kind: ToolKind::Agent,
            risk: Risk::None,
            tier: Tier::Auto,
            beside: Beside::Others,
            examples: Vec::new(),
        };
        Self { workshop, spec }
    }
}

impl Tool for LoadTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: Value, _: ToolContext) -> Later<Result<ToolOutput, ToolError>> {
        let workshop = Arc::clone(&self.workshop);
        Box::pin(async move {
            let name = arguments["name"].as_str().unwrap_or_default().to_owned();
            let profile = workshop.profile.clone();
            let loaded = workshop
                .look(move |shelf| {
                    let loaded = match shelf.load(&name, Reader::Agent(Some(&profile))) {
                        // The rule asks for a human's yes, and the call was not made without one.
                        Err(Unfit::Ask(_)) => shelf.load(&name, Reader::Agent(None)),
                        loaded => loaded,
                    };
                    loaded.map(|loaded| loaded.for_agent())
                })
                .await;
            match loaded {
                Some(Ok(text)) => Ok(ToolOutput::Text(text)),
                Some(Err(Unfit::Denied(why) | Unfit::Ask(why))) => Err(ToolError::Refused(why)),
                Some(Err(Unfit::Unknown(why) | Unfit::Unusable(why))) => Err(ToolError::Failed(why)),
                None => Err(ToolError::Internal("the skills cannot be listed".to_owned())),
            }
        })
    }
}
