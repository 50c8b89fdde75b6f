//! Scripts for which a shell would do nothing but start one program.

/// The words that a shell does not look for on the disk: what POSIX reserves, and what dash, bash, busybox, ksh or yash
/// do themselves.
#[rustfmt::skip]
const OWN: &[&str] = &[
    ".", "alias", "autoload", "bg", "bind", "break", "builtin", "caller", "case", "cd", "chdir", "command", "compgen",
    "complete", "compopt", "continue", "coproc", "declare", "dirs", "disown", "do", "done", "echo", "elif", "else",
    "enable", "esac", "eval", "exec", "exit", "export", "false", "fc", "fg", "fi", "for", "function", "getopts",
    "hash", "help", "hist", "history", "if", "in", "jobs", "kill", "let", "local", "login", "logout", "mapfile",
    "namespace", "nameref", "newgrp", "popd", "print", "printf", "pushd", "pwd", "read", "readarray", "readonly", "return",
    "select", "set", "shift", "shopt", "source", "suspend", "test", "then", "time", "times", "trap", "true",
    "type", "typeset", "ulimit", "umask", "unalias", "unset", "until", "wait", "whence", "while",
];

/// Returns the words of a script that is one command without anything for a shell to expand, redirect or do itself.
///
/// Every shell starts the program with exactly these words, so that a shell is not needed for it.
///
/// ```
/// use abide_core::value::shell::plain_command;
/// assert_eq!(plain_command("cargo test --quiet\n"), Some(vec!["cargo", "test", "--quiet"]));
/// assert_eq!(plain_command("cargo test | tail"), None);
/// assert_eq!(plain_command("echo done"), None);
/// ```
pub fn plain_command(script: &str) -> Option<Vec<&str>> {
    let blank = [' ', '\t'];
    let line = script.trim_matches([' ', '\t', '\n']);
    if !line.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_./,:@%+-= \t".contains(&byte)) {
        return None;
    }
    let words: Vec<&str> = line.split(blank).filter(|word| !word.is_empty()).collect();
    let program = words.first()?;
    let begins =
        program.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_./".contains(&byte));
    let is_file = program.contains('/');
    (begins && !program.contains('=') && (is_file || !OWN.contains(program))).then_some(words)
}
