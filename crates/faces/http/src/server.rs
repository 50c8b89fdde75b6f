//! The server itself: it listens, serves, and ends without cutting anybody short.

use crate::bounds::{GRACE, HEAD, HEARTBEAT, LEAVE, LETTERS, LONGEST_HEAD, MOST_CONNECTIONS, STALL};
use crate::door::Door;
use crate::house::House;
use crate::line::Log;
use crate::steady::Steady;
use crate::{fleet, notices};
use abide_engine::port::KeysError;
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

/// How a server may be used.
#[derive(Clone, Default)]
pub struct Options {
    /// Whether callers of this machine need a key, too.
    pub require_key: bool,
    /// Names by which clients call the server, beside those of loopback and the address itself.
    pub hosts: Vec<String>,
    /// How long runs under way have to come to where they can be left when the server ends; half a minute if not said.
    pub grace: Option<Duration>,
    /// How many requests a second each caller may make for long; 200 if not said, and 0 for no bound.
    pub rate: Option<u32>,
    /// Takes one line for each request.
    pub log: Option<Log>,
    /// How long things take that are about time alone.
    pub times: Times,
}

/// How long things take that are about time alone.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// How often a stream says that it is still there, and its key is looked at.
    pub heartbeat: Duration,
    /// How long a caller may take for the next part of what waits for them.
    pub stall: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Self { heartbeat: HEARTBEAT, stall: STALL }
    }
}

impl Options {
    /// Returns whether callers of a server on an address need a key.
    pub(crate) fn needs_key(&self, address: SocketAddr) -> bool {
        self.require_key || !address.ip().is_loopback()
    }
}

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Nobody could ask it for anything, and that is not what whoever starts it means.
    #[error("{0} needs a key, and there is none that is not revoked")]
    NeedsKey(SocketAddr),
    /// Whether there is a key could not be looked up.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// The address is taken, or not of this machine.
    #[error("could not listen on {address}: {why}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        why: io::Error,
    },
}

/// A server that listens and does not serve yet.
pub struct Server<H> {
    listener: TcpListener,
    address: SocketAddr,
    door: Arc<Door<H>>,
    grace: Duration,
}

impl<H: House> Server<H> {
    /// Listens on an address; port 0 takes one that is free.
    pub async fn bind(address: SocketAddr, options: &Options, house: Arc<H>) -> Result<Self, ServeError> {
        if options.needs_key(address) && !has_key(&*house).await? {
            return Err(ServeError::NeedsKey(address));
        }
        let failed = |why| ServeError::Listen { address, why };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let door = Arc::new(Door::new(house, address, options));
        Ok(Self { listener, address, door, grace: options.grace.unwrap_or(LEAVE) })
    }

    /// Returns the address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Goes on with every run that servers have started and nobody drives, and serves until `stop` resolves; then requests under way have a few seconds
    /// to end, and runs are left where nothing is cut short, if they come there in time.
    pub async fn serve(self, stop: impl Future<Output = ()> + Send) {
        let looking = tokio::spawn(fleet::look_out(Arc::clone(&self.door.house), self.door.closing()));
        let webhooks = Arc::clone(self.door.house.notices().webhooks());
        webhooks.start();
        let telling = tokio::spawn(notices::tell(Arc::clone(&self.door.house)));
        let connections = GracefulShutdown::new();
        tokio::select! {
            () = accept(&self.listener, &self.door, &connections) => {}
            () = stop => {}
        }
        drop(self.listener);
        self.door.close();
        let _ = tokio::time::timeout(GRACE, connections.shutdown()).await;
        // What it was about to take up stays as it is.
        looking.abort();
        tokio::join!(fleet::leave(&*self.door.house, self.grace), self.door.house.talks().leave(self.grace));
        // What is not in the outbox yet lies in the logs, and the next server finds it there.
        telling.abort();
        webhooks.leave(LETTERS).await;
    }
}

async fn has_key<H: House>(house: &H) -> Result<bool, KeysError> {
    let mut after: Option<String> = None;
    loop {
        let page = house.keys().list(after.as_deref(), 100).await?;
        if page.iter().any(|key| key.revoked_at.is_none()) {
            return Ok(true);
        }
        match page.last() {
            Some(last) if page.len() == 100 => after = Some(last.id.clone()),
            _ => return Ok(false),
        }
    }
}

async fn accept<H: House>(listener: &TcpListener, door: &Arc<Door<H>>, connections: &GracefulShutdown) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    // The semaphore is never closed.
    while let Ok(permit) = room.clone().acquire_owned().await {
        let Ok((stream, peer)) = listener.accept().await else {
            // Too many open files, or a client that has gone again: trying at once helps nobody.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let _ = stream.set_nodelay(true);
        let called = door.clone();
        let service = service_fn(move |request| {
            let door = called.clone();
            async move { Ok::<_, Infallible>(door.answer(peer.ip(), request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(LONGEST_HEAD)
            .serve_connection(TokioIo::new(Steady::new(stream, door.times.stall)), service);
        let connection = connections.watch(connection);
        tokio::spawn(async move {
            let _ = connection.await;
            drop(permit);
        });
    }
}
