//! Sessions and what is said in them.

use super::{moment, named, next_page, object, page, string};
use crate::operations::{LONGEST_MESSAGE, LONGEST_TITLE};
use serde_json::{Value, json};

pub(super) fn sessions() -> Vec<(&'static str, Value)> {
    let maybe = |kind: &str| json!({ "type": [kind, "null"] });
    let title = json!({ "type": ["string", "null"], "maxLength": LONGEST_TITLE });
    let session = |more: &[(&'static str, Value)]| {
        let mut fields = vec![
            ("id", string()),
            ("agent", json!({ "type": "string", "description": "The id of its agent" })),
            ("title", maybe("string")),
            ("by", json!({ "type": "string", "description": "Who made it" })),
            ("created_at", moment()),
            (
                "updated_at",
                json!({ "type": "integer", "description": "When it was changed or told something last, in milliseconds since 1970" }),
            ),
        ];
        fields.extend(more.iter().cloned());
        object(&fields)
    };
    let file = vec![
        ("path", string()),
        ("name", string()),
        ("is_directory", json!({ "type": "boolean" })),
        ("is_readonly", json!({ "type": "boolean" })),
        ("size_bytes", json!({ "type": "integer" })),
        ("created_at", moment()),
        ("updated_at", moment()),
    ];
    let mut content = file.clone();
    content.push(("content", string()));
    content.push(("encoding", json!({ "type": "string", "enum": ["text", "base64"] })));
    let when_busy = ["queue", "interrupt", "refuse"];
    let turn = object(&[
        (
            "status",
            json!({ "type": "string", "enum": ["queued", "running", "finished", "cancelled", "failed", "out_of_budget"] }),
        ),
        (
            "answer",
            json!({ "type": ["string", "null"], "description": "The last answer, once the turn is over" }),
        ),
        (
            "error",
            json!({ "type": ["string", "null"], "description": "Why there is no answer, or only a part" }),
        ),
        ("cancelled_by", json!({ "type": ["string", "null"], "description": "Who wants it to end" })),
        ("ended_at", json!({ "type": ["integer", "null"], "description": "Milliseconds since 1970" })),
    ]);
    vec![
        ("Session", session(&[])),
        ("SessionPage", page("Session")),
        (
            "SessionDetail",
            session(&[
                ("status", json!({ "type": "string", "enum": ["idle", "active"] })),
                (
                    "turn",
                    json!({ "type": ["string", "null"], "description": "The message whose turn is under way" }),
                ),
                ("open", json!({ "type": "integer", "description": "How many messages are not over" })),
                (
                    "events",
                    json!({ "type": "integer", "description": "How many events it has: a stream after so many tells what happens from now on" }),
                ),
            ]),
        ),
        ("NewAgentSession", object(&[("title?", title.clone())])),
        ("NewSession", object(&[("agent", string()), ("title?", title.clone())])),
        ("SessionChange", object(&[("title?", title)])),
        (
            "NewMessage",
            object(&[
                (
                    "text",
                    json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_MESSAGE, "description": "What is said; `/name arguments` runs a skill" }),
                ),
                (
                    "when_busy?",
                    json!({ "type": ["string", "null"], "enum": [when_busy[0], when_busy[1], when_busy[2], null], "default": "queue", "description": "While another turn is not over: wait, end it and be next, or be refused with 409" }),
                ),
            ]),
        ),
        (
            "Message",
            object(&[
                ("id", json!({ "type": "string", "description": "Its turn has the same" })),
                ("session", string()),
                (
                    "number",
                    json!({ "type": "integer", "description": "From 1, in the order in which they were taken" }),
                ),
                ("text", string()),
                ("by", string()),
                ("when_busy", json!({ "type": "string", "enum": when_busy })),
                ("created_at", moment()),
                ("turn", turn),
            ]),
        ),
        ("MessagePage", page("Message")),
        ("File", object(&file)),
        ("FileOrFolder", json!({ "oneOf": [named("Folder"), named("FileContent")] })),
        (
            "Folder",
            object(&[
                ("path", string()),
                ("entries", json!({ "type": "array", "items": named("File") })),
                ("count", json!({ "type": "integer", "description": "How many there are, on all pages" })),
                ("next?", next_page()),
            ]),
        ),
        ("FileContent", object(&content)),
        (
            "Deleted",
            object(&[
                ("path", string()),
                ("deleted", json!({ "type": "integer", "description": "How many files and folders went" })),
            ]),
        ),
        ("NewPlace", object(&[("from", string()), ("to", string())])),
        (
            "Matches",
            object(&[
                ("pattern", string()),
                ("matches", json!({ "type": "array", "items": { "type": "object" } })),
                ("match_count", json!({ "type": "integer" })),
                ("truncated?", json!({ "type": "boolean" })),
            ]),
        ),
        ("CancelTurn", object(&[("queued?", maybe("boolean"))])),
        ("CancelledTurns", object(&[("items", json!({ "type": "array", "items": named("Message") }))])),
    ]
}
