//! Sessions over the API: what is said is never lost, told in one order, and each turn ends once.

use crate::client::Got;
use crate::house::Served;
use crate::keys::fits;
use crate::webhooks::TestCourier;
use abide_engine::keys::Scope;
use abide_http::Options;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

fn free() -> Options {
    Options { rate: Some(0), grace: Some(Duration::from_millis(300)), ..Options::default() }
}

/// A session of an agent with some tools.
pub(crate) async fn begun(served: &Served) -> String {
    let admin = served.house.key(&[Scope::Admin], 0).await;
    let new = json!({ "name": "helper", "capabilities": ["test_math", "session_file_system"] });
    let agent = served.client.ask("POST /v1/agents", Some(&admin), Some(&new)).await.json();
    let at = format!("POST /v1/agents/{}/sessions", agent["id"].as_str().unwrap());
    let made = served.client.ask(&at, None, Some(&json!({ "title": "a talk" }))).await;
    assert_eq!(made.status, 201, "{made:?}");
    fits(&made, "Session")["id"].as_str().unwrap().to_owned()
}

async fn say(served: &Served, session: &str, body: Value) -> Got {
    served.client.ask(&format!("POST /v1/sessions/{session}/messages"), None, Some(&body)).await
}

async fn said(served: &Served, session: &str, body: Value) -> String {
    let got = say(served, session, body).await;
    assert_eq!(got.status, 202, "{got:?}");
    fits(&got, "Message")["id"].as_str().unwrap().to_owned()
}

/// Waits until the turn of a message has a status.
async fn until(served: &Served, session: &str, message: &str, status: &str) -> Value {
    let at = format!("GET /v1/sessions/{session}/messages/{message}");
    for _ in 0..400 {
        let got = fits(&served.client.ask(&at, None, None).await, "Message");
        if got["turn"]["status"] == status {
            return got;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("{message} never is {status}: {:?}", served.client.ask(&at, None, None).await);
}

async fn events(served: &Served, session: &str) -> Vec<Value> {
    let at = format!("GET /v1/sessions/{session}/events?limit=200");
    fits(&served.client.ask(&at, None, None).await, "EventPage")["items"].as_array().unwrap().clone()
}

fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["type"] == kind).count()
}

#[tokio::test]
async fn a_session_is_made_listed_called_something_and_removed() {
    let served = Served::with(free()).await;
    let (one, two) = (begun(&served).await, begun(&served).await);
    let ask =
        async |request: &str, body: Option<Value>| served.client.ask(request, None, body.as_ref()).await;
    let shown = fits(&ask(&format!("GET /v1/sessions/{one}"), None).await, "SessionDetail");
    assert_eq!((&shown["status"], &shown["turn"], &shown["open"]), (&json!("idle"), &json!(null), &json!(0)));
    assert_eq!(shown["events"], 0);
    let agent = shown["agent"].as_str().unwrap().to_owned();
    let flat = ask("POST /v1/sessions", Some(json!({ "agent": agent }))).await;
    let flat = fits(&flat, "Session")["id"].as_str().unwrap().to_owned();
    let ids = |got: &Got| -> Vec<String> {
        let page = fits(got, "SessionPage");
        page["items"].as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&ask("GET /v1/sessions", None).await), [one.clone(), two.clone(), flat.clone()]);
    assert_eq!(ids(&ask(&format!("GET /v1/agents/{agent}/sessions"), None).await), [one.clone(), flat]);
    let page = ask("GET /v1/sessions?limit=1", None).await;
    let next = page.json()["next"].as_str().unwrap().to_owned();
    assert_eq!(ids(&ask(&format!("GET /v1/sessions?limit=1&after={next}"), None).await), [two]);
    let patched = ask(&format!("PATCH /v1/sessions/{one}"), Some(json!({ "title": "other" }))).await;
    assert_eq!(fits(&patched, "Session")["title"], "other");
    assert_eq!(ask("POST /v1/sessions", Some(json!({ "agent": "none" }))).await.problem(), "422 invalid");
    assert_eq!(ask("POST /v1/agents/none/sessions", Some(json!({}))).await.problem(), "404 not_found");
    said(&served, &one, json!({ "text": "hello" })).await;
    let reader = served.house.key_of("eve", &[Scope::Run], 3).await;
    let at = format!("DELETE /v1/sessions/{one}");
    assert_eq!(served.client.ask(&at, Some(&reader), None).await.problem(), "403 not_yours");
    assert_eq!(ask(&at, None).await.status, 200);
    for gone in [
        at.clone(),
        format!("GET /v1/sessions/{one}"),
        format!("GET /v1/sessions/{one}/events"),
        format!("GET /v1/sessions/{one}/messages"),
    ] {
        assert_eq!(ask(&gone, None).await.problem(), "404 not_found", "{gone}");
    }
    assert_eq!(say(&served, &one, json!({ "text": "hello" })).await.problem(), "404 not_found");
}

#[tokio::test]
async fn a_turn_outlives_what_does_not_answer_for_a_moment() {
    let served = Served::with(free()).await;
    let session = begun(&served).await;
    let message = said(&served, &session, json!({ "text": "away" })).await;
    let answered = until(&served, &session, &message, "finished").await;
    assert_eq!(answered["turn"]["answer"], "you said away");
    let events = events(&served, &session).await;
    assert_eq!((count(&events, "message.told"), count(&events, "turn.ended")), (1, 1));
}

#[tokio::test]
async fn a_second_message_goes_on_with_the_same_conversation() {
    let served = Served::with(free()).await;
    let session = begun(&served).await;
    let first = said(&served, &session, json!({ "text": "one" })).await;
    let first = until(&served, &session, &first, "finished").await;
    assert_eq!(first["turn"]["answer"], "you said one");
    let second = said(&served, &session, json!({ "text": "call add {\"a\": 2, \"b\": 3}" })).await;
    let second = until(&served, &session, &second, "finished").await;
    assert!(second["turn"]["answer"].as_str().unwrap().contains('5'), "{second}");
    let failed = said(&served, &session, json!({ "text": "unusable" })).await;
    let failed = until(&served, &session, &failed, "failed").await;
    assert_eq!(failed["turn"]["error"], "that cannot be told");
    let events = events(&served, &session).await;
    assert_eq!((count(&events, "message.told"), count(&events, "turn.ended")), (3, 3));
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_message_in_the_middle_of_a_turn_waits_interrupts_or_is_refused() {
    let served = Served::with(free()).await;
    let session = begun(&served).await;
    let waiting = said(&served, &session, json!({ "text": "wait" })).await;
    until(&served, &session, &waiting, "running").await;
    let queued = said(&served, &session, json!({ "text": "queued" })).await;
    let refused = say(&served, &session, json!({ "text": "no", "when_busy": "refuse" })).await;
    assert_eq!(refused.problem(), "409 refused");
    assert_eq!(
        say(&served, &session, json!({ "text": "no", "when_busy": "maybe" })).await.problem(),
        "400 bad_body"
    );
    let now = said(&served, &session, json!({ "text": "now", "when_busy": "interrupt" })).await;
    let now = until(&served, &session, &now, "finished").await;
    let queued = until(&served, &session, &queued, "finished").await;
    until(&served, &session, &waiting, "cancelled").await;
    assert!(now["turn"]["ended_at"].as_i64() <= queued["turn"]["ended_at"].as_i64());
    let told: Vec<String> = events(&served, &session)
        .await
        .iter()
        .filter(|event| event["type"] == "message.told")
        .map(|event| event["data"]["parts"][0]["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(told, ["wait", "now", "queued"]);
}

#[tokio::test]
async fn a_turn_is_cancelled_alone_or_with_what_waits() {
    let served = Served::with(free()).await;
    let session = begun(&served).await;
    let cancel = async |body: Value| {
        let got = served.client.ask(&format!("POST /v1/sessions/{session}/cancel"), None, Some(&body)).await;
        fits(&got, "CancelledTurns")["items"].as_array().unwrap().len()
    };
    assert_eq!(cancel(json!({})).await, 0, "there is nothing to end");
    let first = said(&served, &session, json!({ "text": "wait" })).await;
    let second = said(&served, &session, json!({ "text": "wait too" })).await;
    let third = said(&served, &session, json!({ "text": "three" })).await;
    until(&served, &session, &first, "running").await;
    assert_eq!(cancel(json!({})).await, 1);
    let first = until(&served, &session, &first, "cancelled").await;
    assert_eq!(first["turn"]["cancelled_by"], "loopback");
    until(&served, &session, &second, "running").await;
    assert_eq!(cancel(json!({ "queued": true })).await, 2);
    until(&served, &session, &second, "cancelled").await;
    until(&served, &session, &third, "cancelled").await;
    let events = events(&served, &session).await;
    assert_eq!((count(&events, "message.told"), count(&events, "turn.ended")), (3, 3));
}

#[tokio::test]
async fn sixty_four_messages_at_once_are_all_answered_in_one_order() {
    let served = Served::with(free()).await;
    let session = begun(&served).await;
    let posted: Vec<_> = (0..64)
        .map(|number| {
            let (client, session) = (served.client, session.clone());
            tokio::spawn(async move {
                let body = json!({ "text": format!("number {number}") });
                client.ask(&format!("POST /v1/sessions/{session}/messages"), None, Some(&body)).await
            })
        })
        .collect();
    let mut ids = Vec::new();
    for posted in posted {
        let got = posted.await.unwrap();
        assert_eq!(got.status, 202, "{got:?}");
        ids.push(got.json()["id"].as_str().unwrap().to_owned());
    }
    for id in &ids {
        until(&served, &session, id, "finished").await;
    }
    let listed =
        served.client.ask(&format!("GET /v1/sessions/{session}/messages?limit=200"), None, None).await;
    let listed = fits(&listed, "MessagePage");
    let listed: Vec<&Value> = listed["items"].as_array().unwrap().iter().collect();
    let numbers: Vec<u64> = listed.iter().map(|message| message["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=64).collect::<Vec<_>>());
    for message in &listed {
        assert_eq!(message["turn"]["answer"], format!("you said {}", message["text"].as_str().unwrap()));
    }
    let mut told = Vec::new();
    let mut after = 0;
    loop {
        let at = format!("GET /v1/sessions/{session}/events?limit=200&after={after}");
        let page = served.client.ask(&at, None, None).await.json();
        told.extend(page["items"].as_array().unwrap().clone());
        match page["next"].as_str() {
            Some(next) => after = next.parse().unwrap(),
            None => break,
        }
    }
    let texts: Vec<&str> = told
        .iter()
        .filter(|event| event["type"] == "message.told")
        .map(|event| event["data"]["label"].as_str().unwrap())
        .collect();
    let in_order: Vec<&str> = listed.iter().map(|message| message["id"].as_str().unwrap()).collect();
    assert_eq!(texts, in_order, "told once each, in the order in which they were taken");
    assert_eq!(count(&told, "turn.ended"), 64);
    assert_eq!(served.house.model.asked().len(), 64, "and paid for once");
}

#[tokio::test]
async fn the_same_request_is_one_message_and_another_one_is_refused() {
    let served = Served::with(free()).await;
    let session = begun(&served).await;
    let host = format!("Host: {}", served.client.address);
    let post = async |text: &str| {
        let headers = [&*host, "Content-Type: application/json", "Idempotency-Key: once"];
        let body = json!({ "text": text }).to_string();
        served.client.raw(&format!("POST /v1/sessions/{session}/messages"), &headers, &body).await
    };
    let (first, again) = (post("hello").await, post("hello").await);
    assert_eq!((first.status, again.status), (202, 202), "{first:?} {again:?}");
    assert_eq!(first.json()["id"], again.json()["id"]);
    assert!(again.head.contains("idempotency-replayed: true"), "{again:?}");
    assert_eq!(post("other").await.problem(), "422 reused");
    until(&served, &session, first.json()["id"].as_str().unwrap(), "finished").await;
    assert_eq!(served.house.model.asked(), ["hello"]);
}

#[tokio::test]
async fn a_session_knows_nothing_of_another() {
    let served = Served::with(free()).await;
    let (one, two) = (begun(&served).await, begun(&served).await);
    let message = said(&served, &one, json!({ "text": "secret" })).await;
    until(&served, &one, &message, "finished").await;
    let ask = async |request: String| served.client.ask(&request, None, None).await;
    assert_eq!(ask(format!("GET /v1/sessions/{two}/messages/{message}")).await.problem(), "404 not_found");
    assert_eq!(ask(format!("GET /v1/sessions/{two}/events")).await.json()["items"], json!([]));
    assert_eq!(ask(format!("GET /v1/sessions/{two}/messages")).await.json()["items"], json!([]));
    assert_eq!(ask(format!("GET /v1/runs/{one}")).await.problem(), "404 not_found");
    let write =
        said(&served, &two, json!({ "text": "call write_file {\"path\": \"/a\", \"content\": \"mine\"}" }))
            .await;
    until(&served, &two, &write, "finished").await;
    let read = said(&served, &one, json!({ "text": "call read_file {\"path\": \"/a\"}" })).await;
    let read = until(&served, &one, &read, "finished").await;
    assert!(read["turn"]["answer"].as_str().unwrap().contains("there is no `/a`"), "{read}");
}

#[tokio::test]
async fn a_server_that_comes_back_goes_on_with_turns_and_what_waits() {
    let served = Served::with(free()).await;
    let session = begun(&served).await;
    let waiting = said(&served, &session, json!({ "text": "wait" })).await;
    until(&served, &session, &waiting, "running").await;
    let queued = said(&served, &session, json!({ "text": "queued" })).await;
    let folder = served.end().await;
    let served = Served::at(folder, free()).await;
    for _ in 0..400 {
        if !served.house.model.asked().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert_eq!(served.house.model.asked(), ["wait"], "it is asked again, because nothing was answered");
    let at = format!("POST /v1/sessions/{session}/cancel");
    assert_eq!(served.client.ask(&at, None, Some(&json!({}))).await.status, 200);
    until(&served, &session, &waiting, "cancelled").await;
    until(&served, &session, &queued, "finished").await;
    let events = events(&served, &session).await;
    assert_eq!((count(&events, "message.told"), count(&events, "turn.ended")), (2, 2));
}

#[tokio::test]
async fn a_call_that_needs_a_yes_is_an_approval_and_a_no_is_told_to_the_model() {
    let served = Served::with(free()).await;
    let session = begun(&served).await;
    let boss = served.house.key_of("boss", &[Scope::Approve], 1).await;
    for (answer, expected) in [("approved", "6"), ("rejected", "was not allowed by boss: not today")] {
        let call = said(&served, &session, json!({ "text": "call multiply {\"a\": 2, \"b\": 3}" })).await;
        let asked = loop {
            let page = fits(&served.client.ask("GET /v1/approvals", None, None).await, "ApprovalPage");
            match page["items"].as_array().unwrap().first() {
                Some(asked) => break asked.clone(),
                None => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        };
        assert_eq!(
            (&asked["kind"], &asked["tool"], &asked["session"]),
            (&json!("tool"), &json!("multiply"), &json!(session))
        );
        assert_eq!(asked["arguments"], json!({ "a": 2, "b": 3 }));
        let at = format!("POST /v1/approvals/{}", asked["id"].as_str().unwrap());
        let body = json!({ "answer": answer, "comment": "not today" });
        assert_eq!(
            served.client.ask(&at, None, Some(&body)).await.problem(),
            "403 no_scope",
            "an agent cannot say yes"
        );
        let wrong = served.client.ask(&at, Some(&boss), Some(&json!({ "answer": "perhaps" }))).await;
        assert_eq!(wrong.problem(), "400 bad_body");
        let answered = served.client.ask(&at, Some(&boss), Some(&body)).await;
        assert_eq!(fits(&answered, "Answered")["by"], "boss");
        let over = until(&served, &session, &call, "finished").await;
        assert!(over["turn"]["answer"].as_str().unwrap().contains(expected), "{over}");
        let again = served.client.ask(&at, Some(&boss), Some(&body)).await;
        assert_eq!(again.problem(), "409 refused", "one answer counts");
    }
}

#[tokio::test]
async fn a_call_that_needs_a_yes_is_told_to_webhooks_without_what_it_would_send() {
    let courier = TestCourier::default();
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let served = Served::telling(folder, free(), Some(courier.clone())).await;
    let session = begun(&served).await;
    said(&served, &session, json!({ "text": "call multiply {\"a\": 2, \"b\": 3}" })).await;
    let [(id, told)] = &courier.letters(1).await[..] else { panic!("one letter") };
    let mut asked = served.client.ask("GET /v1/approvals", None, None).await.json()["items"][0].clone();
    assert_eq!(*id, format!("msg_{}", asked["id"].as_str().unwrap()));
    asked["arguments"] = Value::Null;
    assert_eq!((&told["type"], &told["data"]), (&json!("approval.requested"), &asked));
}
