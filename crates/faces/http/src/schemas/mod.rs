//! The schemas of what is sent and answered, by name; tests hold real answers to them.

mod agents;
mod runs;
mod sessions;
mod skills;

use crate::problem::Code;
use abide_engine::keys::{LONGEST_NAME, Scope};
use serde_json::{Map, Value, json};

/// Returns every schema by its name.
pub(crate) fn all() -> Map<String, Value> {
    let mut all = Map::new();
    let parts = [own(), runs::runs(), agents::agents(), skills::skills(), sessions::sessions()];
    for (name, schema) in parts.into_iter().flatten() {
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

/// Returns the schema of what a list has when a page of it was asked for.
fn next_page() -> Value {
    json!({
        "type": ["string", "null"],
        "description": "The `after` of the next page, if `limit` or `after` was said; null at the end",
    })
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
        (
            "Change",
            object(&[
                ("seq", json!({ "type": "integer" })),
                ("at", moment()),
                ("action", json!({ "type": "string", "description": "The `operationId` of what was done" })),
                (
                    "by",
                    json!({ "type": "string", "description": "The name of the key, or of a user of the machine" }),
                ),
                ("subject", json!({ "type": "string", "description": "The id of what was changed" })),
                (
                    "request",
                    json!({ "type": ["string", "null"], "description": "The `X-Request-Id` of the request" }),
                ),
                ("detail", json!({ "type": "object", "description": "What was asked for; never a secret" })),
                ("previous_hash", string()),
                ("hash", string()),
            ]),
        ),
        ("AuditPage", page("Change")),
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
