//! What is kept of an attempt's output: whole and masked in the store, both ends in memory, and what it must contain
//! looked for as it comes.

use abide_core::event::Output;
use abide_core::value::output::{Capture, Decoder, Masker};

/// How much of each end is kept in memory.
const KEPT: usize = 128 * 1024;

/// One output of an attempt, as it comes.
pub(super) struct Channel {
    masker: Masker,
    decoder: Decoder,
    capture: Capture,
    wanted: Vec<Wanted>,
}

/// A text that the output must contain.
struct Wanted {
    text: String,
    found: bool,
    /// The last characters that came, in which the text may have begun.
    tail: String,
}

impl Channel {
    /// Opens a channel that must contain some texts.
    pub(super) fn new(masker: Masker, wanted: Vec<String>) -> Self {
        let wanted =
            wanted.into_iter().map(|text| Wanted { found: text.is_empty(), text, tail: String::new() });
        Self { masker, decoder: Decoder::new(), capture: Capture::new(KEPT), wanted: wanted.collect() }
    }

    /// Takes what came; returns what of it may be kept and shown.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut masked = Vec::with_capacity(bytes.len());
        self.masker.push(bytes, &mut masked);
        self.read(&masked);
        masked
    }

    /// Ends the channel; returns what was held back.
    pub(super) fn end(&mut self) -> Vec<u8> {
        let mut masked = Vec::new();
        self.masker.finish(&mut masked);
        self.read(&masked);
        let mut text = String::new();
        self.decoder.finish(&mut text);
        self.look(&text);
        self.capture.push(&text);
        masked
    }

    fn read(&mut self, masked: &[u8]) {
        let mut text = String::new();
        self.decoder.push(masked, &mut text);
        self.look(&text);
        self.capture.push(&text);
    }

    fn look(&mut self, text: &str) {
        for wanted in self.wanted.iter_mut().filter(|wanted| !wanted.found) {
            wanted.tail.push_str(text);
            wanted.found = wanted.tail.contains(&wanted.text);
            let keep = wanted.tail.len().saturating_sub(wanted.text.len());
            wanted.tail.drain(..wanted.tail.floor_char_boundary(keep));
        }
    }

    /// Returns the texts that never came.
    pub(super) fn missing(&self) -> impl Iterator<Item = &str> {
        self.wanted.iter().filter(|wanted| !wanted.found).map(|wanted| wanted.text.as_str())
    }

    /// Returns what was kept.
    pub(super) fn output(&self) -> Output {
        let captured = self.capture.captured();
        Output { text: captured.text, bytes: captured.bytes, cut: captured.truncated }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::value::output::Secret;

    #[test]
    fn what_must_be_there_is_found_across_pieces_and_secrets_are_not_kept() {
        let secret = Secret::new("hunter22").unwrap();
        let wanted = vec!["all passed".to_owned(), "never".to_owned()];
        let mut channel = Channel::new(Masker::new([&secret]), wanted);
        let mut kept = Vec::new();
        for piece in ["the password is hun", "ter22, al", "l pas", "sed"] {
            kept.extend(channel.take(piece.as_bytes()));
        }
        kept.extend(channel.end());
        assert_eq!(String::from_utf8(kept).unwrap(), "the password is •••, all passed");
        assert_eq!(channel.missing().collect::<Vec<_>>(), ["never"]);
        assert_eq!(channel.output().text, "the password is •••, all passed");
    }
}
