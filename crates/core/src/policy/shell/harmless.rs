//! Code that provably runs no program and writes no file, so that everyday one-liners stay possible.
//!
//! Each check knows a few forms and takes nothing else: a form that is missing is a refusal too many.

use super::language::Language;

/// Returns whether an awk program neither runs, reads nor writes anything but its input.
pub(super) fn awk(code: &str) -> bool {
    let words = code.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let dangerous =
        |word: &str| matches!(word, "system" | "getline" | "close" | "include" | "load" | "ENVIRON");
    // `>` compares or writes, `|` runs, `@` calls by name.
    !code.contains(['|', '>', '@', '`']) && !words.into_iter().any(dangerous)
}

/// Returns whether a sed script only prints, deletes and substitutes.
pub(super) fn sed(script: &str) -> bool {
    let mut rest = script.trim();
    loop {
        rest = rest.trim_start_matches([';', ' ', '\n', '\t', '}']);
        if rest.is_empty() {
            return true;
        }
        rest = address(rest);
        rest = rest.trim_start_matches(['!', ' ']);
        let Some(command) = rest.chars().next() else { return true };
        rest = &rest[command.len_utf8()..];
        match command {
            'p' | 'd' | 'D' | 'P' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | '{' => {}
            'q' | 'Q' => rest = rest.trim_start_matches(|digit: char| digit.is_ascii_digit()),
            's' | 'y' => match substitution(rest) {
                Some(after) => rest = after,
                None => return false,
            },
            _ => return false,
        }
    }
}

/// Steps over `1,5`, `$`, `/pattern/` and their pairs.
fn address(text: &str) -> &str {
    let mut rest = text;
    loop {
        let before = rest;
        rest = rest.trim_start_matches(|part: char| part.is_ascii_digit() || "$,~+ ".contains(part));
        if let Some(pattern) = rest.strip_prefix('/') {
            let Some((pattern, after)) = up_to(pattern, '/') else { return "?" };
            if !is_closed(pattern) {
                return "?";
            }
            rest = after.trim_start_matches('I');
        }
        if rest == before {
            return rest;
        }
    }
}

fn up_to(text: &str, end: char) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == end => return Some((&text[..at], &text[at + end.len_utf8()..])),
            _ => {}
        }
    }
    None
}

/// Returns whether the brackets of a pattern are closed in it: in `[/]` a delimiter is none.
fn is_closed(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some((before, inside)) = rest.split_once('[') {
        if before.ends_with('\\') {
            rest = inside;
            continue;
        }
        let inside = inside.strip_prefix('^').unwrap_or(inside);
        let first = inside.chars().next().map_or(0, char::len_utf8);
        let Some(end) = inside.get(first..).and_then(|after| after.find(']')) else { return false };
        let (set, after) = inside.split_at(first + end);
        // A class of characters, `[[:alpha:]/]`, ends with a bracket that is not the last.
        let set = ["[:alpha:", "[:digit:", "[:space:", "[:alnum:", "[:upper:", "[:lower:"]
            .iter()
            .fold(set.to_owned(), |set, class| set.replace(class, ""));
        if set.len() < first + end {
            if !after.starts_with("]]") {
                return false;
            }
            rest = &after[2..];
        } else if set.contains(['[', '\\']) {
            return false;
        } else {
            rest = &after[1..];
        }
    }
    true
}

/// Steps over the rest of `s/a/b/flags`; `e` and `w` are no harmless flags.
fn substitution(text: &str) -> Option<&str> {
    let delimiter =
        text.chars().next().filter(|first| !first.is_alphanumeric() && !"\\\n ".contains(*first))?;
    let (pattern, rest) = up_to(&text[delimiter.len_utf8()..], delimiter)?;
    is_closed(pattern).then_some(())?;
    let (_, rest) = up_to(rest, delimiter)?;
    let rest = rest.trim_start_matches(|flag: char| flag.is_ascii_digit() || "gpiI".contains(flag));
    (rest.is_empty() || rest.starts_with([';', ' ', '\n', '}'])).then_some(rest)
}

/// Names with which Python and JavaScript only compute and print.
const NAMES: &[&str] = &[
    "print",
    "json",
    "sys",
    "math",
    "datetime",
    "load",
    "loads",
    "dumps",
    "stdin",
    "version",
    "version_info",
    "len",
    "sorted",
    "list",
    "dict",
    "set",
    "tuple",
    "str",
    "int",
    "float",
    "bool",
    "range",
    "sum",
    "min",
    "max",
    "abs",
    "for",
    "in",
    "if",
    "else",
    "and",
    "or",
    "not",
    "is",
    "None",
    "True",
    "False",
    "keys",
    "values",
    "items",
    "get",
    "join",
    "split",
    "strip",
    "lower",
    "upper",
    "round",
    "enumerate",
    "zip",
    "sqrt",
    "pi",
    "now",
    "isoformat",
    "indent",
    "x",
    "y",
    "i",
    "j",
    "k",
    "v",
    "d",
    "n",
    "data",
    "line",
    "item",
    "argv",
    "read",
    "readlines",
    "splitlines",
    "as",
    "console",
    "log",
    "process",
    "JSON",
    "parse",
    "stringify",
    "Math",
    "const",
    "let",
    "of",
    "map",
    "filter",
    "length",
    "versions",
    "platform",
    "replace",
    "startswith",
    "endswith",
    "append",
    "sep",
    "end",
    "prefix",
    "true",
    "false",
];

/// Returns whether code given on the command line uses nothing but names that compute and print.
pub(super) fn inline(language: Language, code: &str) -> bool {
    match language {
        Language::Node => computes(language, code),
        Language::Python => {
            // A text with a line end would be torn here, and is then refused as one that is not closed.
            code.split([';', '\n']).map(str::trim).all(|statement| match statement.strip_prefix("import ") {
                Some(modules) => modules.split(',').all(|module| MODULES.contains(&module.trim())),
                None => computes(language, statement),
            })
        }
        _ => false,
    }
}

/// Modules of Python that only compute.
const MODULES: &[&str] = &["json", "sys", "math", "datetime"];

/// Reads code token by token and returns whether it has only texts, numbers and [`NAMES`].
///
/// What is not read as the language itself would read it is refused: whoever takes a comment for a text, or the end of one for its
/// beginning, takes code for data.
fn computes(language: Language, code: &str) -> bool {
    if language == Language::Node && (code.contains("<!--") || code.contains("-->")) {
        // In a script these begin comments.
        return false;
    }
    let mut rest = code;
    let mut before = ' ';
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        rest = match character {
            '\'' | '"' => {
                // `f"{…}"` is code in a text.
                if is_word(before) {
                    return false;
                }
                match behind_text(after, character) {
                    Some(after) => after,
                    None => return false,
                }
            }
            // A text with code in it, a decorator, a comment, a character that is written otherwise.
            '`' | '@' | '#' | '\\' => return false,
            // `process["binding"]`, a name that is put together; a comment, or an expression of which a quote is part.
            '[' | '/' if language == Language::Node => return false,
            _ if is_word(character) => {
                let end = rest.find(|next: char| !is_word(next)).unwrap_or(rest.len());
                let word = &rest[..end];
                let number = word.bytes().all(|digit| digit.is_ascii_digit());
                if !number && !NAMES.contains(&word) {
                    return false;
                }
                &rest[end..]
            }
            _ if character.is_ascii_punctuation() || character.is_ascii_whitespace() => after,
            _ => return false,
        };
        before = character;
        if is_word(character) && rest.starts_with(['\'', '"']) {
            return false;
        }
    }
    true
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// Returns what stands behind a text of one line, of which `text` begins behind its first quote.
fn behind_text(text: &str, quote: char) -> Option<&str> {
    if text.starts_with(&format!("{quote}{quote}")) {
        // A text of many lines.
        return None;
    }
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\n' | '\r' => return None,
            '\\' => {
                characters.next().filter(|(_, escaped)| !matches!(escaped, '\n' | '\r'))?;
            }
            _ if character == quote => return Some(&text[at + quote.len_utf8()..]),
            _ => {}
        }
    }
    None
}

/// Commands of the shell of `SQLite` that show something or say how.
const SQLITE: &[&str] = &[
    "tables",
    "schema",
    "fullschema",
    "dump",
    "headers",
    "header",
    "mode",
    "databases",
    "indexes",
    "indices",
    "width",
    "timer",
    "stats",
    "quit",
    "exit",
    "help",
    "show",
    "separator",
    "nullvalue",
    "eqp",
    "changes",
    "echo",
    "print",
    "lint",
    "timeout",
    "bail",
];

/// Returns whether statements for `sqlite3` run no program and touch no file but the database.
pub(super) fn sql(statements: &str) -> bool {
    let command = |line: &str| match line.trim_start().strip_prefix('.') {
        Some(command) => SQLITE.contains(&command.split_whitespace().next().unwrap_or_default()),
        None => true,
    };
    let words = statements.split(|character: char| !is_word(character));
    let dangerous = |word: &str| {
        ["edit", "load_extension", "writefile", "attach", "vacuum"]
            .contains(&word.to_ascii_lowercase().as_str())
    };
    statements.lines().all(command) && !words.into_iter().any(dangerous)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyday_programs_are_harmless_and_others_are_not() {
        for good in
            ["{print $1}", "NR==1 {print}", "/x/ {n++} END {print n}", "BEGIN { FS=\",\" } { print $2 }"]
        {
            assert!(awk(good), "{good}");
        }
        for bad in
            ["BEGIN{system(\"x\")}", "{print | \"sh\"}", "{print > \"f\"}", "\"x\" | getline", "@load \"f\""]
        {
            assert!(!awk(bad), "{bad}");
        }
        for good in [
            "s/a/b/g",
            "1,5p",
            "/x/d",
            "$d",
            "s|/a|/b|",
            "1d;2p",
            "/a/,/b/p",
            "10q",
            "/a/{s/x/y/;p}",
            "s/[0-9]*//",
            "s/^[[:space:]]*//",
            "/[^ab]/d",
        ] {
            assert!(sed(good), "{good}");
        }
        for bad in [
            "1e ./x",
            "s/a/b/e",
            "w f",
            "s/a/b/w f",
            "e",
            "/x/e",
            "r f",
            "1,5!e x",
            "s/a/b",
            "/x",
            "s/[/]/ x;y,/e;s,, ,",
            "s/[]/]/ x;y,/e;s,, ,",
            "s/[[:alpha:]/]/ x;y,/e;s,, ,",
        ] {
            assert!(!sed(bad), "{bad}");
        }
        for good in [
            "print(1+1)",
            "import sys; print(sys.version)",
            "import json,sys;print(json.load(sys.stdin)['a'])",
        ] {
            assert!(inline(Language::Python, good), "{good}");
        }
        for bad in [
            "import os; os.system('x')",
            "__import__('os')",
            "print(f'{x}')",
            "exec('x')",
            "open('x','w')",
            "sys.modules['os']",
            "print('a",
            "import deploy",
            "import json, deploy",
            "print(\"\"\" \" \"\"\", exec(x), \"\"\" \" \"\"\")",
            "print('a\nb')",
            "print(''' ''')",
        ] {
            assert!(!inline(Language::Python, bad), "{bad}");
        }
        assert!(inline(Language::Node, "console.log(1)"));
        for bad in [
            "require('child_process')",
            "import('./deploy.mjs')",
            "process['binding']('x')",
            "console.log(`${x}`)",
            "/* ' */ require('child_process') /* ' */",
            "x = 1 / y /'/ 1",
            "console.log('a\\\n')",
            "\\u0065val('1')",
            "eval('1')",
        ] {
            assert!(!inline(Language::Node, bad), "{bad}");
        }
        assert!(!inline(Language::Perl, "print 1"));
    }
}
