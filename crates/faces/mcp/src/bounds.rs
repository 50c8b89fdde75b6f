//! How much of everything there may be: nothing that a client or a desk does makes a message without end.

use crate::desk::{Content, Report};
use serde_json::{Map, Value};
use std::time::Duration;

/// The longest message that is read, in bytes; a longer one is refused and passed over.
pub const LONGEST_MESSAGE: usize = 4 * 1024 * 1024;
/// How many runs may be started or gone on with at once by one client.
pub(crate) const MOST_RUNS: usize = 32;
/// How many other calls may be under way at once by one client.
pub(crate) const MOST_CALLS: usize = 64;
/// How many requests may be without an answer before no more is read: then the client does not read its answers.
pub(crate) const MOST_UNANSWERED: usize = 256;
/// How many messages in a row may be unreadable before whoever sends them is taken for no client.
pub(crate) const MOST_UNREADABLE: usize = 100;
/// How long calls have to end after their client has gone or the server was told to stop.
pub(crate) const GRACE: Duration = Duration::from_secs(10);
/// How long a question of a call waits for a client that has to come back with the answer.
pub(crate) const PARKED: Duration = Duration::from_hours(1);
/// How often at most a client is told of the progress of a call.
pub(crate) const PACE: Duration = Duration::from_millis(50);
/// How many resources are listed in one page, and in all.
pub(crate) const PAGE: usize = 100;
pub(crate) const MOST_RESOURCES: usize = 10_000;
/// How often at most a client is told that the list of resources has changed.
pub(crate) const CHANGES: Duration = Duration::from_secs(1);

/// How many connections and sessions there may be over HTTP.
pub(crate) const MOST_CONNECTIONS: usize = 256;
pub(crate) const MOST_SESSIONS: usize = 64;
/// How long the head of a request may take to arrive, and the whole of it until its answer begins.
pub(crate) const HEAD: Duration = Duration::from_secs(10);
pub(crate) const ANSWER: Duration = Duration::from_secs(30);
/// How long a session is kept that nobody uses, and how often that is looked at.
pub(crate) const IDLE: Duration = Duration::from_mins(30);
pub(crate) const SWEEP: Duration = Duration::from_secs(30);

/// The most characters that a tool answers with.
const LONGEST_TEXT: usize = 100_000;
/// The most characters of a resource.
const LONGEST_RESOURCE: usize = 1_000_000;
/// The most bytes of the answer as data.
const MOST_DATA: usize = 400_000;

/// Returns the beginning and the end of a text that is too long.
pub(crate) fn cut(text: &str, most: usize) -> String {
    // Counting is only needed when the bytes are too many.
    if text.len() <= most {
        return text.to_owned();
    }
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most * 3 / 4).collect();
    let tail: String = text.chars().skip(count - most / 4).collect();
    format!("{head}\n\n[… {} characters are left out here …]\n\n{tail}", count - most * 3 / 4 - most / 4)
}

/// Returns a report that is not too long: its text is cut, and of its data only what is short stays.
pub(crate) fn bounded(report: Report) -> Report {
    let size = |value: &Value| serde_json::to_string(value).map_or(usize::MAX, |text| text.len());
    let mut data = report.data;
    let mut left = MOST_DATA;
    let mut missing = Vec::new();
    let mut kept = Map::new();
    // The short ones first, so that a long one does not take their room.
    let mut sizes: Vec<(usize, String)> =
        data.iter().map(|(key, value)| (size(value) + key.len(), key.clone())).collect();
    sizes.sort();
    for (size, key) in sizes {
        let Some(value) = data.remove(&key) else { continue };
        if size <= left {
            left -= size;
            kept.insert(key, value);
        } else {
            missing.push(Value::String(key));
        }
    }
    if !missing.is_empty() {
        missing.truncate(100);
        kept.insert("left_out".to_owned(), Value::Array(missing));
    }
    Report { text: cut(&report.text, LONGEST_TEXT), data: kept, failed: report.failed }
}

/// Returns a resource that is not too long.
pub(crate) fn bounded_content(content: &Content) -> Content {
    Content { text: cut(&content.text, LONGEST_RESOURCE), mime: content.mime }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("üüüüü", 5), "üüüüü");
        let text: String = ('a'..='z').cycle().take(1_000).collect();
        let short = cut(&text, 100);
        assert!(short.starts_with(&text[..75]) && short.ends_with(&text[975..]), "{short}");
        assert!(short.contains("[… 900 characters are left out here …]"), "{short}");
    }

    #[test]
    fn of_too_much_data_the_short_parts_stay() {
        let data = json!({ "a": "x".repeat(MOST_DATA), "run": "r1", "steps": [1, 2] });
        let report = Report { text: String::new(), data: data.as_object().unwrap().clone(), failed: true };
        let bounded = bounded(report);
        assert_eq!(Value::Object(bounded.data), json!({ "run": "r1", "steps": [1, 2], "left_out": ["a"] }));
        assert!(bounded.failed);
    }
}
