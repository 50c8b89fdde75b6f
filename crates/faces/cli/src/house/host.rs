//! Who talks in the sessions of a server: agents that were made over the API, each with its own prompt, model and capabilities.
//!
//! Such an agent has the tools of its capabilities and no others; it works on the project, or runs a command, only if it names
//! `workspace`, and then a human is asked. It runs no abilities. Every call goes through the gate, as for an agent of `abide chat`.

use crate::builtin::skills::{Bounds, By, Unrun, Workshop};
use crate::builtin::{Here, SessionGate, Talking};
use crate::runs::SystemClock;
use crate::skills::{Reader, Unfit};
use abide_core::capability::Conflicts;
use abide_core::event::Timestamp;
use abide_core::model::ModelName;
use abide_core::skill::standard::CHAT_COMMANDS;
use abide_core::skill::text::Arguments;
use abide_engine::capability::{CapabilityRegistry, Equipment};
use abide_engine::port::{AgentRow, AgentStatus, Agents, Clock as _, Confirm, Later, MessageRow, SessionRow};
use abide_engine::talk::{Host, Inbox, NoSeat};
use abide_engine::turn::{ModelSeat, Seat};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// For how long a model that is ready to be asked is not looked up again in the configuration.
const KEPT: Duration = Duration::from_secs(5);

/// Who talks in the sessions of a server.
#[derive(Clone)]
pub(super) struct LocalHost {
    pub(super) here: Arc<Here>,
    pub(super) agents: Arc<dyn Agents>,
    pub(super) capabilities: CapabilityRegistry,
    pub(super) inbox: Arc<Inbox<SystemClock>>,
    pub(super) models: Arc<Models>,
}

/// Models that are ready to be asked, by name, and since when.
#[derive(Default)]
pub(super) struct Models(Mutex<HashMap<Option<String>, (Timestamp, String, ModelSeat)>>);

impl LocalHost {
    async fn agent(&self, session: &SessionRow) -> Result<AgentRow, NoSeat> {
        // A database that is away says nothing about the agent, and a turn that was promised does not end with it.
        let found = self.agents.find(&session.agent).await;
        match found.map_err(|error| NoSeat::NotNow(error.to_string()))? {
            None => Err(format!("there is no agent {}", session.agent).into()),
            Some(agent) if agent.status == AgentStatus::Archived => {
                Err(format!("the agent {} is archived", agent.id).into())
            }
            Some(agent) => Ok(agent),
        }
    }

    /// Makes the model of an agent ready to be asked; returns its full name, too.
    async fn model(&self, agent: &AgentRow) -> Result<(String, ModelSeat), String> {
        let known = {
            let models = self.models.0.lock().unwrap_or_else(PoisonError::into_inner);
            models.get(&agent.model).filter(|(since, ..)| SystemClock.now().since(*since) < KEPT).cloned()
        };
        if let Some((_, name, seat)) = known {
            return Ok((name, seat));
        }
        let wanted = match &agent.model {
            None => None,
            Some(name) => Some(ModelName::parse(name).map_err(|error| error.to_string())?),
        };
        let (name, seat) = self.here.model(&agent.name, wanted).await?;
        let mut models = self.models.0.lock().unwrap_or_else(PoisonError::into_inner);
        models.retain(|_, (since, ..)| SystemClock.now().since(*since) < KEPT);
        models.insert(agent.model.clone(), (SystemClock.now(), name.clone(), seat.clone()));
        Ok((name, seat))
    }

    /// Gives an agent what its capabilities bring.
    fn equipped(&self, agent: &AgentRow) -> Result<Equipment, String> {
        let equipped = self.capabilities.equip(&agent.capabilities, &agent.system_prompt, Conflicts::Refuse);
        equipped.map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            format!("the agent {} cannot be equipped: {}", agent.id, errors.join("; "))
        })
    }

    async fn workshop(&self, session: &SessionRow) -> Result<(Seat, Arc<Workshop>), NoSeat> {
        let agent = self.agent(session).await?;
        let (model_name, model) = self.model(&agent).await?;
        let equipment = self.equipped(&agent)?;
        let gate = SessionGate::new(self.here.surroundings(), &session.id, &agent.id, self.here.root());
        let talking = Talking {
            model,
            model_name,
            equipment,
            gate: Arc::new(gate),
            confirm: Arc::clone(&self.inbox) as Arc<dyn Confirm>,
            mark: format!("session/{}", session.id),
        };
        Ok(self.here.talking(talking)?)
    }
}

impl Host for LocalHost {
    fn seat(&self, session: &SessionRow, message: &MessageRow) -> Later<Result<Seat, NoSeat>> {
        let (host, session, text) = (self.clone(), session.clone(), message.text.clone());
        Box::pin(async move {
            let (seat, workshop) = host.workshop(&session).await?;
            let Some((name, _)) = called(&workshop, &text).await else { return Ok(seat) };
            // What the skill says it uses holds for its turn, also when that goes on after a crash.
            let skill = name.clone();
            let loaded = workshop.look(move |shelf| shelf.load(&skill, Reader::Person)).await;
            let loaded = loaded.ok_or("the skills cannot be listed")?.map_err(unfit)?;
            let bounds = Bounds::default().of(&name, loaded.skill.allowed_tools().as_deref());
            seat.tree.answer_within(loaded.skill.own_turns());
            let toolbox = workshop.toolbox(&seat.tree, &bounds).await?;
            Ok(Seat { toolbox, permissions: workshop.permissions(&bounds), ..seat })
        })
    }

    fn told(&self, session: &SessionRow, message: &MessageRow) -> Later<Result<String, NoSeat>> {
        let (host, session, text) = (self.clone(), session.clone(), message.text.clone());
        Box::pin(async move {
            if !text.trim_start().starts_with('/') {
                return Ok(text);
            }
            let (_, workshop) = host.workshop(&session).await?;
            let Some((name, arguments)) = called(&workshop, &text).await else { return Ok(text) };
            let brief = workshop.brief(&name, &Arguments::read(&arguments), By::Message, false).await;
            brief.map(|brief| brief.text).map_err(|why| match why {
                Unrun::Unfit(why) => unfit(why).into(),
                Unrun::Failed(why) => why.into(),
            })
        })
    }
}

/// Returns the skill that a message calls, and with what; one that there is not is no call.
async fn called(workshop: &Workshop, text: &str) -> Option<(String, String)> {
    let typed = text.trim().strip_prefix('/')?;
    let (name, rest) = typed.split_once(char::is_whitespace).unwrap_or((typed, ""));
    // As in a chat, where these are commands.
    if CHAT_COMMANDS.contains(&name) {
        return None;
    }
    let (name, rest) = (name.to_owned(), rest.to_owned());
    let known = name.clone();
    let known = workshop.look(move |shelf| shelf.skills.find(&known).is_some()).await;
    known.unwrap_or_default().then_some((name, rest))
}

fn unfit(why: Unfit) -> String {
    match why {
        Unfit::Unknown(why) | Unfit::Denied(why) | Unfit::Ask(why) | Unfit::Unusable(why) => why,
    }
}
