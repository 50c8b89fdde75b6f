//! Everything that is printed, made as text first, so that it can be tested without a terminal.

pub mod diagnostics;
mod style;
pub mod visible;

pub(crate) use style::Ink;
pub use style::Style;
