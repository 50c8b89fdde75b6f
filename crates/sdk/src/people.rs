//! What humans decide: approvals, and the keys that say who they are.

use crate::abilities::object;
use crate::error::Error;
use crate::pages::Pages;
use crate::types::{Answered, Approval, Key, MadeKey};
use crate::wire::Wire;
use reqwest::Method;
use serde_json::json;

/// What humans are asked.
#[derive(Debug, Clone, Copy)]
pub struct Approvals<'a>(pub(crate) &'a Wire);

impl<'a> Approvals<'a> {
    /// Lists what humans are asked, over all runs.
    pub fn list(&self) -> Pages<'a, Approval> {
        Pages::new(self.0, "/v1/approvals", &[])
    }

    /// Answers in the name of the key; without a step, the plan is answered. It is sent once: when no answer comes, look at the run.
    pub async fn answer(
        &self,
        run: &str,
        step: Option<&str>,
        answer: &str,
        comment: Option<&str>,
    ) -> Result<Answered, Error> {
        let body = object(&[("step", step), ("answer", Some(answer)), ("comment", comment)]);
        let sent = self.0.post("/v1/approvals/{}", &[run], body)?;
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
