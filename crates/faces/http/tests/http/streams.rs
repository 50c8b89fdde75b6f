//! Streams: events as they happen, gone on with where they broke off, and logs that are followed.

use crate::house::Served;
use abide_engine::keys::Scope;
use abide_http::{Options, Times};
use serde_json::json;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

fn free() -> Options {
    Options { rate: Some(0), grace: Some(Duration::from_millis(200)), ..Options::default() }
}

#[tokio::test]
async fn events_are_told_until_the_run_is_over_and_gone_on_with_after_the_last_one() {
    let served = Served::with(free()).await;
    let run = served.start("hello", None).await;
    let path = format!("GET /v1/runs/{run}/events/stream");
    let told = served.client.ask(&path, None, None).await;
    assert!(told.head.contains("content-type: text/event-stream"), "{told:?}");
    let ids: Vec<u64> = told
        .body
        .lines()
        .filter_map(|line| line.strip_prefix("id: "))
        .map(|id| id.parse().unwrap())
        .collect();
    let listed = served.client.ask(&format!("GET /v1/runs/{run}/events"), None, None).await.json();
    let listed: Vec<u64> =
        listed["items"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(ids, listed, "each once, without a gap");
    assert!(
        told.body
            .ends_with(&format!("event: end\ndata: {}\n\n", json!({ "run": run, "status": "completed" }))),
        "{told:?}"
    );
    let host = format!("Host: {}", served.client.address);
    let from = |last: &str| format!("Last-Event-ID: {last}");
    let rest = served.client.raw(&path, &[&host, &from("2")], "").await;
    assert!(rest.body.starts_with("id: 3\n"), "{rest:?}");
    let none = served.client.raw(&path, &[&host, &from(&ids.last().unwrap().to_string())], "").await;
    assert_eq!((none.status, none.body.as_str()), (204, ""), "{none:?}");
    assert_eq!(served.client.raw(&path, &[&host, &from("x")], "").await.problem(), "400 bad_request");
    assert_eq!(
        served.client.ask(&format!("{path}?after=-1"), None, None).await.problem(),
        "400 bad_parameter"
    );
}

/// Reads from a stream until it has said something.
async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut text = String::new();
    let mut bytes = [0; 4096];
    while !text.contains(wanted) {
        let read = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut bytes)).await;
        let read = read.unwrap_or_else(|_| panic!("never {wanted}: {text}")).unwrap();
        assert!(read > 0, "it ended before {wanted}: {text}");
        text.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    text
}

async fn open(served: &Served, path: &str) -> TcpStream {
    open_with(served, path, "").await
}

async fn open_with(served: &Served, path: &str, more: &str) -> TcpStream {
    let mut stream = TcpStream::connect(served.client.address).await.unwrap();
    let text = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{more}\r\n", served.client.address);
    stream.write_all(text.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn whoever_listens_hears_of_an_answer_and_is_let_go_when_the_server_ends() {
    let served = Served::with(free()).await;
    let boss = served.house.key_of("boss", &[Scope::Approve], 1).await;
    let run = served.start("simple", None).await;
    served.until(&run, "waiting").await;
    let mut stream = open(&served, &format!("/v1/runs/{run}/events/stream")).await;
    read_until(&mut stream, "Yes?").await;
    let yes = json!({ "step": "ask", "answer": "approved" });
    let got = served.client.ask(&format!("POST /v1/approvals/{run}"), Some(&boss), Some(&yes)).await;
    assert_eq!(got.status, 200, "{got:?}");
    read_until(&mut stream, "event: end").await;

    let run = served.start("simple", None).await;
    served.until(&run, "waiting").await;
    let mut stream = open(&served, &format!("/v1/runs/{run}/events/stream")).await;
    read_until(&mut stream, "Yes?").await;
    served.end().await;
    let mut rest = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await.unwrap();
}

/// Reads what is left of a stream, which must end soon.
async fn rest(mut stream: TcpStream) -> String {
    let mut rest = Vec::new();
    let mut bytes = [0; 4096];
    // The connection stays: it is the answer that ends.
    while !rest.ends_with(b"0\r\n\r\n") {
        let read = tokio::time::timeout(Duration::from_secs(10), stream.read(&mut bytes)).await;
        let read = read.expect("it ends").unwrap();
        rest.extend_from_slice(&bytes[..read]);
        if read == 0 {
            break;
        }
    }
    String::from_utf8(rest).unwrap()
}

#[tokio::test]
async fn the_open_streams_of_a_key_that_is_revoked_end_and_tell_nothing_more() {
    let times = Times { heartbeat: Duration::from_millis(100), ..Times::default() };
    let served = Served::with(Options { times, ..free() }).await;
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let session = crate::sessions::begun(&served).await;
    let run = served.start("simple", None).await;
    served.until(&run, "waiting").await;
    let paths = [
        format!("/v1/runs/{run}/events/stream"),
        format!("/v1/sessions/{session}/events/stream"),
        format!("/v1/runs/{run}/logs?follow=true"),
    ];
    let made = json!({ "name": "eve", "scopes": ["read"] });
    let made = served.client.ask("POST /v1/keys", Some(&admin), Some(&made)).await.json();
    let bearer = format!("Authorization: Bearer {}\r\n", made["key"].as_str().unwrap());
    let mut own = Vec::new();
    for path in &paths {
        let mut stream = open_with(&served, path, &bearer).await;
        read_until(&mut stream, "\r\n\r\n").await;
        own.push(stream);
    }
    // A stream says again and again that it is there, and those of others go on.
    let mut other = open(&served, &paths[1]).await;
    read_until(&mut own[1], ": still here").await;
    let revoke = format!("DELETE /v1/keys/{}", made["id"].as_str().unwrap());
    assert_eq!(served.client.ask(&revoke, Some(&admin), None).await.status, 200);
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let say = json!({ "text": "hello" });
    let at = format!("POST /v1/sessions/{session}/messages");
    assert_eq!(served.client.ask(&at, None, Some(&say)).await.status, 202);
    read_until(&mut other, "turn.ended").await;
    for (stream, path) in own.into_iter().zip(&paths) {
        let told = rest(stream).await;
        assert!(!told.contains("hello"), "{path}: {told}");
    }
    read_until(&mut other, ": still here").await;
}

#[tokio::test]
async fn a_log_is_followed_while_its_step_writes() {
    let served = Served::with(free()).await;
    let ci = served.house.key_of("ci", &[Scope::Run], 1).await;
    let run = served.start("slow", Some(&ci)).await;
    let mut stream = open(&served, &format!("/v1/runs/{run}/logs?follow=true")).await;
    read_until(&mut stream, "begun").await;
    let got = served.client.ask(&format!("POST /v1/runs/{run}/cancel"), Some(&ci), Some(&json!({}))).await;
    assert_eq!(got.status, 200, "{got:?}");
    let mut rest = Vec::new();
    let mut byte = [0; 1024];
    loop {
        let read =
            tokio::time::timeout(Duration::from_secs(10), stream.read(&mut byte)).await.unwrap().unwrap();
        rest.extend_from_slice(&byte[..read]);
        if rest.ends_with(b"0\r\n\r\n") {
            break;
        }
        assert!(read > 0, "it broke off");
    }
}

/// Returns the ids of a stream, in order.
fn ids(text: &str) -> Vec<u64> {
    text.lines().filter_map(|line| line.strip_prefix("id: ")).map(|id| id.trim().parse().unwrap()).collect()
}

#[tokio::test]
async fn a_session_is_told_word_by_word_and_gone_on_with_without_a_gap_or_a_double() {
    let served = Served::with(free()).await;
    let session = crate::sessions::begun(&served).await;
    let path = format!("/v1/sessions/{session}/events/stream");
    let mut stream = open(&served, &path).await;
    let say = json!({ "text": "slow one two three four five" });
    let at = format!("POST /v1/sessions/{session}/messages");
    assert_eq!(served.client.ask(&at, None, Some(&say)).await.status, 202);
    let first = read_until(&mut stream, "event: delta").await;
    drop(stream);
    let known = *ids(&first).last().unwrap();
    let mut stream = open(&served, &format!("{path}?after={known}")).await;
    let rest = read_until(&mut stream, "turn.ended").await;
    let all: Vec<u64> = ids(&first).into_iter().chain(ids(&rest)).collect();
    assert_eq!(all, (1..=*all.last().unwrap()).collect::<Vec<_>>(), "each once, without a gap");
    let answered = rest.find("event: model.answered").unwrap();
    assert!(rest.rfind("event: delta").is_none_or(|delta| delta < answered), "{rest}");
    // Whoever hears all of it hears the words of the answer, in their order.
    assert_eq!(served.client.ask(&at, None, Some(&json!({ "text": "slow six sevén" }))).await.status, 202);
    let rest = read_until(&mut stream, "turn.ended").await;
    let mut said = String::new();
    for data in rest.lines().filter_map(|line| line.strip_prefix("data: ")) {
        let data: serde_json::Value = serde_json::from_str(data).unwrap();
        if let Some(text) = data["text"].as_str() {
            assert_eq!(data["at"].as_u64(), Some(said.chars().count() as u64), "{rest}");
            said.push_str(text);
        }
    }
    assert_eq!(said, "you said slow six sevén");
    let shown = served.client.ask(&format!("GET /v1/sessions/{session}"), None, None).await.json();
    assert_eq!(shown["events"].as_u64(), ids(&rest).last().copied());
    drop(stream);
    let none = served.client.ask(&format!("GET {path}?after=x"), None, None).await;
    assert_eq!(none.problem(), "400 bad_parameter");
}
