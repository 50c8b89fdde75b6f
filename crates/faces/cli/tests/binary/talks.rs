//! Sessions of `abide serve`, with the built binary and a model that answers by a script.

use crate::server::Server;
use crate::support::Project;
use abide_model_mock::{Fault, Message, ModelServer, Request, Role, Script, ToolCall, Turn};
use serde_json::{Value, json};
use std::time::Duration;

/// Returns the last thing that a model was told by its user.
fn told(request: &Request) -> String {
    // Results of tools are told by the user, too, as far as models go.
    let is_told = |message: &&Message| message.role == Role::User && message.results.is_empty();
    let last = request.messages.iter().rev().find(is_told);
    last.map(|message| message.text.clone()).unwrap_or_default()
}

/// A model that repeats what it is told; what begins with `slow` takes a while.
fn model() -> ModelServer {
    let answer = |request: &Request| {
        let told = told(request);
        let results = request.messages.last().is_some_and(|message| !message.results.is_empty());
        if told.starts_with("write") && !results {
            let arguments = json!({ "path": "/note.txt", "content": "written by the agent" });
            return Turn::call(ToolCall::new("write_file", arguments));
        }
        let turn = Turn::text(format!("heard {told}"));
        if told.starts_with("slow") { turn.with(Fault::Slow(Duration::from_millis(400))) } else { turn }
    };
    ModelServer::start(Script::function(answer)).unwrap()
}

struct Stage {
    project: Project,
    model: ModelServer,
    more: Vec<String>,
    admin: String,
}

impl Stage {
    fn new(more: &[&str]) -> Self {
        let project = Project::new();
        let name = format!("admin-{}", std::process::id());
        let key = project.abide(&[&["key", "create", &name, "--scope", "admin"], more].concat());
        assert_eq!(key.code, Some(0), "{key:?}");
        let more = more.iter().map(|word| (*word).to_owned()).collect();
        Self { project, model: model(), more, admin: key.out.trim().to_owned() }
    }

    fn serve(&self) -> Server {
        let (url, more) = (self.model.url(), self.more.iter().map(String::as_str).collect::<Vec<_>>());
        let variables = [
            ("ANTHROPIC_BASE_URL", url.as_str()),
            ("ANTHROPIC_API_KEY", "none"),
            ("ABIDE_MODEL", "anthropic/scripted"),
        ];
        Server::start_with(&self.project, &more, &variables)
    }

    /// Makes an agent and a session of it.
    fn session(&self, server: &Server) -> String {
        self.session_with(server, &json!(["session_file_system"]))
    }

    fn session_with(&self, server: &Server, capabilities: &Value) -> String {
        let new = json!({ "name": "helper", "system_prompt": "You help.", "capabilities": capabilities });
        let (status, agent) = server.ask("POST", "/v1/agents", Some(&self.admin), &new.to_string());
        assert_eq!(status, 201, "{agent}");
        let at = format!("/v1/agents/{}/sessions", agent["id"].as_str().unwrap());
        let (status, session) = server.ask("POST", &at, Some(&self.admin), "{}");
        assert_eq!(status, 201, "{session}");
        session["id"].as_str().unwrap().to_owned()
    }

    fn say(&self, server: &Server, session: &str, text: &str) -> String {
        let at = format!("/v1/sessions/{session}/messages");
        let (status, message) =
            server.ask("POST", &at, Some(&self.admin), &json!({ "text": text }).to_string());
        assert_eq!(status, 202, "{message}");
        message["id"].as_str().unwrap().to_owned()
    }

    /// Waits until the turn of a message has a status.
    fn until(&self, server: &Server, session: &str, message: &str, wanted: &str) -> Value {
        let at = format!("/v1/sessions/{session}/messages/{message}");
        for _ in 0..1_600 {
            let shown = server.get(&at, Some(&self.admin)).1;
            if shown["turn"]["status"] == wanted {
                return shown;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        panic!("it is never {wanted}: {}", server.get(&at, Some(&self.admin)).1);
    }

    fn events(&self, server: &Server, session: &str) -> Vec<Value> {
        let at = format!("/v1/sessions/{session}/events?limit=200");
        server.get(&at, Some(&self.admin)).1["items"].as_array().unwrap().clone()
    }
}

/// A server is killed in the middle of a turn; the next one goes on with it and with what waits, and everything happens once.
pub(crate) fn killed_and_gone_on_with(more: &[&str]) {
    let stage = Stage::new(more);
    let server = stage.serve();
    let session = stage.session(&server);
    let first = stage.say(&server, &session, "write a note");
    stage.until(&server, &session, &first, "finished");
    let file =
        server.get(&format!("/v1/sessions/{session}/fs?path=/note.txt&format=json"), Some(&stage.admin)).1;
    assert_eq!(file["content"], "written by the agent", "{file}");
    let slow = stage.say(&server, &session, "slow one two three");
    stage.until(&server, &session, &slow, "running");
    let queued = stage.say(&server, &session, "queued");
    server.kill();
    let server = stage.serve();
    let over = stage.until(&server, &session, &slow, "finished");
    assert_eq!(over["turn"]["answer"], "heard slow one two three");
    stage.until(&server, &session, &queued, "finished");
    let events = stage.events(&server, &session);
    let count = |kind: &str| events.iter().filter(|event| event["type"] == kind).count();
    assert_eq!((count("message.told"), count("turn.ended")), (3, 3), "{events:?}");
    let labels: Vec<&str> = events.iter().filter_map(|event| event["data"]["label"].as_str()).collect();
    assert_eq!(labels, [&first, &slow, &queued]);
    let asked: Vec<String> = stage.model.turns().iter().map(|request| told(request)).collect();
    assert_eq!(asked.iter().filter(|told| told.starts_with("write")).count(), 2, "{asked:?}");
    assert_eq!(asked.iter().filter(|told| *told == "queued").count(), 1, "{asked:?}");
    let runs = server.get("/v1/runs", Some(&stage.admin)).1;
    let is_run = |run: &Value| run["run"] == *session;
    assert!(!runs["items"].as_array().unwrap().iter().any(is_run), "a session is no run: {runs}");
    let (status, gone) = server.ask("DELETE", &format!("/v1/sessions/{session}"), Some(&stage.admin), "");
    assert_eq!(status, 200, "{gone}");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_killed_server_goes_on_with_its_turns_once_each() {
    killed_and_gone_on_with(&[]);
}

#[test]
fn the_tools_of_a_session_keep_to_what_is_configured_for_its_agent() {
    let stage = Stage::new(&[]);
    let server = stage.serve();
    let few = json!([{ "id": "session_file_system", "configuration": { "file_bytes": 5 } }]);
    for (capabilities, written) in [(few, false), (json!(["session_file_system"]), true)] {
        let session = stage.session_with(&server, &capabilities);
        let said = stage.say(&server, &session, "write a note");
        stage.until(&server, &session, &said, "finished");
        let (status, file) =
            server.get(&format!("/v1/sessions/{session}/fs?path=/note.txt&format=json"), Some(&stage.admin));
        assert_eq!(status == 200, written, "{file}");
        let result = stage.model.turns().last().unwrap().new_results()[0].text.clone();
        assert_eq!(result.contains("at most 5 bytes"), !written, "{result}");
    }
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_skill_is_run_by_its_name_and_an_agent_has_no_tools_but_its_own() {
    let stage = Stage::new(&[]);
    let skill = "---\nname: greet\ndescription: Greets.\n---\nGreet $ARGUMENTS warmly.\n";
    stage.project.write(".abide/skills/greet/SKILL.md", skill);
    let server = stage.serve();
    let session = stage.session(&server);
    let greeted = stage.say(&server, &session, "/greet bob");
    let greeted = stage.until(&server, &session, &greeted, "finished");
    assert!(greeted["turn"]["answer"].as_str().unwrap().contains("Greet bob warmly."), "{greeted}");
    let blank = stage.say(&server, &session, " \n/greet ann");
    let blank = stage.until(&server, &session, &blank, "finished");
    assert!(blank["turn"]["answer"].as_str().unwrap().contains("Greet ann warmly."), "{blank}");
    let plain = stage.say(&server, &session, "/nothing of the kind");
    let plain = stage.until(&server, &session, &plain, "finished");
    assert_eq!(plain["turn"]["answer"], "heard /nothing of the kind");
    // What is added while the server runs is there, and what cannot be used says why and asks no model.
    stage.project.write(".abide/skills/late/SKILL.md", skill.replace("greet", "late"));
    let needy =
        skill.replace("greet", "needy").replace("\n---\nG", "\nrequires: bin:no-such-program\n---\nG");
    stage.project.write(".abide/skills/needy/SKILL.md", &needy);
    std::thread::sleep(Duration::from_secs(2));
    let late = stage.say(&server, &session, "/late eve");
    let late = stage.until(&server, &session, &late, "finished");
    assert!(late["turn"]["answer"].as_str().unwrap().contains("Greet eve warmly."), "{late}");
    let asked = stage.model.turns().len();
    let needy = stage.say(&server, &session, "/needy x");
    let needy = stage.until(&server, &session, &needy, "failed");
    assert!(needy.to_string().contains("no-such-program"), "{needy}");
    assert_eq!(stage.model.turns().len(), asked);
    for request in stage.model.turns() {
        assert!(request.system.ends_with("You help."), "{}", request.system);
        let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert!(tools.contains(&"read_file"), "{tools:?}");
        for foreign in ["bash", "read", "write", "skill", "ability_run"] {
            assert!(!tools.contains(&foreign), "{tools:?}");
        }
    }
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_skill_that_is_called_over_http_is_held_to_what_it_says() {
    let stage = Stage::new(&[]);
    let skill = |name: &str, more: &str| {
        let text = format!("---\nname: {name}\ndescription: x\n{more}---\nwrite a note\n");
        stage.project.write(&format!(".abide/skills/{name}/SKILL.md"), text);
    };
    skill("only-looks", "allowed-tools: read_file\n");
    skill("once", "max_turns: 1\n");
    skill("for-agents", "user-invocable: false\n");
    let server = stage.serve();
    let session = stage.session(&server);
    // The model calls `write_file` for a message that begins like this.
    let looked = stage.say(&server, &session, "/only-looks");
    stage.until(&server, &session, &looked, "finished");
    let request = stage.model.turns()[0].clone();
    let tools: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(tools, ["read_file"]);
    let once = stage.say(&server, &session, "/once");
    let once = stage.until(&server, &session, &once, "out_of_budget");
    assert!(once.to_string().contains("there was 1 turn"), "{once}");
    let asked = stage.model.turns().len();
    let refused = stage.say(&server, &session, "/for-agents");
    let refused = stage.until(&server, &session, &refused, "failed");
    assert!(refused.to_string().contains("only agents call it"), "{refused}");
    assert_eq!(stage.model.turns().len(), asked, "no model is asked");
    assert_eq!(server.end(), Some(0));
}
