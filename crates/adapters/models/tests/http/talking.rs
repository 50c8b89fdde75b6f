//! What a model is told in each format, and what no output may hold.

use crate::served::{KEY, model, provider};
use abide_core::definition::WireFormat;
use abide_core::model::{
    Arguments, Image, ImageMedia, Message, Part, Piece, Retry, Thought, ToolCall as Called, ToolResult,
};
use abide_core::value::Value as Data;
use abide_engine::port::{
    AnswerEnd, Caching, Model as _, ModelEvent, ModelProblem, ModelRequest, ToolChoice, ToolOffer,
};
use abide_formats::json as data;
use abide_models::{HttpModel, Proxies};
use abide_testkit::model::contract::{listener, question};
use abide_testkit::model::{Fault, ModelServer, Role, ToolCall, Turn};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const FORMATS: [WireFormat; 2] = [WireFormat::Anthropic, WireFormat::OpenAi];

fn value(value: &Value) -> Data {
    data::parse(&value.to_string()).unwrap()
}

fn conversation() -> ModelRequest {
    let image = Image { media: ImageMedia::Png, bytes: Arc::from(*b"\x89PNG\r\n\x1a\n") };
    let call =
        |id: &str, arguments| Piece::Call(Called { id: id.to_owned(), name: "read".to_owned(), arguments });
    ModelRequest {
        system: "be good".into(),
        messages: Arc::new(vec![
            Message::User(vec![Part::Text("what is this?".to_owned()), Part::Image(image.clone())]),
            Message::Model(vec![
                Piece::Thought(Thought::Open { text: "hm".to_owned(), seal: "sealed".to_owned() }),
                Piece::Text("I look ".to_owned()),
                call("c1", Arguments::Data(value(&json!({"path": "a"})))),
                call("c2", Arguments::Unreadable("{oops".to_owned())),
            ]),
            Message::Results(vec![
                ToolResult::text("c1", "a picture"),
                ToolResult {
                    parts: vec![Part::Text("not JSON".to_owned()), Part::Image(image)],
                    ..ToolResult::error("c2", "")
                },
            ]),
            Message::user("go on"),
        ]),
        tools: Arc::new([ToolOffer {
            name: "read".to_owned(),
            description: "Reads".to_owned(),
            schema: value(&json!({"type": "object", "properties": {"path": {"type": "string"}}})),
        }]),
        choice: ToolChoice::Some,
        caching: Caching::On,
        ..question()
    }
}

async fn told(format: WireFormat, request: ModelRequest) -> (Value, ModelServer) {
    let server = ModelServer::start(vec![Turn::text("fine")]).unwrap();
    model(format, &server.url()).ask(Arc::new(request), listener().0).await.unwrap();
    assert_eq!(server.surprises(), [""; 0]);
    (server.turns()[0].body.clone(), server)
}

#[tokio::test]
async fn a_conversation_is_told_in_each_format() {
    for format in FORMATS {
        let (_, server) = told(format, conversation()).await;
        let asked = &server.turns()[0];
        assert!(asked.stream && asked.offers("read"), "{format:?}");
        assert_eq!(asked.system, "be good");
        let roles: Vec<Role> = asked.messages.iter().map(|message| message.role).collect();
        let assistant = roles.iter().position(|role| *role == Role::Assistant).unwrap();
        let calls: Vec<&Value> = asked.messages[assistant].calls.iter().map(|call| &call.arguments).collect();
        assert_eq!(calls, [&json!({"path": "a"}), &json!({"unreadable": "{oops"})]);
        let results: Vec<(&str, &str)> =
            asked.new_results().iter().map(|result| (result.call.as_str(), result.text.as_str())).collect();
        assert_eq!(results[0], ("c1", "a picture"));
        assert!(results[1].0 == "c2" && results[1].1.contains("not JSON"), "{results:?}");
        assert!(asked.tells("what is this?") && asked.tells("go on"));
        assert_eq!(asked.header("user-agent"), Some("abide/0.1.0"));
    }
}

#[tokio::test]
async fn anthropic_is_told_what_only_it_wants_to_know() {
    let (body, server) = told(WireFormat::Anthropic, conversation()).await;
    let ephemeral = json!({"type": "ephemeral"});
    assert_eq!(body["system"][0]["cache_control"], ephemeral);
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(
        messages.iter().map(|message| message["role"].as_str().unwrap()).collect::<Vec<_>>(),
        ["user", "assistant", "user"]
    );
    assert_eq!(messages[0]["content"][1]["source"]["data"], "iVBORw0KGgo=");
    assert_eq!(messages[0]["content"][1]["cache_control"], ephemeral);
    assert_eq!(
        messages[1]["content"][0],
        json!({"type": "thinking", "thinking": "hm", "signature": "sealed"})
    );
    assert_eq!(messages[1]["content"][1]["text"], "I look");
    let last = messages[2]["content"].as_array().unwrap();
    assert_eq!((&last[0]["type"], &last[1]["is_error"]), (&json!("tool_result"), &json!(true)));
    assert_eq!(last[1]["content"][1]["type"], "image");
    assert_eq!(last.last().unwrap()["cache_control"], ephemeral);
    assert_eq!(body["tool_choice"], json!({"type": "any"}));
    assert_eq!(body.to_string().matches("cache_control").count(), 3, "no more than four are allowed");
    assert_eq!(server.turns()[0].header("anthropic-version"), Some("2023-06-01"));
    let (plain, _) = told(WireFormat::Anthropic, question()).await;
    assert!(!plain.to_string().contains("cache_control") && plain["tools"].is_null());
}

#[tokio::test]
async fn chat_is_told_in_the_words_that_every_server_knows() {
    let (body, _) = told(WireFormat::OpenAi, conversation()).await;
    let messages = body["messages"].as_array().unwrap();
    assert_eq!(messages[0], json!({"role": "system", "content": "be good"}));
    assert_eq!(messages[1]["content"][1]["image_url"]["url"], "data:image/png;base64,iVBORw0KGgo=");
    assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], "{\"path\":\"a\"}");
    assert_eq!(messages[4]["content"], "error: not JSON");
    assert_eq!(messages[5]["content"][0]["type"], "image_url", "a tool's picture follows as the user's");
    assert_eq!(messages[6], json!({"role": "user", "content": "go on"}));
    assert_eq!((&body["max_tokens"], &body["tool_choice"]), (&json!(8192), &json!("required")));
    assert_eq!(body["stream_options"]["include_usage"], true);
    let schema = value(&json!({"type": "object"}));
    let (body, _) = told(WireFormat::OpenAi, ModelRequest { schema: Some(schema), ..question() }).await;
    assert_eq!(body["response_format"]["json_schema"]["schema"], json!({"type": "object"}));
}

#[tokio::test]
async fn anthropic_answers_by_a_schema_with_a_call() {
    let answer = || ToolCall::new("abide_answer", json!({"n": 42}));
    let server = ModelServer::start(vec![
        Turn { text: "here: ".to_owned(), ..Turn::call(answer()) },
        Turn::calls([ToolCall::new("read", json!({})), answer()]),
    ])
    .unwrap();
    let model = model(WireFormat::Anthropic, &server.url());
    let schema = Some(value(&json!({"type": "object"})));
    let (hear, heard) = listener();
    let first =
        model.ask(Arc::new(ModelRequest { schema: schema.clone(), ..question() }), hear).await.unwrap();
    assert_eq!((first.structured, first.end), (Some(value(&json!({"n": 42}))), AnswerEnd::Done));
    assert_eq!(first.pieces, [Piece::Text("here: {\"n\":42}".to_owned())], "no call is left to be answered");
    assert!(!heard.lock().unwrap().iter().any(|event| matches!(event, ModelEvent::Call(_))));
    let asked = &server.turns()[0].body;
    assert_eq!(asked["tool_choice"], json!({"type": "tool", "name": "abide_answer"}));
    // An answer that does not wait for the results of the calls beside it is not the answer.
    let request = ModelRequest { schema, ..conversation() };
    let early = model.ask(Arc::new(request), listener().0).await.unwrap();
    assert_eq!((early.structured.as_ref(), early.end, early.calls().count()), (None, AnswerEnd::Calls, 1));
}

#[tokio::test]
async fn a_key_is_sent_and_never_shown() {
    for format in FORMATS {
        let message = format!("bad key {KEY}, try again");
        let server = ModelServer::start(vec![Turn::fault(Fault::Status(401, message))]).unwrap();
        let model = model(format, &server.url());
        let error = model.ask(Arc::new(question()), listener().0).await.unwrap_err();
        let shown = format!("{model:?} {error} {error:?}");
        assert!(!shown.contains(KEY), "{shown}");
        assert!(error.to_string().contains("bad key •••, try again"), "{error}");
    }
    // The scripted server keeps no credentials, so the bytes are looked at.
    for (format, header) in [
        (WireFormat::Anthropic, format!("x-api-key: {KEY}\r\n")),
        (WireFormat::OpenAi, format!("authorization: Bearer {KEY}\r\n")),
    ] {
        let (url, head) = raw_server("HTTP/1.1 500 x\r\ncontent-length: 0\r\n\r\n").await;
        let _ = model(format, &url).ask(Arc::new(question()), listener().0).await;
        let head = head.await.unwrap();
        assert!(head.to_lowercase().contains(&header.to_lowercase()), "{head}");
    }
    let broken = abide_core::value::Secret::new("a\nb");
    let model =
        HttpModel::new(provider(WireFormat::OpenAi, "http://127.0.0.1:1"), Some(broken), &Proxies::default());
    let error = model.unwrap().ask(Arc::new(question()), listener().0).await.unwrap_err();
    assert!(matches!(error.problem, ModelProblem::NotReady(_)), "{error}");
}

/// Answers one request with these bytes, and returns what was asked.
async fn raw_server(answer: &'static str) -> (String, tokio::task::JoinHandle<String>) {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let asked = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = vec![0; 64 << 10];
        let read = stream.read(&mut head).await.unwrap();
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&head[..read]).into_owned()
    });
    (url, asked)
}

#[tokio::test]
async fn what_is_no_model_is_said_to_be_none() {
    for (answer, expected) in [
        (
            "HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: 1\r\n\r\nx",
            "it is text/html, not a stream",
        ),
        (
            "HTTP/1.1 301 Moved\r\nlocation: https://elsewhere/\r\ncontent-length: 0\r\n\r\n",
            "it redirects to https://elsewhere/",
        ),
        ("HTTP/1.1 404 No\r\ncontent-length: 2\r\n\r\n{}", "no such model, or no such address"),
        (
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: [1]\n\n",
            "the answer cannot be understood",
        ),
        ("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n", "the answer was cut off"),
    ] {
        let (url, asked) = raw_server(answer).await;
        let error =
            model(WireFormat::OpenAi, &url).ask(Arc::new(question()), listener().0).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{expected}: {error}");
        asked.await.unwrap();
    }
    let error = model(WireFormat::OpenAi, "http://127.0.0.1:1")
        .ask(Arc::new(question()), listener().0)
        .await
        .unwrap_err();
    assert!(matches!((&error.problem, error.retry), (ModelProblem::Unreachable(_), Retry::Later)), "{error}");
    assert!(error.help.unwrap().contains("http://127.0.0.1:1/v1/chat/completions"));
}

#[tokio::test]
async fn servers_that_say_it_differently_are_understood() {
    // Calls without numbers, calls with the same number, arguments as an object, no final word, thoughts beside.
    let chunks = [
        json!({"choices": [{"delta": {"reasoning_content": "hm", "content": null}}]}),
        json!({"choices": [{"delta": {"tool_calls": [{"id": "a", "function": {"name": "one", "arguments": {"x": 1}}}]}}]}),
        json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "b", "function": {"name": "two", "arguments": "{\"y\""}}]}}]}),
        json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":2}"}}]}}]}),
        json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c", "function": {"name": "three", "arguments": ""}}]}}]}),
        json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
        json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}}),
    ];
    let body: Vec<String> = chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect();
    let body = body.concat();
    let answer = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n{body}");
    let (url, asked) = raw_server(Box::leak(answer.into_boxed_str())).await;
    let (hear, heard) = listener();
    let answer = model(WireFormat::OpenAi, &url).ask(Arc::new(question()), hear).await.unwrap();
    asked.await.unwrap();
    let calls: Vec<(String, String)> = answer
        .calls()
        .map(|call| match &call.arguments {
            Arguments::Data(value) => (call.name.clone(), value.to_string()),
            Arguments::Unreadable(text) => panic!("{text}"),
        })
        .collect();
    let expected = [("one", "{\"x\":1}"), ("two", "{\"y\":2}"), ("three", "{}")];
    assert_eq!(calls, expected.map(|(name, arguments)| (name.to_owned(), arguments.to_owned())));
    assert_eq!((answer.end, answer.usage.tokens()), (AnswerEnd::Calls, 7));
    assert!(heard.lock().unwrap().contains(&ModelEvent::Thought("hm".to_owned())));
}

#[tokio::test]
async fn a_proxy_of_the_environment_is_asked_and_can_be_left_out() {
    let server = ModelServer::start(vec![Turn::text("by proxy"), Turn::text("directly")]).unwrap();
    let through = |url: &str, none: Option<&str>| {
        let (proxy, none) = (server.url(), none.map(str::to_owned));
        let proxies = Proxies::of(|name| match name {
            "http_proxy" => Some(proxy.clone()),
            "no_proxy" => none.clone(),
            _ => None,
        });
        HttpModel::new(provider(WireFormat::OpenAi, url), None, &proxies).unwrap()
    };
    let model = through("http://model.invalid/v1", None);
    let answer = model.ask(Arc::new(question()), listener().0).await.unwrap();
    assert_eq!(answer.text(), "by proxy");
    let model = through("http://model.invalid/v1", Some("model.invalid"));
    let error = model.ask(Arc::new(question()), listener().0).await.unwrap_err();
    assert!(matches!(error.problem, ModelProblem::Unreachable(_) | ModelProblem::TimedOut(_)), "{error}");
    let bad = Proxies::of(|name| (name == "http_proxy").then(|| "::".to_owned()));
    let error = HttpModel::new(provider(WireFormat::OpenAi, "http://x"), None, &bad).unwrap_err();
    assert_eq!(error.to_string(), "local: http_proxy is not the address of a proxy");
}
