//! What of the definitions a verdict can depend on, so that an index of thousands is looked into and not read.
//!
//! This decides nothing: [`verdict`](super::verdict()) does, over whatever it is shown. Here stands what need not be shown to it because
//! it could make no difference. In doubt everything is shown.

use super::call::ToolCall;
use super::guard::{Reached, reached};
use super::kind::{ToolKind, kind};
use super::likeness::names;
use super::path::{Files, Place, in_normal_form, inside};
use super::reserve::{program_of, programs};
use super::situation::Situation;
use super::subject::Subject;
use crate::definition::Protect;

/// What of the definitions a verdict can depend on.
#[derive(Default)]
pub struct Sought {
    /// The names of the programs that could run, in lower case; nothing if every reservation is to be shown.
    programs: Option<Vec<String>>,
    /// What could be changed; nothing if every guarded path is to be shown.
    reached: Option<Vec<Reached>>,
}

/// Returns the name in lower case under which a reservation is sought; one without a name is always shown.
pub fn name_of_reserved(pattern: &Protect) -> Option<String> {
    program_of(pattern).map(str::to_ascii_lowercase)
}

/// Returns the folder, in its one spelling, under which a guarded path is sought; one without a folder is always shown.
pub fn folder_of_guarded(path: &str) -> Option<String> {
    let path = in_normal_form(path);
    let (folder, name) = path.rsplit_once('/')?;
    (!name.is_empty()).then(|| if folder.is_empty() { "/".to_owned() } else { folder.to_owned() })
}

impl Sought {
    /// Everything.
    pub fn everything() -> Self {
        Self::default()
    }

    /// Nothing but what is always shown.
    pub fn nothing() -> Self {
        Self { programs: Some(Vec::new()), reached: Some(Vec::new()) }
    }

    /// Returns what the verdict about a call can depend on, whatever the session is in.
    pub fn by(call: &ToolCall, place: &Place, files: &dyn Files) -> Self {
        if kind(call.client, &call.name) == ToolKind::Batch && !call.arguments.unreadable {
            let calls = call.arguments.nested.iter();
            return calls.map(|call| Self::by(call, place, files)).fold(Self::nothing(), Self::and);
        }
        let situation = Situation::at_place(place);
        let subject = Subject::new(&situation, call, files);
        let programs = subject.line().map_or_else(|| Some(Vec::new()), programs);
        let programs = programs.map(|programs| {
            programs.into_iter().flat_map(names).map(str::to_ascii_lowercase).collect::<Vec<_>>()
        });
        Self { programs, reached: reached(&subject) }
    }

    /// Returns the names of [`name_of_reserved`] that are sought; nothing if all are.
    pub fn names(&self) -> Option<&[String]> {
        self.programs.as_deref()
    }

    /// Returns whether the guarded paths in a folder of [`folder_of_guarded`] are sought.
    pub fn is_in(&self, folder: &str) -> bool {
        let Some(reached) = &self.reached else { return true };
        // What is guarded in the folder is the path or above it, or, if all below the path is changed, below it.
        reached.iter().any(|Reached { path, trees }| inside(path, folder) || *trees && inside(folder, path))
    }

    fn and(self, other: Self) -> Self {
        let programs = self.programs.zip(other.programs).map(|(one, other)| [one, other].concat());
        let reached = self.reached.zip(other.reached).map(|(mut one, other)| {
            one.extend(other);
            one
        });
        Self { programs, reached }
    }
}
