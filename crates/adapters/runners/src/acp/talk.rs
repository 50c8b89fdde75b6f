//! What is said with an agent over the Agent Client Protocol, message by message.
//!
//! Pure: [`Talk::hear`] takes one message of the agent and returns what follows from it, in order. Whether the agent may do what it
//! asks for is not decided here.

use super::call::Call;
use abide_core::model::Usage;
use serde_json::{Value as Json, json};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The version of the protocol that is spoken.
const VERSION: u64 = 1;
/// The longest final text that is kept, in bytes; the driver keeps less.
const LONGEST_TEXT: usize = 16 * 1024 * 1024;
/// How many calls of tools are told apart; an agent that makes more in one turn is ended.
const MOST_CALLS: usize = 10_000;

const INITIALIZE: u64 = 1;
const NEW: u64 = 2;
const PROMPT: u64 = 3;

/// What follows from a message.
#[derive(Debug, PartialEq)]
pub(super) enum Next {
    /// This is sent to the agent.
    Send(Json),
    /// The agent wants to know whether it may make a call.
    Asks { id: Json, call: Call, options: Vec<Choice> },
    /// The agent wants a file of the project.
    Reads { id: Json, path: String, line: Option<u64>, limit: Option<u64> },
    /// The agent wants a file of the project written.
    Writes { id: Json, path: String, content: String },
    /// The agent makes a call, or has made it.
    Uses(Call),
    /// Whoever watches is told this.
    Says(String),
    /// The turn is over, and nothing is left to say.
    Ends,
}

/// An answer that the agent understands to its question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) id: String,
    pub(super) kind: String,
}

/// A conversation with an agent.
#[derive(Debug)]
pub(super) struct Talk {
    folder: String,
    prompt: String,
    pub(super) session: Option<String>,
    /// What the agent has said since it last used a tool, and before that.
    text: String,
    before: String,
    calls: HashMap<String, Call>,
    used: HashSet<String>,
    pub(super) usage: Option<Usage>,
    /// Why the turn ended, in the words of the protocol.
    pub(super) reason: Option<String>,
    pub(super) failure: Option<String>,
}

impl Talk {
    pub(super) fn new(folder: &Path, prompt: String) -> Self {
        Self {
            folder: folder.display().to_string(),
            prompt,
            session: None,
            text: String::new(),
            before: String::new(),
            calls: HashMap::new(),
            used: HashSet::new(),
            usage: None,
            reason: None,
            failure: None,
        }
    }

    /// Returns the first message. Terminals are not offered: an agent that runs commands asks for permission.
    pub(super) fn begin() -> Json {
        request(
            INITIALIZE,
            "initialize",
            &json!({
                "protocolVersion": VERSION,
                "clientCapabilities": { "fs": { "readTextFile": true, "writeTextFile": true }, "terminal": false },
                "clientInfo": { "name": "abide", "version": env!("CARGO_PKG_VERSION") },
            }),
        )
    }

    /// Returns what asks the agent to end its turn, once it has a session.
    pub(super) fn cancel(&self) -> Option<Json> {
        let session = self.session.as_ref()?;
        Some(json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session } }))
    }

    /// Returns the agent's final text: what it said last.
    pub(super) fn final_text(&mut self) -> String {
        let text = std::mem::take(&mut self.text);
        let text = if text.trim().is_empty() { std::mem::take(&mut self.before) } else { text };
        text.trim().to_owned()
    }

    /// Takes in a message of the agent.
    pub(super) fn hear(&mut self, message: &Json) -> Vec<Next> {
        let id = message.get("id").filter(|id| !id.is_null());
        match (message["method"].as_str(), id) {
            (Some("session/update"), _) => self.update(&message["params"]["update"]),
            (Some(method), Some(id)) => vec![self.asked(method, id.clone(), &message["params"])],
            (None, Some(id)) => match id.as_u64() {
                Some(id) => self.answered(id, message),
                None => Vec::new(),
            },
            // A note that nobody here needs.
            (_, None) => Vec::new(),
        }
    }

    fn answered(&mut self, id: u64, message: &Json) -> Vec<Next> {
        if let Some(error) = message.get("error").filter(|error| !error.is_null()) {
            let what =
                error["data"]["details"].as_str().or(error["message"].as_str()).unwrap_or("no reason given");
            // The code of the protocol for an agent that nobody has logged in to.
            let login = if error["code"].as_i64() == Some(-32000) {
                " (it has to be logged in to first)"
            } else {
                ""
            };
            return self.fails(format!("{}{login}", line(what)));
        }
        let result = &message["result"];
        match id {
            INITIALIZE => match result["protocolVersion"].as_u64() {
                Some(VERSION) => {
                    let new = json!({ "cwd": self.folder, "mcpServers": [] });
                    vec![Next::Send(request(NEW, "session/new", &new))]
                }
                other => {
                    let other = other.map_or("none".to_owned(), |version| version.to_string());
                    self.fails(format!(
                        "it speaks version {other} of the protocol, and abide version {VERSION}"
                    ))
                }
            },
            NEW => {
                let Some(session) = result["sessionId"].as_str() else {
                    return self.fails("it began no session".to_owned());
                };
                self.session = Some(session.to_owned());
                let prompt = std::mem::take(&mut self.prompt);
                let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": prompt }] });
                vec![Next::Send(request(PROMPT, "session/prompt", &prompt))]
            }
            PROMPT => {
                self.reason = Some(line(result["stopReason"].as_str().unwrap_or("end_turn")));
                self.usage = usage(&result["usage"]).or(self.usage);
                vec![Next::Ends]
            }
            _ => Vec::new(),
        }
    }

    fn fails(&mut self, why: String) -> Vec<Next> {
        self.failure.get_or_insert(why);
        vec![Next::Ends]
    }

    fn asked(&mut self, method: &str, id: Json, params: &Json) -> Next {
        let path = params["path"].as_str().map(str::to_owned);
        match (method, path) {
            ("session/request_permission", _) => {
                let call = self.known(&params["toolCall"]);
                let options = params["options"].as_array().into_iter().flatten().filter_map(|option| {
                    let text = |name: &str| option[name].as_str().map(str::to_owned);
                    Some(Choice { id: text("optionId")?, kind: text("kind").unwrap_or_default() })
                });
                Next::Asks { id, call, options: options.collect() }
            }
            ("fs/read_text_file", Some(path)) => {
                Next::Reads { id, path, line: params["line"].as_u64(), limit: params["limit"].as_u64() }
            }
            ("fs/write_text_file", Some(path)) => match params["content"].as_str() {
                Some(content) => Next::Writes { id, path, content: content.to_owned() },
                None => Next::Send(refusal(&id, INVALID, "`content` is missing")),
            },
            ("fs/read_text_file" | "fs/write_text_file", None) => {
                Next::Send(refusal(&id, INVALID, "`path` is missing"))
            }
            _ => Next::Send(refusal(&id, UNKNOWN, &format!("abide does not offer `{}`", line(method)))),
        }
    }

    fn update(&mut self, update: &Json) -> Vec<Next> {
        match update["sessionUpdate"].as_str() {
            Some("agent_message_chunk") => {
                let Some(text) = update["content"]["text"].as_str() else { return Vec::new() };
                let left = LONGEST_TEXT.saturating_sub(self.text.len());
                self.text.extend(text.chars().take(left));
                vec![Next::Says(text.to_owned())]
            }
            Some(kind @ ("tool_call" | "tool_call_update")) => {
                let call = self.known(update);
                let mut next = Vec::new();
                if kind == "tool_call" {
                    if !self.text.trim().is_empty() {
                        self.before = std::mem::take(&mut self.text);
                    }
                    next.push(Next::Says(format!("\n→ {}\n", call.title())));
                }
                if self.calls.len() > MOST_CALLS {
                    next.extend(self.fails(format!("it made more than {MOST_CALLS} calls of tools")));
                } else if call.is_under_way() && self.used.insert(format!("{} {}", call.id, call.is_done())) {
                    next.push(Next::Uses(call));
                }
                next
            }
            Some("usage_update") => {
                self.usage = usage(&update["usage"]).or(self.usage);
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    /// Returns a call with everything that was said about it so far.
    fn known(&mut self, said: &Json) -> Call {
        let id: String = said["toolCallId"].as_str().unwrap_or_default().chars().take(200).collect();
        let call = self.calls.entry(id.clone()).or_insert_with(|| Call::new(id));
        call.take(said);
        call.clone()
    }
}

const INVALID: i64 = -32602;
const UNKNOWN: i64 = -32601;
/// The code of an answer that says no.
pub(super) const REFUSED: i64 = -32000;

fn request(id: u64, method: &str, params: &Json) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Makes an answer.
pub(super) fn answer(id: &Json, result: &Json) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// Makes an answer that says no.
pub(super) fn refusal(id: &Json, code: i64, why: &str) -> Json {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } })
}

/// Makes the answer to a question for permission: the option of one of these kinds, the first that there is.
pub(super) fn chosen(id: &Json, options: &[Choice], kinds: &[&str]) -> Option<Json> {
    let option = kinds.iter().find_map(|kind| options.iter().find(|option| option.kind == *kind))?;
    Some(answer(id, &json!({ "outcome": { "outcome": "selected", "optionId": option.id } })))
}

/// Makes the answer to a question for permission that has no option for a no.
pub(super) fn none_chosen(id: &Json) -> Json {
    answer(id, &json!({ "outcome": { "outcome": "cancelled" } }))
}

fn usage(said: &Json) -> Option<Usage> {
    let tokens = |name: &str| said[name].as_u64();
    let (input, output) = (tokens("inputTokens")?, tokens("outputTokens")?);
    let (read, written) = (tokens("cachedReadTokens").unwrap_or(0), tokens("cachedWriteTokens").unwrap_or(0));
    Some(Usage {
        input_tokens: input.saturating_add(read).saturating_add(written),
        output_tokens: output.saturating_add(tokens("thoughtTokens").unwrap_or(0)),
        cache_read_tokens: read,
        cache_write_tokens: written,
    })
}

/// Returns a text of the agent as one line that is not too long.
fn line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk() -> Talk {
        Talk::new(Path::new("/p"), "Do it.".to_owned())
    }

    #[test]
    fn a_turn_goes_from_the_greeting_to_its_end() {
        let mut talk = talk();
        let next = talk.hear(&json!({"id": 1, "result": {"protocolVersion": 1}}));
        assert_eq!(next, [Next::Send(request(2, "session/new", &json!({"cwd": "/p", "mcpServers": []})))]);
        let next = talk.hear(&json!({"id": 2, "result": {"sessionId": "s"}}));
        let prompt = json!({"sessionId": "s", "prompt": [{"type": "text", "text": "Do it."}]});
        assert_eq!(next, [Next::Send(request(3, "session/prompt", &prompt))]);
        let says = |text: &str| json!({"method": "session/update", "params": {"update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}});
        assert_eq!(talk.hear(&says("I look")), [Next::Says("I look".to_owned())]);
        let call = json!({"method": "session/update", "params": {"update": {"sessionUpdate": "tool_call", "toolCallId": "c", "kind": "read", "title": "Read a", "status": "completed"}}});
        let next = talk.hear(&call);
        assert!(
            matches!(&next[..], [Next::Says(said), Next::Uses(call)] if said.contains("Read a") && call.id == "c")
        );
        talk.hear(&says("It is "));
        talk.hear(&says("done"));
        let end = json!({"id": 3, "result": {"stopReason": "end_turn", "usage": {"inputTokens": 5, "outputTokens": 2, "cachedReadTokens": 1}}});
        assert_eq!(talk.hear(&end), [Next::Ends]);
        assert_eq!((talk.final_text().as_str(), talk.reason.as_deref()), ("It is done", Some("end_turn")));
        assert_eq!(talk.usage.unwrap().tokens(), 8);
    }

    #[test]
    fn what_goes_wrong_is_said() {
        for (message, why) in [
            (json!({"id": 1, "result": {"protocolVersion": 2}}), "version 2 of the protocol"),
            (json!({"id": 1, "result": {}}), "version none"),
            (json!({"id": 2, "result": {}}), "began no session"),
            (
                json!({"id": 2, "error": {"code": -32000, "message": "Authentication required"}}),
                "logged in to first",
            ),
            (
                json!({"id": 3, "error": {"code": 1, "message": "x", "data": {"details": "no\nkey"}}}),
                "no key",
            ),
        ] {
            let mut talk = talk();
            assert_eq!(talk.hear(&message), [Next::Ends]);
            assert!(talk.failure.as_ref().unwrap().contains(why), "{:?}", talk.failure);
        }
    }

    #[test]
    fn what_abide_does_not_offer_is_refused_and_what_is_no_message_is_passed_over() {
        let mut talk = talk();
        for method in ["terminal/create", "fs/delete", "x"] {
            let next = talk.hear(&json!({"id": "a", "method": method, "params": {}}));
            assert!(
                matches!(&next[..], [Next::Send(sent)] if sent["error"]["code"] == UNKNOWN && sent["id"] == "a")
            );
        }
        for message in
            [json!(1), json!(null), json!({}), json!({"id": 99, "result": {}}), json!({"method": "x"})]
        {
            assert_eq!(talk.hear(&message), []);
        }
    }

    #[test]
    fn a_permission_is_given_once_and_never_for_ever() {
        let option = |id: &str, kind: &str| Choice { id: id.to_owned(), kind: kind.to_owned() };
        let all = [option("x", "allow_always"), option("y", "allow_once"), option("z", "reject_once")];
        let given = chosen(&json!(7), &all, &["allow_once"]).unwrap();
        assert_eq!(given["result"]["outcome"]["optionId"], "y");
        assert_eq!(chosen(&json!(7), &all[..1], &["allow_once"]), None);
    }
}
