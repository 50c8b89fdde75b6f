//! What a runner needs from outside: a place at the gate for the session that it starts, and who the agent is.

use crate::Client;
use abide_core::definition::Enforcement;
use abide_core::value::Value;
use abide_engine::port::Task;

/// Holds the sessions that runners start to their steps.
pub trait Keeper: Send + Sync + 'static {
    /// Makes a place at the gate for a session that is about to be started for a task, with these tools and no others.
    ///
    /// From then on the gate judges every call of a session that has what is [`Held`]; the error is a sentence.
    fn hold(&self, client: Client, task: &Task, tools: Option<Vec<String>>) -> Result<Held, String>;

    /// Returns who answers for the gate in a session that is about to be started for a task, with these tools and no others.
    fn judge(&self, task: &Task, tools: Option<Vec<String>>) -> Result<Box<dyn Judge>, String>;
}

/// Answers for the gate where a session asks its runner: an agent that no hook holds.
pub trait Judge: Send + Sync {
    /// Says whether a call may be made under one of these names of our own loop's tools; the error is what is told. Every no is noted.
    fn judge(&self, names: &[&str], arguments: &Value, call: &str) -> Result<(), String>;

    /// Returns how strictly the run is held.
    fn level(&self) -> Enforcement;
}

/// What makes a client ask the gate, and a session be known there.
pub struct Held {
    /// What its command line adds.
    pub arguments: Vec<String>,
    /// What its environment adds.
    pub variables: Vec<(String, String)>,
    /// What the session asks about. Dropping it takes the place at the gate away.
    pub watch: Box<dyn Watch>,
}

/// Tells what a session has asked the gate about.
pub trait Watch: Send + Sync {
    /// Returns whether it may go on without having asked: nothing is held back there.
    fn is_loose(&self) -> bool;
    /// Returns whether it has asked anything.
    fn has_asked(&self) -> bool;
    /// Returns whether it has asked about a call of a tool, by the client's id.
    fn has_asked_about(&self, call: &str) -> bool;
    /// Returns how many calls it has asked about.
    fn calls(&self) -> usize;
}

/// What is known about an agent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Profile {
    /// Its model, as the profile names it.
    pub model: Option<String>,
    /// Its system prompt.
    pub prompt: String,
    /// The tools it has, unless the profile does not say.
    pub tools: Option<Vec<String>>,
}

/// Finds agents by their names.
pub trait Profiles: Send + Sync + 'static {
    /// Returns what is known about an agent; nothing about one that has no profile.
    fn find(&self, agent: &str) -> Option<Profile>;
}
