//! Text ⇄ definition: the one place where each file format is read and printed.
//!
//! Reading goes through three doors, each of which only ever adds problems and never stops at the first:
//! [`text`] (bytes → UTF-8), [`yaml`] (UTF-8 → nodes with spans) and a reader per format
//! (nodes → definition). The keys of each format are declared once, in [`shape`]; the readers, the JSON
//! Schema and the reference documentation are all taken from that table.
#![warn(missing_docs)]

pub mod ability;
pub mod agent;
pub mod agent_document;
pub mod bundle;
pub mod capability;
pub mod config;
pub mod edit;
pub mod event;
mod frontmatter;
pub mod json;
mod read;
pub mod reference;
pub mod schema;
pub mod shape;
pub mod skill;
pub mod snapshot;
pub mod text;
pub mod turn;
mod written;
pub mod yaml;
