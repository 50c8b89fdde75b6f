//! What is said in sessions while their server is killed: each message is told once, and its turn ends once.

use abide_model_mock::{Fault, Message, ModelServer, Role, Script, ToolCall, Turn};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::time::{Duration, Instant};

/// Messages that were taken: each with its session and its text.
pub(crate) type Talk = BTreeMap<String, (String, String)>;

/// How many sessions there are.
const SESSIONS: usize = 4;

/// A model that repeats what it is told: some of it after a tool has written it down, and some of it slowly.
pub(crate) fn model() -> ModelServer {
    let answer = |request: &abide_model_mock::Request| {
        // What was said in turns that were interrupted stands before it, line by line, and results of their tools beside it.
        let said = |message: &&Message| message.role == Role::User && !message.text.is_empty();
        let said =
            request.messages.iter().rfind(said).map(|message| message.text.clone()).unwrap_or_default();
        let told = said.lines().last().unwrap_or_default().to_owned();
        let has_result = request.messages.last().is_some_and(|message| message.text.is_empty());
        if told.starts_with("write") && !has_result {
            let path = format!("/{}.txt", told.replace(' ', "-"));
            return Turn::call(ToolCall::new("write_file", json!({ "path": path, "content": told })));
        }
        let turn = Turn::text(format!("heard {told}"));
        if told.starts_with("slow") { turn.with(Fault::Slow(Duration::from_millis(60))) } else { turn }
    };
    ModelServer::start(Script::function(answer)).unwrap()
}

/// Makes an agent and its sessions.
pub(crate) fn sessions(post: impl Fn(&str, &Value) -> (u16, Value)) -> Vec<String> {
    let made = |path: &str, body: &Value| {
        let (status, made) = post(path, body);
        assert_eq!(status, 201, "{made}");
        made["id"].as_str().unwrap().to_owned()
    };
    let helper = json!({ "name": "helper", "system_prompt": "p", "capabilities": ["session_file_system"] });
    let helper = made("/v1/agents", &helper);
    (0..SESSIONS).map(|_| made(&format!("/v1/agents/{helper}/sessions"), &json!({}))).collect()
}

/// Returns what is said, and how: one in eight interrupts the turn that is under way.
pub(crate) fn message(number: usize) -> (String, Value) {
    let word = ["write", "slow", "say"][number % 3];
    let text = format!("{word} {number}");
    let when_busy = if number % 8 == 7 { "interrupt" } else { "queue" };
    let body = json!({ "text": text, "when_busy": when_busy });
    (text, body)
}

/// Checks that every message was told once and answered, or interrupted, and that nothing waits.
pub(crate) fn check(
    sessions: &[String],
    taken: &Talk,
    deadline: Instant,
    get: impl Fn(&str) -> (u16, Value),
) {
    for (message, (session, text)) in taken {
        let shown = loop {
            let (status, shown) = get(&format!("/v1/sessions/{session}/messages/{message}"));
            assert_eq!((status, &shown["text"]), (200, &json!(text)), "{shown}");
            if !["queued", "running"].contains(&shown["turn"]["status"].as_str().unwrap()) {
                break shown;
            }
            assert!(Instant::now() < deadline, "it is stuck: {shown}");
            std::thread::sleep(Duration::from_millis(50));
        };
        match shown["turn"]["status"].as_str().unwrap() {
            "finished" => assert_eq!(shown["turn"]["answer"], format!("heard {text}"), "{shown}"),
            // By one that came later.
            status => assert_eq!(status, "cancelled", "{shown}"),
        }
    }
    for session in sessions {
        let (mut told, mut ended, mut after, mut busy) = (Vec::new(), 0, 0, false);
        loop {
            let (status, page) = get(&format!("/v1/sessions/{session}/events?limit=200&after={after}"));
            assert_eq!(status, 200, "{page}");
            for event in page["items"].as_array().unwrap() {
                assert_eq!(event["seq"], json!(after + 1), "without a gap");
                after += 1;
                match event["type"].as_str().unwrap() {
                    "message.told" => {
                        assert!(!busy, "two turns at once in {session}: {event}");
                        busy = true;
                        told.push(event["data"]["label"].as_str().unwrap().to_owned());
                    }
                    "turn.ended" => {
                        assert!(busy, "a turn ends twice in {session}: {event}");
                        busy = false;
                        ended += 1;
                    }
                    _ => {}
                }
            }
            if page["next"].is_null() {
                break;
            }
        }
        assert_eq!((told.len(), busy), (ended, false), "{session}");
        let once: HashSet<&String> = told.iter().collect();
        assert_eq!(once.len(), told.len(), "a message was told twice in {session}");
        let missing: Vec<&String> = taken
            .iter()
            .filter(|(id, (of, _))| of == session && !once.contains(id))
            .map(|(id, _)| id)
            .collect();
        assert!(missing.is_empty(), "never told: {missing:?}");
        let shown = get(&format!("/v1/sessions/{session}")).1;
        assert_eq!((&shown["open"], &shown["status"]), (&json!(0), &json!("idle")), "it is stuck: {shown}");
    }
}
