//! The largest hostile files, one after the other in one process, stay within the memory that abide promises.
//!
//! Alone in its binary, because the peak of a process is the peak of everything that it did.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the kernel tells the peak in a file")]

#[path = "hostile/cases.rs"]
mod cases;

use abide_formats::text::LARGEST_FILE;
use cases::{CHECKING, PARSING, problems};

/// What DESIGN.md promises, in kilobytes.
const MOST_MEMORY: u64 = 256 * 1024;

/// The cases that took the most of all, each at the size at which it does: many values just below their
/// bound, long texts just below the largest file.
const HEAVY: &[(&str, usize)] = &[
    ("steps", 2_900_000),
    ("a large enum", 5_500_000),
    ("environment variables", 4_200_000),
    ("options", 3_600_000),
    ("conditions", 5_000_000),
    ("merges of many keys", 4_000_000),
    ("anchors inside each other", 1_000_000),
    ("aliases of a text", LARGEST_FILE - 1_000),
    ("a long quoted text", LARGEST_FILE - 1_000),
    ("a long folded text", LARGEST_FILE - 1_000),
    ("placeholders in one line", 850_000),
    ("a frontmatter that never ends", LARGEST_FILE - 1_000),
];

fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn the_largest_hostile_files_stay_within_256_megabytes() {
    for (name, size) in HEAVY {
        let case = PARSING.iter().chain(CHECKING).find(|case| case.name == *name).unwrap();
        let found = problems(case.format, &(case.make)(*size));
        assert!(
            case.error.is_some() || found.iter().all(|problem| !problem.is_error()),
            "{name}: {:?}",
            found[0]
        );
        drop(found);
        assert!(peak() < MOST_MEMORY, "{}: the peak is {} MB", case.name, peak() / 1024);
    }
}
