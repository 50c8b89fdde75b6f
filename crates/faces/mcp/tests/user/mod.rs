//! A real client with a user who answers as the test says.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, Implementation, ProgressNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::timeout;

/// How long anything may take that must not hang, on a busy machine.
pub const LONG: Duration = Duration::from_secs(30);

#[derive(Clone, Default)]
pub struct User {
    pub name: Option<&'static str>,
    /// What it answers to a question; without it the client cannot ask.
    pub answer: Option<ElicitResult>,
    /// Keeps silent instead.
    pub silent: bool,
    pub asked: Arc<Mutex<Vec<ElicitRequestParams>>>,
    pub progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
    pub changed: Arc<tokio::sync::Notify>,
}

impl User {
    /// Holds what was heard of the progress of `steps` against what the desk said.
    pub fn heard_progress(&self) {
        let told = self.progress.lock().unwrap().clone();
        let mut said = ["test", "build", "build: half", "deploy"].iter();
        // On a busy machine one may be told in place of two, but in their order, and never one that comes with the result.
        for told in &told {
            let message = told.message.as_deref().unwrap();
            assert!(said.any(|said| *said == message), "{message}: {told:?}");
            assert_eq!(told.total, Some(3.0));
        }
        assert!(told.len() >= 2, "{told:?}");
        assert!(told.windows(2).all(|pair| pair[0].progress < pair[1].progress), "{told:?}");
    }
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut can = ClientCapabilities::default();
        can.elicitation = self.answer.is_some().then(ElicitationCapability::new);
        ClientConfig::new(can, Implementation::new(self.name.unwrap_or("a-test"), "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked.lock().unwrap().push(request);
        if self.silent {
            std::future::pending::<()>().await;
        }
        Ok(self.answer.clone().unwrap())
    }

    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push(told);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

pub type Client = RunningService<RoleClient, User>;

pub fn call(name: &'static str, arguments: &Value) -> CallToolRequestParams {
    CallToolRequestParams::new(name).with_arguments(arguments.as_object().unwrap().clone())
}

pub fn run(ability: &str) -> CallToolRequestParams {
    call("ability_run", &json!({ "ability": ability }))
}

pub async fn answer(client: &Client, call: CallToolRequestParams) -> CallToolResult {
    timeout(LONG, client.call_tool(call)).await.expect("no answer").unwrap()
}

pub fn text(result: &CallToolResult) -> String {
    result.content.iter().filter_map(|block| block.as_text()).map(|block| block.text.as_str()).collect()
}

pub fn yes() -> ElicitResult {
    ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "choice": "approve", "comment": "go" }))
}
