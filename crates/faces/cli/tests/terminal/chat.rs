//! `abide chat` on a terminal: words as they come, tools shown, a human asked.

use crate::pty::Project;
use abide_testkit::model::{ModelServer, Script, ToolCall, Turn};
use serde_json::json;

#[test]
fn a_conversation_shows_tools_asks_before_it_changes_something_and_goes_on_later() {
    let write =
        |name: &str| Turn::call(ToolCall::new("write", json!({ "path": name, "content": "hello\n" })));
    let server = ModelServer::start(vec![
        write("yes.txt"),
        Turn::text("I wrote it."),
        write("no.txt"),
        Turn::text("Then I leave it."),
        Turn::text("You wanted two files."),
    ])
    .unwrap();
    let project = Project::new(&[]);
    std::fs::write(project.path(".abide/config.yaml"), "model: openai/scripted\n").unwrap();
    let url = format!("{}/v1", server.url());
    let home = project.path("").display().to_string();
    let variables = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "key"), ("HOME", home.as_str())];
    let mut terminal = project.terminal_with(80, &variables, &["chat"]);
    terminal.saw("> ");
    terminal.types("/help\n");
    terminal.sees("Ctrl-C ends what the agent is doing");
    terminal.types("write yes.txt\n");
    terminal.sees("may it? [y/N]");
    assert!(!project.path("yes.txt").exists(), "nothing is written before somebody agreed");
    terminal.types("y\n");
    terminal.sees("I wrote it.");
    assert_eq!(project.read("yes.txt"), "hello\n");
    terminal.types("write no.txt\n");
    terminal.sees(r#""path":"no.txt""#);
    terminal.types("n\n");
    terminal.sees("Then I leave it.");
    assert!(!project.path("no.txt").exists());
    terminal.types("/exit\n");
    terminal.sees("goes on");
    assert_eq!(terminal.ends().0, 0);
    let mut terminal = project.terminal_with(80, &variables, &["chat", "--resume"]);
    terminal.saw("> ");
    terminal.types("what did I want?\n");
    terminal.sees("You wanted two files.");
    terminal.types("/exit\n");
    assert_eq!(terminal.ends().0, 0);
    let last = server.turns().pop().unwrap();
    assert!(
        last.messages.iter().any(|message| message.text.contains("write yes.txt")),
        "it is one conversation"
    );
}

const SHIP: &str = "description: Ships\nsteps:\n  - { id: look, agent: default, prompt: Look, tools: [Read] }\n  \
    - { id: approve, type: approval, prompt: 'Ship it?', needs: [look] }\n  \
    - { id: ship, run: 'echo shipped >> shipped.txt', needs: [approve] }\n";

/// Starts the ability, hands its step in, and ends whatever comes of it.
fn shipping(said: &'static [&'static str]) -> ModelServer {
    let mut said = said.iter();
    ModelServer::start(Script::function(move |request| {
        let told = request.messages.iter().flat_map(|message| &message.results);
        let told: Vec<&str> = told.map(|result| result.text.as_str()).collect();
        match told.as_slice() {
            [] => Turn::call(ToolCall::new("ability_run", json!({ "ability": "ship" }))),
            [started] => {
                let run: String = started.chars().skip(4).take(36).collect();
                let submitted = json!({ "run": run, "step": "look", "output": "fine" });
                Turn::call(ToolCall::new("ability_submit", submitted))
            }
            _ => match said.next() {
                Some(&"status") => Turn::call(ToolCall::new("ability_status", json!({}))),
                Some(text) => Turn::text(*text),
                None => Turn::text("the script is over"),
            },
        }
    }))
    .unwrap()
}

#[test]
fn what_a_run_asks_is_asked_in_the_conversation_and_only_a_clear_answer_counts() {
    let server = shipping(&["It is shipped."]);
    let project = Project::new(&[("ship", SHIP)]);
    std::fs::write(project.path(".abide/config.yaml"), "model: openai/scripted\n").unwrap();
    let (url, home) = (format!("{}/v1", server.url()), project.path("").display().to_string());
    let variables = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "key"), ("HOME", home.as_str())];
    let mut terminal = project.terminal_with(100, &variables, &["chat"]);
    terminal.saw("> ");
    // What was typed before the question is no answer to it.
    terminal.types("ship\n");
    terminal.sees("Ship it?");
    terminal.types("maybe\n");
    terminal.sees("maybe");
    assert!(!project.path("shipped.txt").exists());
    terminal.types("y\n");
    terminal.sees("It is shipped.");
    assert_eq!(project.read("shipped.txt"), "shipped\n");
    terminal.types("/status\n");
    terminal.sees("this conversation has no active run");
    terminal.types("/exit\n");
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn a_question_that_is_left_open_is_answered_later_and_a_human_may_end_the_run() {
    let server = shipping(&["It waits for you.", "status", "It is shipped.", "Bye."]);
    let project = Project::new(&[("ship", SHIP)]);
    std::fs::write(project.path(".abide/config.yaml"), "model: openai/scripted\n").unwrap();
    let (url, home) = (format!("{}/v1", server.url()), project.path("").display().to_string());
    let variables = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "key"), ("HOME", home.as_str())];
    let mut terminal = project.terminal_with(100, &variables, &["chat"]);
    terminal.saw("> ");
    terminal.types("ship\n");
    terminal.sees("not now)");
    terminal.types("\n");
    terminal.sees("It waits for you.");
    terminal.sees("/answer");
    terminal.types("/exit\n");
    terminal.sees("its run is not over");
    assert_eq!(terminal.ends().0, 0);
    let mut terminal = project.terminal_with(100, &variables, &["chat", "--resume"]);
    terminal.sees("waits for you: Ship it?");
    terminal.types("/answer perhaps\n");
    terminal.sees("the answers are");
    assert!(!project.path("shipped.txt").exists());
    terminal.types("/answer approve well done\n");
    terminal.sees("It is shipped.");
    assert_eq!(project.read("shipped.txt"), "shipped\n");
    terminal.types("/exit\n");
    assert_eq!(terminal.ends().0, 0);
    let log = project.elsewhere(&["audit", "show", "--json"]);
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    assert!(log.contains("well done") && log.contains("\"ada\""), "{log}");

    let server = shipping(&["It waits for you."]);
    let url = format!("{}/v1", server.url());
    let variables = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "key"), ("HOME", home.as_str())];
    let mut terminal = project.terminal_with(100, &variables, &["chat"]);
    terminal.saw("> ");
    terminal.types("ship\n");
    terminal.sees("not now)");
    terminal.types("\n");
    terminal.sees("/answer");
    terminal.types("/cancel it is late\n");
    terminal.sees("is cancelled");
    terminal.types("/exit\n");
    assert_eq!(terminal.ends().0, 0);
    assert_eq!(project.read("shipped.txt"), "shipped\n", "the second one was not shipped");
}
