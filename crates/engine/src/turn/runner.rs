//! The runner `builtin`: steps of agents done by our own loop.

use super::rounds::{Agent, Heard, ModelSeat, Report, one_by_one};
use super::step::{Attempt, attempt, by_schema, label, session_of};
use super::{CallTree, Gate, Permissions, SessionLog};
use crate::port::{
    Answer, Cancellation, Clock, Confirm, Later, Listener, Runner, RunnerEnd, Stop, Stopper, Store, Task,
    Worker,
};
use crate::toolbox::Toolbox;
use abide_core::model::{Arguments, Part, Piece, Usage};
use abide_core::turn::{Decision, Exhausted, SessionCreated, Spent, TurnEnd, TurnEvent, cut};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Who does a task, with everything that it needs.
pub struct Seat {
    /// Who is asked.
    pub model: ModelSeat,
    /// The full name of the model, for the log.
    pub model_name: String,
    /// What the model is told before everything else.
    pub system: String,
    /// The tools, narrowed to those that the task may use.
    pub toolbox: Toolbox,
    /// The agent's own rules.
    pub permissions: Arc<dyn Permissions>,
    /// What holds it to the step.
    pub gate: Arc<dyn Gate>,
    /// Who is asked where a human must agree.
    pub confirm: Arc<dyn Confirm>,
    /// What one attempt may use; for those of its tools that call other agents, too.
    pub tree: CallTree,
}

/// Finds who does a task. The error says why nobody can, and what to set.
pub trait Cast: Send + Sync + 'static {
    /// Puts together who does it, with tools that are bound to the task's folder and mark.
    fn seat(&self, task: &Task) -> Later<Result<Seat, String>>;

    /// Returns what the worker is told when it begins; what a skill says is filled in here, and nowhere else.
    ///
    /// Asked once for each time that a task is begun, and not again for an attempt that goes on: it may run commands.
    fn message(&self, task: &Task) -> Later<Result<String, String>> {
        Box::pin(std::future::ready(Ok(task.message())))
    }
}

/// Executes steps by our own loop, each in a session of its own that is kept in a store.
pub struct BuiltinRunner<S, C> {
    inner: Arc<Inner<S, C>>,
}

struct Inner<S, C> {
    store: Arc<S>,
    clock: Arc<C>,
    cast: Arc<dyn Cast>,
    /// The turns whose answers this process has handed on: what comes after them is another attempt.
    taken: Mutex<HashSet<(String, u32)>>,
}

impl<S: Store, C: Clock> BuiltinRunner<S, C> {
    /// Makes a runner that keeps its sessions in a store.
    pub fn new(store: Arc<S>, clock: Arc<C>, cast: Arc<dyn Cast>) -> Self {
        Self { inner: Arc::new(Inner { store, clock, cast, taken: Mutex::default() }) }
    }
}

impl<S: Store, C: Clock> Runner for BuiltinRunner<S, C> {
    fn execute(&self, task: Task, mut cancel: Cancellation, listener: Listener) -> Later<Answer> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            let (stopper, stop) = Stopper::pair();
            let executed = inner.execute(task, listener, stop);
            tokio::pin!(executed);
            tokio::select! {
                biased;
                answer = &mut executed => return answer,
                _ = cancel() => stopper.stop(),
            }
            // What it was doing ends at once; that it was cancelled is still to be written down.
            executed.await
        })
    }

    fn keeps(&self) -> bool {
        true
    }
}

impl<S: Store, C: Clock> Inner<S, C> {
    async fn execute(&self, task: Task, listener: Listener, stop: Stop) -> Answer {
        match self.attempt(&task, listener, &stop).await {
            Ok(answer) => answer,
            Err(_) if stop.happened() => Answer::ended(RunnerEnd::Cancelled),
            Err(why) => Answer::ended(RunnerEnd::Failed(why)),
        }
    }

    async fn attempt(&self, task: &Task, listener: Listener, stop: &Stop) -> Result<Answer, String> {
        let seat = self.cast.seat(task).await?;
        seat.tree.spend_within(task.budget);
        if let Some(deadline) = task.deadline {
            seat.tree.end_within(deadline.since(self.clock.now()));
        }
        let agent = Agent {
            clock: Arc::clone(&self.clock),
            model: seat.model,
            system: seat.system,
            toolbox: seat.toolbox,
            schema: task.output_schema.clone(),
            permissions: seat.permissions,
            gate: seat.gate,
            confirm: seat.confirm,
            tree: seat.tree,
            watch: Some(one_by_one(listener, said)),
        };
        let wrong = |error: &dyn std::fmt::Display| format!("the session of the step cannot go on: {error}");
        let mut session = self.session(task, seat.model_name).await.map_err(|error| wrong(&error))?;
        let label = label(task);
        let taken = self.is_taken(&session);
        let conversation = session.conversation();
        let report = match attempt(task, conversation, &label, taken) {
            Attempt::Answered => Report::of(conversation, TurnEnd::Finished),
            Attempt::GoOn => match agent.go_on(&mut session, stop).await {
                Ok(Some(report)) => report,
                Ok(None) => return Err("the session has no turn".to_owned()),
                Err(error) => return Err(wrong(&error)),
            },
            begun @ (Attempt::Begin | Attempt::Tell(_)) => {
                let text = match begun {
                    Attempt::Tell(text) => text,
                    _ => self.cast.message(task).await? + &by_schema(task),
                };
                let parts = vec![Part::Text(text)];
                agent.turn(&mut session, parts, Some(label), stop).await.map_err(|error| wrong(&error))?
            }
        };
        self.take(&session);
        Ok(answer(report))
    }

    async fn session(&self, task: &Task, model: String) -> Result<SessionLog<S>, super::SessionError> {
        let id = session_of(&task.run, &task.key);
        if let Some(session) = SessionLog::find(Arc::clone(&self.store), id.clone()).await? {
            return Ok(session);
        }
        let agent = match &task.worker {
            Worker::Agent { name } | Worker::Skill { name, .. } => name.clone(),
        };
        let (run, step) = (Some(task.run.to_string()), Some(task.key.to_string()));
        let created = SessionCreated { agent, model, parent: None, run, step };
        SessionLog::create(Arc::clone(&self.store), id, created).await
    }

    fn is_taken(&self, session: &SessionLog<S>) -> bool {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.contains(&(session.id().to_string(), session.conversation().turns))
    }

    fn take(&self, session: &SessionLog<S>) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.insert((session.id().to_string(), session.conversation().turns));
    }
}

fn answer(report: Report) -> Answer {
    let end = match report.end {
        TurnEnd::Finished => RunnerEnd::Finished,
        TurnEnd::Cancelled => RunnerEnd::Cancelled,
        TurnEnd::OutOfBudget(Exhausted::Time) => RunnerEnd::TimedOut,
        end @ (TurnEnd::OutOfBudget(_) | TurnEnd::Failed { .. }) => RunnerEnd::Failed(end.to_string()),
    };
    let usage = Some(report.spent.usage).filter(|usage| *usage != Usage::default());
    let Spent { cost, turns, .. } = report.spent;
    Answer { end, text: report.text, structured: report.structured, usage, cost, turns }
}

/// Returns what people who follow a run are shown.
fn said(heard: Heard) -> Option<String> {
    const SHOWN: usize = 200;
    let line = |text: String| Some(format!("{text}\n"));
    match heard {
        Heard::Text(text) => Some(text),
        Heard::Again { because, wait } => line(format!("\n({because}; asked again in {wait} ms)")),
        Heard::Calling(call) => {
            let arguments = match &call.arguments {
                Arguments::Data(value) => value.to_string(),
                Arguments::Unreadable(text) => text.clone(),
            };
            line(format!("\n→ {} {}", call.name, cut(&arguments, SHOWN).replace('\n', " ")))
        }
        Heard::Happened(TurnEvent::Decided { decision: Decision::Denied { why, .. }, .. }) => {
            line(format!("\n✗ {}", why.replace('\n', " ")))
        }
        Heard::Happened(TurnEvent::Answered(answered)) => {
            // The next thing that is said stands on a line of its own.
            answered.pieces.iter().any(|piece| matches!(piece, Piece::Text(_))).then(|| "\n".to_owned())
        }
        Heard::Thought(_) | Heard::Happened(_) => None,
    }
}
