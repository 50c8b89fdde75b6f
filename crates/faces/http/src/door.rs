//! Who is let in, and with what: everything that is looked at before something is done.
//!
//! In this order: the name that the server was called by, the page that a browser speaks for, the key, how often its owner has
//! asked, the route, the scope, the body. A test walks every route through all of it.

use crate::ask::Ask;
use crate::bounds::{BODY, LONG_AT_ONCE, LONGEST_BODY, LONGEST_FILE, RATE, WRONG_KEYS, WRONG_KEYS_AT_ONCE};
use crate::house::House;
use crate::line::{Line, Log};
use crate::operations::{self, Equippable};
use crate::problem::{Code, Problem};
use crate::reply::{Content, Reply};
use crate::room::Rooms;
use crate::routes::{Access, BYTES, Route, find};
use crate::server::{Options, Times};
use crate::standing::{Guest, Standings};
use crate::who::Who;
use abide_engine::keys::{Scope, parts};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, header, request};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use serde_json::Value;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

/// Where requests come in.
pub(crate) struct Door<H> {
    pub(crate) house: Arc<H>,
    /// The names by which the server may be called; any, if nobody said one and a key is needed anyway.
    hosts: Option<Vec<String>>,
    needs_key: bool,
    rates: Rates,
    /// How many bodies that may be long are still read.
    long: Semaphore,
    /// The room for answers that take long.
    pub(crate) rooms: Rooms,
    standings: Arc<Standings>,
    pub(crate) times: Times,
    /// Says that the server ends, to streams that would go on.
    closing: watch::Sender<bool>,
    /// The list of capabilities, which stays as it was at the start, as it is sent.
    pub(crate) capabilities: OnceLock<Bytes>,
    /// Lists of capabilities that an agent can have: to put them together, with the schemas of their tools, takes longer than to write the agent.
    pub(crate) equippable: Equippable,
    log: Option<Log>,
}

struct Rates {
    callers: Option<crate::rates::Rates>,
    wrong_keys: crate::rates::Rates,
}

impl<H: House> Door<H> {
    pub(crate) fn new(house: Arc<H>, address: SocketAddr, options: &Options) -> Self {
        let mut hosts: Vec<String> = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned).to_vec();
        hosts.push(match address.ip() {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        });
        hosts.extend(options.hosts.iter().map(|host| host.to_lowercase()));
        let any = address.ip().is_unspecified() && options.hosts.is_empty();
        let rate = options.rate.unwrap_or(RATE);
        Self {
            house,
            hosts: (!any).then_some(hosts),
            needs_key: options.needs_key(address),
            closing: watch::channel(false).0,
            capabilities: OnceLock::new(),
            equippable: Equippable::default(),
            log: options.log.clone(),
            rooms: Rooms::default(),
            standings: Arc::default(),
            times: options.times,
            long: Semaphore::new(LONG_AT_ONCE),
            rates: Rates {
                callers: (rate > 0).then(|| crate::rates::Rates::new(rate, rate.saturating_mul(2))),
                wrong_keys: crate::rates::Rates::new(WRONG_KEYS, WRONG_KEYS_AT_ONCE),
            },
        }
    }

    /// Returns what says that the server ends.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// Returns whoever asks, for what goes on after they were let in.
    pub(crate) fn guest(&self, ask: &Ask) -> Guest<H> {
        let (house, standings) = (Arc::clone(&self.house), Arc::clone(&self.standings));
        Guest { house, standings, who: ask.who.clone() }
    }

    /// Ends every stream.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Answers a request, counts it, and says so to the log.
    pub(crate) async fn answer(&self, peer: IpAddr, request: Request<Incoming>) -> Response<Content> {
        let begun = Instant::now();
        let (head, body) = request.into_parts();
        let mut line = Line::of(peer, &head);
        // Whoever wants the head alone is told what GET would say; what goes on for as long as somebody listens has no other part.
        let only_head = head.method == Method::HEAD;
        let method = if only_head { &Method::GET } else { &head.method };
        let found = find(method, head.uri.path());
        let found = match found {
            Ok((route, _)) if only_head && route.goes_on() => {
                Err(Problem::new(Code::NoMethod, "this address knows GET")
                    .header(header::ALLOW, HeaderValue::from_static("GET")))
            }
            found => found,
        };
        let route = found.as_ref().ok().map(|(route, _)| *route);
        line.route = route.map(|route| route.path);
        let reply = match self.admit(peer, head, body, found, &mut line.who).await {
            Ok((route, ask)) => operations::audited(self, route, &line.id, ask).await,
            Err(problem) => Err(problem),
        };
        let reply = reply.unwrap_or_else(|problem| {
            line.code = Some(problem.code());
            problem.reply()
        });
        line.took = begun.elapsed();
        let mut response = reply.into_response();
        line.status = response.status().as_u16();
        let meter = self.house.meter();
        meter.request(route, line.status, line.took);
        response.body_mut().counted(|| meter.stream());
        response.headers_mut().extend(line.header());
        if let Some(log) = &self.log {
            log(&line);
        }
        response
    }

    async fn admit(
        &self,
        peer: IpAddr,
        head: request::Parts,
        body: Incoming,
        found: Result<(&'static Route, Vec<String>), Problem>,
        name: &mut Option<String>,
    ) -> Result<(&'static Route, Ask), Problem> {
        self.check_host(&head)?;
        check_origin(&head.headers)?;
        let who = self.who(peer, &head.headers).await?;
        *name = who.as_ref().map(|who| who.name().to_owned());
        // Who is not let in is not told what there is.
        let open = matches!(&found, Ok((route, _)) if route.access == Access::Open);
        let who = match who {
            Some(who) => who,
            None if open => Who::Unsigned,
            None => {
                return Err(Problem::unauthorized(
                    Code::NoKey,
                    "this server needs a key: Authorization: Bearer abide_…",
                )
                .help("`abide key create NAME` makes one"));
            }
        };
        if !open && let Some(rates) = &self.rates.callers {
            rates.take(who.counted()).map_err(|wait| too_many("too many requests", wait))?;
        }
        let (route, path) = found?;
        if let Access::Scope(scope) = route.access
            && !who.may(scope)
        {
            return Err(no_scope(&who, scope));
        }
        let body = match route.body {
            Some(BYTES) => {
                // Each may be long: not many are held at once.
                let _room = self.long.acquire().await;
                whole(body, LONGEST_FILE).await?
            }
            // Nothing, of no kind, is what no form of a foreign page sends either: a browser says for which page it asks.
            Some(_)
                if route.may_be_bare()
                    && body.is_end_stream()
                    && !head.headers.contains_key(header::CONTENT_TYPE) =>
            {
                Bytes::from_static(b"{}")
            }
            Some(_) => {
                check_kind(route.takes, &head.headers)?;
                whole(body, LONGEST_BODY).await?
            }
            None => Bytes::new(),
        };
        let ask = Ask::new(route, who, path, head.uri.query().unwrap_or_default(), head.headers, body)?;
        Ok((route, ask))
    }

    /// Refuses a request for another server: a page of a foreign name that leads here asks for that name.
    fn check_host(&self, head: &request::Parts) -> Result<(), Problem> {
        let mut named = head.headers.get_all(header::HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return Err(Problem::new(Code::BadRequest, "the request must have one `Host`"));
        };
        let Some(hosts) = &self.hosts else { return Ok(()) };
        let host = host.to_str().unwrap_or_default();
        let known = |name: &str| {
            let name = without_port(name);
            hosts.iter().any(|host| host.eq_ignore_ascii_case(name))
        };
        let asked = head.uri.authority().is_none_or(|authority| known(authority.as_str()));
        if known(host) && asked {
            return Ok(());
        }
        Err(Problem::new(Code::ForeignHost, "this server is not called that")
            .help("`abide serve --host NAME` adds a name"))
    }

    /// Finds out who asks; nobody is known who brings no key where one is needed.
    async fn who(&self, peer: IpAddr, headers: &HeaderMap) -> Result<Option<Who>, Problem> {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let Some(authorization) = given.next() else {
            return Ok((!self.needs_key).then_some(Who::Unsigned));
        };
        let second = given.next().is_some();
        let found = match bearer(authorization).and_then(parts).filter(|_| !second) {
            None => None,
            Some((id, secret)) => {
                let kept = self
                    .house
                    .keys()
                    .find(id)
                    .await
                    .map_err(|error| Problem::new(Code::Unavailable, error.to_string()))?;
                kept.filter(|key| key.opened_by(secret))
            }
        };
        match found {
            Some(key) => Ok(Some(Who::Key(Box::new(key)))),
            None => {
                // Only whoever is wrong is slowed down: a neighbour must not be able to lock others out.
                let slow = |wait| too_many("too many wrong keys", wait);
                self.rates.wrong_keys.take(&peer.to_string()).map_err(slow)?;
                Err(Problem::unauthorized(Code::WrongKey, "the key is unknown, wrong or revoked"))
            }
        }
    }
}

/// Refuses what a browser sends for a page: there is no page that may use the server.
fn check_origin(headers: &HeaderMap) -> Result<(), Problem> {
    if headers.contains_key(header::ORIGIN) {
        return Err(Problem::new(Code::ForeignOrigin, "web pages may not use this server"));
    }
    Ok(())
}

fn bearer(authorization: &HeaderValue) -> Option<&str> {
    let (scheme, text) = authorization.to_str().ok()?.split_at_checked(7)?;
    scheme.eq_ignore_ascii_case("bearer ").then_some(text)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

fn no_scope(who: &Who, scope: Scope) -> Problem {
    let problem = match who {
        Who::Unsigned => Problem::new(
            Code::NoScope,
            format!(
                "this needs a key with the scope `{}`: without one, runs are only started and looked at",
                scope.word()
            ),
        )
        .help(format!("`abide key create NAME --scope {}` makes one", scope.word())),
        Who::Key(key) => {
            Problem::new(Code::NoScope, format!("the key of {} lacks the scope `{}`", key.name, scope.word()))
        }
    };
    problem.with("scope", Value::from(scope.word()))
}

fn too_many(what: &str, wait: Duration) -> Problem {
    let seconds = wait.as_secs() + 1;
    Problem::new(Code::TooMany, format!("{what}; try again in {seconds} s"))
        .header(header::RETRY_AFTER, HeaderValue::from(seconds))
}

/// Refuses a body that is not of the kind that the route takes: a form of a foreign page can send none of these.
fn check_kind(takes: &str, headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case(takes) {
        let code = if takes == "application/json" { Code::NotJson } else { Code::WrongKind };
        return Err(Problem::new(code, format!("send `Content-Type: {takes}`")));
    }
    Ok(())
}

/// Reads a body.
async fn whole(body: Incoming, longest: usize) -> Result<Bytes, Problem> {
    let read = tokio::time::timeout(BODY, Limited::new(body, longest).collect()).await;
    match read {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(Problem::new(Code::TooLong, format!("a body has at most {longest} bytes")))
        }
        Ok(Err(error)) => Err(Problem::new(Code::BadRequest, format!("the body broke off: {error}"))),
        Err(_) => Err(Problem::new(Code::TooSlow, "the body took too long to arrive")),
    }
}

/// Waits until the server ends.
pub(crate) async fn closed(closing: &mut watch::Receiver<bool>) {
    let _ = closing.wait_for(|closing| *closing).await;
}

/// What an operation answers.
pub(crate) type Answered = Result<Reply, Problem>;
