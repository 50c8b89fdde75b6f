//! What was inserted into which file, so that it can be taken out to the same bytes.
//!
//! A receipt holds places and a digest, never a text: the files of clients have keys and tokens in them. It is
//! for one file, one client and one project, so that two projects that share a user's file do not mix theirs up.
//! Without one, or when the file was changed since, what is abide's is found by its shape instead.

use crate::file::{self, FileError};
use crate::{Places, Target};
use abide_formats::edit::{Draft, without};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The version of the format.
const VERSION: u64 = 1;

/// What was done to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Receipt {
    /// Whether the file was made for it.
    pub(crate) created: bool,
    /// The folders that were made for it, outermost first.
    pub(crate) folders: Vec<PathBuf>,
    added: Vec<Range<usize>>,
    digest: String,
}

impl Receipt {
    /// Records what a draft added.
    pub(crate) fn of(draft: &Draft, created: bool) -> Self {
        Self { created, folders: Vec::new(), added: draft.added().to_vec(), digest: digest(draft.text()) }
    }

    /// Returns the text as it was before, unless somebody changed it since.
    pub(crate) fn undo(&self, text: &str) -> Option<String> {
        if digest(text) == self.digest { without(text, &self.added) } else { None }
    }

    /// Finds the receipt for a file.
    pub(crate) fn load(target: &Target<'_>, path: &Path) -> Option<Self> {
        // A receipt that cannot be read is as good as none.
        let text = file::read(&place(target, path)?).ok()??;
        Self::parse(&serde_json::from_str(&text).ok()?)
    }

    fn parse(value: &Value) -> Option<Self> {
        if value["version"] != VERSION {
            return None;
        }
        let number = |value: &Value| value.as_u64().and_then(|number| usize::try_from(number).ok());
        let added = value["added"].as_array()?.iter();
        let folders = value["folders"].as_array()?.iter();
        Some(Self {
            created: value["created"].as_bool()?,
            folders: folders.map(|folder| folder.as_str().map(PathBuf::from)).collect::<Option<_>>()?,
            added: added.map(|pair| Some(number(&pair[0])?..number(&pair[1])?)).collect::<Option<_>>()?,
            digest: value["sha256"].as_str()?.to_owned(),
        })
    }

    /// Keeps the receipt.
    pub(crate) fn save(&self, target: &Target<'_>, path: &Path) -> Result<(), FileError> {
        let Some(place) = place(target, path) else { return Ok(()) };
        let added: Vec<Value> = self.added.iter().map(|part| json!([part.start, part.end])).collect();
        let folders: Vec<_> = self.folders.iter().map(|folder| folder.to_string_lossy()).collect();
        let document = json!({
            "version": VERSION, "file": path.to_string_lossy(), "created": self.created, "folders": folders,
            "added": added, "sha256": self.digest,
        });
        let before = file::read(&place)?;
        file::write(&place, before.as_deref(), &format!("{document}\n"), true).map(drop)
    }

    /// Forgets the receipt.
    pub(crate) fn forget(target: &Target<'_>, path: &Path) -> Result<(), FileError> {
        let Some(place) = place(target, path) else { return Ok(()) };
        match file::read(&place)? {
            Some(text) => file::remove(&place, &text, &[]),
            None => Ok(()),
        }
    }
}

fn place(target: &Target<'_>, path: &Path) -> Option<PathBuf> {
    let Places { state_home, root, .. } = target.places;
    let root = if target.scope == crate::Scope::Project { root.as_path() } else { Path::new("") };
    let key = [path, Path::new(target.client.word()), Path::new(target.scope.word()), root];
    let key: Vec<_> = key.iter().map(|part| part.to_string_lossy()).collect();
    Some(
        state_home.as_ref()?.join("abide/installed").join(format!("{}.json", &digest(&key.join("\0"))[..32])),
    )
}

pub(crate) fn digest(text: &str) -> String {
    use std::fmt::Write as _;
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
