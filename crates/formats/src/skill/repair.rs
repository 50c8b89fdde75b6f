//! The second try for frontmatter that is not YAML: values with colons are taken as plain text.
//!
//! The other clients rewrite every such value at the top level, so `name` and `description` come out as they do there.
//! Every other key that can be read by itself keeps what it says.

use super::frontmatter::{self, Field, Held};
use super::split::{Split, is_blank, split};
use std::collections::HashMap;

/// Returns the fields after the repair, or nothing if that does not help.
pub(super) fn repaired(text: &str) -> Option<Vec<Field>> {
    let opening = text.strip_prefix("---\r\n").or_else(|| text.strip_prefix("---\n"))?;
    let end = opening.find("\n---")?;
    let inside = opening[..end].strip_suffix('\r').unwrap_or(&opening[..end]);
    // A `\r` belongs to the `\n` after it; at the very end it is a character like any other.
    let mut lines: Vec<&str> =
        inside.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line)).collect();
    let ended = lines.len() - usize::from(!inside.ends_with('\n') && !lines.is_empty());
    for line in &mut lines[..ended] {
        *line = line.strip_suffix('\r').unwrap_or(line);
    }
    if inside.is_empty() || inside.ends_with('\n') {
        lines.push("");
    }
    let mut changed = false;
    let mut rewritten = String::with_capacity(inside.len() + 64);
    for line in &lines {
        match colon_value(line) {
            Some((key, value)) => {
                changed = true;
                rewritten.extend([key, ": |-\n  ", value, "\n"]);
            }
            None => rewritten.extend([line, "\n"]),
        }
    }
    if !changed {
        return None;
    }
    rewritten.pop();
    // The whole file is taken apart again, since the rewritten text might close it elsewhere.
    let whole = text.replacen(inside, &rewritten, 1);
    let Split::Found { matter, .. } = split(&whole) else { return None };
    let fields = frontmatter::parse(matter).ok()??;
    let mut starts = HashMap::new();
    for (number, line) in lines.iter().enumerate() {
        if let Some((key, _)) = colon_value(line) {
            starts.entry(key).or_insert(number);
        }
    }
    Some(fields.into_iter().map(|field| kept(field, &lines, &starts)).collect())
}

/// Returns a field as it can be read by itself, unless it is one that must be as elsewhere; `starts` is where the rewritten
/// ones begin.
fn kept(field: Field, lines: &[&str], starts: &HashMap<&str, usize>) -> Field {
    if matches!(field.key.as_str(), "name" | "description") || !matches!(field.value, Held::Text(_)) {
        return field;
    }
    let Some(&start) = starts.get(field.key.as_str()) else { return field };
    let below = lines[start + 1..].iter().take_while(|line| line.is_empty() || line.starts_with([' ', '\t']));
    let alone = lines[start..=start + below.count()].join("\n");
    match frontmatter::parse(&alone) {
        Ok(Some(mut fields)) if fields.len() == 1 && fields[0].key == field.key => fields.remove(0),
        _ => field,
    }
}

/// Returns the key and the value of a line that the repair rewrites.
fn colon_value(line: &str) -> Option<(&str, &str)> {
    let word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let key_end = line.find(|character| !word(character))?;
    let key = &line[..key_end];
    if key.is_empty() || key.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    let value = line[key_end..].trim_start_matches(is_blank).strip_prefix(':')?.trim_start_matches(is_blank);
    if value.contains(['\r', '\u{2028}', '\u{2029}']) {
        return None;
    }
    let value = value.trim_end_matches(is_blank);
    let stays = value.is_empty() || value == ">" || value == "|" || value.starts_with(['"', '\'']);
    (!stays && value.contains(':')).then_some((key, value))
}
