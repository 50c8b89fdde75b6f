//! Agent steps done by abide's own loop, from the command line to the wire: a scripted model stands in for a real one.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests start processes and look at files")]

use abide_testkit::model::{Fault, ModelServer, Request, Role, ToolCall, Turn};
use serde_json::json;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const SHIP: &str = r"
description: Builds, reports, asks and ships
steps:
  - { id: build, run: 'echo built v7' }
  - id: report
    agent: writer
    prompt: Write the release notes into report.md
    needs: [build]
    tools: [Read, Write]
    on_failure: retry
    max_retries: 2
    retry_delay: 0s
    validation: { file_exists: report.md }
  - { id: approve, type: approval, prompt: 'Ship it?', needs: [report] }
  - { id: ship, run: 'cat report.md >> shipped.txt', needs: [approve] }
";

const SLEEPY: &str = r"
description: Lets an agent run a command
steps:
  - { id: work, agent: writer, prompt: Wait a while, tools: [Bash] }
";

const WRITER: &str = "---\nname: writer\ndescription: Writes\n---\nYou write release notes.\n";

/// No command takes as long, also on a busy machine.
const LONGEST: Duration = Duration::from_mins(1);

struct Project {
    folder: tempfile::TempDir,
    server: Option<ModelServer>,
}

impl Project {
    fn new(turns: Vec<Turn>) -> Self {
        let server = ModelServer::start(turns).unwrap();
        let project = Self::without_a_model();
        project.write(".abide/config.yaml", "model: openai/scripted\n");
        Self { server: Some(server), ..project }
    }

    fn without_a_model() -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap(), server: None };
        project.write(".abide/abilities/ship.yaml", SHIP);
        project.write(".abide/abilities/sleepy.yaml", SLEEPY);
        project.write(".abide/agents/writer.md", WRITER);
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path().join(path)).unwrap_or_default()
    }

    fn abide(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command.args(arguments).current_dir(self.path()).env("HOME", self.path());
        command.env("ABIDE_USER", "ada").env("OPENAI_API_KEY", "sk-secret");
        for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "ANTHROPIC_API_KEY", "NO_PROXY", "http_proxy"] {
            command.env_remove(name);
        }
        if let Some(server) = &self.server {
            command.env("OPENAI_BASE_URL", format!("{}/v1", server.url()));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn output(&self, arguments: &[&str]) -> Output {
        self.abide(arguments).output().unwrap()
    }

    /// Waits for something, and fails if it does not come.
    fn until(what: &str, mut is_so: impl FnMut() -> bool) {
        let before = Instant::now();
        while !is_so() {
            assert!(before.elapsed() < LONGEST, "{what} did not happen");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Runs a command to its end, and says yes to every question on the way.
    fn agreed(&self, arguments: &[&str]) -> Output {
        let mut child = self.abide(arguments).spawn().unwrap();
        Self::until("the end", || {
            if child.try_wait().unwrap().is_some() {
                return true;
            }
            self.output(&["approve"]);
            false
        });
        child.wait_with_output().unwrap()
    }

    fn requests(&self) -> Vec<std::sync::Arc<Request>> {
        self.server.as_ref().unwrap().turns()
    }
}

/// Returns everything that a model was told, in one text.
fn told(request: &Request) -> String {
    let said = request.messages.iter().map(|message| {
        let results: Vec<String> = message.results.iter().map(|result| result.text.clone()).collect();
        let who = if message.role == Role::User { "user" } else { "other" };
        format!("{who}: {} {}", message.text, results.join(" | "))
    });
    said.collect::<Vec<_>>().join("\n")
}

fn write_report() -> ToolCall {
    ToolCall::new("write", json!({ "path": "report.md", "content": "# v7\n" }))
}

#[test]
fn an_agent_step_is_done_when_its_evidence_is_there_and_not_when_the_agent_says_so() {
    let project = Project::new(vec![
        Turn::call(ToolCall::new("read", json!({ "path": "../../etc/passwd" }))),
        Turn::text("it is done"),
        Turn::calls([
            write_report(),
            ToolCall::new("bash", json!({ "command": "touch evil" })),
            ToolCall::new("write", json!({ "path": ".abide/abilities/ship.yaml", "content": "steps: []" })),
        ]),
        Turn::text("now it is there"),
    ]);
    let output = project.agreed(&["run", "ship"]);
    let talk =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{talk}");
    assert_eq!(project.read("shipped.txt"), "# v7\n");
    assert!(!project.path().join("evil").exists());
    assert_eq!(project.read(".abide/abilities/ship.yaml"), SHIP, "a definition is not the agent's to change");
    let requests = project.requests();
    assert_eq!(requests.len(), 4);
    let first = told(&requests[0]);
    assert!(first.contains("built v7") && first.contains("Write the release notes"), "{first}");
    let tools: Vec<&str> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["read", "write", "edit"], "what the step grants, and nothing else");
    assert!(told(&requests[1]).contains("outside the project"));
    let third = told(&requests[2]);
    assert!(third.contains("Write the release notes") && third.contains("report.md"), "{third}");
    assert!(third.contains("This was looked for and not found"), "the same conversation goes on: {third}");
    let last = told(&requests[3]);
    assert!(last.contains("wrote 5 bytes") && last.contains("there is no tool `bash`"), "{last}");
    assert!(last.contains("the definition of an ability"), "{last}");
    let log = String::from_utf8_lossy(&project.output(&["logs", "--json"]).stdout).into_owned();
    assert!(!log.contains("sk-secret"));
}

#[test]
fn a_turn_that_is_killed_in_the_middle_goes_on_without_a_second_answer() {
    let project = Project::new(vec![
        Turn::call(write_report()),
        Turn::text("half of what it would say").with(Fault::Stalled),
        Turn::text("the report is there"),
    ]);
    let mut driver = project.abide(&["run", "ship"]).spawn().unwrap();
    Project::until("the second question", || project.requests().len() == 2);
    driver.kill().unwrap();
    driver.wait().unwrap();
    assert_eq!(project.read("report.md"), "# v7\n");
    project.write("report.md", "# v7, and a human looked at it\n");
    let output = project.agreed(&["resume"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(project.read("shipped.txt"), "# v7, and a human looked at it\n", "the file was written once");
    let requests = project.requests();
    assert_eq!(requests.len(), 3, "the first answer was not asked for again");
    assert!(told(&requests[2]).contains("wrote 5 bytes"));
}

#[test]
fn a_model_on_this_machine_is_found_by_the_name_of_the_machine() {
    let project = Project::new(vec![Turn::text("here I am")]);
    // A name, which a binary that is linked as a whole has to look up by itself.
    let url = project.server.as_ref().unwrap().url().replace("127.0.0.1", "localhost");
    assert!(url.starts_with("http://localhost:"), "{url}");
    let mut command = project.abide(&["chat", "--message", "who is there?"]);
    let output = command.env("OPENAI_BASE_URL", format!("{url}/v1")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "here I am\n", "{output:?}");
}

#[test]
fn without_a_model_it_is_said_what_to_set_and_nothing_is_asked() {
    let project = Project::without_a_model();
    let output = project.agreed(&["run", "ship"]);
    assert_ne!(output.status.code(), Some(0));
    let talk =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(talk.contains("model: provider/name"), "{talk}");
}

#[test]
fn a_cancel_in_the_middle_of_a_turn_ends_its_commands_within_a_second() {
    let mark = format!("7{}", std::process::id());
    let project = Project::new(vec![
        Turn::call(ToolCall::new("bash", json!({ "command": format!("touch started; sleep {mark}") }))),
        Turn::text("never"),
    ]);
    let mut driver = project.abide(&["run", "sleepy"]).spawn().unwrap();
    Project::until("the command", || project.path().join("started").exists());
    let cancelled = project.output(&["cancel"]);
    assert!(cancelled.status.success(), "{}", String::from_utf8_lossy(&cancelled.stderr));
    let before = Instant::now();
    let sleeping = || {
        let found = Command::new("pgrep").args(["-f", &format!("^sleep {mark}$")]).output().unwrap();
        !found.stdout.is_empty()
    };
    Project::until("the end of the command", || !sleeping());
    assert!(before.elapsed() < Duration::from_secs(1), "{:?}", before.elapsed());
    assert_ne!(driver.wait().unwrap().code(), Some(0));
    assert_eq!(project.requests().len(), 1);
}

#[test]
fn an_agent_calls_the_tools_of_capabilities_that_users_wrote() {
    let project = Project::new(vec![
        Turn::calls([
            ToolCall::new("shout", json!({ "text": "hi; touch evil" })),
            ToolCall::new("whisper", json!({})),
        ]),
        Turn::text("done"),
    ]);
    project.write(
        ".abide/abilities/shout.yaml",
        "description: Shouts\nsteps:\n  - { id: work, agent: crier, prompt: Shout, tools: [shout] }\n",
    );
    project
        .write(".abide/agents/crier.md", "---\ncapabilities: [shouting: { mark: '?' }]\n---\nYou shout.\n");
    // The user's own: nothing needs to be trusted.
    project.write(
        ".config/abide/capabilities/shouting.yaml",
        "description: Shouts\nsystem_prompt: Shout with `shout`.\nconfiguration: { properties: { mark: { type: string, default: '!' } } }\ntools:\n  - name: shout\n    description: Says it loudly\n    arguments: { properties: { text: { type: string } }, required: [text] }\n    run: printf '%s%s' {{arguments.text}} \"{{configuration.mark}}\" | tr a-z A-Z\n    risk: low\n  - { name: whisper, description: Says it softly, run: echo, risk: low }\n",
    );
    let output = project.agreed(&["run", "shout"]);
    let talk =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{talk}");
    let requests = project.requests();
    let tools: Vec<&str> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["shout"], "what the step grants, and nothing else");
    let last = told(&requests[1]);
    assert!(last.contains("HI; TOUCH EVIL?") && last.contains("there is no tool `whisper`"), "{last}");
    assert!(!project.path().join("evil").exists());
}

/// An MCP server with one tool that answers with what it is given, for whoever has Python.
const ECHO_SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    method, result = message["method"], {}
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "echo", "version": "1"}}
    elif method == "tools/list":
        schema = {"type": "object", "properties": {"query": {"type": "string"}}}
        result = {"tools": [{"name": "echo", "description": "Echoes", "inputSchema": schema}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "echo: " + str(message["params"]["arguments"])}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

#[test]
fn what_a_capability_needs_is_there_for_the_agent_that_runs_as_it_is_shown() {
    if std::env::var("ABIDE_WITHOUT_SANDBOX").is_ok() {
        return;
    }
    let project = Project::new(vec![
        Turn::calls([
            ToolCall::new("execute_code", json!({ "language": "shell", "code": "echo $((6 * 7))" })),
            ToolCall::new("research_web_search", json!({ "query": "cats" })),
        ]),
        Turn::text("done"),
    ]);
    project.write("echo.py", ECHO_SERVER);
    project.write(
        ".config/abide/config.yaml",
        &format!(
            "web: {{ search_tool: asked__echo }}\ncapabilities:\n  echoes: {{ command: [python3, '{0}'], risk: none, policy: auto }}\n  asked: {{ command: [python3, '{0}'], risk: none, policy: auto }}\n",
            project.path().join("echo.py").display()
        ),
    );
    // A bundle that needs one that needs the others.
    project.write(
        ".config/abide/capabilities/analysis.yaml",
        "description: Analyses\ndepends_on: [basis@1]\ntools: [{ name: shout, description: Says it, run: echo, risk: none }]\n",
    );
    project.write(
        ".config/abide/capabilities/basis.yaml",
        "description: The basis\ndepends_on: [sandbox, echoes, research]\ntools: [{ name: base, description: Says it, run: echo, risk: none }]\n",
    );
    project.write(".abide/agents/analyst.md", "---\ncapabilities: [analysis]\n---\nYou analyse.\n");
    let output = project.output(&["agent", "run", "analyst", "go"]);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{talk}");
    let requests = project.requests();
    let tools: Vec<&str> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    for tool in ["shout", "base", "execute_code", "echoes__echo", "research_web_search"] {
        assert!(tools.contains(&tool), "{tool}: {tools:?}");
    }
    let last = told(&requests[1]);
    assert!(last.contains("42\\n") && last.contains("echo: {'query': 'cats'}"), "{last}");
    let shown = project.output(&["agent", "show", "analyst", "--json"]);
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&shown["usable"], &shown["missing"]), (&json!(true), &json!([])), "{shown:#}");
    let shown = project.output(&["capability", "show", "research", "--json"]);
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!(shown["status"], "available", "{shown:#}");
}

#[test]
fn what_secrets_come_from_is_in_the_environment_of_nothing_that_an_agent_uses() {
    let project = Project::new(vec![
        Turn::call(ToolCall::new("look", json!({}))),
        Turn::text("done"),
        Turn::text("done"),
    ]);
    let keeping = format!("import os\nopen('server.env', 'w').write(repr(dict(os.environ)))\n{ECHO_SERVER}");
    project.write("echo.py", &keeping);
    project.write(
        ".config/abide/config.yaml",
        &format!(
            "secrets: {{ deploy: {{ env: DEPLOY_TOKEN }}, echo: {{ env: ECHO_TOKEN }} }}\ncapabilities:\n  echoes: {{ command: [python3, '{}'], env: {{ ECHO_TOKEN: {{ secret: echo }} }}, risk: none, policy: auto }}\n",
            project.path().join("echo.py").display()
        ),
    );
    project.write(
        ".config/abide/capabilities/looking.yaml",
        "description: Looks\ntools: [{ name: look, description: Looks, run: env > \"$HOME/bundle.env\", risk: none }]\n",
    );
    project.write(
        ".abide/skills/step/SKILL.md",
        "---\nname: step\ndescription: Looks\n---\nLooked. !`env > step.env`\n",
    );
    assert!(project.output(&["skill", "trust", "step"]).status.success());
    project.write(".abide/agents/looker.md", "---\ncapabilities: [looking, echoes]\n---\nYou look.\n");
    project.write(
        ".abide/abilities/look.yaml",
        "description: Looks\ninputs: { pin: { secret: true, required: true } }\nsteps:\n  - { id: work, agent: looker, prompt: Look, tools: [look] }\n  - { id: more, skill: step }\n",
    );
    let mut command = project.abide(&["run", "look"]);
    command.env("DEPLOY_TOKEN", "hunter2").env("ECHO_TOKEN", "hunter2").env("ABIDE_INPUT_PIN", "hunter2");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for (file, gets) in [("bundle.env", false), ("step.env", false), ("server.env", true)] {
        let environment = project.read(file);
        assert!(environment.contains("PATH"), "{file} was not written: {:?}", told(&project.requests()[1]));
        assert!(!environment.contains("DEPLOY_TOKEN"), "{file}: {environment}");
        assert_eq!(environment.contains("ECHO_TOKEN"), gets, "{file}: {environment}");
        assert_eq!(environment.matches("hunter2").count(), usize::from(gets), "{file}: {environment}");
    }
    std::fs::remove_file(project.path().join("step.env")).unwrap();
    let output = project.abide(&["skill", "expand", "step"]).env("DEPLOY_TOKEN", "hunter2").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let environment = project.read("step.env");
    assert!(environment.contains("PATH") && !environment.contains("DEPLOY_TOKEN"), "{environment}");
}

#[test]
fn a_conversation_in_a_pipe_has_one_message_a_line_and_nobody_to_ask() {
    let project = Project::new(vec![
        Turn::call(ToolCall::new("write", json!({ "path": "evil.txt", "content": "x" }))),
        Turn::text("I could not write it"),
        Turn::text("you said two things"),
    ]);
    let mut child = project.abide(&["chat", "writer"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut lines = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut lines, b"write a file\n/nonsense\nwhat did I say?\n").unwrap();
    drop(lines);
    let output = child.wait_with_output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{talk}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "I could not write it\nyou said two things\n");
    assert!(!project.path().join("evil.txt").exists());
    assert!(talk.contains("there is nobody here who could be asked"), "{talk}");
    assert!(talk.contains("there is no command `/nonsense`"), "{talk}");
    let requests = project.requests();
    assert_eq!(requests[2].messages.iter().filter(|message| message.role == Role::User).count(), 2);
    assert!(requests[0].system.contains("You write release notes."));
}

#[test]
fn a_message_is_answered_once_and_what_goes_wrong_is_the_exit_code() {
    let project = Project::new(vec![Turn::text("hello"), Turn::fault(Fault::Status(400, "no".into()))]);
    let output = project.output(&["chat", "--message", "hi", "--json"]);
    let events: Vec<serde_json::Value> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(kinds, ["message.told", "model.asked", "model.answered", "turn.ended"]);
    let failed = project.output(&["chat", "--resume", "--message", "and now?"]);
    assert_ne!(failed.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&failed.stderr).contains("the question was refused"));
    let unknown = project.output(&["agent", "run", "wirter", "hi"]);
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean `writer`?"));
}

const RESEARCH: &str = r"
description: Finds something and plans with it
steps:
  - { id: research, agent: writer, prompt: Look around, summarize: Extract only the key patterns }
  - { id: plan, agent: writer, prompt: Plan it, needs: [research] }
";

#[test]
fn what_a_step_found_is_summarized_by_the_model_for_the_step_that_needs_it() {
    let project = Project::new(vec![
        Turn::text("cats are liquid and dogs are not"),
        Turn::text("cats: liquid"),
        Turn::text("a plan"),
    ]);
    project.write(".abide/abilities/research.yaml", RESEARCH);
    let output = project.output(&["run", "research"]);
    let talk =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{talk}");
    assert!(talk.contains("research summarized by openai/scripted"), "{talk}");
    let requests = project.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests[1].system.contains("Extract only the key patterns"), "{}", requests[1].system);
    assert!(told(&requests[1]).contains("cats are liquid and dogs are not"));
    let plan = told(&requests[2]);
    assert!(plan.contains("### Step: research (writer, summarized)\ncats: liquid"), "{plan}");
    assert!(!plan.contains("dogs"), "{plan}");
    let audit = project.output(&["audit", "show", "--json"]);
    let events = String::from_utf8_lossy(&audit.stdout).into_owned();
    assert_eq!(events.matches("step.summarized").count(), 1, "{events}");
}

#[test]
fn a_summary_that_no_model_can_write_is_said_before_anything_runs() {
    let project = Project::without_a_model();
    let session = RESEARCH.replace("prompt:", "runner: codex, prompt:");
    project.write(".abide/abilities/research.yaml", &session);
    project.write("bin/codex", "#!/bin/sh\ntouch ran\n");
    let codex = project.path().join("bin/codex");
    std::fs::set_permissions(&codex, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", project.path().join("bin").display(), std::env::var("PATH").unwrap());
    let output = project.abide(&["run", "research"]).env("PATH", path).output().unwrap();
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(0));
    assert!(
        talk.contains("its output is to be summarized, and that cannot be done: no model is set"),
        "{talk}"
    );
    assert!(!project.path().join("ran").exists());
}
