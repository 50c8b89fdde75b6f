//! Reads function calls, and what follows a value: fields, indices and methods.

use super::ast::{Function, Kind as Tree, Node, Operation, OperationKind, Segment};
use super::lexer::{Kind, Token};
use super::mistake::{unknown_function, unknown_method};
use super::parser::{Parsed, Parser};
use super::problem::Problem;
use crate::source::Span;
use crate::value::Value;

impl Parser<'_> {
    /// Reads the arguments of `name(`; the token here is the parenthesis.
    pub(super) fn call(&mut self, name: Token) -> Parsed<Node> {
        let written = &self.lexer.text[name.start..name.end];
        let span = self.span(name.start, name.end);
        let function = Function::GLOBAL.iter().find(|(known, _)| *known == written);
        if function.is_none() && written != "has" {
            return Err(unknown_function(span, written));
        }
        self.advance()?;
        let mut arguments = self.items(Kind::CloseParen)?;
        let (Some(argument), true) = (arguments.pop(), arguments.is_empty()) else {
            return Err(Problem::new(
                self.span(name.start, self.end),
                format!("`{written}` takes one value"),
            ));
        };
        let tree = match (function, argument.kind) {
            (Some((_, function)), kind) => Tree::Call(*function, Box::new(Node { kind, ..argument })),
            (None, Tree::Path(path)) => Tree::Has(path),
            (None, _) => {
                return Err(Problem::new(argument.span, "`has` asks about a name")
                    .help("write the names that lead to the value, as in `has(inputs.version)`"));
            }
        };
        Ok(self.node(name.start, tree))
    }

    /// Reads the fields, indices and methods that follow a value.
    pub(super) fn postfix(&mut self, start: usize, mut base: Node) -> Parsed<Node> {
        let mut operations = Vec::new();
        loop {
            let from = self.token.start;
            let (kind, span) = match self.token.kind {
                Kind::Dot => self.member()?,
                Kind::OpenBracket => self.index()?,
                _ => break,
            };
            // A name or a quoted name after a path makes the path longer.
            let longer = match &kind {
                _ if !operations.is_empty() => None,
                OperationKind::Field(name) => Some(name.clone()),
                OperationKind::Index(Node { kind: Tree::Literal(Value::Text(name)), .. }) => {
                    Some(name.into())
                }
                _ => None,
            };
            if let (Some(name), Node { kind: Tree::Path(path), span: whole, local }) = (longer, &mut base) {
                path.segments.push(Segment { name, span });
                path.span = self.span(start, self.end);
                *whole = path.span;
                *local = Span::new(start, self.end);
            } else {
                let span =
                    if matches!(kind, OperationKind::Call(..)) { self.span(from, self.end) } else { span };
                let end = Span::at(self.end).start;
                operations.push(Operation { kind, span, end });
            }
        }
        if operations.is_empty() {
            Ok(base)
        } else {
            Ok(self.node(start, Tree::Postfix(Box::new(base), operations)))
        }
    }

    /// Reads `.name` or `.name(…)`; the token here is the dot.
    fn member(&mut self) -> Parsed<(OperationKind, Span)> {
        let dot = self.token;
        let Some(name) = self.lexer.member() else {
            let after = self.span(dot.start, dot.end);
            return Err(Problem::new(after, "a name is missing after `.`"));
        };
        self.token = name;
        let written = self.text();
        let span = self.here();
        self.advance()?;
        if self.token.kind != Kind::OpenParen {
            return Ok((OperationKind::Field(written.into()), span));
        }
        let Some((_, method)) = Function::METHODS.iter().find(|(known, _)| *known == written) else {
            return Err(unknown_method(span, written));
        };
        self.advance()?;
        let mut arguments = self.items(Kind::CloseParen)?;
        let wanted = usize::from(method.takes_argument());
        if arguments.len() != wanted {
            let takes = if wanted == 1 { "one value" } else { "no value" };
            return Err(Problem::new(self.span(name.start, self.end), format!("`{written}` takes {takes}")));
        }
        Ok((OperationKind::Call(*method, arguments.pop()), span))
    }

    /// Reads `[…]`; the token here is the bracket.
    fn index(&mut self) -> Parsed<(OperationKind, Span)> {
        self.advance()?;
        let token = self.token;
        let index = self.expression()?;
        self.expect(Kind::CloseBracket)?;
        // The span of a quoted name leaves out the quotes, so that a fix keeps them.
        let span = match (&index.kind, token.kind) {
            (Tree::Literal(_), Kind::Text) => self.span(token.start + 1, token.end - 1),
            _ => index.span,
        };
        Ok((OperationKind::Index(index), span))
    }
}
