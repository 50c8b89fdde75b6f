//! A mapping with known keys: unknown and missing ones are reported, the others are taken one by one.

use super::Reader;
use crate::shape::{Others, Record};
use crate::yaml::{Content, Node};
use abide_core::diagnostic::{Code, Diagnostic, excerpt};
use abide_core::source::Span;

/// The values of a mapping, by the keys of its table.
pub(crate) struct Fields<'n, 'a> {
    record: &'static Record,
    values: Vec<Option<(Span, &'n Node<'a>)>>,
    /// Where the mapping can be pointed at without underlining all of it: its first key.
    pub(crate) head: Span,
}

impl<'n, 'a> Fields<'n, 'a> {
    /// Takes the value of a key, if it was given.
    pub(crate) fn take(&mut self, reader: &mut Reader<'_>, name: &'static str) -> Option<&'n Node<'a>> {
        self.take_with_key(reader, name).map(|(_, node)| node)
    }

    /// Takes the value of a key and the place of the key itself.
    pub(crate) fn take_with_key(
        &mut self,
        reader: &mut Reader<'_>,
        name: &'static str,
    ) -> Option<(Span, &'n Node<'a>)> {
        let position = self.record.keys().position(|key| key.name == name);
        debug_assert!(position.is_some(), "`{name}` is not in the table of {}", self.record.name);
        reader.key = name;
        position.and_then(|position| self.values[position].take())
    }

    /// Says that every key of the table has been looked at.
    pub(crate) fn finish(self) {
        debug_assert!(
            self.values.iter().all(Option::is_none),
            "a key of {} is in its table but no reader takes it: {:?}",
            self.record.name,
            self.record
                .keys()
                .zip(&self.values)
                .filter(|(_, value)| value.is_some())
                .map(|(key, _)| key.name)
                .collect::<Vec<_>>()
        );
    }
}

impl Reader<'_> {
    /// Opens a mapping with known keys; `elsewhere` explains a key that belongs to another record.
    pub(crate) fn fields<'n, 'a>(
        &mut self,
        node: &'n Node<'a>,
        record: &'static Record,
        elsewhere: impl Fn(&str) -> Option<String>,
    ) -> Option<Fields<'n, 'a>> {
        let Content::Mapping(entries) = &node.content else {
            self.wrong_type(node, &format!("a mapping ({})", record.name));
            return None;
        };
        let mut values: Vec<Option<(Span, &'n Node<'a>)>> = record.keys().map(|_| None).collect();
        let mut unknown = 0;
        for (key, value) in entries {
            let Some(name) = key.text() else {
                self.report(Diagnostic::new(Code::WrongType, key.span, "a key must be a plain word"));
                continue;
            };
            match record.keys().position(|known| known.name == name) {
                Some(position) => values[position] = Some((key.span, value)),
                None if record.others == Others::Foreign => {}
                // Looking for what was meant takes time, and nobody will see it.
                None if self.problems.is_full() => {}
                None => {
                    unknown += 1;
                    let problem = match elsewhere(name) {
                        Some(why) => Diagnostic::new(
                            Code::MisplacedKey,
                            key.span,
                            format!("`{}` does not belong here: {why}", excerpt(name)),
                        )
                        .help(format!(
                            "{} takes {}",
                            with_article(record.name),
                            key_list(record)
                        )),
                        None => {
                            let message =
                                format!("`{}` is not a key of {}", excerpt(name), with_article(record.name));
                            let problem = Diagnostic::new(Code::UnknownKey, key.span, message)
                                .did_you_mean(name, record.keys().map(|key| key.name));
                            match problem.fix {
                                Some(_) => problem,
                                None => problem.help(format!("the keys are {}", key_list(record))),
                            }
                        }
                    };
                    self.report(problem);
                }
            }
        }
        let head = entries.first().map_or(node.span, |(key, _)| key.span);
        for (key, value) in record.keys().zip(&values) {
            if key.required && value.is_none() && !self.problems.is_full() {
                // A misspelt key is one mistake, not two.
                if unknown > 0
                    && self.problems.as_slice().iter().any(|problem| {
                        problem.fix.as_ref().is_some_and(|fix| {
                            fix.text == key.name
                                && node.span.start <= fix.at.start
                                && fix.at.end <= node.span.end
                        })
                    })
                {
                    continue;
                }
                self.report(
                    Diagnostic::new(
                        Code::MissingKey,
                        head,
                        format!("{} needs `{}`", with_article(record.name), key.name),
                    )
                    .label(format!("`{}` is missing here", key.name))
                    .help(format!("`{}`: {}", key.name, lower_first(key.doc))),
                );
            }
        }
        Some(Fields { record, values, head })
    }
}

fn key_list(record: &Record) -> String {
    record.keys().map(|key| format!("`{}`", key.name)).collect::<Vec<_>>().join(", ")
}

fn with_article(name: &str) -> String {
    match name {
        "settings" | "triggers" | "abilities" | "skills" | "repeat" | "validation" => format!("`{name}`"),
        "configuration" => "the configuration".to_owned(),
        _ if name.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {name}"),
        _ => format!("a {name}"),
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
