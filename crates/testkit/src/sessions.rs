//! The contracts of [`Sessions`] and [`Messages`], rule by rule.
//!
//! A crate that implements the ports writes `abide_testkit::sessions_contract!(make)` and `messages_contract!(make)` in a test, where
//! `make` returns what it tests (and whatever must live as long); each rule becomes a test with a name.

use abide_engine::port::{
    MOST_WAITING, MessageEnd, MessageRow, Messages, NewMessage, Posted, SessionRow, Sessions, WhenBusy,
};
use std::sync::Arc;
use std::time::Duration;

fn id(number: u8) -> String {
    format!("01980000-0000-7000-8000-0000000000{number:02x}")
}

fn session(number: u8, agent: &str) -> SessionRow {
    SessionRow {
        id: id(number),
        agent: agent.to_owned(),
        title: number.is_multiple_of(2).then(|| "a \"title\" ü".to_owned()),
        by: "ada".to_owned(),
        created_at: 1_000,
        updated_at: 1_000,
    }
}

fn message(name: &str, when_busy: WhenBusy) -> NewMessage {
    NewMessage {
        id: name.to_owned(),
        session: id(1),
        text: format!("line one of {name}\nline two ü"),
        by: "ada".to_owned(),
        when_busy,
        once: None,
        at: 2_000,
    }
}

fn end(status: &str) -> MessageEnd {
    MessageEnd {
        status: status.to_owned(),
        answer: "an \0 answer".to_owned(),
        error: Some("why".to_owned()),
        at: 3_000,
    }
}

fn names(rows: &[MessageRow]) -> Vec<String> {
    rows.iter().map(|row| row.id.clone()).collect()
}

async fn posted(rows: &impl Messages, new: NewMessage) -> MessageRow {
    match rows.post(new).await.expect("it can be posted") {
        Posted::New(row) => row,
        other => panic!("{other:?}"),
    }
}

async fn open(rows: &impl Messages) -> Vec<String> {
    names(&rows.open(&id(1)).await.expect("they can be read"))
}

/// What is added comes back, page by page and by agent.
pub async fn sessions_come_back(rows: Arc<impl Sessions>) {
    for (number, agent) in [(3, "b"), (1, "a"), (2, "a")] {
        rows.add(session(number, agent)).await.expect("it can be added");
    }
    assert!(rows.add(session(1, "c")).await.is_err(), "an id is taken once");
    assert_eq!(rows.find(&id(2)).await, Ok(Some(session(2, "a"))));
    assert_eq!(rows.find("not an id").await, Ok(None));
    let list = async |after: Option<&str>, agent, most| -> Vec<String> {
        let listed = rows.list(after, agent, most).await.expect("they can be listed");
        listed.into_iter().map(|row| row.id).collect()
    };
    assert_eq!(list(None, None, 2).await, [id(1), id(2)]);
    assert_eq!(list(Some(&id(1)), None, 9).await, [id(2), id(3)]);
    assert_eq!(list(None, Some("a"), 9).await, [id(1), id(2)]);
    assert_eq!(list(None, Some("none"), 9).await, Vec::<String>::new());
    let called = rows.retitle(&id(1), Some("new".to_owned()), 5_000).await.expect("it can be changed");
    let kept = SessionRow { title: Some("new".to_owned()), updated_at: 5_000, ..session(1, "a") };
    assert_eq!(called, Some(kept.clone()));
    assert_eq!(rows.find(&id(1)).await, Ok(Some(kept)));
    let earlier = rows.retitle(&id(1), None, 4_000).await.expect("it can be changed").expect("it is there");
    assert_eq!((earlier.title, earlier.updated_at), (None, 5_000), "time does not go back");
    assert_eq!(rows.retitle(&id(9), None, 1).await, Ok(None));
}

/// What is removed is seen by nobody, and known until it is forgotten.
pub async fn what_is_removed_is_gone(rows: Arc<impl Sessions + Messages>) {
    rows.add(session(1, "a")).await.expect("it can be added");
    posted(&*rows, message("one", WhenBusy::Queue)).await;
    assert_eq!(rows.forget(&id(1)).await, Ok(()), "what was not removed stays");
    assert_eq!(rows.remove(&id(1)).await, Ok(true));
    assert_eq!(rows.remove(&id(1)).await, Ok(false));
    assert_eq!(Sessions::find(&*rows, &id(1)).await, Ok(None));
    assert_eq!(Sessions::list(&*rows, None, None, 9).await, Ok(Vec::new()));
    assert_eq!(rows.retitle(&id(1), None, 1).await, Ok(None));
    assert_eq!(rows.post(message("two", WhenBusy::Queue)).await, Ok(Posted::NoSession));
    assert_eq!(rows.open(&id(1)).await, Ok(Vec::new()));
    assert_eq!(Messages::list(&*rows, &id(1), 0, 9).await, Ok(Vec::new()));
    assert_eq!(Messages::find(&*rows, &id(1), "one").await, Ok(None));
    assert_eq!(rows.waiting(None, 9).await, Ok(Vec::new()));
    assert_eq!(rows.removed(9).await, Ok(vec![id(1)]));
    assert_eq!(rows.forget(&id(1)).await, Ok(()));
    assert_eq!(rows.removed(9).await, Ok(Vec::new()));
}

/// Messages are counted, told in order, and end once.
pub async fn messages_wait_in_order_and_end_once(rows: Arc<impl Sessions + Messages>) {
    rows.add(session(1, "a")).await.expect("it can be added");
    rows.add(session(2, "a")).await.expect("it can be added");
    assert_eq!(
        rows.post(NewMessage { session: id(7), ..message("x", WhenBusy::Queue) }).await,
        Ok(Posted::NoSession)
    );
    for (number, name) in (1..).zip(["one", "two", "three"]) {
        assert_eq!(posted(&*rows, message(name, WhenBusy::Queue)).await.number, number);
    }
    let touched = Sessions::find(&*rows, &id(1)).await.expect("it can be read").expect("it is there");
    assert_eq!(touched.updated_at, 2_000);
    assert_eq!(open(&*rows).await, ["one", "two", "three"]);
    assert_eq!(rows.waiting(None, 9).await, Ok(vec![id(1)]));
    assert_eq!(rows.waiting(Some(&id(1)), 9).await, Ok(Vec::new()));
    assert_eq!(rows.end(&id(1), "one", end("finished")).await, Ok(()));
    assert_eq!(rows.end(&id(1), "one", end("failed")).await, Ok(()));
    assert_eq!(rows.end(&id(2), "two", end("failed")).await, Ok(()), "another session's is not touched");
    assert_eq!(open(&*rows).await, ["two", "three"]);
    let one = Messages::find(&*rows, &id(1), "one").await.expect("it can be read").expect("it is there");
    assert_eq!(one.end, Some(end("finished")), "the first end stays");
    assert_eq!(one.text, message("one", WhenBusy::Queue).text);
    assert_eq!(Messages::find(&*rows, &id(2), "one").await, Ok(None), "it is another session's");
    let page = Messages::list(&*rows, &id(1), 1, 1).await.expect("they can be listed");
    assert_eq!(names(&page), ["two"]);
    for name in ["two", "three"] {
        rows.end(&id(1), name, end("finished")).await.expect("it can end");
    }
    assert_eq!(rows.waiting(None, 9).await, Ok(Vec::new()));
}

/// One that interrupts is next, one that may not wait is not taken, and nobody posts without end.
pub async fn busy_sessions_take_what_they_are_told_to(rows: Arc<impl Sessions + Messages>) {
    rows.add(session(1, "a")).await.expect("it can be added");
    let first = posted(&*rows, message("refuses, and is the first", WhenBusy::Refuse)).await;
    assert_eq!(rows.post(message("refused", WhenBusy::Refuse)).await, Ok(Posted::Busy));
    posted(&*rows, message("queued", WhenBusy::Queue)).await;
    let earlier = posted(&*rows, message("earlier", WhenBusy::Interrupt)).await;
    let later = posted(&*rows, message("later", WhenBusy::Interrupt)).await;
    assert!(later.interrupts(&first) && later.interrupts(&earlier) && !earlier.interrupts(&later));
    assert_eq!(later.number, 4, "what is not taken is not counted");
    assert_eq!(open(&*rows).await, ["later", "earlier", "refuses, and is the first", "queued"]);
    for number in 4..MOST_WAITING {
        posted(&*rows, message(&number.to_string(), WhenBusy::Queue)).await;
    }
    assert_eq!(rows.post(message("too many", WhenBusy::Queue)).await, Ok(Posted::Full));
}

/// The same request counts once, in each session and for each teller.
pub async fn the_same_request_counts_once(rows: Arc<impl Sessions + Messages>) {
    rows.add(session(1, "a")).await.expect("it can be added");
    rows.add(session(2, "a")).await.expect("it can be added");
    let once = |name: &str, by: &str| NewMessage {
        once: Some("key".to_owned()),
        by: by.to_owned(),
        ..message(name, WhenBusy::Refuse)
    };
    let first = posted(&*rows, once("first", "ada")).await;
    assert_eq!(rows.post(once("again", "ada")).await, Ok(Posted::Known(first.clone())));
    assert_eq!(rows.post(once("of eve", "eve")).await, Ok(Posted::Busy));
    posted(&*rows, NewMessage { session: id(2), ..once("elsewhere", "ada") }).await;
    rows.end(&id(1), "first", end("finished")).await.expect("it can end");
    let over = MessageRow { end: Some(end("finished")), ..first };
    assert_eq!(rows.post(once("later", "ada")).await, Ok(Posted::Known(over)));
}

/// Who wants a turn to end is noted once, for the first one or for all.
pub async fn who_cancels_is_noted(rows: Arc<impl Sessions + Messages>) {
    rows.add(session(1, "a")).await.expect("it can be added");
    assert_eq!(rows.cancel(&id(1), "eve", false).await, Ok(Vec::new()));
    for name in ["one", "two"] {
        posted(&*rows, message(name, WhenBusy::Queue)).await;
    }
    let cancelled = rows.cancel(&id(1), "eve", false).await.expect("it can be cancelled");
    assert_eq!(names(&cancelled), ["one"]);
    assert_eq!(cancelled[0].cancelled_by.as_deref(), Some("eve"));
    assert_eq!(rows.cancel(&id(1), "bob", false).await, Ok(Vec::new()), "it is cancelled already");
    assert_eq!(names(&rows.cancel(&id(1), "bob", true).await.expect("they can be cancelled")), ["two"]);
    let by: Vec<Option<String>> =
        rows.open(&id(1)).await.expect("they can be read").into_iter().map(|row| row.cancelled_by).collect();
    assert_eq!(by, [Some("eve".to_owned()), Some("bob".to_owned())]);
}

/// Many at once are counted without a gap, and none is lost.
pub async fn many_at_once_are_counted_without_a_gap(rows: Arc<impl Sessions + Messages>) {
    rows.add(session(1, "a")).await.expect("it can be added");
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let rows = Arc::clone(&rows);
            let new = NewMessage {
                once: Some((number / 2).to_string()),
                ..message(&number.to_string(), WhenBusy::Queue)
            };
            tokio::spawn(async move { rows.post(new).await.expect("it can be posted") })
        })
        .collect();
    let mut new = Vec::new();
    for task in tasks {
        match task.await.expect("it does not panic") {
            Posted::New(row) => new.push(row.number),
            Posted::Known(_) => {}
            other => panic!("{other:?}"),
        }
    }
    new.sort_unstable();
    assert_eq!(new, (1..=32).collect::<Vec<u64>>());
    assert_eq!(rows.open(&id(1)).await.expect("they can be read").len(), 32);
}

/// Who waits for news hears of a message, also if it came before they slept.
pub async fn who_waits_hears_of_a_message(rows: Arc<impl Sessions + Messages>) {
    rows.add(session(1, "a")).await.expect("it can be added");
    for (number, wait) in [(1, true), (2, false)] {
        let news = rows.news(&id(1));
        let waiting = wait.then(|| tokio::spawn(rows.news(&id(1))));
        tokio::time::sleep(Duration::from_millis(50)).await;
        posted(&*rows, message(&number.to_string(), WhenBusy::Queue)).await;
        tokio::time::timeout(Duration::from_secs(5), news).await.expect("it is heard");
        if let Some(waiting) = waiting {
            let heard = tokio::time::timeout(Duration::from_secs(5), waiting).await;
            heard.expect("it is heard").expect("it does not panic");
        }
    }
}

/// Makes each rule about sessions a test.
#[macro_export]
macro_rules! sessions_contract {
    ($make:expr) => {
        mod sessions_rules {
            use super::*;
            $crate::sessions_contract!(@rules $make;
                sessions_come_back
                what_is_removed_is_gone
            );
        }
    };
    (@rules $make:expr; $($rule:ident)+) => {
        $(
            #[test]
            fn $rule() {
                $crate::store::check(async {
                    let (rows, _kept) = ($make)();
                    $crate::sessions::$rule(std::sync::Arc::new(rows)).await;
                });
            }
        )+
    };
}

/// Makes each rule about messages a test.
#[macro_export]
macro_rules! messages_contract {
    ($make:expr) => {
        mod messages_rules {
            use super::*;
            $crate::sessions_contract!(@rules $make;
                messages_wait_in_order_and_end_once
                busy_sessions_take_what_they_are_told_to
                the_same_request_counts_once
                who_cancels_is_noted
                many_at_once_are_counted_without_a_gap
                who_waits_hears_of_a_message
            );
        }
    };
}
