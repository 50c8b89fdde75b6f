//! One message of a conversation with a model.

use crate::value::Value;
use std::fmt;
use std::sync::Arc;

/// One message of a conversation. What the model said is kept in its order, because some providers want it back so.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// What the model is told: by the user, or by abide for the user.
    User(Vec<Part>),
    /// What the model said.
    Model(Vec<Piece>),
    /// What the tools answered that the message before called, one for each call.
    Results(Vec<ToolResult>),
}

impl Message {
    /// Makes a message of a text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(vec![Part::Text(text.into())])
    }
}

/// A part of what a model is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// A text.
    Text(String),
    /// A picture.
    Image(Image),
}

/// A picture, as its file holds it.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    /// What kind of file.
    pub media: ImageMedia,
    /// The bytes; shared, because a conversation is sent again with every question.
    pub bytes: Arc<[u8]>,
}

impl Image {
    /// How large a picture may be, in bytes.
    pub const MOST_BYTES: usize = 5 << 20;

    /// Makes a picture of what a file holds; of a file of another kind none.
    pub fn of(bytes: impl Into<Arc<[u8]>>) -> Option<Self> {
        let bytes = bytes.into();
        ImageMedia::of(&bytes).map(|media| Self { media, bytes })
    }
}

/// Pictures are large, and nobody reads their bytes.
impl fmt::Debug for Image {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Image({}, {} bytes)", self.media.word(), self.bytes.len())
    }
}

/// A kind of picture that every provider takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageMedia {
    /// GIF.
    Gif,
    /// JPEG.
    Jpeg,
    /// PNG.
    Png,
    /// WebP.
    Webp,
}

impl ImageMedia {
    /// Returns the media type.
    pub fn word(self) -> &'static str {
        match self {
            Self::Gif => "image/gif",
            Self::Jpeg => "image/jpeg",
            Self::Png => "image/png",
            Self::Webp => "image/webp",
        }
    }

    /// Tells the kind by the first bytes of a file, since names and headers lie.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        match bytes {
            [b'G', b'I', b'F', b'8', ..] => Some(Self::Gif),
            [0xff, 0xd8, 0xff, ..] => Some(Self::Jpeg),
            [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => Some(Self::Png),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::Webp),
            _ => None,
        }
    }
}

/// A part of what a model said.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// A text.
    Text(String),
    /// A tool that it wants called.
    Call(ToolCall),
    /// What it thought; some providers want it back with the results of tools.
    Thought(Thought),
}

/// What a model thought before it spoke.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Thought {
    /// In words, with the provider's seal on them.
    Open {
        /// The words.
        text: String,
        /// The seal; empty if the provider has none, and then nobody wants the thought back.
        seal: String,
    },
    /// Only for the provider to read.
    Sealed(String),
}

/// A tool that a model wants called.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// What the provider calls this call; its result carries it back.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What the tool is given.
    pub arguments: Arguments,
}

/// What a tool is given.
#[derive(Debug, Clone, PartialEq)]
pub enum Arguments {
    /// Data, usually a mapping; whether it fits the tool's schema has not been looked at.
    Data(Value),
    /// What the model wrote instead of JSON. It is told so; no tool runs on it.
    Unreadable(String),
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call that it answers.
    pub call: String,
    /// What the model is told.
    pub parts: Vec<Part>,
    /// Whether the call failed or was refused.
    pub is_error: bool,
}

impl ToolResult {
    /// Makes the result of a call that went well.
    pub fn text(call: impl Into<String>, text: impl Into<String>) -> Self {
        Self { call: call.into(), parts: vec![Part::Text(text.into())], is_error: false }
    }

    /// Makes the result of a call that failed or was refused.
    pub fn error(call: impl Into<String>, text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(call, text) }
    }
}

/// Why an answer of a model ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerEnd {
    /// The model has said what it has to say.
    Done,
    /// It waits for the results of its calls.
    Calls,
    /// It came to the limit of tokens; its last call may be cut off, and is then unreadable.
    Limit,
    /// The model or its provider would not answer.
    Refused,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_known_by_its_first_bytes_and_never_printed() {
        for (bytes, media) in [
            (b"GIF89a".as_slice(), Some(ImageMedia::Gif)),
            (&[0xff, 0xd8, 0xff, 0xe0], Some(ImageMedia::Jpeg)),
            (b"\x89PNG\r\n\x1a\n\0", Some(ImageMedia::Png)),
            (b"RIFF\0\0\0\0WEBPVP8 ", Some(ImageMedia::Webp)),
            (b"RIFF\0\0\0\0WAVE", None),
            (b"<svg", None),
            (b"", None),
        ] {
            assert_eq!(ImageMedia::of(bytes), media, "{bytes:?}");
        }
        let image = Image::of(*b"\x89PNG\r\n\x1a\n").unwrap();
        assert_eq!(format!("{image:?}"), "Image(image/png, 8 bytes)");
        assert_eq!(Image::of(*b"<svg"), None);
    }
}
