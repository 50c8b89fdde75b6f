//! Carries letters to webhooks over HTTP: to the address that is written, and nowhere else.
//!
//! `address` says which addresses are taken, `names` finds their hosts, and [`HttpCourier`] sends.
#![warn(missing_docs)]

mod address;
mod courier;
mod names;

pub use address::{Address, BadAddress};
pub use courier::HttpCourier;
