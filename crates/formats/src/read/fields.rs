//! A mapping with known keys: unknown and missing ones are reported, the others are taken one by one.

use super::Reader;
use crate::shape::{Others, Record};
use crate::yaml::{Content, Node};
use abide_core::diagnostic::{Code, Diagnostic, excerpt};
use abide_core::source::Span;

/// The entries of a mapping, of which readers take those that its table has.
///
/// A mapping has a handful of entries and its table dozens of keys, so a key is looked for in the mapping.
pub(crate) struct Fields<'n, 'a> {
    #[cfg_attr(not(debug_assertions), expect(dead_code, reason = "only debug assertions look at it"))]
    record: &'static Record,
    entries: &'n [(Node<'a>, Node<'a>)],
    /// What has been taken, to notice a key that no reader takes.
    #[cfg(debug_assertions)]
    taken: Vec<&'static str>,
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
        #[cfg(debug_assertions)]
        {
            let known = self.record.keys().any(|key| key.name == name);
            assert!(known, "`{name}` is not in the table of {}", self.record.name);
            self.taken.push(name);
        }
        reader.key = name;
        find(self.entries, name).map(|(key, value)| (key.span, value))
    }

    /// Says that every key of the table has been looked at.
    pub(crate) fn finish(self) {
        #[cfg(debug_assertions)]
        for key in self.record.keys().filter(|key| find(self.entries, key.name).is_some()) {
            let name = key.name;
            assert!(self.taken.contains(&name), "no reader takes `{name}` of {}", self.record.name);
        }
    }
}

fn find<'n, 'a>(entries: &'n [(Node<'a>, Node<'a>)], name: &str) -> Option<&'n (Node<'a>, Node<'a>)> {
    entries.iter().find(|(key, _)| key.text() == Some(name))
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
        let mut unknown = 0;
        for (key, _) in entries {
            let Some(name) = key.text() else {
                self.report(Diagnostic::new(Code::WrongType, key.span, "a key must be a plain word"));
                continue;
            };
            let is_known = record.groups.iter().any(|group| group.iter().any(|known| known.name == name));
            match record.others {
                _ if is_known => {}
                Others::Foreign => {}
                // Looking for what was meant takes time, and nobody will see it.
                Others::Refused if self.problems.is_full() => {}
                Others::Refused => {
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
        for key in record.keys().filter(|key| key.required) {
            if find(entries, key.name).is_none() && !self.problems.is_full() {
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
        Some(Fields {
            record,
            entries,
            #[cfg(debug_assertions)]
            taken: Vec::new(),
            head,
        })
    }
}

fn key_list(record: &Record) -> String {
    record.keys().map(|key| format!("`{}`", key.name)).collect::<Vec<_>>().join(", ")
}

fn with_article(name: &str) -> String {
    match name {
        "settings" | "triggers" | "abilities" | "skills" | "repeat" | "validation" | "web" => {
            format!("`{name}`")
        }
        "configuration" => "the configuration".to_owned(),
        _ if name.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {name}"),
        _ => format!("a {name}"),
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}
