//! Which skills of a project may run commands, and whether they are the ones that everybody agreed on.

use super::find;
use crate::session::Session;
use crate::skills::Shelf;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_catalog::Origin;
use abide_trust::{Lock, Locked, digest};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(super) fn trust(session: &mut Session<'_>, name: &str) -> Result<Exit, Failure> {
    let shelf = Shelf::open(session);
    let entry = find(&shelf, name)?;
    let digest = shelf.trust(entry.folder())?;
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

/// Returns the digests of the project's skills, by name.
fn digests(session: &Session<'_>, shelf: &Shelf) -> Result<BTreeMap<String, Locked>, Failure> {
    let root = session.place.root();
    let mut locked = BTreeMap::new();
    for (entry, _) in shelf.skills.winners().filter(|(entry, _)| entry.origin == Origin::Project) {
        let digest = digest(entry.folder()).map_err(|error| crate::skills::failed(&error))?.to_string();
        let path = relative(&root, entry.folder());
        locked.insert(entry.name.to_string(), Locked { path, digest });
    }
    Ok(locked)
}

fn relative(root: &Path, folder: &Path) -> String {
    folder.strip_prefix(root).unwrap_or(folder).display().to_string()
}

pub(super) fn lock(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let shelf = Shelf::open(session);
    let locked = digests(session, &shelf)?;
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
    let found = digests(session, &shelf)?;
    let mut differences: Vec<(&str, &str)> = Vec::new();
    for (name, wanted) in &locked {
        match found.get(name) {
            None => differences.push((name, "is not there any more")),
            Some(here) if here.digest != wanted.digest => differences.push((name, "has changed")),
            Some(here) if here.path != wanted.path => differences.push((name, "lies elsewhere")),
            Some(_) => {}
        }
    }
    differences.extend(
        found.keys().filter(|name| !locked.contains_key(*name)).map(|name| (name.as_str(), "is not locked")),
    );
    if session.json {
        let listed: Vec<Value> =
            differences.iter().map(|(name, what)| json!({ "name": name, "problem": what })).collect();
        session.print_json(&json!({ "locked": locked.len(), "differences": listed }))?;
    } else if differences.is_empty() {
        session.print(&format!("all {} skills are as they were locked\n", locked.len()))?;
    } else {
        for (name, what) in &differences {
            session.print(&format!("✗ {} {what}\n", visible(name, true)))?;
        }
    }
    Ok(if differences.is_empty() { Exit::Done } else { Exit::Problems })
}
