//! What operators and functions do with values, each without knowing where it was written.

use super::ast::{Arithmetic, Comparison, Function};
use super::evaluate::Failure;
use crate::value::Value;
use crate::value::effort::{MOST_CLASSES, classes};
use regex::{Regex, RegexBuilder};
use std::cmp::Ordering;
use std::collections::HashMap;

/// The longest text that `+` may make, in bytes.
const LONGEST_TEXT: usize = 1 << 20;
/// The longest list that `+` may make.
const LONGEST_LIST: usize = 100_000;
/// What a compiled regular expression may take, in bytes; also for the cache it matches with.
const LARGEST_REGEX: usize = 4 << 20;
/// The longest regular expression, in bytes.
const LONGEST_REGEX: usize = 4_096;
/// How deep a regular expression may nest.
const DEEPEST_REGEX: u32 = 50;

type Outcome<T> = Result<T, Failure>;

/// Compiles a regular expression within bounds, or says why not as the end of a sentence.
fn compile(pattern: &str) -> Result<Regex, String> {
    if pattern.len() > LONGEST_REGEX {
        return Err(format!("is longer than {LONGEST_REGEX} bytes"));
    }
    if classes(pattern) > MOST_CLASSES {
        return Err(format!("has more than {MOST_CLASSES} classes"));
    }
    let built = RegexBuilder::new(pattern)
        .size_limit(LARGEST_REGEX)
        .dfa_size_limit(LARGEST_REGEX)
        .nest_limit(DEEPEST_REGEX)
        .build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => "is too large when compiled".to_owned(),
        error => unusable(&error.to_string()),
    })
}

/// Looks whether [`compile`] would succeed, without the cost where a look at the syntax tells.
pub(super) fn check_regex(pattern: &str) -> Result<(), String> {
    // Only repetition makes much out of little: a short pattern without counts always fits.
    const SHORT: usize = 64;
    if pattern.len() > SHORT || pattern.contains('{') {
        return compile(pattern).map(drop);
    }
    let mut parser = regex_syntax::ParserBuilder::new().nest_limit(DEEPEST_REGEX).build();
    parser.parse(pattern).map(drop).map_err(|error| unusable(&error.to_string()))
}

/// The parser draws the pattern first; its last line says what is wrong.
fn unusable(error: &str) -> String {
    let last = error.lines().last().unwrap_or_default().trim();
    format!("cannot be used: {}", last.trim_start_matches("error: "))
}

pub(super) fn apply(function: Function, subject: &Value, argument: Option<&Value>) -> Outcome<Value> {
    let name = function.name();
    Ok(match function {
        Function::Size => Value::Int(size(name, subject)?),
        Function::Int => Value::Int(integer(subject)?),
        Function::Double => Value::Float(float(subject)?),
        Function::String => Value::Text(match subject {
            Value::Text(text) => text.clone(),
            other => other.to_string(),
        }),
        Function::Lower => Value::Text(text(name, subject)?.to_lowercase()),
        Function::Upper => Value::Text(text(name, subject)?.to_uppercase()),
        Function::Trim => Value::Text(text(name, subject)?.trim().to_owned()),
        Function::Contains | Function::StartsWith | Function::EndsWith | Function::Matches => {
            // The parser gives these exactly one argument.
            Value::Bool(test(function, subject, argument.unwrap_or(&Value::Null))?)
        }
    })
}

fn test(function: Function, subject: &Value, argument: &Value) -> Outcome<bool> {
    if let (Function::Contains, Value::List(items)) = (function, subject) {
        return member(argument, items);
    }
    let name = function.name();
    let (subject, argument) = (text(name, subject)?, text(name, argument)?);
    Ok(match function {
        Function::StartsWith => subject.starts_with(argument),
        Function::EndsWith => subject.ends_with(argument),
        Function::Matches => compile(argument).map_err(Failure::BadRegex)?.is_match(subject),
        _ => subject.contains(argument),
    })
}

pub(crate) fn text<'a>(name: &str, value: &'a Value) -> Outcome<&'a str> {
    match value {
        Value::Text(text) => Ok(text),
        other => Err(Failure::wrong_type(format!("`{name}` needs a string, not {}", other.kind()))),
    }
}

/// Returns how many characters, items or fields a value has.
pub(crate) fn size(name: &str, value: &Value) -> Outcome<i64> {
    let size = match value {
        Value::Text(text) => text.chars().count(),
        Value::List(items) => items.len(),
        Value::Map(entries) => entries.len(),
        other => {
            return Err(Failure::wrong_type(format!(
                "`{name}` needs a string, a list or a mapping, not {}",
                other.kind()
            )));
        }
    };
    i64::try_from(size).map_err(|_| Failure::Overflow)
}

fn integer(value: &Value) -> Outcome<i64> {
    match value {
        Value::Int(value) => Ok(*value),
        Value::Float(value) if value.is_nan() => Err(Failure::NotANumber),
        Value::Float(value) => whole(*value).ok_or(Failure::Overflow),
        Value::Text(text) => text.trim().parse().map_err(|_| Failure::Unreadable("an integer")),
        other => Err(Failure::wrong_type(format!("`int` needs a string or a number, not {}", other.kind()))),
    }
}

fn float(value: &Value) -> Outcome<f64> {
    match value {
        Value::Text(text) => match text.trim().parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(Failure::Unreadable("a number")),
        },
        other => match number(other) {
            Some(value) => Ok(value),
            None => {
                Err(Failure::wrong_type(format!("`double` needs a string or a number, not {}", other.kind())))
            }
        },
    }
}

#[expect(clippy::cast_precision_loss, reason = "what mixing integers with fractions means")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

/// Returns the number without its fraction, if it fits.
#[expect(clippy::cast_possible_truncation, reason = "the range was looked at")]
fn whole(value: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (-LIMIT..LIMIT).contains(&value).then_some(value as i64)
}

pub(super) fn negate(value: &Value) -> Outcome<Value> {
    match value {
        Value::Int(value) => value.checked_neg().map(Value::Int).ok_or(Failure::Overflow),
        Value::Float(value) => Ok(Value::Float(-value)),
        other => Err(Failure::wrong_type(format!("`-` needs a number, not {}", other.kind()))),
    }
}

/// Combines two values; the left one is owned, so that a chain of `+` grows one text.
pub(super) fn arithmetic(operator: Arithmetic, left: Value, right: &Value) -> Outcome<Value> {
    match (operator, left, right) {
        (Arithmetic::Add, Value::Text(mut left), Value::Text(right)) => {
            if left.len() + right.len() > LONGEST_TEXT {
                return Err(Failure::TooLarge(LONGEST_TEXT));
            }
            left.push_str(right);
            Ok(Value::Text(left))
        }
        (Arithmetic::Add, Value::List(mut left), Value::List(right)) => {
            if left.len() + right.len() > LONGEST_LIST {
                return Err(Failure::TooLarge(LONGEST_LIST * size_of::<Value>()));
            }
            left.extend_from_slice(right);
            Ok(Value::List(left))
        }
        (operator, Value::Int(left), Value::Int(right)) => integers(operator, left, *right).map(Value::Int),
        (Arithmetic::Remainder, left, right) => Err(Failure::wrong_type(format!(
            "`%` needs two integers, not {} and {}",
            left.kind(),
            right.kind()
        ))),
        (operator, left, right) => match (number(&left), number(right)) {
            (Some(left), Some(right)) => floats(operator, left, right).map(Value::Float),
            _ => Err(Failure::wrong_type(format!(
                "`{}` does not take {} and {}",
                operator.symbol(),
                left.kind(),
                right.kind()
            ))),
        },
    }
}

fn integers(operator: Arithmetic, left: i64, right: i64) -> Outcome<i64> {
    match operator {
        Arithmetic::Divide | Arithmetic::Remainder if right == 0 => return Err(Failure::DivisionByZero),
        Arithmetic::Add => left.checked_add(right),
        Arithmetic::Subtract => left.checked_sub(right),
        Arithmetic::Multiply => left.checked_mul(right),
        Arithmetic::Divide => left.checked_div(right),
        Arithmetic::Remainder => left.checked_rem(right),
    }
    .ok_or(Failure::Overflow)
}

fn floats(operator: Arithmetic, left: f64, right: f64) -> Outcome<f64> {
    let result = match operator {
        Arithmetic::Divide | Arithmetic::Remainder if right == 0.0 => return Err(Failure::DivisionByZero),
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Divide => left / right,
        Arithmetic::Remainder => left % right,
    };
    if result.is_finite() { Ok(result) } else { Err(Failure::Overflow) }
}

pub(super) fn compare(comparison: Comparison, left: &Value, right: &Value) -> Outcome<bool> {
    Ok(match comparison {
        Comparison::Equal => same(left, right)?,
        Comparison::NotEqual => !same(left, right)?,
        Comparison::In => match right {
            Value::List(items) => member(left, items)?,
            Value::Map(_) => right.get(text("in", left)?).is_some(),
            other => {
                let message = format!("`in` looks into a list or a mapping, not into {}", other.kind());
                return Err(Failure::WrongType(message));
            }
        },
        Comparison::Less => order(comparison, left, right)?.is_lt(),
        Comparison::LessOrEqual => order(comparison, left, right)?.is_le(),
        Comparison::Greater => order(comparison, left, right)?.is_gt(),
        Comparison::GreaterOrEqual => order(comparison, left, right)?.is_ge(),
    })
}

fn order(comparison: Comparison, left: &Value, right: &Value) -> Outcome<Ordering> {
    if let (Value::Text(left), Value::Text(right)) = (left, right) {
        return Ok(left.cmp(right));
    }
    if number(left).is_none() || number(right).is_none() {
        return Err(Failure::wrong_type(format!(
            "`{}` compares numbers or strings, not {} with {}",
            comparison.symbol(),
            left.kind(),
            right.kind()
        )));
    }
    numbers(left, right).ok_or(Failure::NotANumber)
}

/// Orders two numbers exactly, also where a fraction cannot hold an integer.
fn numbers(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Int(left), Value::Float(right)) => mixed(*left, *right),
        (Value::Float(left), Value::Int(right)) => mixed(*right, *left).map(Ordering::reverse),
        _ => None,
    }
}

fn mixed(left: i64, right: f64) -> Option<Ordering> {
    match whole(right) {
        // Cutting the fraction off moved the number towards zero; the fraction decides among equals.
        Some(floor) => Some(left.cmp(&floor).then(0.0.partial_cmp(&right.fract())?)),
        None => 0.0.partial_cmp(&right),
    }
}

/// Compares for equality, where kinds that can never be equal are an error rather than a quiet `false`.
fn same(left: &Value, right: &Value) -> Outcome<bool> {
    if comparable(left, right) {
        Ok(equal(left, right))
    } else {
        Err(Failure::wrong_type(format!("{} never equals {}", left.kind(), right.kind())))
    }
}

fn member(wanted: &Value, items: &[Value]) -> Outcome<bool> {
    if items.iter().any(|item| equal(wanted, item)) {
        return Ok(true);
    }
    match items.first() {
        Some(item) if !items.iter().any(|item| comparable(wanted, item)) => {
            Err(Failure::wrong_type(format!("{} never equals {}", wanted.kind(), item.kind())))
        }
        _ => Ok(false),
    }
}

fn comparable(left: &Value, right: &Value) -> bool {
    matches!(
        (left, right),
        (Value::Null, _)
            | (_, Value::Null)
            | (Value::Bool(_), Value::Bool(_))
            | (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_))
            | (Value::Text(_), Value::Text(_))
            | (Value::List(_), Value::List(_))
            | (Value::Map(_), Value::Map(_))
    )
}

fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Int(_) | Value::Float(_), _) => numbers(left, right) == Some(Ordering::Equal),
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        // The order in which fields were written does not matter.
        (Value::Map(left), Value::Map(right)) => {
            let right: HashMap<&str, &Value> =
                right.iter().map(|(name, value)| (name.as_str(), value)).collect();
            let found = |name: &str, value| right.get(name).is_some_and(|other| equal(value, other));
            left.len() == right.len() && left.iter().all(|(name, value)| found(name, value))
        }
        _ => left == right,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_at_a_regex_tells_the_same_as_compiling_it() {
        for unit in [r"\w", r"\pL", r"(?i:k)", ".", "a", r"\b", "(", "a|", r"(?:\w+)+"] {
            for count in [1, 64 / unit.len(), 1_000] {
                let pattern = unit.repeat(count);
                assert_eq!(check_regex(&pattern), compile(&pattern).map(drop), "{unit} × {count}");
            }
        }
    }
}
