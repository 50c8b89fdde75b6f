//! Labels made safe to show, before any form escapes them for its own language.
//!
//! A label comes from a file that somebody else wrote. It may hold terminal escapes, line breaks, text that
//! runs backwards, or a megabyte.

/// Returns the label as one line of at most `most` characters, with `…` where it was cut.
///
/// Whatever would break out of the line goes: control characters (and with them every terminal escape and
/// every character that XML forbids) and the marks that reverse the text after them.
pub(super) fn line(text: &str, most: usize) -> String {
    let mut shown = String::new();
    let mut left = most;
    for character in visible(text) {
        if left == 0 {
            shown.pop();
            return shown.trim_end().to_owned() + "…";
        }
        shown.push(character);
        left -= 1;
    }
    shown.truncate(shown.trim_end().len());
    shown
}

/// Returns what there is to say beside the id: the title, unless it only repeats the id.
pub(super) fn title_beside<'a>(id: &str, title: &'a str) -> Option<&'a str> {
    let title = title.trim();
    (!title.is_empty() && title != id.trim()).then_some(title)
}

/// Yields the characters that may be shown, with each run of white space as one space and none in front.
fn visible(text: &str) -> impl Iterator<Item = char> {
    let mut after_space = true;
    text.chars().filter_map(move |character| {
        if character.is_whitespace() {
            return (!std::mem::replace(&mut after_space, true)).then_some(' ');
        }
        if character.is_control() || is_unsafe(character) {
            return None;
        }
        after_space = false;
        Some(character)
    })
}

/// Whether a character steers the text around it, or is none at all.
fn is_unsafe(character: char) -> bool {
    matches!(character,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' // direction
        | '\u{fff9}'..='\u{fffb}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' // annotations, non-characters
        | '\u{e0000}'..='\u{e007f}') // tags: invisible text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_plain_line() {
        assert_eq!(line("  a\r\n\tb \u{1b}[31mred\u{7}\u{202e} \0", 99), "a b [31mred");
        assert_eq!(line("abcdef", 6), "abcdef");
        assert_eq!(line("abcdefg", 6), "abcde…");
    }
}
