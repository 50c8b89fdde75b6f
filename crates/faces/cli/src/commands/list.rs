//! `abide list`

use crate::session::Session;
use crate::ui::json::from_path;
use crate::ui::table::Table;
use crate::ui::{Ink, visible::visible};
use crate::{Exit, Failure};
use abide_catalog::{Entry, Listing, Status};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(crate) fn list(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let mut catalog = session.catalog();
    let listing = catalog.scan();
    if session.json {
        session.print_json(&to_json(&listing))?;
        return Ok(Exit::Done);
    }
    if listing.abilities.is_empty() {
        session.say(&nothing(session, &listing))?;
    } else {
        session.print(&table(session, &listing))?;
    }
    let troubled: Vec<&Entry> =
        listing.abilities.iter().filter(|entry| entry.status() == Status::Broken).collect();
    if let [first, ..] = &troubled[..] {
        let names = if troubled.len() == 1 { first.name.to_string() } else { "--all".to_owned() };
        session.say(&format!(
            "\n{} cannot be used: `abide validate {names}` says why\n",
            if troubled.len() == 1 {
                "1 ability".to_owned()
            } else {
                format!("{} abilities", troubled.len())
            }
        ))?;
    }
    if !listing.others.is_empty() {
        session.say("\nother files have problems too: `abide validate --all` shows them\n")?;
    }
    Ok(Exit::Done)
}

/// What a newcomer reads who has no ability yet.
fn nothing(session: &Session<'_>, listing: &Listing) -> String {
    if listing.disabled {
        return "abilities are switched off by `abilities.enabled: false`\n".to_owned();
    }
    let mut text = String::from("no abilities here yet\n\nabide looks in\n");
    for folder in &listing.folders {
        let note = if folder.exists { "" } else { "  (does not exist)" };
        let _ = writeln!(text, "  {}{note}", visible(&session.place.shown(&folder.path), true));
    }
    text.push_str("\nto start, run\n  abide init        writes a first ability that works\n  abide list        shows it\n");
    text
}

fn table(session: &Session<'_>, listing: &Listing) -> String {
    let mut table = Table::new(["", "NAME", "STEPS", "DESCRIPTION", "FILE"]);
    for entry in &listing.abilities {
        let steps = entry.summary.as_ref().map_or(String::new(), |summary| summary.steps.len().to_string());
        let (mark, ink) = match entry.status() {
            Status::Usable => ("✓", None),
            Status::Broken => ("✗", Some(Ink::Error)),
            Status::Shadowed => ("–", Some(Ink::Warning)),
        };
        table.row(
            ink,
            [mark.to_owned(), entry.name.to_string(), steps, about(entry), entry.shown.to_string()],
        );
    }
    table.render(session.style, (session.surroundings.width)())
}

fn about(entry: &Entry) -> String {
    match entry.status() {
        Status::Usable => {
            entry.summary.as_ref().map(|summary| one_line(&summary.description)).unwrap_or_default()
        }
        Status::Shadowed => {
            format!("shadowed by {}", entry.shadowed_by.as_deref().unwrap_or_default())
        }
        Status::Broken => {
            let errors = entry.problems.iter().filter(|problem| problem.is_error()).count();
            let first = entry.problems.iter().find(|problem| problem.is_error());
            let more = if errors > 1 { format!(" (and {} more)", errors - 1) } else { String::new() };
            format!("broken: {}{more}", first.map_or("", |problem| problem.message.as_str()))
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn to_json(listing: &Listing) -> Value {
    let abilities: Vec<Value> = listing.abilities.iter().map(entry_json).collect();
    let folders: Vec<Value> = listing
        .folders
        .iter()
        .map(|folder| json!({ "path": from_path(&folder.path), "origin": folder.origin.word(), "exists": folder.exists }))
        .collect();
    let others: Vec<Value> = listing
        .others
        .iter()
        .map(|file| json!({ "file": &*file.shown, "problems": file.problems.len() }))
        .collect();
    json!({
        "enabled": !listing.disabled,
        "abilities": abilities,
        "folders": folders,
        "other_files_with_problems": others,
    })
}

fn entry_json(entry: &Entry) -> Value {
    let summary = entry.summary.as_ref();
    let errors = entry.problems.iter().filter(|problem| problem.is_error()).count();
    json!({
        "name": &*entry.name,
        "status": entry.status().word(),
        "description": summary.map(|summary| &summary.description),
        "version": summary.and_then(|summary| summary.version.as_ref()),
        "steps": summary.map(|summary| summary.steps.iter().map(|step| step.word()).collect::<Vec<_>>()),
        "inputs": summary.map(|summary| {
            summary.signature.inputs.iter().map(|(name, ..)| &**name).collect::<Vec<&str>>()
        }),
        "origin": entry.origin.word(),
        "file": &*entry.shown,
        "path": from_path(&entry.path),
        "shadowed_by": entry.shadowed_by.as_deref(),
        "errors": errors,
        "warnings": entry.problems.len() - errors,
    })
}
