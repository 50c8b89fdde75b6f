//! Whether the gate is in a client, as its files say it; whether it holds is for a live call to prove.

use crate::hooks::Hooks;
use crate::piece::{Content, Piece};
use crate::{Client, Error, Target, file, opencode, plan};
use std::path::PathBuf;

/// How far abide is in a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Gate {
    /// Nothing of it is there.
    Absent,
    /// Everything is as `abide install` would write it now.
    Installed,
    /// It is there, but not as this program would write it.
    Different {
        /// The files that differ.
        files: Vec<PathBuf>,
        /// The program that the client starts, if that is another one.
        program: Option<PathBuf>,
    },
}

/// Looks whether abide is in a client, without changing anything.
pub fn inspect(target: &Target<'_>) -> Result<Gate, Error> {
    let now = |piece: &Piece| Ok(file::read(&piece.path)?.unwrap_or_default());
    let mut different = Vec::new();
    let mut any = false;
    let mut program = None;
    for piece in plan::pieces(target, now)? {
        let failed = |problem| Error::Edit { path: piece.path.clone(), problem };
        let text = file::read(&piece.path)?;
        let text = text.as_deref().unwrap_or_default();
        // What belongs to every project of a user says nothing about this one.
        any |= piece.content.is_in(text).map_err(failed)?;
        if !piece.content.holds(text).map_err(failed)? {
            different.push(piece.path.clone());
        }
        program = program.or(program_of(target.client, &piece.content, text).map_err(failed)?);
    }
    Ok(match (any, different.is_empty()) {
        (false, _) => Gate::Absent,
        (true, true) => Gate::Installed,
        (true, false) => {
            Gate::Different { files: different, program: program.filter(|program| program != target.binary) }
        }
    })
}

fn program_of(
    client: Client,
    content: &Content,
    text: &str,
) -> Result<Option<PathBuf>, abide_formats::edit::Problem> {
    Ok(match content {
        Content::Whole { .. } => opencode::program_of(text).map(PathBuf::from),
        Content::Json { hooks: Some(hooks), .. } => started(client, hooks, text)?,
        Content::Json { hooks: None, .. } | Content::Toml(_) => None,
    })
}

fn started(
    client: Client,
    hooks: &Hooks,
    text: &str,
) -> Result<Option<PathBuf>, abide_formats::edit::Problem> {
    let found = hooks.found(text)?;
    let command = found.first().and_then(|handler| handler.value["command"].as_str());
    Ok(match client {
        Client::Codex => command.and_then(crate::codex::program_of).map(PathBuf::from),
        Client::Claude | Client::OpenCode => command.map(PathBuf::from),
    })
}
