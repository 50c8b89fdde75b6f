//! The gate's answers to an agent that asks its runner: the same verdict as a hook would give, and the same note of every no.

use crate::Surroundings;
use crate::commands::hook::Disk;
use crate::gate::{narrowed, note_verdict, situation};
use abide_core::definition::Enforcement;
use abide_core::policy::{Client, Remembered};
use abide_core::value::Value;
use abide_gate::rules::Rules;
use abide_gate::sessions::Bound;
use abide_gate::{Gate, SessionId};
use abide_hooks::answer::Answer;
use abide_hooks::asked::{Asked, Moment, Use};
use abide_hooks::decide::{Decision, decide};
use abide_runners::Judge;
use std::time::{SystemTime, UNIX_EPOCH};

/// Judges the calls of one session.
pub(super) struct SeatJudge {
    pub(super) surroundings: Surroundings,
    pub(super) gate: Gate,
    pub(super) bound: Bound,
    pub(super) level: Enforcement,
    pub(super) agent: Option<String>,
    pub(super) rules: Option<Rules>,
    pub(super) session: SessionId,
}

impl SeatJudge {
    fn decided(
        &self,
        name: &str,
        arguments: &Value,
        call: &str,
        now: SystemTime,
    ) -> Result<(), (String, Noted)> {
        let used = Use { tool: name.to_owned(), arguments: arguments.clone(), id: Some(call.to_owned()) };
        let asked = Asked {
            session: self.session.id().to_owned(),
            sub_agent: None,
            agent: self.agent.clone(),
            folder: Some(self.bound.root.display().to_string()),
            plugin: None,
            moment: Moment::BeforeTool(used),
        };
        let bound = Some(self.bound.clone());
        let files = Remembered::new(&Disk);
        let asking = (Client::Other, &asked);
        let situation = situation(&self.surroundings, &self.gate, &self.session, asking, bound, &files, now);
        let decision = decide(Client::Other, &asked, &situation, &files);
        let Decision { answer, given, .. } =
            narrowed(decision, Client::Other, &asked, &situation, self.rules.as_ref(), &files);
        let note: Noted = Box::new(move |judge: &Self| {
            if let Some(given) = &given {
                let at = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
                let at = i64::try_from(at).unwrap_or(i64::MAX);
                note_verdict(&judge.gate, &judge.session, None, &situation, given, at);
            }
        });
        match answer {
            Answer::Deny(why) => Err((why, note)),
            Answer::Ask(why) => Err((format!("{why}; a human has to be asked, and nobody is there"), note)),
            Answer::Silence | Answer::Grant | Answer::Tell(_) => {
                note(self);
                Ok(())
            }
        }
    }
}

/// Notes a verdict for the log.
type Noted = Box<dyn FnOnce(&SeatJudge)>;

impl Judge for SeatJudge {
    #[expect(clippy::disallowed_methods, reason = "verdicts carry the time at which they were given")]
    fn judge(&self, names: &[&str], arguments: &Value, call: &str) -> Result<(), String> {
        let now = SystemTime::now();
        let mut denied = None;
        for name in names {
            match self.decided(name, arguments, call, now) {
                Ok(()) => return Ok(()),
                Err(why) => {
                    denied.get_or_insert(why);
                }
            }
        }
        let Some((why, note)) = denied else { return Err("a call without a name is none".to_owned()) };
        note(self);
        Err(why)
    }

    fn level(&self) -> Enforcement {
        self.level
    }
}
