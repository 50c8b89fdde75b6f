//! What a real client sees of the server, over a pair of pipes: every tool, questions, progress, resources, old and new
//! versions of the protocol.

mod desk;
mod user;

use abide_mcp::desk::{Resource, Subject};
use desk::Scripted;
use rmcp::model::{
    CallToolResponse, ElicitRequestParams, ElicitResult, ElicitationAction, ProtocolVersion,
    ReadResourceRequestParams,
};
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use serde_json::{Value, json};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use user::{Client, LONG, User, answer, call, run, text, yes};

/// A client of the newest version that begins with a handshake.
fn handshake() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}

/// A client of the version without one.
fn modern() -> ClientLifecycleMode {
    ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
}

async fn connect(desk: &Arc<Scripted>, user: User, mode: ClientLifecycleMode) -> (Client, JoinHandle<()>) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (input, desk) = (ours.try_clone().unwrap(), desk.clone());
    let server = tokio::spawn(async move {
        abide_mcp::serve(desk, input, ours, std::future::pending()).await.unwrap();
    });
    theirs.set_nonblocking(true).unwrap();
    let transport = tokio::net::UnixStream::from_std(theirs).unwrap().into_split();
    let client = timeout(LONG, user.serve_with_lifecycle(transport, mode)).await.unwrap().unwrap();
    (client, server)
}

/// Ends the client, and sees the server end by itself.
async fn leave(client: Client, server: JoinHandle<()>) {
    client.cancel().await.unwrap();
    timeout(LONG, server).await.expect("the server must end with its client").unwrap();
}

#[tokio::test]
async fn every_tool_reaches_the_desk_with_what_was_given() {
    for mode in [handshake(), modern()] {
        let desk = Scripted::new();
        let (client, server) = connect(&desk, User::default(), mode).await;
        let run = json!({ "ability": "nope", "inputs": { "b": [1, null], "a": "ü" }, "input": "deploy it" });
        let submit = json!({ "run": "r1", "step": "review", "output": { "ok": true } });
        for (name, arguments) in [
            ("ability_list", json!({})),
            ("ability_run", run.clone()),
            ("ability_status", json!({ "run": "r1" })),
            ("ability_status", json!({})),
            ("ability_submit", submit.clone()),
            ("ability_cancel", json!({ "reason": "late" })),
            ("ability_validate", json!({ "ability": "deploy" })),
            ("ability_agent", json!({ "agent": "reviewer" })),
            ("ability.list", json!({})),
            ("ability.run", json!({ "name": "nope" })),
        ] {
            let result = answer(&client, call(name, &arguments)).await;
            let data = result.structured_content.clone().unwrap();
            assert_eq!(data["text"], text(&result), "{name}");
            let fails = ["ability_run", "ability.run", "ability_cancel"].contains(&name);
            assert_eq!(result.is_error, Some(fails), "{name}: {result:?}");
        }
        let origin = "Stdio";
        assert_eq!(
            desk.heard(),
            [
                json!({ "list": origin, "client": "a-test" }),
                json!({
                    "run": "nope", "inputs": { "b": [1, null], "a": "ü" }, "input": "deploy it", "raw": run, "origin": origin,
                }),
                json!({ "status": "r1" }),
                json!({ "status": null }),
                json!({ "submit": "r1", "step": "review", "output": { "ok": true }, "raw": submit }),
                json!({ "cancel": null, "reason": "late" }),
                json!({ "validate": "deploy" }),
                json!({ "agent": "reviewer" }),
                json!({ "list": origin, "client": "a-test" }),
                json!({ "run": "nope", "inputs": {}, "input": null, "raw": { "name": "nope" }, "origin": origin }),
            ]
        );
        leave(client, server).await;
    }
}

#[tokio::test]
async fn the_names_that_a_client_gives_its_calls_are_told() {
    for (meta, expected) in [
        (json!({ "claudecode/toolUseId": "toolu_1" }), json!(["toolu_1", null])),
        (json!({ "callId": "call_1", "sessionId": "s1", "threadId": "t1" }), json!(["call_1", "s1"])),
        (json!({ "callId": 7, "sessionId": "x".repeat(201) }), Value::Null),
    ] {
        let desk = Scripted::new();
        let (client, server) = connect(&desk, User::default(), handshake()).await;
        let mut list = call("ability_list", &json!({}));
        list.meta = Some(serde_json::from_value(meta.clone()).unwrap());
        answer(&client, list).await;
        assert_eq!(desk.heard()[0].get("call").cloned().unwrap_or_default(), expected, "{meta}");
        leave(client, server).await;
    }
}

#[tokio::test]
async fn the_tools_are_described_and_the_model_gets_the_desks_instructions() {
    let desk = Scripted::new();
    let (client, server) = connect(&desk, User::default(), handshake()).await;
    let about = client.peer_info().unwrap();
    assert_eq!(about.server_info.as_ref().map(|about| about.name.as_str()), Some("abide"));
    assert!(about.instructions.as_ref().unwrap().starts_with("Run abilities"));
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(
        names,
        [
            "ability_list",
            "ability_run",
            "ability_status",
            "ability_submit",
            "ability_cancel",
            "ability_validate",
            "ability_agent",
        ]
    );
    for tool in &tools {
        let schema = tool.schema_as_json_value();
        assert_eq!(schema["additionalProperties"], false, "{}", tool.name);
        assert!(tool.description.as_ref().unwrap().len() > 50, "{}", tool.name);
        // What nobody told a model about, it cannot use.
        for (name, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{} {name}", tool.name);
        }
    }
    leave(client, server).await;
}

#[tokio::test]
async fn wrong_arguments_are_told_to_the_model_and_do_not_reach_the_desk() {
    let desk = Scripted::new();
    let (client, server) = connect(&desk, User::default(), handshake()).await;
    let result = answer(&client, call("ability_run", &json!({ "abilty": "deploy" }))).await;
    assert_eq!(result.is_error, Some(true));
    assert!(text(&result).contains("`abilty` is no argument of it; did you mean `ability`?"), "{result:?}");
    let error = client.call_tool(call("ability_rum", &json!({}))).await.unwrap_err();
    assert!(error.to_string().contains("did you mean `ability_run`?"), "{error}");
    assert_eq!(desk.heard(), Vec::<Value>::new());
    leave(client, server).await;
}

#[tokio::test]
async fn a_client_that_shows_data_before_text_gets_the_text_alone() {
    let desk = Scripted::new();
    for name in ["claude-code", "codex-mcp-client"] {
        let (client, server) =
            connect(&desk, User { name: Some(name), ..User::default() }, handshake()).await;
        let result = answer(&client, call("ability_list", &json!({}))).await;
        assert_eq!(
            (result.structured_content.clone(), text(&result).as_str()),
            (None, "deploy: puts it out")
        );
        leave(client, server).await;
    }
}

#[tokio::test]
async fn many_calls_at_once_are_answered_while_runs_go_on() {
    let desk = Scripted::new();
    let (client, server) = connect(&desk, User::default(), handshake()).await;
    let peer = client.peer().clone();
    let mut runs = Vec::new();
    for _ in 0..32 {
        let peer = peer.clone();
        runs.push(tokio::spawn(async move { peer.call_tool(run("wait")).await.unwrap() }));
    }
    while desk.heard().len() < 32 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // One more is refused, and a look is not.
    assert!(text(&answer(&client, run("wait")).await).starts_with("too many calls"));
    for _ in 0..50 {
        assert_eq!(text(&answer(&client, call("ability_status", &json!({}))).await), "running");
    }
    desk.release.notify_waiters();
    for run in runs {
        assert_eq!(text(&timeout(LONG, run).await.unwrap().unwrap()), "waited");
    }
    assert_eq!(text(&answer(&client, run("steps")).await), "3 steps");
    leave(client, server).await;
}

#[tokio::test]
async fn an_approval_is_asked_for_in_the_client() {
    for mode in [handshake(), modern()] {
        let desk = Scripted::new();
        let user = User { answer: Some(yes()), ..User::default() };
        let (client, server) = connect(&desk, user.clone(), mode).await;
        assert_eq!(text(&answer(&client, run("approve")).await), "chosen approve Some(\"go\")");
        let asked = user.asked.lock().unwrap().clone();
        let [ElicitRequestParams::FormElicitationParams { message, .. }] = asked.as_slice() else {
            panic!("{asked:?}")
        };
        assert_eq!(message, "Deploy v1 to production?");
        let twice = text(&answer(&client, run("approve-twice")).await);
        assert_eq!(twice.matches("approve").count(), 2, "{twice}");
        // The ability was begun once each, however often the client had to come back.
        let begun = desk.heard().iter().filter(|asked| asked.get("run").is_some()).count();
        assert_eq!(begun, 2);
        leave(client, server).await;
    }
}

#[tokio::test]
async fn a_client_that_declines_has_not_said_no() {
    for mode in [handshake(), modern()] {
        for action in [ElicitationAction::Decline, ElicitationAction::Cancel] {
            let user = User { answer: Some(ElicitResult::new(action)), ..User::default() };
            let (client, server) = connect(&Scripted::new(), user, mode.clone()).await;
            let said = text(&answer(&client, run("approve")).await);
            assert!(said.starts_with("no answer: "), "{said}");
            leave(client, server).await;
        }
        let (client, server) = connect(&Scripted::new(), User::default(), mode.clone()).await;
        assert_eq!(text(&answer(&client, run("approve")).await), "cannot ask");
        leave(client, server).await;
    }
}

#[tokio::test]
async fn a_question_that_nobody_answers_ends_in_time() {
    let user = User { answer: Some(yes()), silent: true, ..User::default() };
    let (client, server) = connect(&Scripted::new(), user, handshake()).await;
    let asked = call("ability_run", &json!({ "ability": "approve", "inputs": { "within": 50 } }));
    assert_eq!(text(&answer(&client, asked).await), "no answer: nobody answered in time");
    leave(client, server).await;
}

#[tokio::test]
async fn an_answer_comes_once_and_never_starts_an_ability_again() {
    let desk = Scripted::new();
    let user = User { answer: Some(yes()), ..User::default() };
    let (client, server) = connect(&desk, user, modern()).await;
    let CallToolResponse::InputRequired(asks) = client.call_tool_once(run("approve")).await.unwrap() else {
        panic!("not asked")
    };
    let state = asks.request_state.unwrap();
    let key = asks.input_requests.unwrap().keys().next().unwrap().clone();
    let yes = json!({ "action": "accept", "content": { "choice": "approve" } });
    let back = |state: &str| {
        let mut again = run("approve").with_input_responses([(key.clone(), yes.clone())].into());
        again.request_state = Some(state.to_owned());
        again
    };
    for (state, expected) in [
        ("made-up", "this question is not open any more"),
        (state.as_str(), "chosen approve None"),
        (state.as_str(), "this question is not open any more"),
    ] {
        let said = text(&answer(&client, back(state)).await);
        assert!(said.starts_with(expected), "{state}: {said}");
    }
    assert_eq!(desk.heard().iter().filter(|asked| asked.get("run").is_some()).count(), 1);
    leave(client, server).await;
}

#[tokio::test]
async fn progress_grows_and_arrives_before_the_result() {
    let user = User::default();
    let (client, server) = connect(&Scripted::new(), user.clone(), handshake()).await;
    answer(&client, run("steps")).await;
    user.heard_progress();
    // A desk that talks without end neither blocks nor is repeated word by word.
    assert_eq!(text(&answer(&client, run("flood")).await), "flooded");
    let before = user.progress.lock().unwrap().len();
    assert_eq!(text(&answer(&client, run("chatter")).await), "300 steps");
    let told = user.progress.lock().unwrap().len() - before;
    assert!((1..150).contains(&told), "{told} of 300");
    leave(client, server).await;
}

#[tokio::test]
async fn a_call_that_the_client_cancels_is_told_to_the_desk() {
    let desk = Scripted::new();
    let (client, server) = connect(&desk, User::default(), handshake()).await;
    let request = rmcp::model::ClientRequest::CallToolRequest(rmcp::model::CallToolRequest::new(run("wait")));
    let options = rmcp::service::PeerRequestOptions::no_options();
    let handle = client.send_cancellable_request(request, options).await.unwrap();
    timeout(LONG, desk.begun.notified()).await.unwrap();
    handle.cancel(Some("changed my mind".to_owned())).await.unwrap();
    timeout(LONG, desk.cancelled.notified()).await.expect("the desk must hear it");
    assert_eq!(text(&answer(&client, call("ability_status", &json!({}))).await), "running");
    leave(client, server).await;
}

#[tokio::test]
async fn a_client_that_goes_away_cancels_its_calls_and_ends_the_server() {
    let desk = Scripted::new();
    let (client, server) = connect(&desk, User::default(), handshake()).await;
    let peer = client.peer().clone();
    tokio::spawn(async move { peer.call_tool(run("wait")).await });
    timeout(LONG, desk.begun.notified()).await.unwrap();
    let started = tokio::time::Instant::now();
    client.cancel().await.unwrap();
    timeout(LONG, desk.cancelled.notified()).await.expect("the desk must hear it");
    timeout(LONG, server).await.expect("the server must end").unwrap();
    assert!(
        started.elapsed() < Duration::from_secs(5),
        "it must not sit out a time limit: {:?}",
        started.elapsed()
    );
}

#[tokio::test]
async fn a_server_that_is_told_to_stop_lets_calls_end_and_answers_them() {
    let desk = Scripted::new();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let (input, asked) = (ours.try_clone().unwrap(), desk.clone());
    let server = tokio::spawn(async move {
        let stop = async {
            let _ = stopped.await;
        };
        abide_mcp::serve(asked, input, ours, stop).await.unwrap();
    });
    theirs.set_nonblocking(true).unwrap();
    let transport = tokio::net::UnixStream::from_std(theirs).unwrap().into_split();
    let client = User::default().serve_with_lifecycle(transport, handshake()).await.unwrap();
    let peer = client.peer().clone();
    let call = tokio::spawn(async move { peer.call_tool(run("ends")).await.unwrap() });
    timeout(LONG, desk.begun.notified()).await.unwrap();
    stop.send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!server.is_finished(), "a call is under way");
    assert_eq!(text(&timeout(LONG, call).await.unwrap().unwrap()), "brought to its end");
    timeout(LONG, server).await.expect("the server must end").unwrap();
}

#[tokio::test]
async fn a_desk_that_falls_over_fails_one_call() {
    let (client, server) = connect(&Scripted::new(), User::default(), handshake()).await;
    let result = answer(&client, run("panic")).await;
    assert_eq!(result.is_error, Some(true));
    assert!(text(&result).starts_with("abide failed while it worked on this"), "{result:?}");
    assert_eq!(text(&answer(&client, run("steps")).await), "3 steps");
    leave(client, server).await;
}

#[tokio::test]
async fn an_answer_is_bounded() {
    let (client, server) = connect(&Scripted::new(), User::default(), handshake()).await;
    let result = answer(&client, run("long")).await;
    assert!(text(&result).len() < 110_000);
    let data = result.structured_content.unwrap();
    assert_eq!((data["run"].as_str(), &data["left_out"]), (Some("r1"), &json!(["long"])));
    leave(client, server).await;
}

#[tokio::test]
async fn resources_are_listed_in_pages_and_read_by_their_address() {
    let desk = Scripted::new();
    let ability = |name: String| Resource {
        subject: Subject::Ability(name),
        description: Some("does it".to_owned()),
        mime: "application/yaml",
    };
    *desk.resources.lock().unwrap() = (0..250).map(|number| ability(format!("team/a{number}"))).collect();
    let user = User::default();
    let (client, server) = connect(&desk, user.clone(), handshake()).await;
    assert_eq!(client.list_resources(None).await.unwrap().resources.len(), 100);
    let all = client.list_all_resources().await.unwrap();
    assert_eq!((all.len(), all[249].uri.as_str()), (250, "abide://abilities/team/a249"));
    let templates: Vec<String> = client
        .list_all_resource_templates()
        .await
        .unwrap()
        .into_iter()
        .map(|each| each.uri_template)
        .collect();
    assert_eq!(templates, ["abide://abilities/{+name}", "abide://runs/{id}"]);
    let read = async |uri: &str| client.read_resource(ReadResourceRequestParams::new(uri)).await;
    let found = serde_json::to_value(read("abide://abilities/deploy/production").await.unwrap()).unwrap();
    assert_eq!(
        found["contents"],
        json!([{
            "uri": "abide://abilities/deploy/production", "mimeType": "application/yaml",
            "text": "name: deploy/production\n",
        }])
    );
    for (uri, expected) in [
        ("abide://runs/none", "there is no `none`"),
        ("abide://runs/broken", "the log is damaged"),
        ("file:///etc/passwd", "no such resource; there are abide://abilities/{+name} and abide://runs/{id}"),
    ] {
        let error = read(uri).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{uri}: {error}");
    }
    desk.change.send_modify(|count| *count += 1);
    timeout(LONG, user.changed.notified()).await.expect("the client must hear that the list has changed");
    leave(client, server).await;
}
