//! The answer that a client understands: an exit code and what is written, the same words for every client where
//! they share them.
//!
//! A denial is exit code 2 with a reason on standard error: the one form that every client takes for a no. An allowance
//! says nothing at all, because a client takes a spoken one as a permission that its user never gave; only in a session
//! that abide started for a step, where there is no user, what the step grants is said to be granted.

use crate::asked::Moment;
use abide_core::policy::Client;
use serde_json::json;

/// What a hook answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Nothing stands against it.
    Silence,
    /// A step of the session grants it, so nobody else need be asked.
    Grant,
    /// It must not happen, for this reason.
    Deny(String),
    /// The user must be asked, for this reason.
    Ask(String),
    /// The model is to know this.
    Tell(String),
}

/// An answer as the process of a hook gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// The exit code.
    pub exit: u8,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub talk: String,
}

impl Answer {
    /// Returns the answer in a client's words.
    pub fn spoken(&self, client: Client, moment: &Moment) -> Spoken {
        let silence = Spoken { exit: 0, out: String::new(), talk: String::new() };
        match self {
            Self::Silence => silence,
            Self::Grant => match (client, moment) {
                (Client::ClaudeCode, Moment::BeforeTool(_)) => Spoken {
                    out: specific(
                        "PreToolUse",
                        &json!({ "permissionDecision": "allow", "permissionDecisionReason": "the step grants it" }),
                    ),
                    ..silence
                },
                // The others have no word for it that they act on.
                _ => silence,
            },
            Self::Deny(why) => denied(why),
            Self::Ask(why) => match (client, moment) {
                (Client::ClaudeCode, Moment::BeforeTool(_)) => Spoken {
                    out: specific(
                        "PreToolUse",
                        &json!({ "permissionDecision": "ask", "permissionDecisionReason": why }),
                    ),
                    ..silence
                },
                // Nobody can be asked there, and a question that is not understood would count as a yes.
                _ => denied(why),
            },
            Self::Tell(text) => match listens(client, moment) {
                Some(event) => {
                    Spoken { out: specific(event, &json!({ "additionalContext": text })), ..silence }
                }
                None => silence,
            },
        }
    }
}

/// A reason is never empty: without one, Codex would take the denial for none.
fn denied(why: &str) -> Spoken {
    let why = if why.trim().is_empty() { "abide does not allow this now" } else { why };
    Spoken { exit: 2, out: String::new(), talk: format!("{why}\n") }
}

/// Returns the client's name of a moment in which the model can be told something.
fn listens(client: Client, moment: &Moment) -> Option<&'static str> {
    match moment {
        // The others take up a condensed conversation with a start of their own.
        Moment::Compaction if client == Client::OpenCode => Some("PreCompact"),
        Moment::Prompt { .. } => Some("UserPromptSubmit"),
        Moment::Start { .. } => Some("SessionStart"),
        Moment::AfterTool(_) => Some("PostToolUse"),
        Moment::BeforeTool(_)
        | Moment::Permission(_)
        | Moment::Stop { .. }
        | Moment::SubAgentStop
        | Moment::Compaction
        | Moment::Other(_) => None,
    }
}

/// Only fields that every client knows: one of them takes an unknown field for no decision at all.
fn specific(event: &str, fields: &serde_json::Value) -> String {
    let mut output = json!({ "hookEventName": event });
    if let (Some(output), Some(fields)) = (output.as_object_mut(), fields.as_object()) {
        output.extend(fields.clone());
    }
    json!({ "hookSpecificOutput": output }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asked::Use;
    use abide_core::value::Value;

    const CLIENTS: [Client; 3] = [Client::ClaudeCode, Client::OpenCode, Client::Codex];

    fn before() -> Moment {
        Moment::BeforeTool(Use { tool: "Bash".into(), arguments: Value::Null, id: None })
    }

    #[test]
    fn a_denial_is_a_code_and_a_reason_in_every_client() {
        for client in CLIENTS {
            for moment in [before(), Moment::Stop { kept: false }, Moment::SubAgentStop] {
                let spoken = Answer::Deny("finish `test` first".into()).spoken(client, &moment);
                assert_eq!((spoken.exit, spoken.out.as_str()), (2, ""));
                assert_eq!(spoken.talk, "finish `test` first\n");
            }
            let spoken = Answer::Deny(" ".into()).spoken(client, &before());
            assert!(spoken.exit == 2 && !spoken.talk.trim().is_empty());
        }
    }

    #[test]
    fn an_allowance_is_silent() {
        for client in CLIENTS {
            let spoken = Answer::Silence.spoken(client, &before());
            assert_eq!(spoken, Spoken { exit: 0, out: String::new(), talk: String::new() });
        }
    }

    #[test]
    fn a_grant_is_spoken_where_a_client_would_ask_its_user() {
        let spoken = Answer::Grant.spoken(Client::ClaudeCode, &before());
        assert!(spoken.exit == 0 && spoken.out.contains(r#""permissionDecision":"allow""#), "{}", spoken.out);
        for client in [Client::OpenCode, Client::Codex] {
            assert_eq!(Answer::Grant.spoken(client, &before()).out, "");
        }
    }

    #[test]
    fn a_question_goes_to_the_user_where_the_client_can_ask_and_is_a_denial_elsewhere() {
        let ask = Answer::Ask("cancel the run?".into());
        let claude = ask.spoken(Client::ClaudeCode, &before());
        assert_eq!(claude.exit, 0);
        assert!(claude.out.contains(r#""permissionDecision":"ask""#), "{}", claude.out);
        for client in [Client::OpenCode, Client::Codex] {
            assert_eq!(ask.spoken(client, &before()).exit, 2);
        }
        assert_eq!(ask.spoken(Client::ClaudeCode, &Moment::SubAgentStop).exit, 2);
    }

    #[test]
    fn the_model_is_told_where_a_client_passes_it_on() {
        let tell = Answer::Tell("step 2 of 3".into());
        let prompt = Moment::Prompt { text: "go on".into() };
        let spoken = tell.spoken(Client::Codex, &prompt);
        assert_eq!(
            spoken.out,
            r#"{"hookSpecificOutput":{"additionalContext":"step 2 of 3","hookEventName":"UserPromptSubmit"}}"#
        );
        assert_eq!(tell.spoken(Client::Codex, &before()).out, "");
    }
}
