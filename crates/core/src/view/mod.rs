//! What people and agents get to see: pure folds of definitions and events into text and pictures.

pub mod context;
pub mod graph;
pub mod standing;
pub mod status;
pub mod summary;
