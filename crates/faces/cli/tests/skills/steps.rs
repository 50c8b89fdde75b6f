//! Steps that run a skill.

use super::{Project, told, tools};
use abide_testkit::model::{ToolCall, Turn};
use serde_json::json;

const NOTES: &str = r"
description: Writes the notes of a release
inputs: { version: { type: string, required: true } }
steps:
  - { id: changes, run: 'echo fix a typo' }
  - id: notes
    skill: notes
    inputs: { version: '{{inputs.version}}', tone: dry }
    needs: [changes]
    on_failure: retry
    max_retries: 1
    retry_delay: 0s
    validation: { file_exists: notes.md }
  - { id: show, run: 'cat notes.md; echo {{steps.notes.output}}', needs: [notes] }
";

fn write() -> Turn {
    Turn::call(ToolCall::new("write", json!({ "path": "notes.md", "content": "# 1.4\n" })))
}

#[test]
fn a_skill_step_is_done_when_its_evidence_is_there() {
    let over = |path: &str| ToolCall::new("write", json!({ "path": path, "content": "x" }));
    let project = Project::new(vec![
        Turn::calls([over(".abide/skills.lock"), over(".abide/skills/notes/SKILL.md")]),
        Turn::text("done"),
        write(),
        Turn::text("now it is there"),
    ]);
    project.write(".abide/abilities/notes.yaml", NOTES).skill(
        "notes",
        "max_turns: 2\n",
        "Write the notes of version $1 to notes.md, in a $2 tone.\n!`echo x >> ran`",
    );
    assert_eq!(project.output(&["skill", "trust", "notes"]).code, Some(0));
    let said = project.output(&["run", "notes", "-i", "version=1.4"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let requests = project.requests();
    let first = told(&requests[0]);
    assert!(first.contains("Write the notes of version 1.4 to notes.md, in a dry tone."), "{first}");
    assert!(first.contains("- version: 1.4\n- tone: dry"), "{first}");
    assert!(first.contains("fix a typo"), "what the step needs comes first: {first}");
    assert!(tools(&requests[0]).contains(&"write") && !tools(&requests[0]).contains(&"skills__notes"));
    let denied = told(&requests[1]);
    assert!(denied.contains("abide's own state") && denied.contains("a skill of the project"), "{denied}");
    assert!(!project.has(".abide/skills.lock"));
    let second = told(&requests[2]);
    assert!(second.contains("notes.md") && second.contains("looked for and not found"), "{second}");
    assert_eq!(requests.len(), 4, "each attempt has its turns");
    let ran = std::fs::read_to_string(project.path().join("ran")).unwrap();
    assert_eq!(ran, "x\n", "what is known already is not filled in again");
}

#[test]
fn a_skill_step_that_does_not_come_to_an_end_fails_the_run() {
    let project = Project::new(vec![write(), write()]);
    let once = NOTES.replace("    on_failure: retry\n    max_retries: 1\n    retry_delay: 0s\n", "");
    project.write(".abide/abilities/notes.yaml", &once).skill("notes", "max_turns: 2\n", "Write notes.");
    let said = project.output(&["run", "notes", "-i", "version=1.4"]);
    assert_ne!(said.code, Some(0));
    let talk = said.out + &said.err;
    assert!(talk.contains("there were 2 turns"), "{talk}");
}

#[test]
fn a_skill_that_cannot_be_used_fails_its_step_with_the_reason() {
    let project = Project::new(Vec::new());
    project.write(".abide/abilities/notes.yaml", NOTES).skill(
        "notes",
        "requires: { env: NOTES_TOKEN }\n",
        "Write notes.",
    );
    let said = project.output(&["run", "notes", "-i", "version=1.4"]);
    assert_ne!(said.code, Some(0));
    let talk = said.out + &said.err;
    assert!(talk.contains("the environment variable `NOTES_TOKEN` is not there"), "{talk}");
}

#[test]
fn a_step_with_an_ordinary_skill_has_the_turns_and_the_tools_of_its_agent() {
    let project = Project::new(vec![write(), Turn::text("done")]);
    let once = NOTES.replace("    on_failure: retry\n    max_retries: 1\n    retry_delay: 0s\n", "");
    project.write(".abide/abilities/notes.yaml", &once).skill("notes", "", "Write notes.");
    let said = project.output(&["run", "notes", "-i", "version=1.4"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let requests = project.requests();
    assert!(tools(&requests[0]).contains(&"write") && tools(&requests[0]).contains(&"bash"));
    assert!(!told(&requests[0]).contains("You have"), "nothing is said of turns that nobody set");
}

#[test]
fn what_a_skill_says_it_uses_is_all_that_its_step_grants() {
    let over = ToolCall::new("write", json!({ "path": "other.md", "content": "x" }));
    let shell = ToolCall::new("bash", json!({ "command": "touch owned" }));
    let project = Project::new(vec![Turn::calls([over, shell]), write(), Turn::text("done")]);
    let once = NOTES.replace("    on_failure: retry\n    max_retries: 1\n    retry_delay: 0s\n", "");
    // Commands of a skill are held to that, too.
    project.write(".abide/abilities/notes.yaml", &once).skill(
        "notes",
        "allowed-tools: Read, Write(notes.md)\n",
        "Write notes. !`touch ran`",
    );
    assert_eq!(project.output(&["skill", "trust", "notes"]).code, Some(0));
    let said = project.output(&["run", "notes", "-i", "version=1.4"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let requests = project.requests();
    assert_eq!(tools(&requests[0]), ["read", "write", "edit"]);
    assert!(told(&requests[0]).contains("has no tool that runs commands"), "{}", told(&requests[0]));
    assert!(project.has("notes.md"));
    for denied in ["other.md", "owned", "ran"] {
        assert!(!project.has(denied), "{denied}");
    }
}
