//! An agent that gives its task to a sub-agent, which wants a shell.

use crate::seat::Seat;
use abide_testkit::model::{Request, ToolCall, Turn};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What an agent and its sub-agent do.
pub(crate) type Answers = Box<dyn FnMut(&Request) -> Turn + Send>;

/// Returns what both of them do, told apart by the prompt `delegate it`, and whether the sub-agent is done.
pub(crate) fn delegating(client: &impl Seat, commands: &[&str]) -> (Answers, Arc<AtomicBool>) {
    let delegate = client.delegate("get it done");
    let mut calls = commands.iter().map(|command| client.shell(command)).collect::<Vec<_>>().into_iter();
    let mut delegated = false;
    let done = Arc::new(AtomicBool::new(false));
    let said = Arc::clone(&done);
    let answers = move |request: &Request| {
        if !request.tells("delegate it") {
            return match calls.next() {
                Some(call) => Turn::call(call),
                None => {
                    said.store(true, Ordering::Release);
                    Turn::text("the sub-agent is done")
                }
            };
        }
        if !std::mem::replace(&mut delegated, true) {
            return Turn::call(delegate.clone());
        }
        // Codex does not wait for a sub-agent by itself.
        let told = request.new_results().first().map(|result| serde_json::from_str(&result.text));
        let told: Value = told.and_then(Result::ok).unwrap_or_default();
        match told["agent_id"].as_str() {
            Some(agent) => {
                let wait = ToolCall::new("wait_agent", json!({"targets": [agent]}));
                Turn::call(wait.within("multi_agent_v1"))
            }
            None => Turn::text("all is done"),
        }
    };
    (Box::new(answers), done)
}
