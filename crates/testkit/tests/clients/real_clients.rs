//! What each launcher promises of its client: an answer, a tool, and a session that goes on.
//!
//! What the gate makes of a client is tested with abide itself in it, in `crates/faces/cli/tests/clients`.

use crate::project::Project;
use abide_testkit::client::{ClaudeCode, Client, Codex, Installed, Launch, OpenCode};
use abide_testkit::model::{ModelServer, Turn};

fn claude() -> ClaudeCode {
    ClaudeCode::new(&Installed::find().unwrap()).unwrap()
}

fn codex() -> Codex {
    Codex::new(&Installed::find().unwrap()).unwrap()
}

fn opencode() -> OpenCode {
    OpenCode::new(&Installed::find().unwrap()).unwrap()
}

async fn run(client: &impl Client, project: &Project, server: &ModelServer) -> Option<String> {
    let prompt = "make the file, please";
    let outcome = client.run(Launch::new(project.root(), prompt, server)).await.unwrap();
    assert!(outcome.succeeded(), "{outcome:#?}");
    assert_eq!(server.surprises(), [""; 0], "{outcome:#?}");
    assert!(outcome.session.is_some(), "{outcome:#?}");
    for request in server.turns() {
        assert!(request.tells(prompt), "{:#?}", request.messages);
        assert_eq!(request.session(), outcome.session.as_deref());
    }
    outcome.answer
}

async fn says_what_the_model_says(client: impl Client) {
    let (project, server) =
        (Project::new(), ModelServer::start(vec![Turn::text("it is done, in full")]).unwrap());
    assert_eq!(run(&client, &project, &server).await.as_deref(), Some("it is done, in full"));
}

async fn runs_a_tool_and_tells_its_result(client: impl Client) {
    let call = client.shell("echo hi > made.txt; echo made and seen");
    let server = ModelServer::start(vec![Turn::call(call), Turn::text("made")]).unwrap();
    let project = Project::new();
    assert_eq!(run(&client, &project, &server).await.as_deref(), Some("made"));
    assert_eq!(project.read("made.txt").as_deref(), Some("hi\n"));
    let told = &server.turns()[1];
    let results = told.new_results();
    assert!(results.len() == 1 && results[0].text.contains("made and seen"), "{results:?}");
}

async fn goes_on_with_a_session_after_it_ended(client: impl Client) {
    let turns = vec![Turn::text("the word is heron"), Turn::text("I know it still")];
    let (project, server) = (Project::new(), ModelServer::start(turns).unwrap());
    let first = client.run(Launch::new(project.root(), "say a word", &server)).await.unwrap();
    let session = first.session.expect("a session");
    let again = Launch::new(project.root(), "do you know it?", &server).resuming(&session);
    let second = client.run(again).await.unwrap();
    assert_eq!(second.answer.as_deref(), Some("I know it still"), "{second:#?}");
    assert_eq!(second.session, Some(session), "{second:#?}");
    assert_eq!(server.surprises(), [""; 0]);
    let told = &server.turns()[1];
    assert!(told.tells("say a word") && told.tells("heron"), "{:#?}", told.messages);
}

/// One test for each client and each thing that it does.
macro_rules! each {
    ($($client:ident)*) => { $(mod $client {
        #[tokio::test]
        async fn says_what_the_model_says() {
            super::says_what_the_model_says(super::$client()).await;
        }

        #[tokio::test]
        async fn runs_a_tool_and_tells_its_result() {
            super::runs_a_tool_and_tells_its_result(super::$client()).await;
        }

        #[tokio::test]
        async fn goes_on_with_a_session_after_it_ended() {
            super::goes_on_with_a_session_after_it_ended(super::$client()).await;
        }
    })* };
}

each! { claude codex opencode }
