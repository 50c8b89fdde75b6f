//! Schemas, in words.

use serde_json::Value;
use std::fmt::Write as _;

/// How deep fields are shown inside each other; what lies deeper is in the document.
const DEEPEST: usize = 4;

/// Makes text harmless in a page.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// Says what a value is, in a few words.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        let name = escaped(name);
        return format!("<a href=\"#schema-{name}\">{name}</a>");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words = words.iter().map(|word| match word {
            Value::String(word) => format!("<code>{}</code>", escaped(word)),
            other => format!("<code>{}</code>", escaped(&other.to_string())),
        });
        return words.collect::<Vec<_>>().join(" ");
    }
    let word = |kind: &str| match kind {
        "array" => format!("list of {}", kind_of_items(&schema["items"])),
        other => escaped(other),
    };
    let mut told = match &schema["type"] {
        Value::String(kind) => word(kind),
        Value::Array(kinds) => {
            kinds.iter().filter_map(Value::as_str).map(word).collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".to_owned(),
    };
    for (key, text) in
        [("minimum", "from"), ("maximum", "to"), ("maxLength", "at most"), ("maxItems", "at most")]
    {
        // Zero, and what no caller comes near, need not be said.
        if let Some(bound) = schema[key].as_u64().filter(|bound| (1..1 << 53).contains(bound)) {
            let unit = if key == "maxLength" { " bytes" } else { "" };
            let _ = write!(told, " {text} {bound}{unit}");
        }
    }
    told
}

fn kind_of_items(items: &Value) -> String {
    if items.is_null() { "anything".to_owned() } else { kind(items) }
}

/// Lists the fields of a value, those inside them too.
pub(super) fn fields(schema: &Value) -> String {
    let mut out = String::new();
    if schema["properties"].is_object() {
        list(&mut out, schema, 0);
    } else {
        let about = schema["description"].as_str().unwrap_or_default();
        let _ = write!(out, "<p>{} <span class=\"kind\">{}</span></p>", escaped(about), kind(schema));
    }
    out
}

fn list(out: &mut String, schema: &Value, depth: usize) {
    let Some(properties) = schema["properties"].as_object() else { return };
    if properties.is_empty() {
        out.push_str("<p>an object without fields</p>");
        return;
    }
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    out.push_str("<dl>");
    for (name, field) in properties {
        let optional = if required.contains(&name.as_str()) { "" } else { ", may be missing" };
        let about = field["description"].as_str().unwrap_or_default();
        let _ = write!(
            out,
            "<dt><code>{}</code> <span class=\"kind\">{}{optional}</span></dt><dd>{}",
            escaped(name),
            kind(field),
            escaped(about)
        );
        if depth < DEEPEST {
            list(out, field, depth + 1);
            list(out, &field["items"], depth + 1);
        }
        out.push_str("</dd>");
    }
    out.push_str("</dl>");
}
