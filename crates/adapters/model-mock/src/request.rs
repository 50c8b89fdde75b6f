//! What a model was asked and told, whatever the wire format.

use super::{ToolCall, Wire};
use serde_json::Value;

/// One request, as a test wants to look at it.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The format in which it came.
    pub wire: Wire,
    /// Whether it is part of the conversation.
    pub kind: Kind,
    /// The system prompt.
    pub system: String,
    /// The conversation so far.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Vec<Tool>,
    /// Whether the answer is to be streamed.
    pub stream: bool,
    /// Headers with lower-case names; credentials are left out.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: Value,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The conversation: it takes the next turn of the script.
    Turn,
    /// Something beside it, such as a title or a warm-up: it gets a fixed answer.
    ///
    /// A request is this when it offers no tool and either comes from a client that always offers some in a
    /// conversation, or asks for what clients are known to ask small models; or when it wants one token at most.
    Side,
}

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The user, or a client in the user's name.
    User,
    /// The model.
    Assistant,
    /// The client, in the middle of a conversation.
    System,
    /// A tool.
    Tool,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who says it.
    pub role: Role,
    /// Its texts, joined with line ends.
    pub text: String,
    /// The tools that it calls.
    pub calls: Vec<ToolCall>,
    /// The results of tools that it brings.
    pub results: Vec<ToolResult>,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call that it answers.
    pub call: String,
    /// What the model is told.
    pub text: String,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// The group that it is offered in, where the wire format has such.
    pub namespace: Option<String>,
    /// Whether it takes a text rather than an object.
    pub freeform: bool,
}

impl Request {
    /// Tells whether the model is told a text anywhere: in the system prompt, a message or a tool's result.
    pub fn tells(&self, text: &str) -> bool {
        self.system.contains(text)
            || self.messages.iter().any(|message| {
                message.text.contains(text) || message.results.iter().any(|result| result.text.contains(text))
            })
    }

    /// Returns the results of tools that this request is the first to bring: those after the model's last word.
    pub fn new_results(&self) -> Vec<&ToolResult> {
        let said = self.messages.iter().rposition(|message| message.role == Role::Assistant);
        let news = &self.messages[said.map_or(0, |position| position + 1)..];
        news.iter().flat_map(|message| &message.results).collect()
    }

    /// Tells whether a tool of this name is offered.
    pub fn offers(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// Returns the client's session, if the client tells.
    pub fn session(&self) -> Option<&str> {
        SESSIONS.iter().find_map(|name| self.header(name))
    }

    /// Returns a header by its lower-case name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// The headers in which clients name their session.
const SESSIONS: &[&str] = &["x-claude-code-session-id", "session-id", "x-session-id"];

/// Clients that offer tools in every request of a conversation, by their `user-agent`.
const CLIENTS: &[&str] = &["claude-cli/", "opencode/", "codex_"];

/// What clients ask small models beside the conversation, as it stands in the prompt.
const SIDE_PROMPTS: &[&str] = &[
    "You are a title generator",
    "Generate a title for this conversation",
    "Generate a concise, sentence-case title",
    "Summarize this coding conversation",
    "Analyze if this message indicates a new conversation topic",
];

/// Says what a request is for.
pub(super) fn kind(request: &Request) -> Kind {
    let limits = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    if limits.iter().any(|name| request.body[name].as_u64().is_some_and(|most| most <= 1)) {
        return Kind::Side;
    }
    if !request.tools.is_empty() {
        return Kind::Turn;
    }
    let agent = request.header("user-agent").unwrap_or_default();
    let aside = CLIENTS.iter().any(|name| agent.contains(name))
        || SIDE_PROMPTS.iter().any(|prompt| request.tells(prompt));
    if aside { Kind::Side } else { Kind::Turn }
}
