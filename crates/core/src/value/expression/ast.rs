//! The tree of an expression.
//!
//! Chains (`a && b && c`, `a + b - c`, `x.trim().lower()[0]`) are flat, so that the tree is only as deep as
//! the brackets that the parser counted; whatever walks it may recurse.

use crate::source::Span;
use crate::value::Value;
use smol_str::SmolStr;

/// One part of an expression.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// Where it stands in the file.
    pub(crate) span: Span,
    /// Where it stands in the text that was parsed.
    pub(crate) local: Span,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Literal(Value),
    List(Vec<Node>),
    Path(Path),
    /// What follows a value: fields, indices and methods, in order.
    Postfix(Box<Node>, Vec<Operation>),
    Call(Function, Box<Node>),
    Has(Path),
    Not(Box<Node>),
    Negate(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Compare(Comparison, Box<(Node, Node)>),
    /// A first value and what is added to it or multiplied with it, from left to right.
    Arithmetic(Box<Node>, Vec<(Arithmetic, Node)>),
    /// Condition, value when true, value when false.
    Choose(Box<(Node, Node, Node)>),
}

/// Names that lead to a value, such as `steps.get-diff.output`; at least one.
#[derive(Debug, Clone)]
pub struct Path {
    pub(crate) segments: Vec<Segment>,
    pub(crate) span: Span,
}

/// One name of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The name, without dots, brackets or quotes.
    pub name: SmolStr,
    /// Where the name stands in the file.
    pub span: Span,
}

impl Path {
    /// Returns the names, from the root on.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the first name.
    pub fn root(&self) -> &str {
        &self.segments[0].name
    }

    /// Returns the names as plain text.
    pub fn names(&self) -> Vec<&str> {
        self.segments.iter().map(|segment| segment.name.as_str()).collect()
    }

    /// Returns where the whole path stands in the file.
    pub fn span(&self) -> Span {
        self.span
    }
}

/// One thing that follows a value.
#[derive(Debug, Clone)]
pub(crate) struct Operation {
    pub(crate) kind: OperationKind,
    pub(crate) span: Span,
    /// One past its last byte in the text that was parsed.
    pub(crate) end: u32,
}

#[derive(Debug, Clone)]
pub(crate) enum OperationKind {
    Field(SmolStr),
    Index(Node),
    Call(Function, Option<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
}

impl Comparison {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::In => "in",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

impl Arithmetic {
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Size,
    Contains,
    StartsWith,
    EndsWith,
    Matches,
    Int,
    Double,
    String,
    Lower,
    Upper,
    Trim,
}

impl Function {
    /// The functions that are written `name(value)`; `has` is the parser's own.
    pub(crate) const GLOBAL: [(&str, Self); 4] =
        [("size", Self::Size), ("int", Self::Int), ("double", Self::Double), ("string", Self::String)];

    /// The functions that are written `value.name(…)`.
    pub(crate) const METHODS: [(&str, Self); 8] = [
        ("size", Self::Size),
        ("contains", Self::Contains),
        ("startsWith", Self::StartsWith),
        ("endsWith", Self::EndsWith),
        ("matches", Self::Matches),
        ("lower", Self::Lower),
        ("upper", Self::Upper),
        ("trim", Self::Trim),
    ];

    /// Returns whether the method takes a value between its parentheses.
    pub(crate) fn takes_argument(self) -> bool {
        matches!(self, Self::Contains | Self::StartsWith | Self::EndsWith | Self::Matches)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Contains => "contains",
            Self::StartsWith => "startsWith",
            Self::EndsWith => "endsWith",
            Self::Matches => "matches",
            Self::Int => "int",
            Self::Double => "double",
            Self::String => "string",
            Self::Lower => "lower",
            Self::Upper => "upper",
            Self::Trim => "trim",
        }
    }
}

impl Node {
    /// Calls `visit` with every path, from left to right.
    pub(crate) fn visit_paths<'a>(&'a self, visit: &mut dyn FnMut(&'a Path)) {
        match &self.kind {
            Kind::Literal(_) => {}
            Kind::Path(path) | Kind::Has(path) => visit(path),
            Kind::List(nodes) | Kind::And(nodes) | Kind::Or(nodes) => {
                for node in nodes {
                    node.visit_paths(visit);
                }
            }
            Kind::Postfix(base, operations) => {
                base.visit_paths(visit);
                for operation in operations {
                    match &operation.kind {
                        OperationKind::Index(node) | OperationKind::Call(_, Some(node)) => {
                            node.visit_paths(visit);
                        }
                        OperationKind::Field(_) | OperationKind::Call(_, None) => {}
                    }
                }
            }
            Kind::Call(_, node) | Kind::Not(node) | Kind::Negate(node) => node.visit_paths(visit),
            Kind::Compare(_, sides) => {
                sides.0.visit_paths(visit);
                sides.1.visit_paths(visit);
            }
            Kind::Arithmetic(first, rest) => {
                first.visit_paths(visit);
                for (_, node) in rest {
                    node.visit_paths(visit);
                }
            }
            Kind::Choose(parts) => {
                parts.0.visit_paths(visit);
                parts.1.visit_paths(visit);
                parts.2.visit_paths(visit);
            }
        }
    }
}
