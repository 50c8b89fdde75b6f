//! Why a text is not an expression or a template, and where in the file.

use crate::diagnostic::{Code, Diagnostic, nearest};
use crate::source::Span;

/// A mistake in the form of an expression or a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands in the file.
    pub span: Span,
    /// What is wrong, in one lower-case line.
    pub message: String,
    /// What stands beside the underline.
    pub label: Option<String>,
    /// What to do now.
    pub help: Option<String>,
    /// What an editor may put in place of the span.
    pub replacement: Option<String>,
}

impl Problem {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Self {
        Self { span, message: message.into(), label: None, help: None, replacement: None }
    }

    pub(crate) fn label(mut self, text: impl Into<String>) -> Self {
        self.label = Some(text.into());
        self
    }

    pub(crate) fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    pub(crate) fn replacement(mut self, text: impl Into<String>) -> Self {
        self.replacement = Some(text.into());
        self
    }

    /// Labels the place with the known word nearest to `word`; without one, lists what is known.
    pub(crate) fn did_you_mean(self, word: &str, known: &[&str]) -> Self {
        match nearest(word, known.iter().copied()) {
            Some(found) => self.label(format!("did you mean `{found}`?")).replacement(found),
            None => self.help(format!("known are {}", list(known))),
        }
    }
}

impl From<Problem> for Diagnostic {
    fn from(problem: Problem) -> Self {
        let mut diagnostic = Self::new(Code::BadTemplate, problem.span, problem.message);
        diagnostic.label = problem.label;
        diagnostic.help = problem.help;
        match problem.replacement {
            Some(text) => diagnostic.fix(problem.span, text),
            None => diagnostic,
        }
    }
}

/// Writes words as messages list them: `` `a`, `b` ``.
pub(crate) fn list<'a>(words: impl IntoIterator<Item = impl AsRef<str> + 'a>) -> String {
    let mut out = String::new();
    for word in words {
        let separator = if out.is_empty() { "`" } else { ", `" };
        out.push_str(separator);
        out.push_str(word.as_ref());
        out.push('`');
    }
    out
}

/// Writes a piece of source in backticks, on one line and not longer than a message can carry.
pub(crate) fn quote(source: &str) -> String {
    const LONGEST: usize = 60;
    let line = source.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("`{}…`", &line[..cut]),
        None => format!("`{line}`"),
    }
}
