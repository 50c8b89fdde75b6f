//! The keys of every format, declared once.
//!
//! Each table is the only list of the keys that a file may have. The readers take their keys, and so their
//! unknown-key messages, from it; the JSON Schema and the reference page are generated from it. A key that
//! is in a table and that no reader takes fails a test, as does a value that a table allows and a reader
//! refuses.

mod ability;
mod agent;
mod bundle;
mod config;
mod step;

pub use ability::{ABILITY, INPUT, SETTINGS, TRIGGERS};
pub use agent::{AGENT, ALLOWANCE, BUDGET};
pub use bundle::{BUNDLE, BUNDLE_TOOL};
pub(crate) use bundle::{CAPABILITY_ID, REQUIREMENT, TOOL_NAME};
pub use config::{
    ABILITIES, AGENT_SETTINGS, CONFIG, MODEL_SETTINGS, PRICE, PROVIDER, RUNS, SECRET_SOURCE, SERVER,
    SESSIONS, SKILLS, WEB, WEBHOOK,
};
pub(crate) use config::{ADDRESS, SEARCH_ADDRESS};
pub use step::{
    AGENT_STEP, APPROVAL_STEP, OPTION, REPEAT, SCRIPT_STEP, SECRET, SKILL_STEP, STEP_RECORDS, VALIDATION,
    WORKFLOW_STEP,
};

/// A mapping with known keys.
#[derive(Debug)]
pub struct Record {
    /// What messages and the schema call it, such as `script step`.
    pub name: &'static str,
    /// What it is for.
    pub doc: &'static str,
    /// Its keys, in groups that other records share.
    pub groups: &'static [&'static [Key]],
    /// What happens to keys that are not in the table.
    pub others: Others,
}

/// What a reader does with keys that its table does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Others {
    /// They are errors: the format is ours.
    Refused,
    /// They belong to another tool that reads the same file.
    Foreign,
}

impl Record {
    /// Returns every key, in order.
    pub fn keys(&self) -> impl Iterator<Item = &'static Key> + '_ {
        self.groups.iter().flat_map(|group| group.iter())
    }
}

/// One key of a mapping.
#[derive(Debug)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What it does, in one or two sentences.
    pub doc: &'static str,
    /// What its value may be.
    pub shape: Shape,
    /// Whether it must be given.
    pub required: bool,
    /// What holds when it is not given, in words.
    pub default: Option<&'static str>,
}

/// What a value may be.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Text; numbers and booleans are taken as they are written.
    Text,
    /// Text with `{{…}}` placeholders.
    Template,
    /// A boolean expression.
    Expression,
    /// A duration such as `1h30m`.
    Duration,
    /// A regular expression.
    Regex,
    /// A name that must match this regular expression.
    Name(&'static str),
    /// `true` or `false`.
    Bool,
    /// A whole number within bounds.
    Int(i64, i64),
    /// A number.
    Number,
    /// A number from zero to this.
    Amount(i64),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list, with the least number of items.
    List(&'static Shape, usize),
    /// One value, or a list of them.
    OneOrMany(&'static Shape),
    /// A mapping from names of the user's own to values.
    Map(&'static str, &'static Shape),
    /// A mapping with known keys.
    Record(&'static Record),
    /// One of several shapes.
    AnyOf(&'static [Shape]),
    /// Nothing: the key stands without a value.
    Nothing,
    /// Any value.
    Data,
    /// A JSON Schema.
    Schema,
}

impl Key {
    /// Declares a key that may be left out.
    pub const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, doc, shape, required: false, default: None }
    }

    /// Declares a key that must be given.
    pub const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, doc, shape, required: true, default: None }
    }

    /// Adds what holds when the key is not given.
    #[must_use]
    pub const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }
}

/// How names of steps and inputs are written.
pub(crate) const WORD: &str = "^[A-Za-z_][A-Za-z0-9_-]{0,63}$";
/// How names of abilities are written.
pub(crate) const ABILITY_NAME: &str = "^[a-z0-9][a-z0-9_-]*(/[a-z0-9][a-z0-9_-]*)*$";
/// How names of agents and skills are written.
pub(crate) const FOREIGN_NAME: &str = "^[\\p{L}\\p{N}][\\p{L}\\p{N}_.:/@+-]{0,127}$";
/// How models are named.
pub(crate) const MODEL_NAME: &str = r"^[A-Za-z_][A-Za-z0-9_-]{0,63}/[^/\s]\S*$";
/// How a provider names its models.
pub(crate) const MODEL: &str = r"^[^/\s]\S*$";
/// How names of environment variables are written.
pub(crate) const VARIABLE_NAME: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
