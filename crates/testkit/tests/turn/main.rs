//! The loop of an agent on the twins of its ports: what it does, what it refuses, and what a crash leaves of it.

mod bounds;
mod checks;
mod crashes;
mod holding;
mod rounds;
mod stage;
mod steps;
mod wire;
