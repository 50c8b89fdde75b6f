//! `skills__<name>`: a skill that an agent runs is never more than the agent.

use super::{Project, read, run, told, tools};
use abide_testkit::model::{ToolCall, Turn};
use serde_json::json;

const WRITER: &str =
    "---\nname: writer\ndescription: Writes\ntools: Read, skills__notes, skills__other\n---\nYou write.\n";

#[test]
fn an_agent_runs_a_skill_and_is_told_its_result() {
    let project = Project::new(vec![
        run("notes", "1.4"),
        read("log.txt"),
        Turn::text("NOTES of 1.4"),
        Turn::text("it is done"),
    ]);
    project
        .write("log.txt", "fix: a typo\n")
        .skill("notes", "max_turns: 2\n", "Write the notes of $1.")
        .skill("other", "tool: true\n", "Other.")
        .skill("plain", "", "Only instructions.");
    let said = project.output(&["chat", "--message", "write the notes"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), "it is done\n"), "{said:?}");
    let requests = project.requests();
    assert!(tools(&requests[0]).contains(&"skills__notes") && tools(&requests[0]).contains(&"skills__other"));
    assert!(!tools(&requests[0]).contains(&"skills__plain"), "it does not say that it wants to be run");
    let within = tools(&requests[1]);
    assert!(!within.contains(&"skills__notes") && within.contains(&"skills__other"), "{within:?}");
    assert!(told(&requests[1]).contains("Write the notes of 1.4."));
    assert!(!told(&requests[1]).contains("write the notes\n"), "a conversation of its own");
    assert!(told(&requests[3]).contains("NOTES of 1.4"));
    // What people go on with is their own conversation.
    let resumed = project.output(&["chat", "--resume", "--message", "x"]);
    assert!(resumed.err.contains("session "), "{resumed:?}");
    assert!(told(&project.requests()[4]).contains("write the notes"));
}

#[test]
fn a_skill_has_no_tool_that_its_caller_lacks() {
    let evil = || Turn::call(ToolCall::new("bash", json!({ "command": "touch evil" })));
    let project = Project::new(vec![
        run("notes", ""),
        evil(),
        Turn::text("could not"),
        run("other", ""),
        evil(),
        Turn::text("could not either"),
        Turn::text("done"),
    ]);
    project
        .write(".abide/agents/writer.md", WRITER)
        .skill("notes", "max_turns: 3\nallowed-tools: Bash, Read\n", "!`touch evil` Touch a file.")
        .skill("other", "max_turns: 3\nallowed-tools: Grep\n", "Touch a file.");
    assert_eq!(project.output(&["skill", "trust", "notes"]).code, Some(0));
    let said = project.output(&["chat", "writer", "--message", "go"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(!project.has("evil"), "not even by a command of a trusted skill: {said:?}");
    let requests = project.requests();
    assert_eq!(tools(&requests[0]), ["read", "skills__notes", "skills__other"]);
    assert_eq!(tools(&requests[1]), ["read"]);
    assert!(told(&requests[1]).contains("has no tool that runs commands"), "{}", told(&requests[1]));
    assert_eq!(tools(&requests[4]), Vec::<&str>::new(), "its own tools narrow what its caller has");
}

#[test]
fn skills_that_run_each_other_come_to_an_end() {
    let project = Project::new(vec![
        run("a", "1"),
        run("b", "2"),
        run("a", "3"),
        run("b", "4"),
        run("a", "5"),
        Turn::text("deepest"),
        Turn::text("four"),
        Turn::text("three"),
        Turn::text("two"),
        Turn::text("one"),
    ]);
    project.skill("a", "max_turns: 2\n", "Call b.").skill("b", "max_turns: 2\n", "Call a.");
    let said = project.output(&["chat", "--message", "go"]);
    assert_eq!((said.code, said.out.as_str()), (Some(0), "one\n"), "{said:?}");
    let requests = project.requests();
    assert_eq!(requests.len(), 10);
    assert!(told(&requests[5]).contains("levels deep, and no deeper"), "{}", told(&requests[5]));
    assert!(told(&requests[9]).contains("two"));
}

#[test]
fn the_third_same_call_is_denied_whoever_makes_it() {
    let project = Project::new(vec![
        run("a", "same"),
        run("b", "x"),
        run("a", "same"),
        run("b", "x"),
        run("a", "same"),
        Turn::text("5"),
        Turn::text("4"),
        Turn::text("3"),
        Turn::text("2"),
        Turn::text("1"),
    ]);
    project.skill("a", "max_turns: 2\n", "Call b.").skill("b", "max_turns: 2\n", "Call a.");
    project.output(&["chat", "--message", "go"]);
    let fifth = told(&project.requests()[5]);
    assert!(fifth.contains("a third time brings nothing new"), "{fifth}");
}

#[test]
fn rules_for_skills_hold_for_their_tools_too() {
    let project = Project::new(vec![
        Turn::calls([
            ToolCall::new("skills__deploy-eu", json!({})),
            ToolCall::new("skills__deploy-us", json!({})),
            ToolCall::new("skill", json!({ "name": "deploy-us" })),
        ]),
        Turn::text("done"),
    ]);
    for name in ["deploy-eu", "deploy-us", "docs"] {
        project.skill(name, "max_turns: 2\n", "Deploy.");
    }
    project.write(
        ".abide/agents/writer.md",
        "---\npermission:\n  skill:\n    'deploy-*': deny\n    deploy-eu: ask\n---\nYou write.\n",
    );
    let said = project.output(&["chat", "writer", "--message", "go"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let requests = project.requests();
    let offered = tools(&requests[0]);
    assert!(offered.contains(&"skills__deploy-eu") && offered.contains(&"skills__docs"), "{offered:?}");
    assert!(!offered.contains(&"skills__deploy-us"), "{offered:?}");
    let last = told(&requests[1]);
    assert!(last.contains("there is nobody here who could be asked"), "{last}");
    assert!(last.contains("there is no tool `skills__deploy-us`"), "{last}");
    assert!(
        last.contains("`skill` is not allowed here: rule `skill (deploy-*): deny` of the agent"),
        "{last}"
    );
}

#[test]
fn a_protected_command_is_not_run_through_a_skill() {
    let project = Project::new(vec![run("ship", ""), Turn::text("not run"), Turn::text("done")]);
    project
        .write(
            ".abide/abilities/deploy.yaml",
            "description: Deploys\nprotects: ['Bash(./deploy.sh *)']\nsteps:\n  - { id: go, run: ./deploy.sh now }\n",
        )
        .write("deploy.sh", "#!/bin/sh\ntouch deployed\n")
        .skill("ship", "max_turns: 2\n", "Ship: !`sh ./deploy.sh now`");
    assert_eq!(project.output(&["skill", "trust", "ship"]).code, Some(0));
    let said = project.output(&["chat", "--message", "ship it"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(!project.has("deployed"));
    let within = told(&project.requests()[1]);
    assert!(within.contains("not run: whoever calls the skill may not run it now"), "{within}");
}
