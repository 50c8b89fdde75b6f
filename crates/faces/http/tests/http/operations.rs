//! What operators look at: metrics, the page of the document, ids of requests; and agents as files.

use crate::house::Served;
use crate::keys::fits;
use abide_engine::keys::Scope;
use abide_http::{Line, Options};
use serde_json::json;
use std::sync::{Arc, Mutex};

fn free() -> Options {
    Options { rate: Some(0), ..Options::default() }
}

#[tokio::test]
async fn an_agent_goes_out_as_markdown_and_comes_back_as_it_was() {
    let served = Served::with(free()).await;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let new = json!({
        "name": "Research: \"Assistant\" #1",
        "description": "line one\nline two",
        "system_prompt": "\n---\nname: not this one\n---\nYou help.\n\n",
        "model": "anthropic/claude-sonnet-4",
        "capabilities": ["test_math", { "id": "session_file_system@1", "configuration": { "file_bytes": 5 } }, "current_time"],
    });
    let made = served.client.ask("POST /v1/agents", Some(&admin), Some(&new)).await.json();
    assert_eq!(made["configuration"], json!({ "session_file_system@1": { "file_bytes": 5 } }));
    let export = format!("GET /v1/agents/{}/export", made["id"].as_str().unwrap());
    let text = served.client.ask(&export, None, None).await;
    assert!(text.head.contains("content-type: text/markdown"), "{text:?}");
    let (host, key) = (format!("Host: {}", served.client.address), format!("Authorization: Bearer {admin}"));
    let kind = "Content-Type: text/markdown; charset=utf-8";
    let import =
        async |text: &str| served.client.raw("POST /v1/agents/import", &[&host, &key, kind], text).await;
    let back = import(&text.body).await;
    assert_eq!(back.status, 201, "{back:?}");
    let back = fits(&back, "Agent");
    for field in ["name", "description", "system_prompt", "model", "capabilities", "configuration", "status"]
    {
        assert_eq!(back[field], made[field], "{field}");
    }
    let count = async || {
        served.client.ask("GET /v1/agents", None, None).await.json()["items"].as_array().unwrap().len()
    };
    let before = count().await;
    for (text, named) in [
        ("no frontmatter", "frontmatter"),
        ("---\nname: a\ntools: [Read]\n---\n", "`tools`"),
        ("---\nname: a\ncapabilites: [noop]\n---\n", "capabilities"),
        ("---\ndescription: d\n---\n", "name"),
        ("---\nname: [\n---\n", ""),
        ("---\nname: a\ncapabilities: [no_such]\n---\n", "no_such"),
        ("---\nname: a\ncapabilities: [session_file_system: { file_bytes: x }]\n---\n", "/file_bytes"),
        ("---\nname: a\ncapabilities: [session_file_system: 5]\n---\n", "configured for the capability"),
        (&format!("---\nname: {}\n---\n", "x".repeat(300)), "name"),
    ] {
        let got = import(text).await;
        assert_eq!(got.status, 422, "{text}: {got:?}");
        assert!(got.body.contains(named), "{text}: {got:?}");
    }
    let json = served.client.ask("POST /v1/agents/import", Some(&admin), Some(&json!({}))).await;
    assert_eq!(json.problem(), "415 wrong_kind");
    let bytes =
        served.client.raw("POST /v1/agents/import", &[&host, &key, kind], "---\nname: \u{0}\n---\n").await;
    assert_eq!(bytes.status, 422, "{bytes:?}");
    assert_eq!(count().await, before, "nothing was half made");
}

#[tokio::test]
async fn what_the_server_does_can_be_measured() {
    let served = Served::with(free()).await;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let run = served.start("simple", Some(&admin)).await;
    served.until(&run, "waiting").await;
    let over = served.start("hello", Some(&admin)).await;
    served.until(&over, "completed").await;
    for _ in 0..50 {
        served.client.ask("GET /v1/nothing/like/this", None, None).await;
    }
    let got = served.client.ask("GET /v1/metrics", None, None).await;
    assert!(got.head.contains("content-type: text/plain; version=0.0.4"), "{got:?}");
    let text = got.body;
    for line in [
        "abide_http_requests_total{method=\"POST\",route=\"/v1/runs\",status=\"201\"} 2",
        "abide_http_requests_total{method=\"\",route=\"none\",status=\"404\"} 50",
        "abide_runs{status=\"waiting\"} 1",
        "abide_runs_started_total 2",
        "abide_runs_ended_total{status=\"completed\"} 1",
        "abide_approvals_waiting 1",
        "abide_http_open_streams 0",
        "abide_store_up 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("abide_") && value.parse::<f64>().is_ok(), "{line}");
    }
    let typed = text.lines().filter(|line| line.starts_with("# TYPE")).count();
    assert_eq!(typed, text.lines().filter(|line| line.starts_with("# HELP")).count());
    served.house.break_down();
    let text = served.client.ask("GET /v1/metrics", None, None).await.body;
    assert!(text.contains("abide_store_up 0"), "{text}");
}

#[tokio::test]
async fn an_open_stream_is_counted_until_its_reader_goes() {
    let served = Served::with(free()).await;
    let run = served.start("simple", None).await;
    served.until(&run, "waiting").await;
    let client = served.client;
    let reader = tokio::spawn(async move {
        client.ask(&format!("GET /v1/runs/{run}/events/stream"), None, None).await;
    });
    let until = async |wanted: &str| {
        for _ in 0..400 {
            let text = client.ask("GET /v1/metrics", None, None).await.body;
            if text.lines().any(|line| line == format!("abide_http_open_streams {wanted}")) {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("there are never {wanted}");
    };
    until("1").await;
    reader.abort();
    until("0").await;
}

#[tokio::test]
async fn the_document_is_a_page_that_loads_nothing() {
    let served = Served::with(Options { require_key: true, ..free() }).await;
    let page = served.client.ask("GET /docs", None, None).await;
    assert_eq!(page.status, 200);
    assert!(page.head.contains("content-type: text/html"), "{}", page.head);
    let policy = page.head.lines().find(|line| line.starts_with("content-security-policy:")).unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(page.body.contains("listAbilities"));
}

#[tokio::test]
async fn each_request_is_one_line_with_who_and_what_and_no_secret() {
    let lines: Arc<Mutex<Vec<Line>>> = Arc::default();
    let kept = Arc::clone(&lines);
    let log: abide_http::Log = Arc::new(move |line: &Line| kept.lock().unwrap().push(line.clone()));
    let served = Served::with(Options { require_key: true, log: Some(log), ..free() }).await;
    let read = served.house.key_of("eve", &[Scope::Read], 7).await;
    let host = format!("Host: {}", served.client.address);
    let key = format!("Authorization: Bearer {read}");
    let ask = async |request: &str, id: &str| {
        served.client.raw(request, &[&host, &key, &format!("X-Request-Id: {id}")], "").await
    };
    let got = ask("GET /v1/runs?by=secret", "req-1").await;
    assert!(got.head.contains("x-request-id: req-1"), "{got:?}");
    let strange = ask("GET /v1/keys/abc", "a b<script>").await;
    assert!(!strange.head.contains("script"), "{strange:?}");
    assert_eq!(strange.status, 405);
    ask("GET /v1/keys", "req-3").await;
    served.client.ask("GET /v1/runs", Some("abide_wrong"), None).await;
    let lines = lines.lock().unwrap();
    let told: Vec<(u16, Option<&str>, Option<&str>)> =
        lines.iter().map(|line| (line.status, line.route, line.who.as_deref())).collect();
    assert_eq!(
        told,
        [
            (200, Some("/v1/runs"), Some("eve")),
            (405, None, Some("eve")),
            (403, Some("/v1/keys"), Some("eve")),
            (401, Some("/v1/runs"), None),
        ]
    );
    assert_eq!(lines[0].id, "req-1");
    let said: Vec<String> = lines.iter().map(|line| format!("{line}\n{}", line.to_json())).collect();
    let said = said.join("\n");
    for secret in [read.rsplit('_').next().unwrap(), "secret", "abide_"] {
        assert!(!said.contains(secret), "{said}");
    }
}

#[tokio::test]
async fn every_change_stands_in_the_audit_with_who_and_what() {
    let served = Served::with(free()).await;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let ask = async |request: &str, body: serde_json::Value| {
        served.client.ask(request, Some(&admin), Some(&body)).await
    };
    let agent = ask("POST /v1/agents", json!({ "name": "a", "system_prompt": "a secret plan" })).await.json();
    let at = format!("/v1/agents/{}", agent["id"].as_str().unwrap());
    ask(&format!("PATCH {at}"), json!({ "name": "b" })).await;
    assert_eq!(ask(&format!("PATCH {at}"), json!({ "capabilities": ["no_such"] })).await.status, 422);
    let key = ask("POST /v1/keys", json!({ "name": "ci", "scopes": ["read"] })).await.json();
    let revoke = format!("DELETE /v1/keys/{}", key["id"].as_str().unwrap());
    assert_eq!(served.client.ask(&revoke, Some(&admin), None).await.status, 200);
    let run = served.start("simple", Some(&admin)).await;
    served.until(&run, "waiting").await;
    let answer = json!({ "step": "ask", "answer": "approved", "comment": "fine" });
    assert_eq!(ask(&format!("POST /v1/approvals/{run}"), answer).await.status, 200);
    let other = served.start("simple", Some(&admin)).await;
    assert_eq!(ask(&format!("POST /v1/runs/{other}/cancel"), json!({ "reason": "no" })).await.status, 200);
    let session = ask(&format!("POST {at}/sessions"), json!({ "title": "a talk" })).await.json();
    let flat = ask("POST /v1/sessions", json!({ "agent": agent["id"] })).await.json();
    let fs = format!("/v1/sessions/{}/fs", session["id"].as_str().unwrap());
    let (host, bearer) =
        (format!("Host: {}", served.client.address), format!("Authorization: Bearer {admin}"));
    // What is in a file is nobody's business, whatever it looks like.
    let file = r#"{"name": "a secret plan", "title": "t"}"#;
    let written = served.client.raw(&format!("PUT {fs}?path=/a.json"), &[&host, &bearer], file).await;
    assert_eq!(written.status, 200);
    for (verb, from, to) in [("copy", "/a.json", "/b"), ("move", "/a.json", "/c")] {
        let body = json!({ "from": from, "to": to });
        assert_eq!(ask(&format!("POST {fs}/{verb}"), body).await.status, 200);
    }
    let deleted = served.client.ask(&format!("DELETE {fs}?path=/c"), Some(&admin), None).await;
    assert_eq!(deleted.status, 200);
    let got = served.client.ask("GET /v1/audit", Some(&admin), None).await;
    let page = fits(&got, "AuditPage");
    let told: Vec<(&str, &str)> = page["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["action"].as_str().unwrap(), row["subject"].as_str().unwrap()))
        .collect();
    let id = |made: &serde_json::Value| made["id"].as_str().unwrap().to_owned();
    let (agent, key, session, flat) = (&*id(&agent), &*id(&key), &*id(&session), &*id(&flat));
    assert_eq!(
        told,
        [
            ("createAgent", agent),
            ("updateAgent", agent),
            ("createKey", key),
            ("revokeKey", key),
            ("answerApproval", run.as_str()),
            ("cancelRun", other.as_str()),
            ("createAgentSession", session),
            ("createSession", flat),
            ("writeFile", session),
            ("copyFile", session),
            ("moveFile", session),
            ("deleteFile", session),
        ],
        "what was refused changed nothing"
    );
    assert!(page["items"].as_array().unwrap().iter().all(|row| row["by"] == "ada"), "{page}");
    assert_eq!(page["items"][4]["detail"]["comment"], "fine");
    assert_eq!(page["items"][8]["detail"], json!({ "path": "/a.json" }));
    assert_eq!(page["items"][9]["detail"], json!({ "from": "/a.json", "to": "/b" }));
    assert!(!got.body.contains("secret plan") && !got.body.contains("abide_"), "{}", got.body);
    let second = served.client.ask("GET /v1/audit?limit=2&after=2", Some(&admin), None).await.json();
    assert_eq!((second["items"].as_array().unwrap().len(), &second["next"]), (2, &json!("4")));
    assert_eq!(abide_engine::port::verify_audit(&served.house.registry).await.unwrap(), 12);
}

#[tokio::test]
async fn what_http_lets_a_caller_leave_out_or_write_in_another_way_is_understood() {
    let served = Served::with(free()).await;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let ask = async |request: &str| served.client.ask(request, Some(&admin), None).await;
    let head = ask("HEAD /v1/health").await;
    assert_eq!((head.status, head.body.as_str()), (200, ""), "{head:?}");
    let whole = ask("GET /v1/health").await.body.len();
    assert!(head.head.contains(&format!("content-length: {whole}")), "{head:?}");
    assert_eq!(ask("HEAD /v1/runs/none/events/stream").await.status, 405);
    assert_eq!(ask("HEAD /v1/nothing").await.status, 404);
    assert_eq!(ask("GET /v1/runs?status=nonsense").await.problem(), "400 bad_parameter");
    assert_eq!(ask("GET /v1/runs?status=waiting").await.status, 200);

    let mut ids = Vec::new();
    for name in ["a", "b", "c"] {
        let new = json!({ "name": name, "system_prompt": "p" });
        let made = served.client.ask("POST /v1/agents", Some(&admin), Some(&new)).await.json();
        ids.push(made["id"].as_str().unwrap().to_owned());
    }
    let rest = ask(&format!("GET /v1/agents?after={}", ids[0].to_uppercase())).await.json();
    let rest: Vec<&str> =
        rest["items"].as_array().unwrap().iter().map(|agent| agent["id"].as_str().unwrap()).collect();
    assert_eq!(rest, [&*ids[1], &*ids[2]]);

    let (host, bearer) =
        (format!("Host: {}", served.client.address), format!("Authorization: Bearer {admin}"));
    let patch = async |tags: &str| {
        let (request, tags) = (format!("PATCH /v1/agents/{}", ids[0]), format!("If-Match: {tags}"));
        let headers = [&*host, &*bearer, "Content-Type: application/json", &*tags];
        served.client.raw(&request, &headers, r#"{"name": "d"}"#).await
    };
    assert_eq!(patch("\"9\", \"8\"").await.problem(), "412 changed");
    assert_eq!(patch("\"9\", \"1\"").await.status, 200);
    assert_eq!(patch("\"1\"").await.problem(), "412 changed");
    assert_eq!(patch("nonsense").await.problem(), "412 changed");

    let archive = format!("POST /v1/agents/{}/archive", ids[0]);
    let form = "Content-Type: application/x-www-form-urlencoded";
    let refused = served.client.raw(&archive, &[&host, &bearer, form], "").await;
    assert_eq!(refused.problem(), "415 not_json", "a form says what it is");
    assert_eq!(served.client.raw(&archive, &[&host, &bearer], "{}").await.problem(), "415 not_json");
    let archived = served.client.raw(&archive, &[&host, &bearer], "").await;
    assert_eq!(fits(&archived, "Agent")["status"], "archived");
    let run = served.start("simple", Some(&admin)).await;
    let cancelled = served.client.raw(&format!("POST /v1/runs/{run}/cancel"), &[&host, &bearer], "").await;
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
}

#[tokio::test]
async fn the_document_names_headers_and_no_problem_that_cannot_be() {
    let document = abide_http::openapi();
    let at = |path: &str, method: &str| document["paths"][path][method].clone();
    let headers = |operation: &serde_json::Value| -> Vec<String> {
        let parameters = operation["parameters"].as_array().unwrap().iter();
        let headers = parameters.filter(|parameter| parameter["in"] == "header");
        headers.map(|header| header["name"].as_str().unwrap().to_owned()).collect()
    };
    let start = at("/v1/runs", "post");
    assert_eq!(headers(&start), ["Idempotency-Key", "traceparent"]);
    assert!(start["responses"]["201"]["headers"]["Idempotency-Replayed"].is_object());
    assert!(start["responses"]["429"]["headers"]["Retry-After"].is_object());
    let file = at("/v1/sessions/{session}/fs", "put");
    assert_eq!(headers(&file), ["If-Match", "If-None-Match"]);
    assert!(file["responses"]["200"]["headers"]["ETag"].is_object());
    assert_eq!(headers(&at("/v1/runs/{run}/events/stream", "get")), ["Last-Event-ID"]);
    let health = at("/v1/health", "get");
    for status in ["405", "408", "412", "413", "415"] {
        assert!(health["responses"][status].is_null(), "{status}: {health}");
    }
    for (_, path) in document["paths"].as_object().unwrap() {
        for (_, operation) in path.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                assert!(response["headers"]["X-Request-Id"].is_object(), "{status}: {operation}");
            }
        }
    }
}
