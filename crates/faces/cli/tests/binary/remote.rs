//! `abide --server URL …`: the same commands, at a server.

use crate::server::Server;
use crate::support::{Outcome, Project, finish};
use std::process::Stdio;

const RELEASE: &str = "description: Releases\ninputs:\n  version: { type: string, required: true }\nsteps:\n  - id: build\n    run: echo built {{inputs.version}}\n  - id: ask\n    type: approval\n    prompt: Ship it?\n    needs: [build]\n  - id: ship\n    run: echo shipped; echo out\n    needs: [ask]\n";

/// A server in a project of its own, and somebody elsewhere who has a key.
struct Stage {
    there: Project,
    here: Project,
    server: Server,
    key: String,
}

impl Stage {
    fn new() -> Self {
        let (there, here) = (Project::new(), Project::new());
        there.write(".abide/abilities/release.yaml", RELEASE);
        there.write(".abide/abilities/slow.yaml", "description: d\nsteps:\n  - id: one\n    run: sleep 60\n");
        here.write(".abide/abilities/mine.yaml", crate::support::GOOD);
        let key = there.abide(&["key", "create", "ada", "--scope", "run,approve"]).out.trim().to_owned();
        let server = Server::start(&there, &["--require-key"]);
        Self { there, here, server, key }
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = self.here.command(arguments);
        command.env("ABIDE_SERVER", format!("http://{}", self.server.address)).env("ABIDE_KEY", &self.key);
        command
    }

    fn abide(&self, arguments: &[&str]) -> Outcome {
        finish(&mut self.command(arguments))
    }
}

#[test]
fn an_ability_of_a_server_is_run_watched_and_approved_from_elsewhere() {
    let stage = Stage::new();
    assert!(stage.abide(&["list"]).out.contains("release"), "{:?}", stage.abide(&["list"]));
    assert!(!stage.abide(&["list"]).out.contains("mine"));
    let json = |arguments: &[&str]| stage.abide(&[arguments, &["--json"]].concat()).json();
    assert_eq!(json(&["list"]), stage.there.json(&["list"]), "the same document as over there");
    assert_eq!(json(&["show", "release"]), stage.there.json(&["show", "release"]));
    assert!(stage.abide(&["show", "release"]).out.contains("version: string, required"));
    assert!(stage.abide(&["show", "release", "--yaml"]).out.contains("prompt: Ship it?"));
    let plan = stage.abide(&["plan", "release", "-i", "version=v1"]);
    assert!(plan.out.contains("echo built"), "{plan:?}");
    let missing = stage.abide(&["run", "release"]);
    assert_eq!(missing.code, Some(2), "{missing:?}");
    let running = stage
        .command(&["run", "release", "-i", "version=v1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let waits = || stage.there.json(&["runs"])["runs"][0]["status"] == "waiting";
    for _ in 0..400 {
        if waits() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    let id = stage.there.json(&["runs"])["runs"][0]["run"].as_str().unwrap().to_owned();
    assert_eq!(json(&["status", &id[..20]]), stage.there.json(&["status", &id]));
    assert_eq!(json(&["runs"]), stage.there.json(&["runs"]));
    let status = stage.abide(&["status"]);
    assert!(status.out.contains("✓ build") && status.out.contains("? ask: Ship it?"), "{status:?}");
    let mine = stage.abide(&["approve", "--by", "eve"]);
    assert_eq!(mine.code, Some(2), "{mine:?}");
    for contradiction in [["approve", "--answer", "rejected"], ["reject", "--answer", "approved"]] {
        let refused = stage.abide(&contradiction);
        assert_eq!(refused.code, Some(2), "{refused:?}");
    }
    let approved = stage.abide(&["approve", "-m", "go"]);
    assert_eq!(approved.code, Some(0), "{approved:?}");
    assert!(approved.err.contains("answered by ada"), "{approved:?}");
    let ended = running.wait_with_output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ended.stdout), String::from_utf8_lossy(&ended.stderr));
    assert_eq!(ended.status.code(), Some(0), "{out}{err}");
    assert!(out.contains("build │ built v1") && out.contains("✓ ship"), "{out}");
    assert!(err.contains(&format!("approve {id} ask")), "{err}");
    assert_eq!(stage.abide(&["approve", &id]).code, Some(9), "it is over");
    let logs = stage.abide(&["logs", "-f", &id, "ship"]);
    assert_eq!(logs.out, "shipped\nout\n", "{logs:?}");
    assert_eq!(stage.abide(&["logs", &id, "nothing"]).code, Some(3));
}

#[test]
fn ctrl_c_ends_the_run_there_and_a_detached_one_goes_on() {
    let stage = Stage::new();
    let mut running = stage.command(&["run", "slow", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(running.stdout.take().unwrap()));
    let first: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!(first["type"], "run.created");
    let process = rustix::process::Pid::from_child(&running);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(6), "cancelled");
    let detached = stage.abide(&["run", "slow", "--detach"]);
    assert_eq!(detached.code, Some(0), "{detached:?}");
    let id = detached.out.trim();
    assert_eq!(stage.abide(&["cancel", id, "-m", "enough"]).code, Some(0));
    let resumed = stage.abide(&["resume", id]);
    assert!(resumed.code.is_some_and(|code| [6, 9].contains(&code)), "it ends, or is over: {resumed:?}");
}

#[test]
fn what_a_server_cannot_do_is_said_and_what_is_local_stays_local() {
    let stage = Stage::new();
    let server = format!("http://{}", stage.server.address);
    for command in [
        &["validate"][..],
        &["rerun", "x", "--from", "y"],
        &["serve"],
        &["key", "list"],
        &["audit", "verify"],
    ] {
        let refused = stage.here.abide(&[&["--server", &*server], command].concat());
        assert_eq!(refused.code, Some(2), "{command:?}: {refused:?}");
        assert!(refused.err.contains("on this machine alone"), "{refused:?}");
    }
    // The variable is for what a server can do; the project's own files are looked at here.
    assert_eq!(stage.abide(&["validate"]).code, Some(0));
    assert_eq!(stage.abide(&["audit", "verify"]).code, Some(2), "runs are over there");
    let unknown = stage.here.abide(&["--server", &server, "runs"]);
    assert_eq!(unknown.code, Some(9), "{unknown:?}");
    stage.here.write("key", format!("{}\n", stage.key));
    let known = stage.here.abide(&["--server", &server, "--key-file", "key", "runs"]);
    assert_eq!(known.code, Some(0), "{known:?}");
    let nobody = stage.here.abide(&["--server", "http://127.0.0.1:1", "runs"]);
    assert_eq!(nobody.code, Some(4), "{nobody:?}");
    let strange = stage.here.abide(&["--server", "ftp://x", "runs"]);
    assert_eq!(strange.code, Some(2), "{strange:?}");
    assert_eq!(stage.here.abide(&["--key-file", "key", "runs"]).code, Some(2), "a key without a server");
}
