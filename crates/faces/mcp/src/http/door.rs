//! Who is let in over HTTP, and what becomes of a request.

use super::sessions::Held;
use super::{Key, Options, PATH, Sessions};
use crate::bounds::{ANSWER, LONGEST_MESSAGE, MOST_SESSIONS};
use crate::desk::Desk;
use crate::server::{Server, Way};
use bytes::Bytes;
use http::{HeaderMap, Request, Response, StatusCode, header};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Where requests come in.
pub(super) struct Door<D: Desk> {
    service: StreamableHttpService<Server<D>, LocalSessionManager>,
    manager: Arc<LocalSessionManager>,
    sessions: Arc<Sessions>,
    key: Option<Key>,
}

type Answer = Response<BoxBody<Bytes, Infallible>>;

impl<D: Desk> Door<D> {
    pub(super) fn new(
        desk: Arc<D>,
        address: SocketAddr,
        options: &Options,
        gone: &CancellationToken,
        tasks: &TaskTracker,
        streams: &CancellationToken,
    ) -> Self {
        let mut config = StreamableHttpServerConfig::default()
            .with_max_request_body_bytes(LONGEST_MESSAGE)
            .with_cancellation_token(streams.clone())
            .with_allowed_origins(options.origins.clone())
            .enforce_origin_validation();
        config.allowed_hosts.push(address.ip().to_string());
        config.allowed_hosts.extend(options.hosts.iter().cloned());
        if address.ip().is_unspecified() && options.hosts.is_empty() {
            // Nobody said what it is called; there is a key, which no page of another name could send.
            config = config.disable_allowed_hosts();
        }
        let mut manager = LocalSessionManager::default();
        // A run may say nothing for hours; whether a session is in use is known here better.
        manager.session_config.keep_alive = None;
        let (manager, sessions) = (Arc::new(manager), Arc::new(Sessions::default()));
        let (way, gone, tasks) = (Way::Http(sessions.clone()), gone.clone(), tasks.clone());
        let server = move || Ok(Server::new(desk.clone(), way.clone(), &gone, tasks.clone()));
        let service = StreamableHttpService::new(server, manager.clone(), config);
        Self { service, manager, sessions, key: options.key.clone() }
    }

    /// Answers a request.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        if let Some(key) = &self.key
            && !key.opens(request.headers().get(header::AUTHORIZATION))
        {
            let mut refused =
                says(StatusCode::UNAUTHORIZED, "this server needs a key: Authorization: Bearer …");
            refused.headers_mut().insert(header::WWW_AUTHENTICATE, http::HeaderValue::from_static("Bearer"));
            return refused;
        }
        if request.uri().path() != PATH {
            return says(StatusCode::NOT_FOUND, "MCP is under /mcp");
        }
        let session = session(request.headers()).map(SessionId::from);
        let stay = {
            let known = self.manager.sessions.read().await;
            match &session {
                Some(session) if known.contains_key(session) => Some(self.sessions.enter(session)),
                None if known.len() >= MOST_SESSIONS => {
                    return says(
                        StatusCode::SERVICE_UNAVAILABLE,
                        "there are too many sessions; close some of them",
                    );
                }
                _ => None,
            }
        };
        // Only what comes before the answer is bounded: a stream may be open for as long as its run takes.
        match tokio::time::timeout(ANSWER, self.service.handle(request)).await {
            Ok(answer) => answer.map(|body| Held { body, _stay: stay }.boxed()),
            Err(_) => says(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive"),
        }
    }

    /// Closes sessions that nobody has used for a while.
    pub(super) async fn close_idle(&self, idle: Duration) {
        let there = self.manager.sessions.read().await.keys().map(ToString::to_string).collect();
        for session in self.sessions.idle_of(there, idle) {
            let _ = self.manager.close_session(&session.into()).await;
        }
    }

    /// Returns whether there is no session.
    pub(super) async fn is_empty(&self) -> bool {
        self.manager.sessions.read().await.is_empty()
    }
}

/// Returns the session that a request says it belongs to.
pub(crate) fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id").and_then(|id| id.to_str().ok())
}

fn says(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *answer.status_mut() = status;
    answer
}
