//! `abide backup FILE` and `abide restore FILE`: everything that lies in .abide/state, in one file, and back.
#![expect(clippy::disallowed_methods, reason = "what is restored is checked in a folder of its own first")]

use super::audit::{broken_chains, damages};
use crate::args::FileArguments;
use crate::runs::{self, log_file};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_engine::port::verify_audit;
use abide_store_sqlite::{KEPT, SqliteRegistry, SqliteStore, pack, unpack};
use serde_json::json;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

pub(crate) fn backup(session: &mut Session<'_>, arguments: &FileArguments) -> Result<Exit, Failure> {
    let state = state(session);
    if !KEPT.iter().any(|name| state.join(name).exists()) {
        return Err(Failure::new(Exit::NotFound, format!("there is nothing in {}", state.display())));
    }
    let target = session.surroundings.folder.join(&arguments.file);
    let packed = pack(&state, &target).map_err(|error| runs::store_failure(&error))?;
    // What cannot be read back is no backup.
    let trial = Trial::beside(&target)?;
    let checked =
        unpack(&target, &trial.0).map_err(|error| runs::store_failure(&error)).and_then(|_| check(&trial.0));
    if let Err(failure) = checked {
        let _ = std::fs::remove_file(&target);
        return Err(failure);
    }
    report(session, "backed up", &packed, &target)
}

pub(crate) fn restore(session: &mut Session<'_>, arguments: &FileArguments) -> Result<Exit, Failure> {
    let state = state(session);
    if let Some(name) = KEPT.iter().find(|name| state.join(name).exists()) {
        let there = state.join(name);
        return Err(Failure::new(
            Exit::Refused,
            format!("{} is there, and is not overwritten", there.display()),
        )
        .help("end the server and move the folder away first"));
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(&state)
        .map_err(|error| Failure::new(Exit::System, format!("cannot make {}: {error}", state.display())))?;
    let source = session.surroundings.folder.join(&arguments.file);
    let failed = |error| runs::store_failure(&error);
    let trial = Trial::beside(&state.join("restored"))?;
    unpack(&source, &trial.0).map_err(failed)?;
    check(&trial.0)?;
    // To look at a file writes beside it: what is put in place is what was in the backup.
    let fresh = Trial::beside(&state.join("restored"))?;
    let unpacked = unpack(&source, &fresh.0).map_err(failed)?;
    for name in &unpacked {
        let (from, to) = (fresh.0.join(name), state.join(name));
        // A hard link and not a rename: a file that somebody has made meanwhile is not overwritten.
        std::fs::hard_link(&from, &to)
            .map_err(|error| Failure::new(Exit::System, format!("cannot make {}: {error}", to.display())))?;
    }
    report(session, "restored", &unpacked, &source)
}

fn state(session: &Session<'_>) -> PathBuf {
    log_file(session).parent().map(Path::to_path_buf).unwrap_or_default()
}

fn report(session: &mut Session<'_>, what: &str, names: &[&str], file: &Path) -> Result<Exit, Failure> {
    if session.json {
        session.print_json(&json!({ "file": file.display().to_string(), "files": names }))?;
    } else {
        session.say(&format!("{what} {}: {}\n", names.join(", "), file.display()))?;
    }
    Ok(Exit::Done)
}

/// Checks every hash of the log and the audit that lie in a folder.
fn check(folder: &Path) -> Result<(), Failure> {
    runs::block_on(async {
        let failed = |error| runs::store_failure(&error);
        if let Some(store) = SqliteStore::find(&folder.join("log.db"), runs::settings()).map_err(failed)? {
            let damages = damages(&store).await?;
            if let Some(first) = damages.first() {
                return Err(Failure::new(Exit::Problems, format!("the log is damaged: {first}"))
                    .help("`abide audit verify` says more"));
            }
        }
        let sessions = folder.join("server-sessions.db");
        if let Some(store) = SqliteStore::find(&sessions, runs::settings()).map_err(failed)?
            && let Some(first) = broken_chains(&store).await?.first()
        {
            return Err(Failure::new(Exit::Problems, format!("the log of sessions is damaged: {first}")));
        }
        let registry = folder.join("server.db");
        if registry.exists() {
            let registry = SqliteRegistry::open(&registry).map_err(failed)?;
            verify_audit(&registry).await.map_err(|error| Failure::new(Exit::Problems, error.to_string()))?;
        }
        Ok(())
    })?
}

/// A folder that goes with everything in it.
struct Trial(PathBuf);

impl Trial {
    fn beside(path: &Path) -> Result<Self, Failure> {
        let mut name = path.as_os_str().to_owned();
        name.push(format!("-{}", uuid::Uuid::now_v7()));
        let folder = PathBuf::from(name);
        let made = std::fs::DirBuilder::new().mode(0o700).create(&folder);
        made.map_err(|error| {
            Failure::new(Exit::System, format!("cannot make {}: {error}", folder.display()))
        })?;
        Ok(Self(folder))
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
