//! A loop that dies: what its log says is believed, and nothing is paid for or done twice.

use crate::stage::{Steady, again, agent, echo, results, said, session, store};
use abide_core::capability::Risk;
use abide_core::turn::TurnEnd;
use abide_engine::port::Stop;
use abide_testkit::model::{ToolCall, Turn};
use abide_testkit::store::Fault;
use serde_json::json;

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
