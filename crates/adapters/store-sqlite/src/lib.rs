//! The log in one SQLite file: nothing to install, nothing to start.
//!
//! [`SqliteStore`] implements [`Store`](abide_engine::port::Store). Its parts:
//!
//! - `writer`: the only connection that writes, and the thread that has it. What is asked for while a commit is under way
//!   shares the next one, so many runs cost few syncs (`synchronous=FULL`: a commit is on the disk when it returns). On a quick
//!   disk, whoever asks while nobody writes commits in place.
//! - `readers`: a few read-only connections; with WAL, reading never waits for the writer. A reading runs on the
//!   caller's thread, in short pieces.
//! - `watch`: wakes who follows a stream; appends of other processes are found by looking at `data_version`.
//! - `backup`: all of these files in one, and back.
//! - `session_files`: the files of sessions, in a file of their own. `registry`: what a server keeps beside the log, likewise.
//! - `events`, `outputs`, `leases`: what is done in a transaction. `file`, `schema`: the file and its versions.
//!
//! Several processes may have the same file open: each change is one `IMMEDIATE` transaction that looks before it
//! writes, and `(stream, seq)` is unique.
//!
//! The binding is `rusqlite`, not `sqlx`: opening and reading need no runtime and no pool (`abide status` must
//! answer within a few times of starting a process), a writer thread is what group commit needs anyway, and it
//! compiles in a fraction of the time. What the two databases share is the port and its contract suite.
#![warn(missing_docs)]

mod backup;
mod error;
mod events;
mod file;
mod leases;
mod outputs;
mod readers;
mod registry;
mod schema;
mod session_files;
mod store;
mod watch;
mod writer;

pub use backup::{KEPT, pack, unpack};
pub use file::{Clock, Settings};
pub use registry::SqliteRegistry;
pub use session_files::SqliteSessionFiles;
pub use store::SqliteStore;
