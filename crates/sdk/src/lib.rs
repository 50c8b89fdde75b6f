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
mod pages;
mod people;
mod runs;
mod types;
mod webhooks;
mod wire;

pub use abilities::{Abilities, Execute};
pub use agents::{Agents, Capabilities, Seen};
pub use error::{Error, Problem};
pub use events::EventStream;
pub use pages::{Page, Pages};
pub use people::{Approvals, Keys};
pub use runs::{LogOptions, LogStream, RunFilter, Runs, Until};
pub use types::*;
pub use webhooks::{Unverified, Verifier, WebhookEvent};
pub use wire::Options;

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
}
