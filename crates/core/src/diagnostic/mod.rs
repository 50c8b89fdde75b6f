//! What is wrong in a file: one type for every problem that abide can point at.
//!
//! A diagnostic is data; the CLI renders it for a terminal, as JSON or as SARIF. Each has a [`Code`], and
//! each code has a page that `abide explain CODE` shows.

mod code;
mod excerpt;
mod nearest;
mod problems;

pub use code::{Code, Severity};
pub use excerpt::excerpt;
pub use nearest::nearest;
pub use problems::Problems;

use crate::source::Span;
use std::sync::Arc;

/// One problem at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which rule was broken; it decides the severity.
    pub code: Code,
    /// What is wrong, in one lower-case line.
    pub message: String,
    /// Where; `None` when the problem is the file as a whole.
    pub at: Option<Span>,
    /// What stands beside the underline: what was expected, or what was meant.
    pub label: Option<String>,
    /// Other places that belong to the problem.
    pub related: Vec<Related>,
    /// What to do now.
    pub help: Option<String>,
    /// A replacement that an editor may offer.
    pub fix: Option<Fix>,
}

/// Another place that belongs to a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// The file, when it is not the one that the diagnostic is about.
    pub file: Option<Arc<str>>,
    /// Where in that file.
    pub at: Span,
    /// What this place has to do with it.
    pub text: String,
}

/// A replacement of one span of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What to replace.
    pub at: Span,
    /// What to put there.
    pub text: String,
}

impl Diagnostic {
    /// Starts a diagnostic about one place.
    pub fn new(code: Code, at: Span, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            at: Some(at),
            label: None,
            related: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Starts a diagnostic about a file as a whole.
    pub fn whole_file(code: Code, message: impl Into<String>) -> Self {
        Self { at: None, ..Self::new(code, Span::default(), message) }
    }

    /// Adds the text beside the underline.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.label = Some(text.into());
        self
    }

    /// Adds the line that says what to do now.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Adds another place in the same file.
    #[must_use]
    pub fn related(mut self, at: Span, text: impl Into<String>) -> Self {
        self.related.push(Related { file: None, at, text: text.into() });
        self
    }

    /// Adds a place in another file.
    #[must_use]
    pub fn related_in(mut self, file: Arc<str>, at: Span, text: impl Into<String>) -> Self {
        self.related.push(Related { file: Some(file), at, text: text.into() });
        self
    }

    /// Adds a replacement that an editor may offer.
    #[must_use]
    pub fn fix(mut self, at: Span, text: impl Into<String>) -> Self {
        self.fix = Some(Fix { at, text: text.into() });
        self
    }

    /// Labels the place with the known word nearest to `word`, and offers it as the fix.
    #[must_use]
    pub fn did_you_mean<'a>(self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Self {
        match nearest(word, known) {
            Some(found) => {
                let at = self.at;
                let labelled = self.label(format!("did you mean `{found}`?"));
                match at {
                    Some(at) => labelled.fix(at, found),
                    None => labelled,
                }
            }
            None => self,
        }
    }

    /// Returns how bad it is.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Returns whether this problem keeps the definition from being used.
    pub fn is_error(&self) -> bool {
        self.severity() == Severity::Error
    }
}
