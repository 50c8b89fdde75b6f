//! `protects`: tool calls that are allowed only inside a run of the ability.
//!
//! A pattern is a tool's name, with an optional glob for what it is called with: `Bash(./deploy.sh *)`.
//! The gate compares the glob with every simple command of a shell line, one at a time, with white space
//! folded; so a pattern that spans several commands could never match, and is refused here.

use crate::diagnostic::excerpt;
use smol_str::SmolStr;
use std::fmt;

/// A tool call that only a run of the ability may make.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Protect {
    tool: SmolStr,
    argument: Option<SmolStr>,
}

/// Why a pattern can never match a tool call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadProtect {
    /// Not of the form `Tool` or `Tool(glob)`.
    #[error("`{0}` is not of the form `Tool` or `Tool(pattern)`")]
    Form(String),
    /// The parentheses are empty.
    #[error("`{0}` has nothing between its parentheses")]
    NothingInside(String),
    /// White space where the gate has none.
    #[error("the pattern {0:?} starts or ends with white space, which commands are compared without")]
    WhiteSpace(String),
    /// Several commands in one pattern.
    #[error(
        "`{pattern}` spans several commands at `{operator}`; each command of a line is compared on its own"
    )]
    SeveralCommands {
        /// The pattern.
        pattern: String,
        /// The operator that separates commands.
        operator: &'static str,
    },
    /// A control character, which no command line keeps.
    #[error("the pattern {0:?} contains a control character")]
    Control(String),
}

/// What separates simple commands; the gate has taken lines apart there before it compares. Each begins with one of `&|;$`.
const OPERATORS: [&str; 6] = ["&&", "||", ";", "|", "&", "$("];

impl Protect {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, BadProtect> {
        let shown = || excerpt(text).into_owned();
        let (tool, argument) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => match rest.strip_suffix(')') {
                Some(argument) => (tool, Some(argument)),
                None => return Err(BadProtect::Form(shown())),
            },
        };
        let tool_fits = !tool.is_empty()
            && tool.chars().all(|character| {
                character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '*' | '.')
            });
        if !tool_fits {
            return Err(BadProtect::Form(shown()));
        }
        if let Some(argument) = argument {
            if argument.is_empty() {
                return Err(BadProtect::NothingInside(shown()));
            }
            if argument.trim() != argument {
                return Err(BadProtect::WhiteSpace(short(argument)));
            }
            if argument.chars().any(char::is_control) {
                return Err(BadProtect::Control(short(argument)));
            }
            if is_shell(tool)
                && argument.contains(['&', '|', ';', '$'])
                && let Some(operator) = OPERATORS.into_iter().find(|operator| argument.contains(operator))
            {
                return Err(BadProtect::SeveralCommands {
                    pattern: excerpt(argument).into_owned(),
                    operator,
                });
            }
        }
        Ok(Self { tool: tool.into(), argument: argument.map(Into::into) })
    }

    /// Returns the glob for the tool's name.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns the glob for what the tool is called with, if there is one.
    pub fn argument(&self) -> Option<&str> {
        self.argument.as_deref()
    }
}

/// Cuts a text that a message shows with its escapes.
fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

fn is_shell(tool: &str) -> bool {
    ["bash", "shell", "sh", "exec", "local_shell"].iter().any(|name| tool.eq_ignore_ascii_case(name))
}

impl fmt::Display for Protect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.argument {
            Some(argument) => write!(out, "{}({argument})", self.tool),
            None => out.write_str(&self.tool),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_can_match_are_kept_as_written() {
        for good in [
            "Bash(./deploy.sh *)",
            "Bash(git push *)",
            "WebFetch",
            "mcp__prod__*",
            "Write(infra/*)",
            "Bash(f(x))",
        ] {
            assert_eq!(Protect::parse(good).unwrap().to_string(), good);
        }
    }

    #[test]
    fn patterns_that_never_match_are_refused() {
        for (bad, why) in [
            ("", "`` is not of the form `Tool` or `Tool(pattern)`"),
            ("Bash(git push", "`Bash(git push` is not of the form `Tool` or `Tool(pattern)`"),
            ("(git push)", "`(git push)` is not of the form `Tool` or `Tool(pattern)`"),
            ("git push", "`git push` is not of the form `Tool` or `Tool(pattern)`"),
            ("Bash()", "`Bash()` has nothing between its parentheses"),
            (
                "Bash( git push)",
                "the pattern \" git push\" starts or ends with white space, which commands are compared without",
            ),
            (
                "Bash(cd x && ./deploy.sh)",
                "`cd x && ./deploy.sh` spans several commands at `&&`; each command of a line is compared on its own",
            ),
            (
                "Bash(a | b)",
                "`a | b` spans several commands at `|`; each command of a line is compared on its own",
            ),
            ("Bash(a\nb)", "the pattern \"a\\nb\" contains a control character"),
        ] {
            assert_eq!(Protect::parse(bad).unwrap_err().to_string(), why);
        }
    }
}
