//! The contexts a shell script nests: what is open at a place, from the script itself to the innermost quote.

use super::flow::Name;
use super::program::Program;
use super::report::RefusalKind;
use super::symbol::is_name;

/// How deep contexts may nest; nobody writes more by hand.
pub(super) const DEEPEST: usize = 100;

/// How much of a word's fixed text is kept: enough for every name that matters.
const LONGEST_TEXT: usize = 4096;

/// How a placeholder is written in its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reference {
    /// `"${V}"`
    Quoted,
    /// `${V}`
    Plain,
    /// `'"${V}"'`
    Reopened,
}

/// One open context.
#[derive(Debug)]
pub(super) struct Frame {
    /// Where it began.
    pub(super) start: usize,
    /// What it is.
    pub(super) kind: FrameKind,
}

/// The kinds of contexts.
#[derive(Debug)]
pub(super) enum FrameKind {
    /// Commands: the script, or what stands in `$(…)` and `<(…)`.
    Commands(Box<Commands>),
    /// `[[ … ]]`
    Condition(Box<Condition>),
    /// `NAME=( … )`
    Array { name: Name, word: Option<Word> },
    /// `"…"`; `nested` when it stands in a `${…}` that is itself quoted.
    Double { nested: bool },
    /// `'…'`
    Single,
    /// `$'…'`
    Ansi,
    /// Backticks.
    Backticks,
    /// `# …` up to the end of the line.
    Comment,
    /// `${…}` from its operator on.
    Parameter(Parameter),
    /// Text that the shell evaluates: arithmetic, subscripts, offsets.
    Evaluated { closer: Closer, depth: usize, why: RefusalKind },
    /// The bodies of here-documents.
    Heredoc(Heredoc),
}

/// What ends evaluated text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Closer {
    /// `))`
    Parentheses,
    /// `]`
    Bracket,
    /// `}`, which ends the `${…}` around it as well.
    Brace,
}

/// A list of commands being read.
#[derive(Debug)]
pub(super) struct Commands {
    pub(super) word: Option<Word>,
    pub(super) redirect: Option<Redirect>,
    pub(super) simple: Simple,
    pub(super) open: Vec<Open>,
}

/// A compound command whose parentheses matter to the scanner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Open {
    /// `( … )`
    Subshell,
    /// `case … esac`
    Case(CasePart),
}

/// Where in a `case` the scanner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CasePart {
    /// Before the word that is looked at.
    Subject,
    /// Before `in`.
    In,
    /// Before the first pattern of a branch, where `esac` ends it all.
    Branch,
    /// Among the patterns of a branch.
    Pattern,
    /// In the commands of a branch.
    Body,
}

/// What the next word is the target of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Redirect {
    /// `<`, `>` and their kin, and here-strings.
    Data,
    /// `<&` or `>&`.
    Descriptor,
}

/// One simple command being read.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact about the words so far; they do not combine"
)]
pub(super) struct Simple {
    pub(super) start: usize,
    pub(super) position: Position,
    pub(super) program: Program,
    /// The command word, once it is read.
    pub(super) command: Option<Word>,
    /// How many arguments were read.
    pub(super) arguments: usize,
    /// Whether an argument that begins with `-` is still an option.
    pub(super) options: bool,
    /// What the next argument is, if the last one said so.
    pub(super) expect: Expect,
    /// Whether a reserved word would be recognised: not after an assignment, a redirection or a wrapper.
    pub(super) reserved: bool,
    /// The last argument could be an operator of `test`.
    pub(super) operator: bool,
    /// The program text of an interpreter was read, so that what follows is data.
    pub(super) coded: bool,
    /// The format of `printf` contains a value.
    pub(super) format: bool,
    /// `declare -i`, `-n` or options that cannot be read.
    pub(super) evaluating: bool,
}

/// What the next word of a command is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    /// A command word, a reserved word or an assignment.
    Command,
    /// An argument.
    Argument,
    /// The variable of `for` or `select`.
    ForName,
    /// `in` or `do`.
    ForIn(Name),
    /// An item of `for … in`.
    ForItem(Name),
    /// The name after `function`.
    FunctionName,
    /// Nothing but a reserved word: a compound command has just ended.
    After,
}

/// What an argument is, by the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    /// Nothing special.
    Any,
    /// The name of a variable.
    Name,
    /// A program text.
    Code,
    /// The format of `printf`.
    Format,
    /// Data that belongs to an option; this many of them.
    Data(usize),
}

impl Simple {
    pub(super) fn new(start: usize, position: Position) -> Self {
        Self {
            start,
            position,
            program: Program::Ordinary,
            command: None,
            arguments: 0,
            options: true,
            expect: Expect::Any,
            reserved: true,
            operator: false,
            coded: false,
            format: false,
            evaluating: false,
        }
    }
}

impl Commands {
    pub(super) fn new(start: usize) -> Self {
        Self { word: None, redirect: None, simple: Simple::new(start, Position::Command), open: Vec::new() }
    }

    /// Returns where in the innermost `case` the scanner is, if it is not among its commands.
    pub(super) fn case_part(&self) -> Option<CasePart> {
        match self.open.last() {
            Some(Open::Case(part)) if *part != CasePart::Body => Some(*part),
            _ => None,
        }
    }
}

/// A `[[ … ]]` being read.
#[derive(Debug, Default)]
pub(super) struct Condition {
    pub(super) word: Option<Word>,
    /// The operand before, in case an arithmetic operator follows.
    pub(super) previous: Option<std::ops::Range<usize>>,
    pub(super) operand: Operand,
    pub(super) groups: usize,
    /// Parentheses inside a pattern, where blanks do not end the word.
    pub(super) nested: usize,
}

/// What the next operand of a `[[ … ]]` is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Operand {
    /// Text.
    #[default]
    Data,
    /// A pattern or regular expression, in which `(` is part of the word.
    Pattern,
    /// A number, which bash evaluates.
    Arithmetic,
    /// The name of a variable, which bash evaluates.
    Name,
}

/// `${…}` after its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter {
    pub(super) quoting: Quoting,
    pub(super) operation: Operation,
    /// The variable that `:=` assigns to.
    pub(super) assigns: Option<Name>,
}

/// What stands around a `${…}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    /// No quotes.
    Bare,
    /// Double quotes.
    Double,
    /// A here-document, arithmetic: quotes in it are read differently by different shells.
    Doubtful,
}

/// What a `${…}` does with its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// `:-`, `:=`, `:+`, `:?` and their kin without a colon.
    Default,
    /// `#`, `##`, `%`, `%%`.
    Trim,
    /// Anything else: substitution, case, transformation.
    Other,
}

/// Here-documents whose bodies are being read, or wait for the end of the line.
#[derive(Debug, Default)]
pub(super) struct Heredoc {
    pub(super) delimiter: Vec<u8>,
    /// `<<-`: leading tabs do not count.
    pub(super) tabs: bool,
    /// Whether the body is expanded.
    pub(super) expands: bool,
}

/// A word being read.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact about the text so far; they do not combine"
)]
pub(super) struct Word {
    pub(super) start: usize,
    /// Its fixed text up to the first expansion, without quotes.
    pub(super) text: Vec<u8>,
    /// Whether all of it is fixed text.
    pub(super) literal: bool,
    /// Whether any of it was quoted, so that it is no reserved word.
    pub(super) quoted: bool,
    /// The variable it assigns to.
    pub(super) assigns: Option<Name>,
    /// Whether a placeholder is part of it.
    pub(super) value: bool,
    /// Whether an unquoted expansion is part of it, which becomes any number of words.
    pub(super) splits: bool,
}

impl Word {
    pub(super) fn new(start: usize) -> Self {
        Self {
            start,
            text: Vec::new(),
            literal: true,
            quoted: false,
            assigns: None,
            value: false,
            splits: false,
        }
    }

    /// Adds a byte of fixed text.
    pub(super) fn push(&mut self, byte: u8) {
        if self.literal && self.text.len() < LONGEST_TEXT {
            self.text.push(byte);
        } else {
            self.literal = false;
        }
    }

    /// Returns whether it is exactly this text, quoted or not.
    pub(super) fn is(&self, text: &str) -> bool {
        self.literal && self.text == text.as_bytes()
    }

    /// Returns the reserved word that it may be.
    pub(super) fn reserved(&self) -> &[u8] {
        if self.literal && !self.quoted { &self.text } else { b"" }
    }

    /// Returns the name before an unquoted `=` or `+=` that follows now, if there is one.
    pub(super) fn assigned_name(&self) -> Option<&[u8]> {
        let name = self.text.strip_suffix(b"+").unwrap_or(&self.text);
        (self.literal && !self.quoted && is_name(name)).then_some(name)
    }

    /// Returns whether the word could begin with a `-` that a value brings.
    pub(super) fn could_be_option(&self) -> bool {
        !self.literal && (self.text.is_empty() || self.text.starts_with(b"-"))
    }
}
