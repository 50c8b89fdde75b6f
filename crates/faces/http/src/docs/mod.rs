//! The page `/docs`: the `OpenAPI` document for people.
//!
//! One file without scripts and without anything from elsewhere: it works in every browser, behind every proxy, and its policy
//! lets nothing but its own style in.

mod shape;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::HeaderValue;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use shape::{escaped, fields, kind};
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");

/// Returns what the page may load: its own style, known by its digest.
pub(crate) fn policy() -> HeaderValue {
    let digest = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).unwrap_or_else(|_| HeaderValue::from_static("default-src 'none'"))
}

/// One thing that can be asked.
struct Operation<'d> {
    method: &'d str,
    path: &'d str,
    about: &'d Value,
}

impl Operation<'_> {
    fn id(&self) -> &str {
        self.about["operationId"].as_str().unwrap_or_default()
    }

    /// Returns what it belongs to: the first word of its path.
    fn group(&self) -> &str {
        let word = self.path.trim_start_matches("/v1/").split('/').next().unwrap_or_default();
        if self.path.starts_with("/v1/")
            && self.path.matches('/').count() + usize::from(self.path.contains('{')) > 2
        {
            return word;
        }
        match word {
            "health" | "ready" | "version" | "metrics" | "openapi.json" | "/docs" | "" => "server",
            word => word,
        }
    }
}

/// Makes the page.
pub(crate) fn page(document: &Value) -> String {
    let empty = Map::new();
    let paths = document["paths"].as_object().unwrap_or(&empty);
    let mut operations: Vec<Operation<'_>> = Vec::new();
    for (path, methods) in paths {
        for (method, about) in methods.as_object().unwrap_or(&empty) {
            operations.push(Operation { method, path, about });
        }
    }
    let rank =
        |method: &str| ["get", "post", "put", "patch", "delete"].iter().position(|known| *known == method);
    operations.sort_by_key(|one| (one.path.to_owned(), rank(one.method)));
    let mut groups: Vec<&str> = operations.iter().map(Operation::group).collect();
    groups.sort_unstable();
    groups.dedup();
    // What the server says about itself comes last: nobody comes for it.
    groups.sort_by_key(|group| *group == "server");

    let version = document["info"]["version"].as_str().unwrap_or_default();
    let (mut nav, mut main) = (String::new(), String::new());
    for group in &groups {
        let own: Vec<&Operation<'_>> = operations.iter().filter(|one| one.group() == *group).collect();
        let name = escaped(group);
        let _ = write!(nav, "<li><a href=\"#{name}\">{name}</a><ul>");
        let _ = write!(main, "<section><h2 id=\"{name}\">{name}</h2>");
        for one in own {
            let summary = one.about["summary"].as_str().unwrap_or_default();
            let _ = write!(
                nav,
                "<li><a href=\"#{id}\" title=\"{about}\"><span class=\"m {method}\">{method}</span><span>{path}</span></a></li>",
                id = escaped(one.id()),
                about = escaped(summary),
                method = escaped(one.method),
                path = breakable(one.path.trim_start_matches("/v1")),
            );
            operation(&mut main, one);
        }
        nav.push_str("</ul></li>");
        main.push_str("</section>");
    }
    let schemas = document["components"]["schemas"].as_object().unwrap_or(&empty);
    main.push_str("<section><h2 id=\"schemas\">schemas</h2>");
    for (name, schema) in schemas {
        let _ = write!(
            main,
            "<details id=\"schema-{name}\"><summary><code>{name}</code></summary>{fields}</details>",
            name = escaped(name),
            fields = fields(schema),
        );
    }
    main.push_str("</section>");
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
<meta name=\"color-scheme\" content=\"light dark\"><title>abide API {version}</title><style>{STYLE}</style></head><body>\
<a class=\"skip\" href=\"#main\">Skip to the routes</a>\
<header><p class=\"name\">abide <span>API {version}</span></p><p><a href=\"/v1/openapi.json\">openapi.json</a></p></header>\
<div class=\"page\"><nav aria-label=\"Routes\"><details open><summary>Routes</summary><ul><li><a href=\"#start\">start</a></li>{nav}\
<li><a href=\"#problems\">problems</a></li><li><a href=\"#schemas\">schemas</a></li></ul></details></nav>\
<main id=\"main\">{intro}{main}{problems}</main></div></body></html>",
        version = escaped(version),
        intro = intro(document),
        problems = problems(document),
    )
}

fn intro(document: &Value) -> String {
    let about = document["info"]["description"].as_str().unwrap_or_default();
    format!(
        "<section class=\"intro\"><h1 id=\"start\">abide over HTTP</h1><p>{about}</p>\
<p>A key goes into the header <code>Authorization: Bearer abide_…</code>. On a loopback address, what the scopes <code>read</code> and \
<code>run</code> allow needs none. Lists come in pages: the <code>next</code> of one is the <code>after</code> of the following one.</p>\
<pre><code>curl -s http://127.0.0.1:7070/v1/abilities\n\
curl -s http://127.0.0.1:7070/v1/runs -H 'Content-Type: application/json' \\\n  -d '{{\"ability\": \"hello\"}}'</code></pre></section>",
        about = escaped(about).replace('`', ""),
    )
}

fn operation(out: &mut String, one: &Operation<'_>) {
    let about = one.about;
    let scope = about["security"][0]["key"][0].as_str();
    let _ = write!(
        out,
        "<article id=\"{id}\"><h3><span class=\"m {method}\">{method}</span> <code>{path}</code></h3><p>{summary}</p><p class=\"facts\">{scope}<span class=\"id\">{id}</span></p>",
        id = escaped(one.id()),
        method = escaped(one.method),
        path = breakable(one.path),
        summary = marked(about["summary"].as_str().unwrap_or_default()),
        scope = match scope {
            Some(scope) => format!("<span class=\"scope\">scope {}</span>", escaped(scope)),
            None => "<span class=\"scope open\">open to all</span>".to_owned(),
        },
    );
    let parameters: Vec<&Value> = about["parameters"].as_array().into_iter().flatten().collect();
    if !parameters.is_empty() {
        out.push_str("<h4>Parameters</h4><dl>");
        for parameter in parameters {
            let name = parameter["name"].as_str().unwrap_or_default();
            let place = parameter["in"].as_str().unwrap_or_default();
            let _ = write!(
                out,
                "<dt><code>{name}</code> <span class=\"kind\">{kind}, in the {place}</span></dt><dd>{about}</dd>",
                name = escaped(name),
                kind = kind(&parameter["schema"]),
                place = escaped(place),
                about = marked(parameter["description"].as_str().unwrap_or_default()),
            );
        }
        out.push_str("</dl>");
    }
    for (content, body) in about["requestBody"]["content"].as_object().into_iter().flatten() {
        let _ =
            write!(out, "<h4>Body</h4><p><code>{}</code>: {}</p>", escaped(content), kind(&body["schema"]));
    }
    out.push_str("<h4>Answer</h4><ul class=\"answers\">");
    for (status, answer) in about["responses"].as_object().into_iter().flatten() {
        if !status.starts_with('2') {
            continue;
        }
        let content = answer["content"].as_object();
        let told: Vec<String> = content
            .into_iter()
            .flatten()
            .map(|(content, body)| format!("<code>{}</code>: {}", escaped(content), kind(&body["schema"])))
            .collect();
        let told = if told.is_empty() { "no content".to_owned() } else { told.join("; ") };
        let _ = write!(out, "<li><b>{}</b> {told}</li>", escaped(status));
    }
    out.push_str("<li>or a <a href=\"#problems\">problem</a></li></ul></article>");
}

/// Lists every code of a refusal, by status.
fn problems(document: &Value) -> String {
    let mut rows = String::new();
    let any = document["paths"]["/v1/runs"]["post"]["responses"].as_object();
    for (status, answer) in any.into_iter().flatten() {
        if status.starts_with('2') {
            continue;
        }
        let told = answer["description"].as_str().unwrap_or_default();
        for one in told.split("; `") {
            let (code, about) = one.trim_start_matches('`').split_once("`: ").unwrap_or((one, ""));
            let _ = write!(
                rows,
                "<tr><td>{}</td><td><code>{}</code></td><td>{}</td></tr>",
                escaped(status),
                escaped(code),
                escaped(about)
            );
        }
    }
    format!(
        "<section><h2 id=\"problems\">problems</h2><p>Errors are <code>application/problem+json</code>. Programs branch on <code>code</code>, which never changes its meaning.</p>\
<div class=\"wide\"><table><thead><tr><th>status</th><th>code</th><th>meaning</th></tr></thead><tbody>{rows}</tbody></table></div></section>"
    )
}

/// Escapes a path, and lets it break at its slashes on a narrow screen.
fn breakable(path: &str) -> String {
    escaped(path).replace('/', "/<wbr>")
}

/// Escapes a text, with what stands in backquotes as code.
fn marked(text: &str) -> String {
    let mut out = String::new();
    for (position, part) in escaped(text).split('`').enumerate() {
        if position % 2 == 1 {
            let _ = write!(out, "<code>{part}</code>");
        } else {
            out.push_str(part);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_tells_every_route_and_schema_once_and_loads_nothing() {
        let document = crate::openapi();
        let page = page(&document);
        for route in crate::routes::ROUTES {
            let there = format!("<article id=\"{}\">", route.id);
            assert_eq!(page.matches(&there).count(), 1, "{}", route.id);
        }
        for name in document["components"]["schemas"].as_object().unwrap().keys() {
            assert_eq!(page.matches(&format!("id=\"schema-{name}\"")).count(), 1, "{name}");
        }
        for link in page.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            assert!(page.contains(&format!("id=\"{link}\"")), "nothing is called {link}");
        }
        for never in ["<script", "<img", "<link", "src=", "style=\"", "@import", "url("] {
            assert!(!page.contains(never), "{never}");
        }
    }

    #[test]
    fn what_a_document_says_is_never_code_of_the_page() {
        let document = serde_json::json!({
            "info": { "version": "<b>", "description": "<i>" },
            "paths": { "/v1/<x>": { "get": { "operationId": "a\"b", "summary": "`<script>`", "parameters": [
                { "name": "<p>", "in": "query", "schema": { "type": "<t>", "enum": ["<e>"] }, "description": "<d>" },
            ] } } },
            "components": { "schemas": { "<s>": { "type": "object", "properties": { "<f>": { "type": "string" } } } } },
        });
        let page = page(&document);
        for never in ["<x>", "<script>", "<p>\"", "<t>", "<e>", "<d>", "<s>", "<f>", "a\"b", "<i>"] {
            assert!(!page.contains(never), "{never}");
        }
    }
}
