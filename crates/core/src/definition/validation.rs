//! What proves that a step was done.

use crate::source::Spanned;
use crate::value::{Template, Value};

/// The evidence that a step must show; every rule that is given must hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Validation {
    /// The exit codes that count as success.
    pub exit_code: Vec<Spanned<i32>>,
    /// Texts that must occur in standard output.
    pub stdout_contains: Vec<Spanned<Template>>,
    /// Texts that must occur in standard error.
    pub stderr_contains: Vec<Spanned<Template>>,
    /// Regular expressions that standard output must match.
    pub stdout_matches: Vec<Spanned<super::Pattern>>,
    /// Paths that must exist.
    pub file_exists: Vec<Spanned<Template>>,
    /// The JSON Schema that the output must fit.
    pub json_schema: Option<Spanned<Value>>,
    /// Commands that must exit with 0.
    pub check: Vec<Spanned<Template>>,
}
