//! A loop that dies: what its log says is believed, and nothing is paid for or done twice.

use crate::stage::{HastyClock, Steady, again, agent, echo, results, said, session, spec, store, turn};
use abide_core::capability::Risk;
use abide_core::model::Patience;
use abide_core::turn::{Envelope, Exhausted, SessionCreated, TurnEnd};
use abide_engine::port::{Later, Stop, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use abide_engine::turn::{Agent, CallTree, SessionLog, session_of_call};
use abide_testkit::model::{Fault as ModelFault, Tokens, ToolCall, Turn};
use abide_testkit::store::{Fault, MemoryStore};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

fn script() -> Vec<Turn> {
    let call = |name: &str, n: i64| ToolCall::new(name, json!({ "n": n }));
    vec![
        Turn::calls([call("deploy", 1), call("look", 1), call("look", 2)]),
        Turn::call(call("deploy", 2)),
        Turn::text("it is done"),
    ]
}

#[tokio::test]
async fn a_crash_at_any_append_is_gone_on_from_without_a_second_answer_and_without_a_second_call() {
    let mut times = 0;
    for after in 0..40 {
        let store = store();
        let mut log = session(&store).await;
        let (look, looked) = echo("look", Risk::None);
        let (deploy, deployed) = echo("deploy", Risk::High);
        let model = Steady::new(script());
        let agent = agent(model.clone(), vec![look, deploy]);
        store.fail_append(after, Fault::FullDisk);
        let crashed = agent.turn(&mut log, said("ship it"), None, &Stop::never()).await.is_err();
        drop(log);
        let mut log = again(&store).await;
        let before = log.conversation().clone();
        let report = match agent.go_on(&mut log, &Stop::never()).await.unwrap() {
            Some(report) => report,
            // The crash was before the message was in the log.
            None if crashed && before.turns == 0 => {
                agent.turn(&mut log, said("ship it"), None, &Stop::never()).await.unwrap()
            }
            None => {
                assert!(!crashed, "a turn that is not over is taken up again");
                continue;
            }
        };
        times += usize::from(crashed);
        assert_eq!((report.end, report.text.as_str()), (TurnEnd::Finished, "it is done"), "{after}");
        // An answer that came and could not be written down is the only one that is asked for again: it is lost.
        let unwritten = model.asked() - 3;
        assert!(unwritten <= 1, "{after}");
        assert_eq!(log.conversation().spent.turns, 3, "{after}");
        let calls = deployed.lock().unwrap().clone();
        assert_eq!(calls, [json!({"n": 1}), json!({"n": 2})], "{after}: each deployment once");
        assert!(looked.lock().unwrap().len() >= 2);
        assert_eq!(again(&store).await.conversation(), log.conversation(), "{after}");
    }
    assert!(times >= 9, "there is an append for every answer and every result: {times}");
}

#[tokio::test]
async fn a_call_that_may_have_been_made_is_not_made_again_and_what_only_looks_is() {
    let store = store();
    let (look, looked) = echo("look", Risk::None);
    let (deploy, deployed) = echo("deploy", Risk::High);
    let model = Steady::new(script());
    let agent = agent(model.clone(), vec![look, deploy]);
    let mut log = session(&store).await;
    // Told and asked; answered; decided and started; and then a result cannot be written.
    store.fail_append(3, Fault::FullDisk);
    agent.turn(&mut log, said("ship it"), None, &Stop::never()).await.unwrap_err();
    assert_eq!((looked.lock().unwrap().len(), deployed.lock().unwrap().len()), (0, 1));
    // The deployment is settled; its result and that of the first look are written, and the second look is cut short.
    store.fail_append(2, Fault::FullDisk);
    let mut log = again(&store).await;
    agent.go_on(&mut log, &Stop::never()).await.unwrap_err();
    let mut log = again(&store).await;
    agent.go_on(&mut log, &Stop::never()).await.unwrap();
    let looks = looked.lock().unwrap().clone();
    assert!(
        looks.len() > 2 && looks.contains(&json!({"n": 2})),
        "what only looks was looked at again: {looks:?}"
    );
    assert_eq!(deployed.lock().unwrap().len(), 2, "the first deployment was not made again");
    let results = results(log.conversation());
    assert!(
        results[0].starts_with("!abide was interrupted while `deploy` ran: it is not known"),
        "{results:?}"
    );
    assert_eq!(results[1..3], [r#"got {"n":1}"#, r#"got {"n":2}"#]);
    assert_eq!(model.asked(), 3);
}

/// A tool that asks an agent of its own, whose session is the call's.
struct AskChild {
    spec: ToolSpec,
    store: Arc<MemoryStore>,
    model: Steady,
    tree: CallTree,
}

impl Tool for AskChild {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn takes_up(&self) -> bool {
        true
    }

    fn call(&self, _: serde_json::Value, context: ToolContext) -> Later<Result<ToolOutput, ToolError>> {
        let (store, model, tree) = (Arc::clone(&self.store), self.model.clone(), self.tree.clone());
        Box::pin(async move {
            let mut child = agent(model, vec![echo("look", Risk::None).0]);
            child.tree =
                tree.child(Envelope::default()).map_err(|error| ToolError::Refused(error.to_string()))?;
            let id = session_of_call(&context.session, &context.call.unwrap());
            let created = SessionCreated::default();
            let report = child.called(store, id, created, said("look around"), &context.stop).await;
            // What cannot be written down ends the process, for all that its parent knows.
            let Ok(report) = report else { return std::future::pending().await };
            match report.end {
                TurnEnd::Finished => Ok(ToolOutput::Text(report.text)),
                end => Err(ToolError::Failed(end.to_string())),
            }
        })
    }
}

/// Runs a turn until it has ended, or a part of it has died.
async fn survives(agent: &Agent<HastyClock>, log: &mut SessionLog<MemoryStore>) -> bool {
    let stop = Stop::never();
    let turn = agent.turn(log, said("go"), None, &stop);
    matches!(tokio::time::timeout(Duration::from_millis(200), turn).await, Ok(Ok(_)))
}

/// An agent that asks another one twice: there are four answers of its child and three of its own, with 12 tokens each.
fn family(store: &Arc<MemoryStore>, tokens: u64) -> (Agent<HastyClock>, Steady, Steady) {
    let used = |turn: Turn| turn.using(Tokens { input: 10, output: 2, ..Tokens::default() });
    let look = Turn::call(ToolCall::new("look", json!({ "n": 1 })));
    let of_child = Steady::new(vec![used(look), used(Turn::text("seen by a child"))]);
    let ask = |n: i64| used(Turn::call(ToolCall::new("ask_child", json!({ "n": n }))));
    let own = Steady::new(vec![ask(1), ask(2), used(Turn::text("it is done"))]);
    let tree = CallTree::new(Envelope { depth: 1, tokens: Some(tokens), ..Envelope::default() });
    let spec = ToolSpec { beside: abide_engine::port::Beside::Nothing, ..spec("ask_child", Risk::High) };
    let (store, model) = (Arc::clone(store), of_child.clone());
    let tool = AskChild { spec, store, model, tree: tree.clone() };
    let mut agent = agent(own.clone(), vec![Arc::new(tool)]);
    agent.tree = tree;
    (agent, own, of_child)
}

#[tokio::test]
async fn what_a_child_has_used_is_in_the_log_of_its_parent_and_in_the_report() {
    let store = store();
    let (agent, own, of_child) = family(&store, u64::MAX);
    let mut log = session(&store).await;
    let report = turn(&agent, &mut log, "go").await.unwrap();
    assert_eq!((own.asked(), of_child.asked(), report.spent.turns), (3, 4, 7));
    assert_eq!(log.conversation().spent, report.spent);
    assert_eq!(results(log.conversation()), ["seen by a child", "seen by a child"]);
    let mut of_children = 0;
    for call in ["1.1.0", "1.2.0"] {
        let id = session_of_call(log.id(), call);
        let child = SessionLog::find(Arc::clone(&store), id).await.unwrap().unwrap();
        of_children += child.conversation().spent.usage.tokens();
    }
    assert_eq!((of_children, report.spent.usage.tokens()), (48, 84), "{report:?}");
}

#[tokio::test]
async fn a_crash_at_any_append_of_parent_or_child_forgets_nothing_that_was_used() {
    let whole = {
        let store = store();
        let mut log = session(&store).await;
        turn(&family(&store, u64::MAX).0, &mut log, "go").await.unwrap().spent
    };
    let mut times = 0;
    for after in 0..40 {
        let store = store();
        let mut log = session(&store).await;
        let (agent, own, of_child) = family(&store, u64::MAX);
        store.fail_append(after, Fault::FullDisk);
        let crashed = !survives(&agent, &mut log).await;
        let (before, before_of_child) = (own.asked(), of_child.asked());
        drop(log);
        let (agent, own, of_child) = family(&store, u64::MAX);
        let mut log = again(&store).await;
        let report = match agent.go_on(&mut log, &Stop::never()).await.unwrap() {
            Some(report) => report,
            None if crashed && log.conversation().turns == 0 => {
                agent.turn(&mut log, said("go"), None, &Stop::never()).await.unwrap()
            }
            None => {
                assert!(!crashed, "a turn that is not over is taken up again");
                continue;
            }
        };
        times += 1;
        assert_eq!((report.end.clone(), report.text.as_str()), (TurnEnd::Finished, "it is done"), "{after}");
        assert_eq!(report.spent, whole, "{after}");
        // An answer that came and could not be written down is the only one that is asked for again.
        assert!(before + own.asked() <= 4, "{after}");
        assert!(before_of_child + of_child.asked() <= 5, "{after}");
    }
    assert!(times >= 18, "{times}");
}

#[tokio::test]
async fn a_budget_holds_over_a_crash_in_a_child() {
    // Enough for the first child and for the question after it, and not for the second child.
    let limit = 50;
    let mut times = 0;
    for after in 3..30 {
        let store = store();
        let mut log = session(&store).await;
        let (agent, ..) = family(&store, limit);
        store.fail_append(after, Fault::FullDisk);
        if survives(&agent, &mut log).await {
            continue;
        }
        let (agent, ..) = family(&store, limit);
        let mut log = again(&store).await;
        let Some(report) = agent.go_on(&mut log, &Stop::never()).await.unwrap() else { continue };
        times += 1;
        assert_eq!(report.end, TurnEnd::OutOfBudget(Exhausted::Tokens { limit }), "{after}");
        assert_eq!(
            report.spent.usage.tokens(),
            60,
            "{after}: the answer that used the last of it is the last"
        );
    }
    assert!(times >= 8, "{times}");
}

#[tokio::test]
async fn what_a_question_has_used_that_has_no_answer_is_in_the_log() {
    let store = store();
    let half = || Turn::text("half of it").using(Tokens { input: 5_000, ..Tokens::default() });
    let failing = (0..9).map(|_| half().with(ModelFault::CutOff));
    let failing = failing.collect::<Vec<_>>();
    let agent = agent(abide_testkit::model::ScriptedModel::new(failing), Vec::new());
    let mut log = session(&store).await;
    let report = turn(&agent, &mut log, "go").await.unwrap();
    assert!(matches!(report.end, TurnEnd::Failed { .. }), "{report:?}");
    let asked = Patience::default().attempts;
    assert_eq!(report.spent.usage.input_tokens, 5_000 * u64::from(asked), "{report:?}");
    assert_eq!(again(&store).await.conversation().spent, report.spent);
}
