//! One request to the collector, and what its answer means.

use crate::settings::Settings;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use serde_json::Value;
use std::time::Duration;

/// How much of an answer is read.
const LONGEST: usize = 64 << 10;

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sent {
    /// It was taken, but for so many spans.
    Taken { rejected: u64 },
    /// It is no use to send it again.
    Refused(String),
    /// It may be taken later, and, if the collector said so, after this time.
    Later { wait: Option<Duration>, why: String },
    /// Nobody was there, or nobody answered in time.
    Unreachable(String),
}

/// Makes what sends requests.
pub(crate) fn client(settings: &Settings) -> Result<Client, String> {
    // Somebody may have chosen one already: then theirs holds.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("abide/", env!("CARGO_PKG_VERSION")))
        .timeout(settings.timeout)
        // A header may be a key: it goes to the address that was named, and to no other.
        .redirect(Policy::none())
        .build()
        .map_err(|error| reason(&error))
}

/// Sends a body.
pub(crate) async fn send(client: &Client, settings: &Settings, body: String) -> Sent {
    let json = HeaderValue::from_static("application/json");
    let request = client.post(settings.url.clone()).headers(settings.headers.clone());
    let answer = match request.header(CONTENT_TYPE, json).body(body).send().await {
        Ok(answer) => answer,
        Err(error) => return Sent::Unreachable(reason(&error)),
    };
    let status = answer.status();
    match status.as_u16() {
        200..=299 => Sent::Taken { rejected: rejected(&read(answer).await) },
        429 | 502 | 503 | 504 => {
            Sent::Later { wait: wait(answer.headers()), why: format!("it answers {status}") }
        }
        _ => Sent::Refused(format!("it answers {status}")),
    }
}

/// Returns the wait that an answer names; one that is named as a moment is left to us.
fn wait(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

async fn read(mut answer: Response) -> Vec<u8> {
    let mut bytes = Vec::new();
    while let Ok(Some(chunk)) = answer.chunk().await {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > LONGEST {
            break;
        }
    }
    bytes
}

/// Returns how many spans the collector did not want; a number of 64 bits is a text in JSON.
fn rejected(answer: &[u8]) -> u64 {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    let rejected = &answer["partialSuccess"]["rejectedSpans"];
    rejected.as_u64().or_else(|| rejected.as_str()?.parse().ok()).unwrap_or(0)
}

/// Says why nothing came of a request, without its address, which may hold a password.
fn reason(error: &reqwest::Error) -> String {
    use std::error::Error as _;
    if error.is_timeout() {
        return "it does not answer in time".to_owned();
    }
    let mut cause = error.source();
    let mut text = String::from("it cannot be reached");
    while let Some(inner) = cause {
        text = inner.to_string();
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_that_were_not_wanted_are_counted_however_the_number_is_written() {
        assert_eq!(rejected(br#"{"partialSuccess":{"rejectedSpans":"3","errorMessage":"no"}}"#), 3);
        assert_eq!(rejected(br#"{"partialSuccess":{"rejectedSpans":3}}"#), 3);
        assert_eq!(rejected(b"{}"), 0);
        assert_eq!(rejected(b""), 0);
    }
}
