//! The server as its callers meet it: real connections, real keys, every route.

mod agents;
mod client;
mod doors;
mod house;
mod keys;
mod operations;
mod runs;
mod streams;
