//! Data → text: YAML that reads back as the same data, written the way a person would.

use super::{Scalar, Style};
use crate::yaml::Resolved;
use abide_core::value::Value;
use std::fmt::Write as _;

/// Lists of short words stay on one line up to this width.
const WIDEST: usize = 90;

/// Writes data as a YAML document.
pub fn emit(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Map(entries) if !entries.is_empty() => map(&mut out, entries, 0),
        Value::List(items) if !items.is_empty() => list(&mut out, items, 0),
        other => {
            inline(&mut out, other);
            out.push('\n');
        }
    }
    out
}

fn indent(out: &mut String, depth: usize) {
    for _ in 0..depth {
        out.push_str("  ");
    }
}

fn map(out: &mut String, entries: &[(String, Value)], depth: usize) {
    for (index, (key, value)) in entries.iter().enumerate() {
        // The first key of a list item stands behind its dash.
        if index > 0 || !out.ends_with("- ") {
            indent(out, depth);
        }
        text(out, key);
        out.push(':');
        after_key(out, value, depth);
    }
}

fn after_key(out: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Map(entries) if !entries.is_empty() => {
            out.push('\n');
            map(out, entries, depth + 1);
        }
        Value::List(items) if !items.is_empty() && !fits_on_a_line(items) => {
            out.push('\n');
            list(out, items, depth + 1);
        }
        Value::Text(content) if is_block(content) => block(out, content, depth + 1),
        other => {
            out.push(' ');
            inline(out, other);
            out.push('\n');
        }
    }
}

fn list(out: &mut String, items: &[Value], depth: usize) {
    for item in items {
        indent(out, depth);
        out.push_str("- ");
        match item {
            Value::Map(entries) if !entries.is_empty() => map(out, entries, depth + 1),
            Value::Text(content) if is_block(content) => {
                // `block` writes the space itself.
                out.pop();
                block(out, content, depth + 1);
            }
            other => {
                inline(out, other);
                out.push('\n');
            }
        }
    }
}

fn fits_on_a_line(items: &[Value]) -> bool {
    let mut width = 0;
    items.iter().all(|item| {
        width += match item {
            Value::Text(content) if !content.contains('\n') => content.len() + 4,
            Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => 8,
            _ => return false,
        };
        width <= WIDEST
    })
}

/// Writes a value in flow style, which is valid everywhere.
fn inline(out: &mut String, value: &Value) {
    match value {
        Value::Text(content) => text(out, content),
        Value::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                inline(out, item);
            }
            out.push(']');
        }
        Value::Map(entries) => {
            out.push('{');
            for (index, (key, value)) in entries.iter().enumerate() {
                if index > 0 {
                    out.push_str(", ");
                }
                text(out, key);
                out.push_str(": ");
                inline(out, value);
            }
            out.push('}');
        }
        other => {
            // Writing to a string cannot fail.
            let _ = write!(out, "{other}");
        }
    }
}

fn text(out: &mut String, content: &str) {
    if is_plain(content) {
        out.push_str(content);
    } else {
        quoted(out, content);
    }
}

fn is_plain(content: &str) -> bool {
    let starts =
        content.starts_with(|first: char| first.is_ascii_alphanumeric() || matches!(first, '.' | '/' | '_'));
    let scalar = Scalar { text: content.into(), style: Style::Plain };
    starts
        && !content.ends_with(' ')
        && content.chars().all(|character| {
            character.is_ascii_alphanumeric()
                || matches!(
                    character,
                    ' ' | '.' | '/' | '_' | '-' | '(' | ')' | '+' | '=' | '@' | ';' | '*' | '?' | '!'
                )
        })
        && scalar.resolve() == Resolved::Text
}

fn quoted(out: &mut String, content: &str) {
    out.push('"');
    for character in content.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", character as u32);
            }
            control if control.is_control() => {
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

/// Tells whether a text reads well, and back, as a literal block.
fn is_block(content: &str) -> bool {
    content.trim_end_matches('\n').contains('\n')
        && !content.starts_with([' ', '\n', '\t'])
        && !content.ends_with("\n\n")
        && content.lines().all(|line| {
            (line.is_empty() || !line.trim().is_empty())
                && !line.starts_with('\t')
                && !line.chars().any(|character| {
                    (character.is_control() && character != '\t')
                        || matches!(character, '\u{feff}' | '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
                })
        })
}

fn block(out: &mut String, content: &str, depth: usize) {
    out.push_str(if content.ends_with('\n') { " |\n" } else { " |-\n" });
    for line in content.lines() {
        if !line.is_empty() {
            indent(out, depth);
            out.push_str(line);
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::data;
    use proptest::prelude::*;

    fn round(value: &Value) -> Value {
        let text = emit(value);
        let document = crate::yaml::parse(&text);
        assert!(document.problems.is_empty(), "{text}\n{:?}", document.problems);
        data(&document.root.unwrap())
    }

    fn any_text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z]{1,8}",
            "[ -~\n\t]{0,40}",
            any::<String>(),
            prop::sample::select(vec![
                "true",
                "null",
                "1.0",
                "010",
                "a: b",
                "# x",
                "- a",
                "a\n\n  b\n",
                "{{ x }}",
                "*",
                "&a",
                "~",
                "",
                " ",
                "a\n \nb",
                "\u{85}a",
                "on"
            ])
            .prop_map(str::to_owned),
        ]
        // The reader refuses NUL before YAML sees it.
        .prop_map(|text| text.replace('\0', ""))
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            (-1e12..1e12_f64).prop_map(Value::Float),
            any_text().prop_map(Value::Text),
        ];
        leaf.prop_recursive(4, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
                prop::collection::btree_map(any_text(), inner, 0..6).prop_map(|entries| Value::Map(
                    entries.into_iter().filter(|(key, _)| key != "<<").collect()
                )),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn data_reads_back_as_it_was(value in any_value()) {
            prop_assert_eq!(round(&value), value);
        }
    }

    #[test]
    fn it_looks_hand_written() {
        let value = Value::Map(vec![
            ("name".into(), Value::Text("deploy".into())),
            (
                "steps".into(),
                Value::List(vec![Value::Map(vec![
                    ("id".into(), Value::Text("test".into())),
                    ("run".into(), Value::Text("npm ci\nnpm test\n".into())),
                    ("needs".into(), Value::List(vec![Value::Text("a".into()), Value::Text("b".into())])),
                    ("env".into(), Value::Map(vec![("V".into(), Value::Text("{{ inputs.v }}".into()))])),
                ])]),
            ),
        ]);
        insta::assert_snapshot!(emit(&value), @r#"
        name: deploy
        steps:
          - id: test
            run: |
              npm ci
              npm test
            needs: [a, b]
            env:
              V: "{{ inputs.v }}"
        "#);
    }
}
