//! Everything that lies beside a project, in one file, and back.
//!
//! A backup is itself a SQLite file: of each file a copy of one moment (`VACUUM INTO`, while others read and write), cut into pieces, with
//! its digest. Nothing is ever held in memory as a whole, nothing that is there is overwritten, and what fails leaves nothing behind.
#![expect(clippy::disallowed_methods, reason = "files are made and removed here, with the path in the error")]

use crate::error::{of_read, of_write};
use crate::file::make;
use abide_engine::port::StoreError;
use rusqlite::{Connection, OpenFlags, params};
use sha2::{Digest as _, Sha256};
use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Marks a file as a backup of ours (`abdb`).
const APPLICATION: i32 = 0x6162_6462;
/// How much is read at once.
const PIECE: usize = 1024 * 1024;

/// The files, in the order in which they are copied: what refers to something else is copied after it.
///
/// A run is in the log before its steps have sessions, and a start is noted before its run begins: one that is not in the log never began.
/// What was said in the sessions of a server comes last: a message that its log knows already is found there again, and one that
/// counts as told while its log lacks it would be lost.
pub const KEPT: [&str; 5] = ["log.db", "sessions.db", "files.db", "server.db", "server-sessions.db"];

/// Copies the files of a folder into a backup; returns the names of those that were there.
pub fn pack(folder: &Path, target: &Path) -> Result<Vec<&'static str>, StoreError> {
    let place = target.display().to_string();
    if target.symlink_metadata().is_ok() {
        return Err(StoreError::Unwritable { place, reason: "it is there already".to_owned() });
    }
    make(target)?;
    let copy = beside(target, "copy");
    let done = pack_into(folder, target, &copy);
    let _ = std::fs::remove_file(&copy);
    if done.is_err() {
        let _ = std::fs::remove_file(target);
        let _ = std::fs::remove_file(beside(target, "journal"));
    }
    done
}

fn beside(path: &Path, what: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(format!("-{what}"));
    PathBuf::from(name)
}

fn pack_into(folder: &Path, target: &Path, copy: &Path) -> Result<Vec<&'static str>, StoreError> {
    let place = target.display().to_string();
    let failed = |error: &rusqlite::Error| of_write(&place, error);
    let mut backup = Connection::open(target).map_err(|error| failed(&error))?;
    backup.pragma_update(None, "application_id", APPLICATION).map_err(|error| failed(&error))?;
    let transaction = backup.transaction().map_err(|error| failed(&error))?;
    transaction
        .execute_batch(
            "CREATE TABLE files (name TEXT NOT NULL PRIMARY KEY, digest BLOB NOT NULL) STRICT;
             CREATE TABLE pieces (name TEXT NOT NULL, position INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (name, position)) STRICT;",
        )
        .map_err(|error| failed(&error))?;
    let mut packed = Vec::new();
    for name in KEPT {
        let source = folder.join(name);
        if !source.exists() {
            continue;
        }
        snapshot(&source, copy)?;
        let unread = |why: std::io::Error| StoreError::Unreadable {
            place: copy.display().to_string(),
            reason: why.to_string(),
        };
        let mut file = File::open(copy).map_err(unread)?;
        let mut digest = Sha256::new();
        let mut piece = vec![0; PIECE];
        for position in 0_i64.. {
            let read = fill(&mut file, &mut piece).map_err(unread)?;
            if read == 0 {
                break;
            }
            digest.update(&piece[..read]);
            transaction
                .prepare_cached("INSERT INTO pieces (name, position, bytes) VALUES (?1, ?2, ?3)")
                .and_then(|mut insert| insert.execute(params![name, position, &piece[..read]]))
                .map_err(|error| failed(&error))?;
        }
        let digest: [u8; 32] = digest.finalize().into();
        transaction
            .execute("INSERT INTO files (name, digest) VALUES (?1, ?2)", params![name, digest])
            .map_err(|error| failed(&error))?;
        std::fs::remove_file(copy).map_err(unread)?;
        packed.push(name);
    }
    transaction.commit().map_err(|error| failed(&error))?;
    Ok(packed)
}

/// Copies a file as of one moment, whoever writes to it.
fn snapshot(source: &Path, copy: &Path) -> Result<(), StoreError> {
    let place = source.display().to_string();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let done = Connection::open_with_flags(source, flags).and_then(|connection| {
        connection.busy_timeout(Duration::from_secs(30))?;
        connection.execute("VACUUM INTO ?1", [copy.display().to_string()])
    });
    done.map(drop).map_err(|error| of_read(&place, &error))
}

/// Reads until a piece is full or the file is at its end.
fn fill(file: &mut File, piece: &mut [u8]) -> std::io::Result<usize> {
    let mut read = 0;
    while read < piece.len() {
        match file.read(&mut piece[read..])? {
            0 => break,
            more => read += more,
        }
    }
    Ok(read)
}

/// Writes the files of a backup into a folder that has none of them, and checks their digests; returns their names.
pub fn unpack(source: &Path, folder: &Path) -> Result<Vec<&'static str>, StoreError> {
    let place = source.display().to_string();
    let failed = |error: &rusqlite::Error| of_read(&place, error);
    let unreadable =
        |reason: &str| StoreError::Unreadable { place: place.clone(), reason: reason.to_owned() };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let backup = Connection::open_with_flags(source, flags).map_err(|error| failed(&error))?;
    let mark = backup.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0));
    if mark.map_err(|error| failed(&error))? != APPLICATION {
        return Err(unreadable("it is no backup of abide"));
    }
    let mut found = backup.prepare("SELECT name, digest FROM files").map_err(|error| failed(&error))?;
    let rows = found.query_map((), |row| Ok((row.get::<_, String>(0)?, row.get::<_, Vec<u8>>(1)?)));
    let rows: Result<Vec<_>, _> = rows.and_then(Iterator::collect);
    let mut unpacked = Vec::new();
    for (name, digest) in rows.map_err(|error| failed(&error))? {
        // A backup may be anybody's: only names of ours are written, and never a path.
        let Some(name) = KEPT.into_iter().find(|known| *known == name) else {
            return Err(unreadable(&format!(
                "it has a file `{}`, which is none of ours",
                name.escape_debug()
            )));
        };
        let target = folder.join(name);
        let unwritten = |why: std::io::Error| StoreError::Unwritable {
            place: target.display().to_string(),
            reason: why.to_string(),
        };
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&target).map_err(unwritten)?;
        let mut own = Sha256::new();
        let mut pieces = backup
            .prepare("SELECT bytes FROM pieces WHERE name = ?1 ORDER BY position")
            .map_err(|error| failed(&error))?;
        let mut rows = pieces.query([name]).map_err(|error| failed(&error))?;
        while let Some(row) = rows.next().map_err(|error| failed(&error))? {
            let bytes =
                row.get_ref(0).and_then(|value| Ok(value.as_blob()?)).map_err(|error| failed(&error))?;
            own.update(bytes);
            file.write_all(bytes).map_err(unwritten)?;
        }
        file.sync_all().map_err(unwritten)?;
        if own.finalize()[..] != digest[..] {
            return Err(unreadable(&format!("{name} in it is not what was written")));
        }
        unpacked.push(name);
    }
    Ok(unpacked)
}
