//! Problems as one JSON document, for programs.
//!
//! ```json
//! {
//!   "files": [
//!     {
//!       "path": ".abide/abilities/release.yaml",
//!       "problems": [
//!         {
//!           "code": "E0302", "severity": "error",
//!           "title": "a step needs a step that does not exist",
//!           "message": "step `deploy` needs `aprove`, which is not a step",
//!           "line": 31, "column": 13, "end_line": 31, "end_column": 19, "offset": 702, "length": 6,
//!           "label": "did you mean `approve`?",
//!           "help": "`needs` names steps of the same ability by their `id`",
//!           "related": [],
//!           "fix": { "line": 31, "column": 13, "end_line": 31, "end_column": 19, "offset": 702, "length": 6, "text": "approve" },
//!           "explain": "abide explain E0302"
//!         }
//!       ]
//!     }
//!   ],
//!   "errors": 1,
//!   "warnings": 0
//! }
//! ```
//!
//! Every field is always there. Lines and columns count from 1, columns in characters; the end is one past
//! the last character. `offset` and `length` count bytes of the text (a byte-order mark is not part of it).
//! `label`, `help` and `fix` may be null; so are the numbers of a problem that is about the file as a whole,
//! or about a file that could not be read. A place in `related` has the numbers, its `path` and its `text`.

use super::text::{Text, Texts};
use super::{Counts, FileReport, Sources};
use crate::ui::visible::escaped_json;
use abide_core::diagnostic::Diagnostic;
use abide_core::source::Span;
use serde::Serialize;

/// Returns the problems of all files as one JSON document.
pub fn to_json(reports: &[FileReport<'_>], sources: Sources<'_>) -> String {
    let mut texts = Texts::new(sources);
    let counts = Counts::of(reports);
    let document = Document {
        files: reports.iter().map(|report| file(report, &mut texts)).collect(),
        errors: counts.errors,
        warnings: counts.warnings,
    };
    // Strings and numbers only: there is nothing that could not be written.
    escaped_json(serde_json::to_string_pretty(&document).unwrap_or_default())
}

#[derive(Serialize)]
struct Document<'a> {
    files: Vec<File<'a>>,
    errors: usize,
    warnings: usize,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    problems: Vec<Problem<'a>>,
}

#[derive(Serialize)]
struct Problem<'a> {
    code: &'static str,
    severity: &'static str,
    title: &'static str,
    message: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    offset: Option<usize>,
    length: Option<usize>,
    label: Option<&'a str>,
    help: Option<&'a str>,
    related: Vec<Related<'a>>,
    fix: Option<Fix<'a>>,
    explain: String,
}

#[derive(Serialize)]
struct Related<'a> {
    path: &'a str,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    offset: Option<usize>,
    length: Option<usize>,
    text: &'a str,
}

#[derive(Serialize)]
struct Fix<'a> {
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    offset: Option<usize>,
    length: Option<usize>,
    text: &'a str,
}

/// The numbers of a place; none of them when there is no text to count in.
#[derive(Default)]
struct Numbers {
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    offset: Option<usize>,
    length: Option<usize>,
}

impl Numbers {
    fn of(text: Option<&Text>, at: Option<Span>) -> Self {
        let (Some(text), Some(at)) = (text, at) else { return Self::default() };
        let range = text.range(at);
        let (start, end) = (text.place(range.start), text.place(range.end));
        Self {
            line: Some(start.line),
            column: Some(start.column),
            end_line: Some(end.line),
            end_column: Some(end.column),
            offset: Some(range.start),
            length: Some(range.len()),
        }
    }
}

fn file<'a>(report: &FileReport<'a>, texts: &mut Texts<'_>) -> File<'a> {
    let own = texts.own(report);
    let problems =
        report.problems.iter().map(|found| problem(report.path, own.as_deref(), found, texts)).collect();
    File { path: report.path, problems }
}

fn problem<'a>(
    path: &'a str,
    own: Option<&Text>,
    problem: &'a Diagnostic,
    texts: &mut Texts<'_>,
) -> Problem<'a> {
    let Numbers { line, column, end_line, end_column, offset, length } = Numbers::of(own, problem.at);
    Problem {
        code: problem.code.id(),
        severity: problem.severity().word(),
        title: problem.code.title(),
        message: &problem.message,
        line,
        column,
        end_line,
        end_column,
        offset,
        length,
        label: problem.label.as_deref(),
        help: problem.help.as_deref(),
        related: problem
            .related
            .iter()
            .map(|related| {
                let path = related.file.as_deref().unwrap_or(path);
                let text = texts.other(path);
                let Numbers { line, column, end_line, end_column, offset, length } =
                    Numbers::of(text.as_deref(), Some(related.at));
                Related { path, line, column, end_line, end_column, offset, length, text: &related.text }
            })
            .collect(),
        fix: problem.fix.as_ref().map(|fix| {
            let Numbers { line, column, end_line, end_column, offset, length } =
                Numbers::of(own, Some(fix.at));
            Fix { line, column, end_line, end_column, offset, length, text: &fix.text }
        }),
        explain: format!("abide explain {}", problem.code),
    }
}
