//! A caller that writes its requests by hand, so that it can write wrong ones.

use serde_json::Value;
use std::fmt::Write as _;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Where requests go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns status and code of a problem, in one line.
    pub(crate) fn problem(&self) -> String {
        assert!(self.head.contains("content-type: application/problem+json"), "{self:?}");
        format!("{} {}", self.status, self.json()["code"].as_str().unwrap())
    }
}

impl Client {
    /// Sends lines and a body as they are, and reads until the server closes.
    pub(crate) async fn raw(&self, request: &str, headers: &[&str], body: &str) -> Got {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let mut text = format!("{request} HTTP/1.1\r\nConnection: close\r\n");
        for header in headers {
            text.push_str(header);
            text.push_str("\r\n");
        }
        if !body.is_empty() {
            let _ = write!(text, "Content-Length: {}\r\n", body.len());
        }
        text.push_str("\r\n");
        text.push_str(body);
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut bytes = Vec::new();
        // A server that refuses a body may close before all of it is sent.
        let _ = stream.read_to_end(&mut bytes).await;
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let head = head.to_lowercase();
        let body =
            if head.contains("transfer-encoding: chunked") { unchunked(body) } else { body.to_owned() };
        Got { status, head, body }
    }

    /// Asks as a well-behaved caller does.
    pub(crate) async fn ask(&self, request: &str, key: Option<&str>, body: Option<&Value>) -> Got {
        let host = format!("Host: {}", self.address);
        let mut headers = vec![host];
        headers.extend(key.map(|key| format!("Authorization: Bearer {key}")));
        headers.extend(body.map(|_| "Content-Type: application/json".to_owned()));
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        self.raw(request, &headers, &body.map(Value::to_string).unwrap_or_default()).await
    }
}

/// Puts the parts of a body together.
fn unchunked(mut text: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = text.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.push_str(&rest[..size]);
        text = rest[size..].trim_start_matches("\r\n");
    }
    whole
}
