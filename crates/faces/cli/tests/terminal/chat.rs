//! `abide chat` on a terminal: words as they come, tools shown, a human asked.

use crate::pty::Project;
use abide_testkit::model::{ModelServer, ToolCall, Turn};
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
