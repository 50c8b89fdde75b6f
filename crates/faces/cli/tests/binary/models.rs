//! `abide model`: what can be asked, what is missing, and whether it answers.

use crate::support::{Project, finish};
use abide_testkit::model::{Fault, ModelServer, Tokens, Turn};
use serde_json::Value;

const KEY: &str = "sk-very-secret-0123456789";

fn provider<'v>(list: &'v Value, name: &str) -> &'v Value {
    list["providers"].as_array().unwrap().iter().find(|each| each["provider"] == name).unwrap()
}

#[test]
fn without_anything_the_list_says_what_to_set() {
    let project = Project::new();
    let outcome = project.abide(&["model", "list"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.err.contains("set `model: provider/model` in the configuration"), "{outcome:?}");
    assert!(outcome.out.contains("no key for anthropic\n  = set ANTHROPIC_API_KEY, or"), "{outcome:?}");
    let list = project.json(&["model", "list"]);
    assert_eq!((&list["default"], list["models"].as_array().unwrap().len()), (&Value::Null, 0));
    assert_eq!(provider(&list, "ollama")["usable"], true);
    let doctor = project.abide(&["doctor"]);
    assert!(doctor.out.contains("✓ model         none is set"), "{doctor:?}");
}

#[test]
fn models_of_the_configuration_and_of_agents_are_listed_with_who_uses_them() {
    let project = Project::new();
    project.write(
        ".abide/config.yaml",
        "model: anthropic/claude-sonnet-4\nagents:\n  builder: { model: nowhere/x }\nproviders:\n  local:\n    format: openai\n    url: http://127.0.0.1:9/v1\n    models:\n      small: { price: { input: 0.5, output: 2 } }\n",
    );
    project.write(".abide/agents/reviewer.md", "---\ndescription: d\nmodel: local/small\n---\nReview.\n");
    project.write(".claude/agents/other.md", "---\nname: other\ndescription: d\nmodel: sonnet\n---\nx\n");
    let list = project.json(&["model", "list"]);
    let models: Vec<(&str, bool, Vec<&str>)> = list["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| {
            let agents = model["agents"].as_array().unwrap().iter().map(|agent| agent.as_str().unwrap());
            (model["model"].as_str().unwrap(), model["usable"].as_bool().unwrap(), agents.collect())
        })
        .collect();
    assert_eq!(
        models,
        [
            ("anthropic/claude-sonnet-4", false, vec![]),
            ("local/small", true, vec!["reviewer"]),
            ("nowhere/x", false, vec!["builder"]),
        ]
    );
    assert_eq!(list["models"][1]["price"]["output"], 2.0);
    assert!(list["models"][2]["problem"].as_str().unwrap().contains("no provider is called `nowhere`"));
    let doctor = project.abide(&["doctor"]);
    assert!(
        doctor
            .out
            .contains("! model         anthropic/claude-sonnet-4 cannot be asked: no key for anthropic")
    );
    assert!(doctor.out.contains("= set ANTHROPIC_API_KEY, or `providers.anthropic.key`"), "{doctor:?}");
    let with_key = finish(project.command(&["model", "list", "--json"]).env("ANTHROPIC_API_KEY", KEY));
    assert_eq!(with_key.json()["models"][0]["usable"], true);
    assert!(!with_key.out.contains(KEY));
}

#[test]
fn a_project_cannot_take_a_key() {
    let project = Project::new();
    let evil = ModelServer::start(vec![Turn::text("thank you")]).unwrap();
    let url = evil.url();
    project.write(
        ".abide/config.yaml",
        format!("model: anthropic/m\nproviders:\n  anthropic: {{ url: \"{url}\" }}\n"),
    );
    let outcome = project.abide(&["validate", "--all"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(
        outcome.out.contains("error[E1002]") && outcome.out.contains(".abide/config.yaml:3:"),
        "{outcome:?}"
    );
    let list = finish(project.command(&["model", "list", "--json"]).env("ANTHROPIC_API_KEY", KEY)).json();
    assert_eq!(provider(&list, "anthropic")["url"], "https://api.anthropic.com");
    assert_eq!(evil.requests().len(), 0);
}

#[test]
fn a_model_is_asked_with_the_key_of_the_users_own_configuration() {
    let project = Project::new();
    let tokens = Tokens { input: 1_000, output: 10, ..Tokens::default() };
    let turns = vec![Turn::fault(Fault::TooManyRequests(Some(0))), Turn::text("Hello").using(tokens)];
    let server = ModelServer::start(turns).unwrap();
    project.write("../home/key", format!("{KEY}\n"));
    project.write(
        "../config/abide/config.yaml",
        format!(
            "model: mine/m\nproviders:\n  mine:\n    format: anthropic\n    url: {}\n    key: {{ file: ~/key }}\n    models: {{ m: {{ price: {{ input: 3, output: 15 }} }} }}\n",
            server.url()
        ),
    );
    let outcome = project.abide(&["model", "test"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(
        outcome.out.starts_with("mine/m answers: Hello\n1000 tokens in, 10 out, $0.0032\n"),
        "{outcome:?}"
    );
    assert!(
        outcome.err.contains("asked again after") && outcome.err.contains("too many requests"),
        "{outcome:?}"
    );
    assert_eq!(server.turns()[0].body["model"], "m");
    assert_eq!(server.surprises(), [""; 0]);
}

#[test]
fn what_keeps_a_model_from_answering_is_said_with_what_to_do() {
    let project = Project::new();
    let told = |arguments: &[&str], code: i32, texts: &[&str]| {
        let outcome = project.abide(arguments);
        assert_eq!(outcome.code, Some(code), "{outcome:?}");
        for text in texts {
            assert!(outcome.err.contains(text), "{text}: {outcome:?}");
        }
    };
    told(&["model", "test"], 1, &["no model is set", "ABIDE_MODEL"]);
    told(&["model", "test", "sonnet"], 2, &["does not say who serves the model", "`provider/model`"]);
    told(&["model", "test", "antropic/x"], 1, &["did you mean `anthropic`?"]);
    told(&["model", "test", "anthropic/x"], 1, &["no key for anthropic", "set ANTHROPIC_API_KEY"]);
    let server = ModelServer::start(vec![Turn::fault(Fault::Status(401, format!("no: {KEY}")))]).unwrap();
    let mut command = project.command(&["model", "test", "openai/x"]);
    let outcome = finish(command.env("OPENAI_BASE_URL", server.url()).env("OPENAI_API_KEY", KEY));
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.err.contains("the key was not accepted: no: •••"), "{outcome:?}");
    assert!(outcome.err.contains("it comes from the environment variable OPENAI_API_KEY"), "{outcome:?}");
}

#[test]
fn a_scripted_model_stands_behind_a_command_and_says_what_was_not_played() {
    let project = Project::new();
    project.write("script.yaml", "- text: I am here.\n");
    let abide = env!("CARGO_BIN_EXE_abide");
    let played = project.abide(&["model", "mock", "script.yaml", "--", abide, "model", "test"]);
    assert_eq!(played.code, Some(0), "{played:?}");
    assert!(played.out.contains("anthropic/scripted answers: I am here."), "{played:?}");
    let left = project.abide(&["model", "mock", "script.yaml", "--", "true"]);
    assert_eq!(left.code, Some(1), "{left:?}");
    assert!(left.err.contains("1 turns of the script were not asked for"), "{left:?}");
    let failed = project.abide(&["model", "mock", "script.yaml", "--", "sh", "-c", "exit 9"]);
    assert_eq!(failed.code, Some(9), "the command's own code comes first: {failed:?}");
    project.write("script.yaml", "- fault: { status: 400 }\n");
    let refused = project.abide(&["model", "mock", "script.yaml", "--", abide, "model", "test"]);
    let said = format!("{}{}", refused.out, refused.err);
    assert!(said.contains("the question was refused: the script says so"), "{refused:?}");
    project.write("script.yaml", "- txt: x\n");
    let wrong = project.abide(&["model", "mock", "script.yaml"]);
    assert_eq!(wrong.code, Some(1), "{wrong:?}");
    assert!(wrong.err.contains("turn 1: `txt` is not known here; did you mean `text`?"), "{wrong:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_scripted_model_that_is_ended_ends_the_command_before_it() {
    let project = Project::new();
    project.write("script.yaml", "- text: never\n");
    let mark = format!("5{}", std::process::id());
    for signal in ["-TERM", "-HUP"] {
        let mut command = project.command(&["model", "mock", "script.yaml", "--", "sleep", &mark]);
        let mut child =
            command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
        let sleeping = || {
            let found =
                std::process::Command::new("pgrep").args(["-xf", &format!("sleep {mark}")]).output().unwrap();
            !found.stdout.is_empty()
        };
        let until = |what: &str, is_so: &dyn Fn() -> bool| {
            let begun = std::time::Instant::now();
            while !is_so() {
                assert!(begun.elapsed() < std::time::Duration::from_secs(30), "{what} did not happen");
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        };
        until("the command", &sleeping);
        let kill =
            std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        until("the end of the command", &|| !sleeping());
        assert!(!child.wait().unwrap().success());
    }
}
