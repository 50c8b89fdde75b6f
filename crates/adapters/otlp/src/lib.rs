//! Tells spans to a collector: OpenTelemetry's protocol over HTTP, in its JSON encoding.
//!
//! [`Settings`] is what the standard variables of the environment say; [`Exporter`] sends what it is given, in batches and within
//! bounds, and never lets anybody wait who gives it something. The encoding is documented and stable, and small: it needs no
//! library that would notice spans while things happen, because ours are made from logs.

mod encode;
mod exporter;
mod queue;
mod sampler;
mod send;
mod settings;

pub use exporter::Exporter;
pub use sampler::Sampler;
pub use settings::{BadSetting, Settings};
