//! Abilities: found, checked, planned and executed.

use crate::error::Error;
use crate::runs::{Runs, Until};
use crate::types::{AbilityEntry, Run, RunHead};
use crate::wire::Wire;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What to execute.
#[derive(Debug, Clone)]
pub struct Execute {
    name: String,
    inputs: Map<String, Value>,
    text: Option<String>,
    once: Option<String>,
}

impl Execute {
    /// Names an ability.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), inputs: Map::new(), text: None, once: None }
    }

    /// Gives it an input.
    #[must_use]
    pub fn input(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.inputs.insert(name.into(), value.into());
        self
    }

    /// Gives it the text that templates see as `input`.
    #[must_use]
    pub fn text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Names this start: the same name starts one run within a week. Each call has one of its own when nothing is said.
    #[must_use]
    pub fn idempotency_key(mut self, key: impl Into<String>) -> Self {
        self.once = Some(key.into());
        self
    }

    fn body(&self) -> Map<String, Value> {
        let mut body = Map::new();
        body.insert("inputs".to_owned(), self.inputs.clone().into());
        if let Some(text) = &self.text {
            body.insert("input".to_owned(), text.as_str().into());
        }
        body
    }
}

/// Abilities.
#[derive(Debug, Clone, Copy)]
pub struct Abilities<'a>(pub(crate) &'a Wire);

impl Abilities<'_> {
    /// Lists the abilities of the project, broken and shadowed ones too.
    pub async fn list(&self) -> Result<Vec<AbilityEntry>, Error> {
        #[derive(Deserialize)]
        struct Listing {
            abilities: Vec<AbilityEntry>,
        }
        Ok(self.0.get::<Listing>("/v1/abilities", &[]).await?.abilities)
    }

    /// Lists them with everything that the server says.
    pub async fn listing(&self) -> Result<Value, Error> {
        self.0.get("/v1/abilities", &[]).await
    }

    /// Shows everything about one ability.
    pub async fn get(&self, name: &str) -> Result<Value, Error> {
        self.0.get("/v1/abilities/{}", &[name]).await
    }

    /// Says everything that is wrong with an ability.
    pub async fn validate(&self, name: &str) -> Result<Value, Error> {
        self.0.get("/v1/abilities/{}/problems", &[name]).await
    }

    /// Returns the steps of an ability as a graph.
    pub async fn graph(&self, name: &str) -> Result<Value, Error> {
        self.0.get("/v1/abilities/{}/graph", &[name]).await
    }

    /// Shows what an execution would do, without doing any of it.
    pub async fn plan(&self, what: &Execute) -> Result<Value, Error> {
        let sent = self.0.post("/v1/abilities/{}/plan", &[&what.name], what.body().into())?.again();
        Ok(self.0.call(&sent).await?.0)
    }

    /// Starts an ability and does not wait for it. When an answer is lost, it is asked again under the same name: it starts once.
    pub async fn execute(&self, what: Execute) -> Result<RunHead, Error> {
        let mut body = what.body();
        body.insert("ability".to_owned(), what.name.into());
        let once = what.once.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let sent = self.0.post("/v1/runs", &[], body.into())?.header("idempotency-key", &once)?.again();
        Ok(self.0.call(&sent).await?.0)
    }

    /// Shows how an execution stands.
    pub async fn status(&self, run: &str) -> Result<Run, Error> {
        Runs(self.0).get(run).await
    }

    /// Waits until an execution is over, and returns how it stands then, whether it went well or not.
    pub async fn wait_for(&self, run: &str) -> Result<Run, Error> {
        Runs(self.0).wait_for(run, Until::Over).await
    }

    /// Ends an execution.
    pub async fn cancel(&self, run: &str, reason: Option<&str>) -> Result<Run, Error> {
        Runs(self.0).cancel(run, reason).await
    }
}

/// Leaves out what is not said.
pub(crate) fn object(fields: &[(&str, Option<&str>)]) -> Value {
    let said = fields.iter().filter_map(|(name, value)| Some(((*name).to_owned(), json!((*value)?))));
    Value::Object(said.collect())
}
