//! What is an expression, and what is told about a text that is none.

use super::super::{Expression, Problem};
use super::parsed;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

fn refused(text: &str) -> Problem {
    match Expression::parse(text, 0) {
        Err(problem) => problem,
        Ok(_) => panic!("`{text}` was accepted"),
    }
}

/// Writes a problem as `underlined | message | label | help | replacement`, without what is not there.
fn shown(text: &str) -> String {
    let problem = refused(text);
    let underlined = text[problem.span.range()].to_owned();
    let extras = [problem.label, problem.help, problem.replacement.map(|text| format!("→ {text}"))];
    [underlined, problem.message]
        .into_iter()
        .chain(extras.into_iter().flatten())
        .collect::<Vec<_>>()
        .join(" | ")
}

#[test]
fn every_mistake_is_told_where_it_is_and_what_to_write_instead() {
    for (text, told) in [
        ("", " | the expression is empty"),
        (" \n", " \n | the expression is empty"),
        ("a = b", "= | use `==` to compare | → =="),
        ("(a = b)", "= | use `==` to compare | → =="),
        ("= b", "= | use `==` to compare | → =="),
        ("a and b", "and | `and` is not an operator | use `&&` | → &&"),
        ("a or b", "or | `or` is not an operator | use `||` | → ||"),
        ("not a", "not | `not` is not an operator | use `!` | → !"),
        ("not(a)", "not | `not` is not an operator | use `!` | → !"),
        ("a not in b", "not | `not` is not an operator | use `!`, as in `!(x in list)`"),
        ("a & b", "& | a single `&` means nothing here | use `&&` for “and” | → &&"),
        (
            "a | b",
            "| | a filter stands at the end of a placeholder \
             | write `{{ value | filter }}` in a template, and `||` for “or”",
        ),
        ("1 < x < 5", "< | comparisons cannot be chained | join them with `&&`, as in `1 < x && x < 5`"),
        (
            "{{ a }}",
            "{{ | `{{` means nothing inside an expression | write the names as they are, without `{{` and `}}`",
        ),
        ("a }}", "}} | `}}` is not expected here"),
        ("a b", "b | an operator is missing before `b`"),
        ("a 'b'", "'b' | an operator is missing before `'b'`"),
        ("a, b", ", | `,` means nothing here"),
        ("a)", ") | `)` closes nothing that is open here"),
        ("(a", " | the expression ends before everything is closed"),
        ("a &&", " | the expression ends where a value is expected"),
        ("a && * b", "* | a value is expected here, not `*`"),
        ("in x", "in | a value is expected here, not `in`"),
        ("a.", ". | a name is missing after `.`"),
        ("'abc", "' | a text has no closing quote | `'` opens it here"),
        (
            r"'\d+'",
            r"\d | `\d` is not an escape | write `\\d` for a backslash, or r'…' for text without escapes",
        ),
        (
            r"'\u{110000}'",
            r"\u | this is not a character | write four hexadecimal digits as in `\u00e9`, or any number of them as in `\u{1f600}`",
        ),
        ("1.2.3", "1.2.3 | `1.2.3` is not a number | put quotes around text: \"1.2.3\""),
        ("12px", "12px | `12px` is not a number | put quotes around text: \"12px\""),
        ("9223372036854775808", "9223372036854775808 | `9223372036854775808` is larger than abide can count"),
        ("1e999", "1e999 | `1e999` is larger than abide can count"),
        (
            "größe",
            "ö | `ö` means nothing here | a name outside a-z, A-Z, 0-9, `_` and `-` is written `inputs[\"name\"]`",
        ),
        ("a # b", "# | `#` means nothing here"),
        (
            "lenght(a)",
            "lenght | there is no function `lenght` | known are `size`, `int`, `double`, `string`, `has`",
        ),
        ("sise(a)", "sise | there is no function `sise` | did you mean `size`? | → size"),
        (
            "contains(a, b)",
            "contains | there is no function `contains` | `contains` follows its value, as in `inputs.name.contains(…)`",
        ),
        ("size(a, b)", "size(a, b) | `size` takes one value"),
        ("has()", "has() | `has` takes one value"),
        (
            "has('a')",
            "'a' | `has` asks about a name | write the names that lead to the value, as in `has(inputs.version)`",
        ),
        (
            "a.startswith('b')",
            "startswith | there is no method `startswith` | did you mean `startsWith`? | → startsWith",
        ),
        (
            "a.all(x, x)",
            "all | there is no method `all` | known are `size`, `contains`, `startsWith`, `endsWith`, `matches`, `lower`, `upper`, `trim`",
        ),
        (
            "a.int()",
            "int | there is no method `int` | `int` takes its value in parentheses, as in `int(inputs.name)`",
        ),
        ("a.contains()", "contains() | `contains` takes one value"),
        ("a.size(1)", "size(1) | `size` takes no value"),
    ] {
        assert_eq!(shown(text), told, "{text}");
    }
}

#[test]
fn spans_point_into_the_file() {
    assert_eq!(Expression::parse("a = b", 100).unwrap_err().span, Span::new(102, 103));
    // A scalar in double quotes: each `"` of the text is two bytes in the file.
    let problem = Expression::parse_mapped("\"x\" = b", &|at| at + at.min(2)).unwrap_err();
    assert_eq!(problem.span, Span::new(6, 7));
}

#[test]
fn a_problem_becomes_a_diagnostic_with_its_fix() {
    let diagnostic = Diagnostic::from(refused("a = b"));
    let expected = Diagnostic::new(Code::BadTemplate, Span::new(2, 3), "use `==` to compare");
    assert_eq!(diagnostic, expected.fix(Span::new(2, 3), "=="));
}

#[test]
fn bounds_hold() {
    let nested = |levels: usize| format!("{}1{}", "(".repeat(levels), ")".repeat(levels));
    parsed(&nested(31));
    for (text, message) in [
        (nested(32), "nested deeper than 32 levels"),
        ("(".repeat(4_096), "nested deeper than 32 levels"),
        ("[".repeat(4_096), "nested deeper than 32 levels"),
        ("!".repeat(4_096), "nested deeper than 32 levels"),
        ("- ".repeat(2_048), "nested deeper than 32 levels"),
        ("a[".repeat(2_048), "nested deeper than 32 levels"),
        ("a?".repeat(2_048), "nested deeper than 32 levels"),
        ("a?a:".repeat(1_024), "nested deeper than 32 levels"),
        ("size(".repeat(800), "nested deeper than 32 levels"),
        (format!("[{}]", "1,".repeat(257)), "a list has more than 256 items"),
        ("a".repeat(4_097), "the expression is longer than 4096 bytes"),
    ] {
        assert_eq!(refused(&text).message, message);
    }
    parsed(&format!("[{}]", "1,".repeat(256)));
    // Chains are flat, however long.
    for text in [
        "1 + ".repeat(1_000) + "1",
        "a.b".to_owned() + &".trim()".repeat(500),
        "a".to_owned() + &"[0]".repeat(1_000),
    ] {
        parsed(&text);
    }
}

#[test]
fn references_are_the_static_paths_with_their_places() {
    let expression = Expression::parse(
        "has(inputs.a-b) && steps.get-diff.output[inputs.n].x == steps[\"build\"].status.lower() || c - d.e",
        10,
    )
    .unwrap();
    let paths: Vec<String> = expression.references().map(|path| path.names().join("/")).collect();
    assert_eq!(paths, ["inputs/a-b", "steps/get-diff/output", "inputs/n", "steps/build/status", "c", "d/e"]);
    let path = expression.references().nth(3).unwrap();
    assert_eq!(path.root(), "steps");
    let place = |span: Span| &expression.text()[span.start as usize - 10..span.end as usize - 10];
    assert_eq!(place(path.span()), "steps[\"build\"].status");
    assert_eq!(place(path.segments()[1].span), "build");
}

#[test]
fn the_text_is_kept_and_decides_equality() {
    let expression = parsed(" a==1 ");
    assert_eq!(expression.to_string(), " a==1 ");
    assert_eq!(format!("{expression:?}"), "Expression(\" a==1 \")");
    assert_eq!(expression, Expression::parse(" a==1 ", 7).unwrap());
    assert_ne!(expression, parsed("a == 1"));
}
