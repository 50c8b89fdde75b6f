//! Traces of the built binary, as a collector on loopback is told of them.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start the binary, and write the files that it reads"
)]

mod collector;
mod runs;
#[path = "../binary/server.rs"]
#[expect(dead_code, reason = "shared with the tests of the binary")]
mod server;
#[path = "../binary/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the binary")]
mod support;
mod trouble;
mod turns;
