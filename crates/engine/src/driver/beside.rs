//! `./scripts/…` in a command means the script beside the ability, where the project has none of that name.

use abide_core::run::Run;
use std::path::Path;

/// How such a word begins.
const PREFIX: &str = "./scripts/";

/// Returns a command in which every word `./scripts/…` that is pinned beside the ability, and that `in_project` does
/// not know, names the file beside it.
pub(crate) fn scripts_beside(run: &Run, script: &str, in_project: impl Fn(&str) -> bool) -> String {
    let Some(folder) = &run.created.folder else { return script.to_owned() };
    let mut text = String::with_capacity(script.len());
    let mut rest = script;
    while let Some(at) = rest.find(PREFIX) {
        let before = rest[..at].chars().next_back().or_else(|| text.chars().next_back());
        let end = rest[at..].find(|character: char| !is_plain(character)).map_or(rest.len(), |end| at + end);
        let word = rest[at..end].trim_start_matches("./");
        text.push_str(&rest[..at]);
        let file = Path::new(folder).join(word).display().to_string();
        let is_pinned = || run.created.files.iter().any(|(known, _)| *known == file);
        if begins_a_word(before) && is_pinned() && !in_project(word) {
            text.push_str(&named(folder, word, before));
        } else {
            text.push_str(&rest[at..end]);
        }
        rest = &rest[end..];
    }
    text + rest
}

fn begins_a_word(before: Option<char>) -> bool {
    before.is_none_or(|before| before.is_whitespace() || ";|&(\"'".contains(before))
}

/// Writes the path so that it is one word in its place; a plain one is that everywhere.
fn named(folder: &str, word: &str, before: Option<char>) -> String {
    match before {
        _ if folder.chars().all(is_plain) => format!("{folder}/{word}"),
        Some('"') => format!("${{ABIDE_ABILITY_DIR}}/{word}"),
        Some('\'') => format!("'\"${{ABIDE_ABILITY_DIR}}\"'/{word}"),
        _ => format!("\"${{ABIDE_ABILITY_DIR}}\"/{word}"),
    }
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || "._-/+@".contains(character)
}
