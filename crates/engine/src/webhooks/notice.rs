//! What there is to tell, and the text that is sent.

use abide_core::definition::WebhookEvent;
use serde_json::{Value, json};

/// The longest body that is sent.
const LONGEST: usize = 64 * 1024;
/// How much is left of each text of one that would be longer, in characters.
const CUT: usize = 2_000;
/// How many items are left of each of its lists.
const MOST_ITEMS: usize = 20;

/// Something that webhooks are told.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    /// What it is called; the same thing always has the same id.
    pub id: String,
    /// What happened.
    pub event: WebhookEvent,
    /// The ability that it is about.
    pub ability: Option<String>,
    /// When it happened, in milliseconds since 1970.
    pub at: i64,
    /// After when nobody needs it, unless its time is over before.
    pub until: Option<i64>,
    /// What is said about it, with the names of the API.
    pub data: Value,
}

impl Notice {
    /// Returns the text that is sent; one that would be too long says less of everything, and that it was cut.
    pub fn body(&self) -> String {
        let written = |data: &Value, cut: bool| {
            let mut body = json!({ "type": self.event.word(), "at": self.at, "data": data });
            if cut {
                body["cut"] = true.into();
            }
            body.to_string()
        };
        let whole = written(&self.data, false);
        if whole.len() <= LONGEST { whole } else { written(&shortened(&self.data, CUT), true) }
    }
}

/// Returns a value whose texts and lists are short.
fn shortened(value: &Value, most: usize) -> Value {
    match value {
        Value::String(text) => match text.char_indices().nth(most) {
            Some((end, _)) => format!("{}…", &text[..end]).into(),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().take(MOST_ITEMS).map(|item| shortened(item, most / 20)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), shortened(value, most))).collect()
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notice(data: Value) -> Notice {
        let event = WebhookEvent::RunFinished;
        Notice { id: "msg_r_7".to_owned(), event, ability: None, at: 5, until: None, data }
    }

    #[test]
    fn a_body_says_what_happened_when_and_about_what() {
        let body = notice(json!({ "run": "r", "error": "a\u{0}\n\"b\"" })).body();
        assert_eq!(body, r#"{"at":5,"data":{"error":"a\u0000\n\"b\"","run":"r"},"type":"run.finished"}"#);
    }

    #[test]
    fn a_body_that_would_be_too_long_is_cut_and_says_so() {
        let data = json!({
            "run": "r",
            "error": "é".repeat(100_000),
            "options": (0..500).map(|_| json!({ "label": "\u{1}".repeat(50_000) })).collect::<Vec<_>>(),
        });
        let body = notice(data).body();
        assert!(body.len() <= LONGEST, "{}", body.len());
        let read: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((&read["cut"], &read["data"]["run"]), (&json!(true), &json!("r")));
        assert_eq!(read["data"]["error"].as_str().unwrap().chars().count(), CUT + 1);
        assert_eq!(read["data"]["options"].as_array().unwrap().len(), MOST_ITEMS);
    }
}
