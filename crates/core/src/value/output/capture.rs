//! The start and the end of a text that may be far too long to keep.

use std::fmt::Write;

/// Keeps the first and the last bytes of what comes, in memory bounded by that.
#[derive(Debug, Clone)]
pub struct Capture {
    /// How many bytes of each end are kept.
    limit: usize,
    head: String,
    /// Whether something did not fit the head, so that all that follows is tail.
    full: bool,
    /// At least the last `limit` bytes of what follows the head, and at most twice as many.
    tail: String,
    bytes: u64,
}

/// What was kept of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// All of it; or its start and its end, with a line between that says how much was left out.
    pub text: String,
    /// Whether something was left out.
    pub truncated: bool,
    /// How long it was, in bytes.
    pub bytes: u64,
}

impl Capture {
    /// Makes one that keeps at most this many bytes of each end, cut between characters.
    pub fn new(limit: usize) -> Self {
        Self { limit, head: String::new(), full: false, tail: String::new(), bytes: 0 }
    }

    /// Adds the next piece.
    pub fn push(&mut self, mut text: &str) {
        self.bytes += text.len() as u64;
        if !self.full {
            let fits = text.floor_char_boundary(self.limit - self.head.len());
            self.head.push_str(&text[..fits]);
            self.full = fits < text.len();
            text = &text[fits..];
        }
        // A piece that is longer than the tail would push all of it out anyway.
        let start = text.ceil_char_boundary(text.len().saturating_sub(self.limit));
        if start > 0 {
            self.tail.clear();
        }
        self.tail.push_str(&text[start..]);
        if self.tail.len() > self.limit.saturating_mul(2) {
            self.tail.drain(..self.tail_start());
        }
    }

    /// Returns what was kept so far.
    pub fn captured(&self) -> Captured {
        let tail = &self.tail[self.tail_start()..];
        let left_out = self.bytes - (self.head.len() + tail.len()) as u64;
        let mut text = String::with_capacity(self.head.len() + tail.len() + 64);
        text.push_str(&self.head);
        if left_out > 0 {
            let line_end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
            let _ = writeln!(text, "{line_end}… {} bytes left out …", grouped(left_out));
        }
        text.push_str(tail);
        Captured { text, truncated: left_out > 0, bytes: self.bytes }
    }

    fn tail_start(&self) -> usize {
        self.tail.ceil_char_boundary(self.tail.len().saturating_sub(self.limit))
    }
}

/// Writes a number with a comma after each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn captured<'a>(limit: usize, pieces: impl IntoIterator<Item = &'a str>) -> Captured {
        let mut capture = Capture::new(limit);
        for piece in pieces {
            capture.push(piece);
            assert!(capture.head.len() <= limit && capture.tail.len() <= 2 * limit);
        }
        capture.captured()
    }

    #[test]
    fn what_fits_is_kept_as_it_is() {
        let whole = Captured { text: "abcdef".into(), truncated: false, bytes: 6 };
        assert_eq!(captured(3, ["abc", "def"]), whole);
        assert_eq!(captured(3, ["abcdef"]), whole);
    }

    #[test]
    fn the_line_between_says_how_much_is_missing() {
        let long = "x".repeat(1_234_567 + 8);
        let kept = captured(4, [long.as_str()]);
        assert_eq!(kept.text, "xxxx\n… 1,234,567 bytes left out …\nxxxx");
        assert_eq!((kept.truncated, kept.bytes), (true, 1_234_575));
        assert_eq!(captured(2, ["a\nmany\nb\n"]).text, "a\n… 5 bytes left out …\nb\n");
        assert_eq!(captured(0, ["abc"]).text, "… 3 bytes left out …\n");
    }

    #[test]
    fn characters_are_not_cut() {
        assert_eq!(captured(4, ["€€€€"]).text, "€\n… 6 bytes left out …\n€");
    }

    proptest! {
        #[test]
        fn any_pieces_give_the_same(text in "[aä€😀\n]{0,40}", cuts in proptest::collection::vec(0_usize..160, 0..8), limit in 0_usize..30) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| text.floor_char_boundary(cut)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|cut| &text[cut[0]..cut[1]]);
            let kept = captured(limit, pieces);
            prop_assert_eq!(&kept, &captured(limit, [text.as_str()]));
            prop_assert_eq!(kept.bytes, text.len() as u64);
            if !kept.truncated {
                prop_assert_eq!(kept.text, text);
            }
        }
    }
}
