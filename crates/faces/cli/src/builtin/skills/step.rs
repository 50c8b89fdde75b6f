//! A step that runs a skill: the agent `default`, bounded as the skill says, told what the skill says.

use super::{By, Unrun, Workshop, with_inputs};
use crate::builtin::{Here, Wanted};
use crate::skills::{Reader, Unfit};
use abide_core::skill::text::{Arguments, Places};
use abide_core::value::Value;
use abide_core::value::template::as_text;
use abide_engine::port::Task;
use abide_engine::turn::Seat;
use std::sync::Arc;

/// The agent that steps of skills are done by.
const AGENT: &str = "default";

/// A step that runs a skill.
pub(crate) struct SkillStep {
    workshop: Arc<Workshop>,
    /// Whether the skill has places for what it is given.
    has_places: bool,
}

impl SkillStep {
    /// Puts together who does it, or says why nobody can.
    pub(crate) async fn of(here: &Here, name: &str, task: &Task) -> Result<(Seat, Self), String> {
        let (kept, skill) = (Arc::clone(here.skills()), name.to_owned());
        let found =
            tokio::task::spawn_blocking(move || kept.with(|shelf| shelf.load(&skill, Reader::Anybody)));
        let loaded = found.await.map_err(|error| error.to_string())?.map_err(|unfit| said(&unfit))?;
        let wanted = Wanted { model: loaded.model(), ..Wanted::step(AGENT.to_owned(), task) };
        let (seat, workshop) = here.furnished(&wanted).await?;
        let (turns, tools) = (loaded.skill.max_turns(), loaded.skill.allowed_tools());
        let seat = workshop.seat_for(seat, name, turns, tools.as_deref()).await?;
        let has_places = Places::of(&loaded.skill.body).any();
        Ok((seat, Self { workshop, has_places }))
    }

    /// Returns what the agent is told: the skill with its inputs filled in, and the inputs by their names.
    pub(crate) async fn told(&self, name: &str, inputs: &[(String, Value)]) -> Result<String, String> {
        let words = inputs.iter().filter(|_| self.has_places);
        let arguments = Arguments::of(words.map(|(_, value)| as_text(value).into_owned()).collect());
        let brief =
            self.workshop.brief(name, &arguments, By::Step, false).await.map_err(|why| match why {
                Unrun::Unfit(unfit) => said(&unfit),
                Unrun::Failed(why) => why,
            })?;
        Ok(with_inputs(&brief, inputs))
    }
}

fn said(unfit: &Unfit) -> String {
    match unfit {
        Unfit::Unknown(why) | Unfit::Denied(why) | Unfit::Ask(why) | Unfit::Unusable(why) => why.clone(),
    }
}
