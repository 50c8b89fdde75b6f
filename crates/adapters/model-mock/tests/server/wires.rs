//! A turn is the same in each format, streamed or whole, and so is what the model is told.

use crate::ask::{ANTHROPIC, CHAT, RESPONSES, post, request};
use abide_model_mock::{Message, ModelServer, Role, ToolCall, ToolResult, Turn, Wire};
use serde_json::{Value, json};

const TEXT: &str = "I look first, — then I build: größer als ein Stück";

fn turn() -> Turn {
    let calls = [
        ToolCall::new("Bash", json!({"command": "echo hi > made.txt"})),
        ToolCall::new("Read", json!({"path": "a"})),
    ];
    Turn { text: TEXT.to_owned(), ..Turn::calls(calls) }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn anthropic_messages_are_streamed_in_blocks() {
    let server = ModelServer::start(vec![turn()]).unwrap();
    let reply = post(&server, ANTHROPIC, &json!({"model": "m", "stream": true, "messages": []}));
    assert!(reply.whole && reply.head.contains("text/event-stream"), "{}", reply.head);
    let events = reply.events();
    assert_eq!(events[0]["type"], "message_start");
    assert_eq!(reply.joined("/delta/text"), TEXT);
    let inputs = |index: u64| {
        let of_block = events.iter().filter(|event| event["index"] == index);
        of_block.filter_map(|event| event["delta"]["partial_json"].as_str()).collect::<String>()
    };
    assert_eq!(parsed(&inputs(1)), json!({"command": "echo hi > made.txt"}));
    assert_eq!(parsed(&inputs(2)), json!({"path": "a"}));
    let starts: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == "content_block_start")
        .map(|e| &e["content_block"])
        .collect();
    assert_eq!((&starts[1]["name"], &starts[2]["name"]), (&json!("Bash"), &json!("Read")));
    assert_ne!(starts[1]["id"], starts[2]["id"]);
    assert_eq!(events[events.len() - 2]["delta"]["stop_reason"], "tool_use");
    assert_eq!(events[events.len() - 1]["type"], "message_stop");
    assert!(events.iter().filter(|event| event["type"] == "content_block_delta").count() > 6, "in pieces");
}

#[test]
fn chat_completions_are_streamed_in_deltas() {
    let server = ModelServer::start(vec![turn()]).unwrap();
    let body =
        json!({"model": "m", "stream": true, "stream_options": {"include_usage": true}, "messages": []});
    let reply = post(&server, CHAT, &body);
    assert_eq!(reply.joined("/choices/0/delta/content"), TEXT);
    let events = reply.events();
    let arguments = |index: u64| {
        let calls = events.iter().map(|event| &event["choices"][0]["delta"]["tool_calls"][0]);
        let calls = calls.filter(|call| call["index"] == index);
        calls.filter_map(|call| call["function"]["arguments"].as_str()).collect::<String>()
    };
    assert_eq!(parsed(&arguments(0)), json!({"command": "echo hi > made.txt"}));
    assert_eq!(parsed(&arguments(1)), json!({"path": "a"}));
    assert_eq!(events[events.len() - 2]["choices"][0]["finish_reason"], "tool_calls");
    assert!(events[events.len() - 1]["usage"]["total_tokens"].as_u64().unwrap() > 1);
    assert_eq!(reply.data().last(), Some("[DONE]"));
}

#[test]
fn responses_are_streamed_in_items() {
    let server = ModelServer::start(vec![turn()]).unwrap();
    let body = json!({
        "model": "m", "stream": true, "input": "go",
        "tools": [
            {"type": "custom", "name": "Read"},
            {"type": "namespace", "name": "files", "tools": [{"type": "function", "name": "Bash"}]},
        ],
    });
    let reply = post(&server, RESPONSES, &body);
    let events = reply.events();
    let of = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
    let text: String =
        of("response.output_text.delta").iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(text, TEXT);
    let done: Vec<&Value> = of("response.output_item.done").iter().map(|event| &event["item"]).collect();
    assert_eq!(done[0]["content"][0]["text"], TEXT);
    assert_eq!(done[1]["namespace"], "files", "a tool is called where it is offered");
    assert_eq!(parsed(done[1]["arguments"].as_str().unwrap()), json!({"command": "echo hi > made.txt"}));
    assert_eq!(
        (&done[2]["type"], &done[2]["input"]),
        (&json!("custom_tool_call"), &json!("{\"path\":\"a\"}"))
    );
    let end = of("response.completed")[0];
    assert_eq!(end["response"]["output"], json!(done));
    assert_eq!(events.last().unwrap()["sequence_number"], events.len() - 1);
}

#[test]
fn who_does_not_stream_gets_one_document() {
    let server = ModelServer::start(vec![turn(), turn(), turn()]).unwrap();
    let whole = |path: &str| parsed(&post(&server, path, &json!({"model": "m"})).body);
    let anthropic = whole(ANTHROPIC);
    assert_eq!(anthropic["content"][0]["text"], TEXT);
    assert_eq!(anthropic["content"][1]["input"]["command"], "echo hi > made.txt");
    let chat = whole(CHAT);
    assert_eq!(chat["choices"][0]["message"]["content"], TEXT);
    assert_eq!(chat["choices"][0]["message"]["tool_calls"][1]["function"]["arguments"], "{\"path\":\"a\"}");
    let responses = whole(RESPONSES);
    assert_eq!(responses["output"][0]["content"][0]["text"], TEXT);
    assert_eq!(responses["output"][2]["name"], "Read");
    assert_eq!(server.surprises(), [""; 0]);
}

/// The same conversation in each format: a prompt, a call, its result.
#[test]
fn what_the_model_is_told_reads_alike_in_each_format() {
    let server = ModelServer::start(vec![Turn::text("a"), Turn::text("b"), Turn::text("c")]).unwrap();
    let arguments = json!({"command": "make"});
    post(
        &server,
        ANTHROPIC,
        &json!({
            "system": [{"type": "text", "text": "be good"}],
            "messages": [
                {"role": "user", "content": "build"},
                {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "sh", "input": arguments}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "text", "text": "denied"}]},
                ]},
            ],
            "tools": [{"name": "sh", "input_schema": {}}],
        }),
    );
    post(
        &server,
        CHAT,
        &json!({
            "messages": [
                {"role": "system", "content": "be good"},
                {"role": "user", "content": [{"type": "text", "text": "build"}]},
                {"role": "assistant", "tool_calls": [
                    {"id": "1", "function": {"name": "sh", "arguments": arguments.to_string()}},
                ]},
                {"role": "tool", "tool_call_id": "1", "content": "denied"},
            ],
            "tools": [{"type": "function", "function": {"name": "sh"}}],
        }),
    );
    post(
        &server,
        RESPONSES,
        &json!({
            "input": [
                {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "be good"}]},
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "build"}]},
                {"type": "reasoning", "encrypted_content": "…"},
                {"type": "function_call", "call_id": "1", "name": "sh", "arguments": arguments.to_string()},
                {"type": "function_call_output", "call_id": "1", "output": "denied"},
            ],
            "tools": [{"type": "function", "name": "sh"}],
        }),
    );
    let requests = server.turns();
    let wires: Vec<Wire> = requests.iter().map(|request| request.wire).collect();
    assert_eq!(wires, [Wire::AnthropicMessages, Wire::ChatCompletions, Wire::Responses]);
    for request in requests {
        let wire = request.wire;
        assert_eq!(request.system.trim(), "be good", "{wire:?}");
        let (build, called) = (&request.messages[0], &request.messages[1]);
        let prompt = Message { role: Role::User, text: "build".to_owned(), calls: vec![], results: vec![] };
        assert_eq!(build, &prompt, "{wire:?}");
        assert_eq!(called.calls, [ToolCall::new("sh", arguments.clone())], "{wire:?}");
        let denied = ToolResult { call: "1".to_owned(), text: "denied".to_owned() };
        assert_eq!(request.new_results(), [&denied], "{wire:?}");
        assert!(request.offers("sh") && !request.offers("other"), "{wire:?}");
        assert!(request.tells("denied") && request.tells("be good") && !request.tells("allowed"), "{wire:?}");
        assert_eq!(request.header("authorization"), None, "a credential is not kept");
    }
}

#[test]
fn models_and_tokens_can_be_asked_for_without_a_turn() {
    let server = ModelServer::start(vec![]).unwrap();
    let models = request(&server, "GET", "/v1/models", "test/1", "");
    assert_eq!(parsed(&models.body)["data"][0]["id"], "scripted");
    let tokens = post(&server, "/v1/messages/count_tokens?beta=true", &json!({"messages": []}));
    assert!(parsed(&tokens.body)["input_tokens"].as_u64().unwrap() > 0);
    assert_eq!(server.requests().len(), 0);
    assert_eq!(server.surprises(), [""; 0]);
}
