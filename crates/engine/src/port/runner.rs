//! Runners: what executes the step of an agent or a skill.

use super::{Signal, Summarizer};
use abide_core::definition::{self, Budget};
use abide_core::event::{RunId, StepKey, Timestamp};
use abide_core::model::{Cost, Usage};
use abide_core::value::Value;
use abide_core::view::context::message;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

/// One attempt of a step, with every value in place. No part of it holds a secret.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The run that it belongs to.
    pub run: RunId,
    /// Which step, or which instance of it.
    pub key: StepKey,
    /// Counted from 1.
    pub attempt: u32,
    /// Who is to do it.
    pub worker: Worker,
    /// What is to be done.
    pub prompt: String,
    /// What goes before it: outputs of earlier steps, files, texts. Empty when there is nothing.
    pub context: String,
    /// The evidence that the attempt before did not show, each as a sentence.
    pub missing: Vec<String>,
    /// The only tools that may be used; `None` leaves the worker its own.
    pub tools: Option<Vec<String>>,
    /// The JSON Schema that the answer must fit; whether it does is not the runner's to decide.
    pub output_schema: Option<Value>,
    /// What the step says about who executes it: an `acp` runner finds its command here.
    pub runner: Option<definition::Runner>,
    /// What may still be used of models for it; a runner that hears what its worker uses ends one that passes this.
    pub budget: Budget,
    /// When the runner ends it.
    pub deadline: Option<Timestamp>,
    /// The project's root.
    pub folder: PathBuf,
    /// The mark of every process that it starts, as in [`super::Spec`].
    pub mark: String,
    /// Variables of our environment that none of them gets, because they hold secrets.
    pub without: Vec<String>,
}

impl Task {
    /// Returns all that the worker is told, in one text.
    pub fn message(&self) -> String {
        message(&self.context, &self.prompt, &self.missing)
    }
}

/// Who does a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Worker {
    /// An agent.
    Agent {
        /// Its name.
        name: String,
    },
    /// A skill, run as an agent with bounds.
    Skill {
        /// Its name.
        name: String,
        /// What it is given.
        inputs: Vec<(String, Value)>,
    },
}

impl Worker {
    /// Returns the agent that does it: steps of skills are done by `default`.
    pub fn agent(&self) -> &str {
        match self {
            Self::Agent { name } => name,
            Self::Skill { .. } => "default",
        }
    }
}

/// What came of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// How it ended.
    pub end: RunnerEnd,
    /// The final text. It claims to be done: what proves it is looked at by abide.
    pub text: String,
    /// The answer as data, from runners that have it.
    pub structured: Option<Value>,
    /// What was used of a model, from runners that know.
    pub usage: Option<Usage>,
    /// What that cost, from runners that know.
    pub cost: Cost,
    /// How often a model answered, from runners that know.
    pub turns: u32,
}

impl Answer {
    /// Makes the answer of a task that came to its end.
    pub fn finished(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::ended(RunnerEnd::Finished) }
    }

    /// Makes the answer of a task that has no final text.
    pub fn ended(end: RunnerEnd) -> Self {
        Self { end, text: String::new(), structured: None, usage: None, cost: Cost::default(), turns: 0 }
    }
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunnerEnd {
    /// By itself.
    Finished,
    /// The runner gave up, for this reason: no model, no network, no such agent.
    Failed(String),
    /// It was told to.
    Cancelled,
    /// Its time was over.
    TimedOut,
}

/// A future that can be kept beside others of its kind.
pub type Later<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What says that a task is to end early; it is a [`super::Cancel`] and can be handed on to a process.
pub type Cancellation = Box<dyn FnMut() -> Later<Signal> + Send>;

/// What takes the text that a worker says on its way. The next is sent when the future is done.
pub type Listener = Box<dyn FnMut(String) -> Later<()> + Send>;

/// Executes the steps of agents and skills.
///
/// Contract:
/// - The worker is told [`Task::message`], and may use [`Task::tools`] and nothing else. For a skill, these only name it until
///   somebody has filled it in: whoever puts runners together sees to that.
/// - What it says is handed to `listener` as it comes; the final text is in the answer whether it was said or not.
/// - At the deadline, and when `cancel` yields, the task ends within ten seconds (at once on [`Signal::Kill`]) and what
///   came first is its [`RunnerEnd`]. A driver drops the future of a task that does not.
/// - Dropping the future ends everything that was started for it. After a crash, what carries [`Task::mark`] is ended
///   by the next driver.
/// - A task is executed once for each call; the same attempt is never given twice.
pub trait Runner: Send + Sync + 'static {
    /// Executes a task to its end.
    fn execute(&self, task: Task, cancel: Cancellation, listener: Listener) -> Later<Answer>;

    /// Returns whether the worker outlives the driver and remembers what it was given.
    ///
    /// An attempt of such a runner is not lost with its driver: the next one hands the same task out again.
    fn keeps(&self) -> bool {
        false
    }

    /// Returns why it cannot execute anything here, and what to do about that: nothing is started that comes to it.
    fn unusable(&self) -> Option<String> {
        None
    }

    /// Returns why it cannot execute this step of this ability.
    fn unusable_for(&self, ability: &definition::Ability, step: &definition::Step) -> Option<String> {
        let _ = (ability, step);
        self.unusable()
    }
}

/// Returns what a step says about who executes it.
pub fn runner_of(step: &definition::Step) -> Option<&definition::Runner> {
    use definition::StepKind;
    match &step.kind {
        StepKind::Agent(step) => step.runner.as_ref().map(|runner| &runner.value),
        StepKind::Skill(step) => step.runner.as_ref().map(|runner| &runner.value),
        StepKind::Script(_) | StepKind::Approval(_) | StepKind::Workflow(_) => None,
    }
}

/// The runners that there are, by the word that a step names them with (`acp` for `acp:<command>`), and who puts outputs in
/// short for those that they start.
#[derive(Clone, Default)]
pub struct Runners {
    all: Vec<(String, Arc<dyn Runner>)>,
    summarizer: Option<Arc<dyn Summarizer>>,
}

impl Runners {
    /// Adds a runner; the first one executes steps that name none.
    #[must_use]
    pub fn with(mut self, word: impl Into<String>, runner: Arc<dyn Runner>) -> Self {
        self.all.push((word.into(), runner));
        self
    }

    /// Finds what executes a step.
    pub fn find(&self, wanted: Option<&definition::Runner>) -> Option<Arc<dyn Runner>> {
        let found = match wanted {
            None => self.all.first(),
            Some(definition::Runner::Acp(_)) => self.all.iter().find(|(word, _)| word == "acp"),
            Some(wanted) => self.all.iter().find(|(word, _)| *word == wanted.to_string()),
        };
        found.map(|(_, runner)| Arc::clone(runner))
    }

    /// Adds who puts outputs in short; without, agents get the start and the end of long ones.
    #[must_use]
    pub fn with_summarizer(mut self, summarizer: Arc<dyn Summarizer>) -> Self {
        self.summarizer = Some(summarizer);
        self
    }

    /// Returns who puts outputs in short.
    pub fn summarizer(&self) -> Option<Arc<dyn Summarizer>> {
        self.summarizer.clone()
    }
}

impl std::fmt::Debug for Runners {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list().entries(self.all.iter().map(|(word, _)| word)).finish()
    }
}
