//! What an agent may use, and what is kept of what it said.

use super::{small, submit};
use crate::stage::{Stage, call};
use abide_testkit::model::{Tokens, Turn};
use serde_json::json;

fn looks(count: usize) -> Vec<Turn> {
    (0..count)
        .map(|number| {
            let path = format!("{number}.txt");
            Turn::call(call("read", json!({ "path": path }))).using(Tokens {
                input: 900,
                output: 100,
                ..Tokens::default()
            })
        })
        .collect()
}

#[test]
fn what_a_budget_limits_ends_the_turn_and_the_smallest_of_several_holds() {
    let price = "providers:\n  openai: { models: { scripted: { price: { input: 1000, output: 1000 } } } }\n";
    for (user, project, profile, asked, why) in [
        ("turns: 3", "turns: 50", "", 3, "there were 3 turns"),
        ("turns: 50", "turns: 3", "", 3, "there were 3 turns"),
        ("turns: 50", "", "turns: 2", 2, "there were 2 turns"),
        ("turns: 1", "", "turns: 9", 1, "there was 1 turn"),
        ("", "tokens: 2500", "", 3, "the budget of 2500 tokens is used up"),
        ("cost: 1.5", "cost: 90", "", 2, "the budget of $1.5000 is used up"),
        ("", "time: 1ms", "", 1, "the time is over"),
    ] {
        let stage = Stage::new(&[], looks(20));
        stage.write(".config/abide/config.yaml", format!("budget: {{ {user} }}\n{price}"));
        stage.write(".abide/config.yaml", format!("model: openai/scripted\nbudget: {{ {project} }}\n"));
        let rules = format!("---\nbudget: {{ {profile} }}\n---\nYou look.\n");
        stage.write(".abide/agents/default.md", &rules);
        let output = stage.output(&["agent", "run", "default", "look"]);
        let talk = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(5), "{user} {project} {profile}: {talk}");
        assert!(talk.contains(why), "{user} {project} {profile}: {talk}");
        assert!(stage.requests().len() <= asked, "{user} {project} {profile}: {talk}");
        if why != "the time is over" {
            assert_eq!(stage.requests().len(), asked, "{user} {project} {profile}: {talk}");
        }
    }
}

#[test]
fn old_sessions_are_forgotten_with_their_files_and_what_a_run_needs_stays() {
    let note = |number: usize| {
        Turn::call(call("write_file", json!({ "path": "/n.md", "content": format!("note {number}") })))
    };
    let run = || Turn::call(call("ability_run", json!({ "ability": "look" })));
    let mut turns = vec![run(), Turn::text("warned"), Turn::text("bound")];
    for number in 0..3 {
        turns.extend([note(number), Turn::text("noted")]);
    }
    turns.extend([submit("look", "seen"), Turn::text("over"), note(9), Turn::text("noted")]);
    let stage = Stage::new(&[("look", &small("normal"))], turns);
    stage.write(".abide/agents/noter.md", "---\ncapabilities: [session_file_system]\n---\nYou note.\n");
    stage.write(".abide/config.yaml", "model: openai/scripted\nsessions: { keep: 1 }\n");
    let sessions = || {
        let query = "SELECT stream FROM streams ORDER BY stream";
        stage.rows(".abide/state/sessions.db", query)
    };
    let files = || stage.rows(".abide/state/files.db", "SELECT DISTINCT session FROM session_files");
    let bound = stage.session_of(&stage.output(&["agent", "run", "default", "look"]));
    let mut last = String::new();
    for _ in 0..3 {
        last = stage.session_of(&stage.output(&["agent", "run", "noter", "note"]));
    }
    assert_eq!(sessions(), [bound.clone(), last.clone()], "the one that has a run, and the last one");
    assert_eq!(files(), [last]);
    // When the run is over, nothing holds its conversation any more.
    let output = stage.output(&["chat", "--resume", &bound, "--message", "go on"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let last = stage.session_of(&stage.output(&["agent", "run", "noter", "note"]));
    assert_eq!(sessions(), [last]);
}
