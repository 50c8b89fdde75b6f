//! What a turn may use, and conversations that grow too long.

use crate::stage::{again, agent, agent_with, echo, results, session, spec, store, tool, turn, within};
use abide_core::capability::Risk;
use abide_core::model::{Cost, Message, ModelFacts, Part, Price};
use abide_core::turn::{Envelope, Exhausted, TurnEnd, size};
use abide_engine::port::ToolOutput;
use abide_engine::turn::CallTree;
use abide_testkit::RealClock;
use abide_testkit::model::{Fault, ScriptedModel, Tokens, ToolCall, Turn};
use serde_json::json;
use std::time::Duration;

fn looking(n: usize) -> Turn {
    Turn::call(ToolCall::new("look", json!({ "n": n }))).using(Tokens {
        input: 100,
        output: 10,
        ..Tokens::default()
    })
}

#[tokio::test]
async fn what_runs_out_ends_the_turn_and_a_final_answer_in_the_last_one_is_a_success() {
    let open = Envelope::default();
    let price = Price { input: 1, output: 10, cache_read: 0, cache_write: 0 };
    for (envelope, looks, end) in [
        (Envelope { turns: Some(3), ..open }, 2, TurnEnd::Finished),
        (Envelope { turns: Some(2), ..open }, 2, TurnEnd::OutOfBudget(Exhausted::Turns { limit: 2 })),
        (Envelope { tokens: Some(220), ..open }, 2, TurnEnd::OutOfBudget(Exhausted::Tokens { limit: 220 })),
        (Envelope { tokens: Some(221), ..open }, 2, TurnEnd::Finished),
        (
            Envelope { cost: Some(Cost(400)), ..open },
            2,
            TurnEnd::OutOfBudget(Exhausted::Cost { limit: Cost(400) }),
        ),
        (Envelope { cost: Some(Cost(401)), ..open }, 2, TurnEnd::Finished),
    ] {
        let store = store();
        let (look, _) = echo("look", Risk::None);
        let turns = (0..looks).map(looking).chain([Turn::text("done")]);
        let mut agent = agent(ScriptedModel::new(turns), vec![look]);
        agent.tree = CallTree::new(envelope);
        agent.model.facts = ModelFacts { price: Some(price), ..ModelFacts::default() };
        let mut session = session(&store).await;
        let report = turn(&agent, &mut session, "go").await.unwrap();
        assert_eq!(report.end, end, "{envelope:?}");
        assert_eq!(again(&store).await.conversation().last, Some((None, end)));
    }
}

#[tokio::test]
async fn time_that_is_over_ends_a_model_and_a_tool() {
    let (hangs, _) = tool(spec("hangs", Risk::None), |_| Box::pin(std::future::pending()));
    let slow = Turn::text("one two three").with(Fault::Slow(Duration::from_secs(9)));
    for turns in [vec![slow], vec![Turn::call(ToolCall::new("hangs", json!({}))), Turn::text("done")]] {
        let store = store();
        let mut agent = agent_with(RealClock::default(), ScriptedModel::new(turns), vec![hangs.clone()]);
        agent.tree = CallTree::new(Envelope { time: Some(Duration::from_millis(80)), ..Envelope::default() });
        let mut session = session(&store).await;
        let report = within(Duration::from_secs(2), turn(&agent, &mut session, "go")).await.unwrap();
        assert_eq!(report.end, TurnEnd::OutOfBudget(Exhausted::Time));
    }
}

/// An agent whose model takes little, with a tool that says much.
fn small(turns: Vec<Turn>) -> (crate::stage::AgentUnderTest, ScriptedModel) {
    let (read, _) = tool(spec("read", Risk::None), |arguments| {
        Box::pin(
            async move { Ok(ToolOutput::Text(format!("page {} {}", arguments["n"], "word ".repeat(120)))) },
        )
    });
    let model = ScriptedModel::new(turns);
    let mut agent = agent(model.clone(), vec![read]);
    agent.model.facts.context_tokens = Some(1_000);
    (agent, model)
}

fn reading(n: usize) -> Turn {
    Turn::call(ToolCall::new("read", json!({ "n": n })))
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_summarised_and_the_task_stays() {
    let store = store();
    let turns = vec![
        reading(1),
        reading(2),
        reading(3),
        reading(4),
        Turn::text("pages one to three were read, and say nothing"),
        reading(5),
        Turn::text("done"),
    ];
    let (agent, model) = small(turns);
    let mut session = session(&store).await;
    let report = turn(&agent, &mut session, "read all of it").await.unwrap();
    assert_eq!((report.end, report.text.as_str()), (TurnEnd::Finished, "done"));
    let asked = model.asked();
    let summary =
        asked.iter().position(|request| request.system.contains("summary")).expect("it was summarised");
    assert!(asked[summary].tools.is_empty());
    let Message::User(parts) = &asked[summary].messages[0] else { panic!() };
    assert!(
        matches!(&parts[0], Part::Text(text) if text.contains("read all of it") && text.contains("page 1"))
    );
    let after = &asked[summary + 1];
    assert!(
        matches!(&after.messages[0], Message::User(parts) if matches!(&parts[0], Part::Text(text) if text.contains("pages one to three were read")))
    );
    assert_eq!(after.messages[1], Message::user("read all of it"), "what the turn was told stays");
    assert!(matches!(after.messages.last(), Some(Message::Results(_))), "and so does what came last");
    assert_eq!(&*after.system, "You are tested.");
    for request in asked.iter().filter(|request| !request.tools.is_empty()) {
        let tokens: u64 = request.messages.iter().map(size).sum();
        assert!(tokens < 1_000, "{tokens}");
    }
    assert_eq!(again(&store).await.conversation(), session.conversation());
}

#[tokio::test]
async fn without_a_summary_the_first_and_the_last_of_it_stand_there() {
    let store = store();
    let refused = Turn::fault(Fault::Status(401, "no".into()));
    let turns = vec![reading(1), reading(2), reading(3), reading(4), refused, Turn::text("done")];
    let (agent, model) = small(turns);
    let mut session = session(&store).await;
    let report = turn(&agent, &mut session, "read all of it").await.unwrap();
    assert_eq!(report.end, TurnEnd::Finished);
    let Some(Message::User(parts)) = model.asked().last().map(|request| request.messages[0].clone()) else {
        panic!()
    };
    let Part::Text(text) = &parts[0] else { panic!() };
    assert!(text.contains("page 1") && text.contains("bytes left out") && text.len() < 16_600, "{text}");
}

#[tokio::test]
async fn results_that_would_not_fit_are_shorter() {
    let store = store();
    let (huge, _) =
        tool(spec("huge", Risk::None), |_| Box::pin(async { Ok(ToolOutput::Text("x".repeat(4_000_000))) }));
    let calls = (0..4).map(|n| ToolCall::new("huge", json!({ "n": n })));
    let mut agent = agent(ScriptedModel::new([Turn::calls(calls), Turn::text("done")]), vec![huge]);
    agent.model.facts.context_tokens = Some(8_000);
    let mut session = session(&store).await;
    turn(&agent, &mut session, "go").await.unwrap();
    let results = results(session.conversation());
    assert!(results.iter().all(|result| result.len() < 1_500 && result.contains("bytes left out")));
}
