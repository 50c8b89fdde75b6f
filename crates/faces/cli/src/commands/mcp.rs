//! `abide mcp`: serves abilities to the agent of the client that starts it.
//!
//! A client ends its servers when it ends, without waiting. What abide does itself must not end with it: a deployment would be cut
//! short because somebody closed a window. So the process that a client starts only holds the place of another one, in a session
//! of its own, which serves over the same pipes and, when the client is gone, brings the step that it is at to its end.
#![expect(
    clippy::disallowed_methods,
    reason = "the process that serves outlives this one, so no adapter holds it"
)]

use crate::args::{McpArguments, Shared};
use crate::desk::LocalDesk;
use crate::gate::keep_index;
use crate::runs;
use crate::session::Session;
use crate::{Exit, Failure};
use abide_gate::{Family, Relative};
use abide_mcp::Http;
use abide_mcp::desk::Desk;
use abide_mcp::http::{Key, Options, PATH};
use std::fs::File;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

/// How often it is looked whether the last run can be left.
const LOOK: Duration = Duration::from_millis(100);

pub(crate) fn mcp(
    session: &mut Session<'_>,
    shared: &Shared,
    arguments: &McpArguments,
) -> Result<Exit, Failure> {
    if arguments.key_file.is_some() && arguments.http.is_none() {
        return Err(Failure::new(Exit::Usage, "`--key-file` is for `--http` or `--server`")
            .help("name one of them, or leave it out"));
    }
    match (&arguments.client, arguments.http) {
        (_, Some(address)) => serve_http(session, shared, address, arguments.key_file.as_deref()),
        (None, None) => hold_the_place(session),
        (Some(client), None) => serve(session, shared, parse(client).filter(is_ours)),
    }
}

/// Serves over HTTP until it is told to end, and then until every run can be left.
fn serve_http(
    session: &mut Session<'_>,
    shared: &Shared,
    address: SocketAddr,
    key_file: Option<&Path>,
) -> Result<Exit, Failure> {
    let key = key_file.map(|file| read_key(&session.place.start.join(file))).transpose()?;
    let desk = Arc::new(LocalDesk::new(session.surroundings, shared, None));
    let floor = desk.floor();
    runs::block_on(async {
        let options = Options { key, ..Options::default() };
        let http = Http::bind(address, options)
            .await
            .map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
        session.say(&format!("serving on http://{}{PATH}; Ctrl-C ends\n", http.address()))?;
        http.serve(desk, told_to_end()?).await;
        while floor.leave() {
            tokio::time::sleep(LOOK).await;
        }
        Ok(Exit::Done)
    })?
}

fn read_key(file: &Path) -> Result<Key, Failure> {
    let failed = |why: String| Failure::new(Exit::Usage, format!("the key in {}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| failed(error.to_string()))?;
    Key::new(text.trim_end()).map_err(|error| failed(error.to_string()))
}

/// Waits until somebody ends this process.
fn told_to_end() -> Result<impl Future<Output = ()> + Send, Failure> {
    let listen = |kind| {
        signal(kind)
            .map_err(|error| Failure::new(Exit::System, format!("cannot listen for signals: {error}")))
    };
    let (mut ended, mut interrupted) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = ended.recv() => {}
            _ = interrupted.recv() => {}
        }
    })
}

/// Starts the process that serves, and waits for it.
fn hold_the_place(session: &Session<'_>) -> Result<Exit, Failure> {
    let failed = |error| Failure::new(Exit::System, format!("cannot start the server: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let family = Family::of_this();
    let client = family.parent().map(|parent| format!("{}:{}", parent.process, parent.started));
    let status = Command::new(program)
        .arg("-C")
        .arg(&session.place.start)
        .args(["mcp", "--for", client.as_deref().unwrap_or_default()])
        .status()
        .map_err(failed)?;
    Ok(if status.success() { Exit::Done } else { Exit::System })
}

/// Serves a desk that drives no runs until the client is gone.
pub(crate) fn serve_desk(desk: impl Desk) -> Result<Exit, Failure> {
    runs::block_on(async {
        let served = abide_mcp::serve_stdio(Arc::new(desk), told_to_end()?).await;
        let failed = |error| Failure::new(Exit::System, format!("cannot serve: {error}"));
        served.map(|()| Exit::Done).map_err(failed)
    })?
}

fn parse(client: &str) -> Option<Relative> {
    let (process, started) = client.split_once(':')?;
    Some(Relative { process: process.parse().ok()?, started: started.to_owned() })
}

/// Returns whether a client is the one that started the process which holds this one's place.
///
/// Whoever else says so, like an agent in its shell, would take the tickets of the client's hooks and be asked what only its
/// user may answer.
fn is_ours(client: &Relative) -> bool {
    let family = Family::of_this();
    let [holder, starter, ..] = &family.0[..] else { return false };
    let program = |process: &str| std::fs::read_link(format!("/proc/{process}/exe")).ok();
    let same = program("self").is_some_and(|own| program(&holder.process.to_string()) == Some(own));
    same && starter == client
}

/// Serves until the client is gone, and then until every run can be left.
fn serve(session: &Session<'_>, shared: &Shared, client: Option<Relative>) -> Result<Exit, Failure> {
    let failed = |what: String| Failure::new(Exit::System, format!("cannot serve: {what}"));
    // It fails only for the leader of a group, which is in a session of its own already.
    let _ = rustix::process::setsid();
    keep_index(session.surroundings, &session.place);
    let desk = Arc::new(LocalDesk::new(session.surroundings, shared, client));
    let floor = desk.floor();
    runs::block_on(async {
        let served = abide_mcp::serve_stdio(desk, told_to_end()?).await;
        // A client that waits for the end of its server waits for the end of these.
        if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
            let _ = rustix::stdio::dup2_stdout(&nowhere);
            let _ = rustix::stdio::dup2_stderr(&nowhere);
        }
        while floor.leave() {
            tokio::time::sleep(LOOK).await;
        }
        served.map(|()| Exit::Done).map_err(|error| failed(error.to_string()))
    })?
}
