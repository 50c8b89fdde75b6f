//! What has to change on the disk, worked out before anything is written.

use crate::file;
use crate::piece::{Content, Piece};
use crate::receipt::Receipt;
use crate::{Client, Error, Target, claude, codex, opencode};
use abide_formats::edit::{Draft, Problem};
use std::path::{Path, PathBuf};

/// Everything that an install or an uninstall changes.
#[derive(Debug)]
pub struct Plan<'a> {
    target: Target<'a>,
    /// File by file, in the order in which they are written.
    pub changes: Vec<Change>,
    /// How many hooks are approved in the user's name, which a person must agree to.
    pub approvals: usize,
    /// What a person should know besides.
    pub notes: Vec<String>,
}

/// What happens to one file.
#[derive(Debug)]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// What it holds now; nothing if there is none.
    pub before: Option<String>,
    /// What it will hold; nothing if it is removed.
    pub after: Option<String>,
    /// What to remember about it; nothing forgets what was remembered.
    receipt: Option<Receipt>,
    /// Folders that were made for the file, and go with it.
    folders: Vec<PathBuf>,
}

/// Works out how abide gets into a client; nothing is to change where it is in already.
pub fn install(target: Target<'_>) -> Result<Plan<'_>, Error> {
    let mut plan = Plan { target, changes: Vec::new(), approvals: 0, notes: Vec::new() };
    for piece in pieces(&target, |piece| Ok(install_piece(&target, piece)?.1))? {
        let (change, text) = install_piece(&target, &piece)?;
        if let (Content::Toml(tables), true) = (&piece.content, change.is_some()) {
            plan.approvals += tables.approvals();
        }
        plan.notes.extend(note(&piece, &text));
        plan.changes.extend(change);
    }
    plan.notes.extend(kept_server(&target)?);
    Ok(plan)
}

/// Works out how abide gets out of a client.
pub fn uninstall(target: Target<'_>) -> Result<Plan<'_>, Error> {
    let now = |piece: &Piece| Ok(file::read(&piece.path)?.unwrap_or_default());
    let mut changes = Vec::new();
    for piece in pieces(&target, now)? {
        let Some(before) = file::read(&piece.path)? else { continue };
        let failed = |problem| Error::Edit { path: piece.path.clone(), problem };
        if !piece.content.is_in(&before).map_err(failed)? {
            continue;
        }
        let receipt = Receipt::load(&target, &piece.path);
        let (created, folders) = receipt
            .as_ref()
            .map_or((false, Vec::new()), |receipt| (receipt.created, receipt.folders.clone()));
        let restored = receipt.as_ref().and_then(|receipt| receipt.undo(&before));
        let after = match (restored, &piece.content) {
            (_, Content::Whole { .. }) => None,
            (Some(_), _) if created => None,
            (Some(text), _) => Some(text),
            (None, content) => {
                let text = content.strip(&before).map_err(failed)?;
                // A file that was made for abide, and to which nobody added anything, goes.
                Some(text).filter(|text| !(created && matches!(text.trim(), "" | "{}")))
            }
        };
        changes.push(Change {
            path: piece.path.clone(),
            before: Some(before),
            after,
            receipt: None,
            folders,
        });
    }
    // What was written last is taken out first.
    changes.reverse();
    Ok(Plan { target, changes, approvals: 0, notes: Vec::new() })
}

pub(crate) fn pieces(
    target: &Target<'_>,
    hooks_text: impl Fn(&Piece) -> Result<String, Error>,
) -> Result<Vec<Piece>, Error> {
    match target.client {
        Client::Claude => claude::pieces(target),
        Client::OpenCode => opencode::pieces(target),
        Client::Codex => codex::pieces(target, hooks_text),
    }
}

/// Says that a server stays which nobody asked for this time.
fn kept_server(target: &Target<'_>) -> Result<Option<String>, Error> {
    let found = match target.client {
        Client::Claude => claude::entry(target)?,
        Client::OpenCode => opencode::entry(target)?,
        Client::Codex => codex::entry(target)?,
    };
    let server = found.and_then(|found| found.server).filter(|_| target.server.is_none());
    Ok(server.map(|server| {
        format!(
            "its agent is given the abilities of the server {}, and stays so; uninstall abide and install it again for those of this machine",
            server.url
        )
    }))
}

/// Returns the change of a file, if there is one, and the text that it holds in the end.
fn install_piece(target: &Target<'_>, piece: &Piece) -> Result<(Option<Change>, String), Error> {
    let failed = |problem: Problem| Error::Edit { path: piece.path.clone(), problem };
    let before = file::read(&piece.path)?;
    if let Some(text) = &before
        && piece.content.holds(text).map_err(failed)?
    {
        return Ok((None, text.clone()));
    }
    let old = Receipt::load(target, &piece.path).filter(|_| before.is_some());
    let base = match &before {
        None => String::new(),
        Some(text) => match old.as_ref().and_then(|receipt| receipt.undo(text)) {
            Some(text) => text,
            None => piece.content.strip(text).map_err(failed)?,
        },
    };
    let mut draft = Draft::new(base);
    piece.content.insert(&mut draft).map_err(failed)?;
    let after = draft.text().to_owned();
    let created = before.is_none() || old.as_ref().is_some_and(|receipt| receipt.created);
    let mut receipt = Receipt::of(&draft, created);
    receipt.folders = old.map(|receipt| receipt.folders).unwrap_or_default();
    let change = Change {
        path: piece.path.clone(),
        before,
        after: Some(after.clone()),
        receipt: Some(receipt),
        folders: Vec::new(),
    };
    Ok((Some(change), after))
}

/// Says what of the user's is kept although abide would have it otherwise.
fn note(piece: &Piece, text: &str) -> Option<String> {
    let members = match &piece.content {
        Content::Json { members, .. } => members,
        Content::Toml(tables) => return tables.kept(text).map(str::to_owned),
        Content::Whole { .. } => return None,
    };
    let kept = members.iter().find(|member| member.is_kept(text))?;
    let value = abide_formats::json::to_json(&kept.value);
    Some(format!(
        "{} in {} is yours and stays; abide would set it to {value}",
        kept.path.join("."),
        piece.path.display()
    ))
}

impl Plan<'_> {
    /// Makes the changes, each file whole or not at all, and stops at the first that cannot be made.
    pub fn apply(&self) -> Result<(), Error> {
        for change in &self.changes {
            self.make(change)?;
        }
        Ok(())
    }

    fn make(&self, Change { path, before, after, receipt, folders }: &Change) -> Result<(), Error> {
        let made = match (before, after) {
            (_, Some(after)) => file::write(path, before.as_deref(), after, is_private(path))?,
            (Some(before), None) => {
                file::remove(path, before, folders)?;
                Vec::new()
            }
            (None, None) => Vec::new(),
        };
        match receipt {
            Some(receipt) => {
                let mut receipt = receipt.clone();
                receipt.folders.extend(made);
                receipt.save(&self.target, path)?;
            }
            None => Receipt::forget(&self.target, path)?,
        }
        Ok(())
    }
}

/// Returns whether a client keeps keys and tokens in a file, so that nobody else may read a new one.
fn is_private(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    matches!(name, Some(".claude.json" | "config.toml"))
}
