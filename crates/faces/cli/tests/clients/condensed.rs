//! A conversation that is condensed in the middle of a run stays held to the step.

use crate::play::run_in;
use crate::seat::Seat;
use crate::stage::Stage;
use abide_testkit::model::{ModelServer, Script, Turn};
use serde_json::json;

/// More than any of the clients keeps of a conversation.
const LONG: usize = 6_000_000;

async fn a_condensed_conversation_is_held_to_the_step(client: impl Seat) {
    let stage = Stage::new(client);
    let own = |tool: &str, arguments| stage.client.tool("abide", tool, arguments);
    let mut submit = own("ability_submit", json!({"step": "review", "output": "All is well."}));
    let mut calls = vec![
        own("ability_run", json!({"ability": "deploy"})),
        stage.client.write(&stage.path("review.txt"), "x\n"),
        stage.client.shell("touch else"),
        // While Codex condenses, the first was seen to vanish: neither answered nor carried out.
        stage.client.shell("touch else"),
    ];
    let (mut run, mut long, mut submitted) = (String::new(), false, false);
    let script = Script::function(move |request| {
        if run.is_empty() {
            run = run_in(request);
        }
        if run.is_empty() {
            return Turn::call(calls.remove(0));
        }
        if !std::mem::replace(&mut long, true) {
            return Turn::text("word ".repeat(LONG / 5));
        }
        // Claude Code asks with its tools on offer, and wants none of them.
        if request.tells("create a detailed summary") {
            return Turn::text("<summary>the story so far</summary>");
        }
        if let Some(call) = calls.pop() {
            return Turn::call(call);
        }
        if std::mem::replace(&mut submitted, true) {
            return Turn::text("that is all");
        }
        submit.arguments["run"] = json!(run);
        Turn::call(submit.clone())
    });
    let server = ModelServer::start(script).unwrap();
    let outcome = stage.run(stage.launch("deploy it", &server)).await;
    let turns = server.turns();
    let sizes: Vec<(usize, bool)> = turns
        .iter()
        .map(|turn| {
            (
                turn.messages.iter().map(|message| message.text.len()).sum(),
                turn.tells("Current step: `review`"),
            )
        })
        .collect();
    let (size, _) = sizes[sizes.len() - 1];
    assert!(size < LONG / 2, "it was condensed: {sizes:?} {}", outcome.stderr);
    // Nothing else tells it: the run began after the only prompt.
    let told = sizes.iter().any(|(_, told)| *told);
    assert!(told, "the model is told the step again: {sizes:?} {}", outcome.stderr);
    let results: Vec<&str> =
        turns.iter().flat_map(|turn| turn.new_results()).map(|result| result.text.as_str()).collect();
    let held = results.iter().any(|text| text.contains("is not part of step `review`"));
    assert!(held, "its tools stay held: {results:#?}");
    assert_eq!(stage.read("else"), None);
    assert_eq!(stage.read("review.txt").as_deref().map(str::trim), Some("x"));
    let status = String::from_utf8(stage.abide(&["runs", "--json"]).stdout).unwrap();
    assert!(status.contains("\"waiting\""), "{status}");
}

crate::in_each_client! { a_condensed_conversation_is_held_to_the_step }
