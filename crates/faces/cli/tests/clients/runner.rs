//! The clients as runners: `abide run` starts them for the step of an agent, in which nothing of abide is installed.

use crate::seat::Seat;
use crate::stage::{ABILITY, Stage};
use abide_testkit::model::{Fault, ModelServer, Request, Script, ToolCall, Turn};
use serde_json::{Value, json};
use std::fs;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// An ability whose step is done by a client.
fn ability(client: &str, further: &str) -> String {
    format!(
        "description: Reviews the project.\nsteps:\n  - id: review\n    agent: default\n    runner: {client}\n    \
         prompt: Look at notes.txt and write what you find to review.txt.\n    \
         tools: [Read, \"Bash(cat *)\", \"Write(review.txt)\"]\n{further}"
    )
}

const RETRIES: &str = "    on_failure: retry\n    max_retries: 2\n    retry_delay: 10ms\n    \
                       validation: { file_exists: review.txt }\n";

impl<C: Seat> Stage<C> {
    /// Prepares abide as somebody types it who has the client, with a scripted model behind that.
    fn typed(&self, model: &ModelServer, arguments: &[&str]) -> Command {
        let mut command = self.command("abide", arguments);
        for (name, value) in self.client.environment(self.root(), model).unwrap() {
            if name == "PATH" {
                command.env("PATH", format!("{}:{value}", self.home().join("bin").display()));
            } else {
                command.env(name, value);
            }
        }
        command
    }

    /// Returns the processes that have the home of this stage: the client's and ours.
    fn processes(&self) -> Vec<String> {
        let home = self.home().to_str().unwrap().as_bytes().to_vec();
        let folders = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
        let ours = folders.filter(|folder| {
            let environment = fs::read(folder.join("environ")).unwrap_or_default();
            environment.windows(home.len()).any(|window| window == home)
        });
        let named = ours.map(|folder| {
            let name = fs::read_to_string(folder.join("cmdline")).unwrap_or_default().replace('\0', " ");
            format!("{} {name}", folder.display())
        });
        // A zombie has no command line any more.
        named.filter(|name| name.trim_end().contains(' ')).collect()
    }

    fn verdicts(&self, run: &str) -> Vec<Value> {
        let log = self.abide(&["audit", "show", run, "--json"]);
        let lines = String::from_utf8(log.stdout).unwrap();
        let all: Vec<Value> = lines.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        all.into_iter().filter(|event| event["type"] == "verdict.given").collect()
    }
}

/// Returns the events that `abide run --json` printed.
fn events(stdout: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(stdout);
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn of_type<'e>(events: &'e [Value], name: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["type"] == name).collect()
}

async fn a_step_is_done_by_a_client_that_is_held_to_it_and_told_what_is_missing(client: impl Seat) {
    let stage = Stage::bare(client);
    stage.write(".abide/abilities/look.yaml", &ability(stage.name(), RETRIES));
    let forbidden = [
        stage.client.shell("touch else"),
        stage.client.shell("./deploy.sh now"),
        stage.client.shell("abide cancel"),
        stage.client.write(&stage.path(ABILITY), "x\n"),
    ];
    let mut turns: Vec<Turn> = forbidden.iter().cloned().map(Turn::call).collect();
    turns.push(Turn::call(stage.client.read(&stage.path("notes.txt"))));
    turns.push(Turn::text("I have done everything"));
    turns.push(Turn::call(stage.client.write(&stage.path("review.txt"), "grey\n")));
    turns.push(Turn::text("Now I have"));
    let server = ModelServer::start(turns).unwrap();
    let before = stage.read(ABILITY);
    let output = stage.typed(&server, &["run", "look", "--json"]).output().unwrap();
    let told: Vec<Vec<String>> = server.turns().iter().map(|turn| news(turn)).collect();
    assert!(output.status.success(), "{output:#?}\n{told:#?}");
    assert_eq!(server.surprises(), [""; 0], "{told:#?}");
    for (number, told) in told[1..=forbidden.len()].iter().enumerate() {
        assert!(told.join("\n").contains("is not part of step `review`"), "{number}: {told:?}");
    }
    assert!(told[5].join("\n").contains("the heron is grey"), "what is granted works: {:?}", told[5]);
    let again = &server.turns()[6];
    assert!(again.tells("`review.txt` does not exist"), "the client is told what is missing: {told:#?}");
    assert!(again.tells("the heron is grey"), "and is the same session: {told:#?}");
    assert_eq!((stage.read("else"), stage.deployed().len()), (None, 0));
    assert_eq!(stage.read(ABILITY), before);
    assert_eq!(stage.read("review.txt").as_deref(), Some("grey\n"));

    let events = events(&output.stdout);
    let run = events[0]["run"].as_str().unwrap();
    let completed = of_type(&events, "step.succeeded");
    let usage = &completed.last().unwrap()["data"]["result"]["usage"];
    assert!(
        usage["input_tokens"].as_u64() > Some(0) && usage["output_tokens"].as_u64() > Some(0),
        "{events:#?}"
    );
    let result = &completed.last().unwrap()["data"]["result"]["output"];
    assert!(result.to_string().contains("Now I have"), "{result}");
    let verdicts = stage.verdicts(run);
    assert_eq!(verdicts.len(), forbidden.len(), "each is noted once: {verdicts:#?}");
    assert_eq!(stage.processes(), [""; 0]);
    assert!(fs::read_dir(stage.home().join(".local/state/abide/gate/seats")).unwrap().next().is_none());
}

async fn where_abide_is_installed_the_client_asks_once_and_has_no_say_in_the_run(client: impl Seat) {
    let stage = Stage::new(client);
    stage.write(".abide/abilities/look.yaml", &ability(stage.name(), ""));
    let own = |tool: &str| {
        stage.client.tool("abide", tool, json!({"ability": "deploy", "step": "review", "output": "x"}))
    };
    let calls =
        [own("ability_run"), own("ability_submit"), own("ability_cancel"), stage.client.shell("touch else")];
    let mut turns: Vec<Turn> = calls.iter().cloned().map(Turn::call).collect();
    turns.push(Turn::text("done"));
    let server = ModelServer::start(turns).unwrap();
    let output = stage.typed(&server, &["run", "look", "--json"]).output().unwrap();
    let told: Vec<Vec<String>> = server.turns().iter().map(|turn| news(turn)).collect();
    assert!(output.status.success(), "{output:#?}\n{told:#?}");
    let run = events(&output.stdout)[0]["run"].as_str().unwrap().to_owned();
    let verdicts = stage.verdicts(&run);
    let answers: Vec<&Value> = verdicts.iter().map(|verdict| &verdict["data"]["answer"]).collect();
    assert_eq!(answers, vec![&json!("denied"); calls.len()], "{verdicts:#?}\n{told:#?}");
    assert_eq!(stage.read("else"), None);
}

async fn an_answer_by_a_schema_is_the_evidence(client: impl Seat) {
    let stage = Stage::bare(client);
    let schema = "    output_schema: { type: object, properties: { herons: { type: integer } }, required: [herons], additionalProperties: false }\n";
    stage.write(".abide/abilities/look.yaml", &ability(stage.name(), schema));
    let mut handed_in = false;
    let script = Script::function(move |request| {
        if request.offers("StructuredOutput") && !std::mem::replace(&mut handed_in, true) {
            return Turn::call(ToolCall::new("StructuredOutput", json!({"herons": 3})));
        }
        Turn::text(if request.offers("StructuredOutput") { "handed in" } else { "{\"herons\": 3}" })
    });
    let server = ModelServer::start(script).unwrap();
    let output = stage.typed(&server, &["run", "look", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:#?}\n{:#?}", server.turns());
    let events = events(&output.stdout);
    let result = &of_type(&events, "step.succeeded")[0]["data"]["result"];
    assert_eq!(result["json"][0], json!({"herons": 3}), "{events:#?}");
}

async fn a_run_that_is_cancelled_leaves_no_process_of_the_client(client: impl Seat) {
    let stage = Stage::bare(client);
    stage.write(".abide/abilities/look.yaml", &ability(stage.name(), ""));
    let server =
        ModelServer::start(vec![Turn::text("late").with(Fault::Slow(Duration::from_mins(1)))]).unwrap();
    let mut child = begin(&stage, &server);
    stage.abide(&["cancel"]);
    let status = ended_within(&mut child, Duration::from_secs(12));
    assert_eq!(status, Some(6), "a cancelled run has its own exit code");
    assert_eq!(stage.processes(), [""; 0]);
    ended_within_a_second(&stage);
}

/// Looks into the log whether everything had ended within a second of the cancel.
fn ended_within_a_second<C: Seat>(stage: &Stage<C>) {
    let log = stage.abide(&["audit", "show", "--json"]);
    let events = events(&log.stdout);
    let at = |name: &str| of_type(&events, name)[0]["at"].as_i64().unwrap();
    let took = at("run.finished") - at("run.cancel_requested");
    assert!(took < 1_000, "it took {took} ms");
}

/// The same client over the Agent Client Protocol, where hooks hold it as well.
fn opencode_over_acp_is_held_to_its_step(client: impl Seat) {
    let stage = Stage::bare(client);
    stage.write(".abide/abilities/look.yaml", &ability("acp:opencode acp", RETRIES));
    let forbidden = [
        stage.client.shell("touch else"),
        stage.client.shell("./deploy.sh now"),
        stage.client.write(&stage.path(ABILITY), "x\n"),
    ];
    let mut turns: Vec<Turn> = forbidden.iter().cloned().map(Turn::call).collect();
    turns.push(Turn::text("I have done everything"));
    turns.push(Turn::call(stage.client.read(&stage.path("notes.txt"))));
    turns.push(Turn::call(stage.client.write(&stage.path("review.txt"), "grey\n")));
    turns.push(Turn::text("Now I have"));
    let server = ModelServer::start(turns).unwrap();
    let before = stage.read(ABILITY);
    let output = stage.typed(&server, &["run", "look", "--json"]).output().unwrap();
    let told: Vec<Vec<String>> = server.turns().iter().map(|turn| news(turn)).collect();
    assert!(output.status.success(), "{output:#?}\n{told:#?}");
    for (number, told) in told[1..=forbidden.len()].iter().enumerate() {
        assert!(told.join("\n").contains("is not part of step `review`"), "{number}: {told:?}");
    }
    assert!(server.turns()[4].tells("`review.txt` does not exist"), "it is told what is missing: {told:#?}");
    assert!(told[5].join("\n").contains("the heron is grey"), "what is granted works: {:?}", told[5]);
    assert_eq!((stage.read("else"), stage.deployed().len()), (None, 0));
    assert_eq!((stage.read(ABILITY), stage.read("review.txt").as_deref()), (before, Some("grey\n")));
    let events = events(&output.stdout);
    let result = &of_type(&events, "step.succeeded").last().unwrap()["data"]["result"];
    assert_eq!(result["output"]["text"], "Now I have", "{result}");
    assert_eq!(stage.verdicts(events[0]["run"].as_str().unwrap()).len(), forbidden.len());
    assert_eq!(stage.processes(), [""; 0]);
}

fn a_cancel_of_opencode_over_acp_leaves_no_process(client: impl Seat) {
    let stage = Stage::bare(client);
    stage.write(".abide/abilities/look.yaml", &ability("acp:opencode acp", ""));
    let server =
        ModelServer::start(vec![Turn::text("late").with(Fault::Slow(Duration::from_mins(1)))]).unwrap();
    let mut child = begin(&stage, &server);
    stage.abide(&["cancel"]);
    assert_eq!(ended_within(&mut child, Duration::from_secs(12)), Some(6));
    assert_eq!(stage.processes(), [""; 0]);
    ended_within_a_second(&stage);
}

mod real_clients_over_acp {
    #[test]
    fn opencode_is_held_to_its_step() {
        super::opencode_over_acp_is_held_to_its_step(crate::opencode());
    }

    #[test]
    fn a_cancel_leaves_no_process() {
        super::a_cancel_of_opencode_over_acp_leaves_no_process(crate::opencode());
    }
}

/// The rules of the agent's own profile hold in the client, too: a step can grant no more than the agent may do.
async fn the_rules_of_the_agents_profile_hold_in_a_client_that_abide_starts(client: impl Seat) {
    let stage = Stage::bare(client);
    stage.write(
        ".abide/agents/careful.md",
        "---\ndescription: Careful\npermission:\n  bash: { \"*\": allow, \"cat secret*\": deny }\n---\nYou are careful.\n",
    );
    let all = ability(stage.name(), "").replace("agent: default", "agent: careful");
    stage.write(".abide/abilities/look.yaml", &all);
    stage.write("secret.txt", "the heron is a spy\n");
    let calls = [stage.client.shell("cat secret.txt"), stage.client.shell("cat notes.txt")];
    let mut turns: Vec<Turn> = calls.iter().cloned().map(Turn::call).collect();
    turns.push(Turn::text("done"));
    let server = ModelServer::start(turns).unwrap();
    let output = stage.typed(&server, &["run", "look", "--json"]).output().unwrap();
    let told: Vec<Vec<String>> = server.turns().iter().map(|turn| news(turn)).collect();
    assert!(output.status.success(), "{output:#?}\n{told:#?}");
    assert!(told[1].join("\n").contains("of the agent denies this call"), "{told:#?}");
    assert!(
        !told[1].join("\n").contains("spy") && told[2].join("\n").contains("the heron is grey"),
        "{told:#?}"
    );
    let run = events(&output.stdout)[0]["run"].as_str().unwrap().to_owned();
    assert_eq!(stage.verdicts(&run).len(), 1);
}

async fn a_run_whose_abide_was_killed_is_taken_up_and_its_client_ended(client: impl Seat) {
    let stage = Stage::bare(client);
    stage.write(".abide/abilities/look.yaml", &ability(stage.name(), RETRIES));
    let slow =
        ModelServer::start(vec![Turn::text("late").with(Fault::Slow(Duration::from_mins(1)))]).unwrap();
    let mut child = begin(&stage, &slow);
    child.kill().unwrap();
    child.wait().unwrap();
    let write = stage.client.write(&stage.path("review.txt"), "grey\n");
    let server = ModelServer::start(vec![Turn::call(write), Turn::text("done")]).unwrap();
    let output = stage.typed(&server, &["resume", "--json"]).output().unwrap();
    assert!(output.status.success(), "{output:#?}\n{:#?}", server.surprises());
    assert_eq!(stage.read("review.txt").as_deref(), Some("grey\n"));
    assert_eq!(stage.processes(), [""; 0], "what the first abide had started is gone");
}

/// Starts a run and waits until its client has asked the model.
fn begin<C: Seat>(stage: &Stage<C>, server: &ModelServer) -> Child {
    let mut command = stage.typed(server, &["run", "look"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while server.turns().is_empty() {
        if begun.elapsed() > Duration::from_mins(1) || child.try_wait().unwrap().is_some() {
            let mut told = String::new();
            child.kill().unwrap();
            child.stdout.take().unwrap().read_to_string(&mut told).unwrap();
            child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
            panic!("the model was not asked: {told}");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child
}

fn ended_within(child: &mut Child, time: Duration) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begun.elapsed() > time {
            child.kill().unwrap();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns what a request is the first to tell of tools.
fn news(request: &Request) -> Vec<String> {
    request.new_results().iter().map(|result| result.text.clone()).collect()
}

/// What the runner of a stage's client is called.
trait Named {
    fn name(&self) -> &'static str;
}

impl<C: Seat> Named for Stage<C> {
    fn name(&self) -> &'static str {
        C::NAME
    }
}

crate::in_each_client! {
    a_step_is_done_by_a_client_that_is_held_to_it_and_told_what_is_missing
    where_abide_is_installed_the_client_asks_once_and_has_no_say_in_the_run
    an_answer_by_a_schema_is_the_evidence
    a_run_that_is_cancelled_leaves_no_process_of_the_client
    a_run_whose_abide_was_killed_is_taken_up_and_its_client_ended
    the_rules_of_the_agents_profile_hold_in_a_client_that_abide_starts
}
