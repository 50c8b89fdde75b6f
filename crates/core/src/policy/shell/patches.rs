//! Programs that write the files that a patch names: the words of the line do not tell which.

use super::reader::{Input, Reader};
use super::{ANY, Folders, MANY, World};
use crate::policy::glob::is_known;
use crate::policy::patch;

/// How many parts of a path may be dropped: `patch -p3`.
const MOST_DROPPED: usize = 16;

/// A program that takes a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patcher {
    /// `apply_patch`, which Codex takes out of a shell line and does itself: models write the patch beside it.
    Inline,
    /// `patch` and `git apply`: the patch is often a file.
    Diff,
}

/// Returns which patcher a command is.
pub(super) fn patcher(name: &str, words: &[String]) -> Option<Patcher> {
    let takes = |name: &str| words.iter().skip(1).any(|word| word == name);
    match name.to_ascii_lowercase().as_str() {
        "apply_patch" | "applypatch" => Some(Patcher::Inline),
        "patch" | "gpatch" => Some(Patcher::Diff),
        "git" if takes("apply") || takes("am") => Some(Patcher::Diff),
        _ => None,
    }
}

impl Reader<'_> {
    /// Notes the files that a patch writes.
    pub(super) fn patch(&mut self, patcher: Patcher, words: &[String], input: &Input) {
        let folders = self.world.folders.clone();
        let texts = match input {
            _ if patcher == Patcher::Inline && words.len() > 1 => &words[1..],
            Input::Text(texts) if !texts.is_empty() => texts,
            Input::Here(at) if self.pending.len() > *at => {
                self.pending[*at].patch = Some((patcher, folders));
                return;
            }
            Input::Text(_) | Input::Here(_) | Input::Open | Input::File(_) => {
                return self.world.writes_somewhere(patcher, &folders);
            }
        };
        for text in texts {
            self.world.patched(patcher, text, &folders);
        }
    }
}

impl World {
    /// Notes the files that the text of a patch names.
    pub(super) fn patched(&mut self, patcher: Patcher, text: &str, folders: &Folders) {
        let mut paths = Vec::new();
        let all = is_known(text) && patch::paths(text, &mut paths);
        for path in &paths {
            let parts = path.match_indices('/').map(|(at, _)| &path[at + 1..]);
            let dropped = parts.take(if patcher == Patcher::Diff { MOST_DROPPED } else { 0 });
            for path in std::iter::once(path.as_str()).chain(dropped).filter(|path| !path.is_empty()) {
                self.line.writes.push((path.to_owned(), folders.clone()));
            }
        }
        if !all || paths.is_empty() {
            self.writes_somewhere(patcher, folders);
        }
    }

    /// Notes that a file is written, and that nobody can tell which.
    fn writes_somewhere(&mut self, patcher: Patcher, folders: &Folders) {
        let somewhere = match patcher {
            // Who hides a patch that would be as easily written out has something to hide.
            Patcher::Inline => format!("/{ANY}"),
            Patcher::Diff => MANY.to_string(),
        };
        self.line.writes.push((somewhere, folders.clone()));
    }
}
