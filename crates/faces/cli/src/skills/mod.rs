//! Skills, wired: what was found, what each lacks here, and whether the user trusts it.

mod shelf;
mod world;

pub(crate) use shelf::{Loaded, Shelf, Standing, Unfit, failed};
