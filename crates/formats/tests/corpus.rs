//! The fuzzer's corpus, replayed: whatever it has found once stays found, on every run of the tests.
#![expect(clippy::disallowed_methods, reason = "the corpus is a folder of files")]

use abide_testkit::reading;
use std::path::Path;

/// Reads every file of a target's corpus and returns how many there were.
fn replay(target: &str, rules: fn(&[u8])) -> usize {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in &files {
        let bytes = std::fs::read(file).unwrap();
        let outcome = std::panic::catch_unwind(|| rules(&bytes));
        assert!(outcome.is_ok(), "{} breaks a rule of abide_testkit::reading", file.display());
    }
    files.len()
}

#[test]
fn the_corpus_keeps_every_rule() {
    for (target, rules) in [
        ("ability", reading::ability as fn(&[u8])),
        ("config", reading::config),
        ("agent", reading::agent),
        ("skill", reading::skill),
        ("template", reading::template),
        ("expression", reading::expression),
    ] {
        assert!(replay(target, rules) > 0, "{target} has no corpus");
    }
}
