//! Problems for a person at a terminal: the line of source, what is wrong in it, and what to do.

use super::snippet::Snippet;
use super::text::{Text, Texts};
use super::{FileReport, Sources};
use crate::ui::visible::visible;
use crate::ui::{Ink, Style};
use abide_core::diagnostic::{Diagnostic, Severity};
use abide_core::source::Span;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::rc::Rc;

/// Messages may quote what a file says; more of it than this helps nobody.
const LONGEST_MESSAGE: usize = 500;
/// Line numbers have at least this many columns, so that most files line up with each other.
const NARROWEST_GUTTER: usize = 2;

/// Returns the problems of one file, a blank line between them; empty when there are none.
///
/// ```text
/// error[E0302]: step `deploy` needs `aprove`, which is not a step
///   ┌─ .abide/abilities/release.yaml:31:13
/// 31│     needs: [aprove]
///   │             ^^^^^^ did you mean `approve`?
///   = `needs` names steps of the same ability by their `id`
/// ```
pub fn render_terminal(report: &FileReport<'_>, style: Style, sources: Sources<'_>) -> String {
    let mut texts = Texts::new(sources);
    let own = texts.own(report);
    let pictures: Vec<Picture<'_>> = report
        .problems
        .iter()
        .map(|problem| Picture::new(report.path, own.as_ref(), problem, &mut texts))
        .collect();
    let last_line = pictures.iter().filter_map(Picture::last_line).max().unwrap_or(0);
    let gutter = last_line.to_string().len().max(NARROWEST_GUTTER);
    let mut page = Page { out: String::new(), style, gutter };
    for (index, picture) in pictures.iter().enumerate() {
        if index > 0 {
            page.out.push('\n');
        }
        page.problem(picture);
    }
    page.out
}

/// A problem and the places that it is shown at, by file.
struct Picture<'a> {
    problem: &'a Diagnostic,
    blocks: Vec<Block<'a>>,
}

/// The places of a problem in one file.
struct Block<'a> {
    path: &'a str,
    text: Option<Rc<Text>>,
    /// By line; the one that the problem is about comes first on its line.
    marks: Vec<Mark<'a>>,
}

struct Mark<'a> {
    role: Role,
    /// The position of the line, and the range to underline.
    line: usize,
    range: Range<usize>,
    label: &'a str,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Primary,
    Related,
}

impl<'a> Picture<'a> {
    fn new(path: &'a str, own: Option<&Rc<Text>>, problem: &'a Diagnostic, texts: &mut Texts<'_>) -> Self {
        let mut first = Block { path, text: own.cloned(), marks: Vec::new() };
        if let Some(at) = problem.at {
            first.mark(Role::Primary, at, problem.label.as_deref().unwrap_or_default());
        }
        let mut blocks = vec![first];
        for related in &problem.related {
            let path = related.file.as_deref().unwrap_or(path);
            let block = match blocks.iter().position(|block| block.path == path) {
                Some(index) => &mut blocks[index],
                None => {
                    blocks.push(Block { path, text: texts.other(path), marks: Vec::new() });
                    let last = blocks.len() - 1;
                    &mut blocks[last]
                }
            };
            block.mark(Role::Related, related.at, &related.text);
        }
        for block in &mut blocks {
            block.marks.sort_by_key(|mark| (mark.line, mark.role, mark.range.start));
        }
        Self { problem, blocks }
    }

    fn last_line(&self) -> Option<usize> {
        let shown = self.blocks.iter().filter(|block| block.text.is_some());
        shown.filter_map(|block| block.marks.last()).map(|mark| mark.line + 1).max()
    }
}

impl<'a> Block<'a> {
    fn mark(&mut self, role: Role, at: Span, label: &'a str) {
        let (line, range) = match &self.text {
            Some(text) => {
                let range = text.range(at);
                (text.line_at(range.start), range)
            }
            // Without the text there are no lines; the labels are still worth reading.
            None => (0, at.range()),
        };
        self.marks.push(Mark { role, line, range, label });
    }

    /// Returns the mark whose place stands in the header.
    fn leading(&self) -> Option<&Mark<'a>> {
        self.marks.iter().min_by_key(|mark| (mark.role, mark.line, mark.range.start))
    }
}

struct Page {
    out: String,
    style: Style,
    gutter: usize,
}

impl Page {
    fn problem(&mut self, picture: &Picture<'_>) {
        let problem = picture.problem;
        let ink = ink(problem.severity());
        let head = format!("{}[{}]", problem.severity().word(), problem.code);
        self.style.paint(&mut self.out, ink, &head);
        let message = format!(": {}", self.line_of(&problem.message));
        self.style.paint(&mut self.out, Ink::Strong, &message);
        self.end();
        for block in &picture.blocks {
            self.block(block, ink);
        }
        if problem.at.is_none()
            && let Some(label) = &problem.label
        {
            self.note(label);
        }
        if let Some(help) = &problem.help {
            self.note(help);
        }
    }

    fn block(&mut self, block: &Block<'_>, ink: Ink) {
        let mut header = self.line_of(block.path).into_owned();
        if let (Some(mark), Some(text)) = (block.leading(), &block.text) {
            let place = text.place(mark.range.start);
            // Writing to a string cannot fail.
            let _ = write!(header, ":{}:{}", place.line, place.column);
        }
        self.frame("", if self.style.unicode { "┌─ " } else { "--> " });
        self.out.push_str(&header);
        self.end();
        let Some(text) = &block.text else {
            for mark in block.marks.iter().filter(|mark| !mark.label.is_empty()) {
                self.note(mark.label);
            }
            return;
        };
        let mut previous: Option<usize> = None;
        for marks in block.marks.chunk_by(|one, other| one.line == other.line) {
            let line = marks[0].line;
            if previous.is_some_and(|previous| previous + 1 < line) {
                self.frame("", if self.style.unicode { "·" } else { "." });
                self.end();
            }
            previous = Some(line);
            self.source(text, marks, ink);
        }
    }

    /// Shows one line of source and all marks in it.
    fn source(&mut self, text: &Text, marks: &[Mark<'_>], ink: Ink) {
        let line = marks[0].line;
        let columns = self.style.width.saturating_sub(self.gutter + 2);
        let bar = if self.style.unicode { "│ " } else { "| " };
        let mut shown: Option<Snippet<'_>> = None;
        for mark in marks {
            // A long line is cut anew where its marks are too far apart.
            let snippet = Snippet::new(text.as_str(), text.line(line), &mark.range, columns, self.style);
            if !shown.is_some_and(|shown| shown.shows_as_much_as(&snippet)) {
                self.frame(&(line + 1).to_string(), bar);
                self.out.push_str(&snippet.text());
                self.end();
            }
            let underline = snippet.underline(&mark.range);
            shown = Some(snippet);
            self.frame("", bar);
            self.out.extend(std::iter::repeat_n(' ', underline.indent));
            let (sign, ink) = match mark.role {
                Role::Primary => ("^", ink),
                Role::Related => ("-", Ink::Frame),
            };
            let mut words = sign.repeat(underline.length);
            if !mark.label.is_empty() {
                words.push(' ');
                words.push_str(&self.line_of(mark.label));
            }
            self.style.paint(&mut self.out, ink, &words);
            self.end();
        }
    }

    /// Starts a row: a line number or none, and the frame to the left of the text.
    fn frame(&mut self, number: &str, frame: &str) {
        let row = format!("{number:>width$}{frame}", width = self.gutter);
        self.style.paint(&mut self.out, Ink::Frame, &row);
    }

    fn note(&mut self, text: &str) {
        self.frame("", "= ");
        let text = self.line_of(text).into_owned();
        self.out.push_str(&text);
        self.end();
    }

    /// Ends a row; blanks that nobody sees are left out.
    fn end(&mut self) {
        self.out.truncate(self.out.trim_end_matches(' ').len());
        self.out.push('\n');
    }

    /// Returns a text of ours, which may quote somebody else's, as one harmless line.
    fn line_of<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match text.char_indices().nth(LONGEST_MESSAGE) {
            None => visible(text, self.style.unicode),
            Some((end, _)) => Cow::Owned(format!("{}…", visible(&text[..end], self.style.unicode))),
        }
    }
}

fn ink(severity: Severity) -> Ink {
    match severity {
        Severity::Error => Ink::Error,
        Severity::Warning => Ink::Warning,
    }
}
