//! Readers of single values: text, numbers, words, names, durations.

use super::Reader;
use crate::yaml::{Content, Node, Resolved};
use abide_core::definition::{BadName, Pattern};
use abide_core::diagnostic::{Code, Diagnostic, excerpt};
use abide_core::source::{Span, Spanned};
use abide_core::value::effort::{MOST_REGEX_EFFORT, regex_effort};
use abide_core::value::{BadDuration, Duration, Value};

impl Reader<'_> {
    /// Reads text; numbers and booleans are taken as they are written.
    pub(crate) fn text(&mut self, node: &Node<'_>) -> Option<Spanned<String>> {
        match &node.content {
            Content::Scalar(scalar) if scalar.resolve() != Resolved::Null => {
                Some(Spanned::new(scalar.text.clone().into_owned(), node.span))
            }
            _ => {
                self.wrong_type(node, "text");
                None
            }
        }
    }

    /// Reads text that says something.
    pub(crate) fn full_text(&mut self, node: &Node<'_>) -> Option<Spanned<String>> {
        let text = self.text(node)?;
        if text.trim().is_empty() {
            self.empty(node, "text");
            return None;
        }
        Some(text)
    }

    /// Reads `true` or `false`.
    pub(crate) fn boolean(&mut self, node: &Node<'_>) -> Option<Spanned<bool>> {
        match &node.content {
            Content::Scalar(scalar) => match scalar.resolve() {
                Resolved::Bool(value) => Some(Spanned::new(value, node.span)),
                _ => {
                    let meant = match scalar.text.to_ascii_lowercase().as_str() {
                        "yes" | "on" | "y" | "true" | "1" => Some("true"),
                        "no" | "off" | "n" | "false" | "0" => Some("false"),
                        _ => None,
                    };
                    let key = self.key;
                    let problem = Diagnostic::new(
                        Code::WrongType,
                        node.span,
                        format!("`{key}` takes `true` or `false`, not `{}`", excerpt(&scalar.text)),
                    );
                    self.report(match meant {
                        Some(meant) => {
                            problem.label(format!("did you mean `{meant}`?")).fix(node.span, meant)
                        }
                        None => problem.label("expected `true` or `false`"),
                    });
                    None
                }
            },
            _ => {
                self.wrong_type(node, "`true` or `false`");
                None
            }
        }
    }

    /// Reads a whole number within bounds.
    pub(crate) fn integer(&mut self, node: &Node<'_>, least: i64, most: i64) -> Option<Spanned<i64>> {
        match &node.content {
            Content::Scalar(scalar) => {
                if let Resolved::Int(value) = scalar.resolve() {
                    if (least..=most).contains(&value) {
                        return Some(Spanned::new(value, node.span));
                    }
                    let key = self.key;
                    self.report(
                        Diagnostic::new(
                            Code::OutOfRange,
                            node.span,
                            format!("`{key}` is {value}, which is out of range"),
                        )
                        .label(format!("expected {least} to {most}")),
                    );
                    return None;
                }
                self.wrong_type(node, "a whole number");
                None
            }
            _ => {
                self.wrong_type(node, "a whole number");
                None
            }
        }
    }

    /// Reads a whole number that is counted in `u32`.
    pub(crate) fn count(&mut self, node: &Node<'_>, least: u32, most: u32) -> Option<Spanned<u32>> {
        let value = self.integer(node, i64::from(least), i64::from(most))?;
        u32::try_from(value.value).ok().map(|count| Spanned::new(count, value.span))
    }

    /// Reads a number.
    pub(crate) fn number(&mut self, node: &Node<'_>) -> Option<Spanned<f64>> {
        if let Content::Scalar(scalar) = &node.content {
            match scalar.resolve() {
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "bounds of inputs are compared as floating point numbers"
                )]
                Resolved::Int(value) => return Some(Spanned::new(value as f64, node.span)),
                Resolved::Float(value) => return Some(Spanned::new(value, node.span)),
                _ => {}
            }
        }
        self.wrong_type(node, "a number");
        None
    }

    /// Reads a number that is not negative.
    pub(crate) fn amount(&mut self, node: &Node<'_>, most: f64) -> Option<Spanned<f64>> {
        let number = self.number(node)?;
        if (0.0..=most).contains(&number.value) {
            return Some(number);
        }
        let key = self.key;
        self.report(
            Diagnostic::new(
                Code::OutOfRange,
                node.span,
                format!("`{key}` is {}, which is out of range", number.value),
            )
            .label(format!("expected 0 to {most}")),
        );
        None
    }

    /// Reads one of a few words.
    pub(crate) fn choice<T>(
        &mut self,
        node: &Node<'_>,
        words: &[&str],
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<Spanned<T>> {
        let list = || words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
        let Some(text) = node.text().filter(|_| !node.is_null()) else {
            self.wrong_type(node, &format!("one of {}", list()));
            return None;
        };
        match parse(text) {
            Some(value) => Some(Spanned::new(value, node.span)),
            None => {
                let key = self.key;
                self.report(
                    Diagnostic::new(
                        Code::BadChoice,
                        node.span,
                        format!("`{}` is not a value of `{key}`", excerpt(text)),
                    )
                    .did_you_mean(text, words.iter().copied())
                    .help(format!("the values are {}", list())),
                );
                None
            }
        }
    }

    /// Reads a name.
    pub(crate) fn name<T>(
        &mut self,
        node: &Node<'_>,
        parse: impl Fn(&str) -> Result<T, BadName>,
    ) -> Option<Spanned<T>> {
        let Some(text) = node.text().filter(|_| !node.is_null()) else {
            self.wrong_type(node, "a name");
            return None;
        };
        match parse(text) {
            Ok(name) => Some(Spanned::new(name, node.span)),
            Err(bad) => {
                self.report(Diagnostic::new(Code::BadName, node.span, bad.to_string()).help(bad.help()));
                None
            }
        }
    }

    /// Reads the name of an environment variable.
    pub(crate) fn variable_name(&mut self, node: &Node<'_>) -> Option<Spanned<String>> {
        let name = node.text().unwrap_or_default();
        let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        if starts && name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_') {
            return Some(Spanned::new(name.to_owned(), node.span));
        }
        self.report(
            Diagnostic::new(
                Code::BadName,
                node.span,
                format!("`{}` cannot be the name of an environment variable", excerpt(name)),
            )
            .help("use letters, digits and `_`, and start with a letter"),
        );
        None
    }

    /// Reads a duration.
    pub(crate) fn duration(&mut self, node: &Node<'_>) -> Option<Spanned<Duration>> {
        let Some(text) = node.text().filter(|_| !node.is_null()) else {
            self.wrong_type(node, "a duration such as `5m`");
            return None;
        };
        match Duration::parse(text) {
            Ok(duration) => Some(Spanned::new(duration, node.span)),
            Err(bad) => {
                let problem = Diagnostic::new(Code::BadDuration, node.span, bad.to_string());
                let problem = match &bad {
                    BadDuration::NoUnit(number) => {
                        problem.label(format!("did you mean `{number}s` or `{number}m`?"))
                    }
                    BadDuration::UnknownUnit(unit) if unit == "M" => problem.label("did you mean `m`?"),
                    _ => problem,
                };
                self.report(problem.help("write durations as `500ms`, `30s`, `5m`, `1h30m` or `2d`"));
                None
            }
        }
    }

    /// Reads a regular expression.
    pub(crate) fn regex(&mut self, node: &Node<'_>) -> Option<Spanned<Pattern>> {
        let Some(text) = node.text().filter(|_| !node.is_null()) else {
            self.wrong_type(node, "a regular expression");
            return None;
        };
        self.regexes += regex_effort(text);
        if self.regexes > MOST_REGEX_EFFORT {
            self.report(
                Diagnostic::new(Code::TooComplex, node.span, "the file has too many regular expressions")
                    .help(
                        "use fewer of them, or simpler ones; classes such as `\\w`, and `(?i)`, count most",
                    ),
            );
            return None;
        }
        match Pattern::parse(text) {
            Ok(pattern) => Some(Spanned::new(pattern, node.span)),
            Err(bad) => {
                let positions = node.positions(self.source);
                let at = Span::new(positions.of(bad.range.start), positions.of(bad.range.end));
                self.report(
                    Diagnostic::new(Code::BadRegex, at, format!("this regular expression cannot be used: {bad}"))
                        .help("abide matches in linear time: no look-around, no back-references; write it in single quotes"),
                );
                None
            }
        }
    }
}

/// Returns any node as data.
pub(crate) fn data(node: &Node<'_>) -> Value {
    match &node.content {
        Content::Scalar(scalar) => match scalar.resolve() {
            Resolved::Null => Value::Null,
            Resolved::Bool(value) => Value::Bool(value),
            Resolved::Int(value) => Value::Int(value),
            Resolved::Float(value) => Value::Float(value),
            Resolved::Text => Value::Text(scalar.text.clone().into_owned()),
        },
        Content::Sequence(items) => Value::List(items.iter().map(data).collect()),
        Content::Mapping(entries) => Value::Map(
            entries
                .iter()
                .map(|(key, value)| (key.text().unwrap_or_default().to_owned(), data(value)))
                .collect(),
        ),
    }
}
