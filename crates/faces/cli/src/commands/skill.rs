//! `abide skill …`: which skills there are, why one cannot be used, what it may do, and what it says.

use crate::args::{SkillArguments, SkillCommand};
use crate::runs::block_on;
use crate::session::{Session, secret_variables};
use crate::skills::{Loaded, Reader, Shelf, Standing, Unfit};
use crate::ui::Ink;
use crate::ui::diagnostics::{Counts, FileReport, render_terminal, summary, to_json};
use crate::ui::table::Table;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_catalog::{Origin, SkillEntry, SkillSummary, read_text};
use abide_core::definition::{AgentName, AgentProfile};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::skill::standard;
use abide_core::skill::text::Arguments;
use abide_core::source::{Span, Spanned};
use abide_formats::skill::Reading;
use abide_process::LocalProcess;
use abide_skills::{Commands, Setting, expand};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::fmt::Write as _;

mod running;
mod trusting;

pub(crate) fn skill(session: &mut Session<'_>, arguments: &SkillArguments) -> Result<Exit, Failure> {
    match &arguments.command {
        SkillCommand::List { names: true, .. } => names(session),
        SkillCommand::List { agent, names: false } => list(session, agent.as_deref()),
        SkillCommand::Show { name } => show(session, name),
        SkillCommand::Validate { names, deny_warnings } => validate(session, names, *deny_warnings),
        SkillCommand::Trust { name } => trusting::trust(session, name),
        SkillCommand::Untrust { name } => trusting::untrust(session, name),
        SkillCommand::Lock => trusting::lock(session),
        SkillCommand::Verify => trusting::verify(session),
        SkillCommand::Expand { name, arguments } => expanded(session, name, arguments),
        SkillCommand::Run { name, arguments, agent, model } => {
            running::run(session, &running::Typed { name, arguments, agent, model: model.as_deref() })
        }
    }
}

/// How a skill stands, in one word, with the reason.
fn state(shelf: &Shelf, entry: &SkillEntry) -> (&'static str, Option<String>) {
    match (&entry.shadowed_by, &entry.summary) {
        (_, None) => ("dropped", entry.problems.first().map(|problem| problem.message.clone())),
        (Some(winner), _) => ("shadowed", Some(format!("{winner} wins"))),
        (None, Some(_)) => match shelf.lacks(&entry.name) {
            [] => ("available", None),
            lacks => ("unavailable", Some(lacks.join("; "))),
        },
    }
}

fn list(session: &mut Session<'_>, agent: Option<&str>) -> Result<Exit, Failure> {
    let shelf = Shelf::open(session);
    let agent = agent.map(|name| profile(&shelf, name)).transpose()?;
    let allowed = agent.as_ref().map(|agent| shelf.names(Some(agent)));
    let wanted = |entry: &&SkillEntry| {
        let is_winner = entry.shadowed_by.is_none() && entry.summary.is_some();
        allowed.as_ref().is_none_or(|names| is_winner && names.contains(&&*entry.name))
    };
    let entries: Vec<&SkillEntry> = shelf.skills.entries.iter().filter(wanted).collect();
    if session.json {
        let skills: Vec<Value> = entries.iter().map(|entry| entry_json(&shelf, entry)).collect();
        let others: Vec<Value> = shelf
            .skills
            .others
            .iter()
            .map(|(path, problem)| json!({ "path": path.display().to_string(), "message": problem.message }))
            .collect();
        session.print_json(&json!({ "skills": skills, "problems": others }))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["", "NAME", "STATE", "DESCRIPTION", "FILE"]);
    for entry in &entries {
        let (word, why) = state(&shelf, entry);
        let (mark, ink) = match word {
            "available" => ("✓", None),
            "shadowed" => ("–", Some(Ink::Warning)),
            _ => ("✗", Some(Ink::Error)),
        };
        let description = entry.summary.as_ref().and_then(|summary| summary.description.as_deref());
        let unclear = unclear(entry);
        let about = match (&why, unclear) {
            (Some(why), _) => one_line(why).into_owned().into(),
            (None, []) => one_line(description.unwrap_or("(no description)")),
            (None, unclear) => {
                let description = description.unwrap_or("(no description)");
                one_line(&format!("({}) {description}", unclear.join("; "))).into_owned().into()
            }
        };
        let mark = if mark == "✓" && !unclear.is_empty() { "?" } else { mark };
        table.row(ink, [mark.into(), (&*entry.name).into(), word.into(), about, (&*entry.shown).into()]);
    }
    if entries.is_empty() {
        session.say(
            "no skills were found: a skill is a folder with a SKILL.md, for example in .abide/skills\n",
        )?;
    } else {
        let text = table.render(session.style, (session.surroundings.width)());
        session.print(&text)?;
    }
    for (path, problem) in &shelf.skills.others {
        let shown = session.place.shown(path);
        session.say(&visible(&format!("{shown}: {}", problem.message), true))?;
        session.say("\n")?;
    }
    // The process ends now. To give back what thousands of skills hold, piece by piece, would take longer than to list them.
    std::mem::forget(table);
    std::mem::forget(shelf);
    Ok(Exit::Done)
}

/// Returns what a skill says it requires and nobody can look for: it does not make the skill unavailable, and everybody sees it.
fn unclear(entry: &SkillEntry) -> &[String] {
    entry.summary.as_ref().map_or(&[], |summary| summary.requires.unclear.as_slice())
}

/// Prints the names that a person can call, for scripts.
///
/// What such a script puts on a command line must mean itself there, and a project may call its skills anything: a name
/// with other characters has to be typed.
fn names(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let shelf = Shelf::open(session);
    let is_plain = |name: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':');
        !name.starts_with('-') && name.bytes().all(plain)
    };
    let names: Vec<&str> =
        shelf.for_people().map(|summary| &*summary.name).filter(|name| is_plain(name)).collect();
    if session.json {
        session.print_json(&json!({ "names": names }))?;
        return Ok(Exit::Done);
    }
    let text = names.iter().fold(String::new(), |text, name| text + name + "\n");
    session.print(&text)?;
    Ok(Exit::Done)
}

/// Returns a text with one blank where it has white space.
fn one_line(text: &str) -> Cow<'_, str> {
    // Most have, and there may be many: every byte is looked at, so that many are looked at together.
    let plain = text.bytes().fold(true, |plain, byte| plain & (b' '..=b'~').contains(&byte));
    if plain && !text.starts_with(' ') && !text.ends_with(' ') && !text.contains("  ") {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    Cow::Owned(line)
}

/// Returns the profile of an agent, with what the configuration says about it.
fn profile(shelf: &Shelf, name: &str) -> Result<AgentProfile, Failure> {
    let unknown = || Failure::new(Exit::NotFound, format!("no agent is called `{name}`"));
    let found = shelf.catalog.agents().into_iter().find(|agent| &*agent.name == name).ok_or_else(unknown)?;
    let parsed = AgentName::parse(name).map_err(|_| unknown())?;
    let profile = found.profile.unwrap_or_else(|| AgentProfile::named(Spanned::new(parsed, Span::default())));
    let settings = shelf.catalog.configuration().config.agents.iter();
    Ok(match settings.into_iter().find(|(known, _)| known.as_str() == name) {
        Some((_, settings)) => profile.configured(settings),
        None => profile,
    })
}

fn entry_json(shelf: &Shelf, entry: &SkillEntry) -> Value {
    let (word, why) = state(shelf, entry);
    let summary = entry.summary.as_deref();
    json!({
        "name": &*entry.name,
        "state": word,
        "reason": why,
        "description": summary.and_then(|summary| summary.description.as_deref()),
        "file": entry.path.display().to_string(),
        "origin": entry.origin.word(),
        "max_turns": summary.map(|summary| summary.max_turns),
        "has_commands": summary.map(|summary| summary.has_commands),
        "requires": summary.map(requires_json),
        "unclear": unclear(entry),
        "problems": entry.problems.iter().map(problem_json).collect::<Vec<_>>(),
    })
}

fn requires_json(summary: &SkillSummary) -> Value {
    let needs = summary.requires.needs.iter();
    needs.map(|need| json!({ "kind": need.kind.word(), "name": need.name })).collect()
}

fn problem_json(problem: &Diagnostic) -> Value {
    json!({ "code": problem.code.id(), "severity": problem.severity().word(), "message": problem.message })
}

/// Finds a skill by its name, whether it can be used or not.
fn find<'s>(shelf: &'s Shelf, name: &str) -> Result<&'s SkillEntry, Failure> {
    if let Some((entry, _)) = shelf.skills.find(name) {
        return Ok(entry);
    }
    if let Some(entry) = shelf.skills.entries.iter().find(|entry| &*entry.name == name) {
        return Ok(entry);
    }
    let failure = Failure::new(Exit::NotFound, format!("no skill is called `{name}`"));
    Err(failure.help(match shelf.skills.nearest(name) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => "`abide skill list` shows every skill by its name".to_owned(),
    }))
}

/// Returns whether a skill may run its commands, in words.
fn trust_word(shelf: &Shelf, entry: &SkillEntry) -> String {
    if entry.origin != Origin::Project {
        return "yours: its commands run".to_owned();
    }
    match shelf.standing(entry.folder(), None) {
        Ok((Standing::Trusted, _)) => "trusted: its commands run".to_owned(),
        Ok((Standing::Changed, _)) => "changed since it was trusted: its commands do not run".to_owned(),
        Ok((Standing::Unknown, _)) => "not trusted: its commands do not run".to_owned(),
        Err(error) => format!("not trusted: {error}"),
    }
}

fn show(session: &mut Session<'_>, name: &str) -> Result<Exit, Failure> {
    let shelf = Shelf::open(session);
    let entry = find(&shelf, name)?;
    let (word, why) = state(&shelf, entry);
    let loaded = shelf.catalog.load_skill(entry).reading;
    let digest = shelf.digest(entry.folder(), None).ok();
    let exit = if entry.summary.is_some() { Exit::Done } else { Exit::Problems };
    if session.json {
        let mut shown = entry_json(&shelf, entry);
        shown["trust"] = json!(trust_word(&shelf, entry));
        shown["digest"] = json!(digest.map(|digest| digest.to_string()));
        if let Some(skill) = loaded.skill {
            let fields = skill.fields.iter();
            shown["fields"] = fields
                .map(|(key, value)| (key.clone(), abide_formats::json::to_json(value)))
                .collect::<serde_json::Map<_, _>>()
                .into();
            shown["body"] = json!(skill.body);
        }
        session.print_json(&shown)?;
        return Ok(exit);
    }
    // Writing to a string cannot fail.
    // A name or a description with line breaks in it must not look like the lines below, which are abide's own.
    let mut text = format!("{}\n", visible(&entry.name, true));
    if let Some(description) = entry.summary.as_ref().and_then(|summary| summary.description.as_deref()) {
        let _ = writeln!(text, "{}", description.trim().replace('\n', "\n    "));
    }
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let _ = writeln!(
        text,
        "\nstate     {word}{why}\nfile      {}\norigin    {}",
        entry.shown,
        entry.origin.word()
    );
    if let Some(summary) = &entry.summary {
        let _ = writeln!(text, "turns     {}", summary.max_turns);
        for need in &summary.requires.needs {
            let _ = writeln!(text, "requires  {need}");
        }
        for unclear in unclear(entry) {
            let _ = writeln!(text, "unclear   {unclear}");
        }
        let _ = writeln!(text, "commands  {}", if summary.has_commands { "yes" } else { "none" });
        let _ = writeln!(text, "trust     {}", trust_word(&shelf, entry));
    }
    if let Some(digest) = digest {
        let _ = writeln!(text, "digest    {digest}");
    }
    for problem in &entry.problems {
        let _ = writeln!(text, "{}   {}", problem.code, problem.message);
    }
    if let Some(skill) = loaded.skill {
        for (key, value) in &skill.fields {
            let _ = writeln!(text, "{key}: {value}");
        }
        let _ = writeln!(text, "\n{}", skill.body.trim());
    }
    let mut shown = String::with_capacity(text.len());
    for line in text.lines() {
        shown.push_str(&visible(line, true));
        shown.push('\n');
    }
    session.print(&shown)?;
    Ok(exit)
}

fn validate(session: &mut Session<'_>, names: &[String], deny_warnings: bool) -> Result<Exit, Failure> {
    let shelf = Shelf::open(session);
    for name in names {
        find(&shelf, name)?;
    }
    let wanted = |entry: &&SkillEntry| names.is_empty() || names.iter().any(|name| **name == *entry.name);
    let files: Vec<(String, Option<String>, Vec<Diagnostic>)> =
        shelf.skills.entries.iter().filter(wanted).map(|entry| checked(&shelf, entry)).collect();
    let others = shelf.skills.others.iter().filter(|_| names.is_empty());
    let others = others.map(|(path, problem)| (session.place.shown(path), None, vec![problem.clone()]));
    let files: Vec<_> = files.into_iter().chain(others).collect();
    let reports: Vec<FileReport<'_>> = files
        .iter()
        .map(|(path, source, problems)| FileReport { path, source: source.as_deref(), problems })
        .collect();
    if session.json {
        session.print(&to_json(&reports, &|_| None))?;
    } else {
        for report in reports.iter().filter(|report| !report.problems.is_empty()) {
            let text = render_terminal(report, session.style, &|_| None);
            session.print(&format!("{text}\n"))?;
        }
        session.print(&format!("{}\n", summary(&reports)))?;
    }
    let counts = Counts::of(&reports);
    let failed = counts.errors > 0 || (deny_warnings && counts.warnings > 0);
    Ok(if failed { Exit::Problems } else { Exit::Done })
}

/// Returns everything that is wrong with a skill.
fn checked(shelf: &Shelf, entry: &SkillEntry) -> (String, Option<String>, Vec<Diagnostic>) {
    // What the scan refused is not looked at again: why it did stands in the entry.
    let reading = match &entry.summary {
        Some(_) => shelf.catalog.load_skill(entry).reading,
        None => Reading { skill: None, problems: entry.problems.clone() },
    };
    let mut problems = reading.problems;
    if let Some(skill) = &reading.skill {
        let folder = entry.folder().file_name().map(|name| name.to_string_lossy().into_owned());
        problems.extend(standard::check(skill, &folder.unwrap_or_default()));
    }
    if let Some(winner) = &entry.shadowed_by {
        problems.push(
            Diagnostic::whole_file(
                Code::Shadowed,
                format!("the skill `{}` is also defined by {winner}, which wins", entry.name),
            )
            .help("give one of them another name, or remove it"),
        );
    } else {
        for lacks in shelf.lacks(&entry.name) {
            problems.push(
                Diagnostic::whole_file(Code::SkillUnavailable, format!("the skill cannot be used: {lacks}"))
                    .help("put in place what it requires; it comes back by itself"),
            );
        }
        let has_commands = entry.summary.as_ref().is_some_and(|summary| summary.has_commands);
        let trusted = entry.origin != Origin::Project
            || matches!(shelf.standing(entry.folder(), None), Ok((Standing::Trusted, _)));
        if has_commands && !trusted {
            problems.push(
                Diagnostic::whole_file(
                    Code::SkillUntrusted,
                    "the skill has commands, and they do not run yet",
                )
                .help(format!("look at it, then `abide skill trust {}`", entry.name)),
            );
        }
    }
    // A file that was refused is not read to be shown, either.
    let shows = !problems.is_empty() && problems.iter().all(|problem| problem.code != Code::BadPath);
    let source = if shows { read_text(&entry.path).ok() } else { None };
    (entry.shown.to_string(), source, problems)
}

/// Loads a skill for somebody.
fn load(shelf: &Shelf, name: &str, reader: Reader<'_>) -> Result<Loaded, Failure> {
    shelf.load(name, reader).map_err(|why| unfit(name, why))
}

/// Says why a skill cannot be used.
fn unfit(name: &str, why: Unfit) -> Failure {
    match why {
        Unfit::Unknown(why) => Failure::new(Exit::NotFound, why),
        Unfit::Denied(why) | Unfit::Ask(why) => Failure::new(Exit::Refused, why),
        Unfit::Unusable(why) => {
            Failure::new(Exit::Problems, why).help(format!("`abide skill show {name}` says more"))
        }
    }
}

fn expanded(session: &mut Session<'_>, name: &str, arguments: &[String]) -> Result<Exit, Failure> {
    let shelf = Shelf::open(session);
    let loaded = load(&shelf, name, Reader::Anybody)?;
    trusting::offer(session, &shelf, &loaded)?;
    let (commands, reads) = shelf.rights(&loaded);
    let (allowed, home) = shelf.further();
    let root = session.place.root();
    let setting = Setting {
        folder: &loaded.folder,
        project: &root,
        reads,
        allowed: &allowed,
        home: home.as_deref(),
        commands: commands.clone(),
        without: &secret_variables(session),
        mark: format!("skill-{}", uuid::Uuid::now_v7()),
    };
    let arguments = Arguments::of(arguments.to_vec());
    let process = LocalProcess::new().only_parent();
    let filled = block_on(expand(&process, &loaded.skill.body, &arguments, &setting))?;
    if session.json {
        let refused = matches!(commands, Commands::Refused(_));
        session.print_json(
            &json!({ "name": name, "text": filled.text, "notes": filled.notes, "commands_run": !refused }),
        )?;
        return Ok(Exit::Done);
    }
    let mut shown = String::with_capacity(filled.text.len());
    for line in filled.text.lines() {
        shown.push_str(&visible(line, true));
        shown.push('\n');
    }
    session.print(&shown)?;
    for note in &filled.notes {
        session.say(&format!("note: {}\n", visible(note, true)))?;
    }
    Ok(Exit::Done)
}
