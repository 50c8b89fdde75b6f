//! Rows and columns that line up, and fit the width where that can be had by shortening one column.

use super::Ink;
use super::Style;
use super::visible::visible;
use std::borrow::Cow;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr};

/// Up to which width a column lines up. One cell that somebody made as long as a file would otherwise be paid for in every row.
const WIDEST: usize = 400;

/// A table with a header. There may be many rows, so what others hold is not copied.
pub struct Table<'a, const N: usize> {
    header: [&'static str; N],
    rows: Vec<(Option<Ink>, [Cow<'a, str>; N])>,
}

impl<'a, const N: usize> Table<'a, N> {
    /// Starts a table.
    pub fn new(header: [&'static str; N]) -> Self {
        Self { header, rows: Vec::new() }
    }

    /// Adds a row; its first cell may be coloured.
    pub(crate) fn row<C: Into<Cow<'a, str>>>(&mut self, ink: Option<Ink>, cells: [C; N]) {
        let seen = |cell: C| {
            let cell = cell.into();
            // Most are plain as they are.
            let shown = match visible(&cell, true) {
                Cow::Borrowed(_) => None,
                Cow::Owned(shown) => Some(shown),
            };
            shown.map_or(cell, Cow::Owned)
        };
        self.rows.push((ink, cells.map(seen)));
    }

    /// Returns the table as text; the column before the last gives way when lines get longer than `most`. Without that, as for a
    /// pipe, nothing is shortened, and what is wider than a column can be stands out of line.
    pub fn render(&self, style: Style, most: Option<usize>) -> String {
        let mut widths = self.header.map(UnicodeWidthStr::width);
        for (_, cells) in &self.rows {
            for (width, cell) in widths.iter_mut().zip(cells) {
                *width = (*width).max(width_of(cell).min(WIDEST));
            }
        }
        let total: usize = widths.iter().sum::<usize>() + 2 * (N - 1);
        // Files are never shortened: they are there to be copied.
        let flexible = N.saturating_sub(2);
        if let Some(most) = most.filter(|most| total > *most) {
            widths[flexible] = widths[flexible].saturating_sub(total - most).max(24);
        }
        let wide = widths.iter().sum::<usize>() + 2 * N;
        let mut out = String::with_capacity(wide.min(1_000) * (self.rows.len() + 1));
        let cut = most.is_some();
        line(&mut out, style, None, &self.header.map(Cow::Borrowed), &widths, cut);
        for (ink, cells) in &self.rows {
            line(&mut out, style, *ink, cells, &widths, cut);
        }
        out
    }
}

fn line<const N: usize>(
    out: &mut String,
    style: Style,
    ink: Option<Ink>,
    cells: &[Cow<'_, str>; N],
    widths: &[usize; N],
    cut: bool,
) {
    let start = out.len();
    for (index, (cell, width)) in cells.iter().zip(widths).enumerate() {
        let is_last = index + 1 == N;
        let cell = if cut && !is_last { shortened(cell, *width) } else { Cow::Borrowed(&**cell) };
        match ink {
            Some(ink) if index == 0 => style.paint(out, ink, &cell),
            _ => out.push_str(&cell),
        }
        if !is_last {
            pad(out, width.saturating_sub(width_of(&cell)) + 2);
        }
    }
    out.truncate(start + out[start..].trim_end().len());
    out.push('\n');
}

fn pad(out: &mut String, columns: usize) {
    const BLANKS: &str = "                                ";
    let mut left = columns;
    while left > 0 {
        let some = left.min(BLANKS.len());
        out.push_str(&BLANKS[..some]);
        left -= some;
    }
}

/// Returns how many columns a cell takes, in which every character can be seen.
fn width_of(cell: &str) -> usize {
    if cell.is_ascii() { cell.len() } else { cell.width() }
}

fn shortened(cell: &str, width: usize) -> Cow<'_, str> {
    if width_of(cell) <= width {
        return Cow::Borrowed(cell);
    }
    let mut short = String::new();
    for character in cell.chars() {
        if short.width() + 1 + character.width().unwrap_or(0) > width {
            break;
        }
        short.push(character);
    }
    short.push('…');
    Cow::Owned(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_endless_cell_is_not_paid_for_in_every_row() {
        let long = "x".repeat(100_000);
        let mut table = Table::new(["NAME", "DESCRIPTION", "FILE"]);
        table.row(None, ["long", &long, "a"]);
        for _ in 0..1_000 {
            table.row(None, ["short", "does it", "b"]);
        }
        let text = table.render(Style::plain(), None);
        assert!(text.contains(&long), "a pipe is given everything");
        assert!(text.len() < 1_000 * (WIDEST + 32) + 110_000, "{}", text.len());
        let text = table.render(Style::plain(), Some(80));
        assert!(text.lines().all(|line| line.chars().count() <= 80), "a terminal is given what fits");
    }

    #[test]
    fn columns_line_up_and_long_descriptions_give_way() {
        let mut table = Table::new(["", "NAME", "DESCRIPTION", "FILE"]);
        table.row(None, ["✓", "deploy", "Deploy the application to production with all checks", "a.yaml"]);
        table.row(None, ["✗", "測試", "short\u{1b}[31m", "b.yaml"]);
        let text = table.render(Style::plain(), Some(50));
        insta::assert_snapshot!(text, @r"
           NAME    DESCRIPTION                      FILE
        ✓  deploy  Deploy the application to prod…  a.yaml
        ✗  測試    short␛[31m                       b.yaml
        ");
    }
}
