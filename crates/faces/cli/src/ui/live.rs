//! The part of a terminal that is drawn again and again: what is under way.
//!
//! Lines that stay are printed above it. Only three controls are used: cursor up, to the first column, and
//! clear to the end; so any terminal will do, and a test can read the frames.

use super::Style;
use super::visible::visible;
use std::fmt::Write as _;
use std::time::Duration;
use unicode_width::UnicodeWidthChar as _;

/// Something that is under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What.
    pub name: String,
    /// For how long.
    pub elapsed: Duration,
    /// What it wrote last.
    pub last: String,
}

/// The live part of a terminal.
#[derive(Debug, Clone)]
pub struct Live {
    style: Style,
    /// How many lines of it are on the screen.
    drawn: usize,
    turn: usize,
}

impl Live {
    /// Starts with nothing drawn.
    pub fn new(style: Style) -> Self {
        Self { style, drawn: 0, turn: 0 }
    }

    /// Returns what removes the rows from the screen.
    pub fn clear(&mut self) -> String {
        match std::mem::take(&mut self.drawn) {
            0 => String::new(),
            lines => format!("\u{1b}[{lines}A\r\u{1b}[J"),
        }
    }

    /// Returns a frame: the rows as they are now, in place of those before, with `above` left standing over them.
    ///
    /// A window that has become narrower may have broken rows in two; what is left of them then stays above.
    pub fn frame(&mut self, above: &str, rows: &[Row], width: usize) -> String {
        let spinner: &[char] = if self.style.unicode {
            &['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
        } else {
            &['|', '/', '-', '\\']
        };
        let mut text = self.clear();
        text.push_str(above);
        for row in rows {
            let sign = spinner[self.turn % spinner.len()];
            let last = visible(&row.last, self.style.unicode);
            let line = format!(
                "{sign} {} ({}s)  {last}",
                visible(&row.name, self.style.unicode),
                row.elapsed.as_secs()
            );
            // A line that wraps would be two, and the next frame would leave one behind.
            let _ = writeln!(text, "{}", cut(line.trim_end(), width.saturating_sub(1)));
        }
        self.turn += 1;
        self.drawn = rows.len();
        text
    }
}

fn cut(line: &str, width: usize) -> String {
    let mut used = 0;
    line.chars()
        .take_while(|character| {
            used += character.width().unwrap_or(0);
            used <= width
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_replace_each_other_and_fit_the_width() {
        let mut live = Live::new(Style::plain());
        let row = |name: &str, seconds, last: &str| Row {
            name: name.to_owned(),
            elapsed: Duration::from_secs(seconds),
            last: last.to_owned(),
        };
        let first =
            live.frame("✓ build\n", &[row("test", 1, "\u{1b}[31mtest 12 of 40"), row("lint", 0, "")], 24);
        assert_eq!(first, "✓ build\n⠋ test (1s)  ␛[31mtest \n⠋ lint (0s)\n");
        assert_eq!(live.frame("", &[row("test", 2, "")], 7), "\u{1b}[2A\r\u{1b}[J⠙ test\n");
        assert_eq!(live.clear(), "\u{1b}[1A\r\u{1b}[J");
        assert_eq!(live.clear(), "");
    }
}
