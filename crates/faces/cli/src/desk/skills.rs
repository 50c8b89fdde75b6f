//! The skill tools of the server: which skills there are, what one says, and what comes of running one.
//!
//! What was found stays in memory ([`KeptShelf`]), and clients are told when it changed.

use super::{LocalDesk, refused};
use crate::builtin::skills::{Bounds, By, Order, Unrun};
use crate::builtin::{Here, Manner, Purpose, SessionGate, Wanted};
use crate::gate::gate;
use crate::skills::{KeptShelf, Reader, Shelf, SkillOffer, Unfit};
use abide_core::definition::AgentProfile;
use abide_core::skill::text::Arguments;
use abide_core::turn::TurnEnd;
use abide_engine::port::{NobodyToAsk, Stop};
use abide_gate::rules::Rules;
use abide_gate::seats::{Seated, VARIABLE};
use abide_mcp::desk::{MoreTool, Report};
use serde_json::{Map, Value, json};
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;

/// What the tool is called.
pub(super) const TOOL: &str = "skill";
/// The agent whose tools and rules a skill has that a client runs.
const AGENT: &str = "default";
/// The tools that it has of them.
const LOOKS: [&str; 4] = ["read", "list", "glob", "grep"];
/// The skills of the desk, once somebody asked for them.
#[derive(Default)]
pub(super) struct SkillDesk(OnceLock<KeptShelf>);

impl LocalDesk {
    fn kept_skills(&self) -> Result<&KeptShelf, Report> {
        if let Some(kept) = self.skills.0.get() {
            return Ok(kept);
        }
        let place = self.quietly(|session| Ok(session.place.clone())).map_err(|failure| refused(&failure))?;
        Ok(self.skills.0.get_or_init(|| KeptShelf::new(self.surroundings.clone(), place)))
    }

    /// Returns the counter of changes; nothing where files cannot be watched.
    pub(super) fn skill_changes(&self) -> Option<&watch::Receiver<u64>> {
        self.kept_skills().ok()?.changes()
    }

    /// Works with the skills as they are now.
    fn with_shelf<T>(&self, work: impl FnOnce(&Shelf) -> T) -> Result<T, Report> {
        let kept = self.kept_skills()?;
        // This process stays: changes are noticed from the first look on.
        kept.changes();
        Ok(kept.with(work))
    }

    /// Returns the agent whose session asks, as far as skills are about it: abide knows those that it started itself.
    ///
    /// Of others nobody tells who they are; the hook of the client judges their calls.
    fn seated_agent(&self) -> Option<AgentProfile> {
        let name = self.surroundings.variable(VARIABLE);
        let Ok(Seated::In(seat)) = gate(&self.surroundings)?.seated(name.as_deref()) else { return None };
        let rules = seat.rules?;
        // Rules that cannot be read leave nothing: the gate denies every call then.
        let unreadable = || Rules { skills: Some(Vec::new()), permission: Vec::new(), ..rules.clone() };
        rules.profile().or_else(|_| unreadable().profile()).ok()
    }

    /// Returns the skill tool with what it can load.
    pub(super) fn skill_tools(&self) -> Vec<MoreTool> {
        let agent = self.seated_agent();
        let Ok(description) = self.with_shelf(|shelf| shelf.described(agent.as_ref())) else {
            return Vec::new();
        };
        let schema = json!({
            "type": "object",
            "properties": { "name": { "type": "string", "description": "The name of the skill, as it is listed" } },
            "required": ["name"],
            "additionalProperties": false,
        });
        let Value::Object(schema) = schema else { return Vec::new() };
        let mut tools = vec![MoreTool {
            name: TOOL.to_owned(),
            title: "Load a skill".to_owned(),
            description,
            schema,
            reads_only: true,
        }];
        tools.extend(self.running_tools(agent.as_ref()));
        tools
    }

    /// Returns a tool for each skill that wants to be run, if there is a model to run them with.
    fn running_tools(&self, agent: Option<&AgentProfile>) -> Vec<MoreTool> {
        let offers = self.with_shelf(|shelf| shelf.tools(agent).0).unwrap_or_default();
        let has_model = || self.quietly(|session| Ok(Here::of(session).no_model().is_none()));
        if offers.is_empty() || !has_model().unwrap_or_default() {
            return Vec::new();
        }
        let tool = |offer: SkillOffer| {
            let (description, Value::Object(schema)) = (offer.about(), SkillOffer::schema()) else {
                return None;
            };
            let title = format!("Run the skill {}", offer.name);
            Some(MoreTool { name: offer.tool.to_string(), title, description, schema, reads_only: false })
        };
        offers.into_iter().filter_map(tool).collect()
    }

    /// Runs a skill by its tool; nothing when there is none of that name.
    ///
    /// Nothing is known about the agent of the client, and nobody can be asked: the skill looks, and changes nothing.
    pub(super) async fn run_skill(&self, tool: &str, arguments: &Map<String, Value>) -> Option<Report> {
        let agent = self.seated_agent();
        let offers = self.with_shelf(|shelf| shelf.tools(agent.as_ref()).0).ok()?;
        let offer = offers.into_iter().find(|offer| offer.tool.as_str() == tool)?;
        let given = match arguments.get("args") {
            None => "",
            Some(Value::String(given)) if arguments.len() == 1 => given.as_str(),
            Some(_) => return Some(Report::failure(format!("`{tool}` takes one argument: `args`, a text"))),
        };
        // Large, and seldom called.
        Some(Box::pin(self.ran(&offer, given)).await.unwrap_or_else(Report::failure))
    }

    async fn ran(&self, offer: &SkillOffer, given: &str) -> Result<Report, String> {
        let here = self.quietly(|session| Ok((Here::of(session), session.place.root())));
        let (here, root) = here.map_err(|failure| failure.to_string())?;
        let id = uuid::Uuid::now_v7().to_string();
        let gate = SessionGate::new(&self.surroundings, &id, AGENT, root);
        let wanted = Wanted {
            agent: AGENT.to_owned(),
            model: None,
            purpose: Purpose::Talk(gate, None),
            manner: Manner::Talk,
            mark: format!("skill/{id}"),
            confirm: Arc::new(NobodyToAsk),
        };
        let (seat, workshop) = here.furnished(&wanted).await?;
        let order = Order {
            name: &offer.name,
            arguments: Arguments::read(given),
            by: By::Client,
            bounds: &Bounds::only(&LOOKS),
            tree: seat.tree,
            parent: None,
            watch: None,
        };
        let ran = workshop.run(order, &Stop::never()).await.map_err(|why| match why {
            Unrun::Unfit(
                Unfit::Unknown(why) | Unfit::Denied(why) | Unfit::Ask(why) | Unfit::Unusable(why),
            )
            | Unrun::Failed(why) => why,
        })?;
        match ran.report.end {
            TurnEnd::Finished => Ok(Report { text: ran.report.text, data: Map::new(), failed: false }),
            end => Err(format!("the skill `{}` has no result: {end}", offer.name)),
        }
    }

    /// Loads a skill.
    pub(super) fn skill(&self, arguments: &Map<String, Value>) -> Report {
        let Some(name) = arguments.get("name").and_then(Value::as_str).filter(|_| arguments.len() == 1)
        else {
            return Report::failure("`skill` takes one argument: `name`, the name of the skill");
        };
        // Where nobody knows whose call it is, only what no agent may do is refused here; the hook judges the call itself.
        let agent = self.seated_agent();
        let loaded = self.with_shelf(|shelf| {
            let loaded = shelf.load(name, Reader::Agent(agent.as_ref()))?;
            Ok((loaded.for_agent(), loaded.folder.display().to_string()))
        });
        match loaded {
            Ok(Ok((text, folder))) => {
                let data = [("name".to_owned(), name.into()), ("dir".to_owned(), folder.into())];
                Report { text, data: Map::from_iter(data), failed: false }
            }
            Ok(Err(Unfit::Ask(why))) => {
                Report::failure(format!("{why}; a human must agree, and cannot be asked here"))
            }
            Ok(Err(Unfit::Unknown(why) | Unfit::Denied(why) | Unfit::Unusable(why))) => Report::failure(why),
            Err(report) => report,
        }
    }
}
