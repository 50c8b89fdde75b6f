//! Webhooks of the real server: receivers that fail and come back, servers that are killed, and what an operator sees of it.

use crate::receiver::{Receiver, SECRET};
use crate::server::Server;
use crate::support::{Project, finish};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

const ASK: &str = "description: d\nsteps:\n  - id: ask\n    type: approval\n    prompt: Ship it?\n  - id: ship\n    run: echo shipped\n    needs: [ask]\n";
const QUICK: &str = "description: d\nsteps:\n  - id: one\n    run: echo one\n    idempotent: true\n";

/// Makes a project whose user has a webhook at an address.
fn project(address: &str) -> Project {
    let project = Project::new();
    project.write(".abide/abilities/ask.yaml", ASK).write(".abide/abilities/quick.yaml", QUICK);
    project.write(
        "../config/abide/config.yaml",
        format!(
            "webhooks:\n  pager:\n    url: http://{address}/hook?token=s3cret\n    secret: {{ env: HOOK }}\n"
        ),
    );
    project
}

fn serve(project: &Project) -> Server {
    Server::start_with(project, &["--rate", "0"], &[("HOOK", SECRET)])
}

fn start(server: &Server, ability: &str) -> String {
    let (status, run) = server.ask("POST", "/v1/runs", None, &json!({ "ability": ability }).to_string());
    assert_eq!(status, 201, "{run}");
    run["run"].as_str().unwrap().to_owned()
}

#[test]
fn a_receiver_that_fails_and_goes_away_is_told_when_it_is_back() {
    let first = Receiver::start("127.0.0.1:0", &[500, 503]);
    let address = first.address.to_string();
    let project = project(&address);
    let key = project.abide(&["key", "create", "ada", "--scope", "approve"]).out;
    let server = serve(&project);
    let run = start(&server, "ask");
    let failed = first.until(|letters| letters.len() == 2);
    assert_eq!((failed[0].status, failed[1].status, &failed[0].id), (500, 503, &failed[1].id));
    // Gone, and back at the same address.
    drop(first);
    let second = Receiver::start(&address, &[]);
    let taken = second.until(|letters| !letters.is_empty());
    assert_eq!((&taken[0].id, &taken[0].body), (&failed[0].id, &failed[0].body));
    assert_eq!(taken[0].body["type"], "approval.requested");
    assert_eq!(taken[0].body["data"], server.get("/v1/approvals", None).1["items"][0]);
    let answer = r#"{"step": "ask", "answer": "approved"}"#;
    assert_eq!(server.ask("POST", &format!("/v1/approvals/{run}"), Some(&key), answer).0, 200);
    let told = second.until(|letters| letters.len() == 2);
    assert_eq!((&told[1].body["type"], &told[1].body["data"]["run"]), (&json!("run.finished"), &json!(run)));
    assert_eq!(server.end(), Some(0));
    assert!(second.taken().values().all(|count| *count == 1), "{:?}", second.taken());
}

#[test]
fn a_server_that_is_killed_before_it_has_told_still_tells_each_thing_under_one_id() {
    let address = {
        let nobody = Receiver::start("127.0.0.1:0", &[]);
        nobody.address.to_string()
    };
    let project = project(&address);
    let mut runs = BTreeSet::new();
    for round in 0..4 {
        let server = serve(&project);
        for _ in 0..5 {
            runs.insert(start(&server, "quick"));
        }
        let asking = start(&server, "ask");
        if round % 2 == 0 {
            server.until(&asking, "waiting");
        }
        server.kill();
        runs.insert(asking);
    }
    let receiver = Receiver::start(&address, &[]);
    let server = serve(&project);
    let letters = receiver.until(|letters| letters.len() >= runs.len());
    let told: BTreeSet<String> =
        letters.iter().map(|letter| letter.body["data"]["run"].as_str().unwrap().to_owned()).collect();
    assert_eq!(told, runs, "each run is told of: that it is over, or that it asks");
    // What could come twice would come after the time for which it was taken by a server that died; ids are the same then.
    let ids: BTreeSet<&String> = letters.iter().map(|letter| &letter.id).collect();
    assert_eq!(ids.len(), runs.len());
    let metrics = metrics(&server);
    assert!(metrics.contains("abide_webhook_undelivered{webhook=\"pager\"} 0"), "{metrics}");
    assert_eq!(server.end(), Some(0));
}

fn metrics(server: &Server) -> String {
    for _ in 0..100 {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        write!(stream, "GET /v1/metrics HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", server.address)
            .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        if text.contains("abide_webhook_undelivered{webhook=\"pager\"} 0") {
            return text;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    "something still waits".to_owned()
}

#[test]
fn what_is_configured_and_what_is_missing_is_said_without_secrets() {
    let receiver = Receiver::start("127.0.0.1:0", &[]);
    let project = project(&receiver.address.to_string());
    let check = ["serve", "--bind", "127.0.0.1:0", "--check"];
    let missing = project.abide(&check);
    assert_eq!(missing.code, Some(0), "{missing:?}");
    assert!(
        missing.err.contains("the webhook pager cannot be told anything: HOOK is not set"),
        "{missing:?}"
    );
    assert!(missing.err.contains("openssl rand"), "{missing:?}");
    let bad = finish(project.command(&check).env("HOOK", "whsec_c2hvcnQ="));
    assert!(bad.err.contains("its secret in HOOK cannot be used") && !bad.err.contains("c2hvcnQ"), "{bad:?}");
    let good = finish(project.command(&check).env("HOOK", SECRET));
    let line = format!(
        "the webhook pager at http://{} is told approval.requested, run.finished (secret: HOOK)",
        receiver.address
    );
    assert!(good.err.contains(&line), "{good:?}");
    let doctor = finish(project.command(&["doctor"]).env("HOOK", SECRET));
    assert!(doctor.out.contains(line.trim_start_matches("the webhook ")), "{doctor:?}");
    let doctor = project.abide(&["doctor"]);
    assert!(doctor.out.contains("pager cannot be told anything: HOOK is not set"), "{doctor:?}");
    for said in [&missing.err, &bad.err, &good.err, &doctor.out] {
        assert!(!said.contains("s3cret") && !said.contains(SECRET), "{said}");
    }
    let open = "webhooks: { far: { url: 'http://hooks.example.com/s3cret', secret: { env: HOOK } } }\n";
    project.write("../config/abide/config.yaml", open);
    let open = finish(project.command(&check).env("HOOK", SECRET));
    assert!(open.err.contains("begins with `http://`") && !open.err.contains("s3cret"), "{open:?}");
}

#[test]
fn a_project_cannot_have_anything_sent() {
    let receiver = Receiver::start("127.0.0.1:0", &[]);
    let project = project("127.0.0.1:1");
    let theirs = format!(
        "webhooks:\n  theirs: {{ url: 'http://{0}/hook?token=s3cret', secret: {{ env: HOOK }} }}\n  pager: {{ url: 'http://{0}/hook?token=s3cret', secret: {{ env: HOOK }} }}\n",
        receiver.address
    );
    project.write(".abide/config.yaml", theirs);
    let problems = project.problems();
    let codes: Vec<&str> = problems.iter().filter_map(|problem| problem["code"].as_str()).collect();
    assert_eq!(codes, ["E1004", "E1004"], "{problems:?}");
    let server = serve(&project);
    let run = start(&server, "quick");
    server.until(&run, "completed");
    std::thread::sleep(std::time::Duration::from_millis(500));
    assert!(receiver.letters().is_empty(), "{:?}", receiver.letters());
    assert_eq!(server.end(), Some(0));
}

#[test]
fn the_log_says_what_became_of_a_letter_and_nothing_that_is_secret() {
    let receiver = Receiver::start("127.0.0.1:0", &[500]);
    let project = project(&receiver.address.to_string());
    let arguments = ["serve", "--bind", "127.0.0.1:0", "--log", "json", "--log-level", "info"];
    let mut command = project.command(&arguments);
    let mut child = command.env("HOOK", SECRET).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let first = lines.next().unwrap().unwrap();
    let address = first.split("http://").nth(1).and_then(|rest| rest.split(';').next()).unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    let body = r#"{"ability": "quick"}"#;
    write!(
        stream,
        "POST /v1/runs HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut said = String::new();
    let mut outcomes = Vec::new();
    while outcomes.len() < 2 {
        let line = lines.next().unwrap().unwrap();
        said.push_str(&line);
        let line: Value = serde_json::from_str(&line).unwrap();
        if line["webhook"] == "pager" {
            outcomes.push((line["level"].clone(), line["outcome"].clone(), line["attempt"].clone()));
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let expected =
        [(json!("warn"), json!("failed"), json!(1)), (json!("info"), json!("delivered"), json!(2))];
    assert_eq!(outcomes, expected, "{said}");
    assert!(said.contains("it was answered with 500"), "{said}");
    assert!(!said.contains("s3cret") && !said.contains(SECRET), "{said}");
}
