//! Everything that is printed, made as text first, so that it can be tested without a terminal.

pub mod changes;
pub mod diagnostics;
pub mod json;
pub mod live;
pub mod moment;
pub mod plan;
mod style;
pub mod table;
pub mod visible;

pub(crate) use style::Ink;
pub use style::Style;
