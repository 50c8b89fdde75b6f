//! Steps that a session does not do itself: its run hands them to abide's own loop or to another agent.

use crate::stage::Stage;
use abide_testkit::acp::{Act, agent};
use abide_testkit::model::{ModelServer, ToolCall, Turn};
use serde_json::json;

const MIXED: &str = "description: Three who work
settings: { enforcement: normal }
steps:
  - id: find
    agent: default
    runner: builtin
    prompt: Write what you find to found.txt.
    tools: [Write]
    validation: { file_exists: found.txt }
  - id: look
    agent: default
    runner: acp:./bin/agent
    prompt: Look at it.
    tools: [\"Bash(cat *)\"]
    needs: [find]
  - id: tell
    agent: default
    prompt: Tell what they found.
    tools: [Read]
    needs: [look]
";

fn stage(model: &ModelServer, acts: &[Act]) -> Stage {
    let stage = Stage::new();
    stage.define("mixed", MIXED);
    agent(&stage.path("project"), "bin/agent", acts);
    let config = format!(
        "model: local/scripted\nproviders:\n  local: {{ format: openai, url: \"{}/v1\" }}\n",
        model.url()
    );
    std::fs::write(stage.path("project/.abide/config.yaml"), config).unwrap();
    stage
}

#[test]
fn each_step_is_done_by_the_runner_that_it_names_and_the_rest_by_the_session() {
    let model = ModelServer::start(vec![
        Turn::calls([
            ToolCall::new("write", json!({ "path": "found.txt", "content": "a heron\n" })),
            ToolCall::new("bash", json!({ "command": "touch else" })),
        ]),
        Turn::text("I have found a heron."),
    ])
    .unwrap();
    let execute = |command: &str| json!({ "kind": "execute", "rawInput": { "command": command } });
    let acts = [
        Act::Ask(execute("touch else"), "touch else".to_owned()),
        Act::Ask(execute("cat found.txt"), "cat found.txt > seen".to_owned()),
        Act::Say("It is grey.".to_owned()),
    ];
    let stage = stage(&model, &acts);
    let mut server = stage.server();
    let (run, mut report) = server.run("s1", "mixed");
    for _ in 0..10 {
        if report["step"]["step"] == "tell" {
            break;
        }
        report = server.status("s1");
    }
    assert_eq!(report["step"]["step"], "tell", "{report}");
    assert!(report["text"].as_str().unwrap().contains("### Step: look (default)\nIt is grey."), "{report}");
    assert_eq!(stage.text("found.txt").as_deref(), Some("a heron\n"));
    assert_eq!(
        stage.text("seen").as_deref(),
        Some("a heron\n"),
        "what a step grants is allowed to its agent"
    );
    assert_eq!(stage.text("else"), None, "and nothing else");
    let report = server.submit("s1", &run, "tell", &json!("A grey heron.")).unwrap();
    assert_eq!(report["structuredContent"]["status"], "completed", "{report}");
}

#[test]
fn while_another_agent_does_a_step_the_session_has_no_part_in_it() {
    let model = ModelServer::start(vec![
        Turn::call(ToolCall::new("write", json!({ "path": "found.txt", "content": "a heron\n" }))),
        Turn::text("done"),
    ])
    .unwrap();
    let wait = "while ! [ -e go ]; do sleep 0.05; done".to_owned();
    let stage = stage(&model, &[Act::Run(wait), Act::Say("seen".to_owned())]);
    let mut server = stage.server();
    let started = std::thread::scope(|scope| {
        let started = scope.spawn(|| server.run("s1", "mixed"));
        let begun = std::time::Instant::now();
        while stage.text("acp.log").is_none_or(|told| told.lines().count() < 3) {
            assert!(begun.elapsed().as_secs() < 60, "the agent did not begin");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let write = json!({ "file_path": stage.path("project/x"), "content": "x" });
        stage.may("s1", "Write", &write).expect_err("a step that is another's grants the session nothing");
        let told = stage.hook("s1", "UserPromptSubmit", &json!({ "prompt": "go on" })).unwrap();
        assert!(told.contains("abide does it itself"), "{told}");
        stage.shell("s1", "cat found.txt && touch x").expect_err("nor does its grant of a shell");
        std::fs::write(stage.path("project/go"), "").unwrap();
        started.join().unwrap()
    });
    assert_eq!(started.1["step"]["step"], "tell", "{}", started.1);
}
