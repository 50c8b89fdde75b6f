//! What is known before a run: inputs, and the steps that will certainly be skipped.

use crate::run::{Run, RunScope, StepStatus};
use crate::value::Value;
use crate::value::expression::Lookup;
use std::borrow::Cow;
use std::cell::RefCell;

/// The names that have a value before a run; whoever asks for another one is told that it comes later.
pub(super) struct PlanScope<'a> {
    run: &'a Run,
    inner: RunScope<'a>,
    /// What was asked for and does not exist yet.
    missing: RefCell<Vec<String>>,
}

impl<'a> PlanScope<'a> {
    pub(super) fn new(run: &'a Run, secrets: &'a [(String, String)]) -> Self {
        Self { run, inner: RunScope::new(run, None, secrets), missing: RefCell::default() }
    }

    /// Returns what an evaluation yields, or the paths that it needs and that do not exist yet.
    ///
    /// What was never looked at does not count: `inputs.fast && steps.build.output == ''` may be decided.
    pub(super) fn known<T>(&self, evaluation: impl FnOnce() -> T) -> Result<T, Vec<String>> {
        self.missing.borrow_mut().clear();
        let value = evaluation();
        let missing = self.missing.take();
        if missing.is_empty() { Ok(value) } else { Err(missing) }
    }

    fn comes_later(&self, segments: &[&str]) -> bool {
        match segments {
            ["steps" | "run"] | ["item" | "index", ..] | ["run", "id", ..] => true,
            ["steps", name, ..] => self.run.position(name).is_some_and(|position| {
                !matches!(self.run.steps[position].status, StepStatus::Skipped(_) | StepStatus::Completed)
            }),
            _ => false,
        }
    }
}

impl Lookup for PlanScope<'_> {
    fn path(&self, segments: &[&str]) -> Option<Cow<'_, Value>> {
        if self.comes_later(segments) {
            let path = segments.join(".");
            let mut missing = self.missing.borrow_mut();
            // After a name that is not there, the ones that lead to it are asked for too.
            let is_known = |known: &String| {
                known.strip_prefix(path.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            if !missing.iter().any(is_known) {
                missing.push(path);
            }
            return None;
        }
        self.inner.path(segments)
    }

    fn is_secret(&self, segments: &[&str]) -> bool {
        self.inner.is_secret(segments)
    }
}
