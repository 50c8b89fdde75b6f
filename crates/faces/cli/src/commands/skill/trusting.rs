//! Which skills of a project may run commands, and whether they are the ones that everybody agreed on.

use super::find;
use crate::human::is_here;
use crate::session::Session;
use crate::skills::{Loaded, Question, Shelf};
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_catalog::Origin;
use abide_trust::{Lock, Locked, TrustError};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) fn trust(session: &mut Session<'_>, name: &str) -> Result<Exit, Failure> {
    let shelf = Shelf::open(session);
    let entry = find(&shelf, name)?;
    let digest = shelf.trust(entry.folder(), None)?;
    if session.json {
        session.print_json(&json!({ "name": name, "trusted": true, "digest": digest.to_string() }))?;
    } else {
        session.print(&format!(
            "{} is trusted until one of its files changes\n  {digest}\n",
            visible(name, true)
        ))?;
    }
    Ok(Exit::Done)
}

/// Asks whoever sits at the terminal about a skill that came with the project and would run commands.
///
/// Without a clear yes it goes on as it is: what is not run is said in its place.
pub(super) fn offer(session: &mut Session<'_>, shelf: &Shelf, loaded: &Loaded) -> Result<(), Failure> {
    // An agent that types into a terminal of its own decides nothing.
    if session.json || !is_here(session.surroundings) {
        return Ok(());
    }
    let Some(question) = shelf.question(loaded) else { return Ok(()) };
    session.say(&question.text())?;
    let mut line = String::new();
    let read = std::io::stdin().read_line(&mut line);
    read.map_err(|error| Failure::new(Exit::System, format!("cannot read the answer: {error}")))?;
    if Question::is_yes(&line) { shelf.accept(&question) } else { Ok(()) }
}

pub(super) fn untrust(session: &mut Session<'_>, name: &str) -> Result<Exit, Failure> {
    let shelf = Shelf::open(session);
    let was = shelf.untrust(find(&shelf, name)?.folder())?;
    if session.json {
        session.print_json(&json!({ "name": name, "trusted": false, "was_trusted": was }))?;
    } else {
        let text = if was { "is not trusted any more" } else { "was not trusted" };
        session.print(&format!("{} {text}\n", visible(name, true)))?;
    }
    Ok(Exit::Done)
}

fn lock_file(session: &Session<'_>) -> PathBuf {
    session.place.root().join(".abide/skills.lock")
}

/// Returns the digests of the project's skills, by name; the error is why one has none.
fn digests(session: &Session<'_>, shelf: &Shelf) -> BTreeMap<String, Result<Locked, TrustError>> {
    let root = session.place.root();
    let of_project = shelf.skills.winners().filter(|(entry, _)| entry.origin == Origin::Project);
    let locked = of_project.map(|(entry, _)| {
        let digest = shelf.digest(entry.folder(), None);
        let path = relative(&root, entry.folder());
        (entry.name.to_string(), digest.map(|digest| Locked { path, digest: digest.to_string() }))
    });
    locked.collect()
}

fn relative(root: &Path, folder: &Path) -> String {
    folder.strip_prefix(root).unwrap_or(folder).display().to_string()
}

pub(super) fn lock(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let shelf = Shelf::open(session);
    let locked = digests(session, &shelf).into_iter().map(|(name, locked)| {
        let failed =
            |error| crate::skills::failed(&error).help(format!("`{name}` cannot be locked as it is"));
        Ok((name.clone(), locked.map_err(failed)?))
    });
    let locked: BTreeMap<String, Locked> = locked.collect::<Result<_, Failure>>()?;
    let count = locked.len();
    Lock(locked).write(&lock_file(session)).map_err(|error| crate::skills::failed(&error))?;
    if session.json {
        session.print_json(&json!({ "locked": count, "file": lock_file(session).display().to_string() }))?;
    } else {
        session.print(&format!("{count} skills are locked in .abide/skills.lock\n"))?;
    }
    Ok(Exit::Done)
}

pub(super) fn verify(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let path = lock_file(session);
    let Some(Lock(locked)) = Lock::read(&path).map_err(|error| crate::skills::failed(&error))? else {
        return Err(Failure::new(Exit::NotFound, "there is no .abide/skills.lock")
            .help("`abide skill lock` writes it"));
    };
    let shelf = Shelf::open(session);
    let found = digests(session, &shelf);
    let mut differences: Vec<(&str, String)> = Vec::new();
    for (name, wanted) in &locked {
        let differs = match found.get(name) {
            None => "is not there any more".to_owned(),
            Some(Err(why)) => format!("cannot be held to anything: {why}"),
            Some(Ok(here)) if here.digest != wanted.digest => "has changed".to_owned(),
            Some(Ok(here)) if here.path != wanted.path => "lies elsewhere".to_owned(),
            Some(Ok(_)) => continue,
        };
        differences.push((name, differs));
    }
    let more = found.keys().filter(|name| !locked.contains_key(*name));
    differences.extend(more.map(|name| (name.as_str(), "is not locked".to_owned())));
    if session.json {
        let listed: Vec<Value> =
            differences.iter().map(|(name, what)| json!({ "name": name, "problem": what })).collect();
        session.print_json(&json!({ "locked": locked.len(), "differences": listed }))?;
    } else if differences.is_empty() {
        session.print(&format!("all {} skills are as they were locked\n", locked.len()))?;
    } else {
        for (name, what) in &differences {
            session.print(&format!("✗ {} {}\n", visible(name, true), visible(what, true)))?;
        }
    }
    Ok(if differences.is_empty() { Exit::Done } else { Exit::Problems })
}
