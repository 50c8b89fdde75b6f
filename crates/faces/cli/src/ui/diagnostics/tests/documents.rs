//! The JSON and SARIF documents.

use super::{RELEASE, no_sources, report, unknown_need};
use crate::ui::diagnostics::{FileReport, to_json, to_sarif};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::source::Span;
use insta::assert_snapshot;
use serde_json::{Value, json};

fn parsed(document: &str) -> Value {
    serde_json::from_str(document).unwrap()
}

#[test]
fn json_has_every_field() {
    assert_snapshot!(to_json(&[report(RELEASE, &[unknown_need()])], &no_sources), @r#"
    {
      "files": [
        {
          "path": "release.yaml",
          "problems": [
            {
              "code": "E0302",
              "severity": "error",
              "title": "a step needs a step that does not exist",
              "message": "step `deploy` needs `aprove`, which is not a step",
              "line": 7,
              "column": 13,
              "end_line": 7,
              "end_column": 19,
              "offset": 127,
              "length": 6,
              "label": "did you mean `approve`?",
              "help": "`needs` names steps of the same ability by their `id`",
              "related": [],
              "fix": {
                "line": 7,
                "column": 13,
                "end_line": 7,
                "end_column": 19,
                "offset": 127,
                "length": 6,
                "text": "approve"
              },
              "explain": "abide explain E0302"
            }
          ]
        }
      ],
      "errors": 1,
      "warnings": 0
    }
    "#);
}

#[test]
fn json_places_count_characters_and_bytes() {
    let source = "ä: 漢字\r\nb: 1\n";
    let problem = Diagnostic::new(Code::WrongType, Span::new(4, 13), "wrong")
        .related_in("other.yaml".into(), Span::new(3, 4), "there")
        .related_in("gone.yaml".into(), Span::new(3, 4), "nowhere");
    let whole = Diagnostic::whole_file(Code::Unreadable, "no");
    let sources = |path: &str| (path == "other.yaml").then(|| "ü\nx".to_owned());
    let document = parsed(&to_json(&[report(source, &[problem, whole])], &sources));
    let problems = &document["files"][0]["problems"];
    let numbers = |value: &Value| {
        ["line", "column", "end_line", "end_column", "offset", "length"].map(|key| value[key].as_u64())
    };
    assert_eq!(numbers(&problems[0]), [1, 4, 2, 2, 4, 9].map(Some));
    assert_eq!(numbers(&problems[0]["related"][0]), [2, 1, 2, 2, 3, 1].map(Some));
    assert_eq!(numbers(&problems[0]["related"][1]), [None; 6]);
    assert_eq!(numbers(&problems[1]), [None; 6]);
    assert_eq!(problems[1]["fix"], Value::Null);
    assert_eq!((&document["errors"], &document["warnings"]), (&json!(2), &json!(0)));
}

#[test]
fn sarif_has_a_tool_its_rules_and_a_result_for_each_problem() {
    let cycle = Diagnostic::new(Code::WorkflowCycle, Span::new(0, 4), "in a circle").related_in(
        "/abs/ä b.yaml".into(),
        Span::new(0, 1),
        "`b` calls `a`",
    );
    let whole = Diagnostic::whole_file(Code::Shadowed, "another file wins");
    let problems = [unknown_need(), cycle, whole];
    let file = FileReport { path: "./a b/c:ü.yaml", source: Some(RELEASE), problems: &problems };
    let document = parsed(&to_sarif(&[file], &no_sources));
    assert_eq!(document["version"], "2.1.0");
    let run = &document["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let driver = &run["tool"]["driver"];
    assert_eq!((&driver["name"], &driver["version"]), (&json!("abide"), &json!(env!("CARGO_PKG_VERSION"))));
    let rules: Vec<[&Value; 3]> = driver["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| [&rule["id"], &rule["shortDescription"]["text"], &rule["defaultConfiguration"]["level"]])
        .collect();
    assert_eq!(
        json!(rules),
        json!([
            ["E0302", Code::UnknownNeed.title(), "error"],
            ["E0604", Code::WorkflowCycle.title(), "error"],
            ["W0901", Code::Shadowed.title(), "warning"],
        ])
    );
    assert_eq!(driver["rules"][0]["help"]["markdown"], Code::UnknownNeed.page());
    let own = json!({ "uri": "a%20b/c%3A%C3%BC.yaml", "uriBaseId": "%SRCROOT%" });
    let region = json!({ "startLine": 7, "startColumn": 13, "endLine": 7, "endColumn": 19 });
    assert_eq!(
        run["results"][0],
        json!({
            "ruleId": "E0302",
            "ruleIndex": 0,
            "level": "error",
            "message": { "text": "step `deploy` needs `aprove`, which is not a step\ndid you mean `approve`?\n`needs` names steps of the same ability by their `id`" },
            "locations": [{ "physicalLocation": { "artifactLocation": own, "region": region } }],
            "fixes": [{
                "description": { "text": "did you mean `approve`?" },
                "artifactChanges": [{
                    "artifactLocation": own,
                    "replacements": [{ "deletedRegion": region, "insertedContent": { "text": "approve" } }],
                }],
            }],
        })
    );
    assert_eq!(
        run["results"][1]["relatedLocations"],
        json!([{
            "physicalLocation": { "artifactLocation": { "uri": "file:///abs/%C3%A4%20b.yaml" } },
            "message": { "text": "`b` calls `a`" },
        }])
    );
    assert_eq!(run["results"][2]["level"], "warning");
    assert_eq!(run["results"][2]["locations"], json!([{ "physicalLocation": { "artifactLocation": own } }]));
}

#[test]
fn nothing_wrong_is_a_document_too() {
    let reports = [report(RELEASE, &[])];
    assert_eq!(
        parsed(&to_json(&reports, &no_sources)),
        json!({ "files": [{ "path": "release.yaml", "problems": [] }], "errors": 0, "warnings": 0 })
    );
    assert_eq!(parsed(&to_sarif(&reports, &no_sources))["runs"][0]["results"], json!([]));
}
