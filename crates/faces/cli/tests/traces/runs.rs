//! The trace of a run that has everything: retries, a question, an agent with a tool, and an ability that it calls.

use crate::collector::{Collector, Span, hangs_together, only};
use crate::server::Server;
use crate::support::{Project, finish};
use abide_model_mock::{ModelServer, Script, ToolCall, Turn};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

const RELEASE: &str = r"
description: d
steps:
  - { id: build, run: echo hunter2 }
  - id: flaky
    run: 'test -e again || { touch again; exit 3; }'
    needs: [build]
    on_failure: retry
    max_retries: 2
    retry_delay: 0s
  - { id: approve, type: approval, prompt: 'Go on?', needs: [flaky] }
  - { id: notes, agent: writer, prompt: hunter2 into report.md, tools: [Read, Write], needs: [approve] }
  - { id: call, workflow: inner, needs: [notes] }
";
const INNER: &str = "description: d\nsteps:\n  - { id: within, run: cat report.md }\n";
const WRITER: &str = "---\nname: writer\ndescription: Writes\n---\nYou write.\n";

/// How the caller's span is called.
const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn project() -> Project {
    let project = Project::new();
    project.write(".abide/abilities/release.yaml", RELEASE);
    project.write(".abide/abilities/inner.yaml", INNER);
    project.write(".abide/agents/writer.md", WRITER);
    project
}

/// A model that writes a file, and is done.
fn model() -> ModelServer {
    let write = ToolCall::new("write", json!({ "path": "report.md", "content": "hunter2" }));
    ModelServer::start(Script::function(move |request| {
        let has_result = request.messages.last().is_some_and(|message| !message.results.is_empty());
        if has_result { Turn::text("hunter2") } else { Turn::call(write.clone()) }
    }))
    .unwrap()
}

/// Starts a run from within a span of the caller's.
fn start(server: &Server, key: &str) -> String {
    let body = r#"{"ability": "release"}"#;
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(
        stream,
        "POST /v1/runs HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\ntraceparent: {CALLER}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        server.address,
        body.len()
    )
    .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let run: Value = serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap();
    run["run"].as_str().unwrap_or_else(|| panic!("{run}")).to_owned()
}

#[test]
fn a_run_over_http_is_a_tree_under_the_span_of_its_caller() {
    let (project, model, collector) = (project(), model(), Collector::start());
    let key = project.abide(&["key", "create", "ada", "--scope", "admin"]).out.trim().to_owned();
    let url = model.url();
    let variables = [
        ("ANTHROPIC_BASE_URL", url.as_str()),
        ("ANTHROPIC_API_KEY", "none"),
        ("ABIDE_MODEL", "anthropic/scripted"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
        ("OTEL_SERVICE_NAME", "tested"),
        ("OTEL_BSP_SCHEDULE_DELAY", "50"),
    ];
    let server = Server::start_with(&project, &[], &variables);
    let run = start(&server, &key);
    server.until(&run, "waiting");
    assert!(collector.spans().is_empty(), "it is told when it is over, and then as a whole");
    let yes = r#"{"step": "approve", "answer": "approved"}"#;
    let (status, answered) = server.ask("POST", &format!("/v1/approvals/{run}"), Some(&key), yes);
    assert_eq!(status, 200, "{answered}");
    server.until(&run, "completed");
    let spans = collector.until(13);
    let names = |spans: &[Span]| {
        let mut names: Vec<String> = spans.iter().map(Span::name).collect();
        names.sort();
        names
    };
    assert_eq!(
        names(&spans),
        [
            "approval approve",
            "chat scripted",
            "chat scripted",
            "execute_tool write",
            "invoke_agent writer",
            "run inner",
            "run release",
            "step build",
            "step call",
            "step flaky",
            "step flaky",
            "step notes",
            "step within",
        ]
    );
    assert_eq!(hangs_together(&spans), ["b7ad6b7169203331"], "only the run hangs elsewhere: at its caller");
    assert_eq!(spans[0].trace(), "0af7651916cd43dd8448eb211c80319c");

    let one = |name: &str| only(&spans, name);
    let root = one("run release");
    assert_eq!(
        (root.get("abide.run.id"), root.get("abide.run.status")),
        (run.clone(), "completed".to_owned())
    );
    for name in ["step build", "approval approve", "step notes", "step call"] {
        assert_eq!((one(name).parent(), one(name).get("abide.run.id")), (root.id(), run.clone()), "{name}");
        assert!(!one(name).is_error(), "{name}");
    }
    assert_eq!(one("invoke_agent writer").parent(), one("step notes").id());
    assert_eq!(one("execute_tool write").parent(), one("invoke_agent writer").id());
    assert_eq!(one("run inner").parent(), one("step call").id());
    assert_eq!(one("step within").parent(), one("run inner").id());
    let types = ["step build", "approval approve", "step notes", "step call"]
        .map(|name| one(name).get("abide.step.type"));
    assert_eq!(types, ["script", "approval", "agent", "workflow"]);
    assert_eq!(one("approval approve").get("abide.answer"), "approved");

    let mut flaky: Vec<&Span> = spans.iter().filter(|span| span.name() == "step flaky").collect();
    flaky.sort_by_key(|span| span.times());
    let seen = |span: &Span| {
        (span.get("abide.attempt"), span.get("abide.exit_code"), span.get("error.type"), span.is_error())
    };
    assert_eq!(seen(flaky[0]), ("1".into(), "3".into(), "exit_code".into(), true));
    assert_eq!(seen(flaky[1]), ("2".into(), "0".into(), String::new(), false));
    assert_eq!(flaky[0].get("abide.then"), "retry");
    assert!(flaky[0].times().1 <= flaky[1].times().0);

    let chats: Vec<&Span> = spans.iter().filter(|span| span.name() == "chat scripted").collect();
    for span in chats.iter().copied().chain([one("invoke_agent writer")]) {
        assert_eq!(span.get("gen_ai.provider.name"), "anthropic");
        assert_eq!(span.get("gen_ai.request.model"), "scripted");
        assert_eq!(span.get("gen_ai.agent.name"), "writer");
        assert_eq!(span.get("abide.run.id"), run);
        assert!(span.get("gen_ai.conversation.id").starts_with(&run), "{span:?}");
    }
    for chat in &chats {
        assert_eq!((chat.get("gen_ai.operation.name"), chat.0["kind"].clone()), ("chat".into(), json!(3)));
        assert!(chat.get("gen_ai.usage.input_tokens").parse::<u64>().unwrap() > 0, "{chat:?}");
        assert!(chat.get("gen_ai.usage.output_tokens").parse::<u64>().unwrap() > 0, "{chat:?}");
        assert_eq!(chat.parent(), one("invoke_agent writer").id());
    }
    let tool = one("execute_tool write");
    assert_eq!(
        (tool.get("gen_ai.operation.name"), tool.get("gen_ai.tool.name")),
        ("execute_tool".into(), "write".into())
    );
    assert!(!tool.get("gen_ai.tool.call.id").is_empty(), "{tool:?}");
    assert!(!collector.text().contains("hunter2"), "what was told, written or answered is in no span");

    let metrics = crate::trouble::metrics(&server, &key);
    assert!(metrics.contains("abide_trace_spans_total{fate=\"exported\"} 13\n"), "{metrics}");
    assert!(metrics.contains("abide_traces_lost_total 0\n"), "{metrics}");
    assert_eq!(server.end(), Some(0));
    assert_eq!(collector.spans().len(), 13, "and nothing of it is told again at the end");
}

#[test]
fn a_run_at_the_terminal_is_told_of_at_its_end() {
    let (project, collector) = (Project::new(), Collector::start());
    project.write(".abide/abilities/fails.yaml", "description: d\nsteps:\n  - { id: one, run: exit 4 }\n");
    let command = |more: &[(&str, &str)]| {
        let mut command = project.command(&["run", "fails", "--json"]);
        command.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", format!("{}/v1/traces", collector.url));
        command.env("OTEL_SERVICE_NAME", "tested").envs(more.iter().copied());
        command
    };
    let ran = finish(&mut command(&[]));
    assert_eq!((ran.code, ran.err.contains("traces")), (Some(5), false), "{ran:?}");
    let run = ran.out.lines().next().and_then(|line| serde_json::from_str::<Value>(line).ok()).unwrap();
    let run = run["run"].as_str().unwrap().to_owned();
    let spans = collector.spans();
    assert_eq!(hangs_together(&spans), [""], "the run is the first of its trace");
    assert_eq!(spans[0].trace(), run.replace('-', ""), "which is found by its id");
    let root = only(&spans, "run fails");
    assert_eq!((root.is_error(), root.get("error.type")), (true, "failed".to_owned()));
    assert_eq!(only(&spans, "step one").get("error.type"), "exit_code");

    // Whoever starts it within a span of theirs says so in the environment, and whether the trace is kept.
    let ran = finish(&mut command(&[("TRACEPARENT", CALLER)]));
    assert_eq!(ran.code, Some(5), "{ran:?}");
    let more = &collector.spans()[2..];
    assert_eq!((more.len(), hangs_together(more)), (2, vec!["b7ad6b7169203331".to_owned()]));
    let left_out = CALLER.replace("-01", "-00");
    assert_eq!(finish(&mut command(&[("TRACEPARENT", &left_out)])).code, Some(5));
    assert_eq!(finish(&mut command(&[("OTEL_SDK_DISABLED", "true")])).code, Some(5));
    assert_eq!(collector.spans().len(), 4);
}
