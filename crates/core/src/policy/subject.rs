//! A call with everything that is found out about it once: its kind, and what its shell text can run.

use super::call::ToolCall;
use super::kind::{ToolKind, kind, takes_other_code};
use super::path::{Files, absolute, in_normal_form, normal};
use super::shell::{self, Blind, Line};
use super::situation::Situation;
use std::cell::OnceCell;

/// What a verdict is about.
pub(super) struct Subject<'a> {
    pub(super) situation: &'a Situation,
    pub(super) call: &'a ToolCall,
    pub(super) kind: ToolKind,
    pub(super) files: &'a dyn Files,
    /// Read only when a verdict depends on it: most do not.
    line: OnceCell<Option<Line>>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(situation: &'a Situation, call: &'a ToolCall, files: &'a dyn Files) -> Self {
        Self { situation, call, kind: kind(call.client, &call.name), files, line: OnceCell::new() }
    }

    /// Returns what the shell text of the call can run, if it has shell text.
    pub(super) fn line(&self) -> Option<&Line> {
        self.line.get_or_init(|| self.read_line()).as_ref()
    }

    fn read_line(&self) -> Option<Line> {
        let arguments = &self.call.arguments;
        let blind = |why| Some(Line { blind: Some(why), ..Line::default() });
        let mut line = match (&arguments.command, self.kind) {
            (_, ToolKind::Execute | ToolKind::Other) if arguments.unreadable => {
                return blind(Blind::Syntax("its arguments"));
            }
            (_, ToolKind::Execute) if takes_other_code(&self.call.name) => {
                return blind(Blind::Inline(self.call.name.clone()));
            }
            (Some(text), ToolKind::Execute | ToolKind::Other) => {
                shell::read(text, &self.situation.place, arguments.directory.as_deref())
            }
            (None, ToolKind::Execute) => return blind(Blind::Syntax("there is none")),
            (None, ToolKind::Other) if !arguments.told.is_empty() => Line::default(),
            _ => return None,
        };
        if !arguments.told.is_empty() {
            let told = shell::read_told(&arguments.told, &self.situation.place);
            line.commands.extend(told.commands);
            line.copies |= told.copies;
            line.blind = line.blind.or(told.blind);
        }
        Some(line)
    }

    /// Returns the spellings by which the path of a call is compared: normal, and where it really leads.
    pub(super) fn spellings(&self, path: &str) -> Vec<String> {
        let place = &self.situation.place;
        // Some tools take paths from the project's root, others from where the session is.
        let mut found = Vec::new();
        for folder in [&place.cwd, &place.root] {
            let raw = absolute(path, folder, place.home.as_deref());
            found.push(normal(&raw, folder));
            found.extend(self.files.real(&raw).map(|real| normal(&real, folder)));
        }
        found.sort();
        found.dedup();
        found
    }

    /// Returns a normal path as it is written from the project's root.
    pub(super) fn seen_from_root(&self, path: &str) -> String {
        seen_from(path, &self.situation.place.root)
    }
}

/// Returns a normal path as it is written from a folder.
pub(super) fn seen_from(path: &str, folder: &str) -> String {
    let folder = in_normal_form(folder);
    match path.strip_prefix(&*folder).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) => rest.to_owned(),
        None => path.to_owned(),
    }
}
