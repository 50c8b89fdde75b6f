//! What a call goes through before it is made, in this order.

use crate::stage::{Human, agent, echo, results, session, spec, store, tool, turn};
use abide_core::capability::{Risk, Tier};
use abide_core::model::{Arguments, ToolCall as Called};
use abide_core::policy::Verdict;
use abide_core::turn::{Envelope, Exhausted, Ruling, SessionCreated, TurnEnd};
use abide_engine::port::{Confirmation, Later, Tool, ToolError, ToolOutput, ToolSpec};
use abide_engine::turn::{CallTree, Gate, Narrowed, OwnTiers, Permissions, SessionLog};
use abide_testkit::model::{ScriptedModel, ToolCall, Turn};
use serde_json::json;
use std::sync::{Arc, Mutex};

struct Rules;

impl Permissions for Rules {
    fn ruling(&self, tool: &ToolSpec, arguments: &Arguments) -> Ruling {
        let input = match arguments {
            Arguments::Data(value) => value.to_string(),
            Arguments::Unreadable(text) => text.clone(),
        };
        let rule = |tier, why: &str| Ruling { tier, why: Some(why.to_owned()) };
        match input.as_str() {
            r#"{"n":90}"# => rule(Tier::Deny, "no nineties"),
            r#"{"n":91}"# => rule(Tier::Confirm, "it is ninety-one"),
            _ => tool.tier.into(),
        }
    }
}

struct Walls;

impl Gate for Walls {
    fn verdict(&self, call: &Called) -> Later<Verdict> {
        let verdict = match call.name.as_str() {
            "outside" => Verdict::Deny { why: "not in this step".into(), instead: "finish the step".into() },
            "odd" => Verdict::Warn { why: "this is off".into() },
            "risky" => Verdict::Ask { why: "the run wants to know".into() },
            _ => Verdict::Allow,
        };
        Box::pin(std::future::ready(verdict))
    }
}

type Counted = (Arc<dyn Tool>, Arc<Mutex<Vec<serde_json::Value>>>);

/// Makes one call and returns its result and whether the tool was called.
async fn one(call: ToolCall, human: Human) -> (String, usize) {
    let store = store();
    let tools: Vec<Counted> = ["look", "outside", "odd", "risky"]
        .into_iter()
        .map(|name| echo(name, Risk::High))
        .chain([tool(spec("broken", Risk::None), |_| {
            Box::pin(async { Err(ToolError::Internal("password=hunter2".into())) })
        })])
        .collect();
    let model = ScriptedModel::new([Turn::call(call), Turn::text("done")]);
    let handlers = tools.iter().map(|(tool, _)| Arc::clone(tool)).collect();
    let mut agent = agent(model, handlers);
    agent.permissions = Arc::new(Rules);
    agent.gate = Arc::new(Walls);
    agent.confirm = Arc::new(human);
    let mut session = session(&store).await;
    assert_eq!(turn(&agent, &mut session, "go").await.unwrap().end, TurnEnd::Finished);
    let calls = tools.iter().map(|(_, calls)| calls.lock().unwrap().len()).sum();
    (results(session.conversation()).remove(0), calls)
}

#[tokio::test]
async fn each_check_has_its_say_and_only_what_passes_all_of_them_runs() {
    let yes = || Human(Box::new(|_| Some(Confirmation::Yes { by: "ada".into() })));
    let no =
        || Human(Box::new(|_| Some(Confirmation::No { by: "ada".into(), why: Some("too late".into()) })));
    let silence = || Human(Box::new(|_| None));
    let nobody = || Human(Box::new(|_| Some(Confirmation::Nobody)));
    let call = |name: &str, n: i64| ToolCall::new(name, json!({ "n": n }));
    for (name, call, human, result, made) in [
        ("plain", call("look", 1), no(), r#"got {"n":1}"#, 1),
        ("unknown", call("loko", 1), yes(), "!there is no tool `loko`; did you mean `look`?", 0),
        ("rule", call("look", 90), yes(), "!`look` is not allowed here: no nineties", 0),
        ("gate", call("outside", 1), yes(), "!not in this step\nfinish the step", 0),
        ("warning", call("odd", 1), no(), r#"got {"n":1} + this is off"#, 1),
        ("yes", call("look", 91), yes(), r#"got {"n":91}"#, 1),
        ("yes to the gate", call("risky", 1), yes(), r#"got {"n":1}"#, 1),
        ("no", call("look", 91), no(), "!`look` was not allowed by ada: too late", 0),
        (
            "silence",
            call("look", 91),
            silence(),
            "!`look` was not allowed by nobody: nobody answered within 60 seconds",
            0,
        ),
        (
            "nobody",
            call("risky", 1),
            nobody(),
            "!`risky` needs a human's yes, and there is nobody here who could be asked",
            0,
        ),
        (
            "arguments",
            ToolCall::new("look", json!({"n": "one"})),
            yes(),
            r#"!the arguments of `look` do not fit: /n: "one" is not of type "integer""#,
            0,
        ),
        (
            "internal",
            call("broken", 1),
            yes(),
            "!the tool failed for an internal reason; it is not your arguments",
            1,
        ),
        (
            "gate before arguments",
            ToolCall::new("outside", json!({"n": "one"})),
            yes(),
            "!not in this step\nfinish the step",
            0,
        ),
        (
            "no human for what does not exist",
            call("riskx", 1),
            silence(),
            "!there is no tool `riskx`; did you mean `risky`?",
            0,
        ),
    ] {
        let found = one(call, human).await;
        assert_eq!((found.0.as_str(), found.1), (result, made), "{name}");
    }
}

#[tokio::test]
async fn a_human_is_asked_before_the_arguments_are_looked_at_and_one_question_at_a_time() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    let human = Human(Box::new(move |question| {
        heard.lock().unwrap().push(format!("{} {}: {}", question.tool, question.arguments, question.why));
        Some(Confirmation::Yes { by: "ada".into() })
    }));
    let (result, made) = one(ToolCall::new("risky", json!({"n": "one"})), human).await;
    assert_eq!(*asked.lock().unwrap(), [r#"risky {"n":"one"}: the run wants to know"#]);
    assert!(result.contains("do not fit") && made == 0);
}

#[tokio::test]
async fn the_third_call_that_is_the_same_is_denied_also_in_a_child() {
    let store = store();
    let (look, calls) = echo("look", Risk::None);
    let same = || Turn::call(ToolCall::new("look", json!({ "n": 7 })));
    // The agent calls it once, its child once more, and both would like to again.
    let child_model = ScriptedModel::new([same(), same(), Turn::text("child is done")]);
    let tree = CallTree::new(Envelope { depth: 1, ..Envelope::default() });
    let (of_child, kept, handler) = (tree.clone(), Arc::clone(&store), Arc::clone(&look));
    let (ask_child, _) = tool(spec("ask_child", Risk::Low), move |_| {
        let (tree, store, look) = (of_child.clone(), Arc::clone(&kept), Arc::clone(&handler));
        let model = child_model.clone();
        Box::pin(async move {
            let mut agent = agent(model, vec![look]);
            agent.tree =
                tree.child(Envelope::default()).map_err(|error| ToolError::Refused(error.to_string()))?;
            let id = abide_engine::port::SessionId::parse("child").unwrap();
            let mut session = SessionLog::create(store, id, SessionCreated::default()).await.unwrap();
            turn(&agent, &mut session, "look").await.unwrap();
            Ok(ToolOutput::Text(results(session.conversation()).join(" | ")))
        })
    });
    let model = ScriptedModel::new([
        same(),
        Turn::call(ToolCall::new("ask_child", json!({}))),
        same(),
        Turn::text("done"),
        same(),
        Turn::text("done"),
    ]);
    let mut agent = agent(model, vec![look, ask_child]);
    agent.tree = tree;
    let mut session = session(&store).await;
    turn(&agent, &mut session, "go").await.unwrap();
    assert_eq!(calls.lock().unwrap().len(), 2, "once by the agent, once by its child");
    let results_now = results(session.conversation());
    assert!(results_now[1].contains("a third time brings nothing new"), "{results_now:?}");
    assert!(results_now[2].starts_with("!`look` was called with the same input twice"), "{results_now:?}");
    turn(&agent, &mut session, "once more").await.unwrap();
    assert_eq!(calls.lock().unwrap().len(), 3, "a new turn counts from the beginning");
}

#[tokio::test]
async fn a_child_uses_what_its_parent_may_use_and_goes_no_deeper() {
    let tree = CallTree::new(Envelope { depth: 1, turns: Some(3), ..Envelope::default() });
    let child = tree.child(Envelope { depth: 9, turns: Some(10), ..Envelope::default() }).unwrap();
    assert_eq!(child.child(Envelope::default()).unwrap_err(), Exhausted::Depth { limit: 1 });
    let store = store();
    let (look, calls) = echo("look", Risk::None);
    let turns = (0..10).map(|n| Turn::call(ToolCall::new("look", json!({ "n": n }))));
    let mut agent = agent(ScriptedModel::new(turns), vec![look]);
    agent.tree = child;
    let mut session = session(&store).await;
    let report = turn(&agent, &mut session, "go").await.unwrap();
    assert_eq!(report.end, TurnEnd::OutOfBudget(Exhausted::Turns { limit: 3 }));
    assert_eq!(calls.lock().unwrap().len(), 2, "what the last answer calls is not called");
    assert!(
        tree.exhausted(&crate::stage::HastyClock::default()).is_some(),
        "the parent has nothing left either"
    );
}

#[tokio::test]
async fn what_either_of_two_refuses_is_refused() {
    let narrowed = Narrowed(Arc::new(OwnTiers), Arc::new(Rules));
    let spec = ToolSpec { tier: Tier::Confirm, ..spec("look", Risk::None) };
    let tier = |n: i64| {
        let map = abide_core::value::Value::Map(vec![("n".into(), abide_core::value::Value::Int(n))]);
        narrowed.ruling(&spec, &Arguments::Data(map)).tier
    };
    assert_eq!((tier(1), tier(90)), (Tier::Confirm, Tier::Deny));
}
