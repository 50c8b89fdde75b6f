//! As much HTTP/1.1 as clients of models speak: requests with a body, answers whole or in chunks.

use std::io;
use std::time::Duration;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, BufReader,
};

/// The longest line of a head, and the most bytes of all of them.
const HEAD: usize = 64 << 10;
/// The longest body.
const BODY: usize = 64 << 20;

/// A request as it came.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) method: String,
    /// The path without what follows a `?`.
    pub(super) path: String,
    /// Headers, with lower-case names.
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

impl Call {
    /// Tells whether the client wants the connection closed after the answer.
    pub(super) fn is_last(&self) -> bool {
        self.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"))
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// An answer.
#[derive(Debug)]
pub(super) enum Reply {
    /// One document.
    Whole { status: u16, headers: Vec<(&'static str, String)>, body: String },
    /// Pieces, with a pause before some of them.
    Pieces { media: &'static str, pieces: Vec<String>, pause: Pause, end: End },
    /// Nothing.
    Silence,
}

/// Before which pieces nothing comes for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// None.
    None,
    /// The first.
    First(Duration),
    /// Each.
    Each(Duration),
}

/// How an answer in pieces ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// As it should.
    Whole,
    /// The connection is closed without saying that this was all.
    Cut,
    /// Nothing more comes, and the connection stays.
    Stalled,
}

/// Reads the next request of a connection; nothing if the other side is done.
pub(super) async fn read<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut BufReader<S>,
) -> io::Result<Option<Call>> {
    let mut room = HEAD;
    let first = line(stream, &mut room).await?;
    let mut words = first.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return if first.is_empty() { Ok(None) } else { Err(invalid("no request line")) };
    };
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let mut call = Call { method: method.to_owned(), path, headers: Vec::new(), body: Vec::new() };
    loop {
        let header = line(stream, &mut room).await?;
        if header.is_empty() {
            break;
        }
        let (name, value) = header.split_once(':').ok_or_else(|| invalid("a header without a colon"))?;
        call.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    if call.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    let chunked = call.header("transfer-encoding").is_some_and(|value| value.contains("chunked"));
    if chunked {
        loop {
            let size = line(stream, &mut HEAD.clone()).await?;
            let size = size.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(size, 16).map_err(|_| invalid("a chunk without a size"))?;
            take(stream, size, &mut call.body).await?;
            line(stream, &mut HEAD.clone()).await?;
            if size == 0 {
                break;
            }
        }
    } else if let Some(size) = call.header("content-length") {
        let size = size.parse().map_err(|_| invalid("a length that is no number"))?;
        take(stream, size, &mut call.body).await?;
    }
    Ok(Some(call))
}

/// Writes an answer; returns how it ended.
pub(super) async fn write<S: AsyncWrite + Unpin>(stream: &mut S, reply: Reply) -> io::Result<End> {
    match reply {
        Reply::Whole { status, headers, body } => {
            let mut head = format!(
                "HTTP/1.1 {status} {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
                reason(status),
                body.len()
            );
            for (name, value) in headers {
                head.extend([name, ": ", value.as_str(), "\r\n"]);
            }
            stream.write_all(format!("{head}\r\n{body}").as_bytes()).await?;
            stream.flush().await?;
            Ok(End::Whole)
        }
        Reply::Silence => Ok(End::Stalled),
        Reply::Pieces { media, pieces, pause, end } => {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: {media}\r\ncache-control: no-cache\r\n\
                 transfer-encoding: chunked\r\n\r\n"
            );
            stream.write_all(head.as_bytes()).await?;
            for (number, piece) in pieces.into_iter().enumerate() {
                let wait = match pause {
                    Pause::Each(wait) => Some(wait),
                    Pause::First(wait) => (number == 0).then_some(wait),
                    Pause::None => None,
                };
                if let Some(wait) = wait {
                    stream.flush().await?;
                    tokio::time::sleep(wait).await;
                }
                stream.write_all(format!("{:x}\r\n{piece}\r\n", piece.len()).as_bytes()).await?;
            }
            if end == End::Whole {
                stream.write_all(b"0\r\n\r\n").await?;
            }
            stream.flush().await?;
            Ok(end)
        }
    }
}

async fn line<S: AsyncRead + Unpin>(stream: &mut BufReader<S>, room: &mut usize) -> io::Result<String> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(*room).unwrap_or(u64::MAX);
    let taken = (&mut *stream).take(limit).read_until(b'\n', &mut bytes).await?;
    *room -= taken;
    if *room == 0 {
        return Err(invalid("a head that is too long"));
    }
    let text = String::from_utf8(bytes).map_err(|_| invalid("a head that is not UTF-8"))?;
    Ok(text.trim_end_matches(['\r', '\n']).to_owned())
}

async fn take<S: AsyncRead + Unpin>(stream: &mut S, size: usize, body: &mut Vec<u8>) -> io::Result<()> {
    let start = body.len();
    if size > BODY - start {
        return Err(invalid("a body that is too long"));
    }
    body.resize(start + size, 0);
    stream.read_exact(&mut body[start..]).await?;
    Ok(())
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        415 => "Unsupported Media Type",
        429 => "Too Many Requests",
        503 => "Service Unavailable",
        529 => "Site is overloaded",
        _ => "Error",
    }
}
