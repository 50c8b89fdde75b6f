//! Which clients are here, whether the gate is in them, and what it cannot stop there.
//!
//! This reads files. That a call is really denied can only be proved by one: such a canary belongs after the check of
//! the files in [`of_client`], and until a client has answered it, nothing here says that the gate holds.

use super::{Check, Outcome, on_path};
use crate::commands::install::{binary, places};
use crate::runs;
use crate::session::Session;
use abide_clients::inspect::{Gate, inspect};
use abide_clients::{Client, Places, Scope, Target, opencode, side_doors};
use abide_engine::port::{Line, Process as _, Signal, Spec, Stream};
use abide_process::LocalProcess;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// How long another abide may take to say its version, in milliseconds.
const PATIENCE: u64 = 5000;

pub(super) fn clients(session: &Session<'_>) -> Vec<Check> {
    let places = places(session);
    match binary(session) {
        Ok(binary) => {
            Client::ALL.into_iter().flat_map(|client| of_client(session, client, &places, &binary)).collect()
        }
        Err(failure) => vec![Check {
            what: "clients",
            result: Outcome::Worth,
            found: failure.to_string().trim_end().to_owned(),
            help: None,
        }],
    }
}

fn of_client(session: &Session<'_>, client: Client, places: &Places, binary: &Path) -> Vec<Check> {
    let mut checks = Vec::new();
    for scope in Scope::ALL {
        let target = Target { client, scope, binary, places };
        match inspect(&target) {
            // No home is no place to look at.
            Ok(Gate::Absent) | Err(abide_clients::Error::NoHome) => {}
            Ok(Gate::Installed) => checks.push(installed(&target)),
            Ok(Gate::Different { files, program }) => {
                let files: Vec<String> = files.iter().map(|file| session.place.shown(file)).collect();
                checks.push(Check {
                    what: client.word(),
                    result: Outcome::Bad,
                    found: format!(
                        "abide is in {} for the {}, but not as it should be in {}{}",
                        client.name(),
                        scope.word(),
                        files.join(", "),
                        program.map(|program| starts(session, &program)).unwrap_or_default()
                    ),
                    help: Some(format!("`{}` puts that right", command(client, scope))),
                });
            }
            Err(error) => checks.push(Check {
                what: client.word(),
                result: Outcome::Bad,
                found: format!("cannot tell whether abide is in {}: {error}", client.name()),
                help: Some("put the file right, or remove it".to_owned()),
            }),
        }
    }
    if checks.is_empty() {
        return missing(session, client, places).into_iter().collect();
    }
    checks.extend(side_doors::of(client).iter().map(|door| Check {
        what: client.word(),
        result: Outcome::Worth,
        found: format!("cannot be stopped: {}", door.what),
        help: Some(door.instead.to_owned()),
    }));
    checks
}

fn installed(target: &Target<'_>) -> Check {
    let Target { client, scope, places, .. } = target;
    let found = format!("abide is in {} for the {}", client.name(), scope.word());
    let mut check = Check { what: client.word(), result: Outcome::Good, found, help: None };
    if *client == Client::OpenCode {
        match opencode::last_loaded(places) {
            Some(moment) => {
                check.found = format!("{}; its plugin was last loaded here at {moment}", check.found);
            }
            None => {
                check.result = Outcome::Worth;
                check.found += ", but its plugin was never loaded in this project";
                check.help =
                    Some("start OpenCode here once: it says nothing when it cannot load a plugin".to_owned());
            }
        }
    }
    check
}

/// Returns a note about a client that is here without abide in it.
fn missing(session: &Session<'_>, client: Client, places: &Places) -> Option<Check> {
    let folder = match client {
        Client::Claude => places.claude(Scope::User),
        Client::OpenCode => places.opencode(Scope::User),
        Client::Codex => places.codex(Scope::User),
    };
    let here = on_path(session, client.word()).or_else(|| folder.ok().filter(|folder| folder.is_dir()))?;
    Some(Check {
        what: client.word(),
        result: Outcome::Worth,
        found: format!("{} is here ({}), and abide is not in it", client.name(), session.place.shown(&here)),
        help: Some(format!("`{}` puts it in", command(client, Scope::Project))),
    })
}

fn command(client: Client, scope: Scope) -> String {
    let scope = if scope == Scope::User { " --user" } else { "" };
    format!("abide install {}{scope}", client.word())
}

/// Says what another program is that a client starts as abide.
fn starts(session: &Session<'_>, program: &Path) -> String {
    let shown = program.display();
    if !program.is_file() {
        return format!("; it starts {shown}, which is not there");
    }
    match version(session, program) {
        Some(version) => format!("; it starts {shown}, which is {version}"),
        None => format!("; it starts {shown}, which does not say its version"),
    }
}

fn version(session: &Session<'_>, program: &Path) -> Option<String> {
    let written = Arc::new(Mutex::new(Vec::new()));
    let sink = |line: Line| {
        let written = Arc::clone(&written);
        async move {
            let mut written = written.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            // One short line is expected.
            if line.stream == Stream::Stdout && written.len() < 256 {
                written.extend(line.bytes);
            }
        }
    };
    let spec = Spec {
        program: program.to_str()?.to_owned(),
        arguments: vec!["--version".to_owned()],
        folder: session.place.start.clone(),
        variables: Vec::new(),
        without: Vec::new(),
        longest: Some(PATIENCE),
        mark: format!("doctor-{}", std::process::id()),
    };
    let process = LocalProcess::new();
    runs::block_on(process.run(spec, std::future::pending::<Signal>, sink)).ok()?.ok()?;
    let written = written.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let text = String::from_utf8_lossy(&written);
    text.lines().next().map(|line| line.chars().take(80).collect()).filter(|line: &String| !line.is_empty())
}
