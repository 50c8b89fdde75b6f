//! Why a condition is true or false, in terms of the values that decided it.

use super::Expression;
use super::ast::{Kind, Node, OperationKind};
use super::evaluate::{Lookup, evaluate_node};
use crate::value::Value;

/// Values are shown up to this many characters.
const LONGEST: usize = 60;

pub(super) fn explain(expression: &Expression, lookup: &dyn Lookup) -> String {
    let mut explainer = Explainer { expression, lookup, facts: Vec::new() };
    explainer.reason(&expression.root);
    if explainer.facts.is_empty() {
        explainer.fact(&expression.root);
    }
    explainer.facts.join(", ")
}

struct Explainer<'a> {
    expression: &'a Expression,
    lookup: &'a dyn Lookup,
    facts: Vec<String>,
}

impl Explainer<'_> {
    /// Adds the facts that decided a condition.
    fn reason(&mut self, node: &Node) {
        match &node.kind {
            Kind::Not(operand) => self.reason(operand),
            Kind::And(operands) => self.decisive(operands, false),
            Kind::Or(operands) => self.decisive(operands, true),
            Kind::Compare(_, sides) => {
                self.operand(&sides.0);
                self.operand(&sides.1);
            }
            Kind::Choose(parts) => {
                self.reason(&parts.0);
                match self.truth(&parts.0) {
                    Some(true) => self.reason(&parts.1),
                    Some(false) => self.reason(&parts.2),
                    None => {}
                }
            }
            // `inputs.version.startsWith("v")`: what it was asked about says more than its answer.
            Kind::Postfix(base, operations) => match operations.as_slice() {
                [operation] if matches!(operation.kind, OperationKind::Call(..)) => {
                    self.operand(base);
                    if let OperationKind::Call(_, Some(argument)) = &operation.kind {
                        self.operand(argument);
                    }
                }
                _ => self.fact(node),
            },
            _ => self.fact(node),
        }
    }

    /// Explains the one operand that decided, or all of them when none did.
    fn decisive(&mut self, operands: &[Node], deciding: bool) {
        match operands.iter().find(|operand| self.truth(operand).is_none_or(|truth| truth == deciding)) {
            Some(operand) => self.reason(operand),
            None => operands.iter().for_each(|operand| self.reason(operand)),
        }
    }

    fn truth(&self, node: &Node) -> Option<bool> {
        match evaluate_node(self.expression, node, self.lookup) {
            Ok(Value::Bool(truth)) => Some(truth),
            _ => None,
        }
    }

    /// Adds the value of an operand, unless it says everything itself.
    fn operand(&mut self, node: &Node) {
        let mut names = 0;
        node.visit_paths(&mut |_| names += 1);
        if names > 0 {
            self.fact(node);
        }
    }

    fn fact(&mut self, node: &Node) {
        let text = self.expression.source(node);
        let mut secret = false;
        node.visit_paths(&mut |path| secret |= self.lookup.is_secret(&path.names()));
        let fact = match evaluate_node(self.expression, node, self.lookup) {
            Err(error) => error.to_string(),
            Ok(_) if secret => format!("{text} is secret"),
            Ok(value) => format!("{text} is {}", short(&value)),
        };
        if !self.facts.contains(&fact) {
            self.facts.push(fact);
        }
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}
