//! The least that a durable step could cost: a process, and two commits that are on the disk.

use anyhow::{Context, ensure};
use rusqlite::Connection;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// What the process of a floor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Program {
    /// `/bin/true` itself.
    True,
    /// `sh -c '/bin/true; true'`, which is what a script step has to start that is more than one command.
    Shell,
}

impl Program {
    /// What the shell runs: a script that no shell replaces itself by.
    pub(crate) const SCRIPT: &str = "/bin/true; true";
}

/// A database in the mode that a log needs: write-ahead, synced at every commit.
pub(crate) struct Floor(Mutex<(Connection, i64)>);

impl Floor {
    pub(crate) fn open(file: &Path) -> anyhow::Result<Self> {
        let connection = Connection::open(file)?;
        connection.pragma_update(None, "journal_mode", "wal")?;
        connection.pragma_update(None, "synchronous", "full")?;
        connection.execute_batch("CREATE TABLE steps (number INTEGER PRIMARY KEY, data TEXT NOT NULL)")?;
        Ok(Self(Mutex::new((connection, 0))))
    }

    /// Does steps one after the other: a commit, a process, a commit.
    pub(crate) fn steps(&self, program: Program, count: usize, folder: &Path) -> anyhow::Result<()> {
        for _ in 0..count {
            self.commit()?;
            process(program, folder)?;
            self.commit()?;
        }
        Ok(())
    }

    fn commit(&self) -> anyhow::Result<()> {
        let mut database = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (connection, number) = &mut *database;
        *number += 1;
        let data = format!(r#"{{"step":"step-{number}","attempt":1}}"#);
        let insert = "INSERT INTO steps (number, data) VALUES (?1, ?2)";
        connection.prepare_cached(insert)?.execute((*number, data))?;
        Ok(())
    }
}

/// Runs a process to its end as cheaply as the standard library does.
fn process(program: Program, folder: &Path) -> anyhow::Result<()> {
    let mut command = match program {
        Program::True => Command::new("/bin/true"),
        Program::Shell => Command::new("/bin/sh"),
    };
    if program == Program::Shell {
        command.args(["-c", Program::SCRIPT]);
    }
    let status = command.current_dir(folder).stdin(Stdio::null()).status().context("/bin/true")?;
    ensure!(status.success(), "/bin/true failed");
    Ok(())
}
