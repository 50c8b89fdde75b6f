//! What is kept of an attempt's output: whole and masked in the store, both ends in memory, and what it must contain
//! looked for as it comes.

use super::vault::Vault;
use abide_core::event::Output;
use abide_core::value::output::{Capture, Decoder, Masker, Matching};
use std::sync::Arc;

/// How much of each end is kept in memory.
const KEPT: usize = 128 * 1024;

/// One output of an attempt, as it comes.
pub(super) struct Channel {
    vault: Arc<Vault>,
    masker: Masker,
    decoder: Decoder,
    capture: Capture,
    texts: Vec<Phrase>,
    patterns: Vec<Matching>,
    empty: Vec<String>,
    /// Why not all of it is in the store, if that is so.
    pub(super) lost: Option<String>,
}

/// What an output must show.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    /// Texts that it must contain.
    pub(super) texts: Vec<String>,
    /// Regular expressions that it must match.
    pub(super) patterns: Vec<Matching>,
    /// Texts that came out empty, as they are written: every output contains nothing, and that proves nothing.
    pub(super) empty: Vec<String>,
}

/// A text that the output must contain.
struct Phrase {
    text: String,
    found: bool,
    /// The last characters that came, in which the text may have begun.
    tail: String,
}

impl Channel {
    /// Opens a channel that must show something.
    pub(super) fn new(vault: &Arc<Vault>, wanted: Wanted) -> Self {
        let text = |text: String| Phrase { found: false, text, tail: String::new() };
        Self {
            vault: Arc::clone(vault),
            masker: vault.masker(),
            decoder: Decoder::new(),
            capture: Capture::new(KEPT),
            texts: wanted.texts.into_iter().map(text).collect(),
            patterns: wanted.patterns,
            empty: wanted.empty,
            lost: None,
        }
    }

    /// Takes what came; returns what of it may be kept and shown.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Vec<u8> {
        // Another step may have been given a secret meanwhile.
        self.vault.teach(&mut self.masker);
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
        for pattern in &mut self.patterns {
            pattern.push(text);
        }
        for wanted in self.texts.iter_mut().filter(|wanted| !wanted.found) {
            wanted.tail.push_str(text);
            wanted.found = wanted.tail.contains(&wanted.text);
            let keep = wanted.tail.len().saturating_sub(wanted.text.len());
            wanted.tail.drain(..wanted.tail.floor_char_boundary(keep));
        }
    }

    /// Returns what a channel that has ended did not show, each as what it does not do.
    pub(super) fn missing(&mut self) -> Vec<String> {
        let texts = self.texts.iter().filter(|wanted| !wanted.found);
        let mut missing: Vec<String> =
            texts.map(|text| format!("does not contain {:?}", text.text)).collect();
        missing.extend(self.empty.iter().map(|text| format!("must contain `{text}`, which is empty")));
        for pattern in &mut self.patterns {
            if !pattern.finish() {
                missing.push(format!("does not match `{}`", pattern.pattern()));
            }
        }
        missing
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
    use abide_core::definition::Pattern;

    #[test]
    fn what_must_be_there_is_found_across_pieces_and_secrets_are_not_kept() {
        let vault = Arc::new(Vault::default());
        vault.learn("token", "hunter22").unwrap();
        let pattern = |text: &str| Matching::new(&Pattern::parse(text).unwrap()).unwrap();
        let wanted = Wanted {
            texts: vec!["all passed".to_owned(), "never".to_owned()],
            patterns: vec![pattern("•••, all passed$"), pattern("hunter")],
            empty: vec!["{{inputs.p}}".to_owned()],
        };
        let mut channel = Channel::new(&vault, wanted);
        let mut kept = Vec::new();
        for piece in ["the password is hun", "ter22, al", "l pas", "sed"] {
            kept.extend(channel.take(piece.as_bytes()));
        }
        kept.extend(channel.end());
        assert_eq!(String::from_utf8(kept).unwrap(), "the password is •••, all passed");
        let missing = [
            "does not contain \"never\"",
            "must contain `{{inputs.p}}`, which is empty",
            "does not match `hunter`",
        ];
        assert_eq!(channel.missing(), missing);
        assert_eq!(channel.output().text, "the password is •••, all passed");
    }

    #[test]
    fn what_is_learned_meanwhile_is_masked_from_then_on() {
        let vault = Arc::new(Vault::default());
        let mut channel = Channel::new(&vault, Wanted::default());
        let mut kept = channel.take(b"hunter22 is not known, ");
        vault.learn("token", "hunter22").unwrap();
        kept.extend(channel.take(b"hunter22 is, and hun"));
        vault.learn("other", "swordfish").unwrap();
        kept.extend(channel.take(b"ter22 and swordfish too"));
        kept.extend(channel.end());
        let text = "hunter22 is not known, ••• is, and ••• and ••• too";
        assert_eq!(String::from_utf8(kept).unwrap(), text);
    }
}
