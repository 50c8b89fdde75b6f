//! An input: a value that an ability must be given, and the rules that it must follow.

use super::ability::words;
use super::{InputName, Pattern};
use crate::diagnostic::excerpt;
use crate::source::Spanned;
use crate::value::Value;
use std::fmt;

/// A value that an ability must be given.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Its name; templates call it `inputs.<name>`.
    pub name: Spanned<InputName>,
    /// What the value must be; see [`Input::input_type`].
    pub input_type: Option<Spanned<InputType>>,
    /// Whether the ability refuses to start without it.
    pub required: Option<Spanned<bool>>,
    /// The value when none is given.
    pub default: Option<Spanned<Value>>,
    /// What the value is for.
    pub description: Option<Spanned<String>>,
    /// A regular expression that a string must match.
    pub pattern: Option<Spanned<Pattern>>,
    /// The only values that are allowed (`enum`); empty when all are.
    pub choices: Vec<Spanned<Value>>,
    /// The smallest number that is allowed.
    pub min: Option<Spanned<f64>>,
    /// The largest number that is allowed.
    pub max: Option<Spanned<f64>>,
    /// The fewest characters or items.
    pub min_length: Option<Spanned<u32>>,
    /// The most characters or items.
    pub max_length: Option<Spanned<u32>>,
    /// Whether the value is masked everywhere.
    pub secret: Option<Spanned<bool>>,
}

words! {
    /// What an input's value must be.
    InputType {
        /// Text.
        String = "string",
        /// A number, whole or not.
        Number = "number",
        /// A whole number.
        Integer = "integer",
        /// `true` or `false`.
        Boolean = "boolean",
        /// A list.
        Array = "array",
        /// A mapping.
        Object = "object",
    }
}

/// A rule of an input that a value does not follow.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Broken {
    /// Another type.
    #[error("it must be {expected}, not {found}")]
    Type {
        /// What the type asks for, with its article.
        expected: &'static str,
        /// What the value is.
        found: &'static str,
    },
    /// Not one of the allowed values.
    #[error("it must be one of {0}")]
    Choice(String),
    /// Does not match the pattern.
    #[error("it must match `{0}`")]
    Pattern(String),
    /// The pattern is too large to be compiled.
    #[error("its pattern `{0}` is too large to be used")]
    PatternTooLarge(String),
    /// Smaller than the smallest number.
    #[error("it must be at least {0}")]
    Min(f64),
    /// Larger than the largest number.
    #[error("it must be at most {0}")]
    Max(f64),
    /// Too short.
    #[error("it must have at least {0} {unit}", unit = units(*.0, .1))]
    MinLength(u32, &'static str),
    /// Too long.
    #[error("it must have at most {0} {unit}", unit = units(*.0, .1))]
    MaxLength(u32, &'static str),
}

/// Returns the unit as it follows a number.
fn units(count: u32, unit: &str) -> &str {
    if count == 1 { unit.trim_end_matches('s') } else { unit }
}

impl Input {
    /// Starts an input without rules.
    pub fn named(name: Spanned<InputName>) -> Self {
        Self {
            name,
            input_type: None,
            required: None,
            default: None,
            description: None,
            pattern: None,
            choices: Vec::new(),
            min: None,
            max: None,
            min_length: None,
            max_length: None,
            secret: None,
        }
    }

    /// Returns what the value must be; an input without a type takes text.
    pub fn input_type(&self) -> InputType {
        self.input_type.as_ref().map_or(InputType::String, |input_type| input_type.value)
    }

    /// Returns whether a run cannot start when nobody gives a value.
    pub fn must_be_given(&self) -> bool {
        self.is_required() && self.default.is_none()
    }

    /// Returns whether it was declared as required.
    pub fn is_required(&self) -> bool {
        self.required.as_ref().is_some_and(|required| required.value)
    }

    /// Returns whether the value is masked everywhere.
    pub fn is_secret(&self) -> bool {
        self.secret.as_ref().is_some_and(|secret| secret.value)
    }

    /// Returns the variable of the environment that a command line takes its value from.
    pub fn variable(&self) -> String {
        Self::variable_of(self.name.as_str())
    }

    /// Returns the variable of the environment for an input of this name.
    pub fn variable_of(name: &str) -> String {
        format!("ABIDE_INPUT_{}", name.to_uppercase().replace('-', "_"))
    }

    /// Returns every rule that the value breaks.
    pub fn broken_by(&self, value: &Value) -> Vec<Broken> {
        Rules { choices: &self.choices, ..Rules::without_choices(self) }.broken_by(value)
    }

    /// Returns the broken type rule, if the value is of another type.
    pub fn wrong_type(&self, value: &Value) -> Option<Broken> {
        let expected = self.input_type();
        let fits = matches!(
            (expected, value),
            (InputType::String, Value::Text(_))
                | (InputType::Number, Value::Int(_) | Value::Float(_))
                | (InputType::Integer, Value::Int(_))
                | (InputType::Boolean, Value::Bool(_))
                | (InputType::Array, Value::List(_))
                | (InputType::Object, Value::Map(_))
        );
        (!fits).then(|| Broken::Type { expected: expected.phrase(), found: value.kind() })
    }
}

/// The rules of an input, ready to be held against many values.
#[derive(Debug)]
pub struct Rules<'a> {
    input: &'a Input,
    choices: &'a [Spanned<Value>],
}

impl<'a> Rules<'a> {
    /// Prepares every rule but `enum`.
    pub fn without_choices(input: &'a Input) -> Self {
        Self { input, choices: &[] }
    }

    /// Returns every rule that the value breaks.
    pub fn broken_by(&self, value: &Value) -> Vec<Broken> {
        let input = self.input;
        if let Some(broken) = input.wrong_type(value) {
            return vec![broken];
        }
        let mut broken = Vec::new();
        if !self.choices.is_empty() && !self.choices.iter().any(|choice| same(choice, value)) {
            broken.push(Broken::Choice(few(self.choices)));
        }
        if let (Some(pattern), Value::Text(text)) = (&input.pattern, value) {
            match pattern.matches(text) {
                Some(true) => {}
                Some(false) => broken.push(Broken::Pattern(excerpt(pattern.as_str()).into_owned())),
                // A pattern that cannot be compiled matches nothing: a rule never passes by accident.
                None => broken.push(Broken::PatternTooLarge(excerpt(pattern.as_str()).into_owned())),
            }
        }
        if let Some(number) = number(value) {
            if let Some(min) = input.min.as_ref().filter(|min| number < min.value) {
                broken.push(Broken::Min(min.value));
            }
            if let Some(max) = input.max.as_ref().filter(|max| number > max.value) {
                broken.push(Broken::Max(max.value));
            }
        }
        if let Some((length, unit)) = length(value) {
            if let Some(least) = input.min_length.as_ref().filter(|least| length < least.value as usize) {
                broken.push(Broken::MinLength(least.value, unit));
            }
            if let Some(most) = input.max_length.as_ref().filter(|most| length > most.value as usize) {
                broken.push(Broken::MaxLength(most.value, unit));
            }
        }
        broken
    }
}

/// Lists the first choices.
fn few(choices: &[Spanned<Value>]) -> String {
    const SHORT: usize = 12;
    let mut shown: Vec<String> =
        choices.iter().take(SHORT).map(|choice| excerpt(&choice.to_string()).into_owned()).collect();
    if choices.len() > SHORT {
        shown.push(format!("… {} more", choices.len() - SHORT));
    }
    shown.join(", ")
}

impl InputType {
    /// Returns the type with its article, as messages say it.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::String => "a string",
            Self::Number => "a number",
            Self::Integer => "an integer",
            Self::Boolean => "a boolean",
            Self::Array => "a list",
            Self::Object => "a mapping",
        }
    }
}

impl fmt::Display for InputType {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.word())
    }
}

/// Numbers are the same whether they are written with a fraction or not.
fn same(one: &Value, other: &Value) -> bool {
    match (number(one), number(other)) {
        #[expect(clippy::float_cmp, reason = "a choice is the same number or it is not")]
        (Some(one), Some(other)) => one == other,
        _ => one == other,
    }
}

#[expect(clippy::cast_precision_loss, reason = "bounds are floating point numbers, as in JSON")]
fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(value) => Some(*value as f64),
        Value::Float(value) => Some(*value),
        _ => None,
    }
}

fn length(value: &Value) -> Option<(usize, &'static str)> {
    match value {
        Value::Text(text) => Some((text.chars().count(), "characters")),
        Value::List(items) => Some((items.len(), "items")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    fn spanned<T>(value: T) -> Spanned<T> {
        Spanned::new(value, Span::default())
    }

    fn input(input_type: InputType) -> Input {
        let mut input = Input::named(spanned(InputName::parse("x").unwrap()));
        input.input_type = Some(spanned(input_type));
        input
    }

    #[test]
    fn every_broken_rule_is_named() {
        let mut version = input(InputType::String);
        version.pattern = Some(spanned(Pattern::parse(r"^v\d+$").unwrap()));
        version.max_length = Some(spanned(3));
        let why =
            |value: Value| version.broken_by(&value).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(why(Value::Text("v12".into())), Vec::<String>::new());
        assert_eq!(
            why(Value::Text("1.2.3".into())),
            [r"it must match `^v\d+$`", "it must have at most 3 characters"]
        );
        assert_eq!(why(Value::Int(5)), ["it must be a string, not an integer"]);

        let mut replicas = input(InputType::Integer);
        replicas.min = Some(spanned(1.0));
        replicas.max = Some(spanned(9.0));
        assert!(replicas.broken_by(&Value::Int(9)).is_empty());
        assert_eq!(replicas.broken_by(&Value::Int(0)), [Broken::Min(1.0)]);
        assert_eq!(replicas.broken_by(&Value::Int(10)), [Broken::Max(9.0)]);
        assert_eq!(replicas.broken_by(&Value::Float(1.5)).len(), 1);

        let mut environment = input(InputType::String);
        environment.choices = vec![spanned(Value::Text("a".into())), spanned(Value::Text("b".into()))];
        assert_eq!(
            environment.broken_by(&Value::Text("c".into()))[0].to_string(),
            r#"it must be one of "a", "b""#
        );

        let mut regions = input(InputType::Array);
        regions.min_length = Some(spanned(2));
        assert_eq!(regions.broken_by(&Value::List(vec![]))[0].to_string(), "it must have at least 2 items");

        let mut huge = input(InputType::String);
        huge.pattern = Some(spanned(Pattern::parse(r"(\pL{1000}){1000}").unwrap()));
        assert!(huge.broken_by(&Value::Text("x".into()))[0].to_string().contains("too large"));
    }
}
