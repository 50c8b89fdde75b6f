//! An answer in the words of Anthropic Messages, event by event.

use crate::event::Json;
use crate::gathered::{Broken, Gathered};
use abide_core::model::{Thought, Usage};
use abide_engine::port::{AnswerEnd, ModelEvent};

/// More blocks than any answer has.
const MOST_BLOCKS: u64 = 1_000;

/// The block that is being said.
#[derive(Debug)]
enum Block {
    Text,
    Call { id: String, name: String, arguments: String },
    Thought { text: String, seal: String },
    Other,
}

/// What has been heard.
#[derive(Debug)]
pub(crate) struct Hearing {
    pub(crate) gathered: Gathered,
    /// Blocks that have begun and not ended, by their position.
    blocks: Vec<(u64, Block)>,
    pub(crate) over: bool,
}

impl Hearing {
    pub(crate) fn new(gathered: Gathered) -> Self {
        Self { gathered, blocks: Vec::new(), over: false }
    }

    /// Takes one event.
    pub(crate) fn take(&mut self, event: &Json<'_>) -> Result<Vec<ModelEvent>, Broken> {
        let index = event["index"].as_u64().unwrap_or_default();
        match event["type"].as_str() {
            Some("message_start") => {
                self.usage(&event["message"]["usage"]);
                Ok(vec![ModelEvent::Usage(self.gathered.usage)])
            }
            Some("content_block_start") => {
                if index >= MOST_BLOCKS {
                    return Err(Broken::TooLong);
                }
                self.start(index, &event["content_block"])
            }
            Some("content_block_delta") => self.delta(index, &event["delta"]),
            Some("content_block_stop") => Ok(self.stop(index).into_iter().collect()),
            Some("message_delta") => {
                self.usage(&event["usage"]);
                match event["delta"]["stop_reason"].as_str() {
                    Some("tool_use") => self.gathered.end = Some(AnswerEnd::Calls),
                    Some("max_tokens" | "model_context_window_exceeded") => {
                        self.gathered.end = Some(AnswerEnd::Limit);
                    }
                    Some("refusal") => self.gathered.end = Some(AnswerEnd::Refused),
                    Some(_) => self.gathered.end = Some(AnswerEnd::Done),
                    None => {}
                }
                Ok(Vec::new())
            }
            Some("message_stop") => {
                self.over = true;
                let open: Vec<u64> = self.blocks.iter().map(|(index, _)| *index).collect();
                Ok(open.into_iter().filter_map(|index| self.stop(index)).collect())
            }
            Some("error") => {
                let error = &event["error"];
                let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
                Err(Broken::Failed { kind: text("type"), message: text("message") })
            }
            // `ping`, and what is yet to be invented.
            Some(_) => Ok(Vec::new()),
            None => Err(Broken::Malformed("an event has no type".to_owned())),
        }
    }

    fn start(&mut self, index: u64, block: &Json<'_>) -> Result<Vec<ModelEvent>, Broken> {
        let text = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
        let mut heard = Vec::new();
        let begun = match block["type"].as_str() {
            Some("text") => {
                heard.extend(self.gathered.text(&text("text"))?);
                Block::Text
            }
            Some("tool_use") => {
                let (id, name) = (text("id"), text("name"));
                self.gathered.keep(id.len() + name.len())?;
                if id.is_empty() || name.is_empty() {
                    return Err(Broken::Malformed("a call has no id or no name".to_owned()));
                }
                Block::Call { id, name, arguments: String::new() }
            }
            Some("thinking") => Block::Thought { text: text("thinking"), seal: text("signature") },
            Some("redacted_thinking") => {
                let data = text("data");
                self.gathered.keep(data.len())?;
                self.gathered.thought(Thought::Sealed(data));
                Block::Other
            }
            _ => Block::Other,
        };
        self.blocks.retain(|(known, _)| *known != index);
        self.blocks.push((index, begun));
        Ok(heard)
    }

    fn delta(&mut self, index: u64, delta: &Json<'_>) -> Result<Vec<ModelEvent>, Broken> {
        let Some((_, block)) = self.blocks.iter_mut().find(|(known, _)| *known == index) else {
            return Err(Broken::Malformed("something is said in a block that has not begun".to_owned()));
        };
        let field = match delta["type"].as_str() {
            Some("text_delta") => "text",
            Some("input_json_delta") => "partial_json",
            Some("thinking_delta") => "thinking",
            Some("signature_delta") => "signature",
            _ => return Ok(Vec::new()),
        };
        let Some(said) = delta[field].as_str() else {
            return Err(Broken::Malformed(format!("`{field}` is no text")));
        };
        match block {
            Block::Text => return Ok(self.gathered.text(said)?.into_iter().collect()),
            Block::Call { arguments, .. } => {
                self.gathered.keep(said.len())?;
                arguments.push_str(said);
            }
            Block::Thought { text, seal } => {
                self.gathered.keep(said.len())?;
                if field == "signature" {
                    seal.push_str(said);
                } else {
                    text.push_str(said);
                    return Ok(vec![ModelEvent::Thought(said.to_owned())]);
                }
            }
            Block::Other => {}
        }
        Ok(Vec::new())
    }

    fn stop(&mut self, index: u64) -> Option<ModelEvent> {
        let position = self.blocks.iter().position(|(known, _)| *known == index)?;
        match self.blocks.remove(position).1 {
            Block::Call { id, name, arguments } => self.gathered.call(id, name, &arguments),
            Block::Thought { text, seal } => {
                self.gathered.thought(Thought::Open { text, seal });
                None
            }
            Block::Text | Block::Other => None,
        }
    }

    /// Takes what was used; a number that is not told stays as it was.
    fn usage(&mut self, usage: &Json<'_>) {
        let known = self.gathered.usage;
        let told = |name: &str| usage[name].as_u64();
        let read = told("cache_read_input_tokens").unwrap_or(known.cache_read_tokens);
        let written = told("cache_creation_input_tokens").unwrap_or(known.cache_write_tokens);
        // The provider counts what it had in its cache apart.
        let fresh = known.input_tokens.saturating_sub(known.cache_read_tokens + known.cache_write_tokens);
        self.gathered.usage = Usage {
            input_tokens: told("input_tokens").unwrap_or(fresh).saturating_add(read).saturating_add(written),
            output_tokens: told("output_tokens").unwrap_or(known.output_tokens),
            cache_read_tokens: read,
            cache_write_tokens: written,
        };
    }
}
