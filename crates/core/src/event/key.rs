//! What runs, steps and moments are called in the log.

use crate::definition::StepId;
use smol_str::SmolStr;
use std::fmt;

/// The id of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(SmolStr);

impl RunId {
    /// Takes an id as it was made or stored: letters, digits and `-`.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = !text.is_empty()
            && text.len() <= 64
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        fits.then(|| Self(text.into()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A moment, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the moment that much later.
    #[must_use]
    pub fn after(self, time: std::time::Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Returns how long it is until this moment, and nothing if it has passed.
    pub fn since(self, earlier: Self) -> std::time::Duration {
        std::time::Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// One instance of a step: the step itself, or one item of its `for_each`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StepKey {
    /// The step.
    pub step: StepId,
    /// The label of the item.
    pub item: Option<SmolStr>,
}

impl StepKey {
    /// Returns the key of a step without instances.
    pub fn of(step: StepId) -> Self {
        Self { step, item: None }
    }

    /// Reads a key as it is displayed.
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_suffix(']').and_then(|text| text.split_once('[')) {
            Some((step, item)) => Some(Self { step: StepId::parse(step).ok()?, item: Some(item.into()) }),
            None => Some(Self::of(StepId::parse(text).ok()?)),
        }
    }
}

impl fmt::Display for StepKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.item {
            Some(item) => write!(out, "{}[{item}]", self.step),
            None => write!(out, "{}", self.step),
        }
    }
}

/// A script that belongs to a run's start or end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HookKey {
    /// Before the steps or after them.
    pub phase: HookPhase,
    /// The file's name.
    pub file: SmolStr,
}

/// When a hook runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HookPhase {
    /// Before the first step.
    Before,
    /// After everything, whatever came of it.
    After,
}

impl fmt::Display for HookKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = match self.phase {
            HookPhase::Before => "before",
            HookPhase::After => "after",
        };
        write!(out, "hooks/{phase}/{}", self.file)
    }
}
