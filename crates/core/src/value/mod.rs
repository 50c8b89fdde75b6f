//! Values that flow through an ability: inputs, templates, expressions, durations, outputs.

pub mod data;
mod duration;
pub mod effort;
pub mod expression;
pub mod output;
mod secret;
pub mod shell;
pub mod template;

pub use data::Value;
pub use duration::{BadDuration, Duration};
pub use expression::Expression;
pub use secret::Secret;
pub use template::Template;
