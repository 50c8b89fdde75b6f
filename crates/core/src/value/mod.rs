//! Values that flow through an ability: inputs, templates, expressions, durations.

mod data;
mod duration;

pub use data::Value;
pub use duration::{BadDuration, Duration};
