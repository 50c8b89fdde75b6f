//! The contract of [`Starts`], rule by rule.
//!
//! A crate that implements the port writes `abide_testkit::starts_contract!(make)` in a test, where `make` returns what it tests (and
//! whatever must live as long); each rule becomes a test with a name.

use abide_engine::port::{NewStart, Noted, REMEMBERED, Starts};
use std::sync::Arc;

fn start(run: &str, once: Option<&str>, at: i64) -> NewStart {
    NewStart {
        run: run.to_owned(),
        owner: "ada".to_owned(),
        once: once.map(str::to_owned),
        digest: format!("digest of {run}"),
        at,
    }
}

fn known(run: &str) -> Noted {
    Noted::Known { run: run.to_owned(), digest: format!("digest of {run}") }
}

/// What is asked twice is one start, for each owner.
pub async fn what_is_asked_twice_is_one_start(starts: Arc<impl Starts>) {
    assert_eq!(starts.note(start("a", Some("x"), 1)).await, Ok(Noted::New));
    assert_eq!(starts.note(start("b", Some("x"), 2)).await, Ok(known("a")));
    assert_eq!(starts.note(start("c", Some("y"), 3)).await, Ok(Noted::New));
    let other = NewStart { owner: "eve".to_owned(), ..start("d", Some("x"), 4) };
    assert_eq!(starts.note(other).await, Ok(Noted::New));
    assert_eq!(starts.note(start("e", None, 5)).await, Ok(Noted::New));
    assert_eq!(starts.note(start("f", None, 6)).await, Ok(Noted::New));
    assert_eq!(starts.open(10).await.unwrap(), ["a", "c", "d", "e", "f"]);
    assert_eq!(starts.open(2).await.unwrap(), ["a", "c"]);
}

/// What is over is not open any more, and is still known.
pub async fn what_is_over_is_known_and_not_open(starts: Arc<impl Starts>) {
    starts.note(start("a", Some("x"), 1)).await.unwrap();
    starts.note(start("b", None, 2)).await.unwrap();
    starts.over("a").await.unwrap();
    starts.over("nothing").await.unwrap();
    assert_eq!(starts.open(10).await.unwrap(), ["b"]);
    assert_eq!(starts.note(start("c", Some("x"), 3)).await, Ok(known("a")));
}

/// What is over is forgotten after its time, and what is open never is.
pub async fn what_is_over_is_forgotten_after_its_time(starts: Arc<impl Starts>) {
    starts.note(start("a", Some("x"), 0)).await.unwrap();
    starts.note(start("b", Some("y"), 0)).await.unwrap();
    starts.over("a").await.unwrap();
    let later = REMEMBERED + 1;
    assert_eq!(starts.note(start("c", Some("x"), later)).await, Ok(Noted::New));
    assert_eq!(starts.note(start("d", Some("y"), later)).await, Ok(known("b")));
}

/// Of many at once, one is the first.
pub async fn of_many_at_once_one_is_the_first(starts: Arc<impl Starts>) {
    let asked = (0..16).map(|number| {
        let starts = Arc::clone(&starts);
        tokio::spawn(async move { starts.note(start(&format!("r{number}"), Some("x"), 1)).await.unwrap() })
    });
    let asked: Vec<_> = asked.collect();
    let mut answers = Vec::new();
    for task in asked {
        answers.push(task.await.unwrap());
    }
    assert_eq!(answers.iter().filter(|answer| **answer == Noted::New).count(), 1, "{answers:?}");
    let [first] = &starts.open(100).await.unwrap()[..] else { panic!("one start") };
    assert_eq!(answers.iter().filter(|answer| **answer == known(first)).count(), 15, "{answers:?}");
}

/// Makes each rule a test.
#[macro_export]
macro_rules! starts_contract {
    ($make:expr) => {
        $crate::starts_contract!(@rules $make;
            what_is_asked_twice_is_one_start
            what_is_over_is_known_and_not_open
            what_is_over_is_forgotten_after_its_time
            of_many_at_once_one_is_the_first
        );
    };
    (@rules $make:expr; $($rule:ident)+) => {
        $(
            #[test]
            fn $rule() {
                $crate::store::check(async {
                    let (starts, _kept) = ($make)();
                    $crate::starts::$rule(std::sync::Arc::new(starts)).await;
                });
            }
        )+
    };
}
