//! A desk that does what the name of an ability says, and remembers what it was asked.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part of it")]

use abide_mcp::desk::{
    Caller, Cancellation, Content, Desk, Question, Report, Resource, Said, Start, Subject, Submission, Talk,
    Unreadable,
};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Notify, watch};

#[derive(Default)]
pub struct Scripted {
    /// What it was asked, in order.
    pub asked: Mutex<Vec<Value>>,
    /// Wakes `ability_run` of `wait`.
    pub release: Notify,
    /// Sends to [`Desk::changes`].
    pub change: watch::Sender<u64>,
    /// Wakes a test when a call was cancelled.
    pub cancelled: Notify,
    /// Wakes a test when a call has begun.
    pub begun: Notify,
    pub resources: Mutex<Vec<Resource>>,
}

#[expect(clippy::needless_pass_by_value, reason = "it is written where it is called")]
pub fn report(text: &str, data: Value) -> Report {
    let data = data.as_object().cloned().unwrap_or_default();
    Report { text: text.to_owned(), data, failed: false }
}

impl Scripted {
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    pub fn heard(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }

    fn note(&self, what: Value) {
        self.asked.lock().unwrap().push(what);
    }
}

impl Desk for Scripted {
    fn instructions(&self) -> String {
        "Run abilities; do not do by hand what an ability is for.".to_owned()
    }

    async fn list(&self, caller: &Caller) -> Report {
        let known = caller.call.as_ref().or(caller.session.as_ref()).is_some();
        let mut asked = json!({ "list": format!("{:?}", caller.origin), "client": caller.client });
        if known {
            asked["call"] = json!([caller.call, caller.session]);
        }
        self.note(asked);
        report("deploy: puts it out", json!({ "abilities": ["deploy"] }))
    }

    async fn run(&self, asked: Start, talk: &dyn Talk) -> Report {
        self.note(json!({
            "run": asked.ability, "inputs": asked.inputs, "input": asked.input, "raw": asked.raw,
            "origin": format!("{:?}", asked.caller.origin),
        }));
        self.begun.notify_one();
        match asked.ability.as_str() {
            "wait" => {
                tokio::select! {
                    () = self.release.notified() => report("waited", json!({})),
                    () = talk.cancelled() => {
                        self.cancelled.notify_one();
                        Report::failure("cancelled")
                    }
                }
            }
            // Hears it, and brings what it is at to its end.
            "ends" => {
                talk.cancelled().await;
                tokio::time::sleep(Duration::from_secs(3)).await;
                report("brought to its end", json!({}))
            }
            "chatter" => {
                for done in 0..300 {
                    talk.progress(done, 300, "on and on");
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                report("300 steps", json!({}))
            }
            "approve" => {
                let said = talk.ask(question(asked.inputs.get("within"))).await;
                let text = match &said {
                    Said::Chosen { option, comment } => format!("chosen {option} {comment:?}"),
                    Said::NoAnswer(why) => format!("no answer: {why}"),
                    Said::Unsupported => "cannot ask".to_owned(),
                };
                self.note(json!({ "said": text }));
                report(&text, json!({}))
            }
            "approve-twice" => {
                let (one, other) = tokio::join!(talk.ask(question(None)), talk.ask(question(None)));
                report(&format!("{one:?} {other:?}"), json!({}))
            }
            "steps" => {
                for (done, message) in
                    [(0, "test"), (1, "build"), (1, "build: half"), (1, "build: half"), (2, "deploy")]
                {
                    talk.progress(done, 3, message);
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                // Too late to be told before the result.
                talk.progress(3, 3, "over");
                report("3 steps", json!({ "steps": 3 }))
            }
            "flood" => {
                for done in 0..100_000 {
                    talk.progress(done, 100_000, &"x".repeat(100));
                }
                report("flooded", json!({}))
            }
            "long" => report(&"x".repeat(2_000_000), json!({ "long": "y".repeat(2_000_000), "run": "r1" })),
            "panic" => panic!("the desk fell over"),
            other => Report::failure(format!("there is no ability `{other}`")),
        }
    }

    async fn status(&self, run: Option<String>, _: &Caller) -> Report {
        self.note(json!({ "status": run }));
        report("running", json!({ "status": "running", "run": run }))
    }

    async fn submit(&self, asked: Submission, _: &dyn Talk) -> Report {
        self.note(
            json!({ "submit": asked.run, "step": asked.step, "output": asked.output, "raw": asked.raw }),
        );
        report("accepted", json!({}))
    }

    async fn cancel(&self, asked: Cancellation, _: &dyn Talk) -> Report {
        self.note(json!({ "cancel": asked.run, "reason": asked.reason }));
        Report { failed: true, ..report("only a human may cancel a strict run", json!({ "refused": true })) }
    }

    async fn validate(&self, ability: Option<String>, _: &Caller) -> Report {
        self.note(json!({ "validate": ability }));
        report("no problems", json!({ "problems": [] }))
    }

    async fn agent(&self, agent: Option<String>, _: &Caller) -> Report {
        self.note(json!({ "agent": agent }));
        report("reviewer: deploy", json!({ "agents": ["reviewer"] }))
    }

    async fn resources(&self, _: &Caller) -> Result<Vec<Resource>, Unreadable> {
        Ok(self.resources.lock().unwrap().clone())
    }

    async fn read(&self, subject: Subject, _: &Caller) -> Result<Content, Unreadable> {
        match subject {
            Subject::Ability(name) if name == "deploy/production" => {
                Ok(Content { text: "name: deploy/production\n".to_owned(), mime: "application/yaml" })
            }
            Subject::Run(id) if id == "r1" => Ok(Content { text: "{}".to_owned(), mime: "application/json" }),
            Subject::Run(id) if id == "broken" => Err(Unreadable::Failed("the log is damaged".to_owned())),
            other => Err(Unreadable::NotFound(format!("there is no `{}`", other.name()))),
        }
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        Some(self.change.subscribe())
    }
}

pub fn question(within: Option<&Value>) -> Question {
    Question {
        message: "Deploy v1 to production?".to_owned(),
        options: vec!["approve".to_owned(), "reject".to_owned()],
        within: within.and_then(Value::as_u64).map(Duration::from_millis),
    }
}
