//! An ability's steps as a drawing: for a terminal, Mermaid, Graphviz, or as an SVG of our own.
//!
//! The caller fills a [`Graph`]; each form is one method of it. Nothing here knows how an ability is written,
//! so a plan, a run or a half-written file can be drawn alike. Labels are hostile, edges may be nonsense:
//! every form escapes for its own language, and `dag` throws out what cannot be drawn.

mod ability;
mod dag;
mod dot;
mod label;
mod layout;
mod mermaid;
mod model;
mod outline;
mod shortcut;
mod svg;
mod text;

#[cfg(test)]
mod tests;

pub use model::{Edge, EdgeKind, Graph, Node};
