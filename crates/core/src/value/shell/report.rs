//! What the scanner answers: refusals and lints, each with the words that a user reads.

/// What was found out about the placeholders of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysis {
    /// The placeholders that cannot be rendered, in their order, at most one reason each.
    pub refusals: Vec<Refusal>,
    /// What works but deserves a second look, in the order of the placeholders.
    pub lints: Vec<Lint>,
}

/// A placeholder that cannot be rendered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Which one, counted among all placeholders of the script.
    pub placeholder: usize,
    /// Why.
    pub why: RefusalKind,
}

/// A placeholder that can be rendered but whose value has more power than data should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lint {
    /// Which one, counted among all placeholders of the script.
    pub placeholder: usize,
    /// What is doubtful about it.
    pub kind: LintKind,
}

/// Why a placeholder is refused; its text says what is wrong, [`RefusalKind::help`] what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefusalKind {
    /// `$` stands directly before it.
    #[error("a `$` stands directly before the placeholder")]
    AfterDollar,
    /// `\` stands directly before it.
    #[error("a `\\` stands directly before the placeholder")]
    AfterBackslash,
    /// Inside `$'…'`.
    #[error("the placeholder stands inside `$'…'`, where nothing expands")]
    AnsiQuotes,
    /// Inside backticks.
    #[error("the placeholder stands inside backticks, which the shell unescapes twice")]
    Backticks,
    /// In the name of a `${…}`.
    #[error("the placeholder stands where `${{…}}` expects a name")]
    ParameterName,
    /// In an operation of `${…}` other than a default or a prefix or suffix.
    #[error("the placeholder stands in an operation of `${{…}}` that does not take it as data")]
    ParameterOperation,
    /// In a `${…}` inside a here-document.
    #[error("the placeholder stands in `${{…}}` inside a here-document, where shells disagree about quotes")]
    ParameterInHeredoc,
    /// Where the shell does arithmetic.
    #[error("the placeholder stands in shell arithmetic, which runs commands that a value contains")]
    Arithmetic,
    /// In an array subscript.
    #[error("the placeholder stands in an array subscript, which runs commands that a value contains")]
    Subscript,
    /// In the pattern of a `[[ … ]]`, inside parentheses.
    #[error("the placeholder stands inside the parentheses of a pattern")]
    PatternParentheses,
    /// In the delimiter of a here-document.
    #[error("the placeholder stands in the delimiter of a here-document")]
    HeredocDelimiter,
    /// In a here-document whose delimiter is quoted.
    #[error("the placeholder stands in a here-document with a quoted delimiter, where nothing expands")]
    QuotedHeredoc,
    /// Where the shell expects the name of a variable.
    #[error("the placeholder stands where the shell expects the name of a variable")]
    VariableName,
    /// Where the shell expects the name of a function.
    #[error("the placeholder stands where the shell expects the name of a function")]
    FunctionName,
    /// An argument of a builtin that evaluates its arguments.
    #[error("the placeholder is an argument of a builtin that may evaluate it as code")]
    Builtin,
    /// Where a builtin would take a leading `-` as an option.
    #[error("the placeholder stands where a value beginning with `-` is an option of a shell builtin")]
    OptionPosition,
    /// Where `test` or `[` could take one value as the operator of another.
    #[error("the placeholder stands beside another value in a test, so that one could be an operator")]
    TestOperator,
    /// An argument of a program that another value chooses.
    #[error("the placeholder is an argument of a command that another value chooses, such as `eval`")]
    ChosenCommand,
    /// An argument of `printf` while another value is its format.
    #[error("the placeholder is an argument of `printf` while another value is its format")]
    FormatArgument,
    /// The target of `>&` or `<&`.
    #[error("the placeholder is the target of `>&` or `<&`, which bash expands twice")]
    Descriptor,
    /// Assigned to a variable that a shell evaluates.
    #[error("the placeholder is assigned to a variable whose content the shell evaluates")]
    SpecialVariable,
    /// Assigned by a declaration that bash may read as an array.
    #[error(
        "the placeholder is assigned by a declaration that bash may read as an array, with commands in it"
    )]
    ArrayDeclaration,
    /// Assigned to a variable that is evaluated elsewhere.
    #[error("the value reaches `{variable}`, which the shell evaluates as code elsewhere in the script")]
    Carried {
        /// The variable that is evaluated.
        variable: String,
    },
    /// In or after a quote or bracket that is never closed.
    #[error("the placeholder stands in shell text that is never closed")]
    Unterminated,
    /// In or after shell text that the scanner cannot follow for certain.
    #[error("the shell text up to the placeholder cannot be followed for certain: {0}")]
    Unsure(&'static str),
}

impl RefusalKind {
    /// Returns what to do instead.
    pub fn help(&self) -> &'static str {
        match self {
            Self::AfterDollar => {
                "abide's placeholders have no `$`: write {{inputs.x}}; for a dollar sign before the value write \"\\${{inputs.x}}\""
            }
            Self::AfterBackslash => "leave the `\\` out: the value is quoted already",
            Self::AnsiQuotes => "close the quotes before the placeholder: $'a\\n'{{inputs.x}}",
            Self::Backticks => "use $(…) instead of backticks",
            Self::ParameterName => "choose the variable with `case {{inputs.x}} in … esac`",
            Self::ParameterOperation | Self::ParameterInHeredoc => {
                "assign it to a variable before, X={{inputs.x}}, and use \"$X\" there"
            }
            Self::Arithmetic | Self::Carried { .. } => {
                "compare with [ {{inputs.n}} -gt 3 ] and compute with $(expr {{inputs.n}} + 1), which take values as data"
            }
            Self::Subscript => "choose the element with `case {{inputs.x}} in … esac`",
            Self::PatternParentheses => "assign the whole pattern to a variable before, or use `case`",
            Self::HeredocDelimiter => "use a fixed word as the delimiter, such as <<EOF",
            Self::QuotedHeredoc => {
                "take the quotes off the delimiter, <<EOF, and write \\$ for a dollar sign that should stay"
            }
            Self::VariableName => "use a fixed name and assign the value to it: NAME={{inputs.x}}",
            Self::FunctionName => "use a fixed name and pass the value as an argument",
            Self::Builtin => "use a fixed argument, chosen with `case {{inputs.x}} in … esac`",
            Self::OptionPosition => {
                "write a fixed first argument, as in printf '%s\\n' {{inputs.x}} or set -- {{inputs.x}}"
            }
            Self::TestOperator => "write the operator yourself: [ {{inputs.a}} = {{inputs.b}} ]",
            Self::ChosenCommand => "choose the command with `case {{inputs.x}} in … esac`",
            Self::FormatArgument => "write the format yourself: printf '%s: %s\\n' {{inputs.a}} {{inputs.b}}",
            Self::Descriptor => "write >{{inputs.file}} 2>&1, with a fixed number after the `&`",
            Self::SpecialVariable => "assign it to a variable with a name of your own",
            Self::ArrayDeclaration => {
                "assign it without the declaration, or on a line of its own: NAME={{inputs.x}}"
            }
            Self::Unterminated => "close every quote, bracket and here-document",
            Self::Unsure(_) => {
                "write this part more plainly, or move it into a script file that takes the value as an argument"
            }
        }
    }
}

/// What is doubtful about a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LintKind {
    /// Another interpreter reads the value as code.
    #[error("the value becomes part of a program that another interpreter reads")]
    Reinterpreted,
    /// The value is inserted without quoting.
    #[error("the value is inserted as shell text, so it can run any command")]
    Raw,
    /// The value chooses the program that runs.
    #[error("the value chooses the program that runs")]
    CommandWord,
}

impl LintKind {
    /// Returns what to do instead.
    pub fn help(self) -> &'static str {
        match self {
            Self::Reinterpreted => "pass it as an argument instead: sh -c 'echo \"$1\"' sh {{inputs.x}}",
            Self::Raw => "leave `| raw` out unless the value is shell text on purpose",
            Self::CommandWord => "choose the program with `case {{inputs.x}} in … esac`",
        }
    }
}
