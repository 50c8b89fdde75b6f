//! Running a skill as an agent of its own, and the tools `skills__<name>` with which another agent does.

use super::{Bounds, SkillGate, Workshop};
use crate::runs::SystemClock;
use crate::skills::{Brief, Filling, Reader, SkillOffer, Unfit};
use abide_core::capability::{Risk, Tier};
use abide_core::model::Part;
use abide_core::policy::ToolKind;
use abide_core::skill::text::Arguments;
use abide_core::skill::tool::PREFIX;
use abide_core::turn::{Envelope, SessionCreated, TurnEnd};
use abide_engine::port::{
    Beside, Clock as _, Later, SessionId, Stop, Tool, ToolContext, ToolError, ToolOutput, ToolSpec,
};
use abide_engine::toolbox::Toolbox;
use abide_engine::turn::{Agent, CallTree, Report, SessionLog, Watch, session_of_call};
use abide_skills::{Commands, Reads};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How long a skill may take that an agent calls.
const TIME: Duration = Duration::from_mins(30);

/// Who has a skill run, and within what.
pub(crate) struct Order<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: Arguments,
    pub(crate) by: By,
    pub(crate) bounds: &'a Bounds,
    /// The skill's own place in the call tree.
    pub(crate) tree: CallTree,
    /// The session that it is called from, and what the call is known by there.
    pub(crate) parent: Option<(&'a SessionId, Option<&'a str>)>,
    pub(crate) watch: Option<Watch>,
}

/// Who has a skill run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// Somebody who types.
    Person,
    /// Somebody who writes to an agent over HTTP: they choose the skill, and nothing is read or run for it that the agent could
    /// not read or run.
    Message,
    /// A step: whoever wrote the ability chose the skill, and the gate of the step holds for its commands.
    Step,
    /// Another agent: nothing is read or run for the skill that this agent could not read or run.
    Agent,
    /// The agent of a client, of whose rules nothing is known: nothing is run for the skill.
    Client,
}

/// Why a skill was not run.
#[derive(Debug)]
pub(crate) enum Unrun {
    /// It cannot be used.
    Unfit(Unfit),
    /// Something is wrong.
    Failed(String),
}

/// What came of a skill.
pub(crate) struct Ran {
    pub(crate) report: Report,
    /// What could not be filled in.
    pub(crate) notes: Vec<String>,
}

impl Workshop {
    /// Reads a skill and fills it in.
    ///
    /// One that is `taken_up` has been told already: nothing is run for it again.
    pub(crate) async fn brief(
        &self,
        name: &str,
        arguments: &Arguments,
        by: By,
        taken_up: bool,
    ) -> Result<Brief, Unrun> {
        let (skill, profile) = (name.to_owned(), self.profile.clone());
        let found = self.look(move |shelf| {
            let reader = match by {
                By::Person | By::Message => Reader::Person,
                By::Step => Reader::Anybody,
                By::Agent | By::Client => Reader::Agent(Some(&profile)),
            };
            let loaded = match shelf.load(&skill, reader) {
                // The call was not made without the human's yes that the rule asks for.
                Err(Unfit::Ask(_)) if by == By::Agent => shelf.load(&skill, Reader::Agent(None)),
                loaded => loaded,
            }?;
            let (commands, reads) = shelf.rights(&loaded);
            Ok((loaded, commands, reads, shelf.further()))
        });
        let found = found.await.ok_or_else(|| Unrun::Failed("the skills cannot be listed".to_owned()))?;
        let (loaded, commands, reads, (allowed, home)) = found.map_err(Unrun::Unfit)?;
        let (commands, reads) = match by {
            _ if taken_up => (Commands::Refused("they have run already".to_owned()), Reads::Skill),
            By::Person => (commands, reads),
            By::Step => (self.commands(&loaded.skill.body, commands).await, reads),
            By::Agent | By::Message => (self.commands(&loaded.skill.body, commands).await, Reads::Skill),
            By::Client => {
                let why = "a client runs the skill, and abide does not know what its agent may do";
                (Commands::Refused(why.to_owned()), Reads::Skill)
            }
        };
        let (project, without) = (&self.project, &self.hidden);
        let filling = Filling { commands, reads, project, allowed, home, without, mark: self.mark_of() };
        Ok(Brief::of(&loaded, arguments, &self.process, filling).await)
    }

    /// Runs a skill to its end, in a session of its own.
    pub(crate) async fn run(self: &Arc<Self>, order: Order<'_>, stop: &Stop) -> Result<Ran, Unrun> {
        let failed = |error: &dyn std::fmt::Display| Unrun::Failed(error.to_string());
        let store = self.store().map_err(Unrun::Failed)?;
        let id = match order.parent {
            Some((session, Some(call))) => session_of_call(session, call),
            _ => {
                let id = SystemClock.new_run().to_string();
                SessionId::parse(&id).ok_or_else(|| Unrun::Failed(format!("`{id}` is no id")))?
            }
        };
        let known = SessionLog::find(Arc::clone(&store), id.clone()).await.map_err(|error| failed(&error))?;
        let taken_up = known.is_some_and(|log| log.conversation().turns > 0);
        let brief = self.brief(order.name, &order.arguments, order.by, taken_up).await?;
        let bounds = order.bounds.of(order.name, brief.tools.as_deref());
        // Of what a single answer calls, nothing would be told to anybody.
        let toolbox = match brief.turns {
            1 => Toolbox::default(),
            _ => self.toolbox(&order.tree, &bounds).await.map_err(Unrun::Failed)?,
        };
        order.tree.answer_within(Some(brief.turns));
        let agent = Agent {
            clock: Arc::new(SystemClock),
            model: self.model.clone(),
            system: self.system.clone(),
            toolbox,
            schema: None,
            permissions: self.permissions(&bounds),
            gate: Arc::new(SkillGate(Arc::clone(&self.gate))),
            confirm: Arc::clone(&self.confirm),
            tree: order.tree,
            watch: order.watch,
        };
        let created = SessionCreated {
            agent: format!("{PREFIX}{}", order.name),
            model: self.model_name.clone(),
            parent: order.parent.map(|(session, _)| session.to_string()),
            ..SessionCreated::default()
        };
        let parts = vec![Part::Text(brief.bounded())];
        let report = agent.called(store, id, created, parts, stop).await.map_err(|error| failed(&error))?;
        Ok(Ran { report, notes: brief.notes })
    }
}

/// Runs one skill for an agent.
pub(super) struct RunTool {
    workshop: Arc<Workshop>,
    skill: Arc<str>,
    /// The place of whoever calls it.
    tree: CallTree,
    bounds: Bounds,
    spec: ToolSpec,
}

impl RunTool {
    pub(super) fn new(workshop: Arc<Workshop>, offer: SkillOffer, tree: CallTree, bounds: Bounds) -> Self {
        let spec = ToolSpec {
            description: offer.about(),
            name: offer.tool,
            arguments: SkillOffer::schema(),
            kind: ToolKind::Agent,
            risk: Risk::High,
            // Each call that it makes is judged by itself.
            tier: Tier::Auto,
            beside: Beside::Nothing,
            examples: Vec::new(),
        };
        Self { workshop, skill: offer.name, tree, bounds, spec }
    }
}

impl Tool for RunTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// Its session is the call's own, and is found again.
    fn takes_up(&self) -> bool {
        true
    }

    fn call(&self, arguments: Value, context: ToolContext) -> Later<Result<ToolOutput, ToolError>> {
        let (workshop, skill) = (Arc::clone(&self.workshop), Arc::clone(&self.skill));
        let (tree, bounds) = (self.tree.clone(), self.bounds.clone());
        Box::pin(async move {
            // Small models try again and again: what cannot work now is said to be over.
            let over =
                |why: String| format!("the skill `{skill}` has no result: {why}. Do not call it again now.");
            let depth = u32::MAX;
            let child = tree.child(Envelope { time: Some(TIME), depth, ..Envelope::default() });
            let child = child.map_err(|why| ToolError::Refused(over(why.to_string())))?;
            let order = Order {
                name: &skill,
                arguments: Arguments::read(arguments["args"].as_str().unwrap_or_default()),
                by: By::Agent,
                bounds: &bounds,
                tree: child,
                parent: Some((&context.session, context.call.as_deref())),
                watch: None,
            };
            let ran = workshop.run(order, &context.stop).await.map_err(|why| match why {
                Unrun::Unfit(Unfit::Denied(why) | Unfit::Ask(why)) => ToolError::Refused(over(why)),
                Unrun::Unfit(Unfit::Unknown(why) | Unfit::Unusable(why)) => ToolError::Failed(over(why)),
                Unrun::Failed(why) => ToolError::Internal(why),
            })?;
            match ran.report.end {
                TurnEnd::Finished if ran.report.text.trim().is_empty() => {
                    Err(ToolError::Failed(over("its answer is empty".to_owned())))
                }
                TurnEnd::Finished => Ok(ToolOutput::Text(ran.report.text)),
                TurnEnd::Cancelled => Err(ToolError::Cancelled),
                end @ (TurnEnd::OutOfBudget(_) | TurnEnd::Failed { .. }) => {
                    Err(ToolError::Failed(over(end.to_string())))
                }
            }
        })
    }
}
