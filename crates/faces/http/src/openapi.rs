//! The `OpenAPI` document, made from the table of routes.

use crate::bounds::{LONGEST_PAGE, PAGE};
use crate::operations::LONGEST_ONCE;
use crate::problem::Code;
use crate::routes::{Access, Answer, BYTES, Header, Parameter, ROUTES, Route};
use crate::schemas::{all, named};
use http::Method;
use serde_json::{Map, Value, json};

/// Returns the `OpenAPI` 3.1 document of this version.
pub fn document() -> Value {
    let mut paths = Map::new();
    for route in ROUTES {
        let at = paths.entry(route.path).or_insert_with(|| json!({}));
        at[route.method.as_str().to_lowercase()] = operation(route);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "abide",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Abilities, runs and approvals over HTTP. Errors are application/problem+json; programs branch on `code`.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "http://127.0.0.1:7070" }],
        "paths": paths,
        "components": {
            "schemas": all(),
            "securitySchemes": {
                "key": { "type": "http", "scheme": "bearer", "description": "A key of `abide key create`" },
            },
        },
    })
}

fn operation(route: &Route) -> Value {
    let parts = route.parts().map(|name| {
        json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } })
    });
    let query = route.query.iter().map(|(name, parameter)| query(name, *parameter));
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.summary,
        "parameters": parts.chain(query).chain(route.headers().iter().copied().map(header)).collect::<Vec<_>>(),
        "responses": responses(route),
    });
    match route.access {
        Access::Open => operation["security"] = json!([]),
        // On loopback no key is needed to read and to start runs; one that is given counts.
        Access::Scope(scope) => {
            operation["security"] = json!([{ "key": [scope.word()] }]);
            operation["description"] = Value::from(format!("Needs the scope `{}`.", scope.word()));
        }
    }
    if let Some(body) = route.body {
        let content = match body {
            BYTES => json!({ "application/octet-stream": { "schema": {} } }),
            body => json!({ (route.takes): { "schema": named(body) } }),
        };
        operation["requestBody"] = json!({ "required": !route.may_be_bare(), "content": content });
    }
    operation
}

fn query(name: &str, parameter: Parameter) -> Value {
    let (schema, about) = match parameter {
        Parameter::Limit => (
            json!({ "type": "integer", "minimum": 1, "maximum": LONGEST_PAGE, "default": PAGE }),
            "How many rows the page may have",
        ),
        Parameter::After => (json!({ "type": "string", "minLength": 1 }), "The `next` of the page before"),
        Parameter::Text(about) => (json!({ "type": "string" }), about),
        Parameter::Word(words, about) => (json!({ "type": "string", "enum": words }), about),
        Parameter::Number(about) => (json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX }), about),
        Parameter::Flag(about) => (json!({ "type": "boolean", "default": false }), about),
    };
    json!({ "name": name, "in": "query", "required": false, "schema": schema, "description": about })
}

fn header(header: Header) -> Value {
    let (name, schema, about) = match header {
        Header::IdempotencyKey => (
            "Idempotency-Key",
            json!({ "type": "string", "minLength": 1, "maxLength": LONGEST_ONCE, "pattern": "^[!-~]([ -~]*[!-~])?$" }),
            "What the caller calls this request: however often it is sent, it counts once",
        ),
        Header::TraceParent => (
            "traceparent",
            json!({ "type": "string" }),
            "The caller's span, as W3C Trace Context has it; what cannot be read is left out",
        ),
        Header::IfMatch => (
            "If-Match",
            json!({ "type": "string" }),
            "The `ETag` that the caller has seen; another version is left as it is",
        ),
        Header::IfNoneMatch => {
            ("If-None-Match", json!({ "type": "string", "enum": ["*"] }), "Only if nothing is there")
        }
        Header::LastEventId => (
            "Last-Event-ID",
            json!({ "type": "string", "pattern": "^[0-9]{1,18}$" }),
            "The id of the last event that is known; `after` is not looked at then",
        ),
    };
    json!({ "name": name, "in": "header", "required": false, "schema": schema, "description": about })
}

/// Returns the headers of an answer.
fn told(route: &Route, status: u16) -> Value {
    let text = |about: &str| json!({ "schema": { "type": "string" }, "description": about });
    let mut headers = json!({ "X-Request-Id": text("What this request is called in the log; the caller's own, if it has one") });
    if status < 300 && route.is_tagged() {
        headers["ETag"] = text("Which version this is, for `If-Match`");
    }
    if status < 300 && route.headers().contains(&Header::IdempotencyKey) {
        headers["Idempotency-Replayed"] = text("`true` if this request was sent before");
    }
    if status == 429 {
        let schema = json!({ "type": "integer", "minimum": 1 });
        headers["Retry-After"] =
            json!({ "schema": schema, "description": "In how many seconds to try again" });
    }
    headers
}

/// Returns whether a problem can come of what a route is asked for.
fn may_fail(route: &Route, code: Code) -> bool {
    let has_body = route.body.is_some();
    let is_open = route.access == Access::Open;
    match code {
        Code::NoKey | Code::NoScope => !is_open,
        Code::BadBody => has_body && route.body != Some(BYTES),
        Code::TooSlow | Code::TooLong => has_body,
        Code::NotJson => has_body && route.takes == "application/json" && route.body != Some(BYTES),
        Code::WrongKind => has_body && route.takes != "application/json",
        // Whoever only looks takes nothing from anybody.
        Code::NotYours | Code::Capability => has_body || route.method == Method::DELETE,
        Code::Reused => route.headers().contains(&Header::IdempotencyKey),
        Code::Changed => route.headers().contains(&Header::IfMatch),
        // Whoever finds the route has found its method; and nothing lies under this address that is not this route.
        Code::NoMethod | Code::NoRoute => route.parts().next().is_some(),
        _ => true,
    }
}

fn responses(route: &Route) -> Value {
    let mut responses = Map::new();
    let json_of = |name: &str| json!({ "application/json": { "schema": named(name) } });
    match route.answer {
        Answer::Json(name) => {
            responses.insert("200".to_owned(), json!({ "description": "Done", "content": json_of(name) }));
        }
        Answer::Made(name) => {
            responses.insert("201".to_owned(), json!({ "description": "Made", "content": json_of(name) }));
        }
        Answer::Taken(name) => {
            responses.insert("202".to_owned(), json!({ "description": "Taken", "content": json_of(name) }));
        }
        Answer::Text(kind) => {
            let content = json!({ kind: { "schema": { "type": "string" } } });
            responses.insert("200".to_owned(), json!({ "description": "Done", "content": content }));
        }
        Answer::Drawing(name) => {
            let mut content = json_of(name);
            for kind in ["text/plain", "image/svg+xml"] {
                content[kind] = json!({ "schema": { "type": "string" } });
            }
            responses.insert("200".to_owned(), json!({ "description": "Done", "content": content }));
        }
        Answer::File(name) => {
            let mut content = json_of(name);
            content["application/octet-stream"] = json!({ "schema": {} });
            responses.insert("200".to_owned(), json!({ "description": "Done", "content": content }));
        }
        Answer::Events => {
            // What an event is when it is taken apart is no matter of this version of OpenAPI: a schema would be held against either.
            let content = json!({ "text/event-stream": {} });
            responses.insert("200".to_owned(), json!({ "description": "Events", "content": content }));
            responses.insert("204".to_owned(), json!({ "description": "All events are told" }));
        }
    }
    let problem = json!({ "application/problem+json": { "schema": named("Problem") } });
    for code in Code::ALL.iter().filter(|code| may_fail(route, **code)) {
        let status = code.status().as_u16().to_string();
        let at = responses.entry(status).or_insert_with(|| json!({ "description": "", "content": problem }));
        let told = at["description"].as_str().unwrap_or_default();
        let told = if told.is_empty() { String::new() } else { format!("{told}; ") };
        at["description"] = Value::from(format!("{told}`{}`: {}", code.word(), code.title()));
    }
    for (status, response) in &mut responses {
        response["headers"] = told(route, status.parse().unwrap_or_default());
    }
    Value::Object(responses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schema_that_is_named_is_there_and_used() {
        let text = document().to_string();
        let all = all();
        for route in ROUTES {
            let answer = match route.answer {
                Answer::Json(name)
                | Answer::Made(name)
                | Answer::Taken(name)
                | Answer::File(name)
                | Answer::Drawing(name) => Some(name),
                Answer::Text(_) | Answer::Events => None,
            };
            for name in answer.into_iter().chain(route.body.filter(|body| *body != BYTES)) {
                assert!(all.contains_key(name), "{name} of {}", route.path);
            }
        }
        for name in all.keys() {
            assert!(text.contains(&format!("#/components/schemas/{name}\"")), "{name} is used nowhere");
        }
        for (at, _) in text.match_indices("#/components/schemas/") {
            let name = text[at + 21..].split('"').next().unwrap();
            assert!(all.contains_key(name), "{name}");
        }
    }
}
