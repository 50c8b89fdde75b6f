//! The repository keeps its own rules: `xtask/src/architecture/` says which, and why.

use xtask::architecture::{arrows, files};

#[test]
fn dependencies_point_inward() {
    let metadata = arrows::Metadata::of(&xtask::repository()).unwrap();
    let broken = arrows::broken_rules(&metadata);
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}

#[test]
fn files_say_why_they_exist_and_hold_nothing_left_over() {
    let broken = files::broken_rules(&xtask::repository()).unwrap();
    assert!(broken.is_empty(), "\n{}", broken.join("\n"));
}
