//! Agents without a profile: those that were made over the API, put together from what they have.

use super::rules::{Manner, ProfileRules};
use super::seat::{Here, NO_MODEL, kept_from_commands, with_help};
use super::skills::Workshop;
use crate::{Surroundings, models};
use abide_core::definition::{AgentName, AgentProfile};
use abide_core::model::{ModelName, Patience};
use abide_core::source::{Span, Spanned};
use abide_engine::capability::Equipment;
use abide_engine::port::Confirm;
use abide_engine::turn::{CallTree, Gate, ModelSeat, Seat};
use std::path::PathBuf;
use std::sync::Arc;

/// What an agent without a profile is put together from.
pub(crate) struct Talking {
    pub(crate) model: ModelSeat,
    /// The full name of the model.
    pub(crate) model_name: String,
    pub(crate) equipment: Equipment,
    pub(crate) gate: Arc<dyn Gate>,
    pub(crate) confirm: Arc<dyn Confirm>,
    /// The mark of the processes that are started for it.
    pub(crate) mark: String,
}

impl Here {
    /// Returns the machine.
    pub(crate) fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// Returns the project.
    pub(crate) fn root(&self) -> PathBuf {
        self.place.root()
    }

    /// Makes a model ready to be asked: the one that is wanted, or the configured one; returns its full name, too.
    pub(crate) async fn model(
        &self,
        agent: &str,
        wanted: Option<ModelName>,
    ) -> Result<(String, ModelSeat), String> {
        let (model, openable) = self.quietly(|session| {
            let model = wanted.or_else(|| session.configuration().config.model.map(|model| model.value));
            let model = model.ok_or_else(|| format!("agent `{agent}`: {NO_MODEL}"))?;
            let openable = models::openable(session, &model).map_err(|error| with_help(&error))?;
            Ok::<_, String>((model, openable))
        })?;
        let (http, facts) = openable.open().await.map_err(|error| with_help(&error))?;
        let name = model.model().to_owned();
        Ok((
            model.to_string(),
            ModelSeat { model: Arc::new(http), name, facts, patience: Patience::default() },
        ))
    }

    /// Puts an agent together that has no profile, for a conversation: it has its equipment and nothing of the project.
    pub(crate) fn talking(&self, talking: Talking) -> Result<(Seat, Arc<Workshop>), String> {
        let Talking { model, model_name, equipment, gate, confirm, mark } = talking;
        let name = AgentName::parse("default").map_err(|error| error.to_string())?;
        let profile = AgentProfile::named(Spanned::new(name, Span::default()));
        let budget = self.quietly(|session| session.configuration().config.budget);
        let place = self.policy_place();
        let rules = ProfileRules { profile: profile.clone(), place: place.clone(), manner: Manner::Talk };
        let seat = Seat {
            model,
            model_name,
            system: equipment.system_prompt,
            toolbox: equipment.toolbox,
            permissions: Arc::new(rules),
            gate,
            confirm,
            tree: CallTree::new(budget.envelope()),
        };
        let granted = seat.toolbox.iter().map(|tool| tool.spec().name.to_string()).collect();
        let workshop =
            self.workshop(&seat, profile, Some(granted), (self.place.root(), mark), self.hidden_from(None));
        Ok((seat, workshop))
    }

    /// Returns what commands of agents are not given: what abide asks models with, and what steps are given alone.
    pub(crate) fn kept_from_commands(&self) -> Vec<String> {
        self.quietly(kept_from_commands)
    }
}
