//! Problems as SARIF 2.1.0, which editors, code-scanning pages and CI systems read.
//!
//! The document has one run of the tool `abide` with the rules that were broken, each with its page of
//! `abide explain`, and one result per problem. Columns count characters, as everywhere in abide.

use super::text::{Text, Texts};
use super::{FileReport, Sources};
use crate::ui::visible::escaped_json;
use abide_core::diagnostic::{Code, Diagnostic, Severity};
use abide_core::source::Span;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The schema that the document follows.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The name of the folder that relative paths start from.
const ROOT: &str = "%SRCROOT%";

/// Returns the problems of all files as one SARIF 2.1.0 document.
pub fn to_sarif(reports: &[FileReport<'_>], sources: Sources<'_>) -> String {
    let mut texts = Texts::new(sources);
    let broken: BTreeSet<Code> =
        reports.iter().flat_map(|report| report.problems).map(|problem| problem.code).collect();
    let codes: Vec<Code> = broken.into_iter().collect();
    let mut results = Vec::new();
    for report in reports {
        let own = texts.own(report);
        for problem in report.problems {
            results.push(result(report.path, own.as_deref(), problem, &codes, &mut texts));
        }
    }
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "abide",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {
                ROOT: { "description": { "text": "the folder that abide was started in" } },
            },
            "results": results,
        }],
    });
    // Strings and numbers only: there is nothing that could not be written.
    escaped_json(serde_json::to_string_pretty(&document).unwrap_or_default())
}

fn rule(code: Code) -> Value {
    json!({
        "id": code.id(),
        "name": format!("{code:?}"),
        "shortDescription": { "text": code.title() },
        "help": { "text": code.page(), "markdown": code.page() },
        "defaultConfiguration": { "level": level(code.severity()) },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn result(
    path: &str,
    own: Option<&Text>,
    problem: &Diagnostic,
    codes: &[Code],
    texts: &mut Texts<'_>,
) -> Value {
    let mut lines = vec![problem.message.as_str()];
    lines.extend(problem.label.as_deref());
    lines.extend(problem.help.as_deref());
    let mut result = json!({
        "ruleId": problem.code.id(),
        "ruleIndex": codes.iter().position(|code| *code == problem.code),
        "level": level(problem.severity()),
        "message": { "text": lines.join("\n") },
        "locations": [{ "physicalLocation": physical(path, own, problem.at) }],
    });
    if !problem.related.is_empty() {
        let related = problem.related.iter().map(|related| {
            let path = related.file.as_deref().unwrap_or(path);
            let text = texts.other(path);
            json!({
                "physicalLocation": physical(path, text.as_deref(), Some(related.at)),
                "message": { "text": related.text },
            })
        });
        result["relatedLocations"] = related.collect();
    }
    if let (Some(fix), Some(text)) = (&problem.fix, own) {
        result["fixes"] = json!([{
            "description": { "text": problem.label.as_deref().or(problem.help.as_deref()).unwrap_or("replace it") },
            "artifactChanges": [{
                "artifactLocation": artifact(path),
                "replacements": [{
                    "deletedRegion": region(text, fix.at),
                    "insertedContent": { "text": fix.text },
                }],
            }],
        }]);
    }
    result
}

fn physical(path: &str, text: Option<&Text>, at: Option<Span>) -> Value {
    let mut location = Map::new();
    location.insert("artifactLocation".into(), artifact(path));
    if let (Some(text), Some(at)) = (text, at) {
        location.insert("region".into(), region(text, at));
    }
    Value::Object(location)
}

fn region(text: &Text, at: Span) -> Value {
    let range = text.range(at);
    let (start, end) = (text.place(range.start), text.place(range.end));
    json!({
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
    })
}

fn artifact(path: &str) -> Value {
    let path = if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    let drive = cfg!(windows) && path.as_bytes().get(1) == Some(&b':');
    if path.starts_with('/') {
        json!({ "uri": format!("file://{}", encoded(&path)) })
    } else if drive {
        json!({ "uri": format!("file:///{}:{}", &path[..1], encoded(&path[2..])) })
    } else {
        json!({ "uri": encoded(path.strip_prefix("./").unwrap_or(&path)), "uriBaseId": ROOT })
    }
}

/// Returns a path as part of a URI; a colon is encoded too, because a relative path must not look like a scheme.
fn encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
