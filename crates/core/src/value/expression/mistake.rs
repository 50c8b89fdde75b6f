//! What people write from habit, and what to tell them.

use super::LONGEST_EXPRESSION;
use super::ast::Function;
use super::lexer::Kind;
use super::parser::Parser;
use super::problem::Problem;
use crate::diagnostic::excerpt;
use crate::source::Span;

impl Parser<'_> {
    /// Says what is wrong about the token that stands here instead of a value.
    pub(super) fn no_value(&self) -> Problem {
        let here = self.here();
        match self.token.kind {
            Kind::End => Problem::new(here, "the expression ends where a value is expected"),
            Kind::Assign => self.unexpected(),
            _ => Problem::new(here, format!("a value is expected here, not `{}`", excerpt(self.text()))),
        }
    }

    /// Says what is wrong about the token that stands here after a complete value.
    pub(crate) fn unexpected(&self) -> Problem {
        let here = self.here();
        let text = self.text();
        match self.token.kind {
            Kind::Assign => Problem::new(here, "use `==` to compare").replacement("=="),
            Kind::Name if text == "and" => word(here, "and", "&&"),
            Kind::Name if text == "or" => word(here, "or", "||"),
            Kind::Name if text == "not" => {
                Problem::new(here, "`not` is not an operator").help("use `!`, as in `!(x in list)`")
            }
            Kind::Bar => Problem::new(here, "a filter stands at the end of a placeholder")
                .help("write `{{ value | filter }}` in a template, and `||` for “or”"),
            Kind::Close => Problem::new(here, "`}}` is not expected here"),
            Kind::CloseParen | Kind::CloseBracket => {
                Problem::new(here, format!("`{text}` closes nothing that is open here"))
            }
            Kind::End => Problem::new(here, "the expression ends before everything is closed"),
            Kind::Name | Kind::Integer | Kind::Float | Kind::Text | Kind::RawText => {
                Problem::new(here, format!("an operator is missing before `{}`", excerpt(text)))
            }
            _ => Problem::new(here, format!("`{text}` means nothing here")),
        }
    }
}

pub(super) fn word(span: Span, written: &str, operator: &str) -> Problem {
    Problem::new(span, format!("`{written}` is not an operator"))
        .help(format!("use `{operator}`"))
        .replacement(operator)
}

pub(super) fn unknown_function(span: Span, written: &str) -> Problem {
    if written == "not" {
        return word(span, "not", "!");
    }
    let problem = Problem::new(span, format!("there is no function `{}`", excerpt(written)));
    if Function::METHODS.iter().any(|(name, _)| *name == written) {
        return problem.help(format!("`{written}` follows its value, as in `inputs.name.{written}(…)`"));
    }
    let known: Vec<&str> = Function::GLOBAL.iter().map(|(name, _)| *name).chain(["has"]).collect();
    problem.did_you_mean(written, &known)
}

pub(super) fn unknown_method(span: Span, written: &str) -> Problem {
    let problem = Problem::new(span, format!("there is no method `{}`", excerpt(written)));
    if Function::GLOBAL.iter().any(|(name, _)| *name == written) || written == "has" {
        return problem
            .help(format!("`{written}` takes its value in parentheses, as in `{written}(inputs.name)`"));
    }
    let known: Vec<&str> = Function::METHODS.iter().map(|(name, _)| *name).collect();
    problem.did_you_mean(written, &known)
}

pub(super) fn too_long(span: Span) -> Problem {
    Problem::new(span, format!("the expression is longer than {LONGEST_EXPRESSION} bytes"))
        .help("compute the value in a step and use its output")
}
