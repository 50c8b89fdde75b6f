//! Skills and models, as far as programs need them.

use super::{loose, named, next_page, string};
use serde_json::{Value, json};

pub(super) fn skills() -> Vec<(&'static str, Value)> {
    let maybe = |kind: &str| json!({ "type": [kind, "null"] });
    let list = |of: Value| json!({ "type": "array", "items": of });
    let usable = json!({ "type": "boolean", "description": "Whether it can be asked; `problem` and `help` say why not" });
    let state = json!({
        "type": "string",
        "enum": ["available", "unavailable", "shadowed", "dropped"],
        "description": "`reason` says why it is not available",
    });
    let skill = |more: &[(&'static str, Value)]| {
        let mut fields = vec![
            ("name", string()),
            ("state", state.clone()),
            ("reason", maybe("string")),
            ("description", maybe("string")),
            ("file", string()),
            ("origin", string()),
            ("problems", list(json!({ "type": "object" }))),
        ];
        fields.extend(more.iter().cloned());
        loose(&fields)
    };
    let model = loose(&[
        ("model", string()),
        ("provider", string()),
        ("default", json!({ "type": "boolean" })),
        ("usable", usable.clone()),
        ("problem", maybe("string")),
        ("help", maybe("string")),
    ]);
    let provider = loose(&[
        ("provider", string()),
        ("url", maybe("string")),
        (
            "key",
            json!({ "type": ["string", "null"], "description": "Where the key comes from, never the key" }),
        ),
        ("usable", usable),
        ("problem", maybe("string")),
        ("help", maybe("string")),
    ]);
    vec![
        ("SkillRow", skill(&[])),
        (
            "Skills",
            loose(&[
                ("skills", list(named("SkillRow"))),
                ("problems", list(json!({ "type": "object" }))),
                ("next?", next_page()),
            ]),
        ),
        (
            "Skill",
            skill(&[
                ("trust", string()),
                ("digest", maybe("string")),
                (
                    "body?",
                    json!({ "type": "string", "description": "What it says; missing if it cannot be read" }),
                ),
            ]),
        ),
        (
            "Models",
            loose(&[("default", maybe("string")), ("models", list(model)), ("providers", list(provider))]),
        ),
    ]
}
