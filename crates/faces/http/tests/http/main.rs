//! The server as its callers meet it: real connections, real keys, every route.

mod agents;
mod client;
mod doors;
mod files;
mod house;
mod keys;
mod operations;
mod runs;
mod sessions;
mod streams;
mod talkers;
mod webhooks;
