//! A step that runs a skill: the agent `default`, bounded as the skill says, told what the skill says.
//!
//! [`SkillStep`] is for abide's own loop; for everybody else [`filled_in`] makes a task of the skill that says all of it.

use super::{BASH, By, Caller, Unrun, Workshop, with_inputs};
use crate::builtin::rules::{Manner, ProfileRules};
use crate::builtin::seat::profile;
use crate::builtin::{Here, Wanted};
use crate::skills::{Brief, Filling, Loaded, Reader, Unfit};
use abide_core::capability::{Risk, Tier, ToolName};
use abide_core::definition::AgentTools;
use abide_core::policy::{Client, ToolKind, names_tool};
use abide_core::skill::text::{Arguments, Places};
use abide_core::value::Value;
use abide_core::value::template::as_text;
use abide_engine::port::{Beside, Task, ToolSpec, Worker};
use abide_engine::turn::Seat;
use abide_skills::{Commands, Reads};
use std::path::PathBuf;
use std::sync::Arc;

/// A step that runs a skill.
pub(crate) struct SkillStep {
    workshop: Arc<Workshop>,
    /// Whether the skill has places for what it is given.
    has_places: bool,
}

impl SkillStep {
    /// Puts together who does it, or says why nobody can.
    pub(crate) async fn of(here: &Here, name: &str, task: &Task) -> Result<(Seat, Self), String> {
        let loaded = load(here, name).await?.loaded;
        let tools = loaded.skill.allowed_tools();
        // What the skill says it uses is what the step grants.
        let task = Task { tools: tools.clone(), ..task.clone() };
        let agent = task.worker.agent().to_owned();
        let wanted = Wanted { model: loaded.model(), ..Wanted::step(agent, &task) };
        let (seat, workshop) = here.furnished(&wanted).await?;
        let seat = workshop.seat_for(seat, name, loaded.skill.own_turns(), tools.as_deref()).await?;
        let has_places = Places::of(&loaded.skill.body).any();
        Ok((seat, Self { workshop, has_places }))
    }

    /// Returns what the agent is told: the skill with its inputs filled in, and the inputs by their names.
    pub(crate) async fn told(&self, name: &str, inputs: &[(String, Value)]) -> Result<String, String> {
        let arguments = arguments(inputs, self.has_places);
        let brief =
            self.workshop.brief(name, &arguments, By::Step, false).await.map_err(|why| match why {
                Unrun::Unfit(unfit) => said(&unfit),
                Unrun::Failed(why) => why,
            })?;
        Ok(with_inputs(&brief, inputs))
    }
}

/// Fills in the skill of a task that somebody else does than abide's own loop: its prompt says what the skill says, and its tools
/// are those that the skill says it uses. The error is why the skill cannot be used.
pub(crate) async fn filled_in(here: &Here, task: Task) -> Result<Task, String> {
    let Worker::Skill { name, inputs } = &task.worker else { return Ok(task) };
    let Found { loaded, commands, reads, allowed, home } = load(here, name).await?;
    let task = Task { tools: loaded.skill.allowed_tools(), ..task.clone() };
    let agent = task.worker.agent();
    let profile = here.quietly(|session| profile(session, agent))?;
    let has_bash = |tools: &[String]| names_tool(tools, Client::Other, BASH);
    let by_profile = match &profile.tools {
        Some(AgentTools::Only(names)) => {
            has_bash(&names.iter().map(|name| name.value.clone()).collect::<Vec<_>>())
        }
        Some(AgentTools::Switched(_)) | None => true,
    };
    let bash = bash().filter(|_| by_profile && task.tools.as_deref().is_none_or(has_bash));
    let gate = here.step_gate(agent, &task).await;
    let rules = ProfileRules { profile, place: here.policy_place(), manner: Manner::Step };
    let caller = Caller { bash: bash.as_ref(), permissions: &rules, gate: &*gate };
    let commands = caller.commands(&loaded.skill.body, commands).await;
    let arguments = arguments(inputs, Places::of(&loaded.skill.body).any());
    let mark = format!("{}/skill-{}", task.mark, uuid::Uuid::now_v7());
    let without = here.hidden_from(Some(&task));
    let filling = Filling { commands, reads, project: &task.folder, allowed, home, without: &without, mark };
    let brief = Brief::of(&loaded, &arguments, &here.process, filling).await;
    Ok(Task { prompt: with_inputs(&brief, inputs), ..task })
}

/// The skill of a step, with what it may do.
struct Found {
    loaded: Loaded,
    commands: Commands,
    reads: Reads,
    allowed: Vec<PathBuf>,
    home: Option<PathBuf>,
}

/// Loads the skill of a step: whoever wrote the ability chose it.
async fn load(here: &Here, name: &str) -> Result<Found, String> {
    let (kept, skill) = (Arc::clone(here.skills()), name.to_owned());
    let found = tokio::task::spawn_blocking(move || {
        kept.with(|shelf| {
            let loaded = shelf.load(&skill, Reader::Anybody)?;
            let (commands, reads) = shelf.rights(&loaded);
            let (allowed, home) = shelf.further();
            Ok(Found { loaded, commands, reads, allowed, home })
        })
    });
    found.await.map_err(|error| error.to_string())?.map_err(|unfit| said(&unfit))
}

/// Returns the arguments of a skill: the inputs in their order, if it has places for them.
fn arguments(inputs: &[(String, Value)], has_places: bool) -> Arguments {
    let words = inputs.iter().filter(|_| has_places);
    Arguments::of(words.map(|(_, value)| as_text(value).into_owned()).collect())
}

/// Returns what runs commands, as far as rules are about it.
fn bash() -> Option<ToolSpec> {
    Some(ToolSpec {
        name: ToolName::parse(BASH)?,
        description: String::new(),
        arguments: serde_json::Value::Null,
        kind: ToolKind::Execute,
        risk: Risk::High,
        tier: Tier::Auto,
        beside: Beside::Nothing,
        examples: Vec::new(),
    })
}

fn said(unfit: &Unfit) -> String {
    match unfit {
        Unfit::Unknown(why) | Unfit::Denied(why) | Unfit::Ask(why) | Unfit::Unusable(why) => why.clone(),
    }
}
