//! What changes in a file of the user's, line by line.
//!
//! Such files hold tokens, and what is printed may end in a transcript: of lines that are the user's, only the key is shown.

use super::visible::visible;
use super::{Ink, Style};
use similar::{ChangeTag, TextDiff};
use std::collections::HashSet;

/// Returns the changed lines with one line of the rest around them.
pub fn changes(style: Style, before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let lines = |tag| -> HashSet<&str> {
        let changes = diff.iter_all_changes().filter(|change| change.tag() == tag);
        changes.map(|change| bare(change.value())).collect()
    };
    let (gone, new) = (lines(ChangeTag::Delete), lines(ChangeTag::Insert));
    let mut out = String::new();
    for (index, group) in diff.grouped_ops(1).iter().enumerate() {
        if index > 0 {
            out.push_str("   ⋮\n");
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let line = change.value().trim_end_matches(['\n', '\r']);
            // A comma that comes or goes does not make a line ours.
            let theirs = gone.contains(bare(line)) && new.contains(bare(line));
            let (mark, ink, theirs) = match change.tag() {
                ChangeTag::Equal => (' ', None, true),
                ChangeTag::Delete => ('-', Some(Ink::Error), theirs),
                ChangeTag::Insert => ('+', Some(Ink::Good), theirs),
            };
            let shown = if theirs { keys_only(line) } else { line.to_owned() };
            let line = format!("{mark} {}", visible(&shown, true));
            match ink {
                Some(ink) => style.paint(&mut out, ink, line.trim_end()),
                None => out.push_str(line.trim_end()),
            }
            out.push('\n');
        }
    }
    out
}

fn bare(line: &str) -> &str {
    line.trim().trim_end_matches(',').trim_end()
}

/// Returns a line without the values in it.
fn keys_only(line: &str) -> String {
    let is_value = |rest: &str| rest.chars().any(char::is_alphanumeric);
    for separator in ["\":", " = "] {
        if let Some((key, value)) = line.split_once(separator) {
            return if is_value(value) { format!("{key}{separator} …") } else { line.to_owned() };
        }
    }
    // An element of a list, or a comment.
    if line.contains('"') { "…".to_owned() } else { line.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_the_users_is_shown_by_its_key() {
        let before = "{\n  \"x\": 1,\n  \"y\": 2,\n  \"token\": \"secret\"\n}\n";
        let after = "{\n  \"x\": 1,\n  \"y\": 2,\n  \"token\": \"secret\",\n  \"ours\": \"shown\"\n}\n";
        insta::assert_snapshot!(changes(Style::plain(), before, after), @r#"
            "y": …
        -   "token": …
        +   "token": …
        +   "ours": "shown"
          }
        "#);
        insta::assert_snapshot!(changes(Style::plain(), after, before), @r#"
            "y": …
        -   "token": …
        -   "ours": "shown"
        +   "token": …
          }
        "#);
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(changes(Style::plain(), "", "\u{1b}[31m\r\n"), "+ ␛[31m\n");
    }
}
