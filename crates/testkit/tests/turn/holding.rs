//! A run holds the agent of a loop: it goes on when it would stop, and knows its step when the rest is forgotten.

use crate::stage::{again, agent, echo, session, store, turn};
use abide_core::capability::Risk;
use abide_core::model::{Message, ModelFacts, Part, ToolCall as Call};
use abide_core::policy::{StopVerdict, Verdict};
use abide_core::turn::TurnEnd;
use abide_engine::port::Later;
use abide_engine::turn::Gate;
use abide_testkit::model::{ScriptedModel, ToolCall, Turn};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The gate of a run that is over when `look` was called so often.
struct Run {
    left: AtomicU32,
}

impl Gate for Run {
    fn verdict(&self, _: &Call) -> Later<Verdict> {
        self.left.fetch_sub(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Verdict::Allow))
    }

    fn stop(&self) -> Later<StopVerdict> {
        let verdict = match self.left.load(Ordering::SeqCst) {
            0 => StopVerdict::Allow,
            left => StopVerdict::Refuse { why: format!("{left} steps are left") },
        };
        Box::pin(std::future::ready(verdict))
    }

    fn brief(&self) -> Later<Option<String>> {
        Box::pin(std::future::ready(Some("Current step: `look`.".to_owned())))
    }
}

fn look(number: u32) -> Turn {
    Turn::call(ToolCall::new("look", json!({ "n": number })))
}

#[tokio::test]
async fn an_agent_that_stops_early_goes_on_until_the_run_lets_it_go() {
    let store = store();
    let (tool, calls) = echo("look", Risk::None);
    let model = ScriptedModel::new([
        Turn::text("done"),
        Turn::text("really done"),
        look(1),
        Turn::text("done now"),
        look(2),
        Turn::text("all is done"),
    ]);
    let mut agent = agent(model.clone(), vec![tool]);
    agent.gate = Arc::new(Run { left: AtomicU32::new(2) });
    let mut session = session(&store).await;
    let report = turn(&agent, &mut session, "look twice").await.unwrap();
    assert_eq!((report.end, report.text.as_str()), (TurnEnd::Finished, "all is done"));
    assert_eq!(calls.lock().unwrap().len(), 2);
    let asked = model.asked();
    assert_eq!(asked.len(), 6);
    assert_eq!(asked[1].messages.last(), Some(&Message::user("2 steps are left")));
    assert_eq!(asked[4].messages.last(), Some(&Message::user("1 steps are left")));
    assert_eq!(again(&store).await.conversation(), session.conversation(), "the log tells all of it");
}

#[tokio::test]
async fn an_agent_that_will_not_go_on_fails_its_turn_within_its_budget() {
    let store = store();
    let model = ScriptedModel::new((0..30).map(|_| Turn::text("done")));
    let mut agent = agent(model.clone(), Vec::new());
    agent.gate = Arc::new(Run { left: AtomicU32::new(2) });
    let mut session = session(&store).await;
    let report = turn(&agent, &mut session, "look").await.unwrap();
    assert!(matches!(&report.end, TurnEnd::Failed { why } if why.contains("2 steps are left")), "{report:?}");
    assert_eq!(model.asked().len(), 5);
}

#[tokio::test]
async fn the_step_survives_when_the_conversation_is_cut() {
    let store = store();
    let (tool, _) = echo("look", Risk::None);
    let long = "word ".repeat(3_000);
    let mut script: Vec<Turn> = (0..3).map(|number| Turn { text: long.clone(), ..look(number) }).collect();
    script.push(Turn::text("a summary"));
    script.extend([Turn::text("done"), Turn::text("done")]);
    let model = ScriptedModel::new(script);
    let mut agent = agent(model.clone(), vec![tool]);
    agent.model.facts = ModelFacts { context_tokens: Some(12_000), ..ModelFacts::default() };
    agent.gate = Arc::new(Run { left: AtomicU32::new(3) });
    let mut session = session(&store).await;
    turn(&agent, &mut session, "look thrice").await.unwrap();
    let told = |message: &Message| {
        match message {
        Message::User(parts) => parts.iter().any(|part| {
            matches!(part, Part::Text(text) if text.contains("Summary") && text.contains("Current step: `look`."))
        }),
        _ => false,
    }
    };
    assert!(model.asked().last().unwrap().messages.iter().any(told), "{:?}", model.asked().last());
}
