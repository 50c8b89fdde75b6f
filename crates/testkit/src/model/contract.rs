//! What everything keeps that asks a model, whoever serves it.
//!
//! An implementation gives a [`Subject`], and [`model_contract!`](crate::model_contract) makes a test of each rule.

use super::{Fault, ModelServer, Tokens, ToolCall, Turn};
use abide_core::model::{Arguments, Retry, Usage};
use abide_engine::port::{
    AnswerEnd, AnswerLimits, Hear, Model, ModelAnswer, ModelError, ModelEvent, ModelProblem, ModelRequest,
    TimeOut,
};
use abide_formats::json;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a model of a [`Subject`] waits for an answer to begin, and for its next piece.
pub const PATIENCE: Duration = Duration::from_secs(1);

/// Makes models that answer by a script.
pub trait Subject {
    /// Makes one, with [`PATIENCE`].
    fn model(&self, turns: Vec<Turn>) -> Staged;
}

/// A model in front of its script.
pub struct Staged {
    /// The model.
    pub model: Arc<dyn Model>,
    /// Who serves it, if there is a network between.
    pub server: Option<ModelServer>,
}

/// What came of a question: the answer, and what was heard on the way.
struct Asked {
    result: Result<ModelAnswer, ModelError>,
    heard: Vec<ModelEvent>,
}

impl Asked {
    fn answer(self) -> ModelAnswer {
        self.result.unwrap_or_else(|error| panic!("{error}"))
    }

    fn problem(&self) -> (&ModelProblem, Retry) {
        match &self.result {
            Ok(answer) => panic!("there is an answer: {answer:?}"),
            Err(error) => {
                let ended = self.heard.iter().any(|event| matches!(event, ModelEvent::End(_)));
                assert!(!ended, "an end is heard without an answer: {:?}", self.heard);
                (&error.problem, error.retry)
            }
        }
    }

    fn text(&self) -> String {
        let texts = self.heard.iter().filter_map(|event| match event {
            ModelEvent::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// Makes a listener that keeps what it hears, and what it has kept.
pub fn listener() -> (Hear, Arc<Mutex<Vec<ModelEvent>>>) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heard);
    let hear: Hear = Arc::new(move |event| {
        kept.lock().unwrap_or_else(PoisonError::into_inner).push(event);
        Box::pin(std::future::ready(()))
    });
    (hear, heard)
}

/// Makes the question that all rules ask.
pub fn question() -> ModelRequest {
    ModelRequest::new("contract", "scripted-model", "what is the answer?")
}

async fn ask(staged: &Staged, request: ModelRequest) -> Asked {
    let (hear, heard) = listener();
    let result = staged.model.ask(Arc::new(request), hear).await;
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Asked { result, heard }
}

async fn one(subject: &dyn Subject, turn: Turn) -> Asked {
    ask(&subject.model(vec![turn]), question()).await
}

const TEXT: &str = "I look first, — then I build: größer als ein Stück";

/// What is heard, joined, is the answer; its end is heard last and once; the usage is as it was told.
pub async fn an_answer_is_heard_in_pieces_and_whole_in_the_end(subject: &dyn Subject) {
    let tokens = Tokens { input: 120, output: 34, cache_read: 100, cache_write: 0 };
    let asked = one(subject, Turn::text(TEXT).using(tokens)).await;
    assert_eq!(asked.text(), TEXT);
    let texts = asked.heard.iter().filter(|event| matches!(event, ModelEvent::Text(_))).count();
    assert!(texts > 2, "it comes in pieces: {:?}", asked.heard);
    assert_eq!(asked.heard.last(), Some(&ModelEvent::End(AnswerEnd::Done)));
    assert_eq!(asked.heard.iter().filter(|event| matches!(event, ModelEvent::End(_))).count(), 1);
    let answer = asked.answer();
    assert_eq!((answer.text().as_str(), answer.end), (TEXT, AnswerEnd::Done));
    let usage = Usage { input_tokens: 120, output_tokens: 34, cache_read_tokens: 100, cache_write_tokens: 0 };
    assert_eq!(answer.usage, usage);
}

/// Calls of one answer come in their order, each with an id of its own, and as they were meant.
pub async fn calls_in_parallel_keep_their_order_and_their_arguments(subject: &dyn Subject) {
    let arguments =
        [json!({"path": "a\"ü\n"}), json!({"n": 1, "deep": {"list": [1.5, null, true]}}), json!({})];
    let calls = arguments.iter().map(|arguments| ToolCall::new("read", arguments.clone()));
    let asked = one(subject, Turn { text: "both".to_owned(), ..Turn::calls(calls) }).await;
    let heard: Vec<_> = asked
        .heard
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Call(call) => Some(call.clone()),
            _ => None,
        })
        .collect();
    let answer = asked.answer();
    assert_eq!((answer.text().as_str(), answer.end), ("both", AnswerEnd::Calls));
    let calls: Vec<_> = answer.calls().cloned().collect();
    assert_eq!(calls, heard);
    let expected =
        arguments.map(|value| json::parse(&value.to_string()).unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(calls.len(), expected.len());
    for (call, expected) in calls.iter().zip(expected) {
        assert_eq!((call.name.as_str(), &call.arguments), ("read", &Arguments::Data(expected)));
        assert_eq!(calls.iter().filter(|other| other.id == call.id).count(), 1, "{calls:?}");
    }
}

/// A question by a schema has its answer as data too.
pub async fn an_answer_by_a_schema_is_data(subject: &dyn Subject) {
    let staged = subject.model(vec![Turn::text("{\"n\": 42}"), Turn::text("forty-two")]);
    let schema = json::parse(r#"{"type": "object", "properties": {"n": {"type": "integer"}}}"#).ok();
    let request = || ModelRequest { schema: schema.clone(), ..question() };
    let answer = ask(&staged, request()).await.answer();
    assert_eq!(answer.structured, json::parse("{\"n\": 42}").ok());
    let answer = ask(&staged, request()).await.answer();
    assert_eq!((answer.structured, answer.pieces.len()), (None, 1), "what is no data is still an answer");
}

/// An answer that breaks off is an error, and may be asked for again.
pub async fn an_answer_that_is_cut_off_is_none(subject: &dyn Subject) {
    let asked = one(subject, Turn::text(TEXT).with(Fault::CutOff)).await;
    assert_eq!(asked.problem(), (&ModelProblem::CutOff, Retry::Later));
    assert!(!asked.text().is_empty() && TEXT.starts_with(&asked.text()), "{:?}", asked.heard);
}

/// So is one that is not what answers look like.
pub async fn a_malformed_answer_is_none(subject: &dyn Subject) {
    let asked = one(subject, Turn::text(TEXT).with(Fault::Malformed)).await;
    assert!(matches!(asked.problem(), (ModelProblem::Malformed(_), Retry::Later)), "{:?}", asked.result);
}

/// And one in whose middle the provider fails.
pub async fn a_failure_in_the_middle_is_what_it_says(subject: &dyn Subject) {
    let asked = one(subject, Turn::text(TEXT).with(Fault::FailsMidway)).await;
    assert!(matches!(asked.problem(), (ModelProblem::Overloaded(_), Retry::Later)), "{:?}", asked.result);
}

/// A refusal says whether and after how long another attempt makes sense.
pub async fn a_refusal_says_whether_to_ask_again(subject: &dyn Subject) {
    let wait = one(subject, Turn::fault(Fault::TooManyRequests(Some(7)))).await;
    let after = Retry::After(Duration::from_secs(7));
    assert!(
        matches!(wait.problem(), (ModelProblem::RateLimited(_), retry) if retry == after),
        "{:?}",
        wait.result
    );
    let unsaid = one(subject, Turn::fault(Fault::TooManyRequests(None))).await;
    assert!(matches!(unsaid.problem(), (ModelProblem::RateLimited(_), Retry::Later)), "{:?}", unsaid.result);
    let busy = one(subject, Turn::fault(Fault::Overloaded)).await;
    assert!(matches!(busy.problem(), (ModelProblem::Overloaded(_), Retry::Later)), "{:?}", busy.result);
    let failed = one(subject, Turn::fault(Fault::Status(500, "oops".to_owned()))).await;
    assert!(matches!(failed.problem(), (ModelProblem::Failed { status: 500, .. }, Retry::Later)));
    let locked = one(subject, Turn::fault(Fault::Status(401, "who are you?".to_owned()))).await;
    assert!(matches!(locked.problem(), (ModelProblem::Unauthorized(_), Retry::Never)), "{:?}", locked.result);
    let wrong = one(subject, Turn::fault(Fault::Status(400, "no".to_owned()))).await;
    assert!(matches!(wrong.problem(), (ModelProblem::Refused(_), Retry::Never)), "{:?}", wrong.result);
}

/// An answer is no longer than it may be, whatever comes.
pub async fn a_huge_answer_is_bounded(subject: &dyn Subject) {
    let limits = AnswerLimits { tokens: 100, bytes: 200_000 };
    let staged = subject.model(vec![Turn::fault(Fault::Huge(3 << 20)), Turn::fault(Fault::Huge(150_000))]);
    let asked = ask(&staged, ModelRequest { limits, ..question() }).await;
    assert_eq!(asked.problem(), (&ModelProblem::TooLarge(200_000), Retry::Never));
    assert!(asked.text().len() <= 200_000);
    let asked = ask(&staged, ModelRequest { limits, ..question() }).await;
    assert_eq!(asked.answer().text().len(), 150_000);
}

/// Nobody is waited for without end.
pub async fn silence_ends(subject: &dyn Subject) {
    let asked = one(subject, Turn::text(TEXT).with(Fault::Stalled)).await;
    assert_eq!(asked.problem(), (&ModelProblem::TimedOut(TimeOut::Silence), Retry::Later));
    let asked = one(subject, Turn::text(TEXT).with(Fault::Silent)).await;
    assert_eq!(asked.problem(), (&ModelProblem::TimedOut(TimeOut::Beginning), Retry::Later));
}

/// An answer that is slow, but comes, is one; and so is one whose listener is slow.
pub async fn slowness_is_no_silence(subject: &dyn Subject) {
    let asked = one(subject, Turn::text("slow but sure").with(Fault::Slow(PATIENCE / 5))).await;
    assert_eq!(asked.answer().text(), "slow but sure");
    let staged = subject.model(vec![Turn::text("one two")]);
    let hear: Hear = Arc::new(|event| {
        Box::pin(async move {
            if matches!(event, ModelEvent::Text(_)) {
                tokio::time::sleep(PATIENCE * 3 / 2).await;
            }
        })
    });
    let answer = staged.model.ask(Arc::new(question()), hear).await;
    assert_eq!(answer.map(|answer| answer.text()), Ok("one two".to_owned()));
}

/// A question that nobody waits for any more is not paid for: the other side sees that the connection is gone.
pub async fn dropping_a_question_ends_it(subject: &dyn Subject) {
    let staged = subject.model(vec![Turn::text(TEXT).with(Fault::Slow(PATIENCE / 5))]);
    let (hear, heard) = listener();
    let question = staged.model.ask(Arc::new(question()), hear);
    assert!(tokio::time::timeout(PATIENCE, question).await.is_err(), "the answer takes longer than that");
    let count = || heard.lock().unwrap_or_else(PoisonError::into_inner).len();
    let before = count();
    tokio::time::sleep(PATIENCE / 2).await;
    assert_eq!(count(), before, "nothing is heard of a question that was dropped");
    if let Some(server) = &staged.server {
        for _ in 0..50 {
            if server.hang_ups() == 1 {
                return;
            }
            tokio::time::sleep(PATIENCE / 10).await;
        }
        panic!("the server was not told within {:?}", PATIENCE * 5);
    }
}

/// Many questions at once do not mix.
pub async fn questions_at_the_same_time_do_not_hold_each_other(subject: &dyn Subject) {
    let slow = subject.model(vec![Turn::text("slow answer").with(Fault::Slow(PATIENCE / 5))]);
    let fast = subject.model(vec![Turn::text("fast answer")]);
    tokio::select! {
        biased;
        _ = ask(&slow, question()) => panic!("the slow answer came first"),
        asked = ask(&fast, question()) => assert_eq!(asked.answer().text(), "fast answer"),
    }
}

/// Makes a test of every rule of the contract of models.
#[macro_export]
macro_rules! model_contract {
    ($subject:expr) => {
        $crate::model_contract!(@ $subject,
            an_answer_is_heard_in_pieces_and_whole_in_the_end,
            calls_in_parallel_keep_their_order_and_their_arguments,
            an_answer_by_a_schema_is_data,
            an_answer_that_is_cut_off_is_none,
            a_malformed_answer_is_none,
            a_failure_in_the_middle_is_what_it_says,
            a_refusal_says_whether_to_ask_again,
            a_huge_answer_is_bounded,
            silence_ends,
            slowness_is_no_silence,
            dropping_a_question_ends_it,
            questions_at_the_same_time_do_not_hold_each_other,
        );
    };
    (@ $subject:expr, $($rule:ident,)+) => {$(
        #[tokio::test]
        async fn $rule() {
            $crate::model::contract::$rule(&$subject).await;
        }
    )+};
}
