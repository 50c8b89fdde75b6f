//! `/name arguments` in a conversation.

use super::{Project, read, told, tools};
use abide_testkit::model::Turn;

#[test]
fn a_skill_is_called_by_its_name_in_the_conversation() {
    let project =
        Project::new(vec![read("facts.txt"), Turn::text("found"), Turn::text("you asked for the number")]);
    project
        .write("facts.txt", "42\n")
        .skill("find", "max_turns: 2\nallowed-tools: Read\n", "Find $1.")
        .skill("needy", "requires: { bin: no-such-program }\n", "x")
        .skill("agents-only", "user-invocable: false\n", "x");
    let said =
        project.chat(&["chat"], "/help\n/find 'the number'\n/needy\n/fi\n/nonsense\nwhat did I ask for?\n");
    assert_eq!((said.code, said.out.as_str()), (Some(0), "found\nyou asked for the number\n"), "{said:?}");
    let help = said.err.split("/find").count();
    assert_eq!(help, 3, "in the help, and for an unfinished name: {}", said.err);
    assert!(!said.err.contains("/needy") && !said.err.contains("/agents-only"), "{}", said.err);
    assert!(
        said.err.contains("no-such-program") && said.err.contains("no command `/nonsense`"),
        "{}",
        said.err
    );
    let requests = project.requests();
    assert!(told(&requests[0]).contains("Find the number."));
    assert_eq!(tools(&requests[0]), ["read"], "the turn is the skill's");
    assert!(told(&requests[2]).contains("Find the number."), "the conversation knows it");
    assert!(tools(&requests[2]).contains(&"skills__find") && tools(&requests[2]).contains(&"bash"));
}

#[test]
fn a_skill_that_is_added_is_there_without_a_restart() {
    use std::io::Write as _;
    use std::process::Stdio;
    let project = Project::new(vec![Turn::text("one"), Turn::text("two")]);
    let mut child = project.abide(&["chat"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut lines = child.stdin.take().unwrap();
    lines.write_all(b"hello\n").unwrap();
    while project.requests().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    project.skill("fresh", "max_turns: 2\n", "Fresh.");
    // The watcher gathers what comes at once.
    std::thread::sleep(std::time::Duration::from_secs(2));
    lines.write_all(b"and now?\n").unwrap();
    drop(lines);
    assert!(child.wait().unwrap().success());
    let requests = project.requests();
    assert!(!tools(&requests[0]).contains(&"skills__fresh"));
    assert!(tools(&requests[1]).contains(&"skills__fresh") && tools(&requests[1]).contains(&"skill"));
}

#[test]
fn a_message_that_only_looks_like_a_call_is_a_message() {
    let project = Project::new(vec![Turn::text("yes"), Turn::text("short")]);
    project.skill("tldr", "max_turns: 1\n", "Shorten: $ARGUMENTS");
    assert_eq!(project.output(&["chat", "--message", "/etc/hosts is wrong"]).out, "yes\n");
    assert_eq!(project.output(&["chat", "--message", "/tldr a long text"]).out, "short\n");
    assert!(told(&project.requests()[1]).contains("Shorten: a long text"));
}

#[test]
fn the_commands_of_a_conversation_win_over_skills_of_their_names() {
    let project = Project::new(vec![Turn::text("told")]);
    project.skill("help", "", "Help with $ARGUMENTS.").skill("find", "", "Find.");
    let said = project.chat(&["chat"], "/help\n/help me\n");
    assert!(said.err.contains("`/help` is a command, and takes nothing more"), "{said:?}");
    assert!(said.err.contains("one line is one message") && said.err.contains("  /find"), "{said:?}");
    assert!(said.err.contains("(help is a command here; `abide skill run help` runs the skill)"), "{said:?}");
    assert_eq!(project.requests().len(), 0);
    project.output(&["chat", "--message", "/help me"]);
    assert!(told(&project.requests()[0]).contains("/help me"), "a message, and no skill");
    let validated = project.output(&["skill", "validate", "help"]);
    assert!(validated.out.contains("`/help` is a command of `abide chat`"), "{validated:?}");
    assert_eq!(project.output(&["skill", "validate", "find"]).code, Some(0));
}

#[test]
fn what_a_person_calls_is_their_choice_whatever_the_rules_let_the_agent_take_up() {
    let project = Project::new(vec![Turn::text("one"), Turn::text("two")]);
    project.skill("deploy", "", "Deploy $1.").write(
        ".abide/agents/writer.md",
        "---\npermission: { skill: { deploy: deny }, bash: deny }\n---\nYou write.\n",
    );
    let said = project.chat(&["chat", "writer"], "/deploy eu\n");
    assert_eq!((said.code, said.out.as_str()), (Some(0), "one\n"), "{said:?}");
    let said = project.output(&["skill", "run", "--agent", "writer", "deploy", "us"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let requests = project.requests();
    assert!(told(&requests[0]).contains("Deploy eu.") && told(&requests[1]).contains("Deploy us."));
    assert!(!requests[0].tools.iter().any(|tool| tool.name == "skill"), "the agent itself has no such skill");
}
