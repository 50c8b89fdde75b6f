//! Turns that go as they should.

use crate::stage::{
    again, agent, agent_with, echo, results, session, spec, store, tool, turn, watched, within,
};
use abide_core::capability::Risk;
use abide_core::model::{Message, Part, Piece};
use abide_core::turn::{TurnEnd, TurnEvent};
use abide_engine::port::{Beside, Stopper, ToolOutput};
use abide_engine::turn::Heard;
use abide_testkit::RealClock;
use abide_testkit::model::{Fault, ScriptedModel, Tokens, ToolCall, Turn};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

#[tokio::test]
async fn a_model_is_told_what_its_tools_answered_until_it_gives_its_final_answer() {
    let store = store();
    let (look, _) = echo("look", Risk::None);
    let model = ScriptedModel::new([
        Turn {
            text: "let me see".into(),
            ..Turn::calls([ToolCall::new("look", json!({"n": 1})), ToolCall::new("look", json!({"n": 2}))])
        }
        .using(Tokens { input: 10, output: 5, ..Tokens::default() }),
        Turn::text("there are two").using(Tokens { input: 20, output: 3, ..Tokens::default() }),
    ]);
    let mut agent = agent(model.clone(), vec![look]);
    let heard = watched(&mut agent);
    let mut session = session(&store).await;
    let report = turn(&agent, &mut session, "how many?").await.unwrap();
    assert_eq!((report.end, report.text.as_str()), (TurnEnd::Finished, "there are two"));
    assert_eq!((report.spent.usage.tokens(), report.spent.turns), (38, 2));
    assert_eq!(results(session.conversation()), [r#"got {"n":1}"#, r#"got {"n":2}"#]);
    let asked = model.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(*asked[0].messages, [Message::user("how many?")]);
    assert_eq!(&*asked[0].system, "You are tested.");
    assert_eq!(asked[0].tools[0].name, "look");
    assert!(
        matches!(&asked[1].messages[1], Message::Model(pieces) if pieces[0] == Piece::Text("let me see".into()))
    );
    assert!(matches!(&asked[1].messages[2], Message::Results(results) if results.len() == 2));
    assert_eq!(again(&store).await.conversation(), session.conversation(), "the log tells all of it");
    let heard = heard.lock().unwrap();
    let text: String = heard
        .iter()
        .filter_map(|heard| match heard {
            Heard::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "let me seethere are two");
    assert!(matches!(heard.last(), Some(Heard::Happened(TurnEvent::Ended(TurnEnd::Finished)))));
    assert_eq!(heard.iter().filter(|heard| matches!(heard, Heard::Calling(_))).count(), 2);
}

#[tokio::test]
async fn a_second_message_goes_on_with_the_same_conversation() {
    let store = store();
    let model = ScriptedModel::new([Turn::text("hello"), Turn::text("you said: hi")]);
    let agent = agent(model.clone(), Vec::new());
    let mut one = session(&store).await;
    turn(&agent, &mut one, "hi").await.unwrap();
    let mut other = again(&store).await;
    turn(&agent, &mut other, "what did I say?").await.unwrap();
    let asked = model.asked();
    assert_eq!(asked[1].messages.len(), 3);
    assert_eq!(other.conversation().turns, 2);
    let error = turn(&agent, &mut one, "and now?").await.unwrap_err();
    assert!(error.to_string().contains("has moved on"), "of two that talk at once, one is refused: {error}");
}

#[tokio::test]
async fn tools_that_depend_on_nothing_run_beside_each_other_and_the_others_alone() {
    let running = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let slow = |name: &str, beside: Beside| {
        let (running, most) = (Arc::clone(&running), Arc::clone(&most));
        let spec = abide_engine::port::ToolSpec { beside, ..spec(name, Risk::None) };
        tool(spec, move |arguments| {
            let (running, most) = (Arc::clone(&running), Arc::clone(&most));
            Box::pin(async move {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                // The first one is the slowest: the order of results is that of the calls.
                let wait = 60 - 10 * arguments["n"].as_u64().unwrap_or(0);
                tokio::time::sleep(Duration::from_millis(wait)).await;
                running.fetch_sub(1, Ordering::SeqCst);
                Ok(ToolOutput::Text(format!("{}", arguments["n"])))
            })
        })
        .0
    };
    let store = store();
    let calls = |name: &str| (1..=4).map(|n| ToolCall::new(name, json!({ "n": n }))).collect::<Vec<_>>();
    let model =
        ScriptedModel::new([Turn::calls(calls("free")), Turn::calls(calls("alone")), Turn::text("done")]);
    let agent = agent_with(
        RealClock::default(),
        model,
        vec![slow("free", Beside::Others), slow("alone", Beside::Nothing)],
    );
    let mut session = session(&store).await;
    let before = tokio::time::Instant::now();
    let report = turn(&agent, &mut session, "go").await.unwrap();
    assert_eq!(report.end, TurnEnd::Finished);
    assert_eq!(results(session.conversation()), ["1", "2", "3", "4", "1", "2", "3", "4"]);
    assert_eq!(
        most.load(Ordering::SeqCst),
        4,
        "the four free ones at once, and no other beside one that is alone"
    );
    assert!(before.elapsed() < Duration::from_millis(50 + 140 + 400), "{:?}", before.elapsed());
}

#[tokio::test]
async fn a_cancel_ends_the_model_and_the_tools_within_a_second() {
    struct Dropped(Arc<AtomicUsize>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let told = Arc::clone(&dropped);
    let (hangs, _) = tool(spec("hangs", Risk::High), move |_| {
        let guard = Dropped(Arc::clone(&told));
        Box::pin(async move {
            let _guard = guard;
            std::future::pending().await
        })
    });
    let slow = Turn::text("one two three four").with(Fault::Slow(Duration::from_secs(5)));
    for (name, turns, ended) in [
        ("model", vec![slow], 0),
        (
            "tools",
            vec![Turn::calls([
                ToolCall::new("hangs", json!({"n": 1})),
                ToolCall::new("hangs", json!({"n": 2})),
            ])],
            2,
        ),
    ] {
        let store = store();
        let agent = agent_with(RealClock::default(), ScriptedModel::new(turns), vec![Arc::clone(&hangs)]);
        let mut session = session(&store).await;
        let (stopper, stop) = Stopper::pair();
        let parts = vec![Part::Text("go".into())];
        let talking = agent.turn(&mut session, parts, None, &stop);
        let stopping = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            stopper.stop();
        };
        let (report, ()) = within(Duration::from_secs(1), async { tokio::join!(talking, stopping) }).await;
        assert_eq!(report.unwrap().end, TurnEnd::Cancelled, "{name}");
        assert_eq!(dropped.load(Ordering::SeqCst), ended, "{name}");
        let kept = again(&store).await;
        assert_eq!(kept.conversation(), session.conversation());
        assert!(kept.conversation().active.is_none());
        if ended > 0 {
            let results = results(kept.conversation());
            assert!(results.iter().all(|result| result.contains("not known whether")), "{results:?}");
        }
    }
}

#[tokio::test]
async fn a_model_that_fails_for_a_while_is_asked_again_and_one_that_fails_for_good_ends_the_turn() {
    for fault in [
        Fault::TooManyRequests(Some(1)),
        Fault::Overloaded,
        Fault::CutOff,
        Fault::Malformed,
        Fault::FailsMidway,
        Fault::Stalled,
        Fault::Status(503, "later".into()),
    ] {
        let store = store();
        let model = ScriptedModel::new([Turn::text("half of").with(fault.clone()), Turn::text("all of it")]);
        let mut agent = agent(model.clone(), Vec::new());
        let heard = watched(&mut agent);
        let mut session = session(&store).await;
        let report = turn(&agent, &mut session, "go").await.unwrap();
        assert_eq!((report.end, report.text.as_str()), (TurnEnd::Finished, "all of it"), "{fault:?}");
        assert!(heard.lock().unwrap().iter().any(|heard| matches!(heard, Heard::Again { .. })));
        assert_eq!(session.conversation().messages.len(), 2, "the half is nowhere");
    }
    let store = store();
    let model =
        ScriptedModel::new([Turn::fault(Fault::Status(401, "no such key".into())), Turn::text("now")]);
    let agent = agent(model, Vec::new());
    let mut session = session(&store).await;
    let report = turn(&agent, &mut session, "go").await.unwrap();
    assert!(
        matches!(&report.end, TurnEnd::Failed { why } if why.contains("no such key")),
        "{:?}",
        report.end
    );
    let report = turn(&agent, &mut session, "and now?").await.unwrap();
    assert_eq!(report.text, "now", "the conversation goes on");
}
