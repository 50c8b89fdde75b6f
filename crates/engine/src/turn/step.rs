//! A step of a run as a conversation: which session it is, and what its agent is told.
//!
//! All attempts of a step are turns of one session, so that an agent that is told what is missing still knows what it
//! did. A session outlives its driver: what was answered before a crash is not asked for again.

use crate::port::{SessionId, Task};
use abide_core::event::{RunId, StepKey};
use abide_core::turn::{Conversation, TurnEnd};
use abide_core::view::context::message;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// Returns the session in which a step of a run is done.
pub fn session_of(run: &RunId, key: &StepKey) -> SessionId {
    let id = format!("{run}-{}", digest(&key.to_string()));
    // Invariant: a run's id has at most 64 letters, digits and hyphens, and a digest 16 digits.
    SessionId::parse(&id).unwrap_or_else(|| unreachable!("`{id}` is an id"))
}

/// Returns the session of whoever a call asks, by what the call is known by in its own session.
pub fn session_of_call(session: &SessionId, call: &str) -> SessionId {
    let id = format!("{}-{}", digest(session.as_str()), digest(&format!("{session} {call}")));
    // Invariant: two digests of 16 digits.
    SessionId::parse(&id).unwrap_or_else(|| unreachable!("`{id}` is an id"))
}

/// What there is to do about an attempt.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// A turn is under way that nobody works on.
    GoOn,
    /// The agent has done what it is told, and nobody took its answer.
    Answered,
    /// The agent is told the whole task.
    Begin,
    /// The agent is told something about the task that it knows.
    Tell(String),
}

/// Returns what there is to do about an attempt; `taken` tells whether the answer of the last turn was taken.
pub(super) fn attempt(task: &Task, conversation: &Conversation, label: &str, taken: bool) -> Attempt {
    if conversation.active.is_some() {
        return Attempt::GoOn;
    }
    match &conversation.last {
        Some((known, TurnEnd::Finished)) if !taken && known.as_deref() == Some(label) => Attempt::Answered,
        Some((_, TurnEnd::Finished)) if !task.missing.is_empty() => {
            let missing = message("", "", &task.missing);
            let answer = "Do what is missing, then give your final answer again.";
            Attempt::Tell(format!("{}\n\n{answer}{}", missing.trim(), by_schema(task)))
        }
        None | Some((_, TurnEnd::Finished)) => Attempt::Begin,
        Some((_, end)) => {
            let missing =
                if task.missing.is_empty() { String::new() } else { message("", "", &task.missing) };
            Attempt::Tell(format!(
                "The last attempt came to no end: {end}. Look at what is done already, and go on with the task until it is done.\n\n{}{}",
                missing.trim(),
                by_schema(task)
            ))
        }
    }
}

/// Returns what an attempt is known by: the same words make the same label.
pub(super) fn label(task: &Task) -> String {
    digest(&(task.message() + &by_schema(task)))
}

/// Asks for the answer by its schema in words too: not every server sees to it.
pub(super) fn by_schema(task: &Task) -> String {
    match &task.output_schema {
        None => String::new(),
        Some(schema) => format!(
            "\n\nYour final answer must be JSON that fits this JSON Schema, and nothing but that JSON:\n\n{schema}"
        ),
    }
}

fn digest(text: &str) -> String {
    let hash = Sha256::digest(text.as_bytes());
    hash.iter().take(8).fold(String::new(), |mut out, byte| {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}
