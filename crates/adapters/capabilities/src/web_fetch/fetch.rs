//! One request over all its hops, each of them checked, each within its time.
//!
//! Names are resolved by our own resolver at the moment of connecting, and what it returns is what is connected to: a
//! name that changes between a check and its use has no such moment. Redirects are followed here and not by the
//! client, so that every hop passes the same check.
//!
//! No proxy is used unless the user names one, and none of the environment: a proxy resolves names for us. Through one, what
//! a name means here is checked before each hop as far as this machine can resolve it; what it means to the proxy is the
//! proxy's to guard.

use super::names;
use super::target::{self, AllowedHost, Trust};
use abide_core::network::is_public;
use abide_engine::port::{Later, ToolError};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT, HeaderMap, LOCATION};
use reqwest::{Client, ClientBuilder, Method, Proxy, Response, redirect};
use std::error::Error;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::{Instant, timeout, timeout_at};
use url::Url;

/// Finds the addresses of a name.
pub type Lookup = Arc<dyn Fn(String) -> Later<std::io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Looks names up as this machine does.
pub(super) fn system_lookup() -> Lookup {
    Arc::new(|name| Box::pin(async move { names::addresses(&name).await }))
}

/// What bounds a request.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    /// How long a server has to begin its answer.
    pub(super) first_byte: Duration,
    /// How long the body may take.
    pub(super) body: Duration,
    /// How many bytes of the body are kept, after it was unpacked.
    pub(super) bytes: usize,
    /// How many redirects are followed.
    pub(super) hops: usize,
}

/// Makes requests.
pub(super) struct Fetcher {
    pub(super) bounds: Bounds,
    pub(super) allowed: Vec<AllowedHost>,
    lookup: Lookup,
    proxy: Option<String>,
    // Two, so that no connection to an allowed host is ever used for another one.
    public: OnceLock<Result<Client, String>>,
    trusted: OnceLock<Result<Client, String>>,
}

/// What was received.
pub(super) struct Received {
    /// Where it came from, after all redirects.
    pub(super) url: Url,
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    /// What the header says about its length.
    pub(super) length: Option<u64>,
    pub(super) body: Option<Body>,
}

/// The beginning of a body, or all of it.
pub(super) struct Body {
    pub(super) bytes: Vec<u8>,
    pub(super) end: BodyEnd,
}

/// Why there is no more of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyEnd {
    /// It is all there.
    Whole,
    /// Its time was over.
    OutOfTime,
    /// There was more than is kept.
    TooLong,
}

impl Fetcher {
    pub(super) fn new(
        bounds: Bounds,
        allowed: Vec<AllowedHost>,
        lookup: Lookup,
        proxy: Option<String>,
    ) -> Self {
        Self { bounds, allowed, lookup, proxy, public: OnceLock::new(), trusted: OnceLock::new() }
    }

    pub(super) fn proxy(&self) -> Option<String> {
        self.proxy.clone()
    }

    /// Refuses a name that leads inside as far as this machine can tell, before a proxy is asked for it.
    async fn looked_up(&self, url: &Url) -> Result<(), ToolError> {
        let Some(url::Host::Domain(name)) = url.host() else { return Ok(()) };
        match (self.lookup)(name.to_owned()).await {
            Ok(found) if !found.iter().copied().all(is_public) => {
                Err(ToolError::Refused(target::not_public(name)))
            }
            // Behind a proxy many machines resolve no public names at all.
            _ => Ok(()),
        }
    }

    pub(super) fn lookup(&self) -> Lookup {
        Arc::clone(&self.lookup)
    }

    /// Fetches a URL; the body is left alone if `wants` does not want it.
    pub(super) async fn fetch(
        &self,
        url: Url,
        method: Method,
        wants: impl Fn(&HeaderMap) -> bool,
    ) -> Result<Received, ToolError> {
        let (url, response) = self.respond(url, &method).await?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let length = headers.get("content-length").and_then(|value| value.to_str().ok()?.parse().ok());
        let body =
            if method == Method::HEAD || !wants(&headers) { None } else { Some(self.body(response).await?) };
        Ok(Received { url, status, headers, length, body })
    }

    async fn respond(&self, mut url: Url, method: &Method) -> Result<(Url, Response), ToolError> {
        for _ in 0..=self.bounds.hops {
            let trust = target::check(&url, &self.allowed).map_err(ToolError::Refused)?;
            if trust == Trust::Public && self.proxy.is_some() {
                self.looked_up(&url).await?;
            }
            let request = self
                .client(trust)?
                .request(method.clone(), url.clone())
                .header(ACCEPT, "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.5");
            let response = timeout(self.bounds.first_byte, request.send())
                .await
                .map_err(|_| ToolError::Failed(self.no_response()))?
                .map_err(|error| failed(&url, &error))?;
            let next = match response.status().as_u16() {
                301 | 302 | 303 | 307 | 308 => response.headers().get(LOCATION),
                _ => None,
            };
            let Some(next) = next else { return Ok((url, response)) };
            let next = next.to_str().ok().and_then(|next| url.join(next).ok());
            url =
                next.ok_or_else(|| ToolError::Failed("the server redirects to what is no URL".to_owned()))?;
        }
        Err(ToolError::Failed(format!("the server redirects more than {} times", self.bounds.hops)))
    }

    async fn body(&self, mut response: Response) -> Result<Body, ToolError> {
        let until = Instant::now() + self.bounds.body;
        let mut bytes = Vec::new();
        loop {
            let chunk = match timeout_at(until, response.chunk()).await {
                Err(_) => return Ok(Body { bytes, end: BodyEnd::OutOfTime }),
                Ok(Err(error)) => {
                    let reason = reason(&error);
                    return Err(ToolError::Failed(format!(
                        "the answer broke off after {} bytes: {reason}",
                        bytes.len()
                    )));
                }
                Ok(Ok(None)) => return Ok(Body { bytes, end: BodyEnd::Whole }),
                Ok(Ok(Some(chunk))) => chunk,
            };
            let room = self.bounds.bytes - bytes.len();
            bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                // Dropping the response closes the connection: the rest is neither sent nor unpacked.
                return Ok(Body { bytes, end: BodyEnd::TooLong });
            }
        }
    }

    fn no_response(&self) -> String {
        let seconds = self.bounds.first_byte.as_secs_f64();
        let unit = if self.bounds.first_byte == Duration::from_secs(1) { "second" } else { "seconds" };
        format!("server did not respond within {seconds} {unit}")
    }

    fn client(&self, trust: Trust) -> Result<&Client, ToolError> {
        let made = match trust {
            Trust::Public => self.public.get_or_init(|| match &self.proxy {
                // The resolver would look the proxy itself up, which may well be inside.
                Some(proxy) => {
                    let proxy = Proxy::all(proxy).map_err(|error| format!("the proxy: {error}"))?;
                    made(Client::builder().no_proxy().proxy(proxy))
                }
                None => client(Guarded { lookup: self.lookup(), trust }),
            }),
            Trust::Allowed => self.trusted.get_or_init(|| client(Guarded { lookup: self.lookup(), trust })),
        };
        made.as_ref().map_err(|error| ToolError::Internal(error.clone()))
    }
}

fn client(resolver: Guarded) -> Result<Client, String> {
    made(Client::builder().dns_resolver(Arc::new(resolver)).no_proxy())
}

fn made(builder: ClientBuilder) -> Result<Client, String> {
    // Whoever was first has installed the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    builder
        .redirect(redirect::Policy::none())
        .referer(false)
        .pool_max_idle_per_host(2)
        .pool_idle_timeout(Duration::from_secs(10))
        .user_agent(concat!("abide/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| format!("the HTTP client cannot be made: {error}"))
}

/// Resolves names, and refuses those that lead inside.
struct Guarded {
    lookup: Lookup,
    trust: Trust,
}

/// A name that leads inside.
#[derive(Debug, thiserror::Error)]
#[error("{}", target::not_public(name))]
struct Inside {
    name: String,
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let found = (self.lookup)(name.as_str().to_owned());
        let trust = self.trust;
        Box::pin(async move {
            let found = found.await?;
            // One bad address among good ones is an attack, not an accident.
            if trust == Trust::Public && !found.iter().copied().all(is_public) {
                return Err(Inside { name: name.as_str().to_owned() }.into());
            }
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

fn failed(url: &Url, error: &reqwest::Error) -> ToolError {
    let mut source = error.source();
    while let Some(inner) = source {
        if let Some(inside) = inner.downcast_ref::<Inside>() {
            return ToolError::Refused(inside.to_string());
        }
        source = inner.source();
    }
    let host = url.host_str().unwrap_or_default();
    ToolError::Failed(format!("`{host}` cannot be fetched: {}", reason(error)))
}

/// Returns what went wrong, without the URL and without the layers that it went through.
fn reason(error: &reqwest::Error) -> String {
    let mut last = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        last = inner.to_string();
        source = inner.source();
    }
    last.chars().take(300).collect()
}
