//! One request to the server and its answer: the key, the time it may take, and when it is sent again.

use crate::error::{Error, Problem};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::error::Error as _;
use std::time::Duration;
use tokio::time::Instant;

/// How long a call may take in all, and how often it is sent again, when nothing is said.
const TIMEOUT: Duration = Duration::from_secs(30);
const RETRIES: u32 = 3;
/// The longest wait before something is sent again.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// The longest answer that is read whole, in bytes.
const LONGEST: usize = 64 << 20;

/// How to reach a server.
#[derive(Clone)]
pub struct Options {
    server: String,
    key: Option<String>,
    timeout: Duration,
    retries: u32,
}

/// A key is nobody's to read.
impl std::fmt::Debug for Options {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Options").field("server", &self.server).finish_non_exhaustive()
    }
}

impl Options {
    /// Names a server, such as `http://127.0.0.1:7070`.
    pub fn new(server: impl Into<String>) -> Self {
        Self { server: server.into(), key: None, timeout: TIMEOUT, retries: RETRIES }
    }

    /// Sets the key of `abide key create`; on loopback, looking and starting need none.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets how long a call may take in all; streams may take longer.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how often something is sent again that may be.
    #[must_use]
    pub fn retries(mut self, retries: u32) -> Self {
        self.retries = retries;
        self
    }
}

/// Whether the same request, sent twice, does what it does once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    May,
    Never,
}

/// What is sent with a request.
enum Body {
    Json(Value),
    Markdown(String),
    File(Vec<u8>),
}

/// A request.
pub(crate) struct Sent {
    method: Method,
    url: Url,
    headers: HeaderMap,
    body: Option<Body>,
    again: Again,
}

impl Sent {
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Result<Self, Error> {
        let value = HeaderValue::from_str(value)
            .map_err(|_| Error::Unsendable(format!("`{name}` cannot have this value")))?;
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Says that it does no harm to send it twice.
    pub(crate) fn again(mut self) -> Self {
        self.again = Again::May;
        self
    }

    /// Says that it is sent once.
    pub(crate) fn once(mut self) -> Self {
        self.again = Again::Never;
        self
    }
}

/// Sends requests.
pub(crate) struct Wire {
    client: Client,
    base: Url,
    key: Option<HeaderValue>,
    pub(crate) timeout: Duration,
    retries: u32,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Wire").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

impl Wire {
    pub(crate) fn new(options: &Options) -> Result<Self, Error> {
        // Somebody may have chosen one already: then theirs holds.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let wrong = |why: String| Error::Unsendable(format!("`{}` is not a server: {why}", options.server));
        let base = Url::parse(&options.server).map_err(|error| wrong(error.to_string()))?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() {
            return Err(wrong("it must begin with http:// or https://".to_owned()));
        }
        if !base.username().is_empty() || base.password().is_some() {
            return Err(Error::Unsendable("a key does not stand in the address of a server".to_owned()));
        }
        let key = options.key.as_deref().map(|key| HeaderValue::from_str(&format!("Bearer {}", key.trim())));
        let mut key = key.transpose().map_err(|_| Error::Unsendable("this is not a key".to_owned()))?;
        if let Some(key) = &mut key {
            key.set_sensitive(true);
        }
        let client = Client::builder()
            .user_agent(concat!("abide-sdk/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(options.timeout)
            // A key goes to the server that was named, and to no other.
            .redirect(Policy::none())
            .build()
            .map_err(|error| Error::Unsendable(reason(&error)))?;
        Ok(Self { client, base, key, timeout: options.timeout, retries: options.retries })
    }

    /// Returns what the server is called in messages.
    pub(crate) fn server(&self) -> String {
        self.base.as_str().trim_end_matches('/').to_owned()
    }

    /// Makes a request; each part of a path is one name, whatever is in it.
    pub(crate) fn ask(
        &self,
        method: Method,
        path: &str,
        parts: &[&str],
        query: &[(&str, String)],
    ) -> Result<Sent, Error> {
        let mut url = self.base.clone();
        {
            let unsendable = || Error::Unsendable("this server has no addresses".to_owned());
            let mut segments = url.path_segments_mut().map_err(|()| unsendable())?;
            segments.pop_if_empty();
            let mut given = parts.iter();
            for segment in path.trim_start_matches('/').split('/') {
                if segment != "{}" {
                    segments.push(segment);
                    continue;
                }
                // `.` and `..` would be taken for parts of the address, in every spelling.
                match given.next() {
                    Some(part) if !matches!(*part, "" | "." | "..") => segments.push(part),
                    part => {
                        return Err(Error::Unsendable(format!("`{}` is not a name", part.unwrap_or(&""))));
                    }
                };
            }
        }
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let again = if method == Method::GET { Again::May } else { Again::Never };
        Ok(Sent { method, url, headers: HeaderMap::new(), body: None, again })
    }

    pub(crate) fn post(&self, path: &str, parts: &[&str], body: Value) -> Result<Sent, Error> {
        Ok(Sent { body: Some(Body::Json(body)), ..self.ask(Method::POST, path, parts, &[])? })
    }

    pub(crate) fn patch(&self, path: &str, parts: &[&str], body: Value) -> Result<Sent, Error> {
        Ok(Sent { body: Some(Body::Json(body)), ..self.ask(Method::PATCH, path, parts, &[])? })
    }

    pub(crate) fn post_markdown(&self, path: &str, text: &str) -> Result<Sent, Error> {
        Ok(Sent { body: Some(Body::Markdown(text.to_owned())), ..self.ask(Method::POST, path, &[], &[])? })
    }

    pub(crate) fn put(
        &self,
        path: &str,
        parts: &[&str],
        query: &[(&str, String)],
        bytes: Vec<u8>,
    ) -> Result<Sent, Error> {
        Ok(Sent { body: Some(Body::File(bytes)), ..self.ask(Method::PUT, path, parts, query)? })
    }

    /// Reads a document.
    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str, parts: &[&str]) -> Result<T, Error> {
        let sent = self.ask(Method::GET, path, parts, &[])?;
        Ok(self.call(&sent).await?.0)
    }

    /// Sends a request and reads its answer, again if that may be and could help.
    pub(crate) async fn call<T: DeserializeOwned>(&self, sent: &Sent) -> Result<(T, HeaderMap), Error> {
        let (bytes, headers) = self.bytes(sent).await?;
        let value = serde_json::from_slice(&bytes);
        Ok((value.map_err(|error| self.foreign(format!("its answer: {error}")))?, headers))
    }

    /// Reads a text.
    pub(crate) async fn text(&self, path: &str, parts: &[&str]) -> Result<String, Error> {
        let (bytes, _) = self.bytes(&self.ask(Method::GET, path, parts, &[])?).await?;
        String::from_utf8(bytes).map_err(|error| self.foreign(format!("its answer: {error}")))
    }

    /// The same for an answer of any kind.
    pub(crate) async fn bytes(&self, sent: &Sent) -> Result<(Vec<u8>, HeaderMap), Error> {
        let deadline = Instant::now() + self.timeout;
        let late = || Error::Timeout { server: self.server(), limit: self.timeout };
        let mut tries = 0;
        loop {
            let answer = async {
                let response = self.open(sent).await?;
                let headers = response.headers().clone();
                Ok((self.whole(response).await?, headers))
            };
            let error = match tokio::time::timeout_at(deadline, answer).await {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => error,
                Err(_) => return Err(late()),
            };
            let wait = pause(&error, sent.again, tries).filter(|_| tries < self.retries);
            match wait {
                // What there was to wait for says more than that the time is over.
                Some(wait) if Instant::now() + wait < deadline => tokio::time::sleep(wait).await,
                _ => return Err(error),
            }
            tries += 1;
        }
    }

    /// Sends a request once, and returns its answer before it is read.
    pub(crate) async fn open(&self, sent: &Sent) -> Result<Response, Error> {
        let mut request =
            self.client.request(sent.method.clone(), sent.url.clone()).headers(sent.headers.clone());
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.clone());
        }
        if let Some(body) = &sent.body {
            request = match body {
                Body::Json(value) => request.header(CONTENT_TYPE, "application/json").body(value.to_string()),
                Body::Markdown(text) => request.header(CONTENT_TYPE, "text/markdown").body(text.clone()),
                Body::File(bytes) => {
                    request.header(CONTENT_TYPE, "application/octet-stream").body(bytes.clone())
                }
            };
        }
        let response = request.send().await.map_err(|error| self.lost(&error))?;
        if response.status().is_success() { Ok(response) } else { Err(self.refusal(response).await) }
    }

    async fn refusal(&self, response: Response) -> Error {
        let status = response.status();
        let kind =
            response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let is_problem = kind.starts_with("application/problem+json");
        let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        if !is_problem {
            let why = format!("it answers with status {}", status.as_u16());
            // What a proxy says in front of a server that is gone is the same as no answer.
            return match status {
                StatusCode::BAD_GATEWAY | StatusCode::SERVICE_UNAVAILABLE | StatusCode::GATEWAY_TIMEOUT => {
                    Error::Connection { server: self.server(), why }
                }
                _ => self.foreign(why),
            };
        }
        let bytes = match self.whole(response).await {
            Ok(bytes) => bytes,
            Err(error) => return error,
        };
        match (serde_json::from_slice::<Problem>(&bytes), serde_json::from_slice(&bytes)) {
            (Ok(problem), Ok(all)) => {
                let after = seconds.map(Duration::from_secs);
                Error::Problem(Box::new(Problem { all, after, ..problem }))
            }
            (Err(error), _) | (_, Err(error)) => self.foreign(format!("its refusal: {error}")),
        }
    }

    async fn whole(&self, mut response: Response) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        while let Some(part) = response.chunk().await.map_err(|error| self.lost(&error))? {
            bytes.extend_from_slice(&part);
            if bytes.len() > LONGEST {
                return Err(self.foreign(format!("its answer is longer than {LONGEST} bytes")));
            }
        }
        Ok(bytes)
    }

    pub(crate) fn foreign(&self, why: String) -> Error {
        Error::Foreign { server: self.server(), why }
    }

    pub(crate) fn lost(&self, error: &reqwest::Error) -> Error {
        Error::Connection { server: self.server(), why: reason(error) }
    }
}

/// Returns how long to wait before something is sent again, or nothing if that could do harm or no good.
pub(crate) fn pause(error: &Error, again: Again, tries: u32) -> Option<Duration> {
    let grown = Duration::from_millis(200).saturating_mul(2_u32.saturating_pow(tries)).min(LONGEST_WAIT);
    // Callers that failed together do not come back together.
    let spread = grown.mul_f64(0.5 + f64::from(uuid::Uuid::now_v7().as_bytes()[15]) / 512.0);
    match error {
        Error::Problem(problem) => {
            let asked = problem.after.unwrap_or(spread).min(LONGEST_WAIT);
            // Nothing was done for a caller who was too quick, whatever it was.
            let harmless = problem.status == 429 || again == Again::May;
            (harmless && matches!(problem.status, 408 | 429 | 502..=504)).then_some(asked)
        }
        Error::Connection { .. } if again == Again::May => Some(spread),
        _ => None,
    }
}

/// Says what the network says, without the address, which stands beside it.
fn reason(error: &reqwest::Error) -> String {
    let mut innermost: &dyn std::error::Error = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    match error.source() {
        Some(_) => innermost.to_string(),
        None => "the connection failed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(server: &str) -> Result<Wire, Error> {
        Wire::new(&Options::new(server).key("abide_a_b\n"))
    }

    #[test]
    fn a_name_is_one_part_of_an_address_whatever_is_in_it() {
        let wire = wire("http://host:1/at/").unwrap();
        let url = |name: &str| {
            let sent = wire.ask(Method::GET, "/v1/abilities/{}/plan", &[name], &[("a", "b&c".to_owned())]);
            sent.map(|sent| sent.url.to_string())
        };
        assert_eq!(url("team/x y?").unwrap(), "http://host:1/at/v1/abilities/team%2Fx%20y%3F/plan?a=b%26c");
        for name in ["", ".", ".."] {
            assert!(url(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_server_is_an_address_without_a_password() {
        for server in ["nothing", "file:///etc", "data:,x", "http://user:key@host"] {
            assert!(matches!(wire(server), Err(Error::Unsendable(_))), "{server}");
        }
        assert!(!format!("{:?}", Options::new("http://host").key("abide_secret")).contains("secret"));
        assert!(!format!("{:?}", wire("http://host").unwrap()).contains("abide_a_b"));
    }

    #[test]
    fn only_what_does_no_harm_is_sent_again() {
        let lost = Error::Connection { server: String::new(), why: String::new() };
        let said = |status| {
            let problem = serde_json::json!({ "code": "x", "status": status, "detail": "" });
            Error::Problem(Box::new(serde_json::from_value(problem).unwrap()))
        };
        assert!(pause(&lost, Again::May, 0).is_some() && pause(&lost, Again::Never, 0).is_none());
        assert!(pause(&said(503), Again::May, 0).is_some() && pause(&said(503), Again::Never, 0).is_none());
        assert!(pause(&said(429), Again::Never, 0).is_some());
        for status in [400, 401, 403, 404, 409, 422, 500] {
            assert!(pause(&said(status), Again::May, 0).is_none(), "{status}");
        }
        assert!(pause(&lost, Again::May, 1_000).unwrap() <= LONGEST_WAIT);
    }
}
