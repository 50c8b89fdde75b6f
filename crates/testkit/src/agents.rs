//! The contract of [`Agents`], rule by rule.
//!
//! A crate that implements the port writes `abide_testkit::agents_contract!(make)` in a test, where `make` returns what it tests (and
//! whatever must live as long); each rule becomes a test with a name.

use abide_engine::capability::Choice;
use abide_engine::port::{AgentRow, AgentStatus, Agents, AgentsError};
use serde_json::json;
use std::sync::Arc;

fn id(number: u8) -> String {
    format!("01980000-0000-7000-8000-0000000000{number:02x}")
}

fn choices(ids: &[&str]) -> Vec<Choice> {
    ids.iter().map(|id| Choice::of(*id)).collect()
}

fn agent(number: u8, capabilities: &[&str]) -> AgentRow {
    AgentRow {
        id: id(number),
        name: format!("agent {number} \"quoted\" ü"),
        description: number.is_multiple_of(2).then(|| "what it is for".to_owned()),
        system_prompt: "line one\nline two".to_owned(),
        model: None,
        capabilities: choices(capabilities),
        status: AgentStatus::Active,
        created_at: 1_000,
        updated_at: 1_000,
        version: 1,
    }
}

/// What is added comes back as it was, with its capabilities in their order.
pub async fn what_is_added_comes_back(agents: Arc<impl Agents>) {
    let one = agent(1, &["web_fetch", "current_time", "a"]);
    agents.add(AgentRow { version: 9, ..one.clone() }).await.expect("it can be added");
    assert_eq!(agents.find(&one.id).await, Ok(Some(one.clone())));
    assert_eq!(agents.find(&id(2)).await, Ok(None));
    assert_eq!(agents.find("not an id").await, Ok(None));
    assert!(
        agents.add(AgentRow { name: "other".to_owned(), ..one.clone() }).await.is_err(),
        "an id is taken once"
    );
    assert_eq!(agents.find(&one.id).await, Ok(Some(one)));
}

/// A change is seen whole, and only by whoever knows the agent as it is.
pub async fn a_change_needs_the_version_that_there_is(agents: Arc<impl Agents>) {
    let one = agent(1, &["a", "b", "c"]);
    agents.add(one.clone()).await.expect("it can be added");
    let changed = AgentRow {
        name: "new".to_owned(),
        capabilities: choices(&["c", "a"]),
        status: AgentStatus::Archived,
        updated_at: 2_000,
        model: Some("m".to_owned()),
        ..one.clone()
    };
    assert_eq!(agents.replace(changed.clone()).await, Ok(2));
    let kept = AgentRow { version: 2, ..changed.clone() };
    assert_eq!(agents.find(&one.id).await, Ok(Some(kept.clone())));
    assert_eq!(agents.replace(one).await, Err(AgentsError::Changed { expected: 1, found: 2 }));
    assert_eq!(agents.find(&kept.id).await, Ok(Some(kept)));
    assert_eq!(agents.replace(agent(7, &[])).await, Err(AgentsError::Missing(id(7))));
}

/// What is configured for a capability comes back as it was, in its place, and goes with a change that leaves it out.
pub async fn what_is_configured_comes_back_as_it_was(agents: Arc<impl Agents>) {
    let configured = |id: &str, value| Choice { id: id.to_owned(), configuration: Some(value) };
    let odd = json!({
        "text": "two lines\nand \"quotes\", a \\, a tab\t, an ü and a \u{0}",
        "numbers": [0, -1, 1.0, 0.1, 1e300, u64::MAX, i64::MIN],
        "others": { "": null, "b a": [true, false, {}, []] },
    });
    let one = AgentRow {
        capabilities: vec![
            configured("web_fetch@1", json!({ "max_bytes": 7 })),
            Choice::of("b"),
            configured("a", odd),
            configured("empty", json!({})),
        ],
        ..agent(1, &[])
    };
    agents.add(one.clone()).await.expect("it can be added");
    agents.add(agent(2, &["a"])).await.expect("it can be added");
    assert_eq!(agents.find(&one.id).await, Ok(Some(one.clone())));
    assert_eq!(agents.list(None, None, 9).await, Ok(vec![one.clone(), agent(2, &["a"])]));
    let changed =
        AgentRow { capabilities: vec![configured("b", json!({ "x": 1 })), Choice::of("web_fetch@1")], ..one };
    assert_eq!(agents.replace(changed.clone()).await, Ok(2));
    let id = changed.id.clone();
    assert_eq!(agents.find(&id).await, Ok(Some(AgentRow { version: 2, ..changed })));
}

/// A change that cannot be made whole is not made at all.
pub async fn nothing_is_half_written(agents: Arc<impl Agents>) {
    let twice = agent(1, &["a", "b", "a"]);
    assert!(agents.add(twice).await.is_err(), "a capability is there once");
    assert_eq!(agents.find(&id(1)).await, Ok(None));
    let one = agent(2, &["a"]);
    agents.add(one.clone()).await.expect("it can be added");
    let twice = AgentRow { name: "new".to_owned(), capabilities: choices(&["b", "b"]), ..one.clone() };
    assert!(agents.replace(twice).await.is_err());
    assert_eq!(agents.find(&one.id).await, Ok(Some(one)));
}

/// Pages hold every agent once.
pub async fn pages_hold_every_agent_once(agents: Arc<impl Agents>) {
    for number in [3, 1, 4, 2, 5] {
        let status = if number == 4 { AgentStatus::Archived } else { AgentStatus::Active };
        agents.add(AgentRow { status, ..agent(number, &["a"]) }).await.expect("it can be added");
    }
    let list = async |after: Option<&str>, status, most| -> Vec<String> {
        let listed = agents.list(after, status, most).await.expect("agents can be listed");
        assert!(listed.iter().all(|agent| agent.capabilities == [Choice::of("a")]));
        listed.into_iter().map(|agent| agent.id).collect()
    };
    let ids = |numbers: &[u8]| -> Vec<String> { numbers.iter().map(|number| id(*number)).collect() };
    assert_eq!(list(None, None, 100).await, ids(&[1, 2, 3, 4, 5]));
    assert_eq!(list(None, None, 2).await, ids(&[1, 2]));
    assert_eq!(list(Some(&id(2)), Some(AgentStatus::Active), 100).await, ids(&[3, 5]));
    assert_eq!(list(Some(&id(5)), None, 100).await, Vec::<String>::new());
    assert_eq!(list(None, Some(AgentStatus::Archived), 100).await, ids(&[4]));
}

/// Of changes at once that expect the same, one happens.
pub async fn of_changes_at_once_one_happens(agents: Arc<impl Agents>) {
    agents.add(agent(1, &["a"])).await.expect("it can be added");
    let asked: Vec<_> = (0..8)
        .map(|number| {
            let agents = Arc::clone(&agents);
            let changed = AgentRow { name: number.to_string(), ..agent(1, &["b"]) };
            tokio::spawn(async move { agents.replace(changed).await })
        })
        .collect();
    let mut done = 0;
    for task in asked {
        match task.await.expect("it does not panic") {
            Ok(version) => {
                assert_eq!(version, 2);
                done += 1;
            }
            Err(error) => assert_eq!(error, AgentsError::Changed { expected: 1, found: 2 }),
        }
    }
    assert_eq!(done, 1);
}

/// Makes each rule a test.
#[macro_export]
macro_rules! agents_contract {
    ($make:expr) => {
        mod agents_rules {
            use super::*;
            $crate::agents_contract!(@rules $make;
                what_is_added_comes_back
                what_is_configured_comes_back_as_it_was
                a_change_needs_the_version_that_there_is
                nothing_is_half_written
                pages_hold_every_agent_once
                of_changes_at_once_one_happens
            );
        }
    };
    (@rules $make:expr; $($rule:ident)+) => {
        $(
            #[test]
            fn $rule() {
                $crate::store::check(async {
                    let (agents, _kept) = ($make)();
                    $crate::agents::$rule(std::sync::Arc::new(agents)).await;
                });
            }
        )+
    };
}
