//! One line about one request, for the log of the server.
//!
//! It has no header, body or parameter of the request in it: those may hold secrets.

use crate::problem::Code;
use http::{HeaderName, HeaderValue, request};
use serde_json::{Value, json};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Takes what is said about each request; must return at once.
pub type Log = Arc<dyn Fn(&Line) + Send + Sync>;

/// The name of the header that has the id of a request.
const ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that a caller gives to a request, and the longest path that is said.
const LONGEST_ID: usize = 64;
const LONGEST_PATH: usize = 256;

/// What is said about a request.
#[derive(Debug, Clone)]
pub struct Line {
    /// What the request is called: what its `X-Request-Id` says, or a new id. It is in the answer, too.
    pub id: String,
    /// Where it came from.
    pub peer: IpAddr,
    /// How it asked.
    pub method: String,
    /// For what, as it was sent, without parameters.
    pub path: String,
    /// The route that it took, if there is one.
    pub route: Option<&'static str>,
    /// The name of the key that it was sent with.
    pub who: Option<String>,
    /// The status of the answer.
    pub status: u16,
    /// The code of the problem, if it was one.
    pub code: Option<Code>,
    /// How long it took until the answer began.
    pub took: Duration,
}

impl Line {
    pub(crate) fn of(peer: IpAddr, head: &request::Parts) -> Self {
        let given = head.headers.get(&ID).and_then(|id| id.to_str().ok());
        let fits = |id: &&str| {
            let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            (1..=LONGEST_ID).contains(&id.len()) && id.bytes().all(letter)
        };
        let id = given.filter(fits).map_or_else(|| Uuid::now_v7().to_string(), str::to_owned);
        Self {
            id,
            peer,
            method: head.method.as_str().chars().take(16).collect(),
            path: head.uri.path().chars().take(LONGEST_PATH).collect(),
            route: None,
            who: None,
            status: 0,
            code: None,
            took: Duration::ZERO,
        }
    }

    pub(crate) fn header(&self) -> Option<(HeaderName, HeaderValue)> {
        Some((ID, HeaderValue::from_str(&self.id).ok()?))
    }

    /// Returns it as data, with the same names as everywhere.
    pub fn to_json(&self) -> Value {
        json!({
            "request": self.id,
            "peer": self.peer.to_string(),
            "method": self.method,
            "path": self.path,
            "route": self.route,
            "key": self.who,
            "status": self.status,
            "code": self.code.map(Code::word),
            "milliseconds": (self.took.as_secs_f64() * 1e6).round() / 1e3,
        })
    }
}

impl std::fmt::Display for Line {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (status, milliseconds) = (self.status, self.took.as_secs_f64() * 1e3);
        write!(out, "{status} {} {} {milliseconds:.1} ms", self.method, self.path)?;
        if let Some(code) = self.code {
            write!(out, " {}", code.word())?;
        }
        if let Some(who) = &self.who {
            write!(out, " key={who}")?;
        }
        write!(out, " peer={} request={}", self.peer, self.id)
    }
}
