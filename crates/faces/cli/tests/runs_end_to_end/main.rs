//! Runs as a user has them: the binary in a temporary project, told things by arguments, files and signals.
#![expect(clippy::disallowed_methods, reason = "the tests start the binary and look at its files")]

mod answering;
mod driving;
mod keeping;
mod looking;
mod secrets;
mod support;
