//! The run that a conversation is bound to, for the human in front of it: how it stands, what it asks, how it ends.

use super::LOOK;
use super::terminal::chosen;
use crate::Failure;
use crate::builtin::SessionGate;
use crate::desk::{LocalDesk, OwnRun, asked_of_a_human};
use crate::human::agent_above;
use crate::session::Session;
use crate::ui::visible::visible;
use abide_gate::agents::AgentAbove;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// What a conversation needs to know of its run.
pub(super) struct Bound {
    pub(super) desk: Arc<LocalDesk>,
    pub(super) gate: SessionGate,
}

/// What the agent is told when the human has answered between two turns.
const ANSWERED: &str = "I have answered what the run asked. Call `ability_status` and go on with it.";

impl Bound {
    /// Returns whether a line is one of the commands about the run.
    pub(super) fn is_command(line: &str) -> bool {
        let word = line.split_whitespace().next().unwrap_or_default();
        matches!(word, "/status" | "/answer" | "/cancel")
    }

    async fn run(&self) -> Result<Option<OwnRun>, Failure> {
        self.desk.own_run(self.gate.session()).await
    }

    /// Goes on with the run of a conversation that is resumed: abide's own steps do not wait for the agent.
    pub(super) async fn take_up(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        match self.run().await {
            Ok(Some(run)) if !session.json => {
                session.say(&format!("run {} of this conversation goes on\n", run.id))
            }
            Ok(_) => Ok(()),
            // The agent is held all the same, and told why.
            Err(failure) => session.say(&format!("{failure}\n")),
        }
    }

    /// Says what waits for the human, before they type something else.
    pub(super) async fn remind(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        let Ok(Some(OwnRun { id, asks: Some((_, asks)), .. })) = self.run().await else { return Ok(()) };
        let (question, options) = asked_of_a_human(&asks);
        session.say(&format!(
            "\n? run {id} waits for you: {}\n  /answer {}\n",
            visible(&question, true),
            visible(&options.join(" | "), true)
        ))
    }

    /// Does what a command says; returns what the agent is told then.
    pub(super) async fn command(
        &self,
        session: &mut Session<'_>,
        line: &str,
    ) -> Result<Option<String>, Failure> {
        let Some(run) = self.run().await? else {
            session.say("this conversation has no active run\n")?;
            return Ok(None);
        };
        let (word, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        if matches!(word, "/answer" | "/cancel")
            && let Some(AgentAbove { who, sign }) = agent_above(session.surroundings)
        {
            let why =
                format!("only a human decides about a run, and this process was started by {who} ({sign})\n");
            session.say(&why)?;
            return Ok(None);
        }
        match word {
            "/answer" => return self.answer(session, &run, rest).await,
            "/cancel" => {
                let reason = Some(rest.trim().to_owned()).filter(|reason| !reason.is_empty());
                match self.desk.cancel_as_human(&run.id, reason).await {
                    Ok(()) => session.say(&format!("run {} is cancelled\n", run.id))?,
                    Err(failure) => session.say(&failure.to_string())?,
                }
            }
            _ => {
                let lines: Vec<_> = run.text.lines().map(|line| visible(line, true)).collect();
                session.say(&format!("{}\n", lines.join("\n")))?;
            }
        }
        Ok(None)
    }

    async fn answer(
        &self,
        session: &mut Session<'_>,
        run: &OwnRun,
        line: &str,
    ) -> Result<Option<String>, Failure> {
        let Some((asking, asks)) = &run.asks else {
            session.say("the run asks nothing now\n")?;
            return Ok(None);
        };
        let (_, options) = asked_of_a_human(asks);
        let Some((option, comment)) = chosen(&options, line) else {
            session.say(&format!("the answers are {}\n", visible(&options.join(", "), true)))?;
            return Ok(None);
        };
        match self.desk.answer_as_human(asking, asks, &option, comment).await {
            Ok(()) => Ok(Some(ANSWERED.to_owned())),
            Err(failure) => {
                session.say(&failure.to_string())?;
                Ok(None)
            }
        }
    }

    /// Waits until abide has brought to its end what must not be cut short; returns whether a run is left unfinished.
    pub(super) async fn leave(&self, session: &mut Session<'_>) -> Result<bool, Failure> {
        let floor = self.desk.floor();
        let mut keys = signal(SignalKind::interrupt()).ok();
        let mut told = false;
        while floor.leave() {
            if !told && floor.is_working() {
                told = true;
                session.say("abide brings the step that it is at to its end; Ctrl-C leaves it\n")?;
            }
            let key = async {
                match &mut keys {
                    Some(keys) => keys.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                _ = key => break,
            }
        }
        let left = self.gate.is_bound();
        if left && !session.json {
            session.say(
                "its run is not over; `abide chat --resume` goes on with it, `abide status` shows it\n",
            )?;
        }
        Ok(left)
    }
}
