//! The trace of a turn of a session over HTTP.

use crate::collector::{Collector, Span, hangs_together, only};
use crate::server::Server;
use crate::support::Project;
use abide_model_mock::{ModelServer, Script, ToolCall, Turn};
use serde_json::json;

fn model() -> ModelServer {
    let call = ToolCall::new("write_file", json!({ "path": "/note.txt", "content": "hunter2" }));
    ModelServer::start(Script::function(move |request| {
        let last = request.messages.last();
        if last.is_some_and(|message| message.results.is_empty() && message.text.contains("write")) {
            Turn::call(call.clone())
        } else {
            Turn::text("hunter2")
        }
    }))
    .unwrap()
}

#[test]
fn each_turn_of_a_session_is_a_trace_with_what_the_model_was_asked_and_the_tools_it_called() {
    let (project, model, collector) = (Project::new(), model(), Collector::start());
    let key = project.abide(&["key", "create", "ada", "--scope", "admin"]).out.trim().to_owned();
    let url = model.url();
    let variables = [
        ("ANTHROPIC_BASE_URL", url.as_str()),
        ("ANTHROPIC_API_KEY", "none"),
        ("ABIDE_MODEL", "anthropic/scripted"),
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.url),
        ("OTEL_RESOURCE_ATTRIBUTES", "service.name=tested"),
    ];
    let server = Server::start_with(&project, &[], &variables);
    let ask = |path: &str, body: serde_json::Value| {
        let (status, made) = server.ask("POST", path, Some(&key), &body.to_string());
        assert!((200..300).contains(&status), "{made}");
        made["id"].as_str().unwrap().to_owned()
    };
    let agent = json!({ "name": "helper", "system_prompt": "p", "capabilities": ["session_file_system"] });
    let agent = ask("/v1/agents", agent);
    let session = ask(&format!("/v1/agents/{agent}/sessions"), json!({}));
    let at = format!("/v1/sessions/{session}/messages");
    let mut messages = Vec::new();
    for text in ["write a note with hunter2", "hello"] {
        let message = ask(&at, json!({ "text": text }));
        let shown = || server.get(&format!("{at}/{message}"), Some(&key)).1["turn"]["status"].clone();
        while shown() != "finished" {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        messages.push(message);
    }
    // What was not sent by then is sent when the server ends.
    assert_eq!(server.end(), Some(0));
    let spans = collector.spans();
    let of = |message: &str| -> Vec<Span> {
        let trace = message.replace('-', "");
        spans.iter().filter(|span| span.trace() == trace).cloned().collect()
    };
    let (first, second) = (of(&messages[0]), of(&messages[1]));
    assert_eq!((first.len(), second.len(), spans.len()), (4, 2, 6), "{spans:?}");
    for turn in [&first, &second] {
        assert_eq!(hangs_together(turn), [""]);
        for span in turn {
            assert_eq!(span.get("gen_ai.conversation.id"), session);
            assert!(!span.is_error(), "{span:?}");
        }
    }
    let turn = first.iter().find(|span| span.name().starts_with("invoke_agent")).unwrap();
    assert_eq!(
        (turn.get("abide.message.id"), turn.get("abide.turn.end")),
        (messages[0].clone(), "finished".to_owned())
    );
    let tool = only(&first, "execute_tool write_file");
    assert_eq!(tool.parent(), turn.id());
    let mut chats: Vec<&Span> = first.iter().filter(|span| span.name() == "chat scripted").collect();
    chats.sort_by_key(|span| span.times());
    assert!(chats[0].get("gen_ai.response.finish_reasons").contains("tool_calls"), "{chats:?}");
    assert!(chats[1].get("gen_ai.response.finish_reasons").contains("stop"), "{chats:?}");
    assert!(chats[0].times().1 <= tool.times().0 && tool.times().1 <= chats[1].times().0);
    assert!(!collector.text().contains("hunter2"), "what was said is in no span");
}
