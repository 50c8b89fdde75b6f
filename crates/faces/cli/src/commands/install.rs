//! `abide install` and `abide uninstall`: abide in the agent that a user already has, and out of it again.

use crate::args::{ClientArguments, ClientName, InstallArguments, Shared};
use crate::human::is_here;
use crate::remote::keyless;
use crate::session::Session;
use crate::ui::changes::changes;
use crate::ui::{Ink, json::from_path};
use crate::{Exit, Failure};
use abide_clients::{Change, Client, Error, Places, Plan, Scope, Server, Target, plan};
use abide_sdk::{Abide, Options};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Puts abide into a client.
pub(crate) fn install(
    session: &mut Session<'_>,
    shared: &Shared,
    arguments: &InstallArguments,
) -> Result<Exit, Failure> {
    let (places, binary) = (places(session), binary(session)?);
    let server = server(session, shared)?;
    let target = target(&arguments.into, &places, &binary, server.as_ref());
    let plan = plan::install(target).map_err(|error| failure(&error))?;
    show(session, &plan, &arguments.into, "is in")?;
    if plan.changes.is_empty() || arguments.into.dry_run {
        return Ok(Exit::Done);
    }
    if plan.approvals > 0 && !arguments.yes {
        ask(session, &plan)?;
    }
    plan.apply().map_err(|error| failure(&error))?;
    if !session.json {
        session.say(&format!("\nabide is in {}; start it again to use it\n", target.client.name()))?;
        if target.client == Client::Codex && target.scope == Scope::Project {
            session.say(
                "Codex reads a project's hooks only when it trusts the project, which it asks you itself\n",
            )?;
        }
    }
    Ok(Exit::Done)
}

/// Takes abide out of a client.
pub(crate) fn uninstall(session: &mut Session<'_>, arguments: &ClientArguments) -> Result<Exit, Failure> {
    let (places, binary) = (places(session), binary(session)?);
    let target = target(arguments, &places, &binary, None);
    let plan = plan::uninstall(target).map_err(|error| failure(&error))?;
    show(session, &plan, arguments, "is not in")?;
    if !arguments.dry_run {
        plan.apply().map_err(|error| failure(&error))?;
        if !plan.changes.is_empty() && !session.json {
            session.say(&format!("\nabide is out of {}\n", target.client.name()))?;
        }
    }
    Ok(Exit::Done)
}

/// Returns the server whose abilities the agent is given. That the variable names one is no reason to write it into a file.
fn server(session: &Session<'_>, shared: &Shared) -> Result<Option<Server>, Failure> {
    let Some(url) = &shared.server else {
        return match &shared.key_file {
            Some(_) => Err(keyless()),
            None => Ok(None),
        };
    };
    // An address that nothing can be asked at is not written down.
    Abide::new(&Options::new(url)).map_err(|error| Failure::new(Exit::Usage, error.to_string()))?;
    let key_file = shared.key_file.as_ref().map(|file| {
        // The client starts it in a folder of its own choice.
        let file = session.place.start.join(file);
        let text = file.to_str().map(str::to_owned);
        text.ok_or_else(|| failure(&Error::Path(file)))
    });
    Ok(Some(Server { url: url.clone(), key_file: key_file.transpose()? }))
}

fn target<'a>(
    arguments: &ClientArguments,
    places: &'a Places,
    binary: &'a Path,
    server: Option<&'a Server>,
) -> Target<'a> {
    let client = client(arguments);
    let scope = if arguments.user { Scope::User } else { Scope::Project };
    Target { client, scope, binary, places, server }
}

fn client(arguments: &ClientArguments) -> Client {
    match arguments.client {
        ClientName::Claude => Client::Claude,
        ClientName::Opencode => Client::OpenCode,
        ClientName::Codex => Client::Codex,
    }
}

/// Returns the folders that clients look at.
pub(crate) fn places(session: &Session<'_>) -> Places {
    let folder =
        |name| session.surroundings.variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = session.place.home.clone();
    let state_home = folder("XDG_STATE_HOME").or_else(|| home.as_ref().map(|home| home.join(".local/state")));
    Places {
        root: session.place.root(),
        home,
        config_home: session.place.config_home.clone(),
        state_home,
        claude_home: folder("CLAUDE_CONFIG_DIR"),
        codex_home: folder("CODEX_HOME"),
    }
}

/// Returns the program that clients are to start: this one, by its whole path, because their PATH may be another.
pub(in crate::commands) fn binary(session: &Session<'_>) -> Result<PathBuf, Failure> {
    let binary = session.surroundings.binary.clone().filter(|path| path.is_file());
    binary.ok_or_else(|| {
        Failure::new(
            Exit::System,
            "cannot tell where this program is: it was moved or replaced since it was started",
        )
        .help("run the command again")
    })
}

fn show(
    session: &mut Session<'_>,
    plan: &Plan<'_>,
    arguments: &ClientArguments,
    already: &str,
) -> Result<(), Failure> {
    let client = client(arguments);
    if session.json {
        let files: Vec<Value> = plan
            .changes
            .iter()
            .map(|change| json!({ "file": from_path(&change.path), "action": action(change) }))
            .collect();
        let document = json!({
            "client": client.word(),
            "scope": if arguments.user { "user" } else { "project" },
            "dry_run": arguments.dry_run,
            "changes": files,
            "approvals": plan.approvals,
            "notes": plan.notes,
        });
        return session.print_json(&document);
    }
    if plan.changes.is_empty() {
        session.say(&format!("nothing to do: abide {already} {}\n", client.name()))?;
    }
    let mut text = String::new();
    for change in &plan.changes {
        let title = format!("{} {}", action(change), session.place.shown(&change.path));
        session.style.paint(&mut text, Ink::Strong, &crate::ui::visible::visible(&title, true));
        text.push('\n');
        let (before, after) = (change.before.as_deref().unwrap_or(""), change.after.as_deref().unwrap_or(""));
        text += &changes(session.style, before, after);
    }
    session.print(&text)?;
    for note in &plan.notes {
        session.say(&format!("note: {note}\n"))?;
    }
    Ok(())
}

fn action(change: &Change) -> &'static str {
    match (&change.before, &change.after) {
        (None, _) => "create",
        (Some(_), Some(_)) => "change",
        (Some(_), None) => "remove",
    }
}

/// Asks a person to agree that Codex runs our hooks, which it does not do unasked.
fn ask(session: &mut Session<'_>, plan: &Plan<'_>) -> Result<(), Failure> {
    let refused = |message: &str| {
        Failure::new(Exit::Refused, format!("{message}; nothing was written"))
            .help("`--yes` approves them, `--dry-run` shows what would be written")
    };
    if !is_here(session.surroundings) {
        return Err(refused("Codex runs hooks only when a person has approved them"));
    }
    // What was typed before the question does not answer it; where nothing can be thrown away, nothing was typed.
    let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
    session.say(&format!(
        "\nCodex runs hooks only when you have approved them. Approve these {} of abide, and write all of the above? [y/N] ",
        plan.approvals
    ))?;
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    match (read, line.trim()) {
        (Ok(_), "y" | "Y" | "yes") => Ok(()),
        _ => Err(refused("the hooks were not approved")),
    }
}

fn failure(error: &Error) -> Failure {
    let exit = match error {
        Error::File(_) => Exit::System,
        Error::Edit { .. } | Error::Path(_) => Exit::Problems,
        Error::NoHome => Exit::NotFound,
    };
    let help = match error {
        Error::Edit { .. } => Some("the file is as it was; put it right, then run this again"),
        _ => None,
    };
    let failure = Failure::new(exit, error.to_string());
    match help {
        Some(help) => failure.help(help),
        None => failure,
    }
}
