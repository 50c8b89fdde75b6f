//! A caller who asks as fast as the answers come, on connections that stay.

use anyhow::{Context, bail, ensure};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Returns the request of a number: its method, path and body.
pub(super) type Ask<'a> = dyn Fn(usize) -> (&'static str, String, String) + Sync + 'a;

/// A caller of one server.
pub(super) struct Caller {
    address: String,
    key: Option<String>,
}

/// A connection that stays.
pub(super) struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
    /// What every request begins its head with.
    head: String,
}

impl Caller {
    pub(super) fn new(address: &str, key: Option<&str>) -> Self {
        Self { address: address.to_owned(), key: key.map(str::to_owned) }
    }

    pub(super) async fn connect(&self) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let mut head = format!("Host: {}\r\n", self.address);
        if let Some(key) = &self.key {
            head = format!("{head}Authorization: Bearer {key}\r\n");
        }
        Ok(Connection { stream, read: Vec::with_capacity(64 * 1024), head })
    }

    /// Asks so often, and returns how long it took; every answer must be a yes.
    pub(super) fn ask(&self, connections: usize, count: usize, ask: &Ask<'_>) -> anyhow::Result<Duration> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let next = Arc::new(AtomicUsize::new(0));
            let began = Instant::now();
            let mut callers = Vec::new();
            for _ in 0..connections {
                let (mut connection, next) = (self.connect().await?, Arc::clone(&next));
                callers.push(async move {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= count {
                            return Ok::<(), anyhow::Error>(());
                        }
                        let (method, path, body) = ask(number);
                        let (status, text) = connection.ask(method, &path, &body).await?;
                        ensure!((200..300).contains(&status), "{method} {path}: {status} {text}");
                    }
                });
            }
            all(callers).await?;
            Ok(began.elapsed())
        })
    }

    /// Asks once, and returns the body of the answer.
    pub(super) fn once(&self, method: &str, path: &str, body: &str) -> anyhow::Result<String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(async {
            let (status, text) = self.connect().await?.ask(method, path, body).await?;
            ensure!((200..300).contains(&status), "{method} {path}: {status} {text}");
            Ok(text)
        })
    }
}

/// Waits for all of them, on one thread.
async fn all<F: Future<Output = anyhow::Result<()>>>(callers: Vec<F>) -> anyhow::Result<()> {
    let mut callers: Vec<_> = callers.into_iter().map(|caller| Some(Box::pin(caller))).collect();
    std::future::poll_fn(|context| {
        let mut waits = false;
        for place in &mut callers {
            let Some(caller) = place else { continue };
            match caller.as_mut().poll(context) {
                std::task::Poll::Ready(Ok(())) => *place = None,
                std::task::Poll::Ready(Err(error)) => return std::task::Poll::Ready(Err(error)),
                std::task::Poll::Pending => waits = true,
            }
        }
        if waits { std::task::Poll::Pending } else { std::task::Poll::Ready(Ok(())) }
    })
    .await
}

impl Connection {
    /// Sends a request and reads its answer whole.
    pub(super) async fn ask(
        &mut self,
        method: &str,
        path: &str,
        body: &str,
    ) -> anyhow::Result<(u16, String)> {
        self.send(method, path, body).await?;
        loop {
            if let Some((status, start, length)) = head(&self.read)?
                && self.read.len() >= start + length
            {
                let text = String::from_utf8_lossy(&self.read[start..start + length]).into_owned();
                self.read.drain(..start + length);
                return Ok((status, text));
            }
            if self.stream.read_buf(&mut self.read).await? == 0 {
                bail!("{method} {path}: the answer broke off");
            }
        }
    }

    /// Sends a request.
    pub(super) async fn send(&mut self, method: &str, path: &str, body: &str) -> anyhow::Result<()> {
        let more = if method == "GET" {
            String::new()
        } else {
            format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len())
        };
        let request = format!("{method} {path} HTTP/1.1\r\n{}{more}\r\n{body}", self.head);
        Ok(self.stream.write_all(request.as_bytes()).await?)
    }

    /// Reads what comes next of a stream.
    pub(super) async fn more(&mut self) -> anyhow::Result<usize> {
        Ok(self.stream.read_buf(&mut self.read).await?)
    }
}

/// Returns the status of an answer, where its body begins and how long that is, once its head is there.
fn head(read: &[u8]) -> anyhow::Result<Option<(u16, usize, usize)>> {
    let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let text = std::str::from_utf8(&read[..end])?;
    let status = text.get(9..12).context("a status")?.parse()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    Ok(Some((status, end + 4, length.unwrap_or(0))))
}
