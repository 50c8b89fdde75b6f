//! abide over HTTP, for programs: start abilities, follow their runs, answer approvals.
//!
//! ```no_run
//! use abide_sdk::{Abide, Execute, Options};
//!
//! # async fn release() -> Result<(), abide_sdk::Error> {
//! let abide = Abide::new(&Options::new("http://127.0.0.1:7070").key("abide_…"))?;
//! let run = abide.abilities().execute(Execute::new("release").input("version", "v1.2.3")).await?;
//! let mut events = abide.runs().stream(&run.run, 0);
//! while let Some(event) = events.next().await? {
//!     assert!(event.seq > 0);
//! }
//! let over = abide.abilities().wait_for(&run.run).await?;
//! assert!(over.status.is_over());
//! # Ok(())
//! # }
//! ```
//! A call is ended by dropping its future. `execute` names its start, so that it can be asked for again when an answer is lost; what only
//! looks is asked for again, too. Everything else is sent once: when no answer comes, look whether it was done.

mod abilities;
mod agents;
mod error;
mod events;
mod files;
mod pages;
mod people;
mod runs;
mod sessions;
mod skills;
mod talks;
mod told;
mod types;
mod webhooks;
mod wire;

pub use abilities::{Abilities, Execute};
pub use agents::{Agents, Capabilities, Seen};
pub use error::{Error, Problem};
pub use events::EventStream;
pub use files::{Expect, Files};
pub use pages::{Page, Pages};
pub use people::{Approvals, Audit, Keys};
pub use runs::{LogOptions, LogStream, RunFilter, Runs, Until};
pub use sessions::{Say, Sessions};
pub use skills::{Models, Skills};
pub use talks::{SessionStream, Talk};
pub use told::Told;
pub use types::*;
pub use webhooks::{Unverified, Verifier, WebhookEvent};
pub use wire::Options;

use reqwest::Method;
use serde_json::Value;
use std::sync::Arc;
use wire::Wire;

/// A server of abide.
#[derive(Debug, Clone)]
pub struct Abide(Arc<Wire>);

impl Abide {
    /// Makes ready to ask a server; nothing is sent.
    pub fn new(options: &Options) -> Result<Self, Error> {
        Ok(Self(Arc::new(Wire::new(options)?)))
    }

    /// Abilities.
    pub fn abilities(&self) -> Abilities<'_> {
        Abilities(&self.0)
    }

    /// Runs.
    pub fn runs(&self) -> Runs<'_> {
        Runs(&self.0)
    }

    /// What humans are asked.
    pub fn approvals(&self) -> Approvals<'_> {
        Approvals(&self.0)
    }

    /// Capabilities that agents can be given.
    pub fn capabilities(&self) -> Capabilities<'_> {
        Capabilities(&self.0)
    }

    /// Agents.
    pub fn agents(&self) -> Agents<'_> {
        Agents(&self.0)
    }

    /// Sessions in which agents talk.
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions(&self.0)
    }

    /// Files of sessions.
    pub fn files(&self) -> Files<'_> {
        Files(&self.0)
    }

    /// Skills.
    pub fn skills(&self) -> Skills<'_> {
        Skills(&self.0)
    }

    /// Models.
    pub fn models(&self) -> Models<'_> {
        Models(&self.0)
    }

    /// What was changed, and by whom.
    pub fn audit(&self) -> Audit<'_> {
        Audit(&self.0)
    }

    /// Keys of the server.
    pub fn keys(&self) -> Keys<'_> {
        Keys(&self.0)
    }

    /// Reads a document of the server as it is, with what this version does not know; each `{}` of the path is one of the parts.
    pub async fn document(&self, path: &str, parts: &[&str]) -> Result<Value, Error> {
        self.0.get(path, parts).await
    }

    /// Lists rows of the server as they are, such as those of `/v1/runs`.
    pub fn rows(&self, path: &'static str) -> Pages<'_, Value> {
        Pages::new(&self.0, path, &[])
    }

    /// Says which version of abide answers.
    pub async fn version(&self) -> Result<Version, Error> {
        self.0.get("/v1/version", &[]).await
    }

    /// Says that the server runs; it asks no store.
    pub async fn health(&self) -> Result<Health, Error> {
        self.0.get("/v1/health", &[]).await
    }

    /// Says that the stores of the server answer; the code is `unavailable` if one does not, and it is asked once.
    pub async fn ready(&self) -> Result<Health, Error> {
        Ok(self.0.call(&self.0.ask(Method::GET, "/v1/ready", &[], &[])?.once()).await?.0)
    }

    /// Says what the server has done since it started, in the text format of Prometheus.
    pub async fn metrics(&self) -> Result<String, Error> {
        self.0.text("/v1/metrics", &[]).await
    }
}
