//! Runs: listed, shown, followed, ended and gone on with.

use crate::abilities::object;
use crate::error::Error;
use crate::events::EventStream;
use crate::pages::Pages;
use crate::types::{Decision, Event, Run, RunHead, RunStatus};
use crate::wire::Wire;
use reqwest::{Method, Response};
use serde_json::{Map, Value, json};

/// Which runs to list.
#[derive(Debug, Clone, Default)]
pub struct RunFilter {
    /// Only runs of this status.
    pub status: Option<String>,
    /// Only runs of this ability.
    pub ability: Option<String>,
    /// Only runs that they started.
    pub by: Option<String>,
}

/// When to stop waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Until {
    /// When the run is over, or was interrupted and somebody must decide.
    Over,
    /// The same, and when it waits for a human.
    Asked,
}

/// Which part of what steps wrote.
#[derive(Debug, Clone, Default)]
pub struct LogOptions {
    /// Only of this step.
    pub step: Option<String>,
    /// Whether to go on until the run is over.
    pub follow: bool,
}

/// What the steps of a run wrote, as it comes.
#[derive(Debug)]
pub struct LogStream<'a> {
    wire: &'a Wire,
    response: Response,
}

impl LogStream<'_> {
    /// Returns what comes next, or nothing at the end.
    pub async fn next(&mut self) -> Result<Option<Vec<u8>>, Error> {
        let part = self.response.chunk().await.map_err(|error| self.wire.lost(&error))?;
        Ok(part.map(|part| part.to_vec()))
    }
}

/// Runs.
#[derive(Debug, Clone, Copy)]
pub struct Runs<'a>(pub(crate) &'a Wire);

impl<'a> Runs<'a> {
    /// Lists runs, the one that changed last first.
    pub fn list(&self, filter: &RunFilter) -> Pages<'a, RunHead> {
        Pages::new(self.0, "/v1/runs", &[])
            .with("status", filter.status.as_ref())
            .with("ability", filter.ability.as_ref())
            .with("by", filter.by.as_ref())
    }

    /// Shows how a run stands, with the runs that it calls.
    pub async fn get(&self, run: &str) -> Result<Run, Error> {
        self.0.get("/v1/runs/{}", &[run]).await
    }

    /// Lists the events that a run has so far.
    pub fn events(&self, run: &str) -> Pages<'a, Event> {
        Pages::new(self.0, "/v1/runs/{}/events", &[run])
    }

    /// Tells the events of a run after one as they happen, each once, until the run is over.
    pub fn stream(&self, run: &str, after: u64) -> EventStream<'a> {
        EventStream::new(self.0, run, after)
    }

    /// Tells what the steps of a run wrote, step by step.
    pub async fn logs(&self, run: &str, options: &LogOptions) -> Result<LogStream<'a>, Error> {
        let mut query: Vec<(&str, String)> = options.step.iter().map(|step| ("step", step.clone())).collect();
        if options.follow {
            query.push(("follow", "true".to_owned()));
        }
        let sent = self.0.ask(Method::GET, "/v1/runs/{}/logs", &[run], &query)?;
        let opened = tokio::time::timeout(self.0.timeout, self.0.open(&sent)).await;
        let late = |_| Error::Timeout { server: self.0.server(), limit: self.0.timeout };
        Ok(LogStream { wire: self.0, response: opened.map_err(late)?? })
    }

    /// Ends a run. It is sent once: when no answer comes, look at the run.
    pub async fn cancel(&self, run: &str, reason: Option<&str>) -> Result<Run, Error> {
        let sent = self.0.post("/v1/runs/{}/cancel", &[run], object(&[("reason", reason)]))?;
        Ok(self.0.call(&sent).await?.0)
    }

    /// Drives an unfinished run on, with the secret inputs that no log holds. It is sent once: when no answer comes, look at the run.
    pub async fn resume(
        &self,
        run: &str,
        decision: Option<Decision>,
        inputs: Map<String, Value>,
    ) -> Result<Run, Error> {
        let mut body = json!({ "inputs": inputs });
        if let Some(decision) = decision {
            body["decision"] = decision.word().into();
        }
        let sent = self.0.post("/v1/runs/{}/resume", &[run], body)?;
        Ok(self.0.call(&sent).await?.0)
    }

    /// Waits until a run is over, and returns how it stands then, whether it went well or not.
    pub async fn wait_for(&self, run: &str, until: Until) -> Result<Run, Error> {
        let enough = |shown: &Run| match shown.status {
            RunStatus::Waiting | RunStatus::AwaitingPlan => until == Until::Asked,
            RunStatus::Interrupted => true,
            status => status.is_over(),
        };
        let shown = self.get(run).await?;
        if enough(&shown) {
            return Ok(shown);
        }
        let mut events = self.stream(run, 0);
        while let Some(event) = events.next().await? {
            // What a run waits for begins with one of these; everything else only brings it on.
            if matches!(event.kind.as_str(), "question.asked" | "step.lost") {
                let shown = self.get(run).await?;
                if enough(&shown) {
                    return Ok(shown);
                }
            }
        }
        self.get(run).await
    }
}
