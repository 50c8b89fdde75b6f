//! The connection to a server: started or reached when it is needed, ended with whoever holds it.

use super::bounded::BoundedClient;
use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, PaginatedRequestParams};
use rmcp::service::{Peer, RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use rustix::process::Pid;
use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr};

/// Where a server is.
#[derive(Clone)]
pub enum Address {
    /// A program that serves over its pipes.
    Command {
        /// The program and its arguments.
        words: Vec<String>,
        /// What its environment adds.
        variables: Vec<(String, String)>,
        /// The variables of our environment that it does not get, unless they are added.
        without: Vec<String>,
        /// Where it runs.
        folder: PathBuf,
    },
    /// A place on the network.
    Url {
        /// The address.
        url: String,
        /// What is sent with every request.
        headers: Vec<(String, String)>,
    },
}

/// Why a server cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// It cannot be started.
    #[error("`{program}` cannot be started: {why}")]
    Start {
        /// The program.
        program: String,
        /// The system's reason.
        why: String,
    },
    /// It was started or reached, and does not serve.
    #[error("the server does not answer: {why}{}", said.as_ref().map(|said| format!(" ({said})")).unwrap_or_default())]
    Silent {
        /// What went wrong.
        why: String,
        /// The end of what it wrote to standard error.
        said: Option<String>,
    },
    /// A header cannot be sent.
    #[error("the header `{0}` cannot be sent")]
    Header(String),
    /// It is abide itself.
    #[error(
        "it is abide itself: its agents have abide's tools already, and a second door would go round the gate"
    )]
    Abide,
    /// It has too many tools.
    #[error("the server lists more than {0} tools; name those that you need under `tools`")]
    Many(usize),
}

/// How much of what a server writes to standard error is kept.
const SAID: usize = 2_000;
/// How many pages of tools are asked for.
const PAGES: usize = 64;

/// A connection that is made when it is needed.
pub(super) struct Link {
    address: Address,
    patience: Duration,
    live: tokio::sync::Mutex<Option<Live>>,
}

/// A connection that there is.
struct Live {
    service: RunningService<RoleClient, ClientConfig>,
    _family: Option<Family>,
}

/// A server that was started: it goes with whoever holds this, and all that it started in its group goes too.
struct Family(Arc<Mutex<Option<Pid>>>);

impl Family {
    /// Follows a process to its end. What it leaves behind in its group ends then: it would hold the pipes open, and
    /// nobody would notice that the server is gone.
    fn of(mut leader: Child) -> Self {
        let group = leader.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let group = Arc::new(Mutex::new(group));
        let family = Self(Arc::clone(&group));
        tokio::spawn(async move {
            let _ = leader.wait().await;
            end(&group);
        });
        family
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        end(&self.0);
    }
}

/// Ends a group, once: its number may soon be somebody else's.
fn end(group: &Mutex<Option<Pid>>) {
    if let Some(group) = group.lock().unwrap_or_else(PoisonError::into_inner).take() {
        // It may be gone already.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
}

impl Link {
    pub(super) fn new(address: Address, patience: Duration) -> Self {
        Self { address, patience, live: tokio::sync::Mutex::new(None) }
    }

    /// Returns the other side, reaching it again if the connection was lost.
    pub(super) async fn peer(&self) -> Result<Peer<RoleClient>, LinkError> {
        let mut live = self.live.lock().await;
        match &*live {
            Some(found) if !found.service.is_closed() && !found.service.is_transport_closed() => {
                Ok(found.service.peer().clone())
            }
            _ => {
                // What is left of a lost one goes first.
                *live = None;
                let made = self.open().await?;
                Ok(live.insert(made).service.peer().clone())
            }
        }
    }

    /// Asks for the tools, page by page.
    pub(super) async fn tools(&self, most: usize) -> Result<Vec<rmcp::model::Tool>, LinkError> {
        let peer = self.peer().await?;
        let name =
            peer.peer_info().and_then(|info| info.server_info.as_ref().map(|about| about.name.clone()));
        if name.is_some_and(|name| name.eq_ignore_ascii_case("abide")) {
            *self.live.lock().await = None;
            return Err(LinkError::Abide);
        }
        let silent = |why: String| LinkError::Silent { why, said: None };
        let mut tools = Vec::new();
        let mut cursor = None;
        let asking = async {
            for _ in 0..PAGES {
                let page = peer
                    .list_tools(Some(PaginatedRequestParams::default().with_cursor(cursor.take())))
                    .await
                    .map_err(|error| silent(error.to_string()))?;
                tools.extend(page.tools);
                if tools.len() > most {
                    return Err(LinkError::Many(most));
                }
                cursor = page.next_cursor;
                if cursor.is_none() {
                    return Ok(());
                }
            }
            Err(LinkError::Many(most))
        };
        let asked = tokio::time::timeout(self.patience, asking).await;
        asked.map_err(|_| silent(format!("it did not list its tools within {:?}", self.patience)))??;
        Ok(tools)
    }

    async fn open(&self) -> Result<Live, LinkError> {
        let about = ClientConfig::new(
            ClientCapabilities::default(),
            Implementation::new("abide", env!("CARGO_PKG_VERSION")),
        );
        let late = |said| LinkError::Silent { why: format!("nothing came within {:?}", self.patience), said };
        match &self.address {
            Address::Command { words, variables, without, folder } => {
                let (mut leader, program) = start(words, variables, without, folder)?;
                let (input, output) = (leader.stdin.take(), leader.stdout.take());
                let said = listen(leader.stderr.take());
                let family = Family::of(leader);
                let (Some(input), Some(output)) = (input, output) else {
                    return Err(LinkError::Start { program, why: "it has no pipes".to_owned() });
                };
                let serving = about.serve_with_lifecycle((output, input), ClientLifecycleMode::Initialize);
                let told = || {
                    let said = said.lock().unwrap_or_else(PoisonError::into_inner);
                    let text = String::from_utf8_lossy(&said);
                    let text: String =
                        text.trim().chars().filter(|one| !one.is_control() || *one == ' ').collect();
                    (!text.is_empty()).then_some(text)
                };
                match tokio::time::timeout(self.patience, serving).await {
                    Ok(Ok(service)) => Ok(Live { service, _family: Some(family) }),
                    Ok(Err(error)) => {
                        // What it says while it ends is worth a moment.
                        tokio::time::sleep(Duration::from_millis(50)).await;
                        Err(LinkError::Silent { why: error.to_string(), said: told() })
                    }
                    Err(_) => Err(late(told())),
                }
            }
            Address::Url { url, headers } => {
                let mut sent = HashMap::new();
                for (name, value) in headers {
                    let header =
                        http::HeaderName::try_from(name).ok().zip(http::HeaderValue::try_from(value).ok());
                    let (known, mut value) = header.ok_or_else(|| LinkError::Header(name.clone()))?;
                    value.set_sensitive(true);
                    sent.insert(known, value);
                }
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).custom_headers(sent);
                let client = BoundedClient(client()?);
                let transport = StreamableHttpClientTransport::with_client(client, config);
                let serving = about.serve_with_lifecycle(transport, ClientLifecycleMode::Initialize);
                match tokio::time::timeout(self.patience, serving).await {
                    Ok(Ok(service)) => Ok(Live { service, _family: None }),
                    Ok(Err(error)) => Err(LinkError::Silent { why: error.to_string(), said: None }),
                    Err(_) => Err(late(None)),
                }
            }
        }
    }
}

/// Makes what speaks HTTP. It follows no redirect: a header with a key goes where its owner sent it.
fn client() -> Result<reqwest::Client, LinkError> {
    // Another part of the program may have chosen already, and it chose the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(10))
        .build()
        .map_err(|error| LinkError::Silent { why: error.to_string(), said: None })
}

/// Gives every server a mark of its own.
static STARTED: AtomicU64 = AtomicU64::new(0);

fn start(
    words: &[String],
    variables: &[(String, String)],
    without: &[String],
    folder: &std::path::Path,
) -> Result<(Child, String), LinkError> {
    let program = words.first().cloned().unwrap_or_default();
    let name = std::path::Path::new(&program).file_stem().and_then(|name| name.to_str());
    if name.is_some_and(|name| name.eq_ignore_ascii_case("abide")) {
        return Err(LinkError::Abide);
    }
    let mark = format!("mcp-{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
    let mut command = tokio::process::Command::new(&program);
    for name in without {
        command.env_remove(name);
    }
    let leader = command
        .args(&words[1..])
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .env("ABIDE_MARK", mark)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn();
    match leader {
        Ok(leader) => Ok((leader, program)),
        Err(error) => Err(LinkError::Start { program, why: error.to_string() }),
    }
}

/// Reads standard error for as long as there is one, and keeps its end.
fn listen(errors: Option<ChildStderr>) -> Arc<Mutex<Vec<u8>>> {
    let said = Arc::new(Mutex::new(Vec::new()));
    if let Some(mut errors) = errors {
        let into = Arc::clone(&said);
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            while let Ok(read @ 1..) = errors.read(&mut buffer).await {
                let mut said = into.lock().unwrap_or_else(PoisonError::into_inner);
                said.extend_from_slice(&buffer[..read]);
                let over = said.len().saturating_sub(SAID);
                said.drain(..over);
            }
        });
    }
    said
}
