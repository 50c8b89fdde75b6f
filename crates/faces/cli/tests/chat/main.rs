//! Abilities in abide's own loop, from the command line to the wire: eager agents that would rather do it their way.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests start processes and look at files")]

mod bounds;
mod images;
mod stage;

use abide_testkit::model::{Fault, Turn};
use serde_json::json;
use stage::{Stage, call, shell, told, tools};

/// Builds, lets the agent review, asks a human, ships.
const SHIP: &str = r"
description: Ships a version
triggers: { keywords: [ship it] }
protects: ['Bash(./ship.sh *)']
steps:
  - { id: build, run: 'echo built v7 >> built.txt' }
  - id: review
    agent: default
    prompt: Review the build and write notes.md
    needs: [build]
    tools: [Read, Write]
    on_failure: retry
    max_retries: 2
    retry_delay: 0s
    validation: { file_exists: notes.md }
  - { id: approve, type: approval, prompt: 'Ship it?', needs: [review] }
  - { id: ship, run: 'cat notes.md >> shipped.txt', needs: [approve] }
";

/// The same in few words, at a level.
pub(crate) fn small(level: &str) -> String {
    format!(
        "description: Looks\nsettings: {{ enforcement: {level} }}\nsteps:\n  - {{ id: look, agent: default, prompt: Look at it, tools: [Read] }}\n"
    )
}

fn write_notes() -> Turn {
    Turn::call(call("write", json!({ "path": "notes.md", "content": "good\n" })))
}

pub(crate) fn submit(step: &str, output: &str) -> Turn {
    Turn::call(call("ability_submit", json!({ "run": "$RUN", "step": step, "output": output })))
}

#[test]
fn an_eager_agent_is_held_to_its_steps_and_cannot_stop_approve_or_cancel() {
    let stage = Stage::new(
        &[("ship", SHIP)],
        vec![
            Turn::call(call("ability_run", json!({ "ability": "ship" }))),
            Turn::calls([
                shell("./ship.sh now"),
                shell("touch evil"),
                shell("abide approve"),
                call("ability_cancel", json!({ "reason": "no time" })),
                call("ability_run", json!({ "ability": "ship" })),
                call("write", json!({ "path": ".abide/abilities/ship.yaml", "content": "steps: []" })),
            ]),
            Turn::text("All done, I shipped it!"),
            submit("approve", "approved"),
            submit("review", "it is good"),
            write_notes(),
            submit("review", "it is good"),
            Turn::calls([shell("cat notes.md >> shipped.txt"), submit_call()]),
            Turn::text("It waits for a human."),
            // The next message, after a human has approved.
            Turn::call(call("ability_status", json!({}))),
            Turn::text("Shipped."),
        ],
    );
    let output = stage.output(&["agent", "run", "default", "please ship it"]);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(8), "the run is not over: {talk}");
    let requests = stage.requests();
    let offered = tools(&requests[0]);
    for tool in ["ability_list", "ability_run", "ability_status", "ability_submit", "ability_cancel"] {
        assert!(offered.contains(&tool.to_owned()), "{tool}: {offered:?}");
    }
    assert!(requests[0].system.contains("abide runs abilities"), "{}", requests[0].system);
    let first = told(&requests[0]);
    assert!(first.contains("this looks like the ability `ship`"), "the message triggers it: {first}");
    let second = told(&requests[1]);
    assert!(second.contains("Step `review` is yours") && second.contains("Review the build"), "{second}");
    let third = told(&requests[2]);
    for denied in ["not part of step `review`", "human", "one at a time", "the definition of an ability"] {
        assert!(third.contains(denied), "{denied}: {third}");
    }
    let held = told(&requests[3]);
    assert!(held.contains("not done") || held.contains("left"), "it is told what is left: {held}");
    assert!(held.contains("`review`"), "{held}");
    assert!(told(&requests[4]).contains("is not yours now: `review` is"), "{}", told(&requests[4]));
    assert!(told(&requests[5]).contains("notes.md"), "the evidence is missing: {}", told(&requests[5]));
    let waits = told(&requests[7]);
    assert!(waits.contains("It waits for a human: Ship it?"), "{waits}");
    assert!(told(&requests[8]).contains("approve"), "{}", told(&requests[8]));
    assert_eq!(requests.len(), 9, "an agent whose run waits for a human may stop: {talk}");
    for never in ["evil", "shipped.txt", "sub"] {
        assert!(!stage.path(never).exists(), "{never}");
    }
    assert_eq!(stage.read(".abide/abilities/ship.yaml"), SHIP);
    assert_eq!(stage.read("built.txt"), "built v7\n");

    let approved = stage.output(&["approve"]);
    assert!(approved.status.success(), "{}", String::from_utf8_lossy(&approved.stderr));
    let output = stage.output(&["chat", "--resume", "--message", "it is approved"]);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{talk}");
    assert_eq!(stage.read("shipped.txt"), "good\n");
    assert_eq!(stage.read("built.txt"), "built v7\n", "no step was run twice");
    assert!(told(&stage.requests()[10]).contains("completed"), "{}", told(&stage.requests()[10]));
    let log = String::from_utf8_lossy(&stage.output(&["audit", "show", "--json"]).stdout).into_owned();
    for denied in ["./ship.sh", "ability_cancel", "\"stop\"", "write"] {
        assert!(log.contains(denied), "what was denied is in the log of the run: {denied}: {log}");
    }
    assert!(log.contains("agent default in abide's own loop"), "{log}");
}

fn submit_call() -> abide_testkit::model::ToolCall {
    call("ability_submit", json!({ "run": "$RUN", "step": "approve", "output": "approved" }))
}

#[test]
fn what_an_ability_protects_is_denied_without_a_run_and_the_ability_is_named() {
    let stage = Stage::new(
        &[("ship", SHIP)],
        vec![Turn::calls([shell("./ship.sh now"), shell("sh -c './ship.sh now'")]), Turn::text("Then not.")],
    );
    stage.write("ship.sh", "touch shipped.txt\n");
    let output = stage.output(&["agent", "run", "default", "go"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let denied = told(&stage.requests()[1]);
    assert!(denied.matches("`ship`").count() >= 2 && denied.contains("ability_run"), "{denied}");
    assert!(!stage.path("shipped.txt").exists());
}

#[test]
fn an_agent_that_will_not_go_on_ends_as_failed_and_its_run_is_still_there() {
    let stage = Stage::new(
        &[("look", &small("strict"))],
        std::iter::once(Turn::call(call("ability_run", json!({ "ability": "look" }))))
            .chain((0..20).map(|_| Turn::text("done")))
            .collect(),
    );
    let output = stage.output(&["agent", "run", "default", "look"]);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "{talk}");
    assert_eq!(stage.requests().len(), 6, "it is held four times: {talk}");
    assert!(talk.contains("stopped 5 times although the run is not done"), "{talk}");
    let status = String::from_utf8_lossy(&stage.output(&["status", "--json"]).stdout).into_owned();
    assert!(status.contains("running") || status.contains("waiting"), "{status}");
}

#[test]
fn a_normal_run_warns_once_and_a_loose_one_lets_go() {
    for (level, requests) in [("normal", 3), ("loose", 2)] {
        let stage = Stage::new(
            &[("look", &small(level))],
            std::iter::once(Turn::call(call("ability_run", json!({ "ability": "look" }))))
                .chain((0..5).map(|_| Turn::text("done")))
                .collect(),
        );
        let output = stage.output(&["agent", "run", "default", "look"]);
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(8), "{level}: {talk}");
        assert_eq!(stage.requests().len(), requests, "{level}: {talk}");
    }
}

#[test]
fn a_chat_that_is_killed_in_a_step_goes_on_with_it_and_holds_the_agent_as_before() {
    let stage = Stage::new(
        &[("ship", SHIP)],
        vec![
            Turn::call(call("ability_run", json!({ "ability": "ship" }))),
            Turn::text("half of what it would say").with(Fault::Stalled),
            // After the kill: the turn that was interrupted goes on.
            Turn::calls([shell("touch evil"), call("ability_run", json!({ "ability": "ship" }))]),
            write_notes(),
            submit("review", "it is good"),
            Turn::text("A human is next."),
            Turn::text("Still."),
        ],
    );
    let mut chat = stage.abide(&["agent", "run", "default", "go"]).spawn().unwrap();
    stage.until("the step is handed out", || stage.requests().len() == 2);
    chat.kill().unwrap();
    chat.wait().unwrap();
    let output = stage.output(&["chat", "--resume", "--message", "and now?"]);
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(8), "{talk}");
    let requests = stage.requests();
    assert!(told(&requests[3]).contains("not part of step `review`"), "{}", told(&requests[3]));
    assert!(
        told(&requests[3]).contains("one at a time is the rule"),
        "no second run: {}",
        told(&requests[3])
    );
    assert!(!stage.path("evil").exists());
    assert_eq!(stage.read("built.txt"), "built v7\n", "no step was run twice");
    let last = told(requests.last().unwrap());
    assert!(
        last.contains("and now?") && last.contains("Current step: `approve`"),
        "the step is told: {last}"
    );
    let other = stage.output(&["agent", "run", "default", "another conversation is free"]);
    assert_eq!(other.status.code(), Some(0), "{}", String::from_utf8_lossy(&other.stderr));
}

#[test]
fn an_agent_sees_and_runs_only_its_own_abilities_and_one_without_any_has_no_tools_for_them() {
    let other = "description: Not yours\nexclusive_agent: admin\nsteps: [{ id: a, run: 'touch evil' }]\n";
    let stage = Stage::new(
        &[("secret", other), ("look", &small("strict"))],
        vec![
            Turn::calls([
                call("ability_list", json!({})),
                call("ability_run", json!({ "ability": "secret" })),
            ]),
            Turn::text("I may not."),
            Turn::text("Nothing."),
        ],
    );
    stage.write(".abide/agents/admin.md", "---\ndescription: a\n---\nYou.\n");
    stage.write(".abide/agents/none.md", "---\nabilities: []\n---\nYou.\n");
    let output = stage.output(&["agent", "run", "default", "go"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let told = told(&stage.requests()[1]);
    assert!(told.contains("- look: Looks") && !told.contains("- secret"), "{told}");
    assert!(!stage.path("evil").exists());
    stage.output(&["agent", "run", "none", "go"]);
    let offered = tools(&stage.requests()[2]);
    assert!(!offered.iter().any(|tool| tool.starts_with("ability_")), "{offered:?}");
}

#[test]
fn commands_about_the_run_are_a_humans_and_not_a_pipes() {
    let stage = Stage::new(
        &[("look", &small("normal"))],
        vec![Turn::call(call("ability_run", json!({ "ability": "look" }))), Turn::text("a"), Turn::text("b")],
    );
    let output = stage.piped(&["chat"], "look\n/cancel\n/answer approve\n");
    let talk = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(talk.matches("takes a human at a terminal").count(), 2, "{talk}");
    let status = String::from_utf8_lossy(&stage.output(&["status", "--json"]).stdout).into_owned();
    assert!(!status.contains("cancelled"), "{status}");
}
