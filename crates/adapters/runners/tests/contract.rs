//! The runners of the clients against a client that is a script: what they promise, and what they do when it asks nobody.
#![expect(clippy::disallowed_methods, reason = "these tests write the script that stands in for a client")]

use abide_core::definition::{Budget, Enforcement};
use abide_core::model::Usage;
use abide_core::value::Value;
use abide_engine::port::{Answer, Cancellation, Listener, Runner, RunnerEnd, Task};
use abide_process::LocalProcess;
use abide_runners::{Client, ClientRunner, Held, Judge, Keeper, Profile, Profiles, Watch};
use abide_testkit::RealClock;
use abide_testkit::runner::contract::{ANSWER, Behaviour, check, task};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A gate that was asked as a test says.
#[derive(Clone, Copy)]
struct Gate {
    asked: bool,
    about: &'static [&'static str],
    loose: bool,
}

const HELD: Gate = Gate { asked: true, about: &["c1"], loose: false };

impl Keeper for Gate {
    fn hold(&self, _: Client, _: &Task, _: Option<Vec<String>>) -> Result<Held, String> {
        Ok(Held { arguments: vec!["--held".to_owned()], variables: Vec::new(), watch: Box::new(*self) })
    }

    fn judge(&self, _: &Task, _: Option<Vec<String>>) -> Result<Box<dyn Judge>, String> {
        Ok(Box::new(*self))
    }
}

impl Judge for Gate {
    fn judge(&self, _: &[&str], _: &Value, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn level(&self) -> Enforcement {
        if self.loose { Enforcement::Loose } else { Enforcement::Strict }
    }
}

impl Watch for Gate {
    fn is_loose(&self) -> bool {
        self.loose
    }

    fn has_asked(&self) -> bool {
        self.asked
    }

    fn has_asked_about(&self, call: &str) -> bool {
        self.about.contains(&call)
    }

    fn calls(&self) -> usize {
        self.about.len()
    }
}

struct Nobody;

impl Profiles for Nobody {
    fn find(&self, _: &str) -> Option<Profile> {
        None
    }
}

fn never() -> Cancellation {
    Box::new(|| Box::pin(std::future::pending()))
}

fn deaf() -> Listener {
    Box::new(|_| Box::pin(std::future::ready(())))
}

/// Writes a program that stands in for a client: it reads its task, and then does what the script says.
fn program(folder: &Path, script: &str) -> PathBuf {
    static COUNT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let path = folder.join(format!("client-{count}"));
    std::fs::write(
        &path,
        format!("#!/bin/sh\necho \"$*\" >> '{0}/arguments'\ncat >> '{0}/told'\n{script}\n", folder.display()),
    )
    .unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn runner(client: Client, folder: &Path, script: &str, gate: Gate) -> Arc<dyn Runner> {
    let machine = (Arc::new(LocalProcess::new()), Arc::new(RealClock::default()));
    let program = Some(program(folder, script));
    Arc::new(ClientRunner::new(client, program, machine, Arc::new(gate), Arc::new(Nobody)))
}

/// Returns what a client writes that uses a tool, says something and is done.
fn stream(client: Client) -> String {
    let lines: &[String] = &match client {
        Client::Claude => vec![
            r#"{"type":"assistant","session_id":"s","message":{"content":[{"type":"text","text":"I look"}]}}"#.to_owned(),
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}}"#.to_owned(),
            format!(r#"{{"type":"result","is_error":false,"result":"{ANSWER}","session_id":"s","usage":{{"input_tokens":1,"output_tokens":1}}}}"#),
        ],
        Client::Opencode => vec![
            r#"{"type":"tool_use","sessionID":"s","part":{"tool":"read","callID":"c1","state":{"status":"completed"}}}"#.to_owned(),
            format!(r#"{{"type":"text","sessionID":"s","part":{{"text":"{ANSWER}"}}}}"#),
            r#"{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1,"output":1}}}"#.to_owned(),
        ],
        Client::Codex => vec![
            r#"{"type":"thread.started","thread_id":"s"}"#.to_owned(),
            r#"{"type":"item.completed","item":{"type":"command_execution"}}"#.to_owned(),
            format!(r#"{{"type":"item.completed","item":{{"type":"agent_message","text":"{ANSWER}"}}}}"#),
            r#"{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#.to_owned(),
        ],
    };
    let lines: Vec<String> = lines.iter().map(|line| format!("echo '{line}'\n")).collect();
    lines.concat()
}

async fn run(runner: &Arc<dyn Runner>, task: Task) -> Answer {
    runner.execute(task, never(), deaf()).await
}

#[tokio::test]
async fn each_client_keeps_the_contract_of_a_runner() {
    for client in Client::ALL {
        let folder = tempfile::tempdir().unwrap();
        let subject = |behaviour| {
            let script = match behaviour {
                Behaviour::Answers => stream(client),
                Behaviour::Waits => "exec sleep 60".to_owned(),
            };
            runner(client, folder.path(), &script, HELD)
        };
        check(&subject, folder.path()).await;
    }
}

#[tokio::test]
async fn a_client_that_does_not_ask_the_gate_is_ended() {
    for client in Client::ALL {
        let folder = tempfile::tempdir().unwrap();
        let script = format!("{}sleep 60", stream(client));
        for (gate, why) in [
            (Gate { asked: false, ..HELD }, "without asking"),
            (Gate { about: &[], ..HELD }, "used a tool without asking"),
        ] {
            let begun = std::time::Instant::now();
            let answer = run(&runner(client, folder.path(), &script, gate), task(folder.path(), 1)).await;
            let RunnerEnd::Failed(reason) = answer.end else { panic!("{client:?}: {answer:?}") };
            assert!(reason.contains(why) && reason.contains("abide doctor"), "{client:?}: {reason}");
            assert!(begun.elapsed().as_secs() < 20);
        }
        let loose = Gate { asked: false, about: &[], loose: true };
        let answer =
            run(&runner(client, folder.path(), &stream(client), loose), task(folder.path(), 1)).await;
        assert_eq!(answer.end, RunnerEnd::Finished, "nothing is held back there");
    }
}

#[tokio::test]
async fn a_client_that_uses_more_than_it_may_is_ended_and_what_it_used_is_told() {
    let used = |client| match client {
        Client::Claude => {
            r#"{"type":"assistant","session_id":"s","message":{"id":"m1","content":[],"usage":{"input_tokens":90,"output_tokens":10}}}"#
        }
        Client::Opencode => {
            r#"{"type":"step_finish","part":{"reason":"tool-calls","tokens":{"input":90,"output":10}}}"#
        }
        Client::Codex => r#"{"type":"turn.completed","usage":{"input_tokens":90,"output_tokens":10}}"#,
    };
    for client in Client::ALL {
        let folder = tempfile::tempdir().unwrap();
        let line = format!("echo '{}'\n", used(client));
        let tokens = |tokens| Budget { tokens: Some(tokens), ..Budget::default() };
        let within = Task { budget: tokens(101), ..task(folder.path(), 1) };
        let answer =
            run(&runner(client, folder.path(), &(line.clone() + &stream(client)), HELD), within).await;
        assert_eq!(answer.end, RunnerEnd::Finished, "{client:?}: {answer:?}");
        if client == Client::Codex {
            // It tells what it used when it is done, and not before.
            continue;
        }
        let begun = std::time::Instant::now();
        let beyond = Task { budget: tokens(100), ..task(folder.path(), 1) };
        let answer = run(&runner(client, folder.path(), &(line + "sleep 60"), HELD), beyond).await;
        let why = "the budget of 100 tokens is used up";
        assert_eq!(answer.end, RunnerEnd::Failed(why.to_owned()), "{client:?}");
        assert_eq!(answer.usage.map(Usage::tokens), Some(100), "{client:?}");
        assert!(begun.elapsed().as_secs() < 20);
    }
}

#[tokio::test]
async fn what_is_missing_goes_to_the_same_session_and_only_that() {
    for (client, resume) in
        [(Client::Claude, "--resume s"), (Client::Opencode, "--session s"), (Client::Codex, "resume --json")]
    {
        let folder = tempfile::tempdir().unwrap();
        let runner = runner(client, folder.path(), &stream(client), HELD);
        run(&runner, task(folder.path(), 1)).await;
        let missing = vec!["`a.txt` does not exist".to_owned()];
        run(&runner, Task { missing, ..task(folder.path(), 2) }).await;
        let read = |name| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let (arguments, told) = (read("arguments"), read("told"));
        let [first, second] = arguments.lines().collect::<Vec<_>>()[..] else { panic!("{arguments}") };
        assert!(!first.contains(resume) && second.contains(resume), "{arguments}");
        assert!(first.contains("--held") && second.contains("--held"), "{arguments}");
        assert_eq!(told.matches("What is the answer?").count(), 1, "it knows its task: {told}");
        assert!(told.contains("`a.txt` does not exist"), "{told}");
    }
}

#[tokio::test]
async fn a_client_does_not_get_the_variables_that_hold_secrets() {
    for client in [Client::Claude, Client::Opencode, Client::Codex] {
        let folder = tempfile::tempdir().unwrap();
        let script = format!("env > {}/environment\n{}", folder.path().display(), stream(client));
        let runner = runner(client, folder.path(), &script, HELD);
        // What runs the tests sets it, and no client needs it.
        let has_it = |without: Vec<String>| {
            let (runner, folder) = (&runner, &folder);
            let task = Task { without, ..task(folder.path(), 1) };
            async move {
                run(runner, task).await;
                let environment = std::fs::read_to_string(folder.path().join("environment")).unwrap();
                environment.contains("CARGO_MANIFEST_DIR=")
            }
        };
        assert!(has_it(Vec::new()).await);
        assert!(!has_it(vec!["CARGO_MANIFEST_DIR".to_owned()]).await);
    }
}

#[tokio::test]
async fn a_long_task_is_told_whole_and_a_client_that_reads_nothing_holds_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let context = "a long line of context\n".repeat(20_000);
    let long = Task { context: context.clone(), ..task(folder.path(), 1) };
    let answer =
        run(&runner(Client::Claude, folder.path(), &stream(Client::Claude), HELD), long.clone()).await;
    assert_eq!(answer.end, RunnerEnd::Finished);
    assert!(std::fs::read_to_string(folder.path().join("told")).unwrap().contains(context.trim_end()));
    let deaf = folder.path().join("deaf");
    std::fs::write(&deaf, "#!/bin/sh\nexit 3\n").unwrap();
    std::fs::set_permissions(&deaf, std::fs::Permissions::from_mode(0o755)).unwrap();
    let machine = (Arc::new(LocalProcess::new()), Arc::new(RealClock::default()));
    let runner: Arc<dyn Runner> =
        Arc::new(ClientRunner::new(Client::Claude, Some(deaf), machine, Arc::new(HELD), Arc::new(Nobody)));
    let answer = run(&runner, long).await;
    assert_eq!(
        answer.end,
        RunnerEnd::Failed("Claude Code ended with exit code 3 and without an answer".into())
    );
}

#[tokio::test]
async fn a_client_that_is_not_there_is_said_to_be_missing_before_anything_runs() {
    let folder = tempfile::tempdir().unwrap();
    let machine = (Arc::new(LocalProcess::new()), Arc::new(RealClock::default()));
    let runner: Arc<dyn Runner> =
        Arc::new(ClientRunner::new(Client::Codex, None, machine, Arc::new(HELD), Arc::new(Nobody)));
    assert!(runner.unusable().unwrap().contains("npm install -g @openai/codex"));
    assert!(matches!(run(&runner, task(folder.path(), 1)).await.end, RunnerEnd::Failed(_)));
}
