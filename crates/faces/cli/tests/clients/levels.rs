//! The levels below strict, as a real client feels them: what is let through, what is told, and what still holds.

use crate::play::Beat;
use crate::runs::{NOT_DONE, NOT_IN_STEP, WAITS, begin, shell, submit, write};
use crate::seat::Seat;
use crate::stage::{ABILITY, Stage};
use serde_json::json;

const STOPPED: &[&str] = &["cancelled"];

async fn normal_lets_look_and_holds_the_rest(client: impl Seat) {
    let stage = Stage::at_level(client, "normal");
    let before = stage.read(ABILITY);
    let cancel = stage.client.tool("abide", "ability_cancel", json!({}));
    let beats = vec![
        begin(&stage),
        shell(&stage, "look at what the step does not name", "ls src; echo and looked", &["and looked"]),
        shell(&stage, "change something", "touch else", NOT_IN_STEP),
        shell(&stage, "deploy", "./deploy.sh now", NOT_IN_STEP),
        shell(&stage, "approve", "abide approve RUN", NOT_IN_STEP),
        write(&stage, "write the ability", ABILITY, NOT_IN_STEP),
        // Nobody is there who could be asked, and nobody is no yes.
        Beat::call("cancel", cancel, &["is a human's right", "permission", "Permission"]),
        Beat::stop("I am done", NOT_DONE),
    ];
    let (run, outcome) = stage.plays("deploy it", beats).await;
    // Once is enough: the second time it may stop, and the run waits for it.
    let status = String::from_utf8(stage.abide(&["status", &run, "--json"]).stdout).unwrap();
    assert!(!status.contains("\"cancelled\""), "{status}");
    let beats = vec![
        shell(&stage, "change something", "touch else", NOT_IN_STEP),
        write(&stage, "do the step", "review.txt", &["uccess"]),
        submit(&stage, "hand it in", WAITS),
    ];
    stage.plays_on(outcome.session.as_deref().unwrap(), &run, "go on", beats).await;
    stage.abide(&["approve", &run]);
    stage.abide(&["resume", &run]);
    assert_eq!((stage.read("else"), stage.deployed()), (None, vec!["./deploy.sh shipped".to_owned()]));
    assert_eq!(stage.read(ABILITY), before);
}

async fn loose_tells_what_is_off_and_keeps_the_definitions(client: impl Seat) {
    let stage = Stage::at_level(client, "loose");
    let before = stage.read(ABILITY);
    let cancel = stage.client.tool("abide", "ability_cancel", json!({}));
    let beats = vec![
        begin(&stage),
        shell(&stage, "do something else", "touch else; echo did it", &["did it"]),
        shell(&stage, "approve", "abide approve RUN", &["human"]),
        write(&stage, "write the ability", ABILITY, &["definition"]),
        Beat::call("cancel", cancel, STOPPED),
    ];
    let (run, _) = stage.plays("deploy it", beats).await;
    let audit = String::from_utf8(stage.abide(&["audit", "show", &run]).stdout).unwrap();
    assert!(audit.contains("warned"), "what is off is in the log: {audit}");
    assert!(stage.path("else").exists(), "it was only told");
    assert_eq!((stage.read(ABILITY), stage.deployed().len()), (before, 0));
}

crate::in_each_client! {
    normal_lets_look_and_holds_the_rest
    loose_tells_what_is_off_and_keeps_the_definitions
}
