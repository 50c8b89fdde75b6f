//! The contract of [`Starts`], rule by rule.
//!
//! A crate that implements the port writes `abide_testkit::starts_contract!(make)` in a test, where `make` returns what it tests (and
//! whatever must live as long); each rule becomes a test with a name.

use abide_engine::port::{NewStart, Noted, OpenStart, REMEMBERED, Starts};
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

async fn open(starts: &impl Starts, after: Option<&OpenStart>, most: usize) -> Vec<String> {
    starts.open(after, most).await.unwrap().into_iter().map(|start| start.run).collect()
}

/// What is open is told page by page, also of the same moment, and with when it was noted.
pub async fn what_is_open_is_told_page_by_page(starts: Arc<impl Starts>) {
    for (run, at) in [("b", 1), ("a", 1), ("d", 3), ("c", 2), ("e", 3)] {
        starts.note(start(run, None, at)).await.unwrap();
    }
    starts.over("c").await.unwrap();
    let first = starts.open(None, 2).await.unwrap();
    let told = |run: &str, at| OpenStart { run: run.to_owned(), at };
    assert_eq!(first, [told("a", 1), told("b", 1)]);
    assert_eq!(open(&*starts, Some(&told("a", 1)), 10).await, ["b", "d", "e"]);
    assert_eq!(open(&*starts, first.last(), 10).await, ["d", "e"]);
    assert_eq!(open(&*starts, Some(&told("c", 2)), 1).await, ["d"], "one that is over now has its place");
    assert_eq!(open(&*starts, Some(&told("e", 3)), 10).await, [""; 0]);
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
    assert_eq!(open(&*starts, None, 10).await, ["a", "c", "d", "e", "f"]);
    assert_eq!(open(&*starts, None, 2).await, ["a", "c"]);
}

/// What is over is not open any more, and is still known.
pub async fn what_is_over_is_known_and_not_open(starts: Arc<impl Starts>) {
    starts.note(start("a", Some("x"), 1)).await.unwrap();
    starts.note(start("b", None, 2)).await.unwrap();
    starts.over("a").await.unwrap();
    starts.over("nothing").await.unwrap();
    assert_eq!(open(&*starts, None, 10).await, ["b"]);
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
    let [first] = &open(&*starts, None, 100).await[..] else { panic!("one start") };
    assert_eq!(answers.iter().filter(|answer| **answer == known(first)).count(), 15, "{answers:?}");
}

/// Makes each rule a test.
#[macro_export]
macro_rules! starts_contract {
    ($make:expr) => {
        $crate::starts_contract!(@rules $make;
            what_is_open_is_told_page_by_page
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
