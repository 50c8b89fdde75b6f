//! Abilities, runs and approvals.

use super::{loose, moment, named, next_page, object, page, string};
use serde_json::{Value, json};

pub(super) fn runs() -> Vec<(&'static str, Value)> {
    let maybe = |kind: &str| json!({ "type": [kind, "null"] });
    let list = |of: Value| json!({ "type": "array", "items": of });
    let given = json!({ "type": ["object", "null"], "description": "Values by the name of the input" });
    let status = json!({
        "type": "string",
        "enum": ["awaiting_plan", "running", "waiting", "completed", "failed", "cancelled", "timed_out", "interrupted"],
    });
    let option = object(&[("label", string()), ("value", string())]);
    let step = object(&[
        ("step", string()),
        ("status", string()),
        ("attempts", json!({ "type": "integer" })),
        ("note", maybe("string")),
    ]);
    let question = object(&[
        ("step", string()),
        ("prompt", string()),
        ("options", list(option.clone())),
        ("approvers", list(string())),
    ]);
    vec![
        (
            "Abilities",
            loose(&[
                ("enabled", json!({ "type": "boolean" })),
                ("abilities", list(loose(&[("name", string()), ("status", string())]))),
                ("next?", next_page()),
            ]),
        ),
        (
            "Ability",
            loose(&[("name", string()), ("status", string()), ("definition", json!({ "type": "object" }))]),
        ),
        ("Problems", loose(&[("files", json!({ "type": "array" }))])),
        (
            "Graph",
            loose(&[
                ("ability", string()),
                ("steps", json!({ "type": "array" })),
                ("edges", json!({ "type": "array" })),
            ]),
        ),
        ("NewPlan", object(&[("inputs?", given.clone()), ("input?", maybe("string"))])),
        ("Plan", loose(&[])),
        (
            "NewRun",
            object(&[
                ("ability", json!({ "type": "string", "minLength": 1 })),
                ("inputs?", given.clone()),
                (
                    "input?",
                    json!({ "type": ["string", "null"], "description": "The text that templates see as `input`" }),
                ),
            ]),
        ),
        (
            "RunHead",
            object(&[
                ("run", string()),
                ("ability", string()),
                ("status", status.clone()),
                ("by", string()),
                ("session", maybe("string")),
                ("parent", maybe("string")),
                ("rerun_of", maybe("string")),
                ("error", maybe("string")),
                ("events", json!({ "type": "integer" })),
                ("created_at", moment()),
                ("changed_at", moment()),
            ]),
        ),
        ("RunPage", page("RunHead")),
        (
            "Run",
            object(&[
                ("run", string()),
                ("ability", string()),
                ("status", status),
                ("by", string()),
                ("error", maybe("string")),
                ("verdicts", json!({ "type": "object", "additionalProperties": { "type": "integer" } })),
                ("steps", list(step)),
                ("questions", list(question)),
                ("children", list(named("Run"))),
                ("step?", json!({ "type": "string", "description": "The step that calls it" })),
            ]),
        ),
        (
            "Event",
            object(&[
                ("seq", json!({ "type": "integer" })),
                ("at", moment()),
                ("type", string()),
                ("data", json!({})),
            ]),
        ),
        ("EventPage", page("Event")),
        ("Cancel", object(&[("reason?", maybe("string"))])),
        (
            "Resume",
            object(&[
                (
                    "decision?",
                    json!({ "type": ["string", "null"], "enum": ["rerun", "fail", null], "description": "What to do with a step that was cut short" }),
                ),
                (
                    "inputs?",
                    json!({ "type": ["object", "null"], "description": "Secret inputs, which no log holds" }),
                ),
            ]),
        ),
        (
            "Approval",
            object(&[
                ("id", json!({ "type": "string", "description": "What the answer is sent to" })),
                ("kind", json!({ "type": "string", "enum": ["plan", "approval", "failure", "tool"] })),
                ("run", json!({ "type": ["string", "null"], "description": "The run that asks" })),
                ("ability", maybe("string")),
                ("started_by", maybe("string")),
                ("parent", maybe("string")),
                ("step", maybe("string")),
                (
                    "session",
                    json!({ "type": ["string", "null"], "description": "The session whose agent wants to call a tool" }),
                ),
                ("tool", maybe("string")),
                ("arguments", json!({ "description": "What the tool would be given" })),
                ("prompt", string()),
                ("options", list(option)),
                ("approvers", list(string())),
                ("deadline", maybe("integer")),
            ]),
        ),
        ("ApprovalPage", page("Approval")),
        (
            "NewAnswer",
            object(&[
                (
                    "step?",
                    json!({ "type": ["string", "null"], "description": "The step that asks; without one the plan, or the call of a tool, is answered" }),
                ),
                (
                    "answer",
                    json!({ "type": "string", "description": "The `value` of an option, or `rejected`" }),
                ),
                ("comment?", maybe("string")),
            ]),
        ),
        (
            "Answered",
            object(&[("id", string()), ("run", maybe("string")), ("status", string()), ("by", string())]),
        ),
    ]
}
