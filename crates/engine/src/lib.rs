//! What drives runs: the ports that it needs, and nothing of the technologies behind them.
#![warn(missing_docs)]

pub mod port;
