//! A collector of traces on loopback: it keeps every span that it is told of, or says nothing at all.

use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub(crate) struct Collector {
    pub(crate) url: String,
    bodies: Arc<Mutex<Vec<String>>>,
}

impl Collector {
    /// Starts one that takes everything.
    pub(crate) fn start() -> Self {
        Self::listen(true)
    }

    /// Starts one that takes connections and never answers.
    pub(crate) fn deaf() -> Self {
        Self::listen(false)
    }

    fn listen(answers: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let bodies = Arc::<Mutex<Vec<String>>>::default();
        let heard = Arc::clone(&bodies);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, heard) = (stream.unwrap(), Arc::clone(&heard));
                std::thread::spawn(move || serve(stream, answers, &heard));
            }
        });
        Self { url, bodies }
    }

    pub(crate) fn text(&self) -> String {
        self.bodies.lock().unwrap().join("\n")
    }

    pub(crate) fn spans(&self) -> Vec<Span> {
        let bodies: Vec<Value> =
            self.bodies.lock().unwrap().iter().map(|body| serde_json::from_str(body).unwrap()).collect();
        let mut spans = Vec::new();
        for body in &bodies {
            let resource = &body["resourceSpans"][0];
            assert_eq!(attribute(&resource["resource"], "service.name"), "tested", "{resource}");
            spans.extend(resource["scopeSpans"][0]["spans"].as_array().unwrap().iter().cloned().map(Span));
        }
        spans
    }

    /// Waits until there are so many spans.
    pub(crate) fn until(&self, count: usize) -> Vec<Span> {
        let end = Instant::now() + Duration::from_secs(30);
        loop {
            let spans = self.spans();
            if spans.len() >= count {
                return spans;
            }
            let names: Vec<String> = spans.iter().map(Span::name).collect();
            assert!(Instant::now() < end, "there are never {count}: {names:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn serve(mut stream: TcpStream, answers: bool, heard: &Mutex<Vec<String>>) {
    loop {
        let mut bytes = Vec::new();
        let sent = loop {
            let mut more = vec![0; 65_536];
            let Ok(read @ 1..) = stream.read(&mut more) else { return };
            bytes.extend_from_slice(&more[..read]);
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let Some((top, body)) = text.split_once("\r\n\r\n") else { continue };
            let top = top.to_lowercase();
            assert!(top.starts_with("post /v1/traces ") && top.contains("application/json"), "{top}");
            let length = top.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
            if body.len() >= length.parse().unwrap() {
                break body.to_owned();
            }
        };
        if !answers {
            std::thread::sleep(Duration::from_mins(2));
            return;
        }
        heard.lock().unwrap().push(sent);
        if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}").is_err() {
            return;
        }
    }
}

/// A span as the collector was told of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span(pub(crate) Value);

impl Span {
    fn text(&self, name: &str) -> String {
        self.0[name].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) fn name(&self) -> String {
        self.text("name")
    }

    pub(crate) fn id(&self) -> String {
        self.text("spanId")
    }

    pub(crate) fn trace(&self) -> String {
        self.text("traceId")
    }

    pub(crate) fn parent(&self) -> String {
        self.text("parentSpanId")
    }

    /// Returns when it began and ended, in nanoseconds.
    pub(crate) fn times(&self) -> (u64, u64) {
        (self.text("startTimeUnixNano").parse().unwrap(), self.text("endTimeUnixNano").parse().unwrap())
    }

    pub(crate) fn is_error(&self) -> bool {
        self.0["status"]["code"] == 2
    }

    /// Returns an attribute as text; nothing is empty.
    pub(crate) fn get(&self, name: &str) -> String {
        attribute(&self.0, name)
    }
}

fn attribute(of: &Value, name: &str) -> String {
    let all = of["attributes"].as_array().unwrap();
    let found = all.iter().find(|attribute| attribute["key"] == name);
    let value = found.and_then(|attribute| attribute["value"].as_object()?.values().next().cloned());
    match value {
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
        None => String::new(),
    }
}

/// Finds the only span of a name.
pub(crate) fn only<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let found: Vec<&Span> = spans.iter().filter(|span| span.name() == name).collect();
    let names: Vec<String> = spans.iter().map(Span::name).collect();
    assert_eq!(found.len(), 1, "{name} in {names:?}");
    found[0]
}

/// Checks that every span is in one trace, has an id of its own, and lies within its parent; returns the ids of parents elsewhere.
pub(crate) fn hangs_together(spans: &[Span]) -> Vec<String> {
    let mut elsewhere = Vec::new();
    for (number, span) in spans.iter().enumerate() {
        assert_eq!(span.trace(), spans[0].trace(), "{span:?}");
        assert!(spans[..number].iter().all(|other| other.id() != span.id()), "told twice: {span:?}");
        let (from, until) = span.times();
        assert!(0 < from && from <= until, "{span:?}");
        match spans.iter().find(|other| other.id() == span.parent()) {
            Some(parent) => {
                let (begin, end) = parent.times();
                assert!(begin <= from && until <= end, "{span:?} is not within {parent:?}");
            }
            None => elsewhere.push(span.parent()),
        }
    }
    elsewhere
}
