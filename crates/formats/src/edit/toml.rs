//! Puts tables into a TOML file and takes them out.
//!
//! A table is appended to the end, where it can stand whatever comes before; `toml_edit` says whether the file can be read
//! before and after, and finds what is to be removed in a file that somebody changed since.

use super::{Draft, Problem, line_end};
use std::fmt::Write as _;
use toml_edit::{DocumentMut, Item, TableLike};

/// Reads a document.
pub fn parse(text: &str) -> Result<DocumentMut, Problem> {
    let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
    let skipped = text.len() - plain.len();
    plain.parse::<DocumentMut>().map_err(|error| {
        let at = error.span().map_or(0, |span| span.start + skipped);
        Problem::at(text, at, error.message().trim().replace('\n', ", "))
    })
}

/// Returns what stands at the end of some keys.
pub fn at<'d>(document: &'d DocumentMut, path: &[&str]) -> Option<&'d Item> {
    path.iter().try_fold(document.as_item(), |item, key| item.as_table_like()?.get(key))
}

/// Appends a table with lines of `key = value`, where nothing stands yet.
pub fn append(draft: &mut Draft, path: &[&str], lines: &[(&str, toml_edit::Value)]) -> Result<(), Problem> {
    let document = parse(draft.text())?;
    if at(&document, path).is_some() {
        return Err(Problem::Taken { path: path.join(".") });
    }
    let end = line_end(draft.text());
    let mut block = String::new();
    if !draft.text().is_empty() {
        block += &end.repeat(if draft.text().ends_with('\n') { 1 } else { 2 });
    }
    let keys: Vec<String> = path.iter().map(|key| toml_edit::Key::new(*key).to_string()).collect();
    // Writing to a string cannot fail.
    let _ = write!(block, "[{}]{end}", keys.join("."));
    for (key, value) in lines {
        let _ = write!(block, "{key} = {value}{end}");
    }
    let mut next = draft.clone();
    next.insert(draft.text().len(), &block);
    // A table that was written in one line, `a = { … }`, cannot be continued by `[a.b]`.
    if parse(next.text()).is_err() {
        let line = line_of(draft.text(), path[0]);
        return Err(Problem::Shape {
            line,
            path: path[0].to_owned(),
            expected: "written as `[tables]`, so that one can be added",
        });
    }
    *draft = next;
    Ok(())
}

/// Sets a value of a table that may be there already, where no such key stands yet.
pub fn set(draft: &mut Draft, table: &str, key: &str, value: &toml_edit::Value) -> Result<(), Problem> {
    let document = parse(draft.text())?;
    if at(&document, &[table]).is_none() {
        return append(draft, &[table], &[(key, value.clone())]);
    }
    if at(&document, &[table, key]).is_some() {
        return Err(Problem::Taken { path: format!("{table}.{key}") });
    }
    let shape = || Problem::Shape {
        line: line_of(draft.text(), table),
        path: table.to_owned(),
        expected: "written as a `[table]`, so that a line can be added",
    };
    let (header, end) = (format!("[{table}]"), line_end(draft.text()));
    let mut offset = 0;
    let after = draft.text().split_inclusive('\n').find_map(|line| {
        offset += line.len();
        let found = line.trim_start_matches('\u{feff}').trim_start().starts_with(&header);
        found.then_some((offset, line.ends_with('\n')))
    });
    let (offset, whole) = after.ok_or_else(shape)?;
    let line = if whole { format!("{key} = {value}{end}") } else { format!("{end}{key} = {value}") };
    let mut next = draft.clone();
    next.insert(offset, &line);
    // What looks like the header may stand in a text.
    let set = parse(next.text()).is_ok_and(|document| at(&document, &[table, key]).is_some());
    if !set {
        return Err(shape());
    }
    *draft = next;
    Ok(())
}

/// Returns the text without a table or value, and without the tables that held nothing else.
pub fn remove(text: &str, path: &[&str]) -> Result<String, Problem> {
    let mut document = parse(text)?;
    if at(&document, path).is_none() {
        return Ok(text.to_owned());
    }
    // Comments before a table hang on it, and are the user's: they stay, at the end.
    let above =
        at(&document, path).and_then(Item::as_table).and_then(|table| table.decor().prefix()?.as_str());
    let above = above.filter(|text| !text.trim().is_empty()).map(str::to_owned);
    take(document.as_table_mut(), path);
    if let Some(above) = above {
        let trailing = format!("{above}{}", document.trailing().as_str().unwrap_or_default());
        document.set_trailing(trailing);
    }
    let mark = if text.starts_with('\u{feff}') { "\u{feff}" } else { "" };
    let text_without = format!("{mark}{document}");
    Ok(if line_end(text) == "\r\n" {
        text_without.replace("\r\n", "\n").replace('\n', "\r\n")
    } else {
        text_without
    })
}

fn take(table: &mut dyn TableLike, path: &[&str]) {
    let Some((key, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        table.remove(key);
        return;
    }
    let Some(item) = table.get_mut(key) else { return };
    let implicit = item.as_table().is_some_and(toml_edit::Table::is_implicit);
    let Some(inner) = item.as_table_like_mut() else { return };
    take(inner, rest);
    // A table that nobody wrote, but that `[a.b]` implied, is gone with what it held.
    if implicit && inner.is_empty() {
        table.remove(key);
    }
}

fn line_of(text: &str, key: &str) -> usize {
    text.lines().position(|line| line.trim_start().starts_with(key)).map_or(1, |at| at + 1)
}
