//! What webhooks are told: of whose runs, what about them, and once, whatever happens to the server in between.

use crate::house::Served;
use abide_core::definition::{SecretSource, WebhookName, WebhookSettings};
use abide_core::source::{Span, Spanned};
use abide_engine::keys::Scope;
use abide_engine::port::{Courier, CourierError, Later, Letter, Receipt};
use abide_http::Options;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Takes every letter, and keeps it.
#[derive(Clone, Default)]
pub(crate) struct TestCourier(Arc<Mutex<Vec<Letter>>>);

impl Courier for TestCourier {
    fn carry(&self, letter: Letter) -> Later<Result<Receipt, CourierError>> {
        self.0.lock().unwrap().push(letter);
        Box::pin(std::future::ready(Ok(Receipt { status: 200, retry_after: None })))
    }
}

impl TestCourier {
    /// Waits until so many letters have been carried, and no more come; returns their ids and what they say, in the order of ids.
    pub(crate) async fn letters(&self, count: usize) -> Vec<(String, Value)> {
        for _ in 0..400 {
            if self.0.lock().unwrap().len() >= count {
                break;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
        let id = |letter: &Letter| {
            let (_, id) = letter.headers.iter().find(|(name, _)| *name == "webhook-id").unwrap();
            id.clone()
        };
        let read = |letter: &Letter| (id(letter), serde_json::from_str(&letter.body).unwrap());
        let mut letters: Vec<_> = self.0.lock().unwrap().iter().map(read).collect();
        letters.sort_by(|(_, one), (_, other)| {
            let place = |body: &Value| (body["at"].as_i64(), body["type"].to_string());
            place(one).cmp(&place(other))
        });
        assert_eq!(letters.len(), count, "{letters:#?}");
        letters
    }
}

/// A webhook that is told everything.
pub(crate) fn webhook() -> (WebhookName, WebhookSettings) {
    let settings = WebhookSettings {
        url: Spanned::new("http://127.0.0.1:1/".to_owned(), Span::default()),
        secret: Spanned::new(SecretSource::Env("SECRET".to_owned()), Span::default()),
        events: None,
        abilities: None,
        private_network: None,
    };
    (WebhookName::parse("pager").unwrap(), settings)
}

async fn served(folder: Arc<tempfile::TempDir>, courier: Option<TestCourier>) -> Served {
    Served::telling(folder, Options::default(), courier).await
}

fn folder() -> Arc<tempfile::TempDir> {
    Arc::new(tempfile::tempdir().unwrap())
}

async fn answer(served: &Served, run: &str, step: Option<&str>) {
    let key = served.house.key(&[Scope::Approve], 9).await;
    let body = json!({ "step": step, "answer": "approved" });
    let body = if step.is_none() { json!({ "answer": "approved" }) } else { body };
    let got = served.client.ask(&format!("POST /v1/approvals/{run}"), Some(&key), Some(&body)).await;
    assert_eq!(got.status, 200, "{got:?}");
}

#[tokio::test]
async fn an_approval_and_an_end_are_told_with_the_names_of_the_api() {
    let courier = TestCourier::default();
    let served = served(folder(), Some(courier.clone())).await;
    let key = served.house.key_of("eve", &[Scope::Run], 3).await;
    let run = served.start("release", Some(&key)).await;
    let asked = courier.letters(1).await;
    let listed = served.client.ask("GET /v1/approvals", None, None).await.json();
    assert_eq!(asked[0].1["type"], "approval.requested");
    assert_eq!(asked[0].1["data"], listed["items"][0], "both say the same");
    assert!(asked[0].0.starts_with(&format!("msg_{run}_")), "{asked:?}");
    answer(&served, &run, Some("ask")).await;
    let told = courier.letters(2).await;
    let data = &told[1].1["data"];
    assert_eq!(
        (&told[1].1["type"], &data["run"], &data["status"], &data["by"], &data["error"]),
        (&json!("run.finished"), &json!(run), &json!("completed"), &json!("eve"), &Value::Null)
    );
    assert_eq!(data["finished_at"], told[1].1["at"]);
    let metrics = served.client.ask("GET /v1/metrics", None, None).await.body;
    for line in [
        "abide_webhook_deliveries_total{webhook=\"pager\",outcome=\"delivered\"} 2",
        "abide_webhook_undelivered{webhook=\"pager\"} 0",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{metrics}");
    }
    served.end().await;
}

#[tokio::test]
async fn a_plan_is_an_approval_and_a_run_that_is_called_is_not_told_to_be_over() {
    let courier = TestCourier::default();
    let served = served(folder(), Some(courier.clone())).await;
    let planned = served.start("planned", None).await;
    let asked = courier.letters(1).await;
    assert_eq!((&asked[0].1["data"]["kind"], &asked[0].1["data"]["run"]), (&json!("plan"), &json!(planned)));
    answer(&served, &planned, None).await;
    courier.letters(2).await;
    let outer = served.start("outer", None).await;
    let asked = courier.letters(3).await;
    let data = &asked[2].1["data"];
    assert_eq!((&data["ability"], &data["parent"]), (&json!("simple"), &json!(outer)));
    answer(&served, data["run"].as_str().unwrap(), Some("ask")).await;
    let told = courier.letters(4).await;
    assert_eq!((&told[3].1["type"], &told[3].1["data"]["run"]), (&json!("run.finished"), &json!(outer)));
    served.end().await;
}

#[tokio::test]
async fn what_a_server_did_not_come_to_tell_is_told_by_the_next_one_once() {
    let folder = folder();
    // One that has no webhook is like one that is killed before it has posted anything.
    let first = served(Arc::clone(&folder), None).await;
    let run = first.start("simple", None).await;
    first.until(&run, "waiting").await;
    first.end().await;
    let courier = TestCourier::default();
    let second = served(Arc::clone(&folder), Some(courier.clone())).await;
    let asked = courier.letters(1).await;
    assert_eq!(asked[0].1["data"]["run"], json!(run));
    second.end().await;
    let third = served(Arc::clone(&folder), Some(courier.clone())).await;
    answer(&third, &run, Some("ask")).await;
    let told = courier.letters(2).await;
    assert_eq!(told[1].1["type"], "run.finished");
    third.end().await;
    let fourth = served(folder, Some(courier.clone())).await;
    courier.letters(2).await;
    fourth.end().await;
}
