//! What a condition insists on, whatever else it looks at.

use super::ast::{Comparison, Kind, Node};
use crate::value::Value;

/// Returns whether a condition holds only where a path has this text: it says so, alone or joined by `&&`.
///
/// It looks at the words and not at what they come to: what it does not recognise, it takes for a no.
pub(super) fn demands(node: &Node, path: &[&str], text: &str) -> bool {
    match &node.kind {
        Kind::And(parts) => parts.iter().any(|part| demands(part, path, text)),
        Kind::Compare(Comparison::Equal, sides) => {
            let (left, right) = &**sides;
            let is = |one: &Node, other: &Node| is_path(one, path) && is_text(other, text);
            is(left, right) || is(right, left)
        }
        _ => false,
    }
}

fn is_path(node: &Node, path: &[&str]) -> bool {
    matches!(&node.kind, Kind::Path(found) if found.names() == path)
}

fn is_text(node: &Node, text: &str) -> bool {
    matches!(&node.kind, Kind::Literal(Value::Text(found)) if found == text)
}

#[cfg(test)]
mod tests {
    use super::super::Expression;

    #[test]
    fn only_a_plain_demand_is_one() {
        let cases = [
            (r#"steps.ask.answer == "rejected""#, true),
            (r#""rejected" == steps.ask.answer"#, true),
            ("(steps.ask.answer == 'rejected')", true),
            (r#"inputs.tell && (steps.ask.answer == "rejected" && inputs.loud)"#, true),
            (r#"steps.ask.answer == "rejected" || inputs.force"#, false),
            (r#"steps.ask.answer != "approved""#, false),
            (r#"!(steps.ask.answer == "approved")"#, false),
            (r#"steps.ask.answer in ["rejected"]"#, false),
            (r#"steps.ask.answer == "rejected" ? true : true"#, false),
            (r#"(steps.ask.answer == "rejected") == false"#, false),
            (r#"steps.other.answer == "rejected""#, false),
            (r#"steps.ask.status == "failed""#, false),
            (r#"steps.ask.answer == "approved""#, false),
        ];
        for (text, expected) in cases {
            let expression =
                Expression::parse(text, 0).unwrap_or_else(|problem| panic!("{text}: {problem:?}"));
            assert_eq!(expression.demands(&["steps", "ask", "answer"], "rejected"), expected, "{text}");
        }
    }
}
