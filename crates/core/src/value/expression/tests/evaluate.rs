//! What expressions mean.

use super::super::{Expression, Lookup};
use super::{map, parsed, text, values};
use crate::value::Value;
use std::borrow::Cow;

fn result(source: &str) -> String {
    match parsed(source).evaluate(&values()) {
        Ok(value) => value.to_string(),
        Err(error) => format!("{} | {error}", &source[error.span.range()]),
    }
}

#[test]
fn expressions_have_values() {
    for (source, value) in [
        // Literals.
        ("12", "12"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("1.5e2", "150.0"),
        (r#"'a\n\t\r\\\'\"' + "\u00e9\u{1f600}""#, "\"a\\n\\t\\r\\\\'\\\"é😀\""),
        (r"r'\d+'", r#""\\d+""#),
        ("[1, 'a', null, true,]", r#"[1,"a",null,true]"#),
        ("[]", "[]"),
        // Names.
        ("inputs.version", "\"v1.2.3\""),
        ("inputs[\"odd name\"]", "\"odd\""),
        ("steps.get-diff.output", "\"+ line\\n\""),
        ("steps['get-diff'].status", "\"completed\""),
        ("steps.build.output.urls[0]", "\"a\""),
        ("inputs.regions[1]", "\"us\""),
        ("steps.build.output['co' + 'unt']", "2"),
        ("has(inputs.version)", "true"),
        ("has(inputs.reason) || has(inputs.nothing) || has(nothing.at.all)", "false"),
        // Arithmetic.
        ("inputs.replicas - 1", "2"),
        ("inputs.replicas -1", "2"),
        ("5-2-1", "2"),
        ("2 + 3 * 4 % 5", "4"),
        ("-inputs.replicas + - -1", "-2"),
        ("7 / 2", "3"),
        ("-7 / 2", "-3"),
        ("-7 % 2", "-1"),
        ("7 / 2.0", "3.5"),
        ("inputs.ratio * 2", "1.0"),
        ("'a' + 'b' + 'c'", "\"abc\""),
        ("[1] + [2]", "[1,2]"),
        // Comparison.
        ("inputs.environment == \"production\" && false", "false"),
        ("inputs.environment == 'staging'", "true"),
        ("inputs.replicas + 1 == 4", "true"),
        ("1 == 1.0 && 1 < 1.5 && -1.5 < -1 && 2 >= 2.0", "true"),
        ("9007199254740993 == 9007199254740992.0", "false"),
        ("9223372036854775807 < 1e300", "true"),
        ("'a' < 'b' && 'Z' < 'a'", "true"),
        ("inputs.reason == null && inputs.version != null", "true"),
        ("[1, [2.0]] == [1.0, [2]]", "true"),
        ("'eu' in inputs.regions && !('ap' in inputs.regions)", "true"),
        ("'version' in inputs && 2 in [1, 2.0]", "true"),
        ("1 in []", "false"),
        // Logic.
        ("true || 1 / 0 == 1", "true"),
        ("false && 1 / 0 == 1", "false"),
        ("true ? 'a' : 1 / 0", "\"a\""),
        ("false ? 1 : true ? 2 : 3", "2"),
        ("false || true && false", "false"),
        ("!inputs.force == true", "true"),
        // Functions.
        ("size('grün') + inputs.regions.size() + size(inputs)", "15"),
        ("inputs.version.contains('.2') && inputs.regions.contains('eu')", "true"),
        ("inputs.version.startsWith('v') && inputs.version.endsWith('3')", "true"),
        (r"inputs.version.matches(r'^v\d+(\.\d+){2}$')", "true"),
        ("int('42') + int(3.9) + int(-3.9) + int(1)", "43"),
        ("double('1.5') + double(1)", "2.5"),
        ("string(1) + string(true) + string('a') + string([1]) + string(null)", "\"1truea[1]null\""),
        ("' A b '.trim().lower() + 'c'.upper()", "\"a bC\""),
    ] {
        assert_eq!(result(source), value, "{source}");
    }
}

#[test]
fn doubt_is_an_error_and_never_false() {
    for (source, told) in [
        ("nothing == 1", "nothing | `nothing` has no value"),
        ("inputs.nothing.at == 1", "nothing | `inputs.nothing` has no value"),
        ("inputs.reason.text", "text | `inputs.reason.text` has no value"),
        ("inputs.version.major", "major | `inputs.version` is a string and has no field `major`"),
        ("[inputs][0].nothing", "nothing | the field `nothing` has no value"),
        ("[1][0].x", "x | `[1][0].x` is an integer and has no field `x`"),
        ("inputs.regions[2]", "2 | index 2 is out of range for a list of length 2"),
        ("inputs.regions[-1]", "-1 | index -1 is out of range for a list of length 2"),
        ("inputs.regions[true]", "true | an index is an integer or a string, not a boolean"),
        ("inputs[0]", "0 | a mapping has no items"),
        ("9223372036854775807 + 1", "1 | the result is larger than abide can count"),
        (
            "-inputs.replicas - 9223372036854775807",
            "9223372036854775807 | the result is larger than abide can count",
        ),
        ("1e308 * 10", "10 | the result is larger than abide can count"),
        ("int(1e300)", "int(1e300) | the result is larger than abide can count"),
        ("1 / 0", "0 | division by zero"),
        ("1 % 0", "0 | division by zero"),
        ("1.0 / 0", "0 | division by zero"),
        ("1.5 % 2", "2 | `%` needs two integers, not a number and an integer"),
        ("1 + 'a'", "'a' | `+` does not take an integer and a string"),
        ("-'a'", "-'a' | `-` needs a number, not a string"),
        ("!1", "1 | `!` needs a boolean, not an integer"),
        ("true && 1", "1 | `&&` needs a boolean, not an integer"),
        ("'' || true", "'' | `||` needs a boolean, not a string"),
        ("1 ? 2 : 3", "1 | `?:` needs a boolean, not an integer"),
        ("1 == '1'", "1 == '1' | an integer never equals a string"),
        ("1 in ['1']", "1 in ['1'] | an integer never equals a string"),
        ("'a' in 'abc'", "'a' in 'abc' | `in` looks into a list or a mapping, not into a string"),
        ("1 < 'a'", "1 < 'a' | `<` compares numbers or strings, not an integer with a string"),
        ("int(inputs.token)", "int(inputs.token) | the text is not an integer"),
        ("double('NaN')", "double('NaN') | the text is not a number"),
        ("int(true)", "int(true) | `int` needs a string or a number, not a boolean"),
        ("double(true)", "double(true) | `double` needs a string or a number, not a boolean"),
        ("size(1)", "size(1) | `size` needs a string, a list or a mapping, not an integer"),
        ("(1).trim()", ".trim() | `trim` needs a string, not an integer"),
        ("'a'.matches('(')", ".matches('(') | the regular expression cannot be used: unclosed group"),
        (
            "'a'.matches('a{9999}{9999}')",
            ".matches('a{9999}{9999}') | the regular expression is too large when compiled",
        ),
    ] {
        assert_eq!(result(source), told, "{source}");
    }
}

#[test]
fn numbers_that_are_none_are_refused() {
    let run = map([("x", Value::Float(f64::NAN))]);
    for source in ["x < 1", "int(x)"] {
        assert_eq!(parsed(source).evaluate(&run).unwrap_err().to_string(), "the value is not a number");
    }
    assert_eq!(parsed("x == x").evaluate(&run), Ok(Value::Bool(false)));
}

#[test]
fn mappings_are_equal_in_any_order() {
    let run = map([
        ("a", map([("x", Value::Int(1)), ("y", text("2"))])),
        ("b", map([("y", text("2")), ("x", Value::Float(1.0))])),
        ("c", map([("x", Value::Int(1))])),
    ]);
    assert_eq!(parsed("a == b && a != c && c in [a, b, c]").evaluate(&run), Ok(Value::Bool(true)));
}

#[test]
fn a_condition_is_a_boolean_or_an_error() {
    assert_eq!(parsed("inputs.replicas > 2").evaluate_condition(&values()), Ok(true));
    for (source, told) in [
        ("inputs.version", "a condition is true or false, and this is a string"),
        ("null", "a condition is true or false, and this is nothing"),
        ("inputs.typo", "`inputs.typo` has no value"),
    ] {
        assert_eq!(parsed(source).evaluate_condition(&values()).unwrap_err().to_string(), told);
    }
}

#[test]
fn results_are_bounded() {
    let large = map([
        ("x", text(&"x".repeat(600_000))),
        ("p", text(&"a".repeat(5_000))),
        ("l", Value::List(vec![Value::Int(0); 60_000])),
    ]);
    for (source, told) in [
        ("x + x", "the result is larger than 1048576 bytes".to_owned()),
        (&format!("[{}]", "x,".repeat(100)), "the result is larger than 16777216 bytes".to_owned()),
        ("l + l", format!("the result is larger than {} bytes", 100_000 * size_of::<Value>())),
        ("x.matches(p)", "the regular expression is longer than 4096 bytes".to_owned()),
    ] {
        assert_eq!(parsed(source).evaluate(&large).unwrap_err().to_string(), told);
    }
}

#[test]
fn an_explanation_shows_what_decided() {
    for (source, told) in [
        ("inputs.environment == \"production\"", "inputs.environment is \"staging\""),
        (
            "inputs.environment == 'staging' && inputs.replicas > 2",
            "inputs.environment is \"staging\", inputs.replicas is 3",
        ),
        ("inputs.replicas < 2 && inputs.force", "inputs.replicas is 3"),
        ("inputs.force || inputs.replicas > 1", "inputs.replicas is 3"),
        ("!inputs.force", "inputs.force is false"),
        ("inputs.version.startsWith('w')", "inputs.version is \"v1.2.3\""),
        ("size(inputs.regions) > 5", "size(inputs.regions) is 2"),
        ("inputs.force ? true : inputs.replicas == 3", "inputs.force is false, inputs.replicas is 3"),
        ("has(inputs.reason)", "has(inputs.reason) is false"),
        ("'eu' in inputs.regions", "inputs.regions is [\"eu\",\"us\"]"),
        ("inputs.replicas == 3 || inputs.replicas == 4", "inputs.replicas is 3"),
        ("inputs.typo == 1", "`inputs.typo` has no value"),
        ("steps.build.output.urls[0] == 'b'", "steps.build.output.urls[0] is \"a\""),
        ("1 == 2", "1 == 2 is false"),
    ] {
        assert_eq!(parsed(source).explain(&values()), told, "{source}");
    }
}

#[test]
fn secrets_are_never_shown() {
    struct Guarded(Value);
    impl Lookup for Guarded {
        fn path(&self, segments: &[&str]) -> Option<Cow<'_, Value>> {
            self.0.path(segments)
        }
        fn is_secret(&self, segments: &[&str]) -> bool {
            segments.starts_with(&["inputs", "token"])
        }
    }
    let expression = parsed("inputs.token == 'x' || inputs.token.size() == 1");
    assert_eq!(
        expression.explain(&Guarded(values())),
        "inputs.token is secret, inputs.token.size() is secret"
    );
}

#[test]
fn long_chains_do_not_overflow_the_stack() {
    let sum = Expression::parse(&("1+".repeat(2_000) + "1"), 0).unwrap();
    assert_eq!(sum.evaluate(&values()), Ok(Value::Int(2_001)));
    let deep = "(1*1+".repeat(31) + "1" + &")".repeat(31);
    assert_eq!(parsed(&deep).evaluate(&values()), Ok(Value::Int(32)));
    let tall = "true ? !(false || true && 1 == 1 + 1 * size([".repeat(6) + "1" + &"])) : false".repeat(6);
    let tall = parsed(&tall);
    let _ = (tall.check(&super::scope()), tall.evaluate(&values()), tall.explain(&values()));
}
