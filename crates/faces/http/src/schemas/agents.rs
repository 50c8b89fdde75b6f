//! Capabilities and agents.

use super::{moment, named, object, page, string};
use crate::operations::{
    LONGEST_CAPABILITY, LONGEST_DESCRIPTION, LONGEST_NAME as LONGEST_AGENT, LONGEST_PROMPT, MOST_CAPABILITIES,
};
use serde_json::{Value, json};

pub(super) fn agents() -> Vec<(&'static str, Value)> {
    let short = |longest: usize| json!({ "type": "string", "maxLength": longest });
    let maybe = |longest: usize| json!({ "type": ["string", "null"], "maxLength": longest });
    let name = json!({ "type": "string", "pattern": "\\S", "maxLength": LONGEST_AGENT });
    let list = |item: Value| json!({ "type": "array", "maxItems": MOST_CAPABILITIES, "items": item, "description": "Earlier ones speak first" });
    let ids = list(short(LONGEST_CAPABILITY));
    let choices = list(named("AgentCapability"));
    let configured = object(&[
        ("id", short(LONGEST_CAPABILITY)),
        (
            "configuration",
            json!({ "type": ["object", "null"], "description": "What fits the capability, at most 16 KiB; null takes away what there is" }),
        ),
    ]);
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
            "AgentCapability",
            json!({
                "description": "The id of a capability, whose configuration stays as it is, or what is configured for it",
                "oneOf": [short(LONGEST_CAPABILITY), configured],
            }),
        ),
        (
            "NewAgent",
            object(&[
                ("name", name.clone()),
                ("description?", maybe(LONGEST_DESCRIPTION)),
                ("system_prompt?", maybe(LONGEST_PROMPT)),
                ("model?", maybe(LONGEST_AGENT)),
                ("capabilities?", choices.clone()),
            ]),
        ),
        (
            "AgentChange",
            object(&[
                (
                    "name?",
                    json!({ "type": ["string", "null"], "pattern": "\\S", "maxLength": LONGEST_AGENT }),
                ),
                ("description?", maybe(LONGEST_DESCRIPTION)),
                ("system_prompt?", maybe(LONGEST_PROMPT)),
                ("model?", maybe(LONGEST_AGENT)),
                ("capabilities?", choices.clone()),
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
                (
                    "configuration?",
                    json!({ "type": "object", "additionalProperties": { "type": "object" }, "description": "What is configured for capabilities, by their ids" }),
                ),
                ("status", json!({ "type": "string", "enum": ["active", "archived"] })),
                ("created_at", moment()),
                ("updated_at", moment()),
            ]),
        ),
        ("AgentPage", page("Agent")),
        (
            "AgentDocument",
            json!({ "type": "string", "description": "Markdown with `name`, `description`, `model` and `capabilities` in front; the rest is the system prompt" }),
        ),
        ("Nothing", object(&[])),
    ]
}
