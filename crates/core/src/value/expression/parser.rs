//! Builds the tree of an expression, or says what is wrong with its form.
//!
//! Recursive descent with CEL's precedence. Every way to nest (brackets, arguments, `?:`, unary operators)
//! goes through [`Parser::nested`], which counts, so that no text can overflow the stack.

use super::LONGEST_EXPRESSION;
use super::ast::{Arithmetic, Comparison, Kind as Tree, Node, Path, Segment};
use super::lexer::{Kind, Lexer, Positions, Token};
use super::mistake::{too_long, word};
use super::problem::Problem;
use crate::diagnostic::excerpt;
use crate::source::Span;
use crate::value::Value;

/// How deep an expression may nest.
pub(crate) const DEEPEST: usize = 32;
/// How many items a list may have.
pub(crate) const LONGEST_LIST: usize = 256;

pub(super) type Parsed<T> = Result<T, Problem>;

/// Reads tokens one at a time, always looking at exactly one.
pub(crate) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    pub(crate) token: Token,
    /// One past the last byte of the token before.
    pub(super) end: usize,
    /// No token may start after this, so that a long text costs no more than its message.
    limit: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// Starts to read `text` at `start`.
    pub(crate) fn new(text: &'a str, start: usize, positions: Positions<'a>) -> Parsed<Self> {
        let mut lexer = Lexer::new(text, start, positions);
        let token = lexer.next()?;
        Ok(Self { lexer, token, end: start, limit: start + LONGEST_EXPRESSION, depth: 0 })
    }

    /// Reads one whole expression and leaves the token after it to the caller.
    pub(crate) fn expression(&mut self) -> Parsed<Node> {
        self.nested(Self::choose)
    }

    /// Moves on to the next token.
    pub(crate) fn advance(&mut self) -> Parsed<()> {
        self.end = self.token.end;
        self.token = self.lexer.next()?;
        if self.token.start > self.limit {
            return Err(too_long(self.here()));
        }
        Ok(())
    }

    /// Moves past a token of this kind, if it stands here.
    pub(crate) fn eat(&mut self, kind: Kind) -> Parsed<bool> {
        let here = self.token.kind == kind;
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    /// Moves past a token of this kind, which must stand here.
    pub(crate) fn expect(&mut self, kind: Kind) -> Parsed<()> {
        if self.eat(kind)? { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Returns the text of the token that stands here.
    pub(crate) fn text(&self) -> &'a str {
        &self.lexer.text[self.token.start..self.token.end]
    }

    /// Returns where a part of the text stands in the file.
    pub(crate) fn span(&self, start: usize, end: usize) -> Span {
        self.lexer.span(start, end)
    }

    /// Returns where the token stands in the file.
    pub(crate) fn here(&self) -> Span {
        self.span(self.token.start, self.token.end)
    }

    fn nested(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<Node>) -> Parsed<Node> {
        if self.depth == DEEPEST {
            return Err(Problem::new(self.here(), format!("nested deeper than {DEEPEST} levels"))
                .help("split the expression, or compute the value in a step"));
        }
        self.depth += 1;
        let node = parse(self);
        self.depth -= 1;
        node
    }

    /// Makes a node that reaches from `start` to the token before this one.
    pub(super) fn node(&self, start: usize, kind: Tree) -> Node {
        Node { kind, span: self.span(start, self.end), local: Span::new(start, self.end) }
    }

    fn choose(&mut self) -> Parsed<Node> {
        let start = self.token.start;
        let condition = self.or()?;
        if !self.eat(Kind::Question)? {
            return Ok(condition);
        }
        let then = self.expression()?;
        self.expect(Kind::Colon)?;
        let otherwise = self.expression()?;
        Ok(self.node(start, Tree::Choose(Box::new((condition, then, otherwise)))))
    }

    fn or(&mut self) -> Parsed<Node> {
        self.joined(Kind::Or, Self::and, Tree::Or)
    }

    fn and(&mut self) -> Parsed<Node> {
        self.joined(Kind::And, Self::comparison, Tree::And)
    }

    fn joined(
        &mut self,
        operator: Kind,
        operand: fn(&mut Self) -> Parsed<Node>,
        tree: fn(Vec<Node>) -> Tree,
    ) -> Parsed<Node> {
        let start = self.token.start;
        let first = operand(self)?;
        if self.token.kind != operator {
            return Ok(first);
        }
        let mut operands = Vec::with_capacity(2);
        operands.push(first);
        while self.eat(operator)? {
            operands.push(operand(self)?);
        }
        Ok(self.node(start, tree(operands)))
    }

    fn comparison(&mut self) -> Parsed<Node> {
        let start = self.token.start;
        let left = self.sum()?;
        let Some(comparison) = self.comparison_operator() else { return Ok(left) };
        self.advance()?;
        let right = self.sum()?;
        if self.comparison_operator().is_some() {
            return Err(Problem::new(self.here(), "comparisons cannot be chained")
                .help("join them with `&&`, as in `1 < x && x < 5`"));
        }
        Ok(self.node(start, Tree::Compare(comparison, Box::new((left, right)))))
    }

    fn comparison_operator(&self) -> Option<Comparison> {
        Some(match self.token.kind {
            Kind::Equal => Comparison::Equal,
            Kind::NotEqual => Comparison::NotEqual,
            Kind::Less => Comparison::Less,
            Kind::LessOrEqual => Comparison::LessOrEqual,
            Kind::Greater => Comparison::Greater,
            Kind::GreaterOrEqual => Comparison::GreaterOrEqual,
            Kind::Name if self.text() == "in" => Comparison::In,
            _ => return None,
        })
    }

    fn sum(&mut self) -> Parsed<Node> {
        self.arithmetic(Self::product, |kind| match kind {
            Kind::Plus => Some(Arithmetic::Add),
            Kind::Minus => Some(Arithmetic::Subtract),
            _ => None,
        })
    }

    fn product(&mut self) -> Parsed<Node> {
        self.arithmetic(Self::unary, |kind| match kind {
            Kind::Star => Some(Arithmetic::Multiply),
            Kind::Slash => Some(Arithmetic::Divide),
            Kind::Percent => Some(Arithmetic::Remainder),
            _ => None,
        })
    }

    fn arithmetic(
        &mut self,
        operand: fn(&mut Self) -> Parsed<Node>,
        operator: fn(Kind) -> Option<Arithmetic>,
    ) -> Parsed<Node> {
        let start = self.token.start;
        let first = operand(self)?;
        let mut rest = Vec::new();
        while let Some(operator) = operator(self.token.kind) {
            self.advance()?;
            rest.push((operator, operand(self)?));
        }
        if rest.is_empty() {
            Ok(first)
        } else {
            Ok(self.node(start, Tree::Arithmetic(Box::new(first), rest)))
        }
    }

    fn unary(&mut self) -> Parsed<Node> {
        let start = self.token.start;
        match self.token.kind {
            Kind::Not => {
                self.advance()?;
                let operand = self.nested(Self::unary)?;
                Ok(self.node(start, Tree::Not(Box::new(operand))))
            }
            Kind::Minus => {
                self.advance()?;
                // The smallest integer has no positive twin, so the sign is read with the digits.
                if matches!(self.token.kind, Kind::Integer | Kind::Float) {
                    let literal = self.number(start)?;
                    return self.postfix(start, literal);
                }
                let operand = self.nested(Self::unary)?;
                Ok(self.node(start, Tree::Negate(Box::new(operand))))
            }
            _ => {
                let base = self.primary()?;
                self.postfix(start, base)
            }
        }
    }

    /// Reads a number whose sign, if it has one, stands at `start`.
    fn number(&mut self, start: usize) -> Parsed<Node> {
        let negative = start < self.token.start;
        let digits = self.text();
        let signed = if negative { format!("-{digits}") } else { digits.to_owned() };
        let value = match self.token.kind {
            Kind::Integer => signed.parse().ok().map(Value::Int),
            _ => signed.parse().ok().filter(|number: &f64| number.is_finite()).map(Value::Float),
        };
        let value = value.ok_or_else(|| {
            Problem::new(self.here(), format!("`{}` is larger than abide can count", excerpt(&signed)))
        })?;
        self.advance()?;
        Ok(self.node(start, Tree::Literal(value)))
    }

    fn primary(&mut self) -> Parsed<Node> {
        let start = self.token.start;
        match self.token.kind {
            Kind::Integer | Kind::Float => self.number(start),
            Kind::Text | Kind::RawText => {
                let text = self.lexer.decode(self.token)?;
                self.advance()?;
                Ok(self.node(start, Tree::Literal(Value::Text(text))))
            }
            Kind::Name => self.name(),
            Kind::OpenParen => {
                self.advance()?;
                let inside = self.expression()?;
                self.expect(Kind::CloseParen)?;
                Ok(Node { span: self.span(start, self.end), local: Span::new(start, self.end), ..inside })
            }
            Kind::OpenBracket => {
                self.advance()?;
                let items = self.items(Kind::CloseBracket)?;
                Ok(self.node(start, Tree::List(items)))
            }
            _ => Err(self.no_value()),
        }
    }

    /// Reads values between commas up to the closing bracket; a comma may stand before it.
    pub(super) fn items(&mut self, close: Kind) -> Parsed<Vec<Node>> {
        let mut items = Vec::new();
        while !self.eat(close)? {
            if items.len() == LONGEST_LIST {
                return Err(Problem::new(self.here(), format!("a list has more than {LONGEST_LIST} items")));
            }
            items.push(self.expression()?);
            if self.token.kind != close {
                self.expect(Kind::Comma)?;
            }
        }
        Ok(items)
    }

    fn name(&mut self) -> Parsed<Node> {
        let token = self.token;
        let name = self.text();
        let literal = match name {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            "in" => return Err(self.no_value()),
            _ => {
                self.advance()?;
                if self.token.kind == Kind::OpenParen {
                    return self.call(token);
                }
                if name == "not" && self.starts_value() {
                    return Err(word(self.span(token.start, token.end), "not", "!"));
                }
                let span = self.span(token.start, token.end);
                // Most paths are `inputs.name` or `steps.name.output`.
                let mut segments = Vec::with_capacity(3);
                segments.push(Segment { name: name.into(), span });
                return Ok(self.node(token.start, Tree::Path(Path { segments, span })));
            }
        };
        self.advance()?;
        Ok(self.node(token.start, Tree::Literal(literal)))
    }

    fn starts_value(&self) -> bool {
        match self.token.kind {
            Kind::Name => self.text() != "in" && self.text() != "and" && self.text() != "or",
            Kind::Text | Kind::RawText | Kind::Integer | Kind::Float | Kind::Not => true,
            _ => false,
        }
    }
}
