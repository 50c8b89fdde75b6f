//! What a tool that nobody knows is told: every text of its arguments, as the commands that it could be.
//!
//! Such a tool may be a shell under another name, and nobody knows which of its arguments is the command. So each text counts, and
//! what stands beside it may be its arguments.

use super::shell::Told;
use crate::value::Value;

/// How deep arguments may go.
const DEEPEST: usize = 8;
/// How many texts and lists of them are looked at.
const MOST: usize = 2_000;
/// How many texts that stand beside each other are tried as a program and its arguments.
const MOST_PAIRED: usize = 8;

/// Tools that only show a text to the user.
pub(super) const PROSE_TOOLS: &[&str] = &["ExitPlanMode", "exit_plan_mode", "plan_exit"];

/// Parts of the names of arguments that hold what is run.
const ORDERS: &[&str] = &[
    "command",
    "cmd",
    "exec",
    "script",
    "shell",
    "argv",
    "args",
    "arguments",
    "program",
    "run",
    "line",
    "input",
    "stdin",
    "keys",
    "code",
    "eval",
];

/// Arguments of shells in which a model says why it does something.
const REASONS: &[&str] = &["description", "justification", "reason", "title", "explanation", "prefix_rule"];

/// Returns whether the name of an argument says that it holds a path.
pub(super) fn names_a_file(key: &str) -> bool {
    let ends = ["_file", "_dir", "_folder", "directory", "folder"];
    key.contains("path")
        || ends.iter().any(|end| key.ends_with(end))
        || matches!(key, "dest" | "dst" | "src" | "cwd" | "workdir")
}

/// Returns what a call is told; nothing if that is too much to look at. Of a `shell` the line that it runs is read elsewhere.
pub(super) fn told(arguments: &Value, shell: bool) -> Option<Vec<Told>> {
    let mut found = Vec::new();
    if let Value::Map(entries) = arguments {
        let entries: Vec<(&str, &Value)> = entries
            .iter()
            .filter(|(key, _)| {
                let key = key.to_ascii_lowercase();
                let line =
                    matches!(key.as_str(), "command" | "cmd" | "commands" | "chars" | "code" | "script");
                !(shell && (line || REASONS.contains(&key.as_str())))
            })
            .map(|(key, value)| (&**key, value))
            .collect();
        map(&entries, false, 0, &mut found)?;
    }
    Some(found)
}

fn push(found: &mut Vec<Told>, words: Vec<String>, orders: bool) -> Option<()> {
    if !words.iter().all(String::is_empty) {
        found.push(Told { words, orders });
    }
    (found.len() <= MOST).then_some(())
}

fn map(entries: &[(&str, &Value)], orders: bool, depth: usize, found: &mut Vec<Told>) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    for (key, value) in entries {
        let orders = orders || tells_orders(key);
        any(value, orders, depth + 1, found)?;
        // `{"git": "push"}`, `{"git": ["push"]}`
        let texts = || texts(value).filter(|words| !words.is_empty() && is_short(words));
        if let Some(words) = (!tells_orders(key) && !names_a_file(key)).then(texts).flatten() {
            push(found, [vec![(*key).to_owned()], words].concat(), false)?;
        }
    }
    // `{"command": "git", "args": ["push"]}`: what is in one may belong to what is in another.
    let beside: Vec<Told> = entries
        .iter()
        .filter_map(|(key, value)| Some(Told { words: texts(value)?, orders: orders || tells_orders(key) }))
        .filter(|told| is_short(&told.words))
        .take(MOST_PAIRED)
        .collect();
    for (at, first) in beside.iter().enumerate().filter(|(_, first)| names_a_program(&first.words)) {
        for second in beside[..at].iter().chain(&beside[at + 1..]) {
            let behind = second.words.iter().flat_map(|text| text.split_whitespace()).map(str::to_owned);
            let words = first.words.iter().cloned().chain(behind).collect();
            push(found, words, first.orders && second.orders)?;
        }
    }
    if beside.len() > 2 {
        push(found, beside.into_iter().flat_map(|told| told.words).collect(), false)?;
    }
    Some(())
}

fn tells_orders(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ORDERS.iter().any(|part| key.contains(part))
}

fn any(value: &Value, orders: bool, depth: usize, found: &mut Vec<Told>) -> Option<()> {
    if depth > DEEPEST {
        return None;
    }
    match value {
        Value::Text(text) => push(found, vec![text.clone()], orders),
        Value::List(items) => {
            if let Some(words) = texts(value)
                && words.len() > 1
            {
                push(found, words, orders)?;
            }
            items.iter().try_for_each(|item| any(item, orders, depth + 1, found))
        }
        Value::Map(entries) => {
            let entries: Vec<(&str, &Value)> = entries.iter().map(|(key, value)| (&**key, value)).collect();
            map(&entries, orders, depth, found)
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => Some(()),
    }
}

/// Returns a text, or a list of nothing but texts, as words.
fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Text(text) => Some(vec![text.clone()]),
        Value::List(items) => items
            .iter()
            .map(|item| match item {
                Value::Text(text) => Some(text.clone()),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

/// Returns whether words could be a program, with some options at most.
fn names_a_program(words: &[String]) -> bool {
    words.iter().map(String::len).sum::<usize>() <= 100
        && words.iter().map(|text| text.split_whitespace().count()).sum::<usize>() <= 4
}

/// Returns whether words could be a program or its arguments, and not a whole text.
fn is_short(words: &[String]) -> bool {
    !words.is_empty() && words.len() <= 64 && words.iter().map(String::len).sum::<usize>() <= 1_000
}
