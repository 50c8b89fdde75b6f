//! What every runner must keep, whatever executes its tasks.
//!
//! An implementation gives a [`Subject`]: runners whose workers behave as asked for. Start at [`check`].

use crate::RealClock;
use abide_core::definition::Budget;
use abide_core::event::{RunId, StepKey};
use abide_engine::port::{
    Answer, Cancellation, Clock as _, Listener, Runner, RunnerEnd, Signal, Task, Worker,
};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a worker does in a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behaviour {
    /// It says something on its way and answers with [`ANSWER`].
    Answers,
    /// It goes on until it is ended.
    Waits,
}

/// The answer of a worker that answers.
pub const ANSWER: &str = "the answer is 42";

/// Makes runners whose workers behave as asked for.
pub type Subject<'a> = &'a dyn Fn(Behaviour) -> Arc<dyn Runner>;

/// How long a runner may take to end what it was told to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Holds a runner to its contract.
///
/// # Panics
/// When it does not keep it: this is a test.
pub async fn check(subject: Subject<'_>, folder: &Path) {
    an_answer_is_final_and_what_was_said_came_before(subject, folder).await;
    a_cancel_ends_a_task(subject, folder, Signal::Ask).await;
    a_cancel_ends_a_task(subject, folder, Signal::Kill).await;
    a_cancel_before_the_start_is_not_lost(subject, folder).await;
    a_deadline_ends_a_task(subject, folder).await;
    tasks_at_the_same_time_do_not_hold_each_other(subject, folder).await;
}

/// Builds a task for a check.
pub fn task(folder: &Path, attempt: u32) -> Task {
    let (Some(run), Some(key)) = (RunId::parse("contract"), StepKey::parse("work")) else {
        unreachable!("both are valid names")
    };
    Task {
        mark: format!("contract/work#{attempt}"),
        run,
        key,
        attempt,
        worker: Worker::Agent { name: "default".to_owned() },
        prompt: "What is the answer?".to_owned(),
        context: String::new(),
        missing: Vec::new(),
        tools: Some(Vec::new()),
        output_schema: None,
        runner: None,
        budget: Budget::default(),
        deadline: None,
        folder: folder.to_path_buf(),
        without: Vec::new(),
    }
}

fn never() -> Cancellation {
    Box::new(|| Box::pin(std::future::pending()))
}

fn after(time: Duration, signal: Signal) -> Cancellation {
    Box::new(move || {
        Box::pin(async move {
            tokio::time::sleep(time).await;
            signal
        })
    })
}

fn deaf() -> Listener {
    Box::new(|_| Box::pin(std::future::ready(())))
}

async fn ended(runner: &Arc<dyn Runner>, task: Task, cancel: Cancellation, listener: Listener) -> Answer {
    let answer = tokio::time::timeout(PATIENCE, runner.execute(task, cancel, listener)).await;
    answer.unwrap_or_else(|_| panic!("the task did not end within {PATIENCE:?}"))
}

async fn an_answer_is_final_and_what_was_said_came_before(subject: Subject<'_>, folder: &Path) {
    let said = Arc::new(Mutex::new(String::new()));
    let heard = Arc::clone(&said);
    let listener: Listener = Box::new(move |text| {
        heard.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push_str(&text);
        Box::pin(std::future::ready(()))
    });
    let answer = ended(&subject(Behaviour::Answers), task(folder, 1), never(), listener).await;
    assert_eq!((answer.end, answer.text.as_str()), (RunnerEnd::Finished, ANSWER));
    let said = said.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    assert!(!said.is_empty(), "what a worker says is handed on before it answers");
}

async fn a_cancel_ends_a_task(subject: Subject<'_>, folder: &Path, signal: Signal) {
    let cancel = after(Duration::from_millis(50), signal);
    let answer = ended(&subject(Behaviour::Waits), task(folder, 1), cancel, deaf()).await;
    assert_eq!(answer.end, RunnerEnd::Cancelled, "{signal:?}");
}

async fn a_cancel_before_the_start_is_not_lost(subject: Subject<'_>, folder: &Path) {
    let cancel: Cancellation = Box::new(|| Box::pin(std::future::ready(Signal::Ask)));
    let answer = ended(&subject(Behaviour::Waits), task(folder, 1), cancel, deaf()).await;
    assert_eq!(answer.end, RunnerEnd::Cancelled);
}

async fn a_deadline_ends_a_task(subject: Subject<'_>, folder: &Path) {
    let deadline = Some(RealClock::default().now().after(Duration::from_millis(100)));
    let task = Task { deadline, ..task(folder, 1) };
    let answer = ended(&subject(Behaviour::Waits), task, never(), deaf()).await;
    assert_eq!(answer.end, RunnerEnd::TimedOut);
}

async fn tasks_at_the_same_time_do_not_hold_each_other(subject: Subject<'_>, folder: &Path) {
    let waits = subject(Behaviour::Waits);
    let long = ended(&waits, task(folder, 1), after(Duration::from_millis(300), Signal::Ask), deaf());
    let short = ended(&waits, task(folder, 1), after(Duration::from_millis(20), Signal::Ask), deaf());
    tokio::select! {
        _ = long => panic!("the task that was to end first did not"),
        answer = short => assert_eq!(answer.end, RunnerEnd::Cancelled),
    }
}
