//! What an agent says while it says it: every word once, whatever became of the connection.

use crate::events::Message;
use crate::types::Event;
use serde::Deserialize;
use serde_json::Value;
use std::collections::VecDeque;

/// What is told of a session.
#[derive(Debug, Clone)]
pub enum Told {
    /// Something happened; its `seq` is what a stream goes on after.
    Event(Event),
    /// What the answer goes on with. All of them up to `model.answered` are its text, so a program can print them as they come.
    Delta(String),
    /// This, told of the answer so far, does not count: the model begins it again.
    Again(String),
}

/// A piece of an answer.
#[derive(Deserialize)]
struct Piece {
    /// How many characters were said before.
    at: Option<u64>,
    text: String,
}

/// Puts answers together from their pieces.
///
/// A piece whose beginning was missed is kept back, and what is missing is told with the answer as a whole: the event `model.answered`,
/// before which all of its text is told.
#[derive(Debug, Default)]
pub(crate) struct Answers {
    said: String,
    /// How many characters that are.
    length: u64,
    told: VecDeque<Told>,
}

impl Answers {
    /// Returns what is told next of what was taken.
    pub(crate) fn next(&mut self) -> Option<Told> {
        self.told.pop_front()
    }

    pub(crate) fn take(&mut self, message: &Message) -> Result<(), serde_json::Error> {
        match (message.event.as_str(), message.id) {
            ("delta", _) => self.piece(&serde_json::from_str(&message.data)?),
            ("again", _) => self.forget(),
            (_, None) => {}
            (_, Some(_)) => {
                let event: Event = serde_json::from_str(&message.data)?;
                match event.kind.as_str() {
                    "model.answered" => self.whole(&event.data),
                    // Asked once more, after a crash, the model begins its answer again.
                    "model.asked" => self.forget(),
                    _ => {}
                }
                if matches!(event.kind.as_str(), "model.answered" | "turn.ended") {
                    self.said.clear();
                    self.length = 0;
                }
                self.told.push_back(Told::Event(event));
            }
        }
        Ok(())
    }

    fn piece(&mut self, piece: &Piece) {
        let at = piece.at.unwrap_or(self.length);
        if at < self.length {
            // It was begun again while nobody listened.
            self.forget();
        }
        if at == self.length {
            self.say(&piece.text);
        }
    }

    fn whole(&mut self, data: &Value) {
        let pieces = data["pieces"].as_array().map(Vec::as_slice).unwrap_or_default();
        let whole: String = pieces.iter().filter_map(|piece| piece["text"].as_str()).collect();
        if !whole.starts_with(&self.said) {
            self.forget();
        }
        if let Some(rest) = whole.strip_prefix(&self.said).map(str::to_owned) {
            self.say(&rest);
        }
    }

    fn say(&mut self, text: &str) {
        if !text.is_empty() {
            self.said.push_str(text);
            self.length += text.chars().count() as u64;
            self.told.push_back(Told::Delta(text.to_owned()));
        }
    }

    fn forget(&mut self) {
        let said = std::mem::take(&mut self.said);
        self.length = 0;
        if !said.is_empty() {
            self.told.push_back(Told::Again(said));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn delta(at: u64, text: &str) -> Message {
        let data = json!({ "after": 1, "at": at, "text": text }).to_string();
        Message { id: None, event: "delta".to_owned(), data }
    }

    fn again() -> Message {
        Message { id: None, event: "again".to_owned(), data: json!({ "after": 1 }).to_string() }
    }

    fn event(kind: &str, data: &Value) -> Message {
        let data = json!({ "seq": 7, "at": 0, "type": kind, "data": data }).to_string();
        Message { id: Some(7), event: kind.to_owned(), data }
    }

    fn answered(text: &str) -> Message {
        event("model.answered", &json!({ "pieces": [{ "text": text }] }))
    }

    /// What a program prints that goes back by what does not count.
    fn printed(messages: &[Message]) -> String {
        let mut answers = Answers::default();
        let mut shown = Vec::new();
        for message in messages {
            answers.take(message).unwrap();
            while let Some(told) = answers.next() {
                shown.push(match told {
                    Told::Delta(text) => text,
                    Told::Again(text) => format!("<-{text}"),
                    Told::Event(event) => format!("[{}]", event.kind),
                });
            }
        }
        shown.join("|")
    }

    #[test]
    fn every_word_is_told_once_whatever_was_missed() {
        let asked = || event("model.asked", &json!({}));
        let ended = || event("turn.ended", &json!({}));
        let table: [(&[Message], &str); 9] = [
            (&[delta(0, "über "), delta(5, "b"), answered("über b")], "über |b|[model.answered]"),
            (&[answered("whole")], "whole|[model.answered]"),
            (&[delta(0, "a"), delta(2, "c"), delta(3, "d"), answered("abcd")], "a|bcd|[model.answered]"),
            (&[delta(5, "late"), answered("very late")], "very late|[model.answered]"),
            (&[delta(0, "a"), again(), again(), delta(0, "b"), answered("b")], "a|<-a|b|[model.answered]"),
            (&[delta(0, "ab"), delta(0, "x"), answered("xy")], "ab|<-ab|x|y|[model.answered]"),
            (&[delta(0, "ab"), answered("xy")], "ab|<-ab|xy|[model.answered]"),
            (
                &[delta(0, "ab"), asked(), delta(0, "x"), answered("x")],
                "ab|<-ab|[model.asked]|x|[model.answered]",
            ),
            (
                &[delta(0, "ab"), ended(), asked(), answered("c")],
                "ab|[turn.ended]|[model.asked]|c|[model.answered]",
            ),
        ];
        for (messages, expected) in table {
            assert_eq!(printed(messages), expected);
        }
    }
}
