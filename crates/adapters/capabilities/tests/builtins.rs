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

/// What the specification of capabilities says about each of them, row by row: id, name, icon, category, the start of what
/// it adds to the system prompt, and its tools with their parameters (`*`: must be given).
const SPECIFICATION: &str = "
noop | No-Op | circle-off | Testing | - | -
current_time | Current Time | clock | Utilities | - | get_current_time(format: iso8601/unix/human, timezone: string)
research | Research | search | AI | You have access to a research scratchpad. Use it to organize your thoughts and findings. | ...
sandbox | Sandbox | box | Execution | You can execute code in a sandboxed environment. Use the execute_code tool to run code safely. | execute_code(code*: string, language*: python/javascript/shell, timeout_seconds: integer)
session_file_system | File System | folder | File Operations | ... | read_file(path*: string); write_file(content*: string, encoding: text/base64, path*: string); list_directory(path: string); grep_files(path_pattern: string, pattern*: string); delete_file(path*: string, recursive: boolean); stat_file(path*: string)
test_math | Test Math | calculator | Testing | You have access to math tools. Use them for calculations: add, subtract, multiply, divide. | add(a*: number, b*: number); subtract(a*: number, b*: number); multiply(a*: number, b*: number); divide(a*: number, b*: number)
test_weather | Test Weather | cloud-sun | Testing | You have access to weather tools. Use get_weather for current conditions and get_forecast for multi-day forecasts. | get_weather(city*: string, units: celsius/fahrenheit); get_forecast(city*: string, days: integer, units: celsius/fahrenheit)
stateless_todo_list | Task Management | list-checks | Productivity | ... | write_todos(todos*: array)
web_fetch | Web Fetch | globe | Network | - | web_fetch(as_markdown: boolean, as_text: boolean, method: GET/HEAD, url*: string)
";

/// Returns a tool as [`SPECIFICATION`] writes it.
fn signature(spec: &abide_engine::port::ToolSpec) -> String {
    let required = spec.arguments["required"].as_array().cloned().unwrap_or_default();
    let parameters = spec.arguments["properties"].as_object().unwrap().iter().map(|(name, about)| {
        let kind = match about["enum"].as_array() {
            Some(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("/"),
            None => about["type"].as_str().unwrap().to_owned(),
        };
        let mark = if required.contains(&json!(name)) { "*" } else { "" };
        format!("{name}{mark}: {kind}")
    });
    let mut parameters: Vec<String> = parameters.collect();
    parameters.sort();
    format!("{}({})", spec.name, parameters.join(", "))
}

#[test]
fn each_builtin_is_what_its_row_of_the_specification_says() {
    let rows: Vec<Vec<&str>> = SPECIFICATION.trim().lines().map(|row| row.split(" | ").collect()).collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), CapabilityId::BUILT_IN);
    let registry = registry();
    for row in rows {
        let capability = registry.iter().find(|capability| capability.id().as_str() == row[0]).unwrap();
        let prompt = capability.system_prompt_addition();
        let tools: Vec<String> = capability.tools().iter().map(|tool| signature(tool.spec())).collect();
        assert_eq!(
            [capability.name(), capability.icon().unwrap(), capability.category().unwrap()],
            row[1..4],
            "{}",
            row[0]
        );
        match row[4] {
            "-" => assert_eq!(prompt, None, "{}", row[0]),
            "..." => assert!(prompt.is_some_and(|prompt| prompt.len() > 200), "{prompt:?}"),
            words => assert!(prompt.unwrap().starts_with(words), "{prompt:?}"),
        }
        match row[5] {
            "-" => assert_eq!(tools, [""; 0]),
            "..." => assert!(tools.len() > 3, "{tools:?}"),
            signatures => assert_eq!(tools.join("; "), signatures),
        }
        for tool in capability.tools() {
            assert_eq!(tool.spec().tier, Tier::Auto, "{}", tool.spec().name);
        }
        // Both that are "coming soon" there are here; the sandbox needs walls, which this registry has not.
        let status = capability.status();
        assert_eq!(status == CapabilityStatus::Available, row[0] != "sandbox", "{}: {status:?}", row[0]);
    }
    let description =
        |id: &str| registry.list().into_iter().find(|info| info.id.as_str() == id).unwrap().description;
    for (id, words) in [
        ("current_time", "Tool to get current date and time in various formats and timezones."),
        ("web_fetch", "Fetch content from URLs and convert HTML responses to markdown or plain text."),
        (
            "stateless_todo_list",
            "Enables agents to create and manage structured task lists for tracking multi-step work progress. State is maintained in conversation history.",
        ),
        ("research", "Deep research capability with organized scratchpad."),
    ] {
        assert!(description(id).starts_with(words.trim_end_matches('.')), "{}", description(id));
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

#[test]
fn every_row_of_the_specification_names_files_and_a_test_that_are_there() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let page = include_str!("../../../../docs/capabilities-specification.md");
    // Texts between backticks that are paths, and for each row the test behind the last of them.
    let quoted =
        |cell: &str| -> Vec<String> { cell.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    let rows = page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| promised"));
    let mut shown = 0;
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let [promised, places, test] = cells[..] else { panic!("{row}") };
        assert!(!promised.trim().is_empty(), "{row}");
        let places = quoted(places);
        assert!(!places.is_empty(), "{row}");
        for place in places {
            assert!(root.join(&place).exists(), "{place}: {row}");
        }
        let [file, name] = &quoted(test)[..] else { panic!("{row}") };
        let source = read(&root.join(file));
        let (before, _) =
            source.split_once(&format!("fn {name}(")).unwrap_or_else(|| panic!("no {name}: {row}"));
        // A test; or a check of the testkit, of which a contract makes a test for each store.
        let above: String = before.chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
        let is_test = above.contains("#[test]") || above.contains("#[tokio::test]");
        assert!(is_test || file.starts_with("crates/testkit/src"), "{name} is no test: {row}");
        shown += 1;
    }
    assert!(shown > 50, "{shown} rows");
}

#[expect(clippy::disallowed_methods, reason = "the repository is looked at")]
fn read(path: &std::path::Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
