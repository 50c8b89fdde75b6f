//! Server-sent events: read as they come, and gone on with where a connection broke off.

use crate::error::Error;
use crate::types::Event;
use crate::wire::{Again, Wire, pause};
use reqwest::{Method, Response, StatusCode};
use std::collections::VecDeque;
use std::time::Duration;

/// A server says every 15 seconds that it is still there; one that is quiet for longer than this is gone.
const QUIET: Duration = Duration::from_secs(45);
/// How often a stream is opened again without anything coming out of it.
const RECONNECTS: u32 = 20;
/// The longest event, in bytes.
const LONGEST: usize = 32 << 20;

/// A message of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) id: Option<u64>,
    pub(crate) event: String,
    pub(crate) data: String,
}

/// Takes server-sent events apart, however their bytes were cut.
#[derive(Debug, Default)]
struct Parser {
    line: Vec<u8>,
    /// Whether the last byte was a carriage return, after which a line feed ends nothing.
    returned: bool,
    id: Option<u64>,
    event: String,
    data: Option<String>,
}

impl Parser {
    /// Takes bytes as they came; an error is an event that is too long.
    fn push(&mut self, bytes: &[u8], found: &mut VecDeque<Message>) -> Result<(), ()> {
        for byte in bytes {
            match byte {
                b'\n' if std::mem::take(&mut self.returned) => {}
                b'\n' | b'\r' => {
                    self.returned = *byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    found.extend(self.end_of(&line));
                }
                byte => {
                    self.returned = false;
                    if self.line.len() + self.data.as_ref().map_or(0, String::len) >= LONGEST {
                        return Err(());
                    }
                    self.line.push(*byte);
                }
            }
        }
        Ok(())
    }

    fn end_of(&mut self, line: &[u8]) -> Option<Message> {
        if line.is_empty() {
            let (id, event) = (self.id.take(), std::mem::take(&mut self.event));
            return self.data.take().map(|data| Message { id, event, data });
        }
        let line = String::from_utf8_lossy(line);
        let (name, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.event),
            "id" => self.id = value.parse().ok(),
            _ => {}
        }
        None
    }
}

/// The messages of a stream until the server says that all is told, those with an id once each and in order.
#[derive(Debug)]
pub(crate) struct Messages<'a> {
    wire: &'a Wire,
    path: &'static str,
    part: String,
    last: u64,
    tries: u32,
    open: Option<(Response, Parser)>,
    read: VecDeque<Message>,
    over: bool,
}

impl<'a> Messages<'a> {
    pub(crate) fn new(wire: &'a Wire, path: &'static str, part: &str, after: u64) -> Self {
        let (part, read) = (part.to_owned(), VecDeque::new());
        Self { wire, path, part, last: after, tries: 0, open: None, read, over: false }
    }

    /// Returns the next message, or nothing if all is told.
    pub(crate) async fn next(&mut self) -> Result<Option<Message>, Error> {
        loop {
            while let Some(message) = self.read.pop_front() {
                if message.event == "end" {
                    self.over = true;
                    continue;
                }
                if let Some(seq) = message.id {
                    if seq <= self.last {
                        continue;
                    }
                    self.last = seq;
                }
                self.tries = 0;
                return Ok(Some(message));
            }
            if self.over {
                return Ok(None);
            }
            self.step().await?;
        }
    }

    /// Waits until somebody listens: from then on, nothing is missed.
    pub(crate) async fn listen(&mut self) -> Result<(), Error> {
        while self.open.is_none() && !self.over {
            self.step().await?;
        }
        Ok(())
    }

    /// Reads on, or waits until it can be tried again.
    async fn step(&mut self) -> Result<(), Error> {
        let Err(error) = self.more().await else { return Ok(()) };
        self.open = None;
        let wait = pause(&error, Again::May, self.tries).filter(|_| self.tries < RECONNECTS);
        let Some(wait) = wait else { return Err(error) };
        self.tries += 1;
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// Says that all is told, where that cannot be.
    pub(crate) fn over(&self) -> Error {
        Error::Connection {
            server: self.wire.server(),
            why: "the stream ended before what it tells of did".to_owned(),
        }
    }

    pub(crate) fn foreign(&self, error: &serde_json::Error) -> Error {
        self.wire.foreign(format!("an event: {error}"))
    }

    /// Reads what comes next, from a new connection if there is none.
    async fn more(&mut self) -> Result<(), Error> {
        let broke = |why: &str| Error::Connection { server: self.wire.server(), why: why.to_owned() };
        let Some((response, parser)) = &mut self.open else {
            let sent = self.wire.ask(Method::GET, self.path, &[&self.part], &[])?;
            let sent =
                if self.last > 0 { sent.header("last-event-id", &self.last.to_string())? } else { sent };
            let opened = tokio::time::timeout(self.wire.timeout, self.wire.open(&sent)).await;
            let response = opened.map_err(|_| broke("the stream did not begin in time"))??;
            if response.status() == StatusCode::NO_CONTENT {
                self.over = true;
            } else {
                self.open = Some((response, Parser::default()));
            }
            return Ok(());
        };
        match tokio::time::timeout(QUIET, response.chunk()).await {
            Ok(Ok(Some(bytes))) => {
                let taken = parser.push(&bytes, &mut self.read);
                taken.map_err(|()| self.wire.foreign(format!("an event is longer than {LONGEST} bytes")))
            }
            Ok(Ok(None)) => Err(broke("the stream broke off")),
            Ok(Err(error)) => Err(self.wire.lost(&error)),
            Err(_) => Err(broke("the stream went quiet")),
        }
    }
}

/// The events of a run as they happen, each once and in order, until the run is over.
#[derive(Debug)]
pub struct EventStream<'a>(Messages<'a>);

impl<'a> EventStream<'a> {
    pub(crate) fn new(wire: &'a Wire, run: &str, after: u64) -> Self {
        Self(Messages::new(wire, "/v1/runs/{}/events/stream", run, after))
    }

    /// Returns the next event, or nothing if all is told. A connection that breaks off is opened again after the last one.
    ///
    /// No event is lost when its future is dropped, but a connection that is being opened is: in a `select!`, let a task of its own wait.
    pub async fn next(&mut self) -> Result<Option<Event>, Error> {
        while let Some(message) = self.0.next().await? {
            if message.id.is_some() {
                let event = serde_json::from_str(&message.data);
                return Ok(Some(event.map_err(|error| self.0.foreign(&error))?));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let text = "id: 7\r\nevent: a\r\ndata: {\"x\":\r\ndata: 1}\r\n\r\n: comment\n\nretry: 5\ndata:y\n\nevent: none\n\n";
        let expected = [
            Message { id: Some(7), event: "a".to_owned(), data: "{\"x\":\n1}".to_owned() },
            Message { id: None, event: String::new(), data: "y".to_owned() },
        ];
        for size in 1..=text.len() {
            let (mut parser, mut found) = (Parser::default(), VecDeque::new());
            for part in text.as_bytes().chunks(size) {
                parser.push(part, &mut found).unwrap();
            }
            assert_eq!(found, expected, "in parts of {size}");
        }
    }
}
