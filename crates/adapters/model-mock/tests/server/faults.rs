//! Each way to fail, as a client sees it.
#![expect(clippy::disallowed_methods, reason = "how slow an answer is can only be measured")]

use crate::ask::{ANTHROPIC, CHAT, RESPONSES, Reply, post};
use abide_model_mock::{Fault, ModelServer, Turn};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const PATHS: [&str; 3] = [ANTHROPIC, CHAT, RESPONSES];

fn streamed(path: &str, turn: Turn) -> Reply {
    let server = ModelServer::start(vec![turn]).unwrap();
    post(&server, path, &json!({"model": "m", "stream": true}))
}

fn is_json(data: &str) -> bool {
    data == "[DONE]" || serde_json::from_str::<Value>(data).is_ok()
}

#[test]
fn an_answer_that_is_cut_off_has_begun_and_does_not_end() {
    for path in PATHS {
        let reply = streamed(path, Turn::text("a rather long sentence").with(Fault::CutOff));
        assert!(!reply.whole && reply.status == 200, "{path}");
        assert!(reply.data().count() >= 2 && reply.data().any(is_json), "{path}: {}", reply.body);
        assert!(!reply.body.contains("sentence") && !reply.body.contains("DONE"), "{path}: {}", reply.body);
    }
}

#[test]
fn too_many_requests_and_overload_have_their_status_and_shape() {
    for path in PATHS {
        let busy = streamed(path, Turn::fault(Fault::TooManyRequests(Some(7))));
        assert_eq!(busy.status, 429, "{path}");
        assert!(busy.head.contains("retry-after: 7"), "{path}: {}", busy.head);
        let error: Value = serde_json::from_str(&busy.body).unwrap();
        assert_eq!(error["error"]["type"], "rate_limit_error", "{path}");
        let overloaded = streamed(path, Turn::fault(Fault::Overloaded));
        assert_eq!(overloaded.status, 529, "{path}");
    }
    let unsaid = streamed(CHAT, Turn::fault(Fault::TooManyRequests(None)));
    assert!(!unsaid.head.contains("retry-after"));
}

#[test]
fn a_malformed_answer_breaks_in_its_middle() {
    for path in PATHS {
        let reply = streamed(path, Turn::text("a rather long sentence").with(Fault::Malformed));
        let valid: Vec<bool> = reply.data().map(is_json).collect();
        assert_eq!(valid.iter().filter(|valid| !**valid).count(), 1, "{path}: {}", reply.body);
        assert!(valid[0] && valid[valid.len() - 1], "{path}");
        let server = ModelServer::start(vec![Turn::text("a } in a text").with(Fault::Malformed)]).unwrap();
        assert!(!is_json(&post(&server, path, &json!({})).body), "{path}");
    }
}

#[test]
fn a_slow_answer_waits_before_each_piece() {
    let started = Instant::now();
    let reply = streamed(CHAT, Turn::text("ab").with(Fault::Slow(Duration::from_millis(50))));
    let pieces = u32::try_from(reply.data().count()).unwrap();
    assert!(pieces >= 4 && reply.whole);
    assert!(started.elapsed() >= Duration::from_millis(50) * pieces, "{:?}", started.elapsed());
}

#[test]
fn a_late_answer_waits_once() {
    let started = Instant::now();
    let reply = streamed(CHAT, Turn::text("ab").with(Fault::Late(Duration::from_millis(300))));
    let pieces = u32::try_from(reply.data().count()).unwrap();
    assert!(pieces >= 4 && reply.whole);
    let took = started.elapsed();
    assert!(took >= Duration::from_millis(300), "{took:?}");
    assert!(took < Duration::from_millis(300) * pieces, "{took:?}");
}

#[test]
fn a_huge_answer_is_as_long_as_it_was_told_to_be() {
    let reply = streamed(ANTHROPIC, Turn::fault(Fault::Huge(5_000_000)));
    assert_eq!(reply.joined("/delta/text").len(), 5_000_000);
    assert!(reply.data().count() < 1_000, "in not too many pieces");
}
