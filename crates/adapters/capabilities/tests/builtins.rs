//! What holds for every built-in capability, and what their tools answer when a model calls them.

use abide_capabilities::{MemoryFiles, Now, Sandbox, Web, World, builtins};
use abide_core::capability::{CapabilityId, CapabilityStatus, Conflicts, Tier};
use abide_core::event::Timestamp;
use abide_engine::capability::{CapabilityRegistry, Choice, Equipment};
use abide_engine::port::{SessionId, ToolContext, ToolError};
use serde_json::{Value, json};
use std::sync::Arc;

fn registry() -> CapabilityRegistry {
    let now: Now = Arc::new(|| Timestamp(1_782_907_200_000));
    builtins(World {
        files: Arc::new(MemoryFiles::new(Arc::clone(&now))),
        now,
        sandbox: Sandbox::unavailable("not here"),
        web: Web::default(),
    })
}

fn equipment(id: &str) -> Equipment {
    registry().equip(&[Choice::of(id)], "You help.", Conflicts::Refuse).unwrap()
}

async fn call(capability: &str, tool: &str, arguments: Value) -> Result<Value, ToolError> {
    let context = ToolContext::new(SessionId::parse("s").unwrap());
    let output = equipment(capability).toolbox.find(tool)?.call(arguments, context).await?;
    Ok(serde_json::from_str(&output.for_model()).unwrap())
}

#[test]
fn every_builtin_says_who_it_is() {
    let ids: Vec<String> = registry().list().iter().map(|info| info.id.to_string()).collect();
    assert_eq!(ids, CapabilityId::BUILT_IN);
    for info in registry().list() {
        assert!(CapabilityId::BUILT_IN.contains(&info.id.as_str()), "{info:?}");
        assert!(!info.name.is_empty() && info.description.ends_with('.'), "{info:?}");
        assert!(info.icon.is_some() && info.category.is_some(), "{info:?}");
        assert!(info.version >= 1, "{info:?}");
        assert_ne!(info.status, CapabilityStatus::ComingSoon, "{info:?}");
    }
}

#[test]
fn every_tool_is_described_in_every_argument_and_shows_how_it_is_called() {
    for capability in registry().iter() {
        for tool in capability.tools() {
            let spec = tool.spec();
            assert!(!spec.examples.is_empty() && spec.description.len() > 10, "{spec:?}");
            assert_eq!(spec.arguments["additionalProperties"], false, "{spec:?}");
            assert_eq!(spec.tier, Tier::Auto, "{spec:?}");
        }
    }
}

#[tokio::test]
async fn every_example_of_a_tool_that_needs_nothing_else_is_answered() {
    for id in ["current_time", "test_math", "test_weather", "stateless_todo_list"] {
        for tool in equipment(id).toolbox.iter() {
            for example in &tool.spec().examples {
                let answer = call(id, tool.spec().name.as_str(), example.clone()).await;
                assert!(answer.is_ok(), "{} {example}: {answer:?}", tool.spec().name);
            }
        }
    }
}

#[tokio::test]
async fn the_tools_answer_what_the_specification_says() {
    assert_eq!(
        call("current_time", "get_current_time", json!({ "timezone": "America/New_York" })).await.unwrap(),
        json!({
            "current_time": "2026-07-01T08:00:00-04:00", "timezone": "America/New_York", "format": "iso8601"
        })
    );
    assert_eq!(
        call("test_math", "divide", json!({ "a": 7, "b": 2 })).await.unwrap(),
        json!({ "result": 3.5 })
    );
    let forecast = call("test_weather", "get_forecast", json!({ "city": "Oslo", "days": 2 })).await.unwrap();
    assert_eq!(forecast["days"].as_array().unwrap().len(), 2);
    assert_eq!(equipment("noop").system_prompt, "You help.");
    assert_eq!(equipment("noop").toolbox.iter().count(), 0);
    let math = equipment("test_math");
    assert!(math.system_prompt.starts_with("You have access to math tools."), "{}", math.system_prompt);
    let names: Vec<_> = math.toolbox.iter().map(|tool| tool.spec().name.to_string()).collect();
    assert_eq!(names, ["add", "subtract", "multiply", "divide"]);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_refused_and_never_guessed() {
    for (capability, tool, arguments) in [
        ("test_math", "add", json!({ "a": "2", "b": 3 })),
        ("test_math", "add", json!({ "a": 2 })),
        ("test_math", "add", json!({ "a": null, "b": 3 })),
        ("current_time", "get_current_time", json!({ "format": "rfc2822" })),
        ("current_time", "get_current_time", json!({ "timezone": 3 })),
        ("current_time", "get_current_time", json!({ "tz": "UTC" })),
        ("test_weather", "get_weather", json!({ "city": " " })),
        ("test_weather", "get_forecast", json!({ "city": "Oslo", "days": 8 })),
        ("test_weather", "get_forecast", json!({ "city": "Oslo", "days": 1.5 })),
        ("stateless_todo_list", "write_todos", json!({ "todos": [{ "content": "x", "status": "pending" }] })),
        (
            "stateless_todo_list",
            "write_todos",
            json!({ "todos": [
            { "content": "x", "activeForm": "x", "status": "done" }] }),
        ),
        (
            "stateless_todo_list",
            "write_todos",
            json!({ "todos": [
            { "content": "\n", "activeForm": "x", "status": "pending" }] }),
        ),
    ] {
        let answer = call(capability, tool, arguments.clone()).await;
        assert_eq!(answer.map_err(|error| error.code()), Err("invalid_arguments"), "{tool} {arguments}");
    }
}
