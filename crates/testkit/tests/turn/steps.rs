//! The runner `builtin`: a step of an agent as a session that outlives its driver.

use crate::stage::{HastyClock, Steady, echo, store};
use abide_core::capability::Risk;
use abide_core::definition::Budget;
use abide_core::event::{RunId, StepKey};
use abide_core::model::{Message, ModelFacts, Part, Patience};
use abide_core::turn::Envelope;
use abide_engine::port::{
    Answer, Cancellation, Clock, Later, Listener, Model, NobodyToAsk, Runner, RunnerEnd, Task, Tool,
};
use abide_engine::toolbox::Toolbox;
use abide_engine::turn::{BuiltinRunner, CallTree, Cast, ModelSeat, OpenGate, OwnTiers, Seat, session_of};
use abide_testkit::RealClock;
use abide_testkit::model::{Fault, ScriptedModel, Tokens, ToolCall, Turn};
use abide_testkit::runner::contract::{self, ANSWER, Behaviour};
use abide_testkit::store::{Fault as StoreFault, MemoryStore};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

struct One {
    model: Arc<dyn Model>,
    tools: Vec<Arc<dyn Tool>>,
}

impl Cast for One {
    fn seat(&self, _: &Task) -> Later<Result<Seat, String>> {
        let model = Arc::clone(&self.model);
        let toolbox = Toolbox::new(self.tools.clone()).map_err(|error| error.to_string());
        Box::pin(async move {
            Ok(Seat {
                model: ModelSeat {
                    model,
                    name: "one".into(),
                    facts: ModelFacts::default(),
                    patience: Patience::default(),
                },
                model_name: "mock/one".into(),
                system: "You work.".into(),
                toolbox: toolbox?,
                permissions: Arc::new(OwnTiers),
                gate: Arc::new(OpenGate),
                confirm: Arc::new(NobodyToAsk),
                tree: CallTree::new(Envelope { turns: Some(20), ..Envelope::default() }),
            })
        })
    }
}

#[tokio::test]
async fn what_is_left_of_a_budget_ends_an_attempt_of_abides_own_loop() {
    let looks = (0..9).map(|n| {
        let call = ToolCall::new("deploy", json!({ "n": n }));
        Turn::call(call).using(Tokens { input: 90, output: 10, ..Tokens::default() })
    });
    let runner = runner(&store(), HastyClock::default(), &ScriptedModel::new(looks.collect::<Vec<_>>()));
    let budget = Budget { tokens: Some(250), ..Budget::default() };
    let answer = execute(&runner, Task { budget, ..task(1) }).await;
    assert_eq!(answer.end, RunnerEnd::Failed("the budget of 250 tokens is used up".to_owned()));
    assert_eq!((answer.usage.unwrap().tokens(), answer.turns), (300, 3));
    let runner = self::runner(&store(), HastyClock::default(), &ScriptedModel::new([Turn::text("done")]));
    let budget = Budget { turns: Some(1), ..Budget::default() };
    assert_eq!(execute(&runner, Task { budget, ..task(1) }).await.end, RunnerEnd::Finished);
}

fn runner<C: Clock>(
    store: &Arc<MemoryStore>,
    clock: C,
    model: &(impl Model + Clone),
) -> BuiltinRunner<MemoryStore, C> {
    let cast = One { model: Arc::new(model.clone()), tools: vec![echo("deploy", Risk::High).0] };
    BuiltinRunner::new(Arc::clone(store), Arc::new(clock), Arc::new(cast))
}

/// Gives every task a run of its own, since the contract gives one task several times.
struct Apart(BuiltinRunner<MemoryStore, RealClock>, AtomicU32);

impl Runner for Apart {
    fn execute(&self, task: Task, cancel: Cancellation, listener: Listener) -> Later<Answer> {
        let run = format!("run-{}", self.1.fetch_add(1, Ordering::SeqCst));
        self.0.execute(Task { run: RunId::parse(&run).unwrap(), ..task }, cancel, listener)
    }
}

#[tokio::test]
async fn it_keeps_the_contract_of_a_runner() {
    let subject = |behaviour: Behaviour| -> Arc<dyn Runner> {
        let turn = match behaviour {
            Behaviour::Answers => Turn::text(ANSWER),
            Behaviour::Waits => Turn::text("one two three").with(Fault::Slow(Duration::from_mins(1))),
        };
        let model = ScriptedModel::new([turn.clone(), turn]);
        Arc::new(Apart(runner(&store(), RealClock::default(), &model), AtomicU32::new(0)))
    };
    contract::check(&subject, Path::new("/nowhere")).await;
}

async fn execute(runner: &impl Runner, task: Task) -> Answer {
    let never: Cancellation = Box::new(|| Box::pin(std::future::pending()));
    runner.execute(task, never, Box::new(|_| Box::pin(std::future::ready(())))).await
}

fn task(attempt: u32) -> Task {
    contract::task(Path::new("/nowhere"), attempt)
}

#[tokio::test]
async fn what_is_missing_goes_back_into_the_same_conversation() {
    let store = store();
    let model = ScriptedModel::new([Turn::text("done"), Turn::text("now it is there")]);
    let runner = runner(&store, HastyClock::default(), &model);
    let first = execute(&runner, task(1)).await;
    assert_eq!((first.end, first.text.as_str()), (RunnerEnd::Finished, "done"));
    let missing = vec!["`report.md` does not exist".to_owned()];
    let second = execute(&runner, Task { missing, ..task(2) }).await;
    assert_eq!(second.text, "now it is there");
    let asked = model.asked();
    assert_eq!(asked[1].messages.len(), 3, "the agent still knows what it did");
    let Message::User(parts) = &asked[1].messages[2] else { panic!() };
    let Part::Text(text) = &parts[0] else { panic!() };
    assert!(text.contains("- `report.md` does not exist"), "{text}");
    assert!(!text.contains("What is the answer?"), "the task is known: {text}");
}

#[tokio::test]
async fn an_answer_by_a_schema_is_asked_for_and_comes_as_data() {
    let store = store();
    let model = ScriptedModel::new([Turn::text(r#"{"verdict": "good"}"#)]);
    let schema = abide_formats::json::parse(r#"{"type": "object", "required": ["verdict"]}"#).unwrap();
    let runner = runner(&store, HastyClock::default(), &model);
    let answer = execute(&runner, Task { output_schema: Some(schema.clone()), ..task(1) }).await;
    assert_eq!(answer.structured.unwrap().to_string(), r#"{"verdict":"good"}"#);
    let asked = model.asked();
    assert_eq!(asked[0].schema, Some(schema));
    let Message::User(parts) = &asked[0].messages[0] else { panic!() };
    assert!(matches!(&parts[0], Part::Text(text) if text.contains(r#""required":["verdict"]"#)));
}

#[tokio::test]
async fn a_driver_that_dies_leaves_a_turn_that_the_next_one_goes_on_with() {
    for after in 1..9 {
        let store = store();
        let model =
            Steady::new(vec![Turn::call(ToolCall::new("deploy", json!({ "n": 1 }))), Turn::text("deployed")]);
        store.fail_append(after, StoreFault::FullDisk);
        let first = execute(&runner(&store, HastyClock::default(), &model), task(1)).await;
        // The machine gives the task of a lost attempt out again under the next number.
        let second = execute(&runner(&store, HastyClock::default(), &model), task(2)).await;
        assert_eq!((second.end, second.text.as_str()), (RunnerEnd::Finished, "deployed"), "{after}");
        let died = matches!(&first.end, RunnerEnd::Failed(why) if why.contains("disk is full"));
        assert!(died || first.end == RunnerEnd::Finished, "{:?}", first.end);
        let unwritten = usize::from(died && matches!(after, 2 | 5));
        assert_eq!(model.asked(), 2 + unwritten, "{after}: nothing that was answered is asked for again");
    }
}

#[tokio::test]
async fn an_attempt_after_one_that_came_to_no_end_is_told_so() {
    let store = store();
    let broken = Turn::fault(Fault::Status(401, "the key is wrong".into()));
    let model = ScriptedModel::new([broken, Turn::text("done")]);
    let runner = runner(&store, HastyClock::default(), &model);
    let first = execute(&runner, task(1)).await;
    assert!(
        matches!(&first.end, RunnerEnd::Failed(why) if why.contains("the key is wrong")),
        "{:?}",
        first.end
    );
    let second = execute(&runner, task(2)).await;
    assert_eq!(second.text, "done");
    let asked = model.asked();
    let words = format!("{:?}", asked[1].messages);
    assert!(words.contains("What is the answer?") && words.contains("came to no end"), "{words}");
}

#[test]
fn a_step_and_its_instances_have_sessions_of_their_own() {
    let run = RunId::parse("0190b5a1-0000-7000-8000-000000000000").unwrap();
    let of = |key: &str| session_of(&run, &StepKey::parse(key).unwrap()).to_string();
    assert!(of("deploy").starts_with(run.as_str()));
    let all: std::collections::BTreeSet<String> = ["deploy", "deploy[eu]", "deploy[../eu]"].map(of).into();
    assert_eq!(all.len(), 3);
}
