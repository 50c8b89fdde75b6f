//! The contract of [`Questions`], rule by rule.
//!
//! A crate that implements the port writes `abide_testkit::questions_contract!(make)` in a test, where `make` returns what it tests (and
//! whatever must live as long); each rule becomes a test with a name.

use abide_engine::port::{CallAnswer, QUESTIONS_KEPT, QuestionRow, QuestionState, Questions};
use std::sync::Arc;
use std::time::Duration;

fn question(id: &str, asked_at: i64) -> QuestionRow {
    QuestionRow { id: id.to_owned(), text: format!("{id}\0?"), asked_at, deadline: asked_at + 60 }
}

fn said(by: &str, approved: bool) -> CallAnswer {
    CallAnswer { by: by.to_owned(), approved, why: (!approved).then(|| "not on a friday".to_owned()) }
}

/// What can be answered is told as it was asked, in the order of ids, until it is answered or its time is over.
pub async fn what_is_asked_is_told_until_it_is_answered_or_late(questions: Arc<impl Questions>) {
    for (id, at) in [("b", 10), ("a", 20), ("c", 30)] {
        questions.ask(question(id, at)).await.unwrap();
        questions.ask(question(id, at)).await.unwrap();
    }
    let open = questions.open(40).await.unwrap();
    assert_eq!(open, [question("a", 20), question("b", 10), question("c", 30)]);
    assert_eq!(questions.answer("a", said("ada", true), 40).await, Ok(true));
    let ids = async |now| -> Vec<String> {
        questions.open(now).await.unwrap().into_iter().map(|question| question.id).collect()
    };
    assert_eq!(ids(40).await, ["b", "c"]);
    assert_eq!(ids(70).await, ["c"], "its time is over");
    assert_eq!(questions.answer("b", said("ada", true), 70).await, Ok(false), "it is too late");
    assert_eq!(questions.answer("nothing", said("ada", true), 40).await, Ok(false));
    assert_eq!(questions.take("b").await, Ok(None));
}

/// Of several answers the first is given, and taken once.
pub async fn one_answer_is_given_and_taken_once(questions: Arc<impl Questions>) {
    questions.ask(question("a", 1)).await.unwrap();
    assert_eq!(questions.state("a").await, Ok(Some(QuestionState::Open)));
    assert_eq!(questions.take("a").await, Ok(None));
    assert_eq!(questions.answer("a", said("ada", false), 2).await, Ok(true));
    assert_eq!(questions.answer("a", said("eve", true), 2).await, Ok(false));
    assert_eq!(questions.state("a").await, Ok(Some(QuestionState::Answered)));
    assert_eq!(questions.take("a").await, Ok(Some(said("ada", false))));
    assert_eq!(questions.take("a").await, Ok(None));
    assert_eq!(questions.state("a").await, Ok(Some(QuestionState::Taken)));
    questions.withdraw("a").await.unwrap();
    assert_eq!(questions.state("a").await, Ok(Some(QuestionState::Taken)), "it counted");
}

/// What was taken back is answered by nobody, and what is long over is forgotten.
pub async fn what_was_taken_back_or_is_long_over_is_gone(questions: Arc<impl Questions>) {
    questions.ask(question("a", 1)).await.unwrap();
    questions.withdraw("a").await.unwrap();
    questions.withdraw("a").await.unwrap();
    assert_eq!(questions.state("a").await, Ok(None));
    assert_eq!(questions.answer("a", said("ada", true), 2).await, Ok(false));
    questions.ask(question("b", 1)).await.unwrap();
    assert_eq!(questions.answer("b", said("ada", true), 2).await, Ok(true));
    questions.withdraw("b").await.unwrap();
    assert_eq!(questions.take("b").await, Ok(None), "whoever asked did not wait");
    questions.ask(question("c", 1)).await.unwrap();
    questions.ask(question("d", 61 + QUESTIONS_KEPT)).await.unwrap();
    assert_eq!(questions.state("c").await, Ok(Some(QuestionState::Open)), "not yet");
    questions.ask(question("e", 62 + QUESTIONS_KEPT)).await.unwrap();
    assert_eq!(questions.state("c").await, Ok(None));
    assert_eq!(questions.state("d").await, Ok(Some(QuestionState::Open)));
}

/// Whoever waits hears of an answer soon, and whoever answered that it was taken.
pub async fn whoever_waits_hears_of_it_soon(questions: Arc<impl Questions>) {
    questions.ask(question("a", 1)).await.unwrap();
    // What listens may still have to begin.
    let _ = tokio::time::timeout(Duration::from_secs(1), questions.news("a")).await;
    for answered in [true, false] {
        let news = questions.news("a");
        if answered {
            assert_eq!(questions.answer("a", said("ada", true), 2).await, Ok(true));
        } else {
            assert_eq!(questions.take("a").await, Ok(Some(said("ada", true))));
        }
        assert!(tokio::time::timeout(Duration::from_secs(10), news).await.is_ok(), "it is heard");
    }
    // Whoever looks in vain does not wake itself.
    let news = questions.news("a");
    assert_eq!(questions.take("a").await, Ok(None));
    assert!(tokio::time::timeout(Duration::from_millis(300), news).await.is_err());
}

/// Makes each rule a test.
#[macro_export]
macro_rules! questions_contract {
    ($make:expr) => {
        $crate::questions_contract!(@rules $make;
            what_is_asked_is_told_until_it_is_answered_or_late
            one_answer_is_given_and_taken_once
            what_was_taken_back_or_is_long_over_is_gone
            whoever_waits_hears_of_it_soon
        );
    };
    (@rules $make:expr; $($rule:ident)+) => {
        $(
            #[test]
            fn $rule() {
                $crate::store::check(async {
                    let (questions, _kept) = ($make)();
                    $crate::questions::$rule(std::sync::Arc::new(questions)).await;
                });
            }
        )+
    };
}
