//! The log in PostgreSQL: for servers that share the work, and for operators who have one already.
//!
//! [`PgStore`] implements [`Store`](abide_engine::port::Store). Its parts:
//!
//! - `events`, `outputs`, `leases`: what is done in a transaction. Whoever changes a stream holds its lock until the
//!   transaction ends, so that of two who append one looks at what the other has written.
//! - `keys`, `starts`, `agents`, `audit`, `sessions`, `messages`, `files`, `outbox`: what a server keeps beside the log, in the same database.
//! - `listen`: one connection that hears of every change (`LISTEN`) and wakes who follows a stream; nobody polls.
//! - `schema`: the tables and their versions. `error`: what the database says, as the port's errors.
//!
//! Text that abide's users and their agents wrote is kept as bytes: PostgreSQL's text cannot hold the character zero.
#![warn(missing_docs)]

mod agents;
mod audit;
mod error;
mod events;
mod files;
mod keys;
mod leases;
mod listen;
mod messages;
mod outage;
mod outbox;
mod outputs;
mod questions;
mod schema;
mod sessions;
mod starts;
mod store;

pub use store::{Clock, PgStore, Settings};
