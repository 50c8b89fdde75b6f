//! What holds for every expression.

use super::super::{EvaluationError, Expression, Failure, Type};
use super::{scope, values};
use crate::value::Value;
use proptest::prelude::*;

/// The types that well-typed expressions are generated in.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Bool,
    Int,
    Float,
    Text,
    Texts,
}

/// Generates expressions of one type over the names of [`scope`].
fn well_typed(kind: Kind, depth: u32) -> BoxedStrategy<String> {
    let leaf = match kind {
        Kind::Bool => prop::sample::select(vec!["true", "false", "inputs.force", "has(inputs.reason)"])
            .prop_map(str::to_owned)
            .boxed(),
        Kind::Int => prop_oneof![
            Just("inputs.replicas".to_owned()),
            any::<i64>().prop_map(|number| number.to_string()),
            (-3i64..3).prop_map(|number| number.to_string()),
        ]
        .boxed(),
        Kind::Float => prop_oneof![
            Just("inputs.ratio".to_owned()),
            (-1e9f64..1e9).prop_map(|number| format!("{number:?}")),
        ]
        .boxed(),
        Kind::Text => prop_oneof![
            Just("inputs.version".to_owned()),
            Just("steps.get-diff.output".to_owned()),
            Just("inputs.environment".to_owned()),
            "[a-z}{ ]{0,5}".prop_map(|text| format!("'{text}'")),
        ]
        .boxed(),
        Kind::Texts => prop_oneof![Just("inputs.regions".to_owned()), Just("['a', 'eu']".to_owned())].boxed(),
    };
    if depth == 0 {
        return leaf;
    }
    let of = move |kind| well_typed(kind, depth - 1);
    let binary = move |left, operators: &'static [&'static str], right| {
        (of(left), prop::sample::select(operators), of(right))
            .prop_map(|(a, op, b)| format!("({a} {op} {b})"))
            .boxed()
    };
    let choose =
        (of(Kind::Bool), of(kind), of(kind)).prop_map(|(c, a, b)| format!("({c} ? {a} : {b})")).boxed();
    let more = match kind {
        Kind::Bool => prop_oneof![
            of(Kind::Bool).prop_map(|a| format!("!{a}")),
            binary(Kind::Bool, &["&&", "||", "==", "!="], Kind::Bool),
            binary(Kind::Int, &["==", "!=", "<", "<=", ">", ">="], Kind::Float),
            binary(Kind::Text, &["==", "!=", "<", "<=", ">", ">="], Kind::Text),
            binary(Kind::Text, &["in"], Kind::Texts),
            binary(Kind::Texts, &["==", "!="], Kind::Texts),
            (of(Kind::Texts), of(Kind::Text)).prop_map(|(a, b)| format!("({a}).contains({b})")),
            (
                of(Kind::Text),
                prop::sample::select(vec!["contains", "startsWith", "endsWith"]),
                of(Kind::Text)
            )
                .prop_map(|(a, method, b)| format!("({a}).{method}({b})")),
            of(Kind::Text).prop_map(|a| format!("({a}).matches('^[a-z]+')")),
        ]
        .boxed(),
        Kind::Int => prop_oneof![
            binary(Kind::Int, &["+", "-", "*", "/", "%"], Kind::Int),
            of(Kind::Int).prop_map(|a| format!("- {a}")),
            of(Kind::Text).prop_map(|a| format!("size({a})")),
            of(Kind::Texts).prop_map(|a| format!("({a}).size()")),
            of(Kind::Text).prop_map(|a| format!("int({a})")),
            of(Kind::Float).prop_map(|a| format!("int({a})")),
        ]
        .boxed(),
        Kind::Float => prop_oneof![
            binary(Kind::Float, &["+", "-", "*", "/"], Kind::Int),
            binary(Kind::Int, &["+", "-", "*", "/"], Kind::Float),
            of(Kind::Int).prop_map(|a| format!("double({a})")),
        ]
        .boxed(),
        Kind::Text => prop_oneof![
            binary(Kind::Text, &["+"], Kind::Text),
            of(Kind::Float).prop_map(|a| format!("string({a})")),
            of(Kind::Text).prop_map(|a| format!("({a}).trim().lower().upper()")),
            (of(Kind::Texts), of(Kind::Int)).prop_map(|(a, b)| format!("({a})[{b}]")),
        ]
        .boxed(),
        Kind::Texts => prop_oneof![
            binary(Kind::Texts, &["+"], Kind::Texts),
            (of(Kind::Text), of(Kind::Text)).prop_map(|(a, b)| format!("[{a}, {b}]")),
        ]
        .boxed(),
    };
    prop_oneof![1 => leaf, 4 => more, 1 => choose].boxed()
}

fn any_well_typed() -> BoxedStrategy<String> {
    prop_oneof![
        well_typed(Kind::Bool, 3),
        well_typed(Kind::Int, 3),
        well_typed(Kind::Float, 3),
        well_typed(Kind::Text, 3),
        well_typed(Kind::Texts, 3),
    ]
    .boxed()
}

fn fits(value: &Value, ty: &Type) -> bool {
    match (value, ty) {
        (Value::Bool(_), Type::Bool)
        | (Value::Int(_), Type::Int | Type::Float)
        | (Value::Float(_), Type::Float)
        | (Value::Text(_), Type::Text) => true,
        (Value::Text(text), Type::Choice(choices)) => choices.iter().any(|choice| choice == text),
        (Value::List(items), Type::List(item)) => items.iter().all(|value| fits(value, item)),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_parser_panic(text in any::<String>()) {
        let _ = Expression::parse(&text, 0);
    }

    #[test]
    fn no_sequence_of_tokens_panics_anywhere(
        tokens in prop::collection::vec(prop::sample::select(vec![
            "inputs", ".", "version", "steps", "get-diff", "[", "]", "(", ")", "'a'", "\"b\"", "1", "2.5", "-",
            "+", "*", "/", "%", "==", "!=", "<", ">=", "in", "&&", "||", "!", "?", ":", ",", "size", "has",
            ".trim()", ".matches('a')", "null", "true", " ", "=", "|", "}}", "\\", "r'", "é",
        ]), 0..24)
    ) {
        let text = tokens.concat();
        if let Ok(expression) = Expression::parse(&text, 0) {
            let _ = expression.check(&scope());
            let _ = expression.evaluate(&values());
            let _ = expression.explain(&values());
        }
    }

    #[test]
    fn problems_lie_within_the_text(text in "[a-z.'\"()\\[\\]=&|{}0-9é\\\\u -]{0,30}") {
        if let Err(problem) = Expression::parse(&text, 0) {
            prop_assert!(text.get(problem.span.range()).is_some(), "{problem:?}");
        }
    }

    #[test]
    fn what_is_printed_reads_back_as_the_same(text in any_well_typed()) {
        let expression = Expression::parse(&text, 0).unwrap();
        prop_assert_eq!(expression.to_string(), text);
        let again = Expression::parse(&expression.to_string(), 0).unwrap();
        prop_assert_eq!(again.evaluate(&values()), expression.evaluate(&values()));
    }

    #[test]
    fn what_checks_never_fails_by_type(text in any_well_typed()) {
        let expression = Expression::parse(&text, 0).unwrap();
        let checked = expression.check(&scope());
        let errors: Vec<_> = checked.problems.iter().filter(|problem| problem.is_error()).collect();
        prop_assert!(errors.is_empty(), "{errors:?}");
        match expression.evaluate(&values()) {
            Ok(value) => prop_assert!(fits(&value, &checked.ty), "{value} is not {:?}", checked.ty),
            Err(EvaluationError { failure, .. }) => {
                prop_assert!(!matches!(failure, Failure::WrongType(_) | Failure::Missing(_)), "{failure}");
            }
        }
    }
}
