//! One file, and what abide wants in it: whether it is there, how it gets in, how it is found and taken out.

use crate::codex::Tables;
use crate::hooks::{Hooks, remove_if_empty};
use abide_core::value::Value;
use abide_formats::edit::json::{self, Key};
use abide_formats::edit::jsonc::parse;
use abide_formats::edit::{Draft, Problem};
use abide_formats::json::to_json;
use serde_json::Value as Json;
use std::path::PathBuf;

/// A file and what is wanted in it.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) path: PathBuf,
    pub(crate) content: Content,
}

/// What is wanted in a file.
#[derive(Debug)]
pub(crate) enum Content {
    /// All of it is ours; it starts with this line.
    Whole { text: String, mark: &'static str },
    /// Some members of a JSON object.
    Json { members: Vec<Member>, hooks: Option<Hooks> },
    /// Some tables of a TOML file.
    Toml(Tables),
}

/// A member of a JSON object that is ours.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) path: &'static [&'static str],
    pub(crate) value: Value,
    /// Tells what is ours from what a user wrote under the same key.
    pub(crate) is_ours: fn(&Json) -> bool,
    /// What to do about a user's own value.
    pub(crate) theirs: Theirs,
}

/// What to do when a user has something else under our key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Theirs {
    /// The file cannot be changed.
    Refused,
    /// It stays.
    Kept,
}

impl Member {
    fn found(&self, text: &str) -> Result<Option<Json>, Problem> {
        Ok(parse(text)?.as_ref().and_then(|root| root.at(self.path)).map(|node| node.value(text)))
    }

    /// Returns whether a user has a value of their own under our key, and it stays.
    pub(crate) fn is_kept(&self, text: &str) -> bool {
        let found = self.found(text).ok().flatten();
        self.theirs == Theirs::Kept && found.is_some_and(|found| !(self.is_ours)(&found))
    }
}

impl Content {
    /// Returns whether everything that is wanted is there, as it is wanted.
    pub(crate) fn holds(&self, text: &str) -> Result<bool, Problem> {
        match self {
            Self::Whole { text: wanted, .. } => Ok(text == wanted),
            Self::Json { members, hooks } => {
                for member in members {
                    match member.found(text)? {
                        Some(found) if found == to_json(&member.value) => {}
                        Some(found) if !(member.is_ours)(&found) && member.theirs == Theirs::Kept => {}
                        _ => return Ok(false),
                    }
                }
                hooks.as_ref().map_or(Ok(true), |hooks| hooks.hold(text))
            }
            Self::Toml(tables) => tables.hold(text),
        }
    }

    /// Returns whether anything of ours is there, however old.
    pub(crate) fn is_in(&self, text: &str) -> Result<bool, Problem> {
        match self {
            Self::Whole { mark, .. } => Ok(text.starts_with(mark)),
            Self::Json { .. } | Self::Toml(_) => Ok(self.strip(text)? != text),
        }
    }

    /// Takes out what is ours, found by its shape.
    pub(crate) fn strip(&self, text: &str) -> Result<String, Problem> {
        match self {
            Self::Whole { mark, .. } if text.starts_with(mark) => Ok(String::new()),
            Self::Whole { .. } => Err(Problem::Taken { path: "the file".to_owned() }),
            Self::Json { members, hooks } => {
                let mut text = match hooks {
                    Some(hooks) => hooks.strip(text)?,
                    None => text.to_owned(),
                };
                for member in members {
                    if member.found(&text)?.is_some_and(|found| (member.is_ours)(&found)) {
                        let keys: Vec<Key> =
                            member.path.iter().map(|key| Key::Name((*key).to_owned())).collect();
                        text = json::remove(&text, &keys)?;
                        text = remove_if_empty(&text, &member.path[..member.path.len() - 1])?;
                    }
                }
                Ok(text)
            }
            Self::Toml(tables) => tables.strip(text),
        }
    }

    /// Puts in what is wanted, where nothing of ours is.
    pub(crate) fn insert(&self, draft: &mut Draft) -> Result<(), Problem> {
        match self {
            Self::Whole { text, .. } => {
                *draft = Draft::new(text.clone());
                Ok(())
            }
            Self::Json { members, hooks } => {
                for member in members {
                    match (member.found(draft.text())?, member.theirs) {
                        (None, _) => json::put(draft, member.path, &member.value)?,
                        (Some(_), Theirs::Kept) => {}
                        (Some(_), Theirs::Refused) => {
                            return Err(Problem::Taken { path: member.path.join(".") });
                        }
                    }
                }
                hooks.as_ref().map_or(Ok(()), |hooks| hooks.insert(draft))
            }
            Self::Toml(tables) => tables.insert(draft),
        }
    }
}
