//! Tables of templates: what they render, and how mistakes are told.

use super::{Part, Template};
use crate::source::Span;
use crate::value::Value;
use crate::value::expression::{Fields, Type};
use proptest::prelude::*;

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn values() -> Value {
    map([
        (
            "inputs",
            map([
                ("version", text("v1")),
                ("replicas", Value::Int(3)),
                ("regions", Value::List(vec![text("eu"), text("us")])),
                ("none", Value::List(vec![])),
                ("reason", Value::Null),
            ]),
        ),
        ("steps", map([("get-diff", map([("output", text(" a\nb\r\n"))]))])),
    ])
}

fn scope() -> Fields {
    Fields::from_iter([
        (
            "inputs",
            Type::record([
                ("version", Type::Text),
                ("replicas", Type::Int),
                ("regions", Type::list(Type::Text)),
                ("none", Type::list(Type::Text)),
                ("reason", Type::Optional(Box::new(Type::Text))),
            ]),
        ),
        ("steps", Type::record([("get-diff", Type::record([("output", Type::Text)]))])),
    ])
}

fn parsed(text: &str) -> Template {
    Template::parse(text, &|at| at).unwrap_or_else(|problems| panic!("{text}: {problems:?}"))
}

#[test]
fn templates_render() {
    for (template, rendered) in [
        ("", ""),
        ("plain ${#x} {% raw %} {# no #} }} { { }", "plain ${#x} {% raw %} {# no #} }} { { }"),
        ("{{inputs.version}}", "v1"),
        ("a {{ inputs.version }}{{ inputs.replicas + 1 }} b", "a v14 b"),
        ("{{ inputs.regions }}", "[\"eu\",\"us\"]"),
        ("{{ inputs.reason }}", "null"),
        ("{{ \"{{\" }} and {{ '}}' }}", "{{ and }}"),
        ("docker ps --format '{{ \"{{.Names}}\" }}'", "docker ps --format '{{.Names}}'"),
        ("{{ inputs.version == 'v1' ? 'a' : 'b' }}", "a"),
        ("{{\n  inputs.version\n  | upper\n}}", "V1"),
        ("{{ 'A b ' | lower | trim }}|", "a b|"),
        ("{{ inputs.version | json }}", "\"v1\""),
        ("{{ inputs.regions | join(', ') }}", "eu, us"),
        ("{{ [1, 'a', null] | join('-') }}", "1-a-null"),
        ("{{ inputs.regions | first }} {{ inputs.regions | last }}", "eu us"),
        ("{{ inputs.regions | length }}{{ 'grün' | length }}{{ inputs | length }}", "245"),
        ("{{ steps.get-diff.output | lines }}", "[\" a\",\"b\"]"),
        ("{{ inputs.reason | default('none') | upper }}", "NONE"),
        ("{{ inputs.version | default(1 / 0) }}", "v1"),
        ("{{ inputs.nothing | default(inputs.version) }}", "v1"),
        ("{{ inputs.none | first | default('nowhere') }}", "nowhere"),
        ("{{ inputs.version | raw }}", "v1"),
        ("é{{ inputs.version }}é", "év1é"),
    ] {
        assert_eq!(parsed(template).render(&values()).unwrap(), rendered, "{template}");
        assert_eq!(parsed(template).to_string(), template);
    }
}

#[test]
fn a_single_placeholder_keeps_its_type() {
    for (template, value) in [
        ("{{ inputs.replicas }}", Value::Int(3)),
        ("{{ inputs.regions | length }}", Value::Int(2)),
        (" {{ inputs.replicas }}", text(" 3")),
        ("{{ 1 }}{{ 2 }}", text("12")),
        ("literal", text("literal")),
    ] {
        assert_eq!(parsed(template).render_value(&values()), Ok(value), "{template}");
    }
    assert_eq!(parsed("{{ inputs.replicas }}").check(&scope()).ty.to_string(), "an integer");
    assert_eq!(parsed("{{ inputs.regions | first }}").check(&scope()).ty.to_string(), "a string");
    assert_eq!(parsed("{{ inputs.replicas }} ").check(&scope()).ty.to_string(), "a string");
    assert_eq!(parsed("{{ inputs.reason | default(1) }}").check(&scope()).ty.to_string(), "anything");
}

#[test]
fn parts_are_text_and_placeholders_in_turn() {
    let template = Template::parse("a {{ x | raw }}{{ y | upper }} b", &|at| at + 100).unwrap();
    let shown: Vec<String> = template
        .parts()
        .map(|part| match part {
            Part::Text(text) => format!("text {text:?}"),
            Part::Placeholder(placeholder) => format!(
                "{} {} raw={} {:?}",
                placeholder.expression,
                placeholder.filters.len(),
                placeholder.raw,
                placeholder.span.range()
            ),
        })
        .collect();
    assert_eq!(shown, ["text \"a \"", "x 0 raw=true 102..115", "y 1 raw=false 115..130", "text \" b\""]);
    assert!(!template.is_literal());
    assert!(parsed("a").is_literal());
    assert_eq!(parsed("a").parts().collect::<Vec<_>>(), [Part::Text("a")]);
    assert_eq!(parsed("").parts().count(), 0);
}

#[test]
fn references_include_the_arguments_of_filters() {
    let template = parsed("{{ inputs.a | default(steps.get-diff.output) }} {{ inputs.b }}");
    let paths: Vec<String> = template.references().map(|path| path.names().join(".")).collect();
    assert_eq!(paths, ["inputs.a", "steps.get-diff.output", "inputs.b"]);
}

/// Writes problems as `underlined | message | label | help | replacement`, without what is not there.
fn refused(template: &str) -> Vec<String> {
    let problems = Template::parse(template, &|at| at).expect_err(template);
    let shown = problems.into_iter().map(|problem| {
        let underlined = template[problem.span.range()].to_owned();
        let extras = [problem.label, problem.help, problem.replacement.map(|text| format!("→ {text}"))];
        [underlined, problem.message].into_iter().chain(extras.into_iter().flatten()).collect::<Vec<_>>()
    });
    shown.map(|parts| parts.join(" | ")).collect()
}

#[test]
fn every_mistake_is_told_with_its_remedy() {
    for (template, told) in [
        ("a {{ inputs.x", "{{ | `{{` has no `}}` | write {{ \"{{\" }} for a literal `{{`"),
        ("a {{", "{{ | `{{` has no `}}` | write {{ \"{{\" }} for a literal `{{`"),
        ("{{ '}}' ", "{{ | `{{` has no `}}` | write {{ \"{{\" }} for a literal `{{`"),
        ("{{ }}", "{{ }} | the placeholder is empty | to keep it as text, write {{ \"{{ }}\" }}"),
        ("{{}}", "{{}} | the placeholder is empty | to keep it as text, write {{ \"{{}}\" }}"),
        (
            "docker ps --format '{{.Names}}'",
            "{{.Names}} | this is a template of another tool | to keep it as text, write {{ \"{{.Names}}\" }}",
        ),
        (
            "{{json .}}",
            "{{json .}} | this is a template of another tool | to keep it as text, write {{ \"{{json .}}\" }}",
        ),
        (
            "{{index .A \"b\"}}",
            "{{index .A \"b\"}} | this is a template of another tool | to keep it as text, write {{ '{{index .A \"b\"}}' }}",
        ),
        (
            "{{.A \"b\" 'c'}}",
            "{{.A \"b\" 'c'}} | this is a template of another tool | to keep it as text, write {{ \"{{\" }} for its `{{`",
        ),
        (
            "{{#each x}}",
            "{{#each x}} | this is a template of another tool | to keep it as text, write {{ \"{{#each x}}\" }}",
        ),
        ("{{ a | uper }}", "uper | there is no filter `uper` | did you mean `upper`? | → upper"),
        (
            "{{ a | capitalize }}",
            "capitalize | there is no filter `capitalize` | known are `default`, `upper`, `lower`, `trim`, `json`, `join`, `first`, `last`, `length`, `lines`, `raw`",
        ),
        ("{{ a | }}", "}} | the name of a filter is missing after `|`"),
        ("{{ a | default }}", "default | `default` takes one value | write `default(\"none\")`"),
        ("{{ a | join() }}", "join | `join` takes one value | write `join(\", \")`"),
        ("{{ a | upper(1) }}", "upper | `upper` takes no value"),
        ("{{ a | raw(1) }}", "raw | `raw` takes no value"),
        ("{{ a | raw | upper }}", "raw | `raw` must be the last filter"),
        ("{{ a | raw | raw }}", "raw | `raw` must be the last filter"),
        ("{{ (a }}", "}} | `}}` is not expected here"),
        ("{{ a = 1 }}", "= | use `==` to compare | → =="),
        ("{{ a b }}", "b | an operator is missing before `b`"),
        (
            "{{ (a | upper) }}",
            "| | a filter stands at the end of a placeholder | write `{{ value | filter }}` in a template, and `||` for “or”",
        ),
    ] {
        assert_eq!(refused(template), [told], "{template}");
    }
    let long = format!("{{{{ '{}' }}}}", "a".repeat(5_000));
    let problem = Template::parse(long, &|at| at).unwrap_err().remove(0);
    assert_eq!(problem.message, "the expression is longer than 4096 bytes");
    assert_eq!(problem.help.as_deref(), Some("compute the value in a step and use its output"));
}

#[test]
fn all_mistakes_of_a_template_are_told_at_once() {
    let told = refused("{{ a = 1 }} {{ fine }} {{ 'x }} {{ y | uper }} {{ z");
    let messages: Vec<&str> = told.iter().map(|line| line.split(" | ").nth(1).unwrap()).collect();
    assert_eq!(
        messages,
        [
            "use `==` to compare",
            "a text has no closing quote",
            "there is no filter `uper`",
            "`{{` has no `}}`"
        ]
    );
}

#[test]
fn filters_are_checked_like_everything_else() {
    for (template, told) in [
        ("{{ inputs.replicas | upper }}", "`upper` needs a string, not an integer"),
        ("{{ inputs.replicas | lines }}", "`lines` needs a string, not an integer"),
        ("{{ inputs.version | first }}", "`first` needs a list, not a string"),
        ("{{ inputs.version | join(',') }}", "`join` needs a list, not a string"),
        ("{{ inputs.regions | join(1) }}", "`join` puts a string between the items, not an integer"),
        ("{{ inputs.replicas | length }}", "`length` needs a string, a list or a mapping, not an integer"),
        ("{{ inputs.reason | default(inputs.typo) }}", "`inputs` has no field `typo`"),
        ("{{ a }}", "`a` is not known here"),
    ] {
        let problems = parsed(template).check(&scope()).problems;
        assert_eq!(problems.iter().map(|p| p.message.as_str()).collect::<Vec<_>>(), [told], "{template}");
    }
    assert_eq!(parsed("{{ a }}{{ b }}").check(&scope()).problems.len(), 2);
}

#[test]
fn what_cannot_be_rendered_is_an_error_with_its_place() {
    for (template, told) in [
        ("{{ inputs.nothing }}", "nothing | `inputs.nothing` has no value"),
        ("{{ inputs.nothing | upper }}", "nothing | `inputs.nothing` has no value"),
        ("{{ inputs.replicas / 0 | default(1) }}", "0 | division by zero"),
        ("{{ inputs.none | last }}", "last | `last` of an empty list has no value"),
        ("{{ inputs.replicas | trim }}", "trim | `trim` needs a string, not an integer"),
        ("{{ inputs.replicas | join(',') }}", "join | `join` needs a list, not an integer"),
        (
            "{{ inputs.replicas | length }}",
            "length | `length` needs a string, a list or a mapping, not an integer",
        ),
    ] {
        let error = parsed(template).render(&values()).unwrap_err();
        assert_eq!(format!("{} | {error}", &template[error.span.range()]), told, "{template}");
    }
}

#[test]
fn what_is_rendered_is_bounded() {
    let large = map([("x", text(&"x".repeat(9 << 20)))]);
    for template in ["{{ x }}{{ x }}", "{{ [x, 1] | first }}{{ x }}"] {
        let error = parsed(template).render(&large).unwrap_err();
        assert_eq!(error.to_string(), "the result is larger than 16777216 bytes");
    }
    let list = map([("l", Value::List(vec![text(&"x".repeat(1 << 20)); 20]))]);
    let error = parsed("{{ l | join('') }}").render(&list).unwrap_err();
    assert_eq!(error.to_string(), "the result is larger than 16777216 bytes");
}

#[test]
fn spans_go_through_the_positions_of_the_scalar() {
    // A block scalar: two spaces of indentation before each line.
    let decoded = "a\n{{ x = 1 }}";
    let positions = |at: usize| if at < 2 { at + 2 } else { at + 4 };
    let problem = Template::parse(decoded, &positions).unwrap_err().remove(0);
    assert_eq!(problem.span, Span::new(11, 12));
    let template = Template::parse("a\n{{ x }}", &positions).unwrap();
    assert_eq!(template.placeholders()[0].span, Span::new(6, 13));
}

#[test]
fn templates_are_equal_when_their_texts_are() {
    assert_eq!(parsed("{{ a }}"), Template::parse("{{ a }}", &|at| at + 5).unwrap());
    assert_ne!(parsed("{{ a }}"), parsed("{{a}}"));
    assert_eq!(format!("{:?}", parsed("a")), "Template(\"a\")");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_parser_panic(text in "(\\{\\{|\\}\\}|[a-z|'\"().é \\n-]){0,20}") {
        match Template::parse(text.as_str(), &|at| at) {
            Ok(template) => {
                let _ = template.check(&scope());
                let _ = template.render(&values());
                let length: usize = template.parts().map(|part| match part {
                    Part::Text(text) => text.len(),
                    Part::Placeholder(placeholder) => placeholder.range.len(),
                }).sum();
                prop_assert_eq!(length, text.len());
                prop_assert_eq!(template.to_string(), text);
            }
            Err(problems) => for problem in problems {
                prop_assert!(text.get(problem.span.range()).is_some(), "{:?}", problem);
            },
        }
    }

    #[test]
    fn text_without_braces_stands_for_itself(text in "[^{]*") {
        let template = parsed(&text);
        prop_assert!(template.is_literal());
        prop_assert_eq!(template.render(&values()).unwrap(), text);
    }
}
