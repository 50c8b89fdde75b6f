//! Whatever a valid ability says, what is printed of it reads back as the same ability.

use abide_core::value::Value;
use abide_formats::ability::{print, read};
use abide_formats::yaml::emit;
use proptest::prelude::*;

type Entry = BoxedStrategy<Option<(String, Value)>>;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

/// Texts that YAML, templates or printing could trip over; never blank, never with a placeholder.
fn nasty() -> BoxedStrategy<String> {
    let known = [
        "a: b",
        "# no comment",
        "- dash",
        "it's",
        "\"quoted\"",
        "'",
        "back\\slash",
        "1.10",
        "007",
        "1e3",
        "0x1f",
        "true",
        "null",
        "~",
        "yes",
        ".nan",
        "é ü 漢字 🦀",
        "line\nline\n",
        "line\n\n  indented\n\ttab",
        " leading",
        "trailing ",
        "\ttab",
        "ends with newline\n",
        "ends with two\n\n",
        "[flow",
        "{map",
        "}}",
        "{ {",
        "%percent",
        "@at",
        "`tick`",
        "|",
        ">",
        "!tag",
        "&anchor",
        "*alias",
        "? key",
        "a\r\nb",
        "\u{85}next line",
        "\u{2028}",
        "\u{feff}bom",
        "\u{7f}",
        "---",
        "...",
        "x\n---\ny",
        "<<",
        "a #b",
        ":",
        "\u{1b}[31m",
        "a\n \nb",
        "=",
        "-",
        "- ",
        "\\",
        "\u{fffe}",
    ];
    prop_oneof![
        3 => prop::sample::select(known.to_vec()).prop_map(str::to_owned),
        1 => "[a-z]{1,12}",
        1 => "[ -~\n\t]{1,60}",
        1 => any::<String>(),
    ]
    // Twice, because three braces leave two after the first time.
    .prop_map(|text| text.replace('\0', "").replace("{{", "{ {").replace("{{", "{ {"))
    .prop_map(|text| if text.trim().is_empty() { format!("{text}x") } else { text })
    .boxed()
}

fn nasty_text() -> BoxedStrategy<Value> {
    nasty().prop_map(Value::Text).boxed()
}

/// A path that stays inside the project, whatever else is odd about it.
fn path() -> BoxedStrategy<Value> {
    nasty().prop_map(|text| Value::Text(format!("p{}", text.replace("..", ". .")))).boxed()
}

/// Nasty text around placeholders.
fn template() -> BoxedStrategy<Value> {
    let placeholder = prop::sample::select(vec![
        "{{input}}",
        "{{ run.id | upper }}",
        "{{ steps.s0.output }}",
        "{{ inputs.v | default(\"}}: # '\") }}",
        "{{ \"{{\" }}",
        "",
    ]);
    (nasty(), placeholder, nasty())
        .prop_map(|(before, placeholder, after)| {
            // A brace beside a placeholder would be read with it.
            Value::Text(format!("{before} {placeholder} {after}"))
        })
        .boxed()
}

fn data() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        any::<f64>().prop_filter("JSON has it", |number| number.is_finite()).prop_map(Value::Float),
        nasty_text(),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::List),
            prop::collection::btree_map(nasty(), inner, 0..4)
                .prop_map(|entries| Value::Map(entries.into_iter().collect())),
        ]
    })
    .boxed()
}

fn words(words: &'static [&'static str]) -> BoxedStrategy<Value> {
    prop::sample::select(words).prop_map(text).boxed()
}

fn one_or_many(item: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop_oneof![item.clone(), prop::collection::vec(item, 0..3).prop_map(Value::List)].boxed()
}

fn list(item: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    prop::collection::vec(item, 1..3).prop_map(Value::List).boxed()
}

fn int(range: std::ops::Range<i64>) -> BoxedStrategy<Value> {
    range.prop_map(Value::Int).boxed()
}

fn boolean() -> BoxedStrategy<Value> {
    any::<bool>().prop_map(Value::Bool).boxed()
}

fn duration() -> BoxedStrategy<Value> {
    words(&["5m", "1h30m", "500ms", "90s", "2d", "0s"])
}

fn always(key: &str, value: impl Strategy<Value = Value> + 'static) -> Entry {
    let key = key.to_owned();
    value.prop_map(move |value| Some((key.clone(), value))).boxed()
}

fn maybe(key: &str, value: BoxedStrategy<Value>) -> Entry {
    let key = key.to_owned();
    prop::option::weighted(0.4, value).prop_map(move |value| value.map(|value| (key.clone(), value))).boxed()
}

fn record(entries: Vec<Entry>) -> BoxedStrategy<Value> {
    entries.prop_map(|entries| Value::Map(entries.into_iter().flatten().collect())).boxed()
}

fn schema() -> BoxedStrategy<Value> {
    record(vec![
        maybe("type", words(&["string", "object", "array"])),
        maybe("properties", record(vec![maybe("a: b", Just(Value::Map(vec![])).boxed())])),
        maybe("description", nasty_text()),
        maybe("default", data()),
    ])
}

fn validation() -> BoxedStrategy<Value> {
    record(vec![
        maybe("exit_code", one_or_many(int(0..256))),
        maybe("stdout_contains", one_or_many(template())),
        maybe("stderr_contains", one_or_many(template())),
        maybe("stdout_matches", one_or_many(words(&["^a: 'b' # c$", r"\d+\s", "\"x\""]))),
        maybe("file_exists", one_or_many(path())),
        maybe("json_schema", schema()),
        maybe("check", one_or_many(nasty_text())),
    ])
}

fn arguments() -> BoxedStrategy<Value> {
    record(vec![
        maybe("q", data()),
        maybe("r-1", template()),
        maybe("s", words(&["{{ inputs.v }}", "5", "true"])),
    ])
}

fn runner() -> BoxedStrategy<Value> {
    words(&["builtin", "claude", "opencode", "codex", "session", "acp:my agent --flag: 'x'"])
}

fn summarize() -> BoxedStrategy<Value> {
    prop_oneof![boolean(), nasty_text()].boxed()
}

fn budget() -> BoxedStrategy<Value> {
    let cost = prop::sample::select(vec![0.25, 1.5, 0.000_000_001, 999_999.75]);
    record(vec![
        maybe("turns", int(1..100_001)),
        maybe("tokens", int(1..1_000_000_000_001)),
        maybe("cost", cost.prop_map(Value::Float).boxed()),
    ])
}

/// A step of any type; every one of its keys may be there.
fn step() -> BoxedStrategy<Vec<(String, Value)>> {
    let common = || {
        vec![
            maybe("description", nasty_text()),
            maybe("needs", one_or_many(words(&["s0"]))),
            maybe(
                "when",
                words(&[
                    "true",
                    "input != 'a: b' && run.id == \"#\"",
                    "{{ steps.s0.exit_code == 0 }}",
                    " has(inputs.v) ",
                ]),
            ),
            maybe("timeout", duration()),
        ]
    };
    let again = || {
        vec![
            maybe("on_failure", words(&["stop", "continue", "retry", "ask"])),
            maybe("max_retries", int(0..101)),
            maybe("retry_delay", duration()),
            maybe("idempotent", boolean()),
            maybe(
                "repeat",
                record(vec![
                    always("until", words(&["true", "input == '1.10'"])),
                    maybe("max", int(1..1_001)),
                    maybe("delay", duration()),
                ]),
            ),
            maybe("validation", validation()),
        ]
    };
    let for_each = || prop_oneof![list(data()), words(&["{{ [1, 2] }}", "{{ input | lines }}"])];
    let with = |own: Vec<Entry>, rest: Vec<Entry>| own.into_iter().chain(rest).collect::<Vec<_>>();
    let script = vec![
        always("run", prop_oneof![nasty_text(), words(&["echo {{ input }}\n", "npm ci\nnpm test"])]),
        maybe("shell", words(&["sh", "bash"])),
        maybe("cwd", path()),
        maybe(
            "env",
            record(vec![
                maybe("A", template()),
                maybe("_B1", Just(Value::Map(vec![("secret".to_owned(), text("tok"))])).boxed()),
            ]),
        ),
    ];
    let agent = vec![
        always("agent", words(&["reviewer", "é/x@1.0+y"])),
        always("prompt", template()),
        maybe("context", one_or_many(template())),
        maybe("tools", prop::collection::vec(nasty_text(), 0..3).prop_map(Value::List).boxed()),
        maybe("runner", runner()),
        maybe("output_schema", schema()),
        maybe("summarize", summarize()),
        maybe("budget", budget()),
    ];
    let skill = vec![
        always("skill", words(&["pdf", "team:skill"])),
        maybe("inputs", arguments()),
        maybe("runner", runner()),
        maybe("summarize", summarize()),
        maybe("budget", budget()),
    ];
    let option = |value: &'static str| {
        record(vec![
            always("label", nasty().prop_map(move |label| Value::Text(format!("{label}{value}")))),
            always("value", Just(text(value))),
        ])
    };
    let options = (option("rejected"), option("a: 'b'")).prop_map(|(no, yes)| Value::List(vec![no, yes]));
    let approval = vec![
        always("type", Just(text("approval"))),
        always("prompt", template()),
        maybe("options", options.boxed()),
        maybe("approvers", one_or_many(nasty_text())),
    ];
    let workflow = vec![always("workflow", words(&["deploy/production", "x"])), maybe("inputs", arguments())];
    let mut workflow_again = again();
    workflow_again.pop();
    let each = vec![always("for_each", for_each()), maybe("max_parallel", int(1..257))];
    prop_oneof![
        with(script, with(again(), common())),
        with(agent, with(again(), with(each, common()))),
        with(skill, with(again(), common())),
        with(approval, common()),
        with(workflow, with(workflow_again, common())),
    ]
    .prop_map(|entries: Vec<Option<(String, Value)>>| entries.into_iter().flatten().collect())
    .boxed()
}

fn steps() -> BoxedStrategy<Value> {
    prop::collection::vec(step(), 0..4)
        .prop_map(|steps| {
            let first = vec![("id".to_owned(), text("s0")), ("run".to_owned(), text("x"))];
            let rest = steps.into_iter().enumerate().map(|(index, mut step)| {
                step.insert(0, ("id".to_owned(), Value::Text(format!("step-{index}"))));
                Value::Map(step)
            });
            Value::List(std::iter::once(Value::Map(first)).chain(rest).collect())
        })
        .boxed()
}

fn ability() -> BoxedStrategy<Value> {
    let rules = |rules: Vec<Entry>| record(rules);
    let inputs = record(vec![
        always("v", rules(vec![maybe("default", nasty_text()), maybe("description", nasty_text())])),
        maybe(
            "text",
            rules(vec![
                always("type", Just(text("string"))),
                maybe("required", boolean()),
                maybe("secret", boolean()),
                maybe("enum", Just(Value::List(vec![text("1.10"), text("true"), text("a: b")])).boxed()),
            ]),
        ),
        maybe(
            "pattern",
            rules(vec![
                maybe("pattern", words(&["^v\\d+: '#'", "\"", "a|b"])),
                maybe("maxLength", int(9..1_000)),
            ]),
        ),
        maybe(
            "number",
            rules(vec![
                always("type", words(&["number"])),
                maybe("min", (-1e9..0.0_f64).prop_map(Value::Float).boxed()),
                maybe("max", int(1..9)),
                maybe("default", prop_oneof![int(0..1), (0.0..1.0_f64).prop_map(Value::Float)].boxed()),
            ]),
        ),
        maybe(
            "list",
            rules(vec![
                always("type", words(&["array"])),
                maybe("default", list(data())),
                maybe("minLength", int(0..1)),
            ]),
        ),
        maybe("flag", rules(vec![always("type", words(&["boolean"])), maybe("default", boolean())])),
        maybe("nothing", Just(Value::Null).boxed()),
    ]);
    let settings = record(vec![
        maybe("timeout", duration()),
        maybe("parallel", boolean()),
        maybe("max_parallel", int(1..257)),
        maybe("enforcement", words(&["strict", "normal", "loose"])),
        maybe("on_failure", words(&["stop", "continue", "retry", "ask"])),
        maybe("plan_approval", boolean()),
        maybe("budget", budget()),
    ]);
    record(vec![
        maybe("name", words(&["a", "deploy/production", "2024"])),
        always("description", nasty_text()),
        maybe("version", nasty_text()),
        maybe(
            "triggers",
            record(vec![
                maybe("keywords", list(nasty_text())),
                maybe("patterns", list(words(&["(?i)a: b", "#"]))),
            ]),
        ),
        always("inputs", inputs),
        always("steps", steps()),
        maybe("settings", settings),
        maybe("compatible_agents", list(words(&["a", "é"]))),
        maybe("exclusive_agent", words(&["b"])),
        maybe("protects", list(words(&["Bash(git push: *)", "mcp__x__*", "Write(# 'x')"]))),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, max_shrink_iters: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_reads_back_as_the_same_ability(data in ability()) {
        let source = emit(&data);
        let first = read(&source, "default/name");
        let errors: Vec<_> = first.problems.iter().filter(|problem| problem.is_error()).collect();
        prop_assert!(errors.is_empty(), "{:#?}\n{}", errors, source);
        let ability = first.ability.unwrap();
        let printed = print(&ability);
        let second = read(&printed, "another/name");
        let errors: Vec<_> = second.problems.iter().filter(|problem| problem.is_error()).collect();
        prop_assert!(errors.is_empty(), "{:#?}\n{}", errors, printed);
        prop_assert_eq!(second.ability.as_ref(), Some(&ability), "{}", printed);
        prop_assert_eq!(print(&ability), printed, "printing is stable");
    }
}
