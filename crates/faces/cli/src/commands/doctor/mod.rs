//! `abide doctor`: whether abide can work here, and what to do where it cannot.

mod canary;
mod clients;
mod live;
mod models;
mod runners;
mod webhooks;

use crate::args::DoctorArguments;
use crate::session::Session;
use crate::ui::Ink;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_catalog::Status;
use abide_core::diagnostic::Diagnostic;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

/// One thing that was looked at.
struct Check {
    what: &'static str,
    result: Outcome,
    found: String,
    help: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Good,
    Worth,
    Bad,
}

impl Outcome {
    fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Worth => "note",
            Self::Bad => "failed",
        }
    }
}

pub(crate) fn doctor(session: &mut Session<'_>, arguments: &DoctorArguments) -> Result<Exit, Failure> {
    let checks = checks(session, arguments.live);
    let bad = checks.iter().any(|check| check.result == Outcome::Bad);
    if session.json {
        let list: Vec<Value> = checks
            .iter()
            .map(|check| json!({ "check": check.what, "result": check.result.word(), "found": check.found, "help": check.help }))
            .collect();
        session.print_json(&json!({ "ok": !bad, "checks": list }))?;
    } else {
        for check in &checks {
            let mut line = String::new();
            let (mark, ink) = match check.result {
                Outcome::Good => ("✓", Ink::Strong),
                Outcome::Worth => ("!", Ink::Warning),
                Outcome::Bad => ("✗", Ink::Error),
            };
            session.style.paint(&mut line, ink, mark);
            let _ = writeln!(line, " {:<14}{}", check.what, visible(&check.found, true));
            if let Some(help) = &check.help {
                let _ = writeln!(line, "  {:<14}= {}", "", visible(help, true));
            }
            session.print(&line)?;
        }
    }
    Ok(if bad { Exit::Problems } else { Exit::Done })
}

fn checks(session: &Session<'_>, is_live: bool) -> Vec<Check> {
    let mut checks = vec![Check {
        what: "version",
        result: Outcome::Good,
        found: format!("abide {}", env!("CARGO_PKG_VERSION")),
        help: None,
    }];
    checks.push(project(session));
    checks.extend(shells(session));
    checks.push(configuration(session));
    checks.push(abilities(session));
    checks.push(agents(session));
    checks.extend(models::models(session));
    checks.extend(runners::runners(session));
    checks.extend(clients::clients(session, is_live));
    checks.extend(webhooks::webhooks(session));
    checks
}

fn project(session: &Session<'_>) -> Check {
    let root = session.place.root();
    let (result, found, help) = if root.join(".git").exists() {
        (Outcome::Good, format!("{} is a repository", root.display()), None)
    } else {
        let help = "outside a repository only this folder's own .abide is looked at, not its parents'";
        (Outcome::Worth, format!("{} is not in a repository", root.display()), Some(help.to_owned()))
    };
    Check { what: "project", result, found, help }
}

fn shells(session: &Session<'_>) -> Vec<Check> {
    [
        ("sh", Outcome::Bad, "script steps need it"),
        ("bash", Outcome::Worth, "steps with `shell: bash` need it"),
    ]
    .into_iter()
    .map(|(name, missing, why)| match on_path(session, name) {
        Some(path) => {
            Check { what: name, result: Outcome::Good, found: path.display().to_string(), help: None }
        }
        None => Check {
            what: name,
            result: missing,
            found: "not found on PATH".to_owned(),
            help: Some(format!("install it: {why}")),
        },
    })
    .collect()
}

fn on_path(session: &Session<'_>, name: &str) -> Option<PathBuf> {
    crate::runners::on_path(session.surroundings, name)
}

fn configuration(session: &Session<'_>) -> Check {
    let configuration = session.configuration();
    let errors = configuration
        .problems
        .iter()
        .flat_map(|file| &file.problems)
        .filter(|problem| problem.is_error())
        .count();
    let files: Vec<String> = configuration.files.iter().map(|path| session.place.shown(path)).collect();
    let files = if files.is_empty() { "no file: the defaults apply".to_owned() } else { files.join(", ") };
    match errors {
        0 => Check { what: "configuration", result: Outcome::Good, found: files, help: None },
        _ => Check {
            what: "configuration",
            result: Outcome::Bad,
            found: format!("{errors} problems in {files}"),
            help: Some("`abide validate --all` shows them".to_owned()),
        },
    }
}

fn abilities(session: &Session<'_>) -> Check {
    let listing = session.catalog().scan();
    let count = |status| listing.abilities.iter().filter(|entry| entry.status() == status).count();
    let (usable, broken, shadowed) = (count(Status::Usable), count(Status::Broken), count(Status::Shadowed));
    let found = format!("{usable} usable, {broken} broken, {shadowed} shadowed");
    let (result, help) = if listing.disabled {
        (Outcome::Worth, Some("abilities are switched off by `abilities.enabled: false`".to_owned()))
    } else if broken > 0 {
        (Outcome::Bad, Some("`abide validate --all` says what is wrong".to_owned()))
    } else if usable == 0 {
        (Outcome::Worth, Some("`abide init` writes a first one".to_owned()))
    } else {
        (Outcome::Good, None)
    };
    Check { what: "abilities", result, found, help }
}

fn agents(session: &Session<'_>) -> Check {
    let agents = session.catalog().agents();
    let broken: Vec<&str> = agents
        .iter()
        .filter(|agent| agent.problems.iter().any(Diagnostic::is_error))
        .map(|agent| &*agent.name)
        .collect();
    let (result, help) = if broken.is_empty() {
        (Outcome::Good, None)
    } else {
        (Outcome::Worth, Some(format!("these profiles have problems: {}", broken.join(", "))))
    };
    Check { what: "agents", result, found: format!("{} defined", agents.len()), help }
}
