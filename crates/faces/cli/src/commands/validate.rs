//! `abide validate [NAME…]`

use crate::args::{Report, ValidateArguments};
use crate::gate::let_go;
use crate::human::agent_above;
use crate::session::{Session, find};
use crate::skills::Shelf;
use crate::ui::diagnostics::{Counts, FileReport, render_terminal, summary, to_json, to_sarif};
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_catalog::{Catalog, Listing, Watch, read_text};
use abide_core::diagnostic::{Code, Diagnostic};
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a watch that sees nothing looks whether it is still wanted.
const PATIENCE: Duration = Duration::from_hours(1);

pub(crate) fn validate(session: &mut Session<'_>, arguments: &ValidateArguments) -> Result<Exit, Failure> {
    let mut catalog = session.catalog();
    if !arguments.watch {
        let exit = once(session, &mut catalog, arguments)?;
        let_go_of_what_is_gone(session)?;
        return Ok(exit);
    }
    let failed = |error: abide_catalog::WatchError| Failure::new(Exit::System, error.to_string());
    let mut watch = Watch::start().map_err(failed)?;
    loop {
        // First watched, then looked at: whatever changes in between is seen.
        watch.follow(&catalog).map_err(failed)?;
        match once(session, &mut catalog, arguments) {
            Err(failure) if failure.exit == Exit::NotFound => session.say(&failure.to_string())?,
            other => {
                other?;
            }
        }
        session.say("waiting for changes; Ctrl-C ends\n")?;
        while !watch.wait(PATIENCE).map_err(failed)? {}
        catalog.reconfigure(session.configuration());
    }
}

/// Tells the gate that a human has looked at the definitions: what none of them protects any more is free.
fn let_go_of_what_is_gone(session: &mut Session<'_>) -> Result<(), Failure> {
    // An agent may look as well, and could have taken a definition away.
    if agent_above(session.surroundings).is_some() {
        return Ok(());
    }
    for call in let_go(session.surroundings, &session.place) {
        let text = format!("`{}` is not protected any more, as it was for {}", call.pattern, call.ability);
        session.say(&format!("{}\n", visible(&text, true)))?;
    }
    Ok(())
}

/// One file and what is wrong with it.
struct Checked<'l> {
    shown: Cow<'l, str>,
    source: Option<String>,
    problems: Cow<'l, [Diagnostic]>,
}

fn once(
    session: &mut Session<'_>,
    catalog: &mut Catalog,
    arguments: &ValidateArguments,
) -> Result<Exit, Failure> {
    let mut listing = catalog.scan();
    name_unavailable_skills(session, &mut listing);
    let files = if arguments.names.is_empty() {
        let mut files = everything(&listing);
        files.extend(unfit(catalog));
        files
    } else {
        named(session, &listing, &arguments.names)?
    };
    let reports: Vec<FileReport<'_>> = files
        .iter()
        .map(|file| FileReport {
            path: &file.shown,
            source: file.source.as_deref(),
            problems: &file.problems,
        })
        .collect();
    let sources = |shown: &str| {
        let path =
            listing.abilities.iter().find(|entry| &*entry.shown == shown).map(|entry| entry.path.clone());
        path.and_then(|path| read_text(&path).ok())
    };
    match arguments.format {
        Report::Json => session.print(&to_json(&reports, &sources))?,
        Report::Text if session.json => session.print(&to_json(&reports, &sources))?,
        Report::Sarif => session.print(&to_sarif(&reports, &sources))?,
        Report::Text => {
            let mut first = true;
            for report in reports.iter().filter(|report| !report.problems.is_empty()) {
                if !first {
                    session.print("\n")?;
                }
                first = false;
                session.print(&render_terminal(report, session.style, &sources))?;
            }
            if !first {
                session.print("\n")?;
            }
            session.print(&format!("{}\n", conclusion(&listing, &reports, arguments)))?;
        }
    }
    let counts = Counts::of(&reports);
    let failed = counts.errors > 0 || (arguments.deny_warnings && counts.warnings > 0);
    Ok(if failed { Exit::Problems } else { Exit::Done })
}

/// Says of steps whose skill cannot be used now what it lacks. It may come back before the step is reached, so this is no error.
fn name_unavailable_skills(session: &Session<'_>, listing: &mut Listing) {
    let mut used = listing.abilities.iter().filter_map(|entry| entry.summary.as_ref());
    // To find out may mean to ask a server.
    if !used.any(|summary| !summary.references.skills.is_empty()) {
        return;
    }
    let shelf = Shelf::open(session);
    for entry in listing.abilities.iter_mut().filter(|entry| entry.shadowed_by.is_none()) {
        let Some(summary) = &entry.summary else { continue };
        for skill in &summary.references.skills {
            let Some(lacks) = shelf.lacks(skill.as_str()).first() else { continue };
            let message = format!("the skill `{}` cannot be used: {lacks}", **skill);
            entry.problems.push(
                Diagnostic::new(Code::SkillUnavailable, skill.span, message)
                    .help("put in place what it requires; a step that comes to it before that fails"),
            );
        }
        entry.problems.sort_by_key(|problem| problem.at.map_or(0, |at| at.start));
    }
}

fn conclusion(listing: &Listing, reports: &[FileReport<'_>], arguments: &ValidateArguments) -> String {
    let counts = Counts::of(reports);
    if counts.errors + counts.warnings > 0 {
        return summary(reports);
    }
    if listing.disabled {
        return "nothing to validate: abilities are switched off by `abilities.enabled: false`".to_owned();
    }
    match (listing.abilities.len(), &arguments.names[..]) {
        (0, []) => {
            "nothing to validate: no abilities were found (`abide init` writes a first one)".to_owned()
        }
        (_, [only]) => format!("{only} is valid"),
        (_, names) if !names.is_empty() => format!("all {} are valid", names.len()),
        (1, _) => "1 ability is valid".to_owned(),
        (count, _) => format!("all {count} abilities are valid"),
    }
}

fn checked<'l>(shown: &'l str, path: &Path, problems: Cow<'l, [Diagnostic]>) -> Checked<'l> {
    // Only a file with problems is shown, so only its text is needed.
    let source = if problems.is_empty() { None } else { read_text(path).ok() };
    Checked { shown: shown.into(), source, problems }
}

fn everything(listing: &Listing) -> Vec<Checked<'_>> {
    let others =
        listing.others.iter().map(|file| checked(&file.shown, &file.path, file.problems.as_slice().into()));
    let abilities = listing.abilities.iter().map(|entry| {
        // A file that loses to another is not used, so only the fact that it does is worth a word.
        let problems = if entry.shadowed_by.is_some() {
            entry.problems.iter().filter(|problem| problem.at.is_none()).cloned().collect()
        } else {
            entry.problems.as_slice().into()
        };
        checked(&entry.shown, &entry.path, problems)
    });
    others.chain(abilities).collect()
}

/// Returns what is wrong with capabilities that only shows when they are put together.
fn unfit(catalog: &Catalog) -> Vec<Checked<'static>> {
    let bundles = catalog.bundles();
    if bundles.is_empty() {
        return Vec::new();
    }
    let mut registry = crate::capabilities::offered_here();
    let winners = bundles.iter().filter(|entry| entry.shadowed_by.is_none());
    winners
        .filter_map(|entry| {
            let problem = crate::capabilities::unfit(entry, &mut registry)?;
            let source = read_text(&entry.path).ok();
            Some(Checked { shown: entry.shown.to_string().into(), source, problems: vec![problem].into() })
        })
        .collect()
}

fn named<'l>(
    session: &Session<'_>,
    listing: &'l Listing,
    names: &'l [String],
) -> Result<Vec<Checked<'l>>, Failure> {
    names
        .iter()
        .map(|name| match find(listing, name) {
            Ok(entry) => Ok(checked(&entry.shown, &entry.path, entry.problems.as_slice().into())),
            Err(failure) => by_path(session, listing, name).ok_or(failure),
        })
        .collect()
}

/// Finds an ability file by its path; one that the catalog does not look at is validated on its own.
fn by_path<'l>(session: &Session<'_>, listing: &'l Listing, name: &'l str) -> Option<Checked<'l>> {
    let path: PathBuf = session.place.start.join(name);
    let is_yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    let path = path.canonicalize().ok().filter(|path| is_yaml && path.is_file())?;
    let known =
        listing.abilities.iter().find(|entry| entry.path.canonicalize().is_ok_and(|known| known == path));
    if let Some(entry) = known {
        return Some(checked(&entry.shown, &entry.path, entry.problems.as_slice().into()));
    }
    Some(match read_text(&path) {
        Ok(source) => {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            let problems = abide_formats::ability::read(&source, stem).problems;
            Checked { shown: name.into(), source: Some(source), problems: problems.into() }
        }
        Err(unreadable) => {
            Checked { shown: name.into(), source: None, problems: vec![unreadable.diagnostic()].into() }
        }
    })
}
