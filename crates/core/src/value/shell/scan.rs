//! The scanner: one pass over the script with a stack of open contexts, from which the answer is drawn.
//!
//! Each kind of context has its step in a file of its own. When the scanner is [`lost`](Scanner::lose), it reads no further and refuses every
//! placeholder that its doubt could concern.

use super::flow::{Evaluates, Flow, Sink};
use super::frame::{Commands, DEEPEST, Frame, FrameKind, Heredoc, Operation, Reference, Word};
use super::report::{Analysis, Lint, LintKind, Refusal, RefusalKind};
use super::symbol::{Symbol, symbols};
use super::{Dialect, Piece};
use std::ops::Range;

/// The answer of a scan.
pub(super) struct Scanned {
    pub(super) analysis: Analysis,
    /// How each placeholder is written.
    pub(super) references: Vec<Reference>,
}

/// Scans a script.
pub(super) fn scan(pieces: &[Piece<'_>], dialect: Dialect) -> Scanned {
    let script = symbols(pieces);
    let mut scanner = Scanner {
        flow: Flow::new(&script),
        script,
        at: 0,
        dialect,
        frames: vec![Frame { start: 0, kind: FrameKind::Commands(Box::new(Commands::new(0))) }],
        heredocs: Vec::new(),
        references: Vec::new(),
        sinks: Vec::new(),
        everything: None,
        code: Vec::new(),
        lints: Vec::new(),
        declarations: Vec::new(),
        arrays: false,
        done: false,
    };
    while !scanner.done {
        scanner.step();
    }
    scanner.answer()
}

/// A scan under way.
pub(super) struct Scanner {
    pub(super) script: Vec<Symbol>,
    pub(super) at: usize,
    pub(super) dialect: Dialect,
    pub(super) frames: Vec<Frame>,
    /// Here-documents that begin at the next line.
    pub(super) heredocs: Vec<(usize, Heredoc)>,
    references: Vec<Reference>,
    pub(super) flow: Flow,
    sinks: Vec<Sink<RefusalKind>>,
    everything: Option<RefusalKind>,
    code: Vec<Sink<()>>,
    lints: Vec<Lint>,
    /// Declarations with values, which are dangerous if the script has arrays.
    pub(super) declarations: Vec<Range<usize>>,
    pub(super) arrays: bool,
    done: bool,
}

impl Scanner {
    /// Returns the symbol that is `ahead` symbols further on.
    pub(super) fn peek(&self, ahead: usize) -> Symbol {
        self.script.get(self.at + ahead).copied().unwrap_or(Symbol::End)
    }

    /// Returns whether this byte is `ahead` symbols further on.
    pub(super) fn sees(&self, ahead: usize, byte: u8) -> bool {
        self.peek(ahead) == Symbol::Byte(byte)
    }

    fn step(&mut self) {
        let symbol = self.peek(0);
        if symbol == Symbol::Byte(0) {
            return self.lose("it contains a NUL byte");
        }
        let Some(frame) = self.frames.last() else {
            return self.lose("more is closed than was opened");
        };
        // A word that begins or ends on this very symbol is read by the context it belongs to.
        match &frame.kind {
            FrameKind::Commands(_) => self.commands_step(symbol),
            FrameKind::Condition(_) => self.condition_step(symbol),
            FrameKind::Array { .. } => self.array_step(symbol),
            FrameKind::Double { nested } => {
                let nested = *nested;
                self.double_step(symbol, nested);
            }
            FrameKind::Single => self.single_step(symbol),
            FrameKind::Ansi => self.ansi_step(symbol),
            FrameKind::Backticks => self.backticks_step(symbol),
            FrameKind::Comment => self.comment_step(symbol),
            FrameKind::Parameter(parameter) => {
                let parameter = *parameter;
                self.parameter_step(symbol, parameter);
            }
            FrameKind::Evaluated { closer, depth, .. } => {
                let (closer, depth) = (*closer, *depth);
                self.evaluated_step(symbol, closer, depth);
            }
            FrameKind::Heredoc(_) => self.heredoc_step(symbol),
        }
    }

    /// Opens a context that began at `start`.
    pub(super) fn open(&mut self, start: usize, kind: FrameKind) {
        if self.frames.len() >= DEEPEST {
            return self.lose("it nests too deep");
        }
        self.frames.push(Frame { start, kind });
    }

    /// Closes the innermost context; its last symbol is the one before the current position.
    pub(super) fn close(&mut self) -> Option<FrameKind> {
        let frame = self.frames.pop()?;
        let range = frame.start..self.at;
        match &frame.kind {
            FrameKind::Single => self.flow.single_quoted(&range),
            FrameKind::Backticks => self.sink(range, Evaluates::Names, RefusalKind::Backticks),
            FrameKind::Evaluated { why, .. } => self.sink(range, Evaluates::Names, why.clone()),
            FrameKind::Array { name, .. } => self.flow.assign(*name, range),
            FrameKind::Parameter(parameter) => {
                if let Some(name) = parameter.assigns {
                    self.flow.assign(name, range.clone());
                }
                if parameter.operation == Operation::Other {
                    self.refuse(range, &RefusalKind::ParameterOperation);
                }
            }
            _ => {}
        }
        Some(frame.kind)
    }

    /// Notes that what stands in a range is evaluated, so that no value may get there.
    pub(super) fn sink(&mut self, range: Range<usize>, evaluates: Evaluates, kind: RefusalKind) {
        self.sinks.push(Sink { range, evaluates, kind });
    }

    /// Refuses the placeholders that stand in a range.
    pub(super) fn refuse(&mut self, range: Range<usize>, kind: &RefusalKind) {
        // Nothing is evaluated there, so that variables may stay: an empty set of mentions.
        for placeholder in self.flow.placeholders_in(&range) {
            let at = self.flow.placeholders()[placeholder];
            self.sinks.push(Sink { range: at..at + 1, evaluates: Evaluates::Expansions, kind: kind.clone() });
        }
    }

    /// Refuses every placeholder: nobody can say which value gets to a place that is evaluated.
    pub(super) fn refuse_everything(&mut self, kind: RefusalKind) {
        self.everything.get_or_insert(kind);
    }

    /// Notes that another interpreter reads what stands in a range.
    pub(super) fn reinterpreted(&mut self, range: Range<usize>) {
        self.code.push(Sink { range, evaluates: Evaluates::ExpansionsNow, kind: () });
    }

    /// Notes what is doubtful about the placeholders in a range.
    pub(super) fn lint(&mut self, range: &Range<usize>, kind: LintKind) {
        let placeholders = self.flow.placeholders_in(range);
        self.lints.extend(placeholders.map(|placeholder| Lint { placeholder, kind }));
    }

    /// Gives up: what follows, and what is still open, cannot be judged.
    pub(super) fn lose(&mut self, doubt: &'static str) {
        self.stop(&RefusalKind::Unsure(doubt));
    }

    fn stop(&mut self, why: &RefusalKind) {
        if self.done {
            return;
        }
        self.done = true;
        let begun = match self.frames.first().map(|frame| &frame.kind) {
            Some(FrameKind::Commands(commands)) => commands.simple.start,
            _ => 0,
        };
        while !self.frames.is_empty() {
            self.close();
        }
        // Whoever is in the middle of a step finds an empty list of commands.
        let start = self.script.len();
        self.frames.push(Frame { start, kind: FrameKind::Commands(Box::new(Commands::new(start))) });
        self.sink(begun..self.script.len(), Evaluates::Names, why.clone());
    }

    /// Ends the scan at the end of the script.
    pub(super) fn end(&mut self) {
        if self.frames.len() == 1 && self.heredocs.is_empty() {
            self.done = true;
        } else {
            self.stop(&RefusalKind::Unterminated);
        }
    }

    fn answer(mut self) -> Scanned {
        self.flow.resolve_calls();
        if self.arrays {
            for range in std::mem::take(&mut self.declarations) {
                self.sink(range, Evaluates::Expansions, RefusalKind::ArrayDeclaration);
            }
        }
        if let Some(kind) = self.everything.take() {
            self.sink(0..self.script.len(), Evaluates::Expansions, kind);
        }
        let raw: Vec<bool> =
            self.flow.placeholders().iter().map(|at| self.script[*at] == Symbol::Raw).collect();
        let mut refusals: Vec<Option<RefusalKind>> = vec![None; raw.len()];
        for reached in self.flow.reached(&self.sinks) {
            let why = match reached.variable {
                Some(variable) => RefusalKind::Carried { variable },
                None => reached.kind,
            };
            if !raw[reached.placeholder] {
                refusals[reached.placeholder].get_or_insert(why);
            }
        }
        for reached in self.flow.reached(&self.code) {
            self.lints.push(Lint { placeholder: reached.placeholder, kind: LintKind::Reinterpreted });
        }
        for (placeholder, raw) in raw.iter().enumerate() {
            if *raw {
                self.lints.push(Lint { placeholder, kind: LintKind::Raw });
            }
        }
        self.lints.sort_by_key(|lint| (lint.placeholder, lint.kind as u8));
        self.lints.dedup();
        self.references.resize(raw.len(), Reference::Quoted);
        let refusals = refusals
            .into_iter()
            .enumerate()
            .filter_map(|(placeholder, why)| why.map(|why| Refusal { placeholder, why }))
            .collect();
        Scanned { analysis: Analysis { refusals, lints: self.lints }, references: self.references }
    }

    /// Returns the word that fixed text in the current context belongs to.
    pub(super) fn word(&mut self) -> Option<&mut Word> {
        let at = self.at;
        let mut frames = self.frames.iter_mut().rev();
        let mut frame = frames.next()?;
        if matches!(frame.kind, FrameKind::Single | FrameKind::Double { .. }) {
            frame = frames.next()?;
        }
        match &mut frame.kind {
            FrameKind::Commands(commands) => Some(commands.word.get_or_insert_with(|| Word::new(at))),
            FrameKind::Condition(condition) => Some(condition.word.get_or_insert_with(|| Word::new(at))),
            FrameKind::Array { word, .. } => Some(word.get_or_insert_with(|| Word::new(at))),
            _ => None,
        }
    }

    /// Adds a byte of fixed text to the word being read and goes on.
    pub(super) fn literal(&mut self, byte: u8) {
        if let Some(word) = self.word() {
            word.push(byte);
        }
        self.at += 1;
    }

    /// Marks the word being read as more than fixed text.
    pub(super) fn expands(&mut self) {
        let quoted = matches!(self.frames.last().map(|frame| &frame.kind), Some(FrameKind::Double { .. }));
        if let Some(word) = self.word() {
            word.literal = false;
            word.splits |= !quoted;
        }
    }

    /// Takes a placeholder that is written like this in its context.
    pub(super) fn placeholder(&mut self, symbol: Symbol, reference: Reference) {
        if let Some(word) = self.word() {
            word.literal = false;
            word.value |= symbol == Symbol::Value;
        }
        self.references.push(reference);
        self.at += 1;
    }
}
