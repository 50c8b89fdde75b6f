//! Conversations that grow too long: which part of them is replaced by a summary.
//!
//! The system prompt is not part of a conversation and always stays; so does what the active turn was told, which is the
//! step, and so do the last messages. A call is never parted from its result.

use super::Conversation;
use crate::model::{Arguments, Image, Message, Part, Piece};
use std::fmt::Write as _;

/// How much room a conversation has in what a model can take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// The tokens that a question may have, all in all.
    pub tokens: u64,
    /// Those of them that go to what is sent beside the conversation: the system prompt and the tools.
    pub beside: u64,
}

impl Room {
    /// What is assumed of a model of which nothing is known.
    pub const CONTEXT: u32 = 100_000;

    /// Returns the room that a context leaves: a fifth of it is kept free, because tokens are only guessed here.
    pub fn of(context: u32, answer: u32, beside_bytes: usize) -> Self {
        let context = u64::from(context);
        let answer = u64::from(answer).min(context / 4);
        Self { tokens: (context - answer) / 5 * 4, beside: beside_bytes as u64 / BYTES }
    }

    /// Returns the most that one of several results may hold, in bytes, so that all of them fit.
    pub fn result_bytes(&self, calls: usize) -> usize {
        let bytes = self.tokens.saturating_sub(self.beside) * BYTES / 4 / calls.max(1) as u64;
        usize::try_from(bytes).unwrap_or(usize::MAX).clamp(1_024, MOST_RESULT)
    }

    /// Returns the most that the pictures of one of several results may have, in bytes of their files.
    pub fn picture_bytes(calls: usize) -> usize {
        (PICTURE_BYTES / calls.max(1)).min(Image::MOST_BYTES)
    }
}

/// How many bytes a token has, roughly, in English and in code.
const BYTES: u64 = 4;
/// What a picture takes, roughly.
const PICTURE: u64 = 1_600;
/// What goes around a message.
const AROUND: u64 = 4;
/// The longest result.
const MOST_RESULT: usize = 256 * 1024;
/// What pictures may have that come with one message: what providers take, less what writing them as text adds.
pub const PICTURE_BYTES: usize = 20 << 20;
/// How much of a result or an argument a transcript shows.
const QUOTED: usize = 2_000;

/// Returns how many messages from the beginning should be replaced by a summary, if the conversation is too long.
pub fn compaction(conversation: &Conversation, room: &Room) -> Option<usize> {
    if conversation.size(room) <= room.tokens {
        return None;
    }
    cut_at(conversation, room.tokens.saturating_sub(room.beside) / 4)
}

impl Conversation {
    /// Returns how many tokens a question has, guessed where the provider has not said.
    pub fn size(&self, room: &Room) -> u64 {
        let (from, known) = self.measured.unwrap_or((0, room.beside));
        known + self.messages.iter().skip(from).map(size).sum::<u64>()
    }

    /// Returns the most messages that could be replaced by a summary: for a model that says that it is too much.
    pub fn shortest(&self) -> Option<usize> {
        cut_at(self, 0)
    }
}

/// Returns where the part begins that is kept: as much as fits, and the last exchange in any case.
fn cut_at(conversation: &Conversation, keep: u64) -> Option<usize> {
    let messages = &conversation.messages;
    let mut kept = 0;
    let mut from = messages.len();
    while from > 0 {
        kept += size(&messages[from - 1]);
        // A result goes with its call, and the last of both is what the model is in the middle of.
        let parts_a_pair = matches!(messages.get(from), Some(Message::Results(_)));
        let is_last_exchange = messages.len() - from < 2;
        if kept > keep && !is_last_exchange && !parts_a_pair {
            break;
        }
        from -= 1;
    }
    let told = conversation.active.as_ref().is_some_and(|turn| turn.told < from);
    (from - usize::from(told) >= 2).then_some(from)
}

/// Returns how many tokens a message has, roughly.
pub fn size(message: &Message) -> u64 {
    let text = |text: &str| text.len() as u64 / BYTES + 1;
    let part = |part: &Part| match part {
        Part::Text(words) => text(words),
        Part::Image(_) => PICTURE,
    };
    let piece = |piece: &Piece| match piece {
        Piece::Text(words) => text(words),
        Piece::Call(call) => AROUND + text(&call.name) + arguments(&call.arguments).len() as u64 / BYTES,
        Piece::Thought(crate::model::Thought::Open { text: words, seal }) => text(words) + text(seal),
        Piece::Thought(crate::model::Thought::Sealed(sealed)) => text(sealed),
    };
    AROUND
        + match message {
            Message::User(parts) => parts.iter().map(part).sum::<u64>(),
            Message::Model(pieces) => pieces.iter().map(piece).sum(),
            Message::Results(results) => {
                results.iter().map(|result| AROUND + result.parts.iter().map(part).sum::<u64>()).sum()
            }
        }
}

fn arguments(arguments: &Arguments) -> String {
    match arguments {
        Arguments::Data(value) => value.to_string(),
        Arguments::Unreadable(text) => text.clone(),
    }
}

/// Writes messages as a text for somebody who is to summarise them; of what is long, the beginning and the end.
pub fn transcript(messages: &[Message], bytes: usize) -> String {
    let mut out = String::new();
    let mut line = |who: &str, text: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{who}: {}\n", cut(text, QUOTED * 4));
    };
    for message in messages {
        match message {
            Message::User(parts) => line("User", &words(parts)),
            Message::Model(pieces) => {
                for piece in pieces {
                    match piece {
                        Piece::Text(text) => line("Assistant", text),
                        Piece::Call(call) => {
                            let arguments = arguments(&call.arguments);
                            line("Assistant calls", &format!("{} {}", call.name, cut(&arguments, QUOTED)));
                        }
                        Piece::Thought(_) => {}
                    }
                }
            }
            Message::Results(results) => {
                for result in results {
                    let who = if result.is_error { "Tool error" } else { "Tool" };
                    line(who, &cut(&words(&result.parts), QUOTED));
                }
            }
        }
    }
    cut(&out, bytes)
}

fn words(parts: &[Part]) -> String {
    let words = parts.iter().map(|part| match part {
        Part::Text(text) => text.as_str(),
        Part::Image(_) => "[a picture]",
    });
    words.collect::<Vec<_>>().join("\n")
}

/// Cuts the middle out of a text that is longer than `bytes`, and says so there.
pub fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(bytes / 2);
    let tail = text.ceil_char_boundary(text.len() - bytes / 2);
    format!("{}\n[… {} bytes left out]\n{}", &text[..head], tail - head, &text[tail..])
}
