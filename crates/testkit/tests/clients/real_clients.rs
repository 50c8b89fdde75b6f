//! What each client does, and what the gate needs of it: an answer, a tool, a refusal, and no early end.

use crate::hooks::{self, ASKED};
use crate::project::Project;
use abide_testkit::client::{ClaudeCode, Client, Codex, Installed, Launch, OpenCode};
use abide_testkit::model::{ModelServer, Script, ToolCall, Turn};
use serde_json::{Value, json};

const REASON: &str = "not in this step: run the tests first";
const LEFT: &str = "two steps are left: test and deploy";

/// Writes the settings of one client for a hook on an event.
type Write = fn(&Project, &str, &str);

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

async fn is_refused_a_tool_with_the_reason(client: impl Client, write: Write) {
    let call = client.shell("echo hi > made.txt");
    let server = ModelServer::start(vec![Turn::call(call), Turn::text("I was refused")]).unwrap();
    let project = Project::new();
    let hook = hooks::hook(&project, &format!("echo '{REASON}' >&2\nexit 2"));
    write(&project, "PreToolUse", &hook);
    assert_eq!(run(&client, &project, &server).await.as_deref(), Some("I was refused"));
    assert_eq!(project.read("made.txt"), None, "the tool ran");
    let told = &server.turns()[1];
    let results = told.new_results();
    assert!(results.len() == 1 && results[0].text.contains(REASON), "{results:?}");
    let asked = project.lines(ASKED);
    assert_eq!(asked.len(), 1, "{asked:#?}");
    assert_eq!(asked[0]["hook_event_name"], "PreToolUse");
    assert_eq!(asked[0]["tool_input"]["command"], "echo hi > made.txt", "{asked:#?}");
    assert!(!asked[0]["session_id"].as_str().unwrap().is_empty(), "{asked:#?}");
    assert!(asked[0]["tool_name"].as_str().unwrap().eq_ignore_ascii_case("bash"), "{asked:#?}");
}

async fn goes_on_when_it_may_not_stop(client: impl Client, write: Write) {
    let turns = vec![Turn::text("I stop here"), Turn::text("now all is done")];
    let (project, server) = (Project::new(), ModelServer::start(turns).unwrap());
    let once = format!("[ -e refused ] || {{ touch refused; echo '{LEFT}' >&2; exit 2; }}");
    write(&project, "Stop", &hooks::hook(&project, &once));
    assert_eq!(run(&client, &project, &server).await.as_deref(), Some("now all is done"));
    let turns = server.turns();
    assert!(!turns[0].tells(LEFT) && turns[1].tells(LEFT), "{:#?}", turns[1].messages);
    let asked: Vec<_> = project.lines(ASKED).iter().map(|asked| asked["hook_event_name"].clone()).collect();
    assert_eq!(asked, ["Stop", "Stop"]);
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

/// Answers for an agent that delegates, and for its sub-agent, which wants a shell.
fn delegating(client: &impl Client, task: &str, command: &str) -> Script {
    let (delegate, shell) = (client.delegate(task), client.shell(command));
    Script::function(move |request| {
        let results = request.new_results();
        let child = !request.tells("delegate it");
        match results.first() {
            None if child => Turn::call(shell.clone()),
            _ if child => Turn::text("the sub-agent is done"),
            None if request.messages.iter().all(|message| message.calls.is_empty()) => {
                Turn::call(delegate.clone())
            }
            // Codex does not wait for a sub-agent by itself.
            Some(result) if request.offers("wait_agent") => {
                let told: Value = serde_json::from_str(&result.text).unwrap_or_default();
                match told["agent_id"].as_str() {
                    Some(agent) => Turn::call(ToolCall::new("wait_agent", json!({"targets": [agent]}))),
                    None => Turn::text("all is done"),
                }
            }
            _ => Turn::text("all is done"),
        }
    })
}

async fn a_sub_agent_is_refused_too<C: Client>(client: C, write: Write) {
    let script = delegating(&client, "make the file", "echo hi > made.txt");
    let (project, server) = (Project::new(), ModelServer::start(script).unwrap());
    let refuse = format!("case $input in *made.txt*) echo '{REASON}' >&2; exit 2 ;; esac");
    write(&project, "PreToolUse", &hooks::hook(&project, &refuse));
    let outcome = client.run(Launch::new(project.root(), "delegate it", &server)).await.unwrap();
    assert!(outcome.succeeded(), "{outcome:#?}");
    assert_eq!(outcome.answer.as_deref(), Some("all is done"), "{outcome:#?}");
    assert_eq!(project.read("made.txt"), None, "the tool ran");
    let turns = server.turns();
    let refused = turns.iter().find(|request| !request.tells("delegate it") && request.tells(REASON));
    assert!(refused.is_some(), "{outcome:#?}\n{:#?}", project.lines(ASKED));
    let asked = project.lines(ASKED);
    let asked = asked.iter().find(|asked| asked["tool_input"]["command"].is_string()).unwrap();
    // Claude Code and Codex name the session and the agent in it; to OpenCode, each agent is a session.
    let same_session = asked["session_id"].as_str() == outcome.session.as_deref();
    assert_eq!(same_session, C::NAME != "opencode", "{asked:#?}");
    assert_eq!(asked["agent_id"].is_string(), C::NAME != "opencode", "{asked:#?}");
}

/// One test for each client and each thing that it does.
macro_rules! each {
    ($($client:ident $write:ident;)*) => { $(mod $client {
        use super::*;

        #[tokio::test]
        async fn says_what_the_model_says() {
            super::says_what_the_model_says(super::$client()).await;
        }

        #[tokio::test]
        async fn runs_a_tool_and_tells_its_result() {
            super::runs_a_tool_and_tells_its_result(super::$client()).await;
        }

        #[tokio::test]
        async fn is_refused_a_tool_with_the_reason() {
            super::is_refused_a_tool_with_the_reason(super::$client(), hooks::$write).await;
        }

        #[tokio::test]
        async fn goes_on_when_it_may_not_stop() {
            super::goes_on_when_it_may_not_stop(super::$client(), hooks::$write).await;
        }

        #[tokio::test]
        async fn a_sub_agent_is_refused_too() {
            super::a_sub_agent_is_refused_too(super::$client(), hooks::$write).await;
        }

        #[tokio::test]
        async fn goes_on_with_a_session_after_it_ended() {
            super::goes_on_with_a_session_after_it_ended(super::$client()).await;
        }
    })* };
}

each! {
    claude for_claude;
    codex for_codex;
    opencode for_opencode;
}
