//! The scripted model: what it says in each wire format, what it keeps, and how it fails when it is told to.

mod ask;
mod faults;
mod kinds;
mod wires;
