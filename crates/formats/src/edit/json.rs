//! Puts values into a JSON file and takes them out, in the style that the file already has.
//!
//! [`put`] and [`push`] only ever insert; [`remove`] is for files that somebody changed since, where the record of the
//! insertions no longer fits.

use super::jsonc::{Item, Kind, Node, parse};
use super::{Draft, Problem, line_end, position};
use abide_core::value::Value;
use std::fmt::Write as _;
use std::ops::Range;

/// Which part of a document: keys of objects and places in lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// A member of an object.
    Name(String),
    /// An element of a list, from zero.
    Place(usize),
}

/// Puts a value at the end of some keys, where nothing stands yet; objects on the way are made.
pub fn put(draft: &mut Draft, path: &[&str], value: &Value) -> Result<(), Problem> {
    let root = root(draft)?;
    let mut node = &root;
    for (depth, key) in path.iter().enumerate() {
        if !matches!(node.kind, Kind::Object(_)) {
            return Err(shape(draft.text(), node, &path[..depth], "an object"));
        }
        match node.member(key) {
            Some(item) => node = &item.value,
            None => {
                let rest = path[depth + 1..].iter().rev();
                let value =
                    rest.fold(value.clone(), |inner, key| Value::Map(vec![((*key).to_owned(), inner)]));
                let node = node.clone();
                insert(draft, &root, &node, Some(key), &value);
                return Ok(());
            }
        }
    }
    Err(Problem::Taken { path: path.join(".") })
}

/// Adds a value to the end of a list; the list and the objects on the way are made.
pub fn push(draft: &mut Draft, path: &[&str], value: &Value) -> Result<(), Problem> {
    let root = root(draft)?;
    match root.at(path) {
        None => put(draft, path, &Value::List(vec![value.clone()])),
        Some(list) if matches!(list.kind, Kind::Array(_)) => {
            let list = list.clone();
            insert(draft, &root, &list, None, value);
            Ok(())
        }
        Some(other) => Err(shape(draft.text(), other, path, "a list")),
    }
}

/// Returns the text without one of its parts, and without the comma that belonged to it.
///
/// Of two members with one key, the last is meant. A part that is not there leaves the text as it is.
pub fn remove(text: &str, path: &[Key]) -> Result<String, Problem> {
    let Some(root) = parse(text)? else { return Ok(text.to_owned()) };
    let Some((last, parents)) = path.split_last() else { return Ok(text.to_owned()) };
    let parent =
        parents.iter().try_fold(&root, |node, key| place_of(node, key).map(|at| &node.items()[at].value));
    let Some((parent, at)) = parent.and_then(|node| Some((node, place_of(node, last)?))) else {
        return Ok(text.to_owned());
    };
    let items = parent.items();
    let item = &items[at];
    let end = match item.comma {
        Some(comma) if text[item.value.span.end..comma].trim().is_empty() => comma + 1,
        _ => item.value.span.end,
    };
    // The line goes with it, unless something else would come to stand behind a comment of the line before.
    let rest = &text[line_rest(text, end)..];
    let whole_line = rest.starts_with(['\n', '\r']);
    let start = line_start(text, item.start, whole_line);
    let own = start..item.value.span.end;
    let mut parts: Vec<Range<usize>> = vec![own];
    match (item.comma, at.checked_sub(1).and_then(|before| items[before].comma)) {
        (Some(comma), _) => parts.push(comma..comma + 1),
        (None, Some(before)) => parts.insert(0, before..before + 1),
        (None, None) => {}
    }
    if items.len() == 1 {
        let inner = parent.span.start + 1..parent.span.end - 1;
        let left = super::without(&text[..inner.end], &parts).unwrap_or_default();
        if left[inner.start..].trim().is_empty() {
            parts = vec![inner];
        }
    }
    // The parts come from the text itself, in order.
    Ok(super::without(text, &parts).unwrap_or_else(|| text.to_owned()))
}

fn place_of(node: &Node, key: &Key) -> Option<usize> {
    match (key, &node.kind) {
        (Key::Name(name), Kind::Object(items)) => items.iter().rposition(|item| item.key == *name),
        (Key::Place(at), Kind::Array(items)) => (*at < items.len()).then_some(*at),
        _ => None,
    }
}

/// Returns the root; a document without one gets an empty object.
fn root(draft: &mut Draft) -> Result<Node, Problem> {
    if let Some(root) = parse(draft.text())? {
        return Ok(root);
    }
    let text = draft.text();
    let end = line_end(text);
    // A comment may end the file without a line end.
    let before = if text.lines().last().is_some_and(|line| line.contains("//")) && !text.ends_with('\n') {
        end
    } else {
        ""
    };
    let object = format!("{before}{{}}{end}");
    draft.insert(draft.text().len(), &object);
    parse(draft.text())?.ok_or(Problem::Unreadable {
        line: 1,
        column: 1,
        what: "the file is empty".to_owned(),
    })
}

fn shape(text: &str, node: &Node, path: &[&str], expected: &'static str) -> Problem {
    let path = if path.is_empty() { "the document".to_owned() } else { path.join(".") };
    Problem::Shape { line: position(text, node.span.start).0, path, expected }
}

/// Inserts a member or an element behind the last one.
fn insert(draft: &mut Draft, root: &Node, container: &Node, key: Option<&str>, value: &Value) {
    let text = draft.text();
    let end = line_end(text);
    let unit = unit(text, root);
    let outer = indentation(text, container.span.start).to_owned();
    let items = container.items();
    let one_line = !items.is_empty() && !text[container.span.clone()].contains('\n');
    let own = items.last().map(|item| indentation(text, item.start)).filter(|_| !one_line);
    let inner = own.map_or_else(|| format!("{outer}{unit}"), str::to_owned);
    let name = key.map(|key| format!("{}: ", quoted(key))).unwrap_or_default();
    let Some(last) = items.last() else {
        let mut new =
            format!("{end}{inner}{name}{}", printed(value, &Layout { end, unit: &unit, indent: &inner }));
        if !text[container.span.clone()].contains('\n') {
            new = new + end + &outer;
        }
        draft.insert(container.span.start + 1, &new);
        return;
    };
    let body = if one_line {
        format!(" {name}{}", compact(value))
    } else {
        format!("{end}{inner}{name}{}", printed(value, &Layout { end, unit: &unit, indent: &inner }))
    };
    match last.comma {
        Some(comma) => {
            let at = if one_line { comma + 1 } else { line_rest(text, comma + 1) };
            draft.insert(at, &format!("{body},"));
        }
        None => {
            let behind = last.value.span.end;
            let at = if one_line { behind } else { line_rest(text, behind) };
            draft.insert(at, &body);
            draft.insert(behind, ",");
        }
    }
}

/// Returns where a line ends if only spaces and comments follow; otherwise where it was asked from.
fn line_rest(text: &str, from: usize) -> usize {
    let mut at = from;
    loop {
        let rest = &text[at..];
        if rest.starts_with('\n') || rest.starts_with("\r\n") {
            return at;
        } else if rest.starts_with("//") {
            let line = rest.split('\n').next().unwrap_or(rest);
            return at + line.strip_suffix('\r').unwrap_or(line).len();
        } else if let Some(comment) = rest.strip_prefix("/*") {
            match comment.find("*/") {
                Some(length) if !comment[..length].contains('\n') => at += length + 4,
                _ => return from,
            }
        } else if rest.starts_with([' ', '\t']) {
            at += 1;
        } else {
            return from;
        }
    }
}

/// Returns where the spaces before an item start, and the line break before them if that goes too.
fn line_start(text: &str, start: usize, line_break: bool) -> usize {
    let before = text[..start].trim_end_matches([' ', '\t']);
    match before.strip_suffix('\n').filter(|_| line_break) {
        Some(line) => line.strip_suffix('\r').unwrap_or(line).len(),
        None => before.len(),
    }
}

/// Returns the spaces at the start of the line of an offset.
fn indentation(text: &str, offset: usize) -> &str {
    let line = text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let line = text[line..].trim_start_matches('\u{feff}');
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns one step of indentation, as the file has it.
fn unit(text: &str, root: &Node) -> String {
    let outer = indentation(text, root.span.start);
    let first = root.items().first().map(|Item { start, .. }| indentation(text, *start));
    match first.and_then(|inner| inner.strip_prefix(outer)).filter(|unit| !unit.is_empty()) {
        Some(unit) => unit.to_owned(),
        None => "  ".to_owned(),
    }
}

/// How a value is spread over lines.
struct Layout<'a> {
    end: &'a str,
    unit: &'a str,
    indent: &'a str,
}

fn printed(value: &Value, layout: &Layout<'_>) -> String {
    let inner = format!("{}{}", layout.indent, layout.unit);
    let deeper = Layout { indent: &inner, ..*layout };
    let lines: Vec<String> = match value {
        Value::Map(entries) if !entries.is_empty() => entries
            .iter()
            .map(|(key, value)| format!("{}: {}", quoted(key), printed(value, &deeper)))
            .collect(),
        Value::List(items) if items.iter().any(|item| matches!(item, Value::Map(_) | Value::List(_))) => {
            items.iter().map(|item| printed(item, &deeper)).collect()
        }
        other => return compact(other),
    };
    let (open, close) = if matches!(value, Value::Map(_)) { ('{', '}') } else { ('[', ']') };
    let mut out = String::from(open);
    for (at, line) in lines.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(out, "{}{}{inner}{line}", if at == 0 { "" } else { "," }, layout.end);
    }
    let _ = write!(out, "{}{}{close}", layout.end, layout.indent);
    out
}

fn compact(value: &Value) -> String {
    match value {
        Value::Map(entries) => {
            let entries: Vec<String> =
                entries.iter().map(|(key, value)| format!("{}: {}", quoted(key), compact(value))).collect();
            if entries.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", entries.join(", ")) }
        }
        Value::List(items) => format!("[{}]", items.iter().map(compact).collect::<Vec<_>>().join(", ")),
        other => crate::json::to_json(other).to_string(),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Returns a value as a document of its own, with two spaces and a line break at its end.
pub fn document(value: &Value) -> String {
    printed(value, &Layout { end: "\n", unit: "  ", indent: "" }) + "\n"
}
