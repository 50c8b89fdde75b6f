//! Runs over the API: started once, decided by the right people, and gone on with by the next server.

use crate::house::Served;
use crate::keys::fits;
use abide_engine::keys::Scope;
use abide_engine::port::Starts as _;
use abide_http::Options;
use serde_json::{Value, json};
use std::time::Duration;

fn free() -> Options {
    Options { rate: Some(0), grace: Some(Duration::from_millis(200)), ..Options::default() }
}

async fn post(served: &Served, path: &str, key: Option<&str>, body: Value) -> crate::client::Got {
    served.client.ask(&format!("POST {path}"), key, Some(&body)).await
}

#[tokio::test]
async fn a_run_is_started_and_shown() {
    let served = Served::with(free()).await;
    let got = post(&served, "/v1/runs", None, json!({ "ability": "hello" })).await;
    assert_eq!(got.status, 201, "{got:?}");
    let head = fits(&got, "RunHead");
    assert_eq!(head["by"], "loopback");
    let run = head["run"].as_str().unwrap();
    served.until(run, "completed").await;
    let shown = fits(&served.client.ask(&format!("GET /v1/runs/{run}"), None, None).await, "Run");
    assert_eq!(shown["steps"][1]["status"], "completed");
    let events = fits(
        &served.client.ask(&format!("GET /v1/runs/{run}/events?limit=2"), None, None).await,
        "EventPage",
    );
    assert_eq!((&events["items"][0]["type"], &events["next"]), (&json!("run.created"), &json!("2")));
    let logs = served.client.ask(&format!("GET /v1/runs/{run}/logs"), None, None).await;
    assert_eq!(logs.body, "hello\nagain\n");
    let logs =
        served.client.ask(&format!("GET /v1/runs/{run}/logs?channel=stderr&step=two"), None, None).await;
    assert_eq!(logs.body, "again\n");
    let ask = async |path: &str| served.client.ask(&format!("GET {path}"), None, None).await.problem();
    assert_eq!(ask(&format!("/v1/runs/{run}/logs?step=three")).await, "404 not_found");
    for path in ["", "/events", "/events/stream", "/logs"] {
        assert_eq!(
            ask(&format!("/v1/runs/0198b5a0-0000-7000-8000-000000000000{path}")).await,
            "404 not_found",
            "{path}"
        );
    }
}

#[tokio::test]
async fn what_cannot_be_started_leaves_nothing() {
    let served = Served::with(free()).await;
    for (body, problem) in [
        (json!({}), "400 bad_body"),
        (json!({ "ability": 1 }), "400 bad_body"),
        (json!({ "ability": "hello", "inputs": [] }), "400 bad_body"),
        (json!({ "ability": "hello", "input": "x".repeat(300_000) }), "400 bad_body"),
        (json!({ "ability": "nothing" }), "422 invalid"),
        (json!({ "ability": "hello", "inputs": { "a": 1 } }), "422 invalid"),
        (json!({ "ability": "hidden" }), "422 invalid"),
    ] {
        assert_eq!(post(&served, "/v1/runs", None, body.clone()).await.problem(), problem, "{body}");
    }
    let runs = fits(&served.client.ask("GET /v1/runs", None, None).await, "RunPage");
    assert_eq!(runs["items"], json!([]));
    assert!(served.house.registry.open(None, 10).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_comes_again_starts_nothing_new() {
    let served = Served::with(free()).await;
    let host = format!("Host: {}", served.client.address);
    let ask = async |once: &str, body: &str| {
        let once = format!("Idempotency-Key: {once}");
        served.client.raw("POST /v1/runs", &[&host, "Content-Type: application/json", &once], body).await
    };
    let body = r#"{"ability": "simple"}"#;
    let many: Vec<_> = (0..8)
        .map(|_| {
            let (client, host) = (served.client, host.clone());
            tokio::spawn(async move {
                let headers = [host.as_str(), "Content-Type: application/json", "Idempotency-Key: one"];
                client.raw("POST /v1/runs", &headers, r#"{"ability": "simple"}"#).await
            })
        })
        .collect();
    let mut ids = std::collections::HashSet::new();
    for task in many {
        let got = task.await.unwrap();
        assert_eq!(got.status, 201, "{got:?}");
        ids.insert(got.json()["run"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 1, "{ids:?}");
    let again = ask("one", body).await;
    assert!(ids.contains(again.json()["run"].as_str().unwrap()));
    assert!(again.head.contains("idempotency-replayed: true"), "{again:?}");
    assert_eq!(ask("one", r#"{"ability": "hello"}"#).await.problem(), "422 reused");
    assert_eq!(ask(&"x".repeat(201), body).await.problem(), "400 bad_request");
    assert!(!ids.contains(ask("two", body).await.json()["run"].as_str().unwrap()));
    let all = served.client.ask("GET /v1/runs", None, None).await.json();
    assert_eq!(all["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn only_the_right_people_answer() {
    let served = Served::with(free()).await;
    let ada = served.house.key_of("ada", &[Scope::Run, Scope::Approve], 1).await;
    let eve = served.house.key_of("eve", &[Scope::Approve], 2).await;
    let bob = served.house.key_of("bob", &[Scope::Admin], 3).await;
    let run = served.start("release", Some(&ada)).await;
    served.until(&run, "waiting").await;
    let inbox = fits(&served.client.ask("GET /v1/approvals", None, None).await, "ApprovalPage");
    let asked = &inbox["items"][0];
    assert_eq!(
        (&asked["run"], &asked["step"], &asked["started_by"]),
        (&json!(run), &json!("ask"), &json!("ada"))
    );
    let path = format!("/v1/approvals/{run}");
    let yes = json!({ "step": "ask", "answer": "approved", "comment": "fine" });
    let answer = async |key: Option<&str>, body: &Value| post(&served, &path, key, body.clone()).await;
    assert_eq!(answer(None, &yes).await.problem(), "403 no_scope", "an agent could ask like this");
    assert_eq!(answer(Some(&ada), &yes).await.problem(), "403 not_yours", "she started it");
    assert_eq!(answer(Some(&bob), &yes).await.problem(), "403 not_yours", "he is no approver");
    assert_eq!(
        answer(Some(&eve), &json!({ "step": "ask", "answer": "perhaps" })).await.problem(),
        "422 invalid"
    );
    assert_eq!(
        answer(Some(&eve), &json!({ "step": "go", "answer": "approved" })).await.problem(),
        "409 refused"
    );
    assert_eq!(
        answer(Some(&eve), &json!({ "answer": "approved" })).await.problem(),
        "409 refused",
        "it has no plan"
    );
    let done = answer(Some(&eve), &yes).await;
    assert_eq!(fits(&done, "Answered")["by"], "eve");
    assert_eq!(answer(Some(&eve), &yes).await.problem(), "409 refused", "it is answered");
    served.until(&run, "completed").await;
    let events = served.client.ask(&format!("GET /v1/runs/{run}/events"), None, None).await;
    assert!(events.body.contains("\"by\":\"eve\""), "{events:?}");
    let none = served.client.ask("GET /v1/approvals", None, None).await.json();
    assert_eq!(none["items"], json!([]));
}

#[tokio::test]
async fn nobody_is_both_of_four_eyes_by_starting_without_a_key() {
    let served = Served::with(free()).await;
    let ada = served.house.key_of("ada", &[Scope::Approve], 1).await;
    let run = served.start("release", None).await;
    served.until(&run, "waiting").await;
    let yes = json!({ "step": "ask", "answer": "approved" });
    let got = post(&served, &format!("/v1/approvals/{run}"), Some(&ada), yes).await;
    assert_eq!(got.problem(), "403 not_yours");
    served.until(&run, "waiting").await;
}

#[tokio::test]
async fn a_run_is_ended_by_whoever_started_it_or_may_decide() {
    let served = Served::with(free()).await;
    let ci = served.house.key_of("ci", &[Scope::Run], 1).await;
    let other = served.house.key_of("other", &[Scope::Run], 2).await;
    let boss = served.house.key_of("boss", &[Scope::Run, Scope::Approve], 3).await;
    let (first, second) = (served.start("slow", Some(&ci)).await, served.start("slow", None).await);
    let cancel = async |run: &str, key: Option<&str>| {
        post(&served, &format!("/v1/runs/{run}/cancel"), key, json!({ "reason": "enough" })).await
    };
    assert_eq!(cancel(&first, None).await.problem(), "403 not_yours");
    assert_eq!(cancel(&second, None).await.problem(), "403 not_yours", "whoever has no key could be anybody");
    assert_eq!(cancel(&first, Some(&other)).await.problem(), "403 not_yours");
    fits(&cancel(&first, Some(&ci)).await, "Run");
    fits(&cancel(&second, Some(&boss)).await, "Run");
    served.until(&first, "cancelled").await;
    served.until(&second, "cancelled").await;
    assert_eq!(cancel(&first, Some(&ci)).await.problem(), "409 refused");
}

#[tokio::test]
async fn the_next_server_goes_on_and_asks_for_what_only_memory_held() {
    let served = Served::with(free()).await;
    let plain = served.start("simple", None).await;
    let body = json!({ "ability": "hidden", "inputs": { "token": "swordfish" } });
    let hidden = post(&served, "/v1/runs", None, body).await.json()["run"].as_str().unwrap().to_owned();
    served.until(&plain, "waiting").await;
    served.until(&hidden, "waiting").await;
    let folder = served.end().await;
    for file in ["log.db", "log.db-wal", "server.db", "server.db-wal"] {
        let bytes = std::fs::File::open(folder.path().join(file)).map(|mut file| {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut file, &mut bytes).unwrap();
            bytes
        });
        assert!(!bytes.unwrap_or_default().windows(9).any(|window| window == b"swordfish"), "{file}");
    }
    let served = Served::at(folder, free()).await;
    let boss = served.house.key_of("boss", &[Scope::Approve, Scope::Run], 1).await;
    let yes = json!({ "step": "ask", "answer": "approved" });
    for run in [&plain, &hidden] {
        let got = post(&served, &format!("/v1/approvals/{run}"), Some(&boss), yes.clone()).await;
        assert_eq!(got.status, 200, "{got:?}");
    }
    served.until(&plain, "completed").await;
    let resume = async |body: Value| post(&served, &format!("/v1/runs/{hidden}/resume"), None, body).await;
    assert_eq!(resume(json!({})).await.problem(), "422 invalid");
    assert_eq!(resume(json!({ "decision": "rerun" })).await.problem(), "403 not_yours");
    assert_eq!(resume(json!({ "decision": "perhaps" })).await.problem(), "400 bad_body");
    fits(&resume(json!({ "inputs": { "token": "swordfish" } })).await, "Run");
    served.until(&hidden, "completed").await;
    assert_eq!(resume(json!({})).await.problem(), "409 refused");
    // It is noted as over just after its last event.
    let open = async || served.house.registry.open(None, 10).await.unwrap();
    for _ in 0..400 {
        if open().await.is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    assert!(open().await.is_empty(), "{:?}", open().await);
}

#[tokio::test]
async fn a_run_that_waits_for_what_it_has_called_is_left_at_once() {
    let patient = || Options { grace: Some(Duration::from_mins(10)), ..free() };
    for ability in ["outer", "outermost"] {
        let served = Served::with(patient()).await;
        let run = served.start(ability, None).await;
        let asked = loop {
            let inbox = served.client.ask("GET /v1/approvals", None, None).await.json();
            if let Some(asked) = inbox["items"][0]["run"].as_str() {
                break asked.to_owned();
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        };
        assert_ne!(asked, run, "the question is that of the run which was called");
        // It has only seconds for this: nothing is at work that would need the time.
        let served = Served::at(served.end().await, patient()).await;
        let boss = served.house.key_of("boss", &[Scope::Approve], 1).await;
        let answer = json!({ "step": "ask", "answer": "approved" });
        let got = post(&served, &format!("/v1/approvals/{asked}"), Some(&boss), answer).await;
        assert_eq!(got.status, 200, "{got:?}");
        served.until(&run, "completed").await;
    }
}

#[tokio::test]
async fn a_step_that_was_cut_short_is_decided_by_a_human() {
    let served = Served::with(free()).await;
    let run = served.start("slow", None).await;
    for _ in 0..200 {
        let logs = served.client.ask(&format!("GET /v1/runs/{run}/logs"), None, None).await;
        if logs.body == "begun\n" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    let folder = served.end().await;
    let served = Served::at(folder, free()).await;
    let boss = served.house.key_of("boss", &[Scope::Approve, Scope::Run], 1).await;
    served.until(&run, "interrupted").await;
    let fail = json!({ "decision": "fail" });
    let mut got = post(&served, &format!("/v1/runs/{run}/resume"), Some(&boss), fail.clone()).await;
    assert_eq!(got.status, 200, "{got:?}");
    for _ in 0..100 {
        // The task that found it interrupted may still be ending.
        if served.client.ask(&format!("GET /v1/runs/{run}"), None, None).await.json()["status"] == "failed" {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
        got = post(&served, &format!("/v1/runs/{run}/resume"), Some(&boss), fail.clone()).await;
    }
    served.until(&run, "failed").await;
    assert!(matches!(got.status, 200 | 409), "{got:?}");
}

#[tokio::test]
async fn a_list_is_filtered_and_paged() {
    let served = Served::with(free()).await;
    let ci = served.house.key_of("ci", &[Scope::Run], 1).await;
    let mut runs = Vec::new();
    for number in 0..5 {
        let key = (number % 2 == 0).then_some(ci.as_str());
        let run = served.start("hello", key).await;
        served.until(&run, "completed").await;
        runs.push(run);
    }
    runs.reverse();
    let page = async |query: &str| {
        fits(&served.client.ask(&format!("GET /v1/runs?{query}"), None, None).await, "RunPage")
    };
    let ids = |page: &Value| -> Vec<String> {
        page["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["run"].as_str().unwrap().to_owned())
            .collect()
    };
    let mut paged = Vec::new();
    let mut query = "limit=2".to_owned();
    loop {
        let page = page(&query).await;
        paged.extend(ids(&page));
        match page["next"].as_str() {
            Some(next) => query = format!("limit=2&after={next}"),
            None => break,
        }
    }
    assert_eq!(paged, runs);
    assert_eq!(ids(&page("by=ci").await).len(), 3);
    assert_eq!(ids(&page("by=loopback&status=completed&ability=hello").await).len(), 2);
    assert_eq!(ids(&page("status=failed").await).len(), 0);
    assert_eq!(served.client.ask("GET /v1/runs?after=x", None, None).await.problem(), "400 bad_parameter");
}
