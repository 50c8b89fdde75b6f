//! What is seen and kept of an agent at work.

use crate::stage::{Project, driver_for, start};
use abide_core::event::RunId;
use abide_engine::driver::Observer;
use abide_engine::port::{Line, OutputKey, Store as _, Stream};
use abide_testkit::RealClock;
use abide_testkit::runner::{Scripted, ScriptedRunner};
use std::sync::{Arc, Mutex};

/// Remembers what was shown.
#[derive(Default)]
struct Watcher(Mutex<Vec<(Stream, String)>>);

impl Observer for Watcher {
    fn output(&self, _: &RunId, _: &str, line: &Line) {
        self.0.lock().unwrap().push((line.stream, String::from_utf8(line.bytes.clone()).unwrap()));
    }
}

/// Runs an agent that says something on its way, or nothing; returns what was shown, and what was kept of its answer.
async fn watched(says: Option<&str>) -> (Vec<(Stream, String)>, String) {
    let project = Project::new();
    project.write(
        ".abide/abilities/review.yaml",
        "description: A review\nsteps:\n  - { id: review, agent: default, prompt: Review it. }\n",
    );
    let scripted =
        Scripted { says: says.map(str::to_owned), answer: "Fine.".to_owned(), ..Scripted::default() };
    let runner = Arc::new(ScriptedRunner::new(vec![("review".to_owned(), vec![scripted])]));
    let watcher = Arc::new(Watcher::default());
    let (driver, store) = driver_for(&project, RealClock::default(), runner, Arc::clone(&watcher) as _);
    let id = start(&driver, "review", &[]).await;
    let (_stop, stopped) = tokio::sync::watch::channel(None);
    driver.drive(id.clone(), stopped).await.unwrap();
    let kept = OutputKey { stream: id.to_string(), attempt: "review#1".to_owned(), channel: "stdout" };
    let bytes = store.read_output(&kept, 0..1_000).await.unwrap();
    let shown = watcher.0.lock().unwrap().clone();
    (shown, String::from_utf8(bytes).unwrap())
}

#[tokio::test]
async fn an_answer_is_shown_once_and_always_kept() {
    let (shown, kept) = watched(None).await;
    assert_eq!(shown, [(Stream::Stdout, "Fine.".to_owned())]);
    assert_eq!(kept, "Fine.");
    let (shown, kept) = watched(Some("I look. Fine.")).await;
    assert_eq!(shown, [(Stream::Stderr, "I look. Fine.".to_owned())], "whoever watched has seen it come");
    assert_eq!(kept, "Fine.");
}
