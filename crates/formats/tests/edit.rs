//! Editing the files of others: what is added is there, the rest is as it was, and it can be taken out again.

use abide_core::value::Value;
use abide_formats::edit::json::{Key, push, put, remove};
use abide_formats::edit::jsonc::parse;
use abide_formats::edit::{Draft, Problem, toml, without};
use abide_formats::json::to_json;
use proptest::prelude::*;
use serde_json::Value as Json;

fn data(text: &str) -> Json {
    parse(text).unwrap().map_or(Json::Null, |root| root.value(text))
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

/// Returns the text after a value was put at `a.b`.
fn after(before: &str) -> String {
    let mut draft = Draft::new(before);
    put(&mut draft, &["a", "b"], &map(&[("x", Value::Int(1))])).unwrap();
    assert_eq!(without(draft.text(), draft.added()).as_deref(), Some(before));
    draft.text().to_owned()
}

#[test]
fn a_member_is_added_in_the_style_of_the_file() {
    for (before, expected) in [
        ("", "{\n  \"a\": {\n    \"b\": {\n      \"x\": 1\n    }\n  }\n}\n"),
        ("// mine", "// mine\n{\n  \"a\": {\n    \"b\": {\n      \"x\": 1\n    }\n  }\n}\n"),
        ("{}", "{\n  \"a\": {\n    \"b\": {\n      \"x\": 1\n    }\n  }\n}"),
        ("{\n}\n", "{\n  \"a\": {\n    \"b\": {\n      \"x\": 1\n    }\n  }\n}\n"),
        ("{\"c\":2}", "{\"c\":2, \"a\": { \"b\": { \"x\": 1 } }}"),
        ("{\"c\":2,}", "{\"c\":2, \"a\": { \"b\": { \"x\": 1 } },}"),
        ("{\n\t\"c\": 2\n}", "{\n\t\"c\": 2,\n\t\"a\": {\n\t\t\"b\": {\n\t\t\t\"x\": 1\n\t\t}\n\t}\n}"),
        (
            "{\r\n    \"c\": 2 // two\r\n}\r\n",
            "{\r\n    \"c\": 2, // two\r\n    \"a\": {\r\n        \"b\": {\r\n            \"x\": 1\r\n        }\r\n    }\r\n}\r\n",
        ),
        (
            "{\n  \"a\": { // ours too\n    \"c\": [], // last\n  },\n}",
            "{\n  \"a\": { // ours too\n    \"c\": [], // last\n    \"b\": {\n      \"x\": 1\n    },\n  },\n}",
        ),
        ("{\"a\": {}}", "{\"a\": {\n  \"b\": {\n    \"x\": 1\n  }\n}}"),
    ] {
        assert_eq!(after(before), expected, "{before:?}");
    }
}

#[test]
fn what_stands_in_the_way_is_named_and_nothing_is_changed() {
    for (before, expected) in [
        ("[]", Problem::Shape { line: 1, path: "the document".into(), expected: "an object" }),
        ("{\n\"a\": 1}", Problem::Shape { line: 2, path: "a".into(), expected: "an object" }),
        ("{\"a\": {\"b\": null}}", Problem::Taken { path: "a.b".into() }),
    ] {
        let mut draft = Draft::new(before);
        assert_eq!(put(&mut draft, &["a", "b"], &Value::Null), Err(expected), "{before:?}");
        assert!(draft.text() == before && draft.added().is_empty(), "{before:?}");
    }
    let mut draft = Draft::new("{\"a\": {}}");
    let error = push(&mut draft, &["a"], &Value::Null).unwrap_err();
    assert_eq!(error.to_string(), "line 1: `a` is not a list");
}

#[test]
fn a_part_is_removed_with_its_comma_and_its_line() {
    let name = |name: &str| Key::Name(name.to_owned());
    for (before, path, expected) in [
        ("{\n  \"a\": 1,\n  \"b\": 2\n}", vec![name("b")], "{\n  \"a\": 1\n}"),
        ("{\n  \"a\": 1,\n  \"b\": 2\n}", vec![name("a")], "{\n  \"b\": 2\n}"),
        ("{\n  \"a\": 1, // one\n  \"b\": 2, // two\n}", vec![name("b")], "{\n  \"a\": 1, // one // two\n}"),
        ("{\n  \"a\": [\n    1\n  ]\n}", vec![name("a"), Key::Place(0)], "{\n  \"a\": []\n}"),
        ("{ /* keep */ \"a\": 1 }", vec![name("a")], "{ /* keep */ }"),
        ("[1, 2, 3]", vec![Key::Place(1)], "[1, 3]"),
        ("{\"a\": 1}", vec![name("b")], "{\"a\": 1}"),
        ("{\"a\": 1}", vec![name("a"), name("b")], "{\"a\": 1}"),
    ] {
        assert_eq!(remove(before, &path).unwrap(), expected, "{before:?}");
    }
}

#[test]
fn tables_are_appended_and_found_again() {
    for before in [
        "",
        "# only a comment",
        "a = 1 # one\r\n[x]\r\nb = '2'\r\n",
        "\u{feff}[mcp_servers.other]\ncommand = \"x\"\n",
        "[[list]]\nx = 1\n\n[mcp_servers]\n",
    ] {
        let mut draft = Draft::new(before);
        let lines = [("command", toml_edit::Value::from("/a \"b\""))];
        toml::append(&mut draft, &["mcp_servers", "abide.x"], &lines).unwrap();
        assert_eq!(without(draft.text(), draft.added()).as_deref(), Some(before));
        assert!(draft.text().starts_with(before));
        let document = toml::parse(draft.text()).unwrap();
        let found = toml::at(&document, &["mcp_servers", "abide.x", "command"]).unwrap();
        assert_eq!(found.as_str(), Some("/a \"b\""));
        assert!(
            toml::append(&mut draft, &["mcp_servers", "abide.x"], &lines).is_err(),
            "it is there already"
        );
        let removed = toml::remove(draft.text(), &["mcp_servers", "abide.x"]).unwrap();
        assert_eq!(removed.trim_end(), before.trim_end(), "also without a record of what was added");
    }
}

#[test]
fn a_table_in_one_line_cannot_be_continued() {
    let mut draft = Draft::new("# x\nmcp_servers = { a = { command = \"x\" } }\n");
    let error = toml::append(&mut draft, &["mcp_servers", "abide"], &[]).unwrap_err();
    assert!(error.to_string().starts_with("line 2: `mcp_servers` is not written as"), "{error}");
    assert!(draft.added().is_empty());
    let error = toml::parse("a = 1\nb = [\n").unwrap_err();
    assert!(error.to_string().starts_with("line "), "{error}");
}

/// Spaces and comments, as they can stand between any two parts.
fn space() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        4 => Just(""), 3 => Just(" "), 3 => Just("\n  "), 1 => Just("\t"), 1 => Just("\r\n"),
        1 => Just(" // ü, \"x\": {\n"), 1 => Just("/* , } ] */"), 1 => Just("/* a\n b */\n"),
    ]
}

fn joined(open: char, items: &[String], trailing: bool, last: &str, close: char) -> String {
    let comma = if trailing && !items.is_empty() { "," } else { "" };
    format!("{open}{}{comma}{last}{close}", items.join(","))
}

fn value() -> impl Strategy<Value = String> {
    let scalar = prop::sample::select(vec!["1", "-2.5e3", "true", "null", "\"\"", "\"ü\\n\\\"{\"", "\"漢\""]);
    scalar.prop_map(str::to_owned).prop_recursive(4, 24, 4, |inner| {
        let item = (space(), inner.clone(), space()).prop_map(|(a, value, b)| format!("{a}{value}{b}"));
        let list = (prop::collection::vec(item, 0..4), any::<bool>(), space());
        prop_oneof![
            list.prop_map(|(items, trailing, last)| joined('[', &items, trailing, last, ']')),
            object(inner.boxed()),
        ]
    })
}

fn object(inner: BoxedStrategy<String>) -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec!["a", "b", "list", "c d", "ü"]);
    let member = (space(), key, space(), space(), inner, space())
        .prop_map(|(a, key, b, c, value, d)| format!("{a}\"{key}\"{b}:{c}{value}{d}"));
    (prop::collection::vec(member, 0..4), any::<bool>(), space())
        .prop_map(|(items, trailing, last)| joined('{', &items, trailing, last, '}'))
}

fn document() -> impl Strategy<Value = String> {
    let whole = (space(), object(value().boxed()), space(), prop::sample::select(vec!["", "\n", "\r\n"]));
    whole.prop_map(|(a, root, b, end)| format!("{a}{root}{b}{end}"))
}

/// Returns the comments of a document, in order.
fn comments(text: &str) -> usize {
    text.matches("// ü, ").count() + text.matches("/* , } ] */").count() + text.matches("/* a\n b */").count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_put_in_is_there_and_the_rest_is_as_it_was(before in document()) {
        let mut draft = Draft::new(&before);
        let value = map(&[("type", text("x")), ("args", Value::List(vec![text("ü\n"), Value::Int(2)]))]);
        let was = data(&before);
        let put = put(&mut draft, &["a", "new"], &value);
        let pushed = push(&mut draft, &["list"], &value);
        let now = data(draft.text());
        prop_assert_eq!(without(draft.text(), draft.added()), Some(before.clone()));
        let mut expected = was.clone();
        if put.is_ok() {
            if expected["a"].is_null() { expected["a"] = serde_json::json!({}); }
            expected["a"]["new"] = to_json(&value);
        } else {
            prop_assert!(was.get("a").is_some_and(|found| !found.is_object()));
        }
        if pushed.is_ok() {
            if expected["list"].is_null() { expected["list"] = serde_json::json!([]); }
            expected["list"].as_array_mut().unwrap().push(to_json(&value));
        } else {
            prop_assert!(was.get("list").is_some_and(|found| !found.is_array()));
        }
        prop_assert_eq!(now, expected);
    }

    #[test]
    fn what_was_put_in_is_found_and_removed_without_a_record(before in document()) {
        let mut draft = Draft::new(&before);
        put(&mut draft, &["new"], &map(&[("x", Value::Int(1))])).unwrap();
        let removed = remove(draft.text(), &[Key::Name("new".to_owned())]).unwrap();
        prop_assert_eq!(data(&removed), data(&before));
        prop_assert_eq!(comments(&removed), comments(&before));
    }

    #[test]
    fn any_member_can_be_removed_and_the_rest_stays(before in document()) {
        let root = parse(&before).unwrap().unwrap();
        for item in root.items() {
            let removed = remove(&before, &[Key::Name(item.key.clone())]).unwrap();
            let left = parse(&removed).unwrap().unwrap();
            prop_assert_eq!(left.items().len() + 1, root.items().len());
        }
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[\\[\\]{}:,\"\\\\/* \n0-9a-ftrue]{0,60}") {
        let _ = parse(&text);
        let _ = toml::parse(&text);
    }
}
