//! Nodes → typed values: the small readers that every format is made of.
//!
//! A reader never stops at a problem: it reports it, returns nothing for that value, and the format goes on
//! with the rest, so that a user sees everything that is wrong at once.

mod fields;
mod scalars;
mod texts;

pub(crate) use fields::Fields;
pub(crate) use scalars::data;

use crate::yaml::{Content, Node};
use abide_core::diagnostic::{Code, Diagnostic, Problems};

/// For how many items of a list room is made before they are read.
const MOST_RESERVED: usize = 16;

/// Reads the nodes of one file and collects what is wrong with them.
pub(crate) struct Reader<'s> {
    pub(crate) source: &'s str,
    pub(crate) problems: Problems,
    /// What the regular expressions so far count for.
    regexes: usize,
    /// How many placeholders there have been so far.
    placeholders: usize,
    /// The key whose value is being read, for messages.
    key: &'static str,
}

impl<'s> Reader<'s> {
    pub(crate) fn new(source: &'s str, problems: Vec<Diagnostic>) -> Self {
        let mut kept = Problems::default();
        kept.extend(problems);
        Self { source, problems: kept, regexes: 0, placeholders: 0, key: "" }
    }

    pub(crate) fn report(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    /// Reports a value of the wrong type.
    pub(crate) fn wrong_type(&mut self, node: &Node<'_>, expected: &str) {
        let key = self.key;
        let problem = Diagnostic::new(
            Code::WrongType,
            node.span,
            if key.is_empty() {
                format!("expected {expected}, found {}", node.kind())
            } else {
                format!("`{key}` takes {expected}, not {}", node.kind())
            },
        )
        .label(format!("expected {expected}"));
        self.report(problem);
    }

    /// Reads a list, item by item.
    pub(crate) fn list<T>(
        &mut self,
        node: &Node<'_>,
        expected: &str,
        mut item: impl FnMut(&mut Self, &Node<'_>) -> Option<T>,
    ) -> Vec<T> {
        match &node.content {
            Content::Sequence(items) => {
                if items.is_empty() {
                    self.empty(node, expected);
                }
                // Steps are large: growing the list would move them again and again.
                let mut read = Vec::with_capacity(items.len().min(MOST_RESERVED));
                read.extend(items.iter().filter_map(|node| item(self, node)));
                read
            }
            _ => {
                self.wrong_type(node, expected);
                Vec::new()
            }
        }
    }

    /// Reads one value, or a list of them.
    pub(crate) fn one_or_many<T>(
        &mut self,
        node: &Node<'_>,
        mut item: impl FnMut(&mut Self, &Node<'_>) -> Option<T>,
    ) -> Vec<T> {
        match &node.content {
            Content::Sequence(items) => items.iter().filter_map(|node| item(self, node)).collect(),
            _ => item(self, node).into_iter().collect(),
        }
    }

    /// Returns the entries of a mapping whose keys are the user's own.
    pub(crate) fn entries<'n, 'a>(
        &mut self,
        node: &'n Node<'a>,
        expected: &str,
    ) -> &'n [(Node<'a>, Node<'a>)] {
        match &node.content {
            Content::Mapping(entries) => entries,
            _ => {
                self.wrong_type(node, expected);
                &[]
            }
        }
    }

    fn empty(&mut self, node: &Node<'_>, expected: &str) {
        let key = self.key;
        self.report(
            Diagnostic::new(Code::Empty, node.span, format!("`{key}` is empty"))
                .label(format!("expected {expected}"))
                .help(format!("add something to `{key}`, or remove it")),
        );
    }
}
