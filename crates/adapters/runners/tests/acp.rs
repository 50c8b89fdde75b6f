//! The runner of agents that speak the Agent Client Protocol, against one that is scripted: what it asks for is judged, what it does
//! unasked is seen, and whatever it sends, it ends.
#![expect(
    clippy::disallowed_methods,
    reason = "these tests look at files that an agent wrote, and at the time"
)]

use abide_core::definition::{Enforcement, Runner as Word};
use abide_core::value::Value;
use abide_engine::port::{Answer, Cancellation, Listener, Runner, RunnerEnd, Signal, Task};
use abide_process::LocalProcess;
use abide_runners::{AcpRunner, Client, Held, Judge, Keeper, Profile, Profiles};
use abide_testkit::RealClock;
use abide_testkit::acp::{Act, agent};
use abide_testkit::runner::contract::{ANSWER, Behaviour, check, task};
use serde_json::json;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// A gate that allows what is named `write`, `read` and `edit`, and remembers what it was asked.
#[derive(Clone)]
struct Gate {
    level: Enforcement,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Keeper for Gate {
    fn hold(&self, _: Client, _: &Task, _: Option<Vec<String>>) -> Result<Held, String> {
        Err("no client is started here".to_owned())
    }

    fn judge(&self, _: &Task, _: Option<Vec<String>>) -> Result<Box<dyn Judge>, String> {
        Ok(Box::new(self.clone()))
    }
}

impl Judge for Gate {
    fn judge(&self, names: &[&str], arguments: &Value, _: &str) -> Result<(), String> {
        self.asked.lock().unwrap().push(format!("{} {arguments}", names[0]));
        let allowed = names.iter().any(|name| ["read", "edit", "write"].contains(name));
        if allowed { Ok(()) } else { Err(format!("{} is not granted", names[0])) }
    }

    fn level(&self) -> Enforcement {
        self.level
    }
}

struct Nobody;

impl Profiles for Nobody {
    fn find(&self, _: &str) -> Option<Profile> {
        None
    }
}

fn gate(level: Enforcement) -> Gate {
    Gate { level, asked: Arc::default() }
}

fn runner(folder: &Path, gate: &Gate) -> Arc<dyn Runner> {
    let machine = (Arc::new(LocalProcess::new()), Arc::new(RealClock::default()));
    let root = folder.to_path_buf();
    let find = Arc::new(move |name: &str| Some(root.join(name)).filter(|path| path.exists()));
    Arc::new(AcpRunner::new(
        machine,
        Arc::new(gate.clone()),
        Arc::new(Nobody),
        find,
        gate.level,
        Some("agent".to_owned()),
    ))
}

fn says(text: &str) -> Act {
    Act::Say(text.to_owned())
}

fn never() -> Cancellation {
    Box::new(|| Box::pin(std::future::pending()))
}

fn deaf() -> Listener {
    Box::new(|_| Box::pin(std::future::ready(())))
}

async fn run(folder: &Path, gate: &Gate, acts: &[Act]) -> Answer {
    agent(folder, "agent", acts);
    let task = Task { runner: Some(Word::Acp("agent".to_owned())), ..task(folder, 1) };
    let executed = runner(folder, gate).execute(task, never(), deaf());
    tokio::time::timeout(Duration::from_secs(20), executed).await.unwrap()
}

#[tokio::test]
async fn an_agent_keeps_the_contract_of_a_runner() {
    let folder = tempfile::tempdir().unwrap();
    let subject = |behaviour| {
        let acts = match behaviour {
            Behaviour::Answers => {
                vec![says("I look"), Act::Use(json!({"kind": "think"}), ":".to_owned()), says(ANSWER)]
            }
            Behaviour::Waits => vec![Act::Run("exec sleep 60".to_owned())],
        };
        agent(folder.path(), "agent", &acts);
        runner(folder.path(), &gate(Enforcement::Normal))
    };
    check(&subject, folder.path()).await;
}

#[tokio::test]
async fn what_an_agent_asks_for_is_answered_by_the_gate() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("there"), "one\ntwo\n").unwrap();
    let gate = gate(Enforcement::Normal);
    let answer = run(
        folder.path(),
        &gate,
        &[
            Act::Ask(
                json!({"kind": "execute", "rawInput": {"command": "touch evil"}}),
                format!("touch '{}'", path("evil")),
            ),
            Act::Ask(
                json!({"kind": "edit", "locations": [{"path": path("good")}]}),
                format!("touch '{}'", path("good")),
            ),
            Act::Call(
                "fs/read_text_file".to_owned(),
                json!({"sessionId": "s", "path": path("there"), "line": 2}),
            ),
            Act::Call(
                "fs/write_text_file".to_owned(),
                json!({"sessionId": "s", "path": path("new/file"), "content": "hello"}),
            ),
            Act::Call("fs/read_text_file".to_owned(), json!({"sessionId": "s", "path": "/etc/passwd"})),
            Act::Call("terminal/create".to_owned(), json!({"sessionId": "s", "command": "touch"})),
            says("done"),
        ],
    )
    .await;
    assert_eq!((answer.end, answer.text.as_str()), (RunnerEnd::Finished, "done"));
    assert_eq!(answer.usage.unwrap().tokens(), 16);
    assert!(!folder.path().join("evil").exists(), "it was denied where it asked");
    assert!(folder.path().join("good").exists());
    assert_eq!(std::fs::read_to_string(path("new/file")).unwrap(), "hello");
    let told = std::fs::read_to_string(path("acp.log")).unwrap();
    let told: Vec<&str> = told.lines().collect();
    assert!(told[0].contains("\"terminal\":false") && told[2].contains("What is the answer?"), "{told:?}");
    assert!(told[3].contains("\"optionId\":\"no\"") && told[4].contains("\"optionId\":\"yes\""), "{told:?}");
    assert!(told[5].contains("\"content\":\"two\\n\""), "{told:?}");
    assert!(told[7].contains("is not in the project") && told[8].contains("does not offer"), "{told:?}");
    let asked = gate.asked.lock().unwrap().clone();
    assert!(asked[0].starts_with("bash ") && asked[0].contains("touch evil"), "{asked:?}");
}

#[tokio::test]
async fn an_agent_that_does_unasked_what_it_may_not_is_ended() {
    for (level, call, ends) in [
        (
            Enforcement::Normal,
            json!({"kind": "execute", "title": "Run it", "rawInput": {"command": "x"}}),
            true,
        ),
        (Enforcement::Normal, json!({"title": "A tool of somebody"}), true),
        (Enforcement::Normal, json!({"kind": "read", "locations": [{"path": "a"}]}), false),
        (Enforcement::Loose, json!({"kind": "execute", "rawInput": {"command": "x"}}), false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let further = format!("sleep 3; touch '{}'", folder.path().join("further").display());
        let further = if ends { further } else { String::new() };
        let answer = run(
            folder.path(),
            &gate(level),
            &[Act::Use(call.clone(), ":".to_owned()), Act::Run(further), says("done")],
        )
        .await;
        if ends {
            assert!(
                matches!(&answer.end, RunnerEnd::Failed(why) if why.contains("did not ask abide")),
                "{:?}",
                answer.end
            );
            assert!(!folder.path().join("further").exists(), "it was ended at once");
        } else {
            assert_eq!(answer.end, RunnerEnd::Finished, "{call}");
        }
    }
}

#[tokio::test]
async fn at_the_level_strict_an_agent_that_nothing_holds_is_not_started() {
    let folder = tempfile::tempdir().unwrap();
    let touch = format!("touch '{}'", folder.path().join("ran").display());
    let answer = run(folder.path(), &gate(Enforcement::Strict), &[Act::Run(touch)]).await;
    assert!(matches!(&answer.end, RunnerEnd::Failed(why) if why.contains("strict")), "{:?}", answer.end);
    assert!(!folder.path().join("acp.log").exists());
}

#[tokio::test]
async fn whatever_an_agent_sends_its_task_comes_to_an_end() {
    for (script, why) in [
        ("exit 7", "exit code 7"),
        ("echo boom >&2; exit 1", "boom"),
        ("kill -9 $$", "signal 9"),
        ("read -r x; echo '{\"id\":1,\"result\":{\"protocolVersion\":9}}'; sleep 60", "version 9"),
        (
            "read -r x; echo '{\"id\":1,\"error\":{\"code\":-32000,\"message\":\"no\"}}'; sleep 60",
            "logged in to first",
        ),
        ("head -c 40000000 /dev/zero; echo; echo '[1]'; echo '{}'; echo nothing; exit 4", "exit code 4"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = agent(folder.path(), "agent", &[]);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        let gate = gate(Enforcement::Normal);
        let task = Task { runner: Some(Word::Acp("agent".to_owned())), ..task(folder.path(), 1) };
        let executed = runner(folder.path(), &gate).execute(task, never(), deaf());
        let answer = tokio::time::timeout(Duration::from_secs(20), executed).await.expect(script);
        assert!(
            matches!(&answer.end, RunnerEnd::Failed(said) if said.contains(why)),
            "{script}: {:?}",
            answer.end
        );
    }
}

#[tokio::test]
async fn a_cancel_is_told_and_ends_an_agent_and_its_children_within_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("begun");
    let script = format!("trap '' TERM; sleep 61 & touch '{}'; while :; do sleep 1; done", marker.display());
    agent(folder.path(), "agent", &[Act::Run(script)]);
    let (sender, receiver) = tokio::sync::watch::channel(false);
    let cancel: Cancellation = Box::new(move || {
        let mut receiver = receiver.clone();
        Box::pin(async move {
            let _ = receiver.wait_for(|cancelled| *cancelled).await;
            Signal::Ask
        })
    });
    let task = Task {
        runner: Some(Word::Acp("agent".to_owned())),
        mark: format!("acp/cancel-{}", std::process::id()),
        ..task(folder.path(), 1)
    };
    let mark = task.mark.clone();
    let executed = runner(folder.path(), &gate(Enforcement::Normal)).execute(task, cancel, deaf());
    let cancelling = async {
        while !marker.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        sender.send(true).unwrap();
        Instant::now()
    };
    let (answer, since) = tokio::join!(executed, cancelling);
    assert_eq!(answer.end, RunnerEnd::Cancelled);
    assert!(since.elapsed() < Duration::from_secs(1), "it took {:?}", since.elapsed());
    let left = std::fs::read_dir("/proc").unwrap().flatten().filter(|process| {
        std::fs::read(process.path().join("environ"))
            .is_ok_and(|text| String::from_utf8_lossy(&text).contains(&mark))
    });
    assert_eq!(left.count(), 0, "something is left");
}
