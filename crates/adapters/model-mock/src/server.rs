//! The server: it takes requests on loopback, asks the script, and keeps what it was asked.
//!
//! It runs on a thread of its own, so that tests with and without a runtime use it alike, and it is gone when it is
//! dropped. Everything is bounded: connections, bodies, and the requests that it keeps.

use super::http::{self, Call, End, Pause, Reply};
use super::{Fault, Kind, Request, Script, Turn, Wire};
use serde_json::{Value, json};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};

/// How many connections are served at a time; others wait.
const CONNECTIONS: usize = 256;
/// How many requests are kept. A client that asks more often is refused: it is in a loop.
const REQUESTS: usize = 10_000;
/// How many servers were started in this process.
static STARTED: AtomicUsize = AtomicUsize::new(0);
/// What is said beside the conversation: it serves as a title and as a summary.
const SIDE_ANSWER: &str = "scripted";
/// What the model says after its last turn.
const OVER: &str = "the script is over";

/// A model that answers by a script.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct State {
    script: Script,
    /// The number of its first answer: a session that goes on with another server is not told an id twice.
    first: usize,
    requests: Vec<Arc<Request>>,
    surprises: Vec<String>,
    hang_ups: usize,
}

impl ModelServer {
    /// Starts it on a free port of 127.0.0.1.
    pub fn start(script: impl Into<Script>) -> io::Result<Self> {
        Self::start_on(0, script)
    }

    /// Starts it on a port of 127.0.0.1; 0 is one that is free.
    pub fn start_on(port: u16, script: impl Into<Script>) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let state = State {
            script: script.into(),
            first: STARTED.fetch_add(1, Ordering::Relaxed) * REQUESTS,
            requests: Vec::new(),
            surprises: Vec::new(),
            hang_ups: 0,
        };
        let state = Arc::new(Mutex::new(state));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let shared = Arc::clone(&state);
        let thread = std::thread::Builder::new().name("scripted model".to_owned()).spawn(move || {
            runtime.block_on(async move {
                tokio::select! {
                    _ = stopped => {}
                    result = accept(listener, &shared) => {
                        if let Err(error) = result {
                            lock(&shared).surprises.push(format!("the server has ended: {error}"));
                        }
                    }
                }
            });
            // Whatever is still being answered ends with the runtime.
        })?;
        Ok(Self { address, state, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns its address without a path, as `ANTHROPIC_BASE_URL` wants it; others add `/v1`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns every request, in the order in which they came.
    pub fn requests(&self) -> Vec<Arc<Request>> {
        lock(&self.state).requests.clone()
    }

    /// Returns the requests of conversations: those that took a turn.
    pub fn turns(&self) -> Vec<Arc<Request>> {
        self.requests().into_iter().filter(|request| request.kind == Kind::Turn).collect()
    }

    /// Returns how many clients closed the connection before their answer had come to its end.
    pub fn hang_ups(&self) -> usize {
        lock(&self.state).hang_ups
    }

    /// Returns what did not go by the script: requests after its end, turns that nobody asked for, paths that are none
    /// of a model's.
    pub fn surprises(&self) -> Vec<String> {
        let state = lock(&self.state);
        let mut surprises = state.surprises.clone();
        match state.script.left() {
            0 => {}
            left => surprises.push(format!("{left} turns of the script were not asked for")),
        }
        surprises
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(()); // an error says that it has ended already
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // a panic of the script has been printed by its thread
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: std::net::TcpListener, state: &Arc<Mutex<State>>) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return Ok(()) };
        let (stream, _) = listener.accept().await?;
        let state = Arc::clone(state);
        tokio::spawn(async move {
            // A client that goes away in the middle is the client's affair.
            let _ = converse(stream, &state).await;
            drop(place);
        });
    }
}

async fn converse(stream: TcpStream, state: &Mutex<State>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    while let Some(call) = http::read(&mut stream).await? {
        let last = call.is_last();
        let reply = lock(state).reply(call);
        match http::write(&mut stream, reply).await {
            Ok(End::Whole) if !last => {}
            Ok(End::Whole | End::Cut) => break,
            Ok(End::Stalled) => {
                // Until the client has had enough; what it says meanwhile is not listened to.
                while !stream.fill_buf().await?.is_empty() {
                    let heard = stream.buffer().len();
                    stream.consume(heard);
                }
                lock(state).hang_ups += 1;
                break;
            }
            Err(error) => {
                lock(state).hang_ups += 1;
                return Err(error);
            }
        }
    }
    Ok(())
}

impl State {
    fn reply(&mut self, call: Call) -> Reply {
        let Some(wire) = (call.method == "POST").then(|| Wire::of(&call.path)).flatten() else {
            return self.aside(&call);
        };
        let Ok(body) = serde_json::from_slice::<Value>(&call.body) else {
            self.surprises.push(format!("POST {} has a body that is not JSON", call.path));
            return refused(400, &wire.error("invalid_request_error", "the body is not JSON"));
        };
        if self.requests.len() == REQUESTS {
            return refused(503, &wire.error("api_error", "a scripted model does not answer so often"));
        }
        let request = Arc::new(wire.read(call.headers, body));
        let number = self.requests.len();
        self.requests.push(Arc::clone(&request));
        let turn = match request.kind {
            Kind::Side => Turn::text(SIDE_ANSWER),
            Kind::Turn => self.script.answer(&request).unwrap_or_else(|| {
                self.surprises.push(format!("request {number} came after the script's end"));
                Turn::text(OVER)
            }),
        };
        answer(wire, &request, turn, self.first + number)
    }

    /// Answers what is not a question to the model.
    fn aside(&mut self, call: &Call) -> Reply {
        let path = call.path.as_str();
        let body = match call.method.as_str() {
            "POST" if path.ends_with("/count_tokens") => json!({"input_tokens": call.body.len() / 4 + 1}),
            "GET" if path.ends_with("/models") => {
                let model = json!({"id": "scripted", "object": "model", "type": "model", "created": 1});
                json!({"object": "list", "data": [model], "has_more": false})
            }
            "GET" if path == "/" => json!({}),
            // No body follows, whatever the path: a client looks whether somebody is there.
            "HEAD" => return Reply::Whole { status: 200, headers: Vec::new(), body: String::new() },
            method => {
                self.surprises.push(format!("{method} {path} is nothing that a model answers"));
                return refused(404, &json!({"error": {"type": "not_found_error", "message": path}}));
            }
        };
        Reply::Whole { status: 200, headers: Vec::new(), body: body.to_string() }
    }
}

fn refused(status: u16, error: &Value) -> Reply {
    Reply::Whole { status, headers: Vec::new(), body: error.to_string() }
}

/// Writes a turn, with what goes wrong in it.
fn answer(wire: Wire, request: &Request, mut turn: Turn, number: usize) -> Reply {
    let fault = turn.fault.take();
    match fault.clone() {
        Some(Fault::TooManyRequests(wait)) => {
            let headers = wait.map(|seconds| ("retry-after", seconds.to_string())).into_iter().collect();
            let body = wire.error("rate_limit_error", "too many requests").to_string();
            return Reply::Whole { status: 429, headers, body };
        }
        Some(Fault::Overloaded) => return refused(529, &wire.error("overloaded_error", "overloaded")),
        Some(Fault::Status(status, message)) => return refused(status, &wire.error("error", &message)),
        Some(Fault::Silent) => return Reply::Silence,
        Some(Fault::Huge(bytes)) => turn.text = "x".repeat(bytes.min(Fault::MOST)),
        Some(
            Fault::Slow(_)
            | Fault::Late(_)
            | Fault::CutOff
            | Fault::Malformed
            | Fault::Stalled
            | Fault::FailsMidway,
        )
        | None => {}
    }
    let pause = match fault {
        Some(Fault::Slow(pause)) => Pause::Each(pause),
        Some(Fault::Late(pause)) => Pause::First(pause),
        _ => Pause::None,
    };
    let mut pieces = if request.stream {
        wire.events(request, &turn, number)
    } else {
        vec![wire.whole(request, &turn, number).to_string()]
    };
    let mut end = End::Whole;
    match fault {
        // Half of the answer has come, and even its last piece is not whole.
        Some(Fault::CutOff | Fault::Stalled) => {
            end = if fault == Some(Fault::CutOff) { End::Cut } else { End::Stalled };
            pieces.truncate(pieces.len() / 2 + 1);
            if let Some(last) = pieces.last_mut() {
                last.truncate(half(last));
            }
        }
        // An object that is never closed, wherever it breaks, is not JSON.
        Some(Fault::Malformed) => {
            let middle = pieces.len() / 2;
            if let Some(end) = pieces[middle].rfind('}') {
                pieces[middle].remove(end);
            }
        }
        Some(Fault::FailsMidway) => {
            pieces.truncate(pieces.len() / 2 + 1);
            pieces.push(wire.failure("overloaded_error", "overloaded in the middle"));
        }
        _ => {}
    }
    let media = if request.stream { "text/event-stream" } else { "application/json" };
    Reply::Pieces { media, pieces, pause, end }
}

/// Returns the middle of a text, at a character's start.
fn half(text: &str) -> usize {
    (0..=text.len() / 2).rev().find(|position| text.is_char_boundary(*position)).unwrap_or_default()
}
