//! An answer in the words of OpenAI Chat Completions, chunk by chunk.

use crate::event::Json;
use crate::gathered::{Broken, Gathered};
use abide_core::model::Usage;
use abide_engine::port::{AnswerEnd, ModelEvent};
use std::borrow::Cow;

/// More calls than any answer has.
const MOST_CALLS: usize = 256;

/// A call that is being said.
#[derive(Debug, Default)]
struct Call {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
}

/// What has been heard.
#[derive(Debug)]
pub(crate) struct Hearing {
    pub(crate) gathered: Gathered,
    calls: Vec<Call>,
    refused: bool,
    /// Which answer of the conversation this is; it makes names for calls that have none.
    number: usize,
}

impl Hearing {
    pub(crate) fn new(gathered: Gathered, number: usize) -> Self {
        Self { gathered, calls: Vec::new(), refused: false, number }
    }

    /// Takes one chunk.
    pub(crate) fn take(&mut self, chunk: &Json<'_>) -> Result<Vec<ModelEvent>, Broken> {
        if !chunk.is_object() {
            return Err(Broken::Malformed("a chunk is no object".to_owned()));
        }
        match &chunk["error"] {
            Json::Null => {}
            Json::Text(message) => {
                return Err(Broken::Failed { kind: String::new(), message: message.to_string() });
            }
            error => {
                let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
                let code = error["code"].as_u64().map(|code| code.to_string());
                let kind = code.unwrap_or_else(|| text("code"));
                let kind = if kind.is_empty() { text("type") } else { kind };
                return Err(Broken::Failed { kind, message: text("message") });
            }
        }
        let mut heard = Vec::new();
        if chunk["usage"].is_object() {
            self.gathered.usage = usage(&chunk["usage"]);
        }
        // Only one answer is asked for.
        let choice = &chunk["choices"][0];
        let delta = &choice["delta"];
        heard.extend(self.gathered.text(delta["content"].as_str().unwrap_or_default())?);
        if let Some(refusal) = delta["refusal"].as_str().filter(|text| !text.is_empty()) {
            self.refused = true;
            heard.extend(self.gathered.text(refusal)?);
        }
        let thought = delta["reasoning_content"].as_str().or_else(|| delta["reasoning"].as_str());
        if let Some(thought) = thought.filter(|text| !text.is_empty()) {
            // It is heard and not kept: nobody wants it back.
            heard.push(ModelEvent::Thought(thought.to_owned()));
        }
        for part in delta["tool_calls"].items() {
            self.call(part)?;
        }
        match choice["finish_reason"].as_str() {
            None => {}
            Some("length") => self.gathered.end = Some(AnswerEnd::Limit),
            Some("content_filter") => self.gathered.end = Some(AnswerEnd::Refused),
            Some(_) => self.gathered.end = Some(AnswerEnd::Done),
        }
        Ok(heard)
    }

    /// Takes a part of a call. Servers differ: some count the calls, some only name them, some give each the same number.
    fn call(&mut self, part: &Json<'_>) -> Result<(), Broken> {
        let index = part["index"].as_u64();
        let id = part["id"].as_str().unwrap_or_default();
        let function = &part["function"];
        let name = function["name"].as_str().unwrap_or_default();
        let known = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None if id.is_empty() => self.calls.len().checked_sub(1),
            None => self.calls.iter().rposition(|call| call.id == id),
        };
        let known = known.filter(|position| {
            let other = &self.calls[*position].id;
            id.is_empty() || other.is_empty() || other == id
        });
        let position = match known {
            Some(position) => position,
            None if self.calls.len() == MOST_CALLS => return Err(Broken::TooLong),
            None => {
                self.calls.push(Call { index, ..Call::default() });
                self.calls.len() - 1
            }
        };
        let arguments = match &function["arguments"] {
            Json::Null => Cow::Borrowed(""),
            Json::Text(text) => Cow::Borrowed(&**text),
            // What was read can be written.
            other => Cow::Owned(serde_json::to_string(other).unwrap_or_default()),
        };
        self.gathered.keep(arguments.len())?;
        let call = &mut self.calls[position];
        if call.id.is_empty() && !id.is_empty() {
            self.gathered.keep(id.len())?;
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() && !name.is_empty() {
            self.gathered.keep(name.len())?;
            name.clone_into(&mut call.name);
        }
        call.arguments.push_str(&arguments);
        Ok(())
    }

    /// Takes the end: calls are whole only now.
    pub(crate) fn end(&mut self) -> Result<Vec<ModelEvent>, Broken> {
        if self.refused {
            self.gathered.end = Some(AnswerEnd::Refused);
        }
        let mut heard = Vec::new();
        for (position, call) in std::mem::take(&mut self.calls).into_iter().enumerate() {
            if call.name.is_empty() {
                return Err(Broken::Malformed("a call has no name".to_owned()));
            }
            let id = if call.id.is_empty() { format!("call_{}_{position}", self.number) } else { call.id };
            heard.extend(self.gathered.call(id, call.name, &call.arguments));
        }
        Ok(heard)
    }
}

fn usage(usage: &Json<'_>) -> Usage {
    let number = |value: &Json<'_>| value.as_u64().unwrap_or_default();
    Usage {
        input_tokens: number(&usage["prompt_tokens"]),
        output_tokens: number(&usage["completion_tokens"]),
        cache_read_tokens: number(&usage["prompt_tokens_details"]["cached_tokens"]),
        cache_write_tokens: 0,
    }
}
