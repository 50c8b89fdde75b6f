//! Runs on a real terminal: what is drawn, what is asked, and what a key does.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "the tests start the binary and look at its files")]

mod chat;
mod drawing;
mod installing;
mod keys;
mod pty;
mod questions;
mod screen;
