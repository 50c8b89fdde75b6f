//! What the gate answered, noted for the log.
//!
//! A hook must not wait for a database, and the log of a run is another process's. So a hook appends a line to a file of the run,
//! and whoever has the log open takes the lines in from there, counting how far it got *in the log itself*: nothing is taken in
//! twice, whoever dies when. Verdicts without a run go to a journal of the user, which only ever is read.
//!
//! A line begins and ends with a line end and is written at once, so that one that was cut off spoils no other.

use crate::Gate;
use crate::files::{self, GateError};
use abide_core::event::{GivenVerdict, NotedVerdict, Timestamp, VerdictAnswer};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// How long the notes of a run, and each of the two parts of the journal, become.
const MOST: u64 = 1024 * 1024;
/// The longest text in a note, in characters.
const LONGEST: usize = 400;
/// How long notes of a run that is over are kept after the last one, in seconds.
const KEPT: u64 = 60 * 60;

/// A verdict as it is noted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// `denied`, `asked` or `warned`.
    pub answer: String,
    /// The tool, as the client spells it.
    pub tool: String,
    /// What kind of thing it does.
    pub kind: String,
    /// What was asked, without anything secret.
    pub what: String,
    /// Why.
    pub why: String,
    /// The client's word.
    pub client: String,
    /// The client's session.
    pub session: String,
    /// The sub-agent that asked, unless it was the session itself.
    pub sub_agent: Option<String>,
    /// The project that it was asked in.
    pub project: String,
}

/// A line of a file of notes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum Line {
    Note(Box<Note>),
    /// No more is noted here.
    Full,
}

impl Note {
    /// Returns it with texts of a bounded length.
    fn short(&self) -> Self {
        let short = |text: &str| text.chars().take(LONGEST).collect::<String>();
        Self {
            at: self.at,
            answer: short(&self.answer),
            tool: short(&self.tool),
            kind: short(&self.kind),
            what: short(&self.what),
            why: short(&self.why),
            client: short(&self.client),
            session: short(&self.session),
            sub_agent: self.sub_agent.as_deref().map(short),
            project: short(&self.project),
        }
    }

    /// Returns the verdict as the log takes it; nothing if its answer is none.
    pub fn given(&self) -> Option<GivenVerdict> {
        Some(GivenVerdict {
            at: Timestamp(self.at),
            answer: VerdictAnswer::parse(&self.answer)?,
            tool: self.tool.clone(),
            kind: self.kind.as_str().into(),
            what: self.what.clone(),
            why: self.why.clone(),
            client: self.client.as_str().into(),
            session: self.session.clone(),
            sub_agent: self.sub_agent.clone(),
        })
    }
}

impl Gate {
    /// Notes a verdict about a session that is bound to a run.
    ///
    /// When the file is full, that is noted once, and then nothing more.
    pub fn note(&self, run: &str, note: &Note) -> Result<(), GateError> {
        let path = self.notes_file(run);
        let mut file = appended(&path)?;
        let length = file.metadata().map_err(GateError::io("read", &path))?.len();
        if length > MOST {
            return Ok(());
        }
        let mut line = line(&Line::Note(Box::new(note.short())));
        let room = usize::try_from(MOST - length).unwrap_or(usize::MAX);
        if line.len() > room {
            line = self::line(&Line::Full);
            // The file is over its measure from now on, which the next one sees without reading it.
            line.resize(line.len().max(room + 1), b'\n');
        }
        file.write_all(&line).map_err(GateError::io("write", &path))
    }

    /// Notes a verdict about a session without a run.
    pub fn note_outside(&self, note: &Note) -> Result<(), GateError> {
        let path = self.journal();
        let mut file = appended(&path)?;
        if file.metadata().map_err(GateError::io("read", &path))?.len() > MOST {
            turn_over(&path, &file);
            file = appended(&path)?;
        }
        file.write_all(&line(&Line::Note(Box::new(note.short())))).map_err(GateError::io("write", &path))
    }

    /// Returns what was noted about a run behind a position, each with the position behind it.
    pub fn noted(&self, run: &str, from: u64) -> Result<Vec<(u64, NotedVerdict)>, GateError> {
        let path = self.notes_file(run);
        let Some(text) = read_from(&path, from)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        let mut until = from;
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            // One without an end is still being written.
            let Some(line) = line.strip_suffix(b"\n") else { break };
            until += line.len() as u64 + 1;
            if line.is_empty() {
                continue;
            }
            match serde_json::from_slice(line) {
                Ok(Line::Full) => {
                    let why = "more verdicts were given than are noted for one run";
                    found.push((until, NotedVerdict::Lost(why.to_owned())));
                    break;
                }
                Ok(Line::Note(note)) => found.push((
                    until,
                    match note.given() {
                        Some(given) => NotedVerdict::Given(Box::new(given)),
                        None => NotedVerdict::Lost("a verdict was noted that is none".to_owned()),
                    },
                )),
                Err(_) => {
                    found.push((until, NotedVerdict::Lost("the note of a verdict was cut off".to_owned())));
                }
            }
        }
        Ok(found)
    }

    /// Returns the verdicts without a run that are still known, the oldest first.
    pub fn noted_outside(&self) -> Result<Vec<Note>, GateError> {
        let mut found = Vec::new();
        for path in [before(&self.journal()), self.journal()] {
            let text = read_from(&path, 0)?.unwrap_or_default();
            let lines =
                text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
            found.extend(lines.filter_map(|line| match line {
                Line::Note(note) => Some(*note),
                Line::Full => None,
            }));
        }
        Ok(found)
    }

    /// Removes the notes of a run that is over, when all of them are in the log and no hook could still be writing.
    pub fn forget_notes(&self, run: &str, taken: u64) {
        let path = self.notes_file(run);
        let written = fs::metadata(&path).and_then(|metadata| metadata.modified());
        let quiet = written.ok().and_then(|moment| moment.elapsed().ok());
        let is_quiet = quiet.is_some_and(|quiet| quiet.as_secs() > KEPT);
        if is_quiet && self.noted(run, taken).is_ok_and(|rest| rest.is_empty()) {
            // What stays is only a little space.
            let _ = fs::remove_file(&path);
        }
    }

    fn notes_file(&self, run: &str) -> PathBuf {
        self.folder.join("verdicts").join(files::name_of(run.as_bytes())).with_extension("jsonl")
    }

    fn journal(&self) -> PathBuf {
        self.folder.join("verdicts/outside.jsonl")
    }
}

/// Begins a new part of the journal; of many that want to, one does.
fn turn_over(path: &Path, full: &File) {
    let is_still_there = || {
        let (now, full) = (fs::metadata(path).ok()?, full.metadata().ok()?);
        Some(now.ino() == full.ino())
    };
    if full.try_lock().is_ok() && is_still_there() == Some(true) {
        // One that cannot be moved grows a little more; the next one tries again.
        let _ = fs::rename(path, before(path));
    }
}

/// Returns where the part of the journal lies that came before.
fn before(path: &Path) -> PathBuf {
    path.with_extension("before.jsonl")
}

fn line(line: &Line) -> Vec<u8> {
    // Texts and numbers always serialise.
    let text = serde_json::to_vec(line).unwrap_or_default();
    [b"\n", &text[..], b"\n"].concat()
}

fn appended(path: &Path) -> Result<File, GateError> {
    let open = || File::options().append(true).create(true).mode(0o600).open(path);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().unwrap_or(path);
            fs::create_dir_all(folder).map_err(GateError::io("make", folder))?;
            open().map_err(GateError::io("write", path))
        }
        opened => opened.map_err(GateError::io("write", path)),
    }
}

fn read_from(path: &Path, from: u64) -> Result<Option<Vec<u8>>, GateError> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(GateError::io("read", path))?,
    };
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(from))
        .and_then(|_| file.take(MOST * 2).read_to_end(&mut text))
        .map_err(GateError::io("read", path))?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests;
