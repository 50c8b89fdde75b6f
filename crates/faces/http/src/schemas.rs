//! The schemas of what is sent and answered, by name; tests hold real answers to them.

use crate::operations::{
    LONGEST_CAPABILITY, LONGEST_DESCRIPTION, LONGEST_NAME as LONGEST_AGENT, LONGEST_PROMPT, MOST_CAPABILITIES,
};
use crate::problem::Code;
use abide_engine::keys::{LONGEST_NAME, Scope};
use serde_json::{Map, Value, json};

/// Returns every schema by its name.
pub(crate) fn all() -> Map<String, Value> {
    let mut all = Map::new();
    for (name, schema) in own().into_iter().chain(runs()).chain(agents()) {
        all.insert(name.to_owned(), schema);
    }
    all
}

/// Returns the schema of an object, whose fields are all there unless they are named with a `?`.
pub(crate) fn object(fields: &[(&str, Value)]) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, schema) in fields {
        let plain = name.trim_end_matches('?');
        if plain == *name {
            required.push(Value::from(plain));
        }
        properties.insert(plain.to_owned(), schema.clone());
    }
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// Returns the schema of a page of something.
pub(crate) fn page(of: &str) -> Value {
    object(&[
        ("items", json!({ "type": "array", "items": named(of) })),
        (
            "next",
            json!({ "type": ["string", "null"], "description": "The `after` of the next page; null at the end" }),
        ),
    ])
}

/// Refers to a schema.
pub(crate) fn named(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

pub(crate) fn string() -> Value {
    json!({ "type": "string" })
}

pub(crate) fn moment() -> Value {
    json!({ "type": "integer", "description": "Milliseconds since 1970" })
}

fn own() -> Vec<(&'static str, Value)> {
    let scopes = json!({
        "type": "array", "minItems": 1, "maxItems": Scope::ALL.len(),
        "items": { "type": "string", "enum": Scope::ALL.map(Scope::word) },
    });
    let name = json!({ "type": "string", "pattern": "^[A-Za-z0-9._@-]+$", "minLength": 1, "maxLength": LONGEST_NAME });
    let key = |more: Option<(&'static str, Value)>| {
        let mut fields = vec![
            ("id", string()),
            ("name", name.clone()),
            ("scopes", scopes.clone()),
            ("created_at", moment()),
            ("created_by", string()),
            ("revoked_at", json!({ "type": ["integer", "null"], "description": "Milliseconds since 1970" })),
        ];
        fields.extend(more);
        object(&fields)
    };
    vec![
        ("Problem", problem()),
        ("Health", object(&[("status", json!({ "type": "string", "enum": ["ok"] }))])),
        ("Version", object(&[("name", string()), ("version", string()), ("api", string())])),
        ("Document", json!({ "type": "object", "description": "An OpenAPI 3.1 document" })),
        ("Key", key(None)),
        ("KeyPage", page("Key")),
        ("NewKey", object(&[("name", name.clone()), ("scopes", scopes.clone())])),
        (
            "MadeKey",
            key(Some((
                "key",
                json!({ "type": "string", "description": "What opens it; it is kept nowhere" }),
            ))),
        ),
    ]
}

/// What the commands of abide print is described as far as programs need it.
fn loose(fields: &[(&str, Value)]) -> Value {
    let mut schema = object(fields);
    schema["additionalProperties"] = json!(true);
    schema
}

fn runs() -> Vec<(&'static str, Value)> {
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
                ("ability", string()),
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
                ("run", string()),
                ("ability", string()),
                ("started_by", string()),
                ("parent", maybe("string")),
                ("kind", json!({ "type": "string", "enum": ["plan", "approval", "failure"] })),
                ("step", maybe("string")),
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
                    json!({ "type": ["string", "null"], "description": "The step that asks; without one the plan is answered" }),
                ),
                (
                    "answer",
                    json!({ "type": "string", "description": "The `value` of an option, or `rejected`" }),
                ),
                ("comment?", maybe("string")),
            ]),
        ),
        ("Answered", object(&[("run", string()), ("status", string()), ("by", string())])),
    ]
}

fn agents() -> Vec<(&'static str, Value)> {
    let short = |longest: usize| json!({ "type": "string", "maxLength": longest });
    let maybe = |longest: usize| json!({ "type": ["string", "null"], "maxLength": longest });
    let ids = json!({ "type": "array", "maxItems": MOST_CAPABILITIES, "items": short(LONGEST_CAPABILITY), "description": "Earlier ones speak first" });
    let capability = |more: &[(&'static str, Value)]| {
        let mut fields = vec![
            ("id", string()),
            ("name", string()),
            ("description", string()),
            (
                "status",
                json!({ "type": "string", "enum": ["available", "coming_soon", "deprecated", "unavailable"] }),
            ),
            ("icon", json!({ "type": ["string", "null"] })),
            ("category", json!({ "type": ["string", "null"] })),
            ("version", json!({ "type": "integer" })),
            ("risk", string()),
            ("depends_on", json!({ "type": "array", "items": string() })),
            ("reason?", json!({ "type": "string", "description": "Why it cannot be used here" })),
        ];
        fields.extend(more.iter().cloned());
        object(&fields)
    };
    let tool = object(&[
        ("name", string()),
        ("description", string()),
        ("arguments", json!({ "type": "object" })),
        ("policy", string()),
        ("risk", string()),
    ]);
    vec![
        ("Capability", capability(&[])),
        (
            "Capabilities",
            object(&[
                ("items", json!({ "type": "array", "items": named("Capability") })),
                ("total", json!({ "type": "integer" })),
            ]),
        ),
        (
            "CapabilityDetail",
            capability(&[
                ("system_prompt", json!({ "type": ["string", "null"] })),
                ("tools", json!({ "type": "array", "items": tool })),
            ]),
        ),
        (
            "NewAgent",
            object(&[
                ("name", short(LONGEST_AGENT)),
                ("description?", maybe(LONGEST_DESCRIPTION)),
                ("system_prompt?", maybe(LONGEST_PROMPT)),
                ("model?", maybe(LONGEST_AGENT)),
                ("capabilities?", ids.clone()),
            ]),
        ),
        (
            "AgentChange",
            object(&[
                ("name?", maybe(LONGEST_AGENT)),
                ("description?", maybe(LONGEST_DESCRIPTION)),
                ("system_prompt?", maybe(LONGEST_PROMPT)),
                ("model?", maybe(LONGEST_AGENT)),
                ("capabilities?", ids.clone()),
            ]),
        ),
        (
            "Agent",
            object(&[
                ("id", string()),
                ("name", string()),
                ("description", json!({ "type": ["string", "null"] })),
                ("system_prompt", string()),
                ("model", json!({ "type": ["string", "null"] })),
                ("capabilities", ids),
                ("status", json!({ "type": "string", "enum": ["active", "archived"] })),
                ("created_at", moment()),
                ("updated_at", moment()),
            ]),
        ),
        ("AgentPage", page("Agent")),
        ("Nothing", object(&[])),
    ]
}

fn problem() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.word()).collect();
    let mut schema = object(&[
        ("type", string()),
        ("title", string()),
        ("status", json!({ "type": "integer" })),
        ("code", json!({ "type": "string", "enum": codes, "description": "Never changes its meaning" })),
        ("detail", string()),
        ("help?", string()),
    ]);
    schema["additionalProperties"] = json!(true);
    schema
}
