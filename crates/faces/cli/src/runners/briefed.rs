//! Steps of skills for runners that do not know what a skill is: the task says all of it before it is handed on.
//!
//! Whether the skill can be used is looked at, its text is filled in by the rules of a step, and the tools that it says it uses
//! become those of the task, so that the gate of whoever does it holds them.

use crate::builtin::Here;
use crate::builtin::skills::filled_in;
use abide_core::definition::{Ability, Step};
use abide_core::event::{RunId, StepKey};
use abide_engine::port::{Answer, Cancellation, Later, Listener, Runner, RunnerEnd, Task, Worker};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// How many steps are remembered whose evidence may be missing.
const MOST_KNOWN: usize = 256;

/// A runner that is told what skills say.
pub(crate) struct Briefed {
    inner: Arc<dyn Runner>,
    here: Arc<Here>,
    known: Arc<Known>,
}

/// What was filled in for steps, the oldest first: an attempt that only lacks evidence is not filled in again, because commands
/// would run again.
#[derive(Default)]
struct Known(Mutex<VecDeque<((RunId, StepKey), Told)>>);

/// What a worker is told about a skill, and the tools that it may use.
type Told = (String, Option<Vec<String>>);

impl Briefed {
    pub(crate) fn new(inner: Arc<dyn Runner>, here: Arc<Here>) -> Self {
        Self { inner, here, known: Arc::default() }
    }
}

impl Known {
    fn of(&self, task: &Task) -> Option<Told> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = |(run, key): &(RunId, StepKey)| *run == task.run && *key == task.key;
        known.iter().find(|(step, _)| is_it(step)).map(|(_, told)| told.clone())
    }

    fn keep(&self, task: &Task) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|((run, key), _)| *run != task.run || *key != task.key);
        if known.len() >= MOST_KNOWN {
            known.pop_front();
        }
        known.push_back(((task.run.clone(), task.key.clone()), (task.prompt.clone(), task.tools.clone())));
    }
}

impl Runner for Briefed {
    fn execute(&self, task: Task, mut cancel: Cancellation, listener: Listener) -> Later<Answer> {
        if !matches!(task.worker, Worker::Skill { .. }) {
            return self.inner.execute(task, cancel, listener);
        }
        let (inner, here, known) = (Arc::clone(&self.inner), Arc::clone(&self.here), Arc::clone(&self.known));
        Box::pin(async move {
            let task = match known.of(&task).filter(|_| !task.missing.is_empty()) {
                Some((prompt, tools)) => Task { prompt, tools, ..task },
                None => {
                    let filled = tokio::select! {
                        filled = filled_in(&here, task) => filled,
                        _ = cancel() => return Answer::ended(RunnerEnd::Cancelled),
                    };
                    match filled {
                        Ok(task) => task,
                        Err(why) => return Answer::ended(RunnerEnd::Failed(why)),
                    }
                }
            };
            known.keep(&task);
            inner.execute(task, cancel, listener).await
        })
    }

    fn keeps(&self) -> bool {
        self.inner.keeps()
    }

    fn unusable(&self) -> Option<String> {
        self.inner.unusable()
    }

    fn unusable_for(&self, ability: &Ability, step: &Step) -> Option<String> {
        self.inner.unusable_for(ability, step)
    }
}
