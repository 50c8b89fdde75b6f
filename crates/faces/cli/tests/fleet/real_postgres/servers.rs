//! Servers that share a database: any of them may be killed or stopped.

use crate::database::Database;
use crate::server::Server;
use crate::stage::Stage;
use rustix::process::Signal;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

#[test]
fn what_a_killed_server_drove_is_finished_by_the_others() {
    let database = Database::start();
    let stage = Stage::new(&database.url());
    let (first, second, third) = (stage.server(), stage.server(), stage.server());
    let servers = [&first, &second, &third];
    let start = |ability: &str| -> Vec<String> {
        servers
            .iter()
            .enumerate()
            .map(|(n, server)| stage.start(server, ability, &format!("{ability}{n}")))
            .collect()
    };
    let (asked, timers) = (start("ask"), start("timer"));
    stage.until(&second, &asked[0], "waiting");
    stage.until(&second, &timers[0], "waiting");
    let (chains, steady) = (start("chain"), start("steady"));
    // A follower at a server that does not drive what it follows.
    let stream = follow(&third, &stage.key, &chains[1]);
    std::thread::sleep(Duration::from_millis(900));
    drop(first);
    // The answer counts before anybody drives the run again.
    assert_eq!(stage.answer(&third, &asked[0], "approved").0, 200);
    assert_eq!(stage.answer(&second, &asked[0], "approved").0, 409, "one answer counts");
    for run in [&asked[0], &timers[0], &steady[0], &chains[1], &chains[2], &steady[1], &timers[2]] {
        stage.until(&second, run, "completed");
    }
    // A step that was under way, and nobody says that it may run twice, is a human's to decide.
    stage.until(&third, &chains[0], "interrupted");
    assert!(stage.trace("chain0").values().all(|count| *count == 1), "{:?}", stage.trace("chain0"));
    let resume = format!("/v1/runs/{}/resume", chains[0]);
    let (status, resumed) = third.ask("POST", &resume, Some(&stage.key), r#"{"decision": "fail"}"#);
    assert_eq!(status, 200, "{resumed}");
    stage.until(&second, &chains[0], "failed");
    for name in ["chain1", "chain2", "steady1", "steady2"] {
        stage.ran_once(name);
    }
    assert_eq!(
        stage.trace("ask0").into_iter().collect::<Vec<_>>(),
        [("one".to_owned(), 1), ("two".to_owned(), 1)]
    );
    assert_eq!(
        stage.trace("timer0").into_values().collect::<Vec<_>>(),
        [2],
        "once, and once more when it was due"
    );
    assert_eq!(stage.answer(&third, &asked[1], "approved").0, 200, "at a server that does not drive it");
    stage.until(&third, &asked[1], "completed");
    for run in [&asked, &timers, &chains, &steady].into_iter().flatten() {
        stage.log(&second, run);
    }
    let told = stream.join().unwrap();
    let events = stage.log(&third, &chains[1]).len();
    assert_eq!(told.matches("\nid: ").count() + usize::from(told.starts_with("id: ")), events, "{told}");
    assert!(told.contains("event: end\n"), "{told}");
}

/// Follows the events of a run until they end.
fn follow(server: &Server, key: &str, run: &str) -> std::thread::JoinHandle<String> {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(
        stream,
        "GET /v1/runs/{run}/events/stream HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n",
        server.address
    )
    .unwrap();
    std::thread::spawn(move || {
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let mut text = Vec::new();
        let _ = stream.read_to_end(&mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        // What is left of the chunks is of no interest.
        text.lines().filter(|line| line.contains(':')).fold(String::new(), |all, line| all + line + "\n")
    })
}

#[test]
fn a_server_that_slept_longer_than_its_lease_runs_nothing_twice() {
    let database = Database::start();
    let stage = Stage::new(&database.url());
    let (first, second) = (stage.server(), stage.server());
    let runs: Vec<String> = (0..4).map(|n| stage.start(&first, "steady", &format!("slept{n}"))).collect();
    let asked = stage.start(&first, "ask", "slept");
    stage.until(&second, &asked, "waiting");
    first.signal(Signal::STOP);
    assert_eq!(stage.answer(&second, &asked, "approved").0, 200);
    for run in &runs {
        stage.until(&second, run, "completed");
    }
    stage.until(&second, &asked, "completed");
    first.signal(Signal::CONT);
    std::thread::sleep(Duration::from_secs(3));
    for run in runs.iter().chain([&asked]) {
        assert_eq!(stage.status(&first, run), "completed");
        stage.log(&first, run);
    }
    assert_eq!(stage.trace("slept").into_values().collect::<Vec<_>>(), [1, 1]);
    // The step that was under way may have run again, as its definition says; nothing else has.
    for n in 0..4 {
        let twice = stage.trace(&format!("slept{n}")).into_values().filter(|count| *count > 1).count();
        assert!(twice <= 1, "{:?}", stage.trace(&format!("slept{n}")));
    }
    assert_eq!(second.end(), Some(0));
}

#[test]
fn a_call_that_one_server_asks_about_is_answered_at_another() {
    let database = Database::start();
    let stage = Stage::new(&database.url());
    let model = abide_model_mock::ModelServer::start(abide_model_mock::Script::function(|request| {
        let has_result = request.messages.last().is_some_and(|message| message.text.is_empty());
        if has_result {
            return abide_model_mock::Turn::text("done");
        }
        let command = serde_json::json!({ "command": "echo hi > made" });
        abide_model_mock::Turn::call(abide_model_mock::ToolCall::new("bash", command))
    }))
    .unwrap();
    let (first, second) = (stage.talking_server(&model.url()), stage.talking_server(&model.url()));
    let post = |server: &Server, path: &str, body: &serde_json::Value| {
        server.ask("POST", path, Some(&stage.key), &body.to_string())
    };
    let helper = serde_json::json!({ "name": "h", "system_prompt": "p", "capabilities": ["workspace"] });
    let agent = post(&first, "/v1/agents", &helper).1["id"].as_str().unwrap().to_owned();
    let session = post(&first, &format!("/v1/agents/{agent}/sessions"), &serde_json::json!({})).1["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let at = format!("/v1/sessions/{session}/messages");
    let said = serde_json::json!({ "text": "make it" });
    let message = post(&first, &at, &said).1["id"].as_str().unwrap().to_owned();
    let calls = |server: &Server| {
        let page = server.get("/v1/approvals", Some(&stage.key)).1;
        page["items"].as_array().unwrap().clone()
    };
    crate::database::until(20, "a call", || !calls(&second).is_empty());
    let (here, there) = (calls(&first), calls(&second));
    assert_eq!(here, there);
    assert_eq!((&there[0]["kind"], &there[0]["tool"]), (&"tool".into(), &"bash".into()));
    let path = format!("/v1/approvals/{}", there[0]["id"].as_str().unwrap());
    let counted: usize = std::thread::scope(|scope| {
        let answers = (0..8).map(|n| {
            let (server, path, post) = (if n % 2 == 0 { &first } else { &second }, &path, &post);
            scope.spawn(move || post(server, path, &serde_json::json!({ "answer": "approved" })).0)
        });
        let answers: Vec<_> = answers.collect();
        answers.into_iter().map(|answer| usize::from(answer.join().unwrap() == 200)).sum()
    });
    assert_eq!(counted, 1);
    let shown = || second.get(&format!("{at}/{message}"), Some(&stage.key)).1;
    crate::database::until(20, "an end", || shown()["turn"]["status"] == "finished");
    assert_eq!(std::fs::read_to_string(stage.project.path("made")).unwrap(), "hi\n");
    assert!(calls(&first).is_empty());
    // Of a server that is gone the question is answered by nobody.
    let message = post(&first, &at, &said).1["id"].as_str().unwrap().to_owned();
    crate::database::until(20, "a call", || !calls(&second).is_empty());
    let path = format!("/v1/approvals/{}", calls(&second)[0]["id"].as_str().unwrap());
    drop(first);
    let (status, refused) = post(&second, &path, &serde_json::json!({ "answer": "approved" }));
    assert_eq!(status, 409, "{refused}");
    // Whoever takes the turn up asks again, and is answered.
    crate::database::until(60, "another call", || !calls(&second).is_empty());
    let path = format!("/v1/approvals/{}", calls(&second)[0]["id"].as_str().unwrap());
    assert_eq!(post(&second, &path, &serde_json::json!({ "answer": "approved" })).0, 200);
    let shown = || second.get(&format!("{at}/{message}"), Some(&stage.key)).1;
    crate::database::until(20, "an end", || shown()["turn"]["status"] == "finished");
}

#[test]
fn of_many_answers_at_every_server_one_counts() {
    let database = Database::start();
    let stage = Stage::new(&database.url());
    let servers = [stage.server(), stage.server(), stage.server()];
    for round in 0..5 {
        let run = stage.start(&servers[round % 3], "ask", &format!("many{round}"));
        stage.until(&servers[0], &run, "waiting");
        let counted: usize = std::thread::scope(|scope| {
            let answers = (0..12).map(|n| {
                let (stage, server, run) = (&stage, &servers[n % 3], &run);
                let answer = if n % 2 == 0 { "approved" } else { "rejected" };
                scope.spawn(move || stage.answer(server, run, answer).0)
            });
            let answers: Vec<_> = answers.collect();
            answers.into_iter().map(|answer| usize::from(answer.join().unwrap() == 200)).sum()
        });
        assert_eq!(counted, 1);
        crate::database::until(20, "an end", || {
            ["completed", "failed"].contains(&&*stage.status(&servers[1], &run))
        });
        stage.log(&servers[2], &run);
    }
    // A server that is asked to end leaves what waits, and the others have it at once.
    let [first, second, third] = servers;
    let run = stage.start(&first, "ask", "left");
    stage.until(&second, &run, "waiting");
    assert_eq!(first.end(), Some(0));
    assert_eq!(stage.answer(&third, &run, "approved").0, 200);
    stage.until(&second, &run, "completed");
}
