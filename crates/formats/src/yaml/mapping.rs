//! The keys of a mapping: merged, named and unique, in time that grows with their number.

use super::{Content, Node, Scalar, Style};
use abide_core::diagnostic::{Code, Diagnostic, Problems, excerpt};
use abide_core::source::Span;
use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

type Pair<'a> = (Node<'a>, Node<'a>);

/// Applies merges and removes what no reader can use, each with its problem.
pub(super) fn settle(entries: &mut Vec<Pair<'_>>, problems: &mut Problems) {
    if entries.iter().any(|(key, _)| key.text().is_none()) {
        drop_nameless(entries, problems);
    }
    if entries.iter().any(|(key, _)| is_merge(key)) {
        *entries = merged(std::mem::take(entries), problems);
    }
    drop_duplicates(entries, problems);
}

/// Applies `<<: *base` and `<<: [*a, *b]`: keys written here win over merged ones, earlier over later.
fn merged<'a>(entries: Vec<Pair<'a>>, problems: &mut Problems) -> Vec<Pair<'a>> {
    let (asked, mut own): (Vec<_>, Vec<_>) = entries.into_iter().partition(|(key, _)| is_merge(key));
    let mut sources = Vec::new();
    for (key, value) in asked {
        match value.content {
            Content::Mapping(merged) => sources.push(merged),
            Content::Sequence(items)
                if items.iter().all(|item| matches!(item.content, Content::Mapping(_))) =>
            {
                for item in items {
                    if let Content::Mapping(merged) = item.content {
                        sources.push(merged);
                    }
                }
            }
            _ => problems.push(
                Diagnostic::new(Code::WrongType, value.span, "`<<` merges mappings")
                    .related(key.span, "this key asks for a merge")
                    .help("write `<<: *name`, where `&name` stands before a mapping"),
            ),
        }
    }
    let mut names: HashSet<Cow<'a, str>> = own.iter().filter_map(|(key, _)| name(key)).collect();
    for (key, value) in sources.into_iter().flatten() {
        if name(&key).is_some_and(|name| names.insert(name)) {
            own.push((key, value));
        }
    }
    own
}

/// Removes keys that are lists or mappings, which no format of ours has a use for.
fn drop_nameless(entries: &mut Vec<Pair<'_>>, problems: &mut Problems) {
    entries.retain(|(key, _)| {
        if key.text().is_none() {
            problems.push(
                Diagnostic::new(
                    Code::WrongType,
                    key.span,
                    format!("a key must be a word, not {}", key.kind()),
                )
                .help("if it is a template, put it in quotes"),
            );
        }
        key.text().is_some()
    });
}

fn drop_duplicates(entries: &mut Vec<Pair<'_>>, problems: &mut Problems) {
    // Most mappings are small: comparing all pairs is then faster than hashing.
    let duplicate = if entries.len() <= 8 {
        (1..entries.len()).any(|index| {
            let name = entries[index].0.text();
            name.is_some() && entries[..index].iter().any(|(key, _)| key.text() == name)
        })
    } else {
        true
    };
    if !duplicate {
        return;
    }
    let mut seen: HashMap<Cow<'_, str>, Span> = HashMap::with_capacity(entries.len());
    entries.retain(|(key, _)| {
        let Some(name) = name(key) else { return true };
        match seen.entry(name) {
            Entry::Occupied(first) => {
                let name = excerpt(first.key());
                problems.push(
                    Diagnostic::new(Code::DuplicateKey, key.span, format!("`{name}` is given twice"))
                        .label("the second one")
                        .related(*first.get(), "the first one")
                        .help("keep one of them"),
                );
                false
            }
            Entry::Vacant(place) => {
                place.insert(key.span);
                true
            }
        }
    });
}

fn is_merge(key: &Node<'_>) -> bool {
    matches!(&key.content, Content::Scalar(Scalar { text, style: Style::Plain }) if text == "<<")
}

/// Returns the text of a key, borrowed from the file where it can be.
fn name<'a>(key: &Node<'a>) -> Option<Cow<'a, str>> {
    match &key.content {
        Content::Scalar(scalar) => Some(scalar.text.clone()),
        _ => None,
    }
}
