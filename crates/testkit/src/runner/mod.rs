//! A runner whose answers are written down, and the contract that every runner keeps.

pub mod contract;
mod scripted;

pub use scripted::{Script, Scripted, ScriptedRunner, read_script};
