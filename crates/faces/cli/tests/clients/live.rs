//! `abide doctor --live`: the real client is started by abide itself, and what keeps it from asking is found, wherever it comes from.

use crate::seat::Seat;
use crate::stage::Stage;
use abide_testkit::model::{ModelServer, Script, Turn};
use serde_json::Value;

/// Makes a project with abide in its client, and returns the search path on which the client is.
fn stage<C: Seat>(client: C) -> (Stage<C>, String) {
    let stage = Stage::bare(client);
    // The model of the launcher is for other tests: nobody may ask it. The client is prepared, and then abide is put in.
    let unused = ModelServer::start(Script::function(|_| Turn::text("unused"))).unwrap();
    let environment = stage.client.environment(stage.root(), &unused).unwrap();
    let path = environment.into_iter().find(|(name, _)| name == "PATH").unwrap().1;
    let path = format!("{}:{path}", stage.home().join("bin").display());
    stage.install();
    (stage, path)
}

/// Returns what `doctor --live` found out by starting the client, and how it ended.
fn tried<C: Seat>(stage: &Stage<C>, path: &str, more: &[(&str, &str)]) -> (String, String, Option<i32>) {
    let mut command = stage.command("abide", &["doctor", "--live", "--json"]);
    command.env("PATH", path).env("LANG", "C.UTF-8").env("PWD", stage.root()).envs(more.iter().copied());
    let output = command.output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let text = |check: &Value, name: &str| check[name].as_str().unwrap().to_owned();
    let checks = document["checks"].as_array().unwrap().iter().filter(|check| check["check"] == C::NAME);
    let found: Vec<(String, String)> =
        checks.map(|check| (text(check, "result"), text(check, "found"))).collect();
    let live = ["was started", "did not ask abide", "does not hold in", "could not be", "is not here"];
    let one = found.iter().find(|(_, found)| live.iter().any(|words| found.contains(words)));
    let (result, said) = one.unwrap_or_else(|| panic!("{found:?}")).clone();
    (result, said, output.status.code())
}

async fn doctor_starts_the_client_and_sees_that_it_is_held<C: Seat>(client: C) {
    let (stage, path) = stage(client);
    let (result, found, _) = tried(&stage, &path, &[]);
    assert_eq!((result.as_str(), found.contains("its call was denied by abide")), ("ok", true), "{found}");
}

async fn doctor_sees_that_a_client_does_not_ask<C: Seat>(client: C) {
    let (stage, path) = stage(client);
    let variables = C::stop_asking(&stage);
    let (result, found, code) = tried(&stage, &path, &variables);
    assert_eq!((result.as_str(), code), ("failed", Some(1)), "{found}");
    let words = ["does not hold in", "did not ask abide"];
    assert!(words.iter().any(|words| found.contains(words)), "{found}");
}

crate::in_each_client! {
    doctor_starts_the_client_and_sees_that_it_is_held
    doctor_sees_that_a_client_does_not_ask
}
