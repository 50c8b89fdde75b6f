//! The scanner: one pass over the script with a stack of open contexts, from which the answer is drawn.
//!
//! Each kind of context has its step in a file of its own; quotes, escapes and `$` are here, as they are the
//! same in all of them. When the scanner is [`lost`](Scanner::lose), it reads no further and refuses every
//! placeholder that its doubt could concern.

use super::flow::{Evaluates, Flow, Sink};
use super::frame::{
    Closer, Commands, DEEPEST, Frame, FrameKind, Heredoc, Operation, Quoting, Reference, Word,
};
use super::report::{Analysis, Lint, LintKind, Refusal, RefusalKind};
use super::symbol::{Symbol, continues_name, symbols};
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

    /// Takes what can be part of any unquoted word: quotes, escapes, expansions, plain bytes, placeholders.
    pub(super) fn word_step(&mut self, symbol: Symbol) {
        match symbol {
            Symbol::Value | Symbol::Raw => self.placeholder(symbol, Reference::Quoted),
            Symbol::Byte(b'\'' | b'"') => {
                let start = self.at;
                if let Some(word) = self.word() {
                    word.quoted = true;
                }
                self.at += 1;
                let single = symbol == Symbol::Byte(b'\'');
                self.open(
                    start,
                    if single { FrameKind::Single } else { FrameKind::Double { nested: false } },
                );
            }
            Symbol::Byte(b'\\') => self.escape(true),
            Symbol::Byte(b'$') => self.dollar(Quoting::Bare),
            Symbol::Byte(b'`') => self.backticks(),
            Symbol::Byte(byte) => self.literal(byte),
            Symbol::End => self.end(),
        }
    }

    /// Takes a `\` and what it escapes.
    pub(super) fn escape(&mut self, bare: bool) {
        let before = self.at.checked_sub(1).map(|before| self.script[before]);
        match self.peek(1) {
            Symbol::Byte(b'\n') => {
                let joins = |symbol: Option<Symbol>| match symbol {
                    Some(Symbol::Byte(byte)) => continues_name(byte),
                    _ => false,
                };
                let splits_name = joins(before) && joins(self.script.get(self.at + 2).copied());
                let blank_follows = matches!(self.peek(2), Symbol::Byte(b' ' | b'\t' | b'\n'));
                let operator = !blank_follows
                    && matches!(before, Some(Symbol::Byte(b'$' | b'<' | b'>' | b'&' | b'|' | b';' | b'(')));
                if splits_name || operator {
                    return self.lose("a `\\` at the end of a line splits a name or an operator");
                }
                self.at += 2;
                if !self.heredocs.is_empty() {
                    self.lose("a here-document begins on a line that a `\\` continues");
                }
            }
            symbol @ (Symbol::Value | Symbol::Raw) => {
                let at = self.at + 1;
                if symbol == Symbol::Value {
                    self.refuse(at..at + 1, &RefusalKind::AfterBackslash);
                }
                self.at += 1;
                self.placeholder(symbol, Reference::Quoted);
            }
            Symbol::Byte(byte) => {
                self.at += 1;
                if let Some(word) = self.word() {
                    if bare {
                        word.quoted = true;
                    } else if !b"$`\"\\".contains(&byte) {
                        word.push(b'\\');
                    }
                }
                self.literal(byte);
            }
            Symbol::End => {
                self.at += 1;
            }
        }
    }

    /// Takes a `$` and decides what it begins.
    pub(super) fn dollar(&mut self, quoting: Quoting) {
        let start = self.at;
        self.expands();
        match self.peek(1) {
            Symbol::Byte(b'(') if self.sees(2, b'(') => {
                self.at += 3;
                let why = RefusalKind::Arithmetic;
                self.open(start, FrameKind::Evaluated { closer: Closer::Parentheses, depth: 0, why });
            }
            Symbol::Byte(b'(') => {
                self.at += 2;
                self.open(start, FrameKind::Commands(Box::new(Commands::new(self.at))));
            }
            Symbol::Byte(b'{') => self.parameter(quoting),
            Symbol::Byte(b'[') => {
                if self.dialect == Dialect::Sh {
                    return self.lose("`$[` is not understood by every sh");
                }
                self.at += 2;
                let why = RefusalKind::Arithmetic;
                self.open(start, FrameKind::Evaluated { closer: Closer::Bracket, depth: 0, why });
            }
            Symbol::Byte(b'\'') if quoting == Quoting::Bare => {
                self.at += 2;
                self.open(start, FrameKind::Ansi);
            }
            Symbol::Value => {
                self.refuse(start + 1..start + 2, &RefusalKind::AfterDollar);
                self.at += 1;
            }
            // `$"…"`, `$NAME`, `$?`, `$$` or just a dollar sign: what follows is read on its own. The second
            // byte of `$$` and `$#` must not be taken for the beginning of something.
            Symbol::Byte(b'$' | b'#' | b'!' | b'?' | b'-' | b'@' | b'*') => self.at += 2,
            _ => self.at += 1,
        }
    }

    fn double_step(&mut self, symbol: Symbol, nested: bool) {
        match symbol {
            Symbol::Byte(b'"') => {
                self.at += 1;
                self.close();
            }
            Symbol::Byte(b'\\') => self.escape(false),
            Symbol::Byte(b'$') => self.dollar(Quoting::Double),
            Symbol::Byte(b'`') => self.backticks(),
            Symbol::Byte(b'}' | b'\'') if nested => {
                self.lose("quotes stand inside a quoted `${…}`, where shells disagree");
            }
            Symbol::Byte(b'\n') => self.quoted_newline(),
            Symbol::Byte(byte) => self.literal(byte),
            Symbol::Value | Symbol::Raw => self.placeholder(symbol, Reference::Plain),
            Symbol::End => self.end(),
        }
    }

    fn single_step(&mut self, symbol: Symbol) {
        match symbol {
            Symbol::Byte(b'\'') => {
                self.at += 1;
                self.close();
            }
            Symbol::Byte(b'$') if self.peek(1) == Symbol::Value => {
                self.refuse(self.at + 1..self.at + 2, &RefusalKind::AfterDollar);
                self.literal(b'$');
            }
            Symbol::Byte(b'\n') => self.quoted_newline(),
            Symbol::Byte(byte) => self.literal(byte),
            Symbol::Value | Symbol::Raw => self.placeholder(symbol, Reference::Reopened),
            Symbol::End => self.end(),
        }
    }

    fn ansi_step(&mut self, symbol: Symbol) {
        match symbol {
            Symbol::Byte(b'\'') => {
                self.at += 1;
                self.close();
            }
            Symbol::Byte(b'\\') if self.dialect == Dialect::Sh => {
                self.lose("`$'…'` is not understood by every sh");
            }
            Symbol::Byte(b'\\') if !matches!(self.peek(1), Symbol::Value | Symbol::Raw) => self.at += 2,
            Symbol::Byte(b'\n') => self.quoted_newline(),
            Symbol::Byte(_) => self.at += 1,
            Symbol::Value | Symbol::Raw => {
                self.refuse(self.at..self.at + 1, &RefusalKind::AnsiQuotes);
                self.placeholder(symbol, Reference::Plain);
            }
            Symbol::End => self.end(),
        }
    }

    fn comment_step(&mut self, symbol: Symbol) {
        match symbol {
            // The commands around it see the end of the line themselves.
            Symbol::Byte(b'\n') | Symbol::End => {
                self.close();
            }
            Symbol::Byte(_) => self.at += 1,
            Symbol::Value | Symbol::Raw => self.placeholder(symbol, Reference::Plain),
        }
    }

    /// Takes the end of a line inside quotes or brackets.
    pub(super) fn quoted_newline(&mut self) {
        if !self.heredocs.is_empty() {
            return self.lose("a here-document begins on a line that quotes continue");
        }
        self.at += 1;
        if self.heredoc_delimiter_follows() {
            return self.lose("a here-document ends inside quotes or brackets");
        }
        if let Some(word) = self.word() {
            word.push(b'\n');
        }
    }
}
