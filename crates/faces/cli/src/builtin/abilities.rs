//! `abilities`: the tools for abilities, for an agent of our own loop; behind them is the desk that the MCP server has.

use crate::desk::{INSTRUCTIONS, LocalDesk};
use abide_core::capability::{CapabilityId, Risk, Tier, ToolName};
use abide_core::policy::{Client, kind};
use abide_engine::port::{
    Beside, Capability, Later, Stop, Tool, ToolContext, ToolError, ToolOutput, ToolSpec,
};
use abide_mcp::desk::{Boxed, Caller, MoreTool, Origin, Question, Said, Talk};
use abide_mcp::{ability_tools, call_ability_tool};
use serde_json::Value;
use std::sync::Arc;

/// Asks the human who sits at the loop.
pub(crate) trait Human: Send + Sync + 'static {
    /// Asks what a run asks. Dropping the future takes the question back.
    fn ask(&self, question: Question) -> Later<Said>;

    /// Shows how far a run is.
    fn progress(&self, message: &str);
}

/// Where no human can be asked.
pub(crate) struct NoHuman;

impl Human for NoHuman {
    fn ask(&self, _: Question) -> Later<Said> {
        Box::pin(std::future::ready(Said::Unsupported))
    }

    fn progress(&self, _: &str) {}
}

/// Runs abilities for the session of an agent.
#[derive(Clone)]
pub(crate) struct Abilities {
    desk: Arc<LocalDesk>,
    /// The session that a run is bound to, whoever of its agents starts it.
    session: String,
    agent: String,
    human: Arc<dyn Human>,
}

impl Abilities {
    /// The id of the capability.
    pub(crate) const ID: &'static str = "abilities";

    pub(crate) fn new(desk: Arc<LocalDesk>, session: &str, agent: &str, human: Arc<dyn Human>) -> Self {
        Self { desk, session: session.to_owned(), agent: agent.to_owned(), human }
    }
}

impl Capability for Abilities {
    fn id(&self) -> CapabilityId {
        // Invariant: the id is a literal of letters, and every test of a chat registers it.
        CapabilityId::parse(Self::ID).expect("`abilities` is an id")
    }

    fn name(&self) -> &'static str {
        "Abilities"
    }

    fn description(&self) -> &'static str {
        "Runs the abilities of the project, and is held to their steps."
    }

    fn system_prompt_addition(&self) -> Option<&str> {
        Some(INSTRUCTIONS)
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tool = |offer: MoreTool| -> Option<Arc<dyn Tool>> {
            Some(Arc::new(AbilityTool { spec: spec(offer)?, abilities: self.clone() }))
        };
        ability_tools().into_iter().filter_map(tool).collect()
    }

    fn icon(&self) -> Option<&str> {
        Some("list-checks")
    }

    fn category(&self) -> Option<&str> {
        Some("Abilities")
    }
}

/// Returns a tool of the server as one of the loop.
fn spec(offer: MoreTool) -> Option<ToolSpec> {
    Some(ToolSpec {
        kind: kind(Client::Other, &offer.name),
        name: ToolName::parse(&offer.name)?,
        description: offer.description,
        arguments: Value::Object(offer.schema),
        // What was begun is not begun again after a crash: `ability_status` tells how it stands.
        risk: if offer.reads_only { Risk::None } else { Risk::High },
        // Whoever must agree is said by the gate, which knows the run.
        tier: Tier::Auto,
        beside: Beside::Nothing,
        examples: Vec::new(),
    })
}

struct AbilityTool {
    spec: ToolSpec,
    abilities: Abilities,
}

impl Tool for AbilityTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: Value, context: ToolContext) -> Later<Result<ToolOutput, ToolError>> {
        let (name, abilities) = (self.spec.name.to_string(), self.abilities.clone());
        Box::pin(async move {
            let Value::Object(given) = arguments else {
                return Err(ToolError::Internal(format!("the arguments of `{name}` are no mapping")));
            };
            let (session, agent) = (abilities.session.clone(), abilities.agent.clone());
            let caller =
                Caller { origin: Origin::Loop { session, agent }, client: None, call: None, session: None };
            let line = Line { human: Arc::clone(&abilities.human), stop: context.stop };
            let report = call_ability_tool(&*abilities.desk, &name, given, caller, &line).await;
            match report {
                None => Err(ToolError::Internal(format!("the desk has no tool `{name}`"))),
                Some(report) if report.failed => Err(ToolError::Failed(report.text)),
                Some(report) => Ok(ToolOutput::Text(report.text)),
            }
        })
    }
}

/// The way from a run back to the human, while a call is under way.
struct Line {
    human: Arc<dyn Human>,
    stop: Stop,
}

impl Talk for Line {
    fn progress(&self, done: u64, total: u64, message: &str) {
        self.human.progress(&format!("{message} ({done} of {total} steps done)"));
    }

    fn ask(&self, question: Question) -> Boxed<'_, Said> {
        let within = question.within;
        let asked = self.human.ask(question);
        Box::pin(async move {
            match within {
                None => asked.await,
                Some(time) => tokio::time::timeout(time, asked)
                    .await
                    .unwrap_or_else(|_| Said::NoAnswer("nobody answered in time".to_owned())),
            }
        })
    }

    fn cancelled(&self) -> Boxed<'_, ()> {
        Box::pin(self.stop.wait())
    }
}
