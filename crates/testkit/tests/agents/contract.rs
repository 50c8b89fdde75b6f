//! The scripted runner keeps the contract that every runner keeps.

use abide_testkit::runner::contract::{ANSWER, Behaviour, check};
use abide_testkit::runner::{Scripted, ScriptedRunner};
use std::sync::Arc;

#[tokio::test]
async fn the_scripted_runner_keeps_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let subject = |behaviour: Behaviour| {
        let scripted = match behaviour {
            Behaviour::Answers => {
                Scripted { says: Some("hm".into()), answer: ANSWER.into(), ..Scripted::default() }
            }
            Behaviour::Waits => Scripted { waits: true, ..Scripted::default() },
        };
        Arc::new(ScriptedRunner::new(vec![("work".to_owned(), vec![scripted])])) as _
    };
    check(&subject, folder.path()).await;
}
