//! Finds wrong names and types before anything runs, all of them at once.
//!
//! A part that is wrong has the type `Any`, so that one mistake is reported once.

use super::ast::{Arithmetic, Function, Kind, Node, Operation, OperationKind, Path, Segment};
use super::operate::check_regex;
use super::problem::{list, quote};
use super::{Effort, Expression, RecordType, Scope, Type};
use crate::diagnostic::{Code, Diagnostic, excerpt};
use crate::source::Span;
use crate::value::Value;
use crate::value::effort::regex_effort;
use std::borrow::Cow;

/// Messages list what is known up to this many names.
pub(super) const SHORT: usize = 12;

/// What a check found.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The type of the result; `Any` where a problem hides it.
    pub ty: Type,
    /// Every problem, in the order of the text.
    pub problems: Vec<Diagnostic>,
}

pub(super) fn check(expression: &Expression, scope: &dyn Scope) -> Checked {
    let mut checker = Checker { expression, scope, problems: Vec::new() };
    let ty = checker.node(&expression.root);
    Checked { ty, problems: checker.problems }
}

pub(super) fn check_condition(expression: &Expression, scope: &dyn Scope) -> Vec<Diagnostic> {
    let Checked { ty, mut problems } = check(expression, scope);
    let ty = ty.required();
    if !matches!(ty, Type::Bool | Type::Any) {
        let root = &expression.root;
        let what = quote(expression.source(root));
        let diagnostic = Diagnostic::new(
            Code::NotBoolean,
            root.span,
            format!("a condition is true or false, and {what} is {ty}"),
        );
        problems.push(match example(&ty, expression.source(root)) {
            Some(example) => diagnostic.help(example),
            None => diagnostic,
        });
    }
    problems
}

/// Shows how a value that is not a boolean becomes a condition.
fn example(ty: &Type, text: &str) -> Option<String> {
    Some(match ty {
        Type::Text | Type::Choice(_) => format!("compare it, as in `{} != \"\"`", excerpt(text)),
        Type::Int | Type::Float => format!("compare it, as in `{} > 0`", excerpt(text)),
        Type::List(_) => format!("ask for its size, as in `size({}) > 0`", excerpt(text)),
        _ => return None,
    })
}

pub(super) struct Checker<'a> {
    pub(super) expression: &'a Expression,
    pub(super) scope: &'a dyn Scope,
    problems: Vec<Diagnostic>,
}

impl Checker<'_> {
    pub(super) fn report(&mut self, problem: Diagnostic) {
        self.problems.push(problem);
    }

    /// Reports types that do not fit.
    pub(super) fn mismatch(&mut self, span: Span, message: impl Into<String>) -> Type {
        self.report(Diagnostic::new(Code::TypeMismatch, span, message));
        Type::Any
    }

    fn mismatch_with_help(
        &mut self,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Type {
        self.report(Diagnostic::new(Code::TypeMismatch, span, message).help(help));
        Type::Any
    }

    pub(super) fn node(&mut self, node: &Node) -> Type {
        match &node.kind {
            Kind::Literal(value) => Type::of(value),
            Kind::List(items) => {
                let item = items.iter().map(|item| self.node(item)).reduce(Type::join);
                Type::list(item.unwrap_or(Type::Any))
            }
            Kind::Path(path) => self.path(path),
            Kind::Has(path) => {
                self.path(path);
                Type::Bool
            }
            Kind::Postfix(base, operations) => self.postfix(base, operations),
            Kind::Call(function, subject) => {
                let ty = self.node(subject);
                self.call(*function, (&ty, self.expression.source(subject)), None, node.span)
            }
            Kind::Not(operand) => {
                self.boolean(operand, "!");
                Type::Bool
            }
            Kind::And(operands) => self.booleans(operands, "&&"),
            Kind::Or(operands) => self.booleans(operands, "||"),
            Kind::Negate(operand) => match self.node(operand).required() {
                ty if ty.is_number() => ty,
                ty => {
                    let what = quote(self.expression.source(operand));
                    self.mismatch(operand.span, format!("`-` needs a number, and {what} is {ty}"))
                }
            },
            Kind::Compare(comparison, sides) => {
                self.comparison(*comparison, &sides.0, &sides.1);
                Type::Bool
            }
            Kind::Arithmetic(first, rest) => self.arithmetic(first, rest),
            Kind::Choose(parts) => {
                let (condition, then, otherwise) = &**parts;
                self.boolean(condition, "?:");
                let then = self.node(then);
                then.join(self.node(otherwise))
            }
        }
    }

    fn booleans(&mut self, operands: &[Node], operator: &str) -> Type {
        for operand in operands {
            self.boolean(operand, operator);
        }
        Type::Bool
    }

    fn boolean(&mut self, node: &Node, operator: &str) {
        let ty = self.node(node).required();
        if !matches!(ty, Type::Bool | Type::Any) {
            let text = self.expression.source(node);
            let message = format!("`{operator}` needs a boolean, and {} is {ty}", quote(text));
            match example(&ty, text) {
                Some(example) => self.mismatch_with_help(node.span, message, example),
                None => self.mismatch(node.span, message),
            };
        }
    }

    fn arithmetic(&mut self, first: &Node, rest: &[(Arithmetic, Node)]) -> Type {
        let mut left = self.node(first).required();
        for (operator, node) in rest {
            let right = self.node(node).required();
            let symbol = operator.symbol();
            left = match (operator, left, right) {
                (Arithmetic::Remainder, left, right)
                    if matches!((&left, &right), (Type::Int | Type::Any, Type::Int | Type::Any)) =>
                {
                    Type::Int
                }
                (Arithmetic::Remainder, left, right) if left.is_number() && right.is_number() => {
                    self.mismatch(node.span, format!("`%` needs two integers, not {left} and {right}"))
                }
                (_, Type::Any, _) | (_, _, Type::Any) => Type::Any,
                (_, left, right) if left.is_number() && right.is_number() => left.join(right),
                (Arithmetic::Add, left, right) if left.is_text() && right.is_text() => Type::Text,
                (Arithmetic::Add, Type::List(left), Type::List(right)) => Type::list(left.join(*right)),
                (operator, left, right) => {
                    let message = format!("`{symbol}` does not take {left} and {right}");
                    if *operator == Arithmetic::Add && (left.is_text() || right.is_text()) {
                        self.mismatch_with_help(node.span, message, "make both text with `string(…)`")
                    } else {
                        self.mismatch(node.span, message)
                    }
                }
            };
        }
        left
    }

    fn path(&mut self, path: &Path) -> Type {
        let root = &path.segments[0];
        let Some(mut ty) = self.scope.root(&root.name) else {
            self.unknown_root(root, path.segments.len() == 1);
            return Type::Any;
        };
        for (index, segment) in path.segments.iter().enumerate().skip(1) {
            let base = || {
                path.segments[..index].iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join(".").into()
            };
            ty = self.field(ty, &segment.name, segment.span, base);
        }
        ty
    }

    fn unknown_root(&mut self, root: &Segment, alone: bool) {
        let scope = self.scope;
        let roots = scope.roots();
        let words = roots.iter().copied().chain(["true", "false", "null"]);
        let problem = Diagnostic::new(
            Code::UnknownVariable,
            root.span,
            format!("`{}` is not known here", excerpt(&root.name)),
        )
        .did_you_mean(&root.name, words);
        let known = if roots.is_empty() {
            "no names are known here".to_owned()
        } else {
            format!("known here are {}", list(roots.iter().take(SHORT)))
        };
        let help = if let Some(elsewhere) = scope.elsewhere(&root.name) {
            elsewhere.to_owned()
        } else if root.name.contains('-') {
            "write spaces around `-` to subtract".to_owned()
        } else if alone && problem.label.is_none() {
            format!("{known}; text stands in quotes: \"{}\"", excerpt(&root.name))
        } else {
            known
        };
        self.report(problem.help(help));
    }

    /// Returns the type of one field; `base` is how the value before it was written.
    fn field<'t>(&mut self, ty: Type, name: &str, span: Span, base: impl FnOnce() -> Cow<'t, str>) -> Type {
        let ty = match ty.required() {
            Type::Any => return Type::Any,
            Type::Record(record) => {
                return record.field(name).unwrap_or_else(|| {
                    self.report(unknown_field(&*record, name, span, &quote(&base())));
                    Type::Any
                });
            }
            other => other,
        };
        let base = quote(&base());
        let name = excerpt(name);
        match ty {
            Type::List(_) => self.mismatch_with_help(
                span,
                format!("{base} is a list and has no field `{name}`"),
                "take an item with an index, as in `[0]`",
            ),
            ty => {
                let message = format!("{base} is {ty} and has no field `{name}`");
                if Function::METHODS.iter().any(|(method, _)| *method == name) {
                    self.mismatch_with_help(span, message, format!("call the method: `{name}()`"))
                } else {
                    self.mismatch(span, message)
                }
            }
        }
    }

    fn postfix(&mut self, base: &Node, operations: &[Operation]) -> Type {
        let mut ty = self.node(base);
        let mut end = base.local.end;
        for operation in operations {
            let subject = self.expression.slice(base.local.start, end);
            ty = match &operation.kind {
                OperationKind::Field(name) => self.field(ty, name, operation.span, || subject.into()),
                OperationKind::Index(index) => self.index(ty, index, operation.span, subject),
                OperationKind::Call(function, argument) => {
                    self.call(*function, (&ty, subject), argument.as_ref(), operation.span)
                }
            };
            end = operation.end;
        }
        ty
    }

    fn index(&mut self, ty: Type, index: &Node, span: Span, base: &str) -> Type {
        let by = self.node(index).required();
        match (ty.required(), by) {
            (Type::List(item), Type::Int | Type::Any) => *item,
            (Type::List(_), by) => {
                self.mismatch(index.span, format!("a list is indexed by an integer, not by {by}"))
            }
            (ty @ Type::Record(_), by) => match &index.kind {
                Kind::Literal(Value::Text(name)) => self.field(ty, name, span, || base.into()),
                _ if by.is_text() => {
                    let what = if base.contains('.') {
                        format!("the fields of {}", quote(base))
                    } else {
                        base.to_owned()
                    };
                    self.mismatch_with_help(
                        index.span,
                        format!("{what} are named, not computed"),
                        format!("write the name itself, as in `{base}.name`"),
                    )
                }
                _ => self.mismatch(index.span, format!("a mapping is indexed by a string, not by {by}")),
            },
            (Type::Any, by) if by.is_text() || matches!(by, Type::Int) => Type::Any,
            (Type::Any, by) => {
                self.mismatch(index.span, format!("an index is an integer or a string, not {by}"))
            }
            (ty, _) => self.mismatch(span, format!("{} is {ty} and has no items", quote(base))),
        }
    }

    fn call(
        &mut self,
        function: Function,
        (ty, subject): (&Type, &str),
        argument: Option<&Node>,
        span: Span,
    ) -> Type {
        let ty = ty.clone().required();
        let name = function.name();
        let given = argument.map(|node| (node, self.node(node).required()));
        let (fits, wanted, result) = match function {
            Function::Size => (
                ty.is_text() || matches!(ty, Type::List(_) | Type::Record(_)),
                "a string, a list or a mapping",
                Type::Int,
            ),
            Function::Int => (ty.is_text() || ty.is_number(), "a string or a number", Type::Int),
            Function::Double => (ty.is_text() || ty.is_number(), "a string or a number", Type::Float),
            Function::String => (true, "anything", Type::Text),
            Function::Contains => {
                (ty.is_text() || matches!(ty, Type::List(_)), "a string or a list", Type::Bool)
            }
            Function::StartsWith | Function::EndsWith | Function::Matches => {
                (ty.is_text(), "a string", Type::Bool)
            }
            Function::Lower | Function::Upper | Function::Trim => (ty.is_text(), "a string", Type::Text),
        };
        if !fits {
            self.mismatch(span, format!("`{name}` needs {wanted}, and {} is {ty}", quote(subject)));
            return result;
        }
        if let Some((node, given)) = given {
            self.argument(function, &ty, node, &given);
        }
        result
    }

    fn argument(&mut self, function: Function, ty: &Type, node: &Node, given: &Type) {
        let name = function.name();
        match ty {
            Type::List(item) if !item.may_equal(given) => {
                self.mismatch(node.span, format!("{ty} never contains {given}"));
            }
            Type::Any if function == Function::Contains => {}
            _ if !given.is_text() => {
                self.mismatch(node.span, format!("`{name}` looks for a string, not for {given}"));
            }
            _ => {}
        }
        if let (Function::Matches, Kind::Literal(Value::Text(pattern))) = (function, &node.kind) {
            if !self.scope.spend(Effort::Regex(regex_effort(pattern))) {
                self.report(
                    Diagnostic::new(Code::TooComplex, node.span, "the file has too many regular expressions")
                        .help("use fewer `matches`, or compare in a script step"),
                );
            } else if let Err(why) = check_regex(pattern) {
                self.report(
                    Diagnostic::new(Code::BadRegex, node.span, format!("the regular expression {why}"))
                        .help("abide matches in linear time: no look-around, no back-references"),
                );
            }
        }
    }
}

fn unknown_field(record: &dyn RecordType, name: &str, span: Span, base: &str) -> Diagnostic {
    let names = record.names();
    let message = format!("{base} has no {} `{}`", record.noun(), excerpt(name));
    let mut problem =
        Diagnostic::new(Code::UnknownField, span, message).did_you_mean(name, names.iter().copied());
    let meant = problem.fix.as_ref().map(|fix| fix.text.clone());
    // A name that needs quotes cannot just take the place of one that was written without.
    if is_plain(name) && !meant.as_deref().is_some_and(is_plain) {
        problem.fix = None;
    }
    // A name with a hyphen may be a subtraction, unless a field with a hyphen was surely meant.
    if name.contains('-') && !meant.is_some_and(|meant| meant.contains('-')) {
        return problem.help("write spaces around `-` to subtract");
    }
    match names.len() {
        0 => problem.help("it has none"),
        1..=SHORT => problem.help(format!("it has {}", list(&names))),
        _ => problem,
    }
}

/// Returns whether a name can stand after a `.`.
fn is_plain(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
