//! How text may look where it is shown.

/// What the place that shows the text can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether it understands ANSI colours; only ever true for a terminal, or when asked for.
    pub colour: bool,
    /// Whether it shows characters beyond ASCII; when not, frames and marks are drawn with ASCII.
    pub unicode: bool,
    /// How many columns it has.
    pub width: usize,
}

impl Style {
    /// Returns the style of a pipe or a file: no colour, and room for a line of code.
    pub const fn plain() -> Self {
        Self { colour: false, unicode: true, width: 100 }
    }

    /// Appends `text` in a colour.
    pub(crate) fn paint(self, out: &mut String, ink: Ink, text: &str) {
        if self.colour && !text.is_empty() {
            out.push_str(ink.start());
            out.push_str(text);
            out.push_str("\u{1b}[0m");
        } else {
            out.push_str(text);
        }
    }
}

/// What a colour means; the text says the same without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    /// Something is wrong.
    Error,
    /// Something is probably not meant.
    Warning,
    /// Something is done.
    Good,
    /// The sentence to read first.
    Strong,
    /// Frames, line numbers and secondary places.
    Frame,
}

impl Ink {
    fn start(self) -> &'static str {
        match self {
            Self::Error => "\u{1b}[1;31m",
            Self::Warning => "\u{1b}[1;33m",
            Self::Good => "\u{1b}[32m",
            Self::Strong => "\u{1b}[1m",
            Self::Frame => "\u{1b}[1;34m",
        }
    }
}
