//! The twin of models keeps their contract, and asking patiently works on it.

use abide_core::model::{Patience, Retry};
use abide_engine::model::ask;
use abide_engine::port::{ModelEvent, ModelProblem};
use abide_testkit::RealClock;
use abide_testkit::model::contract::{Staged, Subject, listener, question};
use abide_testkit::model::{Fault, ScriptedModel, Tokens, Turn};
use std::sync::Arc;
use std::time::Duration;

struct Twin;

impl Subject for Twin {
    fn model(&self, turns: Vec<Turn>) -> Staged {
        Staged { model: Arc::new(ScriptedModel::new(turns)), server: None }
    }
}

abide_testkit::model_contract!(Twin);

fn impatient() -> Patience {
    Patience { attempts: 3, first: Duration::from_millis(2), ..Patience::default() }
}

#[tokio::test]
async fn what_passes_is_asked_again_and_what_was_heard_of_it_is_taken_back() {
    let tokens = Tokens { input: 10, output: 1, ..Tokens::default() };
    let model = ScriptedModel::new([
        Turn::text("half of it").with(Fault::CutOff).using(tokens),
        Turn::fault(Fault::TooManyRequests(Some(0))),
        Turn::text("all of it").using(tokens),
    ]);
    let (hear, heard) = listener();
    let clock = RealClock::default();
    let answer = ask(&model, &clock, &impatient(), Arc::new(question()), hear).await.unwrap();
    assert_eq!(answer.text(), "all of it");
    assert_eq!(answer.usage.tokens(), 22, "a failed attempt is paid for too");
    let heard = heard.lock().unwrap();
    let again: Vec<&str> = heard
        .iter()
        .filter_map(|event| match event {
            ModelEvent::Again { because, .. } => Some(because.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(again, ["scripted: the answer was cut off", "scripted: too many requests: too many requests"]);
    assert_eq!(model.asked().len(), 3);
}

#[tokio::test]
async fn what_does_not_pass_is_asked_once_and_patience_ends() {
    let clock = RealClock::default();
    let refused = ScriptedModel::new([Turn::fault(Fault::Status(400, "no".to_owned())), Turn::text("yes")]);
    let error = ask(&refused, &clock, &impatient(), Arc::new(question()), listener().0).await.unwrap_err();
    assert_eq!((error.retry, refused.asked().len()), (Retry::Never, 1));
    let busy = ScriptedModel::new(vec![Turn::fault(Fault::Overloaded); 4]);
    let error = ask(&busy, &clock, &impatient(), Arc::new(question()), listener().0).await.unwrap_err();
    assert!(matches!(error.problem, ModelProblem::Overloaded(_)));
    assert_eq!(busy.asked().len(), 3);
    let far = ScriptedModel::new([Turn::fault(Fault::TooManyRequests(Some(3600))), Turn::text("late")]);
    let error = ask(&far, &clock, &impatient(), Arc::new(question()), listener().0).await.unwrap_err();
    assert_eq!((error.retry, far.asked().len()), (Retry::After(Duration::from_hours(1)), 1));
}
