//! Skills, wired: what was found, what each lacks here, and whether the user trusts it.

mod brief;
mod kept;
mod shelf;
mod trusting;
mod world;

pub(crate) use brief::{Brief, Filling};
pub(crate) use kept::KeptShelf;
pub(crate) use shelf::{Loaded, Reader, Shelf, SkillOffer, Unfit, permit};
pub(crate) use trusting::{Question, Standing, failed};
