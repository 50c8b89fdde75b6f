//! `abide skill run`: a skill as an agent of its own.

use super::{Project, read, told, tools};
use abide_testkit::model::{ToolCall, Turn};
use serde_json::json;

#[test]
fn a_skill_is_done_with_the_tools_of_an_agent_within_its_turns() {
    let project = Project::new(vec![read("facts.txt"), Turn::text("the answer is 42")]);
    project.write("facts.txt", "the fact is 42\n").skill("find", "max_turns: 2\n", "Find $1 in facts.txt.");
    let said = project.output(&["skill", "run", "find", "the number"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), "the answer is 42\n"), "{said:?}");
    let requests = project.requests();
    let first = told(&requests[0]);
    assert!(first.contains("Find the number in facts.txt."), "{first}");
    assert!(
        first.contains("Base directory for this skill: ") && first.contains("You have 2 answers"),
        "{first}"
    );
    assert!(told(&requests[1]).contains("the fact is 42"));
    let offered = tools(&requests[0]);
    assert!(offered.contains(&"read") && offered.contains(&"bash"), "{offered:?}");
    assert!(!offered.contains(&"skills__find"), "a skill does not call itself: {offered:?}");
}

#[test]
fn the_last_turn_must_answer_and_nothing_that_it_calls_is_done() {
    let write = || Turn::call(ToolCall::new("read", json!({ "path": ".abide/config.yaml" })));
    let project = Project::new(vec![read("a"), write(), Turn::text("too late")]);
    project.skill("slow", "max_turns: 2\n", "Take your time.");
    let said = project.output(&["skill", "run", "slow"]);
    assert_ne!(said.code, Some(0), "{said:?}");
    assert!(
        said.err.contains("there were 2 turns, and the last one ended without a final answer"),
        "{said:?}"
    );
    assert_eq!(project.requests().len(), 2);
}

#[test]
fn without_turns_a_skill_is_one_answer_without_tools() {
    let project = Project::new(vec![Turn::text("short")]);
    project.skill("tldr", "", "Shorten: $ARGUMENTS");
    let said = project.output(&["skill", "run", "tldr", "a long text", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(
        (&shown["text"], &shown["problem"], &shown["turns"]),
        (&json!("short"), &json!(null), &json!(1))
    );
    let requests = project.requests();
    assert_eq!(tools(&requests[0]), Vec::<&str>::new());
    assert!(told(&requests[0]).contains("Shorten: a long text"));
}

#[test]
fn what_cannot_be_run_says_why_and_asks_no_model() {
    let project = Project::new(Vec::new());
    project.skill("needy", "requires: { bin: no-such-program }\n", "x").skill(
        "hidden",
        "user-invocable: false\n",
        "x",
    );
    for (name, why) in [
        ("needy", "the program `no-such-program` is not there"),
        ("hidden", "only agents call it"),
        ("neddy", "not found"),
    ] {
        let said = project.output(&["skill", "run", name]);
        assert_ne!(said.code, Some(0));
        assert!(said.err.contains(why), "{said:?}");
    }
    assert_eq!(project.requests().len(), 0);
}

#[test]
fn commands_of_a_skill_run_when_it_is_trusted_and_files_are_read_then() {
    let project = Project::new(vec![Turn::text("one"), Turn::text("two")]);
    project.write(".env", "TOKEN=1\n").skill("x", "", "Now: !`touch ran; echo output` and @.env");
    let said = project.output(&["skill", "run", "x"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(!project.has("ran"));
    assert!(
        said.err.contains("came with the project") && said.err.contains("@.env was not read"),
        "{said:?}"
    );
    assert_eq!(project.output(&["skill", "trust", "x"]).code, Some(0));
    project.output(&["skill", "run", "x"]);
    assert!(project.has("ran"));
    let requests = project.requests();
    assert!(!told(&requests[0]).contains("TOKEN=1") && told(&requests[1]).contains("TOKEN=1"));
    assert!(told(&requests[1]).contains("Now: output and @.env"), "{}", told(&requests[1]));
}
