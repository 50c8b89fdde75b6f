//! A plain command is what real shells take for one: the same words, and a program of its own.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "the test starts shells")]

use abide_core::value::shell::plain_command;
use proptest::prelude::*;
use std::process::Command;

/// Asks a shell which words it makes of a text.
fn words(shell: &str, text: &str) -> Option<Vec<String>> {
    let script = format!("printf '%s\\0' {text}");
    let output = Command::new(shell).args(["-c", &script]).env_clear().current_dir("/").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    Some(text.split_terminator('\0').map(str::to_owned).collect())
}

/// Asks a shell whether a word is the name of something that it does itself.
fn is_own(shell: &str, word: &str) -> bool {
    let script = format!("PATH=/nowhere; command -v {word}");
    Command::new(shell).args(["-c", &script]).env_clear().output().is_ok_and(|output| output.status.success())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn words_are_the_shells_words(text in "[a-z./]{1,4}[a-zA-Z0-9_./,:@%+=~\\-# \t\\*\\?$\\\\'\"!&|;<>(){}\\[\\]]{0,24}") {
        if let Some(plain) = plain_command(&text) {
            for shell in ["dash", "bash"] {
                prop_assert_eq!(words(shell, &text).unwrap(), &plain[..], "{}", shell);
            }
        }
    }
}

#[test]
fn what_shells_do_themselves_is_no_program() {
    for shell in ["dash", "bash"] {
        let listed = Command::new("bash").args(["-c", "compgen -b; compgen -k"]).output().unwrap();
        let names = String::from_utf8(listed.stdout).unwrap();
        let mut own = 0;
        for name in names.lines().filter(|name| is_own(shell, name)) {
            own += 1;
            assert_eq!(plain_command(name), None, "{shell} does `{name}` itself");
        }
        assert!(own > 30, "{shell} does only {own} things itself");
    }
}

#[test]
fn whatever_has_a_meaning_for_a_shell_is_not_plain() {
    for script in [
        "", "\n", "a\nb", "a;b", "a|b", "a&", "a>b", "$A", "`a`", "'a'", "\"a\"", "a*", "~/a", "a #b",
        "A=1 b", "A=1", "! a", "{ a", "a\\b", "-a", "=a", "%1", "ünder", "a\0b", "a (b)", "[ a", ".", ": a",
        "if a", "cd /", "exec a", "echo a", "test a",
    ] {
        assert_eq!(plain_command(script), None, "{script:?}");
    }
}

#[test]
fn a_path_is_never_a_word_of_the_shell() {
    assert_eq!(plain_command("/bin/echo a"), Some(vec!["/bin/echo", "a"]));
    assert_eq!(plain_command("./test"), Some(vec!["./test"]));
    assert_eq!(plain_command("make A=1 B=2"), Some(vec!["make", "A=1", "B=2"]));
}
