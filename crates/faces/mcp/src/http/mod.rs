//! Serving clients over HTTP: the streamable transport of MCP, under `/mcp`.
//!
//! On loopback without a key, anywhere else only with one. A web page is kept out by what its browser says in `Host` and
//! `Origin`. Everything is bounded: connections, sessions, bodies, and how long any of them may idle.
//! Start at [`Http::bind`].

mod door;
mod key;
mod sessions;

pub(crate) use door::session;
pub use key::{Key, WeakKey};
pub(crate) use sessions::Sessions;

use crate::bounds::{GRACE, HEAD, IDLE, MOST_CONNECTIONS, SWEEP};
use crate::calls::wind_up;
use crate::desk::Desk;
use door::Door;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Where MCP is under the address of a server.
pub const PATH: &str = "/mcp";

/// How a server over HTTP may be used.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// What a client must send as `Authorization: Bearer`; without it the server is for this machine alone.
    pub key: Option<Key>,
    /// Names by which clients call the server, beside those of loopback and the address itself.
    pub hosts: Vec<String>,
    /// Web pages that may use the server, like `https://tools.example.com:443`; none but those.
    pub origins: Vec<String>,
    /// How long a session is kept that nobody uses; half an hour if not said.
    pub idle: Option<Duration>,
}

/// Why a server over HTTP could not be started.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// Anybody who reaches the address could run abilities.
    #[error("{0} can be reached from other machines, and so it needs a key")]
    NeedsKey(SocketAddr),
    /// The address is taken, or not of this machine.
    #[error("could not listen on {address}: {why}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        why: io::Error,
    },
}

/// A server over HTTP that listens and does not serve yet.
#[derive(Debug)]
pub struct Http {
    listener: TcpListener,
    address: SocketAddr,
    options: Options,
}

impl Http {
    /// Listens on an address; port 0 takes one that is free.
    pub async fn bind(address: SocketAddr, options: Options) -> Result<Self, HttpError> {
        if !address.ip().is_loopback() && options.key.is_none() {
            return Err(HttpError::NeedsKey(address));
        }
        let failed = |why| HttpError::Listen { address, why };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, options })
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until `stop` resolves; then calls under way are told so and have a few seconds to end.
    pub async fn serve<D: Desk>(self, desk: Arc<D>, stop: impl Future<Output = ()> + Send) {
        let (gone, streams) = (CancellationToken::new(), CancellationToken::new());
        let tasks = TaskTracker::new();
        let door = Arc::new(Door::new(desk, self.address, &self.options, &gone, &tasks, &streams));
        let connections = GracefulShutdown::new();
        tokio::select! {
            () = accept(&self.listener, &door, &connections) => {}
            () = sweep(&door, self.options.idle.unwrap_or(IDLE)) => {}
            () = stop => {}
        }
        drop(self.listener);
        gone.cancel();
        // First the calls, then the streams that wait for nothing any more: an answer needs a moment to get out.
        wind_up(&tasks).await;
        if !door.is_empty().await {
            tokio::time::sleep(LAST_WORDS).await;
        }
        streams.cancel();
        let _ = tokio::time::timeout(GRACE, connections.shutdown()).await;
    }
}

/// How long an answer may take from the desk to the wire when the server ends.
const LAST_WORDS: Duration = Duration::from_millis(200);

async fn accept<D: Desk>(listener: &TcpListener, door: &Arc<Door<D>>, connections: &GracefulShutdown) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    // The semaphore is never closed.
    while let Ok(permit) = room.clone().acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, or a client that has gone again: trying at once helps nobody.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let door = door.clone();
        let service = service_fn(move |request| {
            let door = door.clone();
            async move { Ok::<_, Infallible>(door.answer(request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(64 * 1024)
            .serve_connection(TokioIo::new(stream), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            let _ = connection.await;
            drop(permit);
        });
    }
}

/// Closes sessions that nobody has used for a while.
async fn sweep<D: Desk>(door: &Door<D>, idle: Duration) {
    loop {
        tokio::time::sleep(SWEEP.min(idle)).await;
        door.close_idle(idle).await;
    }
}
