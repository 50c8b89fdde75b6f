//! The command line of abide.
//!
//! [`ui`] turns what abide knows into what a person or a program reads; it returns text and prints nothing.
#![warn(missing_docs)]

pub mod ui;
