//! Models for tests: one that answers by a script over HTTP ([`ModelServer`]), its twin without a network
//! ([`ScriptedModel`]), and the contract that everything keeps that asks a model.

pub mod contract;
mod scripted;

pub use abide_model_mock::{
    Fault, Kind, Message, ModelServer, Request, Role, Script, Tokens, Tool, ToolCall, ToolResult, Turn, Wire,
};
pub use scripted::ScriptedModel;
