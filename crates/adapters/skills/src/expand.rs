//! One body, filled in from top to bottom.

use crate::command::{self, Ran};
use crate::files::{self, Found};
use abide_core::skill::listing::escape;
use abide_core::skill::text::{Arguments, Piece, Places, pieces};
use abide_engine::port::Process;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// How many commands and how many files one body may have.
const MOST_COMMANDS: usize = 32;
const MOST_FILES: usize = 32;

/// Where a skill is, and what it may do.
#[derive(Debug, Clone)]
pub struct Setting<'a> {
    /// The skill's own folder.
    pub folder: &'a Path,
    /// The project's root, where commands run.
    pub project: &'a Path,
    /// Where files may be read.
    pub reads: Reads,
    /// More folders that files may be read from, wherever those of the project may.
    pub allowed: &'a [PathBuf],
    /// What `~` is.
    pub home: Option<&'a Path>,
    /// Whether commands run.
    pub commands: Commands,
    /// The variables of our environment that commands do not get.
    pub without: &'a [String],
    /// The mark of every process that is started.
    pub mark: String,
}

/// Where a skill may have files read for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// In its own folder: nobody has looked at it, or whoever calls it may not read everything.
    Skill,
    /// In its own folder and in the project.
    Project,
}

/// Whether the commands of a skill run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Commands {
    /// They do.
    Run,
    /// They do not, and why.
    Refused(String),
}

/// A body, filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expanded {
    /// The text.
    pub text: String,
    /// What could not be filled in, each as a sentence; the text says it too.
    pub notes: Vec<String>,
}

/// Fills a body in.
pub async fn expand<P: Process>(
    process: &P,
    body: &str,
    arguments: &Arguments,
    setting: &Setting<'_>,
) -> Expanded {
    // Writing to a string cannot fail.
    let places = Places::of(body);
    let mut text = String::with_capacity(body.len());
    let mut notes = Vec::new();
    let mut attached: Vec<(String, Found)> = Vec::new();
    let (mut commands, mut files) = (0, 0);
    for piece in pieces(body) {
        match piece {
            Piece::Text(piece) => text.push_str(&places.fill(piece, arguments)),
            Piece::Command { command } => {
                commands += 1;
                let ran = match &setting.commands {
                    _ if commands > MOST_COMMANDS => {
                        Ran::Not(format!("a skill runs at most {MOST_COMMANDS} commands"))
                    }
                    Commands::Refused(why) => Ran::Not(why.clone()),
                    Commands::Run => command::run(process, command, arguments, setting, commands).await,
                };
                match ran {
                    Ran::Output(output) => text.push_str(output.trim_end_matches('\n')),
                    Ran::Failed { output, why } => {
                        let _ =
                            write!(text, "[the command `{command}` failed: {why}]\n{}", output.trim_end());
                        notes.push(format!("`{command}` failed: {why}"));
                    }
                    Ran::Not(why) => {
                        let _ = write!(text, "!`{command}` [not run: {why}]");
                        notes.push(format!("`{command}` was not run: {why}"));
                    }
                }
            }
            Piece::File { path } => {
                let path = places.fill(path, arguments);
                text.push('@');
                text.push_str(&path);
                if attached.iter().any(|(known, _)| *known == path) {
                    continue;
                }
                match files::find(&path, setting) {
                    Found::Nothing => {}
                    Found::Refused(why) => notes.push(format!("@{path} was not read: {why}")),
                    _ if files >= MOST_FILES => {
                        notes.push(format!("@{path} was not read: a skill names at most {MOST_FILES} files"));
                    }
                    found => {
                        files += 1;
                        attached.push((path.into_owned(), found));
                    }
                }
            }
        }
    }
    if !places.any() && !arguments.raw.is_empty() {
        text = format!("{}\n\n{}", text.trim_end(), arguments.raw);
    }
    let mut text = text.trim().to_owned();
    for (path, found) in attached {
        let mut name = String::new();
        escape(&mut name, &path, 1_024);
        let name = name.replace('"', "&quot;");
        match found {
            Found::File { text: content, cut } => {
                let cut = if cut { "\n[the file goes on]" } else { "" };
                let _ = write!(text, "\n\n<file path=\"{name}\">\n{}{cut}\n</file>", content.trim_end());
            }
            Found::Folder(names) => {
                let _ = write!(text, "\n\n<folder path=\"{name}\">\n{}\n</folder>", names.join("\n"));
            }
            Found::Nothing | Found::Refused(_) => {}
        }
    }
    Expanded { text, notes }
}
