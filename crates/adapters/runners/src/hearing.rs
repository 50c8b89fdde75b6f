//! What is taken from the events of a client, whichever it is.

use abide_core::model::Usage;
use abide_core::value::Value;

/// The longest final text that is kept, in bytes; the driver keeps less.
const LONGEST_TEXT: usize = 16 * 1024 * 1024;

/// What was heard of a client so far.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Heard {
    /// The client's session.
    pub(crate) session: Option<String>,
    /// The last thing that it said, or what it says is its answer.
    pub(crate) text: String,
    /// The answer as data.
    pub(crate) structured: Option<Value>,
    pub(crate) usage: Option<Usage>,
    /// What its answers have used that is not in `usage` yet, by the last of them.
    pub(crate) running: Usage,
    pub(crate) answer: Option<(String, Usage)>,
    /// How often its model answered.
    pub(crate) turns: u32,
    /// What went wrong, in the client's words.
    pub(crate) failure: Option<String>,
    /// Whether it said that it is done.
    pub(crate) done: bool,
    /// What whoever watches is told, since it was last taken away.
    pub(crate) said: String,
    /// Whether its model has answered, since this was last looked at.
    pub(crate) answered: bool,
    /// The calls of tools that were carried out, since they were last looked at.
    pub(crate) used: Vec<String>,
    /// How many calls were carried out that have no id by which the gate was asked.
    pub(crate) used_unnamed: usize,
}

impl Heard {
    /// Takes in something that the agent says.
    pub(crate) fn says(&mut self, text: &str) {
        self.answered = true;
        self.text.clear();
        self.text.push_str(bounded(text));
        self.said.push_str(bounded(text));
        self.said.push('\n');
    }

    /// Takes in that the agent calls a tool.
    pub(crate) fn calls(&mut self, tool: &str) {
        self.answered = true;
        self.said.push_str("→ ");
        self.said.extend(tool.chars().filter(|letter| !letter.is_control()).take(80));
        self.said.push('\n');
    }

    /// Takes in that something went wrong; the first reason stays.
    pub(crate) fn fails(&mut self, why: &str) {
        let why: String = why.trim().chars().take(2_000).collect();
        if !why.is_empty() && self.failure.is_none() {
            self.failure = Some(why);
        }
    }

    /// Adds to what was used.
    pub(crate) fn uses(&mut self, usage: Usage) {
        self.usage = Some(self.usage.unwrap_or_default() + usage);
        (self.running, self.answer) = (Usage::default(), None);
    }

    /// Takes in what an answer has used, which is told again with each part of it; the whole is told at the end.
    pub(crate) fn answers(&mut self, id: &str, usage: Usage) {
        match &mut self.answer {
            Some((known, last)) if known == id => *last = usage,
            _ => {
                self.turns = self.turns.saturating_add(1);
                let before = self.answer.replace((id.to_owned(), usage));
                self.running += before.map(|(_, usage)| usage).unwrap_or_default();
            }
        }
    }

    /// Returns all that it has used, as far as it was told.
    pub(crate) fn used_so_far(&self) -> Usage {
        let answer = self.answer.as_ref().map(|(_, usage)| *usage).unwrap_or_default();
        self.usage.unwrap_or_default() + self.running + answer
    }
}

fn bounded(text: &str) -> &str {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) if text.len() > LONGEST_TEXT => &text[..end],
        _ => text,
    }
}

/// Reads an answer that should be JSON; models like to put a fence around it.
pub(crate) fn answer_as_data(text: &str) -> Option<Value> {
    let text = text.trim();
    let inner = text
        .strip_prefix("```json")
        .or_else(|| text.strip_prefix("```"))
        .and_then(|inner| inner.strip_suffix("```"))
        .unwrap_or(text);
    abide_formats::json::parse(inner.trim()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_data_with_and_without_a_fence() {
        let wanted = Some(Value::Map(vec![("ok".into(), Value::Bool(true))]));
        for text in
            ["{\"ok\":true}", " {\"ok\": true}\n", "```json\n{\"ok\":true}\n```", "```\n{\"ok\":true}\n```"]
        {
            assert_eq!(answer_as_data(text), wanted, "{text}");
        }
        assert_eq!(answer_as_data("it is ok"), None);
    }
}
