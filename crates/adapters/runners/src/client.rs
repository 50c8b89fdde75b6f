//! The clients, and what is particular to each.

use crate::hearing::Heard;
use crate::{Profile, claude, codex, opencode};
use abide_core::value::Value;
use serde_json::Value as Json;
use std::path::PathBuf;

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// OpenCode.
    Opencode,
    /// Codex.
    Codex,
}

/// What a client is started with.
pub(crate) struct Order<'a> {
    pub(crate) profile: &'a Profile,
    /// The session to go on with.
    pub(crate) session: Option<&'a str>,
    pub(crate) schema: Option<&'a Value>,
    /// The tools that the step grants, if it says.
    pub(crate) tools: Option<&'a [String]>,
    /// How often its model may answer, where the client can be told.
    pub(crate) turns: Option<u32>,
    /// Whether the user has said what the client's own sandbox is.
    pub(crate) has_sandbox: bool,
}

/// What comes of an [`Order`].
#[derive(Debug, Default)]
pub(crate) struct CommandLine {
    /// Goes before what holds the session.
    pub(crate) before: Vec<String>,
    /// Goes after it.
    pub(crate) after: Vec<String>,
    /// What stands before the task, of what the client has no option for.
    pub(crate) preface: String,
    /// A file that must stay as long as the client runs.
    pub(crate) file: Option<(PathBuf, tempfile::NamedTempFile)>,
}

impl Client {
    /// Every client.
    pub const ALL: [Self; 3] = [Self::Claude, Self::Opencode, Self::Codex];

    /// Returns the word of its runner, which is the name of its program, too.
    pub fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Opencode => "opencode",
            Self::Codex => "codex",
        }
    }

    /// Returns what people call it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Opencode => "OpenCode",
            Self::Codex => "Codex",
        }
    }

    /// Returns how it is installed.
    pub fn package(self) -> &'static str {
        match self {
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Opencode => "opencode-ai",
            Self::Codex => "@openai/codex",
        }
    }

    pub(crate) fn command_line(self, order: &Order<'_>) -> Result<CommandLine, String> {
        match self {
            Self::Claude => Ok(claude::command_line(order)),
            Self::Opencode => Ok(opencode::command_line(order)),
            Self::Codex => codex::command_line(order),
        }
    }

    /// Takes in one event of its stream.
    pub(crate) fn hear(self, event: &Json, heard: &mut Heard) {
        match self {
            Self::Claude => claude::hear(event, heard),
            Self::Opencode => opencode::hear(event, heard),
            Self::Codex => codex::hear(event, heard),
        }
    }
}

/// Returns the paragraph that asks for an answer by a schema, for a client that has no option for it.
pub(crate) fn schema_in_words(schema: &Value) -> String {
    format!(
        "## Your answer\nEnd with one JSON value that fits this JSON Schema, and with nothing else: no other words, no code fence.\n\n{schema}"
    )
}

/// Returns the paragraph that tells a client who it is, when it has no option for it.
pub(crate) fn prompt_in_words(profile: &Profile) -> String {
    match profile.prompt.trim() {
        "" => String::new(),
        prompt => format!("## Who you are\n{prompt}"),
    }
}
