//! Problems of files, as a person or a program reads them.
//!
//! [`render_terminal`] shows each problem with its line of source, [`summary`] counts them, [`to_json`] and
//! [`to_sarif`] hand them to programs. None of them panics or lets a control character through, whatever
//! the files hold.

mod json;
mod sarif;
mod snippet;
mod terminal;
#[cfg(test)]
mod tests;
mod text;

pub use json::to_json;
pub use sarif::to_sarif;
pub use terminal::render_terminal;

use abide_core::diagnostic::Diagnostic;

/// What is wrong with one file.
#[derive(Debug, Clone, Copy)]
pub struct FileReport<'a> {
    /// The file's path as it is shown: relative to where abide was started, where that is shorter.
    pub path: &'a str,
    /// The file's text that the spans are about, when it could be read.
    pub source: Option<&'a str>,
    /// Its problems, in the order in which they are shown.
    pub problems: &'a [Diagnostic],
}

/// Finds the text of another file that a problem refers to, by its path as it is shown.
pub type Sources<'a> = &'a dyn Fn(&str) -> Option<String>;

/// How many problems there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Problems that keep a definition from being used.
    pub errors: usize,
    /// Problems that do not.
    pub warnings: usize,
    /// Files with at least one problem.
    pub files: usize,
}

impl Counts {
    /// Counts the problems of some files.
    pub fn of(reports: &[FileReport<'_>]) -> Self {
        let problems = || reports.iter().flat_map(|report| report.problems);
        let errors = problems().filter(|problem| problem.is_error()).count();
        Self {
            errors,
            warnings: problems().count() - errors,
            files: reports.iter().filter(|report| !report.problems.is_empty()).count(),
        }
    }
}

/// Returns the line that ends a report, such as `3 errors and 1 warning in 2 files`.
pub fn summary(reports: &[FileReport<'_>]) -> String {
    let counts = Counts::of(reports);
    let errors = counted(counts.errors, "error");
    let warnings = counted(counts.warnings, "warning");
    let problems = match (counts.errors, counts.warnings) {
        (0, 0) => return format!("no problems in {}", counted(reports.len(), "file")),
        (_, 0) => errors,
        (0, _) => warnings,
        _ => format!("{errors} and {warnings}"),
    };
    format!("{problems} in {}", counted(counts.files, "file"))
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
