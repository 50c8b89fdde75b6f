//! Bytes that come in pieces become text, with no character torn at a border.

/// Turns pieces of bytes into text.
///
/// Bytes that are no UTF-8 become U+FFFD, one for each sequence that cannot be continued; the whole text is that of
/// [`String::from_utf8_lossy`] over all bytes at once, wherever they were cut. Line ends stay as they are.
#[derive(Debug, Clone, Default)]
pub struct Decoder {
    /// The start of a character whose rest has not come.
    started: [u8; 4],
    length: usize,
}

impl Decoder {
    /// Makes one that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the text of the next piece, up to the last character that is whole.
    pub fn push(&mut self, mut bytes: &[u8], text: &mut String) {
        while self.length > 0
            && let Some((first, rest)) = bytes.split_first()
        {
            self.started[self.length] = *first;
            let tried = &self.started[..=self.length];
            match std::str::from_utf8(tried) {
                Ok(character) => {
                    text.push_str(character);
                    self.length = 0;
                    bytes = rest;
                }
                Err(error) if error.error_len().is_none() => {
                    self.length += 1;
                    bytes = rest;
                }
                // The new byte does not continue the character: it is looked at again, by itself.
                Err(_) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    self.length = 0;
                }
            }
        }
        loop {
            let error = match std::str::from_utf8(bytes) {
                Ok(rest) => return text.push_str(rest),
                Err(error) => error,
            };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            text.push_str(std::str::from_utf8(valid).unwrap_or_default());
            match error.error_len() {
                Some(length) => {
                    text.push(char::REPLACEMENT_CHARACTER);
                    bytes = &rest[length..];
                }
                None => {
                    self.started[..rest.len()].copy_from_slice(rest);
                    self.length = rest.len();
                    return;
                }
            }
        }
    }

    /// Adds what is left when nothing more comes: a character that was begun and never ended.
    pub fn finish(&mut self, text: &mut String) {
        if std::mem::take(&mut self.length) > 0 {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> String {
        let (mut decoder, mut text) = (Decoder::new(), String::new());
        for piece in pieces {
            decoder.push(piece, &mut text);
        }
        decoder.finish(&mut text);
        text
    }

    #[test]
    fn characters_are_not_torn_and_line_ends_stay() {
        let text = "a\r\nä€😀\r";
        assert_eq!(decoded(text.as_bytes().chunks(1)), text);
    }

    #[test]
    fn a_sequence_that_cannot_go_on_is_one_replacement() {
        assert_eq!(decoded([&b"\xe2\x82"[..], b"x"]), "\u{fffd}x");
        assert_eq!(decoded([&b"\xf0\x9f\x98"[..]]), "\u{fffd}");
        assert_eq!(decoded([&b"\xff"[..], b"\xff"]), "\u{fffd}\u{fffd}");
        assert_eq!(decoded([&b"\xe2"[..], b"\xe2\x82\xac"]), "\u{fffd}€");
    }

    /// Bytes of which many belong to characters, whole or not.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            any::<char>().prop_map(|character| character.to_string().into_bytes()),
            any::<char>().prop_map(|character| character.to_string().into_bytes()[..1].to_vec()),
            proptest::collection::vec(any::<u8>(), 0..3),
        ];
        proptest::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn any_pieces_of_any_bytes_give_the_same_text(bytes in bytes(), size in 1_usize..8) {
            prop_assert_eq!(decoded(bytes.chunks(size)), String::from_utf8_lossy(&bytes));
        }
    }
}
