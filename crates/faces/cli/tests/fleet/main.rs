//! Several `abide serve` on one real PostgreSQL: servers that are killed or stopped, and a database that goes away.
//!
//! Each test starts a database of its own, because it ends it; `./test postgres` runs them.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start the binary and the database, and write the files that they read"
)]

mod database;
#[path = "../server_kill/idle.rs"]
mod idle;
#[path = "../server_kill/load.rs"]
mod load;
#[path = "../server_kill/pages.rs"]
mod pages;
#[path = "../binary/receiver.rs"]
mod receiver;
#[path = "../binary/server.rs"]
#[expect(dead_code, reason = "shared with the tests of the binary")]
mod server;
mod stage;
#[path = "../binary/support.rs"]
#[expect(dead_code, reason = "shared with the tests of the binary")]
mod support;
#[path = "../server_kill/talk.rs"]
mod talk;

mod real_postgres {
    mod databases;
    mod idle;
    mod killed;
    mod servers;
    mod webhooks;
}
