//! Finds the placeholders of a text.
//!
//! The expression's own parser says where a placeholder ends, so a quoted `}}` does not end it.

use super::filter::{Filter, FilterKind};
use super::placeholder::Placeholder;
use crate::diagnostic::{Problems, excerpt};
use crate::source::Span;
use crate::value::expression::{Expression, Parser, Problem, TokenKind};

/// How many placeholders one text may have.
const MOST_PLACEHOLDERS: usize = 100_000;

/// Reads all placeholders of `text`, the first of which starts at `first`, or returns every problem.
pub(super) fn placeholders(
    text: &str,
    first: usize,
    positions: &dyn Fn(usize) -> usize,
) -> Result<Vec<Placeholder>, Vec<Problem>> {
    let mut placeholders = Vec::new();
    let mut problems = Vec::new();
    let mut next = Some(first);
    while let Some(start) = next {
        let end = match placeholder(text, start, positions) {
            Ok(placeholder) if placeholders.len() == MOST_PLACEHOLDERS => {
                let message = format!("the text has more than {MOST_PLACEHOLDERS} placeholders");
                problems.push(Problem::new(placeholder.span, message).help("split the text"));
                break;
            }
            Ok(placeholder) => {
                let end = placeholder.range.end;
                placeholders.push(placeholder);
                end
            }
            Err(problem) => {
                let close = text[start + 2..].find("}}").map(|length| start + 2 + length);
                problems.push(clearer(problem, text, start, close, positions));
                if problems.len() == Problems::MOST {
                    break;
                }
                match close {
                    Some(close) => close + 2,
                    None => break,
                }
            }
        };
        next = next_open(text, end);
    }
    if problems.is_empty() { Ok(placeholders) } else { Err(problems) }
}

/// Returns where the next `{{` at or after `from` starts.
///
/// Most texts have none, and looking for one byte is several times faster than for two.
pub(super) fn next_open(text: &str, from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        at += text[at..].find('{')?;
        if text[at + 1..].starts_with('{') {
            return Some(at);
        }
        at += 1;
    }
}

fn placeholder(text: &str, start: usize, positions: &dyn Fn(usize) -> usize) -> Result<Placeholder, Problem> {
    let mut parser = Parser::new(text, start + 2, positions)?;
    let expression = Expression::read(&mut parser, text)?;
    let mut filters = Vec::new();
    let mut raw = None;
    while parser.eat(TokenKind::Bar)? {
        if let Some(span) = raw {
            return Err(Problem::new(span, "`raw` must be the last filter"));
        }
        let span = parser.here();
        if parser.token.kind == TokenKind::Name && parser.text() == "raw" {
            parser.advance()?;
            if parser.token.kind == TokenKind::OpenParen {
                return Err(Problem::new(span, "`raw` takes no value"));
            }
            raw = Some(span);
        } else {
            filters.push(Filter { kind: filter(&mut parser, text)?, span });
        }
    }
    // The token after `}}` belongs to the text and must not be read.
    match parser.token.kind {
        TokenKind::Close => {}
        TokenKind::End => return Err(unterminated(text, start, positions)),
        _ => return Err(parser.unexpected()),
    }
    let end = parser.token.end;
    let span = Span::new(positions(start), positions(end));
    Ok(Placeholder { expression, filters, raw: raw.is_some(), span, range: start..end })
}

/// Reads one filter after its `|`.
fn filter(parser: &mut Parser<'_>, source: &str) -> Result<FilterKind, Problem> {
    let span = parser.here();
    if parser.token.kind != TokenKind::Name {
        return Err(Problem::new(span, "the name of a filter is missing after `|`"));
    }
    let name = parser.text();
    if !Filter::NAMES.contains(&name) {
        return Err(Problem::new(span, format!("there is no filter `{}`", excerpt(name)))
            .did_you_mean(name, &Filter::NAMES));
    }
    parser.advance()?;
    let argument = argument(parser, source)?;
    Ok(match (name, argument) {
        ("default", Some(argument)) => FilterKind::Default(argument),
        ("join", Some(argument)) => FilterKind::Join(argument),
        ("default", None) => return Err(takes_one(span, "default", "\"none\"")),
        ("join", None) => return Err(takes_one(span, "join", "\", \"")),
        (_, Some(_)) => return Err(Problem::new(span, format!("`{name}` takes no value"))),
        ("upper", None) => FilterKind::Upper,
        ("lower", None) => FilterKind::Lower,
        ("trim", None) => FilterKind::Trim,
        ("json", None) => FilterKind::Json,
        ("first", None) => FilterKind::First,
        ("last", None) => FilterKind::Last,
        ("length", None) => FilterKind::Length,
        // `raw` was read by the caller, so this is the last of the names.
        (_, None) => FilterKind::Lines,
    })
}

fn argument(parser: &mut Parser<'_>, source: &str) -> Result<Option<Expression>, Problem> {
    if !parser.eat(TokenKind::OpenParen)? || parser.eat(TokenKind::CloseParen)? {
        return Ok(None);
    }
    let argument = Expression::read(parser, source)?;
    parser.expect(TokenKind::CloseParen)?;
    Ok(Some(argument))
}

fn takes_one(span: Span, name: &str, example: &str) -> Problem {
    Problem::new(span, format!("`{name}` takes one value")).help(format!("write `{name}({example})`"))
}

fn unterminated(text: &str, start: usize, positions: &dyn Fn(usize) -> usize) -> Problem {
    let end = (start + 2).min(text.len());
    Problem::new(Span::new(positions(start), positions(end)), "`{{` has no `}}`")
        .help("write {{ \"{{\" }} for a literal `{{`")
}

/// Says what is wrong in terms of the placeholder, where its content is not an expression at all.
fn clearer(
    problem: Problem,
    text: &str,
    start: usize,
    close: Option<usize>,
    positions: &dyn Fn(usize) -> usize,
) -> Problem {
    let Some(close) = close else { return unterminated(text, start, positions) };
    let content = &text[start + 2..close];
    let whole = &text[start..close + 2];
    let span = || Span::new(positions(start), positions(close + 2));
    if content.trim().is_empty() {
        return Problem::new(span(), "the placeholder is empty").help(keep_as_text(whole));
    }
    if is_foreign(content.trim()) {
        return Problem::new(span(), "this is a template of another tool").help(keep_as_text(whole));
    }
    problem
}

/// Returns whether this is how Go, Handlebars or Liquid write: `.Names`, `json .`, `#each`, `- end`.
fn is_foreign(content: &str) -> bool {
    content.starts_with(['.', '#', '/', '$', '{', '^', '>', '&', '*', '%', '-']) || content.contains(" .")
}

fn keep_as_text(whole: &str) -> String {
    const LONGEST: usize = 80;
    let simple = !whole.contains(['\\', '\n']) && whole.len() <= LONGEST;
    match (simple, whole.contains('"'), whole.contains('\'')) {
        (true, false, _) => format!("to keep it as text, write {{{{ \"{whole}\" }}}}"),
        (true, true, false) => format!("to keep it as text, write {{{{ '{whole}' }}}}"),
        _ => "to keep it as text, write {{ \"{{\" }} for its `{{`".to_owned(),
    }
}
