//! Which clients are here, whether the gate is in them and holds, and what it cannot stop there.

use super::{Check, Outcome, canary, live, on_path};
use crate::commands::install::{binary, places};
use crate::gate::gate;
use crate::session::Session;
use crate::ui::moment::moment;
use abide_clients::canary::before_tool;
use abide_clients::inspect::{Gate, inspect};
use abide_clients::switches::switched_off;
use abide_clients::{Client, Places, Scope, Target, opencode, side_doors};
use abide_core::event::Timestamp;
use abide_hooks::plugin::misfit;
use std::fmt::Write as _;
use std::path::Path;

pub(super) fn clients(session: &Session<'_>, is_live: bool) -> Vec<Check> {
    let places = places(session);
    match binary(session) {
        Ok(binary) => Client::ALL
            .into_iter()
            .flat_map(|client| of_client(session, client, &places, &binary, is_live))
            .collect(),
        Err(failure) => vec![Check {
            what: "clients",
            result: Outcome::Worth,
            found: failure.to_string().trim_end().to_owned(),
            help: None,
        }],
    }
}

fn of_client(
    session: &Session<'_>,
    client: Client,
    places: &Places,
    binary: &Path,
    is_live: bool,
) -> Vec<Check> {
    let mut checks = Vec::new();
    for scope in Scope::ALL {
        let target = Target { client, scope, binary, places, server: None };
        match inspect(&target) {
            // No home is no place to look at.
            Ok(Gate::Absent) | Err(abide_clients::Error::NoHome) => {}
            Ok(Gate::Installed) => checks.push(installed(session, &target)),
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
                // What is there may still hold, or be the reason why nothing works.
                checks.extend(proved(session, &target).err().map(|why| broken(&target, why)));
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
    checks.extend(is_live.then(|| live::tried(session, client)));
    checks.extend(too_old(session, client));
    checks.extend(side_doors::of(client).iter().map(|door| Check {
        what: client.word(),
        result: Outcome::Worth,
        found: format!("cannot be stopped: {}", door.what),
        help: Some(door.instead.to_owned()),
    }));
    checks
}

fn installed(session: &Session<'_>, target: &Target<'_>) -> Check {
    let Target { client, scope, places, .. } = target;
    if let Err(why) = proved(session, target) {
        return broken(target, why);
    }
    let found = format!("abide is in {} for the {}, and denies a canary call", client.name(), scope.word());
    let mut check = Check { what: client.word(), result: Outcome::Good, found, help: None };
    let switches = switched_off(target).unwrap_or_default();
    if let Some(switch) = switches.iter().max_by_key(|switch| switch.certain) {
        check.result = if switch.certain { Outcome::Bad } else { Outcome::Worth };
        let place = session.place.shown(&switch.path);
        // Writing to a string cannot fail.
        let _ = write!(check.found, ", but {} (in {place})", switch.what);
        check.help = Some("until that is changed, it may not ask abide at all".to_owned());
        return check;
    }
    match asked_last(session, *client, places) {
        Some(Sign { at, version }) => {
            let _ = write!(check.found, "; it last asked here at {at}");
            if let Some(version) =
                version.filter(|version| misfit(version, env!("CARGO_PKG_VERSION")).is_some())
            {
                check.result = Outcome::Worth;
                let _ = write!(check.found, ", as abide {version}");
                check.help = Some(format!("start {} again, so that it uses this one", client.name()));
            }
        }
        None => {
            check.result = Outcome::Worth;
            check.found += ", but has not asked here yet";
            check.help =
                Some(format!("start {} here once: it says nothing when it skips its hooks", client.name()));
        }
    }
    check
}

/// A sign that a client asks.
struct Sign {
    at: String,
    version: Option<String>,
}

/// Returns when a client last began a session in this project, and asked.
fn asked_last(session: &Session<'_>, client: Client, places: &Places) -> Option<Sign> {
    let client = match client {
        Client::OpenCode => {
            let loaded = opencode::last_loaded(places)?;
            return Some(Sign { at: loaded.at, version: loaded.version });
        }
        Client::Claude => abide_core::policy::Client::ClaudeCode,
        Client::Codex => abide_core::policy::Client::Codex,
    };
    let heard = gate(session.surroundings)?.heard(client, &places.root).ok()??;
    Some(Sign { at: moment(Timestamp(heard.at)), version: Some(heard.version) })
}

/// Proves that what the client starts denies what it must.
fn proved(session: &Session<'_>, target: &Target<'_>) -> Result<(), String> {
    match before_tool(target) {
        Ok(Some(hook)) => canary::prove(session, target, &hook),
        Ok(None) => Err(format!("{} has no hook of abide before its tools", target.client.name())),
        Err(error) => Err(error.to_string()),
    }
}

fn broken(target: &Target<'_>, why: String) -> Check {
    Check {
        what: target.client.word(),
        result: Outcome::Bad,
        found: why,
        help: Some(format!("`{}` puts abide in again", command(target.client, target.scope))),
    }
}

/// The first Claude Code that can be told to deny when a hook fails.
const CLOSES: [u64; 3] = [2, 1, 295];

/// Returns a note about a client that lets tools through when abide fails.
fn too_old(session: &Session<'_>, client: Client) -> Option<Check> {
    let program = on_path(session, client.word()).filter(|_| client == Client::Claude)?;
    let version = version(session, &program)?;
    let numbers: Vec<u64> =
        version.split([' ', '.']).map_while(|part| part.parse().ok()).take(CLOSES.len()).collect();
    (numbers.len() == CLOSES.len() && numbers[..] < CLOSES[..]).then(|| Check {
        what: client.word(),
        result: Outcome::Worth,
        found: format!("{} {version} lets tools through when abide fails or is missing", client.name()),
        help: Some(format!("version {} or newer denies them", CLOSES.map(|part| part.to_string()).join("."))),
    })
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
    let ended = canary::run(
        session,
        program.to_str()?,
        vec!["--version".to_owned()],
        &session.place.start,
        Vec::new(),
        canary::PATIENCE,
    )?;
    ended
        .out
        .lines()
        .next()
        .map(|line| line.chars().take(80).collect())
        .filter(|line: &String| !line.is_empty())
}
