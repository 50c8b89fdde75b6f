//! What drives runs: the ports that it needs, and nothing of the technologies behind them.
//!
//! [`driver::Driver`] loads a log, asks the machine of core what follows, does it through [`port`]s, and appends
//! what happened. [`service`] holds the use cases that every face calls: start, answer, cancel, look.
#![warn(missing_docs)]

mod answered;
pub mod audit;
mod call;
pub mod capability;
pub mod driver;
mod family;
mod go_on;
pub mod history;
pub mod keys;
mod log;
pub mod model;
mod plan;
pub mod port;
mod rerun;
pub mod service;
pub mod snapshot;
pub mod summary;
mod support;
pub mod talk;
pub mod toolbox;
pub mod trace;
pub mod turn;
pub mod webhooks;

pub use log::{LoadError, Loaded, load, load_whole, verify};
