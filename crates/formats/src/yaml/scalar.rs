//! What an unquoted word means: YAML 1.2's core schema, and nothing of YAML 1.1's surprises.

use super::{Scalar, Style};

/// The type of a scalar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Resolved {
    /// Nothing was written, or `~` or `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction or an exponent, or a whole number that is too large.
    Float(f64),
    /// Anything else; `yes`, `no`, `on` and `off` are text, and so are `.inf` and `.nan`, which JSON lacks.
    Text,
}

impl Resolved {
    /// Returns the words that messages use.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Null => "nothing",
            Self::Bool(_) => "a boolean",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a number",
            Self::Text => "a string",
        }
    }
}

impl Scalar<'_> {
    /// Returns what the text means.
    pub fn resolve(&self) -> Resolved {
        if self.style == Style::Plain { resolve_plain(&self.text) } else { Resolved::Text }
    }
}

fn resolve_plain(text: &str) -> Resolved {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Resolved::Null,
        "true" | "True" | "TRUE" => return Resolved::Bool(true),
        "false" | "False" | "FALSE" => return Resolved::Bool(false),
        _ => {}
    }
    let first = text.as_bytes()[0];
    if !(first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'.')) {
        return Resolved::Text;
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return i64::from_str_radix(digits, 16).map_or(Resolved::Text, Resolved::Int);
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return i64::from_str_radix(digits, 8).map_or(Resolved::Text, Resolved::Int);
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return match text.parse() {
            Ok(number) => Resolved::Int(number),
            Err(_) => float(text),
        };
    }
    if is_float(digits) { float(text) } else { Resolved::Text }
}

/// Returns a number that JSON has, too: what is too large for one stays text.
fn float(text: &str) -> Resolved {
    text.parse().ok().filter(|number: &f64| number.is_finite()).map_or(Resolved::Text, Resolved::Float)
}

/// Tells whether the text is `[0-9]* [. [0-9]*] [e[+-][0-9]+]` with at least one digit before the exponent.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    digits(whole) && digits(fraction) && whole.len() + fraction.len() > 0 && exponent_fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_mean_what_yaml_1_2_says() {
        for (text, meaning) in [
            ("", Resolved::Null),
            ("~", Resolved::Null),
            ("true", Resolved::Bool(true)),
            ("yes", Resolved::Text),
            ("off", Resolved::Text),
            ("5", Resolved::Int(5)),
            ("-5", Resolved::Int(-5)),
            ("010", Resolved::Int(10)),
            ("0x1f", Resolved::Int(31)),
            ("0o17", Resolved::Int(15)),
            ("1.5", Resolved::Float(1.5)),
            (".5", Resolved::Float(0.5)),
            ("1e3", Resolved::Float(1000.0)),
            ("99999999999999999999", Resolved::Float(1e20)),
            ("1.0.0", Resolved::Text),
            ("5m", Resolved::Text),
            ("1e", Resolved::Text),
            (".", Resolved::Text),
            ("-", Resolved::Text),
            ("+", Resolved::Text),
            ("v1", Resolved::Text),
            ("12:30", Resolved::Text),
            (".nan", Resolved::Text),
            ("-.inf", Resolved::Text),
            ("1e999", Resolved::Text),
            ("0x", Resolved::Text),
        ] {
            assert_eq!(resolve_plain(text), meaning, "{text:?}");
        }
    }
}
