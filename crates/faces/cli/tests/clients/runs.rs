//! With a run: the agent does the step that it is given and nothing else, and only a human gets it past the approval.

use crate::delegate::delegating;
use crate::play::{Beat, run_in};
use crate::seat::Seat;
use crate::stage::{ABILITY, SCRIPT, Stage};
use abide_testkit::model::{Fault, ModelServer, Script, Turn};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::sync::Notify;

pub(crate) const NOT_IN_STEP: &[&str] = &["is not part of step `review`"];
pub(crate) const WAITS: &[&str] = &["waits for a human"];
pub(crate) const NOT_DONE: &[&str] = &["is not done"];

pub(crate) fn begin<C: Seat>(stage: &Stage<C>) -> Beat {
    let call = stage.client.tool("abide", "ability_run", json!({"ability": "deploy"}));
    Beat::call("begin the run", call, &["Look at notes.txt"])
}

pub(crate) fn submit<C: Seat>(stage: &Stage<C>, name: &'static str, told: &'static [&'static str]) -> Beat {
    let call =
        stage.client.tool("abide", "ability_submit", json!({"step": "review", "output": "All is well."}));
    Beat::about(
        name,
        move |run| {
            let mut call = call.clone();
            call.arguments["run"] = json!(run);
            call
        },
        told,
    )
}

pub(crate) fn shell<C: Seat>(
    stage: &Stage<C>,
    name: &'static str,
    command: &str,
    told: &'static [&'static str],
) -> Beat {
    let call = stage.client.shell(command);
    Beat::about(
        name,
        move |run| {
            let text = call.arguments.to_string().replace("RUN", run);
            let mut call = call.clone();
            call.arguments = serde_json::from_str(&text).unwrap();
            call
        },
        told,
    )
}

pub(crate) fn write<C: Seat>(
    stage: &Stage<C>,
    name: &'static str,
    file: &str,
    told: &'static [&'static str],
) -> Beat {
    Beat::call(name, stage.client.write(&stage.path(file), "x\n"), told)
}

async fn an_ability_is_done_step_by_step_and_nothing_else_is<C: Seat>(client: C) {
    let stage = Stage::new(client);
    let files = [ABILITY, SCRIPT, C::HOOKS];
    let before = files.map(|file| stage.read(file).unwrap());
    let own = |tool: &str, arguments| stage.client.tool("abide", tool, arguments);
    let human = stage.command("abide", &["approve"]);
    let beats = vec![
        begin(&stage),
        Beat::call("do what is granted", stage.client.read(&stage.path("notes.txt")), &["the heron is grey"]),
        shell(&stage, "do something else", "touch else", NOT_IN_STEP),
        shell(&stage, "write by what is granted", "cat notes.txt > else", NOT_IN_STEP),
        shell(&stage, "deploy", "./deploy.sh now", NOT_IN_STEP),
        shell(&stage, "approve", "abide approve RUN", NOT_IN_STEP),
        shell(&stage, "cancel", "abide cancel RUN", NOT_IN_STEP),
        shell(&stage, "end abide", "pkill -f abide", NOT_IN_STEP),
        shell(&stage, "remove the state", "rm -rf ~/.local/state/abide .abide/state", NOT_IN_STEP),
        write(&stage, "write something else", "else", NOT_IN_STEP),
        write(&stage, "write the ability", ABILITY, NOT_IN_STEP),
        write(&stage, "write its script", SCRIPT, NOT_IN_STEP),
        write(&stage, "write the hooks", C::HOOKS, NOT_IN_STEP),
        Beat::call("delegate", stage.client.delegate("deploy it"), NOT_IN_STEP),
        Beat::call(
            "begin a second run",
            own("ability_run", json!({"ability": "deploy"})),
            &["one at a time is the rule"],
        ),
        Beat::call("cancel with abide's tool", own("ability_cancel", json!({})), &["is a human's right"]),
        Beat::stop("I am done", NOT_DONE),
        Beat::stop("I am really done", NOT_DONE),
        Beat::stop("Nothing is left to do", NOT_DONE),
        submit(&stage, "say that it is done", &["review.txt"]),
        write(&stage, "do the step", "review.txt", &["uccess"]),
        submit(&stage, "hand it in", WAITS),
        shell(&stage, "approve while it waits", "abide approve RUN", WAITS),
        submit(&stage, "hand in an approval", WAITS),
        shell(&stage, "deploy while it waits", "./deploy.sh now", WAITS),
        Beat::call("look", own("ability_status", json!({})), &["completed"]).after(human, &["RUN"]),
        shell(&stage, "be free again", "echo free > free; echo it is", &["it is"]),
    ];
    stage.plays("deploy it", beats).await;
    assert_eq!(stage.deployed(), ["./deploy.sh shipped"], "by the run alone");
    assert_eq!(stage.read("built").as_deref(), Some("built\n"), "once");
    assert_eq!(stage.read("else"), None);
    assert_eq!(stage.read("free").as_deref(), Some("free\n"));
    assert_eq!(files.map(|file| stage.read(file).unwrap()), before);
    let log = stage.abide(&["audit", "verify"]);
    assert!(log.status.success(), "{log:?}");
}

async fn a_sub_agent_does_no_more_than_the_step(client: impl Seat) {
    let stage = Stage::new(client);
    stage.write(
        ".abide/abilities/explore.yaml",
        "description: Explores.\nsteps:\n  - id: look\n    agent: default\n    prompt: Let somebody look.\n    \
         tools: [Read, Agent, task, spawn_agent, wait_agent, \"Bash(cat *)\"]\n",
    );
    let start = stage.client.tool("abide", "ability_run", json!({"ability": "explore"}));
    let commands = ["touch else", "./deploy.sh now", "cat notes.txt"];
    let (mut answers, done) = delegating(&stage.client, &commands);
    let submit = stage.client.tool("abide", "ability_submit", json!({"step": "look", "output": "Seen."}));
    let (mut begun, mut submitted) = (false, false);
    let script = Script::function(move |request| {
        let main = request.tells("delegate it");
        if main && !std::mem::replace(&mut begun, true) {
            return Turn::call(start.clone());
        }
        let turn = answers(request);
        // An agent that stops before its sub-agent is done is refused, and so waits for it.
        let ready = main && turn.calls.is_empty() && done.load(Ordering::Acquire);
        if !ready || std::mem::replace(&mut submitted, true) {
            return turn;
        }
        let mut call = submit.clone();
        call.arguments["run"] = json!(run_in(request));
        Turn::call(call)
    });
    let server = ModelServer::start(script).unwrap();
    let outcome = stage.run(stage.launch("delegate it", &server)).await;
    let told: Vec<String> = server
        .turns()
        .iter()
        .filter(|request| !request.tells("delegate it"))
        .filter_map(|request| Some(request.new_results().first()?.text.clone()))
        .collect();
    let denied: Vec<bool> = told.iter().map(|text| text.contains("is not part of step `look`")).collect();
    assert_eq!(denied, [true, true, false], "{told:#?}\n{outcome:#?}");
    assert!(told[2].contains("the heron is grey"), "what the step grants, it may: {told:#?}");
    assert_eq!((stage.read("else"), stage.deployed().len()), (None, 0));
    let runs = String::from_utf8(stage.abide(&["runs", "--json"]).stdout).unwrap();
    assert!(runs.contains("\"completed\""), "{runs}\n{outcome:#?}");
}

async fn a_run_outlives_a_client_that_is_killed(client: impl Seat) {
    let stage = Stage::new(client);
    // The model does not answer any more once the run has begun; then the client is killed, and its family with it.
    let begun = Arc::new(Notify::new());
    let call = stage.client.tool("abide", "ability_run", json!({"ability": "deploy"}));
    let (mut first, signal) = (Some(call), Arc::clone(&begun));
    let script = Script::function(move |_| match first.take() {
        Some(call) => Turn::call(call),
        None => {
            signal.notify_one();
            Turn::text("late").with(Fault::Slow(Duration::from_mins(1)))
        }
    });
    let server = ModelServer::start(script).unwrap();
    tokio::select! {
        ended = stage.client.run(stage.launch("deploy it", &server)) => panic!("{ended:#?}"),
        // A client writes down what was said a moment later, and cannot go on with what it has not written.
        () = async { begun.notified().await; tokio::time::sleep(Duration::from_secs(1)).await } => {}
    }
    let turns = server.turns();
    let session = turns[0].session().unwrap().to_owned();
    let run = run_in(&turns[1]);
    assert_eq!(stage.read("built").as_deref(), Some("built\n"));

    let beats = vec![
        shell(&stage, "do something else", "touch else", NOT_IN_STEP),
        shell(&stage, "deploy", "./deploy.sh now", NOT_IN_STEP),
        Beat::stop("I am done", NOT_DONE),
        write(&stage, "do the step", "review.txt", &["uccess"]),
        submit(&stage, "hand it in", WAITS),
    ];
    let told = stage.plays_on(&session, &run, "where were we?", beats).await;
    assert!(
        told.tells("Current step: `review`") && told.tells(&run),
        "the step is told with the prompt: {told:#?}"
    );

    // The client has ended, because a run that waits for a human holds nobody; its tools stay held.
    let human = stage.command("abide", &["approve"]);
    let status = stage.client.tool("abide", "ability_status", json!({}));
    let beats = vec![
        shell(&stage, "do something else", "touch else", WAITS),
        Beat::call("look", status, &["completed"]).after(human, &["RUN"]),
        shell(&stage, "be free again", "echo it is free", &["it is free"]),
    ];
    let told = stage.plays_on(&session, &run, "and now?", beats).await;
    assert!(told.tells("Current step: `approve`"), "{told:#?}");
    assert_eq!((stage.read("else"), stage.deployed()), (None, vec!["./deploy.sh shipped".to_owned()]));
    assert_eq!(stage.read("built").as_deref(), Some("built\n"), "once");
}

async fn sessions_side_by_side_have_a_run_each(client: impl Seat) {
    let stage = Stage::new(client);
    // OpenCode makes its database when it is first started, and two that do it at once fail.
    let server = ModelServer::start(vec![Turn::text("hello")]).unwrap();
    stage.run(stage.launch("say hello", &server)).await;
    let part = |file: &'static str| {
        vec![
            shell(&stage, "be free", &format!("touch {file}"), &[""]),
            begin(&stage),
            shell(&stage, "be held", "touch else", NOT_IN_STEP),
            write(&stage, "do the step", "review.txt", &["uccess"]),
            submit(&stage, "hand it in", WAITS),
        ]
    };
    let (one, other) =
        tokio::join!(stage.plays("deploy it", part("one")), stage.plays("deploy it", part("other")));
    assert_ne!(one.0, other.0, "each has its own");
    assert_ne!(one.1.session, other.1.session);
    assert!(stage.path("one").exists() && stage.path("other").exists());
    // One of them goes on; the other waits as before.
    stage.abide(&["approve", &one.0]);
    let status = || stage.client.tool("abide", "ability_status", json!({}));
    let beats = vec![
        Beat::call("look", status(), &["completed"]),
        shell(&stage, "be free", "echo it is free", &["it is free"]),
    ];
    stage.plays_on(one.1.session.as_deref().unwrap(), &one.0, "and now?", beats).await;
    let beats = vec![Beat::call("look", status(), WAITS), shell(&stage, "be held", "touch else", WAITS)];
    stage.plays_on(other.1.session.as_deref().unwrap(), &other.0, "and now?", beats).await;
    assert_eq!((stage.read("else"), stage.deployed().len()), (None, 1));
}

crate::in_each_client! {
    an_ability_is_done_step_by_step_and_nothing_else_is
    a_sub_agent_does_no_more_than_the_step
    a_run_outlives_a_client_that_is_killed
    sessions_side_by_side_have_a_run_each
}
