//! Agents through the real driver: the printed examples from end to end, and runners that do not keep their word.
#![expect(clippy::disallowed_methods, reason = "tests make projects on the disk")]

mod contract;
mod examples;
mod stage;
mod stubborn;
mod summaries;
mod watching;
mod work;
