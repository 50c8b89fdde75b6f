//! Waiting for a run until somebody has to do something: the agent, a human, or nobody because it is over.

use super::LocalDesk;
use super::floor::Seen;
use abide_core::event::RunId;
use abide_core::run::Command;
use abide_core::view::standing::{Asks, Standing};
use abide_engine::service::{self, Member};
use abide_gate::Gate;
use abide_mcp::desk::{Question, Report, Said, Talk};
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

/// How long a human is waited for in the client.
const PATIENCE: Duration = Duration::from_mins(10);
/// How long a run that was just taken up may need until it says what it waits for.
const MOMENT: Duration = Duration::from_secs(30);
/// How long a driver may be behind its log.
const BEHIND: Duration = Duration::from_secs(2);
/// How often that is looked at.
const LOOK: Duration = Duration::from_millis(20);

impl LocalDesk {
    /// Waits until somebody has to do something, and reports that.
    pub(super) async fn settled(&self, id: &RunId, talk: Option<&dyn Talk>) -> Report {
        let mut until = Instant::now() + self.hold;
        // A question that nobody answered here is not put again.
        let mut put: Vec<(RunId, Asks)> = Vec::new();
        let mut refusal: Option<String> = None;
        // Without a hook before it, whoever calls may be the agent itself: then only a terminal is a human's.
        let in_session = !self.floor.is_free(id) && !self.is_of_an_agent();
        loop {
            let (seen, news) = self.floor.look(id);
            let Some(mut news) = news else { return self.report(id, &Seen::Unknown).await };
            match (&seen, talk) {
                (Seen::Busy, _) => {
                    self.tell(id, talk);
                    let gone = async {
                        match talk {
                            Some(talk) => talk.cancelled().await,
                            None => std::future::pending().await,
                        }
                    };
                    tokio::select! {
                        _ = news.changed() => {}
                        () = sleep_until(until) => return self.report(id, &Seen::Busy).await,
                        () = gone => return self.report(id, &Seen::Busy).await,
                    }
                }
                (Seen::Asks(run, asks), Some(talk))
                    if in_session && !put.contains(&(run.clone(), asks.clone())) =>
                {
                    put.push((run.clone(), asks.clone()));
                    self.tell(id, Some(talk));
                    let said = tokio::select! {
                        said = self.put(run, asks, talk) => said,
                        // Somebody answered it elsewhere, or the run went on.
                        () = self.otherwise(id, &seen) => Ok(()),
                        () = talk.cancelled() => Ok(()),
                    };
                    // An answer that the run does not take leaves it where it is.
                    refusal = said.err().map(|report| report.text);
                    self.caught_up(id).await;
                    // The human took their time; what follows has its own.
                    until = Instant::now() + self.hold;
                }
                _ => {
                    let mut report = self.report(id, &seen).await;
                    if let Some(refusal) = refusal {
                        report.text = format!("{refusal}\n\n{}", report.text);
                    }
                    return report;
                }
            }
        }
    }

    /// Waits until the driver has seen what others wrote into the log, so that nobody is told yesterday's news; not long.
    pub(super) async fn caught_up(&self, id: &RunId) {
        let Ok(driver) = self.driver() else { return };
        let until = Instant::now() + BEHIND;
        while self.floor.drives(id) && Instant::now() < until {
            let Ok(family) = service::family(driver.store(), id).await else { return };
            let current =
                |member: &Member| member.run.is_finished() || self.floor.knows(&Standing::of(&member.run));
            if family.iter().all(current) {
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until a run says what it waits for; not long.
    pub(super) async fn quiet(&self, id: &RunId) {
        let quiet = async {
            while let (Seen::Busy, Some(mut news)) = self.floor.look(id) {
                if news.changed().await.is_err() {
                    return;
                }
            }
        };
        let _ = timeout(MOMENT, quiet).await;
    }

    /// Returns whether the client is one that an agent has started, and may be playing: then nobody sits at it.
    fn is_of_an_agent(&self) -> bool {
        self.client.is_some() && self.gate.as_ref().is_some_and(Gate::is_client_of_an_agent)
    }

    /// Waits until something else is seen of a run.
    async fn otherwise(&self, id: &RunId, seen: &Seen) {
        let Seen::Asks(run, asks) = seen else { return };
        while let (Seen::Asks(other, open), Some(mut news)) = self.floor.look(id) {
            if other != *run || open != *asks || news.changed().await.is_err() {
                return;
            }
        }
    }

    /// Asks the human who sits at the client.
    async fn put(&self, run: &RunId, asks: &Asks, talk: &dyn Talk) -> Result<(), Report> {
        let (message, options) = asked_of_a_human(asks);
        let message = format!("abide, run {run}: {message}");
        let said = talk.ask(Question { message, options, within: Some(PATIENCE) }).await;
        let Said::Chosen { option, comment } = said else { return Ok(()) };
        match self.answering(asks, &option, comment) {
            Some(command) => self.answer(run, command).await,
            None => Ok(()),
        }
    }

    /// Returns what an option that a human chose asks for; nothing for one that was not offered.
    pub(super) fn answering(&self, asks: &Asks, option: &str, comment: Option<String>) -> Option<Command> {
        let by = self.user();
        match asks {
            Asks::Plan => Some(Command::AnswerPlan { by: by.into(), approved: option == "approve", comment }),
            Asks::Question(key, question) => {
                let (_, answer) = question.options.iter().find(|(label, _)| label == option)?;
                let (key, answer) = (key.clone(), answer.clone());
                Some(Command::Answer { key, answer, by: by.into(), comment, now: Self::now() })
            }
        }
    }

    fn tell(&self, id: &RunId, talk: Option<&dyn Talk>) {
        if let (Some(talk), Some(standing)) = (talk, self.floor.standing(id)) {
            let doing: Vec<String> = standing.doing.iter().map(|(key, _)| key.to_string()).collect();
            let message = if doing.is_empty() { standing.status.word().to_owned() } else { doing.join(", ") };
            talk.progress(standing.done as u64, standing.total as u64, &message);
        }
    }
}

/// Returns what a human is asked, and what they can choose.
pub(crate) fn asked_of_a_human(asks: &Asks) -> (String, Vec<String>) {
    match asks {
        Asks::Plan => {
            ("May the plan be carried out?".to_owned(), vec!["approve".to_owned(), "reject".to_owned()])
        }
        Asks::Question(_, question) => {
            (question.prompt.clone(), question.options.iter().map(|(label, _)| label.clone()).collect())
        }
    }
}
