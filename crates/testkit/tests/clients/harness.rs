//! The launchers keep their own promises: bounded runs, and a plain word when a client is not there.

use crate::project::Project;
use abide_engine::port::Ending;
use abide_testkit::client::{ClaudeCode, Client as _, Installed, Launch};
use abide_testkit::model::{Fault, ModelServer, Turn};
use std::time::{Duration, Instant};

mod real_clients {
    use super::*;

    fn claude() -> ClaudeCode {
        ClaudeCode::new(&Installed::find().unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_client_that_takes_too_long_is_ended_with_all_that_it_started() {
        let client = claude();
        let call = client.shell("echo $$ > pid; sleep 300");
        let (project, server) = (Project::new(), ModelServer::start(vec![Turn::call(call)]).unwrap());
        let started = Instant::now();
        let launch = Launch::new(project.root(), "wait", &server).longest(Duration::from_secs(12));
        let outcome = client.run(launch).await.unwrap();
        assert_eq!(outcome.ending, Ending::TimedOut, "{outcome:#?}");
        assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
        let pid = project.read("pid").expect("the command had begun");
        assert!(!std::path::Path::new("/proc").join(pid.trim()).exists(), "{pid} is still there");
    }

    #[tokio::test]
    async fn a_client_tries_again_when_the_model_has_too_much_to_do() {
        let turns = vec![Turn::fault(Fault::TooManyRequests(Some(0))), Turn::text("at last")];
        let (project, server) = (Project::new(), ModelServer::start(turns).unwrap());
        let outcome = claude().run(Launch::new(project.root(), "try", &server)).await.unwrap();
        assert_eq!(outcome.answer.as_deref(), Some("at last"), "{outcome:#?}");
        assert_eq!(server.surprises(), [""; 0]);
    }
}

#[test]
fn a_client_that_is_not_there_is_named_with_what_to_do() {
    let empty = tempfile::tempdir().unwrap();
    let installed = Installed::at(empty.path()).unwrap();
    let error = ClaudeCode::new(&installed).unwrap_err().to_string();
    assert!(error.contains("node_modules/.bin/claude does not exist: `./test tools` installs"), "{error}");
}
