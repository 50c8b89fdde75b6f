//! `abide capability trust` and `untrust`: what a project brings along runs only after a human has looked at it.

use crate::capabilities::server_trust;
use crate::human::is_here;
use crate::session::Session;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_catalog::{BundleEntry, Origin, Trust, TrustKind};
use abide_core::definition::{Bundle, ServerSettings, ToolAction};
use abide_core::diagnostic::nearest;
use serde_json::json;
use std::fmt::Write as _;

/// Something that can be trusted: where, as what, and what it would run.
struct Thing {
    kind: TrustKind,
    at: String,
    digest: String,
    shown: String,
    runs: String,
}

pub(super) fn trust(session: &mut Session<'_>, id: &str, yes: bool) -> Result<Exit, Failure> {
    let thing = thing(session, id)?;
    let store = store(session)?;
    if store.holds(thing.kind, &thing.at, &thing.digest) {
        return told(session, id, "trusted", "is trusted already, as it is now");
    }
    if !yes {
        session.say(&format!("{} would run, as you:\n{}", thing.shown, thing.runs))?;
        if !is_here(session.surroundings) {
            return Err(Failure::new(Exit::Usage, "nobody can be asked here").help(
                "look at what it would run, then add `--yes`; in an agent's session this is yours to type",
            ));
        }
        session.say("trust it, until it changes? [y/N] ")?;
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line);
        read.map_err(|error| Failure::new(Exit::System, format!("cannot read the answer: {error}")))?;
        if !matches!(line.trim(), "y" | "Y" | "yes") {
            return Err(Failure::new(Exit::Refused, "nothing was trusted"));
        }
    }
    // What is trusted is what was shown: a file that changed meanwhile has another digest, and is asked about again.
    store
        .trust(thing.kind, &thing.at, &thing.digest)
        .map_err(|error| Failure::new(Exit::System, error.to_string()))?;
    told(session, id, "trusted", "is trusted, until it changes")
}

pub(super) fn untrust(session: &mut Session<'_>, id: &str) -> Result<Exit, Failure> {
    let thing = thing(session, id)?;
    let forgot = store(session)?
        .forget(thing.kind, &thing.at)
        .map_err(|error| Failure::new(Exit::System, error.to_string()))?;
    let how = if forgot { "is no longer trusted" } else { "was not trusted" };
    told(session, id, "untrusted", how)
}

fn told(session: &mut Session<'_>, id: &str, state: &str, how: &str) -> Result<Exit, Failure> {
    if session.json {
        session.print_json(&json!({ "id": id, "state": state }))?;
    } else {
        session.print(&format!("{id} {how}\n"))?;
    }
    Ok(Exit::Done)
}

fn store(session: &Session<'_>) -> Result<Trust, Failure> {
    Trust::of(&session.place).ok_or_else(|| {
        Failure::new(Exit::System, "there is no folder for your configuration").help("set HOME")
    })
}

fn thing(session: &Session<'_>, id: &str) -> Result<Thing, Failure> {
    let bundles = session.catalog().bundles();
    let found = bundles.iter().find(|entry| &*entry.id == id && entry.shadowed_by.is_none());
    match found {
        Some(entry) if entry.origin == Origin::Global => Err(own(id)),
        Some(entry) => bundle(entry),
        None => {
            let configuration = session.configuration();
            let servers = &configuration.config.capabilities;
            if let Some((_, settings)) = servers.iter().find(|(known, _)| known.as_str() == id) {
                return if settings.of_project { Ok(server(session, id, settings)) } else { Err(own(id)) };
            }
            let ids = bundles.iter().map(|entry| &*entry.id).chain(servers.iter().map(|(id, _)| id.as_str()));
            let failure = Failure::new(Exit::NotFound, format!("the project has no capability `{id}`"));
            Err(match nearest(id, ids) {
                Some(meant) => failure.help(format!("did you mean `{meant}`?")),
                None => failure.help("`abide capability list` shows all of them"),
            })
        }
    }
}

fn own(id: &str) -> Failure {
    Failure::new(Exit::Usage, format!("`{id}` is your own: nothing needs to be trusted"))
}

fn bundle(entry: &BundleEntry) -> Result<Thing, Failure> {
    let (Some(bundle), Some(digest)) = (&entry.bundle, &entry.digest) else {
        return Err(Failure::new(Exit::Problems, format!("{} cannot be read", entry.shown))
            .help("`abide validate` says what is wrong with it"));
    };
    Ok(Thing {
        kind: TrustKind::Capability,
        at: entry.trusted_as(),
        digest: digest.clone(),
        shown: entry.shown.to_string(),
        runs: runs(bundle),
    })
}

fn server(session: &Session<'_>, id: &str, settings: &ServerSettings) -> Thing {
    let (at, digest) = server_trust(&session.place, id, settings);
    let mut runs = String::new();
    // Writing to a string cannot fail.
    for line in settings.trusted_text().lines() {
        let _ = writeln!(runs, "    {}", visible(line, true));
    }
    let shown = format!("the MCP server `{id}` of the project's configuration");
    Thing { kind: TrustKind::Server, at, digest, shown, runs }
}

/// Returns what the tools of a capability run, one a paragraph.
fn runs(bundle: &Bundle) -> String {
    let mut text = String::new();
    for tool in &bundle.tools {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}:", tool.name.value);
        let lines: Vec<String> = match &tool.action {
            ToolAction::Command(words) => {
                vec![words.iter().map(|word| format!("{:?}", word.text())).collect::<Vec<_>>().join(" ")]
            }
            ToolAction::Run { script, .. } => script.text().lines().map(str::to_owned).collect(),
        };
        for line in lines {
            let _ = writeln!(text, "    {}", visible(&line, true));
        }
    }
    text
}
