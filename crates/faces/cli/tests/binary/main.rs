//! The built binary, run as a user runs it: each file is one idea, [`support`] is what they share.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests start the binary, and write the files that it reads"
)]

mod agent;
mod canary;
mod capability;
mod codes;
mod configuration;
mod discovery;
mod doctor;
mod drawing;
mod init;
mod install;
mod listing;
mod memory;
mod models;
mod output;
mod places;
mod precedence;
mod receiver;
mod references;
mod remote;
mod remote_mcp;
mod sdk;
mod sdk_sessions;
mod serve;
mod server;
mod skills;
mod start;
mod strange;
mod support;
mod talks;
mod usage;
mod validate;
mod watch;
mod webhooks;
