//! Outputs that are put in short before an agent gets them: which, by whom, and how often.

use crate::stage::{Project, TestDriver, start};
use abide_core::model::Usage;
use abide_engine::port::{Later, LongOutput, OutputKey, Runners, Signal, Store as _, Summarizer, Summary};
use abide_engine::service;
use abide_testkit::RealClock;
use abide_testkit::runner::{Scripted, ScriptedRunner};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a summarizer does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Answers,
    Fails,
    Waits,
    CannotBeUsed,
}

struct Scribe {
    how: How,
    asked: Mutex<Vec<LongOutput>>,
}

impl Scribe {
    fn new(how: How) -> Arc<Self> {
        Arc::new(Self { how, asked: Mutex::default() })
    }

    fn asked(&self) -> Vec<(String, Option<String>, Option<String>)> {
        let asked = self.asked.lock().unwrap();
        asked
            .iter()
            .map(|asked| (asked.step.clone(), asked.agent.clone(), asked.instruction.clone()))
            .collect()
    }
}

impl Summarizer for Scribe {
    fn summarize(&self, output: LongOutput) -> Later<Result<Summary, String>> {
        let text = format!("in short: {} characters", output.text.chars().count());
        self.asked.lock().unwrap().push(output);
        let how = self.how;
        Box::pin(async move {
            // Others that need the same meet here.
            tokio::time::sleep(Duration::from_millis(20)).await;
            match how {
                How::Fails => Err("the model is asleep".to_owned()),
                How::Waits => std::future::pending().await,
                How::Answers | How::CannotBeUsed => Ok(Summary {
                    text,
                    model: "openai/scripted".to_owned(),
                    usage: Usage { input_tokens: 7, output_tokens: 3, ..Usage::default() },
                }),
            }
        })
    }

    fn unusable(&self, _: Option<&str>) -> Option<String> {
        (self.how == How::CannotBeUsed).then(|| "no model is set".to_owned())
    }
}

fn project(name: &str, ability: &str) -> Project {
    let project = Project::new();
    project.write(&format!(".abide/abilities/{name}.yaml"), ability);
    for agent in ["librarian", "oracle"] {
        project.write(
            &format!(".abide/agents/{agent}.md"),
            "---\ndescription: Knows a lot\n---\nYou know a lot.\n",
        );
    }
    project
}

fn drivers(
    project: &Project,
    runner: &Arc<ScriptedRunner>,
    scribe: Option<&Arc<Scribe>>,
) -> TestDriver<RealClock> {
    let (driver, _) = crate::stage::driver(project, RealClock::default(), Arc::clone(runner) as _);
    let runners = Runners::default().with("scripted", Arc::clone(runner) as _);
    driver.with_runners(match scribe {
        Some(scribe) => runners.with_summarizer(Arc::clone(scribe) as _),
        None => runners,
    })
}

async fn drive(driver: &TestDriver<RealClock>, id: &abide_core::event::RunId) -> abide_core::run::RunStatus {
    let (_stop, stopped) = tokio::sync::watch::channel(None);
    tokio::time::timeout(Duration::from_secs(30), driver.drive(id.clone(), stopped)).await.unwrap().unwrap()
}

fn says(answer: impl Into<String>) -> Vec<Scripted> {
    vec![Scripted { answer: answer.into(), ..Scripted::default() }]
}

fn told(told: &[&str], untold: &[&str]) -> Vec<Scripted> {
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    vec![Scripted {
        told: texts(told),
        untold: texts(untold),
        answer: "done".to_owned(),
        ..Scripted::default()
    }]
}

const FIVE: &str = r"
description: Five who find something, and those who need it
settings: { parallel: true }
steps:
  - { id: short, agent: default, prompt: Look., summarize: true }
  - { id: long, agent: librarian, prompt: Look., summarize: true }
  - { id: patterns, agent: librarian, prompt: Look., summarize: Extract only the key patterns }
  - { id: never, agent: default, prompt: Look., summarize: false }
  - { id: huge, run: 'yes far too long | head -c 50000' }
  - { id: unread, agent: default, prompt: Look., summarize: true }
  - { id: plan, agent: oracle, prompt: Plan., needs: [short, long, patterns, never, huge] }
  - { id: second, agent: oracle, prompt: Plan., needs: [long] }
";

fn five(plan: Vec<Scripted>, second: Vec<Scripted>) -> Arc<ScriptedRunner> {
    let script = [
        ("short", says("A short answer.")),
        ("long", says("long ".repeat(1_000))),
        ("patterns", says("ab ab ab")),
        ("never", says("n".repeat(50_000))),
        ("unread", says("unread ".repeat(1_000))),
        ("plan", plan),
        ("second", second),
    ];
    Arc::new(ScriptedRunner::new(script.map(|(step, answers)| (step.to_owned(), answers)).into()))
}

#[tokio::test]
async fn what_an_agent_gets_is_put_in_short_where_a_step_asks_for_it_or_it_is_too_long_and_only_once() {
    let project = project("five", FIVE);
    let plan = told(
        &[
            "### Step: short (default)\nA short answer.\n",
            "### Step: long (librarian, summarized)\nin short: 5000 characters\n… left out; the whole: `abide logs ",
            "### Step: patterns (librarian, summarized)\nin short: 8 characters\n",
            "### Step: never (default)\nnnnn",
            "### Step: huge (script, summarized)\nin short: 50000 characters\n",
        ],
        &["long long", "far too long"],
    );
    let runner = five(plan, told(&["in short: 5000 characters"], &["long long"]));
    let scribe = Scribe::new(How::Answers);
    let driver = drivers(&project, &runner, Some(&scribe));
    let id = start(&driver, "five", &[]).await;
    assert_eq!(drive(&driver, &id).await.word(), "completed");
    assert_eq!(runner.surprises(), Vec::<String>::new());
    let mut asked = scribe.asked();
    asked.sort();
    let (librarian, extract) =
        (Some("librarian".to_owned()), Some("Extract only the key patterns".to_owned()));
    assert_eq!(
        asked,
        [
            ("huge".to_owned(), None, None),
            ("long".to_owned(), librarian.clone(), None),
            ("patterns".to_owned(), librarian, extract),
        ],
        "each is asked for once, and what no agent reads never"
    );
    let run = abide_engine::load(driver.store(), &id).await.unwrap().run;
    let long = &run.steps[run.position("long").unwrap()].result;
    assert_eq!(long.summary.as_deref(), Some("in short: 5000 characters"));
    assert_eq!(long.usage.unwrap().tokens(), 10, "what a summary cost stands with the step");
    assert_eq!(long.output.text.len(), 5_000, "the whole is still there");
}

const TWO: &str = r"
description: One who finds something, and one who needs it
steps:
  - { id: research, agent: librarian, prompt: Look., summarize: true, on_failure: retry, retry_delay: 0s }
  - { id: plan, agent: oracle, prompt: Plan., needs: [research], idempotent: true }
";

fn two(plan: Vec<Scripted>) -> Arc<ScriptedRunner> {
    let script = [("research", says("cats ".repeat(1_000))), ("plan", plan)];
    Arc::new(ScriptedRunner::new(script.map(|(step, answers)| (step.to_owned(), answers)).into()))
}

#[tokio::test]
async fn a_summary_outlives_its_driver() {
    let project = project("two", TWO);
    let waits = Scripted { waits: true, ..Scripted::default() };
    let again = told(&["in short: 5000 characters"], &["cats"]).remove(0);
    let runner = two(vec![waits, again]);
    let scribe = Scribe::new(How::Answers);
    let first = drivers(&project, &runner, Some(&scribe));
    let id = start(&first, "two", &[]).await;
    let (stop, stopped) = tokio::sync::watch::channel(None);
    let leave = async {
        while runner.tasks().len() < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.send(Some(Signal::Kill)).unwrap();
    };
    let (left, ()) = tokio::join!(first.drive(id.clone(), stopped), leave);
    assert!(!left.unwrap().is_final());
    let second = drivers(&project, &runner, Some(&scribe));
    assert_eq!(drive(&second, &id).await.word(), "completed");
    assert_eq!(runner.surprises(), Vec::<String>::new());
    assert_eq!(scribe.asked().len(), 1, "nobody pays twice");
}

#[tokio::test]
async fn without_a_summary_the_start_and_the_end_are_passed_on_and_the_reason_is_said() {
    let project = project("two", TWO);
    let runner = two(told(&["### Step: research (librarian)\ncats cats"], &[]));
    let scribe = Scribe::new(How::Fails);
    let driver = drivers(&project, &runner, Some(&scribe));
    let id = start(&driver, "two", &[]).await;
    assert_eq!(
        drive(&driver, &id).await.word(),
        "completed",
        "a step that is done is not lost with its summary"
    );
    assert_eq!(runner.surprises(), Vec::<String>::new());
    let kept = OutputKey { stream: id.to_string(), attempt: "plan#1".to_owned(), channel: "stderr" };
    let said = driver.store().read_output(&kept, 0..1_000).await.unwrap();
    assert_eq!(String::from_utf8(said).unwrap(), "(`research` is not summarized: the model is asleep)\n");
}

#[tokio::test]
async fn a_run_that_asks_for_a_summary_nobody_can_make_does_not_begin() {
    let project = project("two", TWO);
    let begun = |scribe: Option<Arc<Scribe>>| {
        let driver = drivers(&project, &two(Vec::new()), scribe.as_ref());
        async move {
            let start = service::Start {
                ability: "two".to_owned(),
                inputs: Vec::new(),
                input: String::new(),
                by: "ada".into(),
                session: None,
                parent: None,
                depth: 0,
                id: None,
                trace: None,
            };
            service::start(&driver, start).await.map_err(|error| error.to_string())
        }
    };
    let why =
        "step `research` of `two` cannot be run: its output is to be summarized, and that cannot be done: ";
    assert_eq!(begun(Some(Scribe::new(How::CannotBeUsed))).await, Err(format!("{why}no model is set")));
    assert_eq!(begun(None).await, Err(format!("{why}there is no model")));
}

#[tokio::test]
async fn a_cancel_does_not_wait_for_a_summary() {
    let project = project("two", TWO);
    let runner = two(vec![Scripted { waits: true, ..Scripted::default() }]);
    let scribe = Scribe::new(How::Waits);
    let driver = drivers(&project, &runner, Some(&scribe));
    let id = start(&driver, "two", &[]).await;
    let cancel = async {
        while scribe.asked().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let command = abide_core::run::Command::Cancel { by: "ada".into(), reason: None };
        service::command(&driver, &id, command).await.unwrap();
        std::time::Instant::now()
    };
    let (status, since) = tokio::join!(drive(&driver, &id), cancel);
    assert_eq!(status.word(), "cancelled");
    assert!(since.elapsed() < Duration::from_secs(1), "it ended {:?} later", since.elapsed());
}
