//! Hostile text made harmless: what a terminal would obey or hide becomes something to see.
//!
//! Files, names and outputs come from others. An escape sequence in one of them could recolour, move or
//! rewrite what abide prints, and a bidirectional override could make a line read as another one. So every
//! text that is not abide's own goes through [`visible`] before it is printed.

use std::borrow::Cow;
use std::fmt::Write as _;

/// How many spaces stand for a tab.
const TAB: &str = "    ";

/// Returns the text with every character shown: controls as pictures (or escapes without `unicode`), what
/// has no looks of its own as `<U+202E>`, and a tab as four spaces.
///
/// Line ends are controls too, so the answer is always one line.
pub fn visible(text: &str, unicode: bool) -> Cow<'_, str> {
    // Most text is plain, and there may be a lot of it: every byte is looked at, so that many are looked at together.
    let plain = text.bytes().fold(true, |plain, byte| plain & (b' '..=b'~').contains(&byte));
    if plain || !text.chars().any(is_unseen) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        push(&mut out, character, unicode);
    }
    Cow::Owned(out)
}

/// Returns whether a character is not shown as itself.
pub(crate) fn is_unseen(character: char) -> bool {
    character.is_control() || is_hidden(character)
}

/// Appends a character as it is shown.
pub(crate) fn push(out: &mut String, character: char, unicode: bool) {
    // Writing to a string cannot fail.
    match character {
        '\t' => out.push_str(TAB),
        '\u{0}'..='\u{1f}' if unicode => out.extend(char::from_u32(0x2400 + u32::from(character))),
        '\u{7f}' if unicode => out.push('␡'),
        '\u{0}'..='\u{1f}' | '\u{7f}' => {
            let _ = write!(out, "\\x{:02x}", u32::from(character));
        }
        other if is_unseen(other) => {
            let _ = write!(out, "<U+{:04X}>", u32::from(other));
        }
        other => out.push(other),
    }
}

/// Returns whether a character changes how others are shown, or is not shown at all.
///
/// Joiners are among them, although scripts and emoji use them: in a message about a name, a character
/// that nobody can see is more likely the problem than an ornament.
fn is_hidden(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        // Spaces and joiners of no width, marks of direction.
        | '\u{200b}'..='\u{200f}'
        // Line separators, embeddings and overrides of direction.
        | '\u{2028}'..='\u{202e}'
        // Isolates of direction, invisible operators.
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        // Tags, which spell whole sentences that nobody sees.
        | '\u{e0000}'..='\u{e0fff}')
}

/// Returns a JSON document in which such characters are escaped, which leaves its meaning as it is.
///
/// `json` must come from a serializer, so that they can stand inside strings only.
pub(crate) fn escaped_json(json: String) -> String {
    let escape = |character: char| character != '\n' && is_unseen(character);
    if !json.chars().any(escape) {
        return json;
    }
    let mut out = String::with_capacity(json.len() + 64);
    for character in json.chars() {
        if escape(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_or_hide_is_shown() {
        for (text, unicode, ascii) in [
            ("plain text: ä 漢 🎉", "plain text: ä 漢 🎉", "plain text: ä 漢 🎉"),
            ("a\u{1b}[31mred", "a␛[31mred", "a\\x1b[31mred"),
            ("\0\r\n\u{7f}", "␀␍␊␡", "\\x00\\x0d\\x0a\\x7f"),
            ("a\tb", "a    b", "a    b"),
            ("\u{85}\u{9b}0m", "<U+0085><U+009B>0m", "<U+0085><U+009B>0m"),
            ("\u{202e}evil\u{202c}", "<U+202E>evil<U+202C>", "<U+202E>evil<U+202C>"),
            ("na\u{200b}me", "na<U+200B>me", "na<U+200B>me"),
            ("\u{e0041}", "<U+E0041>", "<U+E0041>"),
        ] {
            assert_eq!(visible(text, true), unicode, "{text:?}");
            assert_eq!(visible(text, false), ascii, "{text:?}");
        }
    }

    #[test]
    fn json_keeps_its_meaning() {
        let text = "a\u{1b}\u{9b}\u{202e}\u{e0041}\u{7f}\nb";
        let json = escaped_json(serde_json::to_string(text).unwrap());
        assert_eq!(json, r#""a\u001b\u009b\u202e\udb40\udc41\u007f\nb""#);
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }
}
