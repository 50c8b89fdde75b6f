//! What humans decide: approvals, the keys that say who they are, and what was changed by whom.

use crate::abilities::object;
use crate::error::Error;
use crate::pages::Pages;
use crate::types::{Answered, Approval, Change, Key, MadeKey};
use crate::wire::Wire;
use reqwest::Method;
use serde_json::json;

/// What humans are asked.
#[derive(Debug, Clone, Copy)]
pub struct Approvals<'a>(pub(crate) &'a Wire);

impl<'a> Approvals<'a> {
    /// Lists what humans are asked: by runs, and about the calls of agents that talk in sessions (of the kind `tool`).
    pub fn list(&self) -> Pages<'a, Approval> {
        Pages::new(self.0, "/v1/approvals", &[])
    }

    /// Answers what has that `id`, in the name of the key; without a step, the plan of a run or the call of a session is answered. It is
    /// sent once: when no answer comes, look at the run or the session.
    pub async fn answer(
        &self,
        id: &str,
        step: Option<&str>,
        answer: &str,
        comment: Option<&str>,
    ) -> Result<Answered, Error> {
        let body = object(&[("step", step), ("answer", Some(answer)), ("comment", comment)]);
        let sent = self.0.post("/v1/approvals/{}", &[id], body)?;
        Ok(self.0.call(&sent).await?.0)
    }
}

/// Keys of the server; all of it needs the scope `admin`.
#[derive(Debug, Clone, Copy)]
pub struct Keys<'a>(pub(crate) &'a Wire);

impl<'a> Keys<'a> {
    /// Lists keys in the order of creation, revoked ones too.
    pub fn list(&self) -> Pages<'a, Key> {
        Pages::new(self.0, "/v1/keys", &[])
    }

    /// Makes a key; `key` of the answer is shown this once.
    pub async fn create(&self, name: &str, scopes: &[&str]) -> Result<MadeKey, Error> {
        let sent = self.0.post("/v1/keys", &[], json!({ "name": name, "scopes": scopes }))?;
        Ok(self.0.call(&sent).await?.0)
    }

    /// Revokes a key: from then on it opens nothing.
    pub async fn revoke(&self, id: &str) -> Result<Key, Error> {
        let sent = self.0.ask(Method::DELETE, "/v1/keys/{}", &[id], &[])?.again();
        Ok(self.0.call(&sent).await?.0)
    }
}

/// What was changed over the API and by `abide key`, each row chained to the one before it; it needs the scope `admin`.
#[derive(Debug, Clone, Copy)]
pub struct Audit<'a>(pub(crate) &'a Wire);

impl<'a> Audit<'a> {
    /// Lists changes, the oldest first.
    pub fn list(&self) -> Pages<'a, Change> {
        Pages::new(self.0, "/v1/audit", &[])
    }
}
