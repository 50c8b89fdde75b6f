//! Any bytes, read as `SKILL.md`: see `abide_testkit::reading` for the rules that hold.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| abide_testkit::reading::skill(bytes));
