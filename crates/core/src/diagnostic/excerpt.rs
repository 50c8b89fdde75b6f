//! What a message shows of a text that somebody else wrote.

use std::borrow::Cow;

/// Characters of a text that a message shows.
const LONGEST: usize = 60;

/// Returns a text as a message shows it: on one line, without control characters, and not too long.
pub fn excerpt(text: &str) -> Cow<'_, str> {
    let cut = text.char_indices().nth(LONGEST).map_or(text.len(), |(cut, _)| cut);
    let shown = &text[..cut];
    if cut == text.len() && !shown.contains(char::is_control) {
        return Cow::Borrowed(shown);
    }
    let mut out = String::with_capacity(cut + 8);
    for character in shown.chars() {
        if character.is_control() {
            out.extend(character.escape_debug());
        } else {
            out.push(character);
        }
    }
    if cut < text.len() {
        out.push('…');
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_stays_one_short_line() {
        assert_eq!(excerpt("yes"), "yes");
        assert_eq!(excerpt("a\nb\u{1b}[31m"), "a\\nb\\u{1b}[31m");
        assert_eq!(excerpt(&"é".repeat(61)), format!("{}…", "é".repeat(60)));
    }
}
