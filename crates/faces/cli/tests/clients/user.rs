//! abide put into a client for all of a user's projects: the gate holds in one that has nothing of the client's own.

use crate::attempt::Attempt;
use crate::play::Beat;
use crate::runs::{NOT_DONE, NOT_IN_STEP, WAITS, begin, shell, submit, write};
use crate::seat::Seat;
use crate::stage::Stage;
use abide_testkit::model::{ModelServer, Turn};
use serde_json::json;

async fn installed_for_the_user_it_holds_in_every_project<C: Seat>(client: C) {
    let stage = Stage::bare(client);
    stage.abide(&["install", C::NAME, "--user", "--yes"]);
    assert!(!stage.path(C::HOOKS).exists(), "the project has nothing of it");
    let reserved: &[&str] = &["reserved for runs of the ability `deploy`"];
    let deploy = Attempt::new("deploy", stage.client.shell("./deploy.sh now"), reserved);
    stage.tries(&[deploy]).await;
    let status = stage.client.tool("abide", "ability_status", json!({}));
    let human = stage.command("abide", &["approve"]);
    let beats = vec![
        begin(&stage),
        shell(&stage, "do something else", "touch else", NOT_IN_STEP),
        Beat::stop("I am done", NOT_DONE),
        write(&stage, "do the step", "review.txt", &["uccess"]),
        submit(&stage, "hand it in", WAITS),
        Beat::call("look", status, &["completed"]).after(human, &["RUN"]),
    ];
    stage.plays("deploy it", beats).await;
    assert_eq!((stage.read("else"), stage.deployed()), (None, vec!["./deploy.sh shipped".to_owned()]));

    // Taken out again, the client is as it was.
    stage.abide(&["uninstall", C::NAME, "--user"]);
    let server =
        ModelServer::start(vec![Turn::call(stage.client.shell("./deploy.sh by hand")), Turn::text("done")])
            .unwrap();
    stage.run(stage.launch("deploy it", &server)).await;
    assert_eq!(stage.deployed(), ["./deploy.sh shipped", "./deploy.sh by hand"]);
}

crate::in_each_client! {
    installed_for_the_user_it_holds_in_every_project
}
