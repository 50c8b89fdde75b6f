//! How wide text is, without a font to ask.
//!
//! The estimates are on the wide side for the common fonts that the style names, so that text stays in its
//! card on machines that have others.

use super::super::label;

/// Returns the label cut so that it fits `width` pixels in a font of `size` pixels.
pub(super) fn fitted(text: &str, face: Face, size: i64, width: i64) -> String {
    const LONGEST: usize = 400;
    let whole = label::line(text, LONGEST);
    let room = width * 100 / size;
    let mut used = 0;
    let mut cut = 0;
    for (at, character) in whole.char_indices() {
        // Where the dots would have to start if the text turns out to be too long.
        if used + face.advance('…') <= room {
            cut = at;
        }
        used += face.advance(character);
        if used > room {
            return whole[..cut].trim_end().to_owned() + "…";
        }
    }
    whole
}

/// Returns about how many pixels wide one line is.
pub(super) fn width(text: &str, face: Face, size: i64) -> i64 {
    (text.chars().map(|character| face.advance(character)).sum::<i64>() * size + 99) / 100
}

/// A family of fonts, as far as widths go.
#[derive(Clone, Copy)]
pub(super) enum Face {
    /// Proportional, regular.
    Sans,
    /// Proportional, bold.
    Bold,
    /// Every character as wide as the next.
    Mono,
}

impl Face {
    /// Returns the width of a character, in hundredths of the font's size.
    ///
    /// Nothing is free of width, so that a thousand combining marks cannot hide in one label.
    fn advance(self, character: char) -> i64 {
        let wide = matches!(character,
            '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}'
            | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}'
            | '\u{ffe0}'..='\u{ffe6}' | '\u{1f000}'..='\u{1faff}' | '\u{20000}'..='\u{3ffff}');
        let sans = match character {
            'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 28,
            'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '/' | '\\' | '-' | '"' | '`' | '·' => 37,
            'm' | 'w' | 'M' | 'W' | '@' | '%' | '—' | '…' => 92,
            'A'..='Z' | '&' | '+' | '=' | '<' | '>' | '~' | '#' => 70,
            _ => 58,
        };
        match self {
            _ if wide => 105,
            Self::Mono => 61,
            Self::Sans => sans,
            Self::Bold => sans + 5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_label_is_cut_to_its_room() {
        for face in [Face::Sans, Face::Bold, Face::Mono] {
            let cut = fitted(&"word 漢 ".repeat(40), face, 12, 150);
            assert!(cut.ends_with('…') && width(&cut, face, 12) <= 151, "{cut}");
            assert_eq!(fitted("short", face, 12, 150), "short");
        }
    }
}
