//! `stateless_todo_list`: a list of tasks that lives in the conversation alone.
//!
//! Every call holds the whole list, and the answer repeats it: what the model reads back is the state, so nothing is
//! stored and nothing can disagree with the conversation.

use crate::function::{About, tool};
use abide_core::capability::{CapabilityId, Risk};
use abide_core::policy::ToolKind;
use abide_engine::port::{Beside, Capability, Tool, ToolOutput};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// Keeps a list of tasks in the conversation.
#[derive(Debug)]
pub struct StatelessTodoList;

#[derive(Deserialize)]
struct Arguments {
    todos: Vec<Todo>,
}

#[derive(Deserialize, Serialize)]
struct Todo {
    content: String,
    #[serde(rename = "activeForm")]
    active_form: String,
    status: Status,
}

#[derive(Deserialize, Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Status {
    Pending,
    InProgress,
    Completed,
}

const GUIDANCE: &str = "\
You have a task list: write_todos. It helps you keep track of longer work and shows the user how far you are.

Use it
- for work of three or more distinct steps;
- when the user gives you several things to do;
- for work that needs careful planning;
- when new instructions arrive: write down what they ask for at once;
- when you start on a task: mark it in_progress before you begin;
- when you have finished one: mark it completed, and add what has turned up on the way.

Leave it alone for a single, simple task, or for a question that you can just answer.

How to use it
- Every call replaces the whole list: send all tasks, also those that have not changed.
- Each task has two wordings: content says what to do (\"Run the tests\"), activeForm what is being done (\"Running the tests\").
- Exactly one task is in_progress while there is work to do.
- Update the list right after each task; do not save updates up.
- Mark a task completed only when it is really done: tests pass and no error is left. If you are stuck, keep it \
in_progress and add a task for what blocks you.";

impl Capability for StatelessTodoList {
    fn id(&self) -> CapabilityId {
        CapabilityId::stateless_todo_list()
    }

    fn name(&self) -> &'static str {
        "Task Management"
    }

    fn description(&self) -> &'static str {
        "Enables agents to create and manage structured task lists for tracking multi-step work progress. State is \
         maintained in conversation history."
    }

    fn system_prompt_addition(&self) -> Option<&str> {
        Some(GUIDANCE)
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let text = |description: &str| {
            json!({
                "type": "string",
                "minLength": 1,
                "maxLength": 1000,
                "pattern": "\\S",
                "description": description
            })
        };
        let about = About {
            name: "write_todos",
            description: "Create or update the task list. Send the whole list each time: it replaces the one before.",
            arguments: json!({
                "type": "object",
                "properties": {
                    "todos": {
                        "type": "array",
                        "maxItems": 200,
                        "description": "The complete list, in order.",
                        "items": {
                            "type": "object",
                            "properties": {
                                "content": text("The task in the imperative, e.g. \"Run tests\"."),
                                "activeForm": text("The task while it is being done, e.g. \"Running tests\"."),
                                "status": { "type": "string", "enum": ["pending", "in_progress", "completed"] }
                            },
                            "required": ["content", "activeForm", "status"],
                            "additionalProperties": false
                        }
                    }
                },
                "required": ["todos"],
                "additionalProperties": false
            }),
            kind: ToolKind::Plan,
            risk: Risk::None,
            // Two lists in one turn: the later one must be the one that counts.
            beside: Beside::Nothing,
            examples: vec![json!({ "todos": [
                { "content": "Run tests", "activeForm": "Running tests", "status": "in_progress" },
                { "content": "Fix the bug", "activeForm": "Fixing the bug", "status": "pending" }
            ] })],
        };
        vec![tool(
            about,
            |Arguments { todos }: Arguments, _| async move { Ok(ToolOutput::Json(written(&todos))) },
        )]
    }

    fn icon(&self) -> Option<&str> {
        Some("list-checks")
    }

    fn category(&self) -> Option<&str> {
        Some("Productivity")
    }
}

fn written(todos: &[Todo]) -> Value {
    let count = |status| todos.iter().filter(|todo| todo.status == status).count();
    let (pending, in_progress, completed) =
        (count(Status::Pending), count(Status::InProgress), count(Status::Completed));
    let mut warnings: Vec<String> = Vec::new();
    if in_progress == 0 && pending > 0 {
        warnings.push("no task is in_progress: mark the one that you work on before you begin".to_owned());
    }
    if in_progress > 1 {
        warnings.push(format!("{in_progress} tasks are in_progress: work on one at a time"));
    }
    json!({
        "success": true,
        "total": todos.len(),
        "pending": pending,
        "in_progress": in_progress,
        "completed": completed,
        "todos": todos,
        "warnings": warnings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(statuses: &[Status]) -> Value {
        let todo = |status: &Status| Todo {
            content: "Run tests".to_owned(),
            active_form: "Running tests".to_owned(),
            status: *status,
        };
        written(&statuses.iter().map(todo).collect::<Vec<_>>())
    }

    #[test]
    fn the_answer_repeats_the_list_and_counts_it() {
        assert_eq!(
            answer(&[Status::InProgress]),
            json!({
                "success": true, "total": 1, "pending": 0, "in_progress": 1, "completed": 0,
                "todos": [{ "content": "Run tests", "activeForm": "Running tests", "status": "in_progress" }],
                "warnings": []
            })
        );
    }

    #[test]
    fn a_list_on_which_nothing_or_too_much_is_worked_on_is_warned_about() {
        use Status::{Completed, InProgress, Pending};
        let warnings = |statuses: &[Status]| answer(statuses)["warnings"].as_array().unwrap().len();
        assert_eq!(warnings(&[]), 0);
        assert_eq!(warnings(&[Completed, Completed]), 0, "nothing is left to do");
        assert_eq!(warnings(&[Pending, InProgress]), 0);
        assert_eq!(warnings(&[Pending, Completed]), 1);
        assert_eq!(warnings(&[InProgress, InProgress, Pending]), 1);
        assert!(answer(&[InProgress; 3])["warnings"][0].as_str().unwrap().starts_with("3 tasks"));
    }
}
