//! Agents and the capabilities that they can be given.

use crate::error::Error;
use crate::pages::Pages;
use crate::types::{Agent, AgentDraft, Capability, Session};
use crate::wire::{Sent, Wire};
use reqwest::header::HeaderMap;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Capabilities.
#[derive(Debug, Clone, Copy)]
pub struct Capabilities<'a>(pub(crate) &'a Wire);

impl Capabilities<'_> {
    /// Lists every capability that agents can be given, usable or not.
    pub async fn list(&self) -> Result<Vec<Capability>, Error> {
        #[derive(Deserialize)]
        struct Listing {
            items: Vec<Capability>,
        }
        Ok(self.0.get::<Listing>("/v1/capabilities", &[]).await?.items)
    }

    /// Shows a capability with its tools.
    pub async fn get(&self, capability: &str) -> Result<Value, Error> {
        self.0.get("/v1/capabilities/{}", &[capability]).await
    }
}

/// Something as somebody has seen it.
#[derive(Debug, Clone)]
pub struct Seen<T> {
    /// What.
    pub value: T,
    /// Its version: given back with a change, it is made only if nobody else has changed it since.
    pub etag: Option<String>,
}

/// Agents.
#[derive(Debug, Clone, Copy)]
pub struct Agents<'a>(pub(crate) &'a Wire);

impl<'a> Agents<'a> {
    /// Lists agents in the order of creation; `status` is `active` or `archived`, or both if nothing is said.
    pub fn list(&self, status: Option<&str>) -> Pages<'a, Agent> {
        Pages::new(self.0, "/v1/agents", &[]).with("status", status)
    }

    /// Makes an agent. It is sent once: when no answer comes, look at the list.
    pub async fn create(&self, agent: &AgentDraft) -> Result<Seen<Agent>, Error> {
        self.seen(&self.0.post("/v1/agents", &[], json!(agent))?).await
    }

    /// Shows an agent.
    pub async fn get(&self, agent: &str) -> Result<Seen<Agent>, Error> {
        self.seen(&self.0.ask(reqwest::Method::GET, "/v1/agents/{}", &[agent], &[])?).await
    }

    /// Changes what is named; with an `etag`, only if nobody else has changed the agent since, else the code is `changed`.
    pub async fn update(
        &self,
        agent: &str,
        change: &AgentDraft,
        etag: Option<&str>,
    ) -> Result<Seen<Agent>, Error> {
        self.seen(&matching(self.0.patch("/v1/agents/{}", &[agent], json!(change))?, etag)?).await
    }

    /// Archives an agent: it stays in the list, and is not changed any more.
    pub async fn archive(&self, agent: &str, etag: Option<&str>) -> Result<Seen<Agent>, Error> {
        self.seen(&matching(self.0.post("/v1/agents/{}/archive", &[agent], json!({}))?, etag)?).await
    }

    /// Shows an agent as Markdown: what it is in front, and its system prompt.
    pub async fn export(&self, agent: &str) -> Result<String, Error> {
        self.0.text("/v1/agents/{}/export", &[agent]).await
    }

    /// Makes an agent from Markdown, as `export` writes it; what cannot be kept is refused. It is sent once: when no answer comes, look at the list.
    pub async fn import(&self, document: &str) -> Result<Seen<Agent>, Error> {
        self.seen(&self.0.post_markdown("/v1/agents/import", document)?).await
    }

    /// Lists the sessions of an agent in the order of creation.
    pub fn sessions(&self, agent: &str) -> Pages<'a, Session> {
        Pages::new(self.0, "/v1/agents/{}/sessions", &[agent])
    }

    /// Makes a session of an agent. It is sent once: when no answer comes, look at the list.
    pub async fn create_session(&self, agent: &str, title: Option<&str>) -> Result<Session, Error> {
        let sent = self.0.post("/v1/agents/{}/sessions", &[agent], json!({ "title": title }))?;
        Ok(self.0.call(&sent).await?.0)
    }

    async fn seen(&self, sent: &Sent) -> Result<Seen<Agent>, Error> {
        Seen::read(self.0, sent).await
    }
}

impl<T: DeserializeOwned> Seen<T> {
    pub(crate) async fn read(wire: &Wire, sent: &Sent) -> Result<Self, Error> {
        let (value, headers) = wire.call(sent).await?;
        Ok(Self { value, etag: etag(&headers) })
    }
}

/// Returns the version that an answer names.
pub(crate) fn etag(headers: &HeaderMap) -> Option<String> {
    headers.get("etag").and_then(|etag| etag.to_str().ok()).map(str::to_owned)
}

pub(crate) fn matching(sent: Sent, etag: Option<&str>) -> Result<Sent, Error> {
    match etag {
        Some(etag) => sent.header("if-match", etag),
        None => Ok(sent),
    }
}
