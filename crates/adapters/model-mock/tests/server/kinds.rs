//! What takes a turn of the script, what does not, and what is no part of it at all.

use crate::ask::{ANTHROPIC, CHAT, post, request};
use abide_model_mock::{Kind, ModelServer, Script, Turn};
use serde_json::{Value, json};
use std::net::TcpStream;

fn chat(system: &str, tools: &Value) -> Value {
    json!({"messages": [{"role": "system", "content": system}, {"role": "user", "content": "hi"}], "tools": tools})
}

fn tools() -> Value {
    json!([{"type": "function", "function": {"name": "bash"}}])
}

#[test]
fn what_is_asked_beside_the_conversation_takes_no_turn() {
    let server = ModelServer::start(vec![Turn::text("first"), Turn::text("second")]).unwrap();
    let said = |agent: &str, body: &Value| {
        let reply = request(&server, "POST", CHAT, agent, &body.to_string());
        let reply: Value = serde_json::from_str(&reply.body).unwrap();
        reply["choices"][0]["message"]["content"].as_str().unwrap().to_owned()
    };
    let title = chat("You are a title generator. You output ONLY a thread title.", &json!([]));
    assert_eq!(said("ai-sdk/1", &title), "scripted");
    assert_eq!(said("claude-cli/2.1.325", &chat("Is this command safe?", &json!([]))), "scripted");
    let mut warm_up = chat("You are an agent", &tools());
    warm_up["max_tokens"] = json!(1);
    assert_eq!(said("claude-cli/2.1.325", &warm_up), "scripted");

    assert_eq!(said("claude-cli/2.1.325", &chat("You are an agent", &tools())), "first");
    assert_eq!(said("reqwest/0.13", &chat("Answer without tools", &json!([]))), "second");
    let kinds: Vec<Kind> = server.requests().iter().map(|request| request.kind).collect();
    assert_eq!(kinds, [Kind::Side, Kind::Side, Kind::Side, Kind::Turn, Kind::Turn]);
    assert_eq!(server.surprises(), [""; 0]);
}

#[test]
fn a_function_answers_by_what_it_is_told() {
    let server = ModelServer::start(Script::function(|request| {
        Turn::text(if request.tells("child") { "for the child" } else { "for the parent" })
    }))
    .unwrap();
    let child = post(&server, CHAT, &chat("you are a child", &tools()));
    let parent = post(&server, CHAT, &chat("you are it", &tools()));
    assert!(child.body.contains("for the child") && parent.body.contains("for the parent"));
}

#[test]
fn what_does_not_go_by_the_script_is_told() {
    let server = ModelServer::start(vec![Turn::text("only")]).unwrap();
    assert_eq!(server.surprises(), ["1 turns of the script were not asked for"]);
    post(&server, CHAT, &chat("", &tools()));
    assert!(post(&server, CHAT, &chat("", &tools())).body.contains("the script is over"));
    assert_eq!(post(&server, "/v1/embeddings", &json!({})).status, 404);
    assert_eq!(request(&server, "POST", ANTHROPIC, "test/1", "{").status, 400);
    assert_eq!(
        server.surprises(),
        [
            "request 1 came after the script's end",
            "POST /v1/embeddings is nothing that a model answers",
            "POST /v1/messages has a body that is not JSON",
        ]
    );
}

#[test]
fn a_server_that_is_dropped_is_gone() {
    let server = ModelServer::start(vec![]).unwrap();
    let address = server.url().replace("http://", "");
    assert!(address.starts_with("127.0.0.1:"));
    let open = TcpStream::connect(&address).unwrap();
    drop(server);
    TcpStream::connect(&address).unwrap_err();
    drop(open);
}
