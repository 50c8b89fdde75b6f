//! Asks a model as plainly as can be: one request for each connection.

use abide_model_mock::ModelServer;
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    /// The body; what had come when the connection broke off.
    pub(crate) body: String,
    /// Whether the body came to its end.
    pub(crate) whole: bool,
}

pub(crate) const ANTHROPIC: &str = "/v1/messages?beta=true";
pub(crate) const CHAT: &str = "/v1/chat/completions";
pub(crate) const RESPONSES: &str = "/v1/responses";

pub(crate) fn post(server: &ModelServer, path: &str, body: &Value) -> Reply {
    request(server, "POST", path, "test/1", &body.to_string())
}

pub(crate) fn request(server: &ModelServer, method: &str, path: &str, agent: &str, body: &str) -> Reply {
    let address = server.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).unwrap();
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nuser-agent: {agent}\r\nauthorization: Bearer x\r\n\
         connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let (body, whole) = if head.contains("chunked") { unchunked(body) } else { (body.to_owned(), true) };
    Reply { status, head: head.to_owned(), body, whole }
}

fn unchunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        body.push_str(&after[..size]);
        rest = &after[size + 2..];
    }
    (body, false)
}

impl Reply {
    /// Returns the data of the events that are JSON; a broken one is a panic.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.data().filter(|data| *data != "[DONE]").map(|data| serde_json::from_str(data).unwrap()).collect()
    }

    pub(crate) fn data(&self) -> impl Iterator<Item = &str> {
        self.body.split("\n\n").filter_map(|event| event.split_once("data: ").map(|(_, data)| data))
    }

    /// Joins a field of all events that have it as a text.
    pub(crate) fn joined(&self, pointer: &str) -> String {
        self.events().iter().filter_map(|event| event.pointer(pointer)?.as_str().map(str::to_owned)).collect()
    }
}
