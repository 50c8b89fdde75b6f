//! Messages as lines: how MCP is spoken over the standard input and output of a process.
//!
//! Reading and writing block, so each has a thread of its own; neither keeps the process from ending. What is no message is
//! answered with an error and passed over, as long as a client could have sent it.

use crate::bounds::{LONGEST_MESSAGE, MOST_UNANSWERED, MOST_UNREADABLE};
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorData, GetMeta, JsonRpcMessage,
    NumberOrString, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use std::collections::HashSet;
use std::future::Future;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

/// How many messages may wait on each side.
const WAITING: usize = 16;

/// A client at the other end of two pipes.
pub(crate) struct Lines {
    heard: mpsc::Receiver<ClientJsonRpcMessage>,
    writer: Option<Writer>,
    unanswered: Arc<Unanswered>,
    /// Whether the client has begun a session; what comes before and is no request is nothing.
    begun: bool,
    /// Cancelled when the client has gone.
    gone: CancellationToken,
}

type Writer = mpsc::Sender<(Vec<u8>, oneshot::Sender<io::Result<()>>)>;

impl Lines {
    /// Starts to read and to write.
    pub(crate) fn start(
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        gone: CancellationToken,
    ) -> io::Result<Self> {
        let (writer, lines) = mpsc::channel(WAITING);
        let (messages, heard) = mpsc::channel(WAITING);
        let complains = writer.clone();
        std::thread::Builder::new()
            .name("mcp-read".to_owned())
            .spawn(move || read(input, &messages, &complains))?;
        std::thread::Builder::new().name("mcp-write".to_owned()).spawn(move || write(output, lines))?;
        Ok(Self { heard, writer: Some(writer), unanswered: Arc::default(), begun: false, gone })
    }

    async fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            self.unanswered.has_room().await;
            let message = self.heard.recv().await?;
            match &message {
                JsonRpcMessage::Request(request) => {
                    self.begun |= matches!(request.request, ClientRequest::InitializeRequest(_))
                        || request.request.get_meta().protocol_version().is_some();
                    self.unanswered.ids().insert(request.id.clone());
                }
                _ if !self.begun => continue,
                JsonRpcMessage::Notification(notification) => {
                    // A request that was cancelled is not answered.
                    if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                        && let Some(id) = &cancelled.params.request_id
                    {
                        self.unanswered.answered(id);
                    }
                }
                JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
            }
            return Some(message);
        }
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (writer, unanswered) = (self.writer.clone(), self.unanswered.clone());
        async move {
            let answers = match &message {
                JsonRpcMessage::Response(response) => Some(response.id.clone()),
                JsonRpcMessage::Error(error) => error.id.clone(),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
            };
            let sent = put(writer.as_ref(), &message).await;
            if let Some(id) = answers {
                unanswered.answered(&id);
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let message = self.next().await;
        if message.is_none() {
            self.gone.cancel();
        }
        message
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer = None;
        Ok(())
    }
}

async fn put(writer: Option<&Writer>, message: &ServerJsonRpcMessage) -> io::Result<()> {
    let closed = || io::Error::new(io::ErrorKind::NotConnected, "the client is not there any more");
    let (done, written) = oneshot::channel();
    writer.ok_or_else(closed)?.send((line(message)?, done)).await.map_err(|_| closed())?;
    written.await.map_err(|_| closed())?
}

fn line(message: &ServerJsonRpcMessage) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

fn write(mut output: impl Write, mut lines: mpsc::Receiver<(Vec<u8>, oneshot::Sender<io::Result<()>>)>) {
    while let Some((line, done)) = lines.blocking_recv() {
        let written = output.write_all(&line).and_then(|()| output.flush());
        let failed = written.is_err();
        let _ = done.send(written);
        if failed {
            return;
        }
    }
}

fn read(input: impl Read, messages: &mpsc::Sender<ClientJsonRpcMessage>, complains: &Writer) {
    let mut input = BufReader::with_capacity(64 * 1024, input);
    let mut line = Vec::new();
    let mut unreadable = 0;
    while unreadable < MOST_UNREADABLE {
        let heard = match next_line(&mut input, &mut line) {
            // What is left without an end of line was cut off.
            Ok(LineRead::End) | Err(_) => return,
            Ok(LineRead::Line) => parse(&line),
            Ok(LineRead::TooLong) => {
                let why = format!("a message may have {LONGEST_MESSAGE} bytes, and this one was longer");
                let error = ErrorData::invalid_request(why, None);
                Heard::Wrong(Box::new(ServerJsonRpcMessage::error(error, None)))
            }
        };
        match heard {
            Heard::Message(message) => {
                unreadable = 0;
                if messages.blocking_send(*message).is_err() {
                    return;
                }
            }
            Heard::Nothing => {}
            Heard::Wrong(error) => {
                unreadable += 1;
                let Ok(line) = self::line(&error) else { continue };
                if complains.blocking_send((line, oneshot::channel().0)).is_err() {
                    return;
                }
            }
        }
    }
}

enum LineRead {
    Line,
    TooLong,
    End,
}

/// Reads a line without its end; of one that is too long, nothing is kept.
fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<LineRead> {
    line.clear();
    let mut too_long = false;
    loop {
        let piece = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            piece => piece?,
        };
        if piece.is_empty() {
            return Ok(LineRead::End);
        }
        let end = piece.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(piece.len());
        too_long |= line.len() + taken > LONGEST_MESSAGE;
        if too_long {
            *line = Vec::new();
        } else {
            line.extend_from_slice(&piece[..taken]);
        }
        input.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(if too_long { LineRead::TooLong } else { LineRead::Line });
        }
    }
}

enum Heard {
    Message(Box<ClientJsonRpcMessage>),
    Nothing,
    Wrong(Box<ServerJsonRpcMessage>),
}

fn parse(line: &[u8]) -> Heard {
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Heard::Nothing;
    }
    if let Ok(message) = serde_json::from_slice(line) {
        return Heard::Message(Box::new(message));
    }
    let wrong = |error, id| Heard::Wrong(Box::new(ServerJsonRpcMessage::error(error, id)));
    let message: Value = match serde_json::from_slice(line) {
        Ok(message) => message,
        Err(error) => return wrong(ErrorData::parse_error(format!("this is no JSON: {error}"), None), None),
    };
    if message.is_array() {
        return wrong(
            ErrorData::invalid_request("one message a line, please: batches are not understood", None),
            None,
        );
    }
    match (message.get("id"), message.get("method")) {
        // A notification that nobody here knows is nothing to answer.
        (None, Some(Value::String(_))) => Heard::Nothing,
        (id, _) => wrong(
            ErrorData::invalid_request("this is no message of JSON-RPC 2.0", None),
            id.and_then(request_id),
        ),
    }
}

fn request_id(id: &Value) -> Option<RequestId> {
    match id {
        Value::String(text) => Some(NumberOrString::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(NumberOrString::Number),
        _ => None,
    }
}

/// The requests that were read and not answered.
#[derive(Default)]
struct Unanswered {
    ids: Mutex<HashSet<RequestId>>,
    fewer: Notify,
}

impl Unanswered {
    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        // Nothing is done while it is held that could panic.
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answered(&self, id: &RequestId) {
        self.ids().remove(id);
        self.fewer.notify_one();
    }

    async fn has_room(&self) {
        while self.ids().len() >= MOST_UNANSWERED {
            self.fewer.notified().await;
        }
    }
}
