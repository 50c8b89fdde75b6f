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
            let Some((_, after)) = up_to(pattern, '/') else { return "?" };
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

/// Steps over the rest of `s/a/b/flags`; `e` and `w` are no harmless flags.
fn substitution(text: &str) -> Option<&str> {
    let delimiter =
        text.chars().next().filter(|first| !first.is_alphanumeric() && !"\\\n ".contains(*first))?;
    let (_, rest) = up_to(&text[delimiter.len_utf8()..], delimiter)?;
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

fn computes(language: Language, code: &str) -> bool {
    let mut characters = code.chars().peekable();
    let mut word = String::new();
    while let Some(character) = characters.next() {
        match character {
            '\'' | '"' => {
                // `f"{…}"` is code in a text, and `x["name"]` a name: only a text that is an argument is data.
                if !word.is_empty() {
                    return false;
                }
                loop {
                    match characters.next() {
                        None => return false,
                        Some('\\') => {
                            characters.next();
                        }
                        Some(end) if end == character => break,
                        Some(_) => {}
                    }
                }
            }
            '`' | '@' | '#' => return false,
            // `process["binding"]`: a name that is put together.
            '[' if language == Language::Node => return false,
            _ if character.is_alphanumeric() || character == '_' => {
                word.push(character);
                let ends = !characters.peek().is_some_and(|next| next.is_alphanumeric() || *next == '_');
                if ends {
                    let number = word.chars().all(|digit| digit.is_ascii_digit());
                    if !number && !NAMES.contains(&word.as_str()) {
                        return false;
                    }
                    if matches!(characters.peek(), Some('\'' | '"')) {
                        return false;
                    }
                    word.clear();
                }
            }
            _ if character.is_ascii_punctuation() || character.is_whitespace() => {}
            _ => return false,
        }
    }
    true
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
        for good in ["s/a/b/g", "1,5p", "/x/d", "$d", "s|/a|/b|", "1d;2p", "/a/,/b/p", "10q", "/a/{s/x/y/;p}"]
        {
            assert!(sed(good), "{good}");
        }
        for bad in ["1e ./x", "s/a/b/e", "w f", "s/a/b/w f", "e", "/x/e", "r f", "1,5!e x", "s/a/b", "/x"] {
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
        ] {
            assert!(!inline(Language::Python, bad), "{bad}");
        }
        assert!(inline(Language::Node, "console.log(1)"));
        for bad in [
            "require('child_process')",
            "import('./deploy.mjs')",
            "process['binding']('x')",
            "console.log(`${x}`)",
            "eval('1')",
        ] {
            assert!(!inline(Language::Node, bad), "{bad}");
        }
        assert!(!inline(Language::Perl, "print 1"));
    }
}
