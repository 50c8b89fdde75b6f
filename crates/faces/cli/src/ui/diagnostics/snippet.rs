//! One line of source as it is shown, and where its marks go.
//!
//! A line that is too long is cut around what it is shown for; only that part is looked at, so a file
//! that is one line of megabytes costs no more than any other.

use crate::ui::{Style, visible};
use std::ops::Range;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The part of a line that fits.
#[derive(Debug, Clone)]
pub(super) struct Snippet<'a> {
    source: &'a str,
    shown: Range<usize>,
    cut_before: bool,
    cut_after: bool,
    style: Style,
}

/// Where a mark stands under a shown line, in columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Underline {
    pub(super) indent: usize,
    pub(super) length: usize,
}

impl<'a> Snippet<'a> {
    /// Chooses the part of `line` that is shown, so that `focus` is in it; both are ranges of `source`.
    pub(super) fn new(
        source: &'a str,
        line: Range<usize>,
        focus: &Range<usize>,
        columns: usize,
        style: Style,
    ) -> Self {
        let start = focus.start.clamp(line.start, line.end);
        let end = focus.end.clamp(start, line.end);
        let room = columns.max(20);
        let before = cost(source[line.start..start].chars().rev(), room, style);
        let inside = cost(source[start..end].chars(), room, style);
        let after = cost(source[end..line.end].chars(), room, style);
        if before + inside + after <= room {
            return Self { source, shown: line, cut_before: false, cut_after: false, style };
        }
        // What leads to the place says more than what follows it: a line of YAML starts with its key.
        let room = room - 2 * style.ellipsis().width();
        let inside = inside.min(room * 2 / 3);
        let after = after.min((room - inside) / 3);
        let before = before.min(room - inside - after);
        let from = start - fitting(source[line.start..start].chars().rev(), before, style);
        let to = start + fitting(source[start..line.end].chars(), room - before, style);
        Self { source, cut_before: from > line.start, cut_after: to < line.end, shown: from..to, style }
    }

    /// Returns whether both show the same part of their line.
    pub(super) fn shows_as_much_as(&self, other: &Self) -> bool {
        self.shown == other.shown
    }

    /// Returns the text to show.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        if self.cut_before {
            out.push_str(self.style.ellipsis());
        }
        out.push_str(&visible::visible(&self.source[self.shown.clone()], self.style.unicode));
        if self.cut_after {
            out.push_str(self.style.ellipsis());
        }
        out
    }

    /// Returns where the mark of a range goes: under all of it that is shown, and at least one column.
    pub(super) fn underline(&self, range: &Range<usize>) -> Underline {
        let start = range.start.clamp(self.shown.start, self.shown.end);
        let end = range.end.clamp(start, self.shown.end);
        let width = |range: Range<usize>| visible::visible(&self.source[range], self.style.unicode).width();
        let margin = if self.cut_before { self.style.ellipsis().width() } else { 0 };
        // Several lines are marked by the first one, without the blanks at its end.
        let marked =
            if range.end > self.shown.end { start + self.source[start..end].trim_end().len() } else { end };
        Underline { indent: margin + width(self.shown.start..start), length: width(start..marked).max(1) }
    }
}

impl Style {
    fn ellipsis(self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }
}

/// Returns how many columns a character takes as it is shown; at least one, so that a heap of accents ends.
fn columns(character: char, style: Style) -> usize {
    if visible::is_unseen(character) {
        let mut shown = String::new();
        visible::push(&mut shown, character, style.unicode);
        shown.width()
    } else {
        character.width().unwrap_or(0).max(1)
    }
}

/// Adds up columns until there are more than `room`.
fn cost(characters: impl Iterator<Item = char>, room: usize, style: Style) -> usize {
    let mut sum = 0;
    for character in characters {
        sum += columns(character, style);
        if sum > room {
            break;
        }
    }
    sum
}

/// Returns how many bytes fit into `room` columns.
fn fitting(characters: impl Iterator<Item = char>, room: usize, style: Style) -> usize {
    let mut sum = 0;
    characters
        .take_while(|character| {
            sum += columns(*character, style);
            sum <= room
        })
        .map(char::len_utf8)
        .sum()
}
