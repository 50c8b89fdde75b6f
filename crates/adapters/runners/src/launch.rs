//! One task from the start of the client to its end: what it is given, what is heard of it, and what ends it.

use crate::client::Order;
use crate::hearing::Heard;
use crate::lines::Lines;
use crate::trouble::{Complaints, explained, not_installed};
use crate::{Client, Held, Keeper, Profiles, Watch, claude};
use abide_core::definition::Budget;
use abide_core::event::{RunId, StepKey};
use abide_core::model::Usage;
use abide_core::turn::Spent;
use abide_core::view::context::message;
use abide_engine::port::{
    Answer, Cancel, Cancellation, Clock, Ending, Later, Line, Listener, Process, ProcessError, Runner,
    RunnerEnd, Signal, Spec, Stream, Task, Variable,
};
use std::collections::VecDeque;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// How many sessions are remembered to be gone on with.
const MOST_SESSIONS: usize = 1_000;
/// How long a hook that was asked may take to say so.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a client that is asked to end may take.
const GRACE: Duration = Duration::from_millis(500);
/// Variables of a client around us that a client must not take for its own.
pub const NOT_INHERITED: [&str; 3] = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT"];

/// Returns the variables that the client of a task does not get.
pub(crate) fn not_inherited(task: &Task) -> Vec<String> {
    NOT_INHERITED.into_iter().map(str::to_owned).chain(task.without.iter().cloned()).collect()
}

/// Executes tasks by a client.
pub struct ClientRunner<P, C> {
    shared: Arc<Shared<P, C>>,
}

struct Shared<P, C> {
    client: Client,
    program: Option<PathBuf>,
    has_sandbox: bool,
    process: Arc<P>,
    clock: Arc<C>,
    keeper: Arc<dyn Keeper>,
    profiles: Arc<dyn Profiles>,
    /// The sessions of steps whose evidence was missing, the oldest first.
    sessions: Mutex<VecDeque<((RunId, StepKey), String)>>,
}

impl<P: Process, C: Clock> ClientRunner<P, C> {
    /// Makes the runner of a client; `program` is where it is, if it is anywhere.
    pub fn new(
        client: Client,
        program: Option<PathBuf>,
        ports: (Arc<P>, Arc<C>),
        keeper: Arc<dyn Keeper>,
        profiles: Arc<dyn Profiles>,
    ) -> Self {
        let (process, clock) = ports;
        let sessions = Mutex::default();
        let has_sandbox = false;
        Self {
            shared: Arc::new(Shared {
                client,
                program,
                has_sandbox,
                process,
                clock,
                keeper,
                profiles,
                sessions,
            }),
        }
    }

    /// Says that the user has set the client's own sandbox, which then stays as it is.
    #[must_use]
    pub fn with_own_sandbox(mut self, has_sandbox: bool) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.has_sandbox = has_sandbox;
        }
        self
    }
}

impl<P: Process, C: Clock> Runner for ClientRunner<P, C> {
    fn execute(&self, task: Task, cancel: Cancellation, listener: Listener) -> Later<Answer> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move { shared.execute(task, cancel, listener).await })
    }

    fn unusable(&self) -> Option<String> {
        self.shared.program.is_none().then(|| not_installed(self.shared.client))
    }
}

impl<P: Process, C: Clock> Shared<P, C> {
    async fn execute(&self, task: Task, cancel: Cancellation, listener: Listener) -> Answer {
        let failed = |why: String| Answer::ended(RunnerEnd::Failed(why));
        let Some(program) = &self.program else { return failed(not_installed(self.client)) };
        let Some(program) = program.to_str() else {
            return failed(format!("the path {} is not valid text", program.display()));
        };
        let session = self.remembered(&task);
        let (text, started) = match self.prepared(program, &task, session.as_deref()) {
            Ok(prepared) => prepared,
            Err(why) => return failed(why),
        };
        let Started { spec, held, _file } = started;
        let (broken, is_broken) = watch::channel(None::<String>);
        let hearing = Arc::new(tokio::sync::Mutex::new(Hearing {
            client: self.client,
            lines: Lines::default(),
            heard: Heard::default(),
            stderr: Complaints::default(),
            unnamed: 0,
            budget: task.budget,
            watch: held.watch,
            broken,
            listener,
        }));
        let (input, mut end) = match std::io::pipe() {
            Ok(pipe) => pipe,
            Err(error) => return failed(format!("cannot give the task to {}: {error}", self.client.title())),
        };
        // It ends when everything is read, or when the client is gone.
        let writing = tokio::task::spawn_blocking(move || end.write_all(text.as_bytes()));
        let sink = {
            let hearing = Arc::clone(&hearing);
            move |line: Line| {
                let hearing = Arc::clone(&hearing);
                async move { hearing.lock().await.take(line).await }
            }
        };
        let early = Early { cancel, broken: is_broken.clone(), asked: None };
        let ending = self.process.run_reading(spec, input, early, sink).await;
        drop(writing);
        let mut hearing = hearing.lock().await;
        hearing.finish().await;
        let why = is_broken.borrow().clone();
        let heard = std::mem::take(&mut hearing.heard);
        let end = self.end(&task, ending, why, &heard, &hearing.stderr.text());
        self.remember(&task, heard.session.clone().filter(|_| end == RunnerEnd::Finished));
        let usage = Some(heard.used_so_far()).filter(|usage| *usage != Usage::default());
        let turns = heard.turns;
        let structured = heard.structured.filter(|_| task.output_schema.is_some());
        Answer { text: heard.text, structured, usage, turns, ..Answer::ended(end) }
    }

    /// Puts together what is started, and what it is told.
    fn prepared(
        &self,
        program: &str,
        task: &Task,
        session: Option<&str>,
    ) -> Result<(String, Started), String> {
        let profile = self.profiles.find(task.worker.agent()).unwrap_or_default();
        let tools = task.tools.clone().or_else(|| profile.tools.clone());
        let order = Order {
            profile: &profile,
            session,
            schema: task.output_schema.as_ref(),
            tools: tools.as_deref(),
            turns: task.budget.turns,
            has_sandbox: self.has_sandbox,
        };
        let line = self.client.command_line(&order)?;
        let text = match session {
            // It knows the rest.
            Some(_) => message("", "Go on with your task: it is not done yet.", &task.missing),
            None if line.preface.is_empty() => task.message(),
            None => format!("{}\n\n{}", line.preface, task.message()),
        };
        let mut granted = tools;
        if let Some(granted) =
            granted.as_mut().filter(|_| task.output_schema.is_some() && self.client == Client::Claude)
        {
            granted.push(claude::ANSWER_TOOL.to_owned());
        }
        let held = self.keeper.hold(self.client, task, granted)?;
        let mut arguments = line.before;
        arguments.extend(held.arguments.iter().cloned());
        arguments.extend(line.after);
        let variable = |(name, value): (String, String)| Variable { name, value, secret: false };
        let mut variables: Vec<Variable> = held.variables.iter().cloned().map(variable).collect();
        // OpenCode goes by this rather than by the folder that it is started in.
        variables.push(variable(("PWD".to_owned(), task.folder.display().to_string())));
        let longest = task.deadline.map(|deadline| deadline.since(self.clock.now()));
        let spec = Spec {
            program: program.to_owned(),
            arguments,
            folder: task.folder.clone(),
            variables,
            without: not_inherited(task),
            longest: longest.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            mark: task.mark.clone(),
        };
        Ok((text, Started { spec, held, _file: line.file }))
    }

    fn end(
        &self,
        task: &Task,
        ending: Result<Ending, ProcessError>,
        broken: Option<String>,
        heard: &Heard,
        stderr: &str,
    ) -> RunnerEnd {
        let failed = |code| RunnerEnd::Failed(explained(self.client, heard.failure.as_deref(), stderr, code));
        if let Some(why) = broken {
            return RunnerEnd::Failed(why);
        }
        match ending {
            Ok(Ending::Exited(0)) if heard.failure.is_none() && heard.done => RunnerEnd::Finished,
            Ok(Ending::Exited(code)) => failed((code != 0).then_some(code)),
            Ok(Ending::Signalled(signal)) => {
                RunnerEnd::Failed(format!("{} was ended by signal {signal}", self.client.title()))
            }
            Ok(Ending::TimedOut) => RunnerEnd::TimedOut,
            Ok(Ending::Cancelled) => RunnerEnd::Cancelled,
            Err(ProcessError::Start { reason, .. }) => RunnerEnd::Failed(format!(
                "{} cannot be started in {}: {reason}",
                self.client.title(),
                task.folder.display()
            )),
            Err(error @ ProcessError::Lost { .. }) => RunnerEnd::Failed(error.to_string()),
        }
    }

    /// Returns the session of the attempt before, if its evidence was what was missing.
    fn remembered(&self, task: &Task) -> Option<String> {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (task.run.clone(), task.key.clone());
        let at = sessions.iter().position(|(known, _)| *known == key)?;
        let (_, session) = sessions.remove(at)?;
        (!task.missing.is_empty()).then_some(session)
    }

    fn remember(&self, task: &Task, session: Option<String>) {
        let Some(session) = session else { return };
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if sessions.len() >= MOST_SESSIONS {
            sessions.pop_front();
        }
        sessions.push_back(((task.run.clone(), task.key.clone()), session));
    }
}

/// What is started.
struct Started {
    spec: Spec,
    held: Held,
    /// Stays until the client has ended.
    _file: Option<(PathBuf, tempfile::NamedTempFile)>,
}

/// Ends the client when its task is cancelled, or at once when the gate is not asked.
///
/// A client that is asked to end has half a second: whoever cancels a run wants its tools to stop now.
struct Early {
    cancel: Cancellation,
    broken: watch::Receiver<Option<String>>,
    /// Since when it is asked to end; whoever waits for a signal may stop waiting and ask again.
    asked: Option<tokio::time::Instant>,
}

impl Cancel for Early {
    async fn signal(&mut self) -> Signal {
        if let Some(asked) = self.asked {
            tokio::time::sleep_until(asked + GRACE).await;
            return Signal::Kill;
        }
        let signal = tokio::select! {
            signal = (self.cancel)() => signal,
            Ok(_) = self.broken.wait_for(Option::is_some) => Signal::Kill,
        };
        self.asked = Some(tokio::time::Instant::now());
        signal
    }
}

/// Listens to a client.
struct Hearing {
    client: Client,
    lines: Lines,
    heard: Heard,
    /// The end of what it wrote to standard error.
    stderr: Complaints,
    /// How many calls were carried out that have no id.
    unnamed: usize,
    /// What it may use.
    budget: Budget,
    watch: Box<dyn Watch>,
    broken: watch::Sender<Option<String>>,
    listener: Listener,
}

impl Hearing {
    async fn take(&mut self, line: Line) {
        match line.stream {
            Stream::Stderr => self.stderr.take(line.bytes),
            Stream::Stdout => {
                for line in self.lines.take(&line.bytes) {
                    self.event(&line).await;
                }
            }
        }
    }

    async fn finish(&mut self) {
        if let Some(rest) = self.lines.rest() {
            self.event(&rest).await;
        }
    }

    async fn event(&mut self, line: &[u8]) {
        // What is no JSON is a note of the client to its user.
        let Ok(event) = serde_json::from_slice::<serde_json::Value>(line) else { return };
        self.client.hear(&event, &mut self.heard);
        let said = std::mem::take(&mut self.heard.said);
        if !said.is_empty() {
            (self.listener)(said).await;
        }
        self.account();
        self.look().await;
    }

    /// Ends a client that has used more than it may; one that is done has given its answer.
    fn account(&self) {
        let spent = Spent { usage: self.heard.used_so_far(), turns: self.heard.turns, ..Spent::default() };
        if !self.heard.done
            && self.broken.borrow().is_none()
            && let Err(exhausted) = self.budget.left(&spent)
        {
            self.broken.send_replace(Some(exhausted.used_up()));
        }
    }

    /// Looks whether the client asks the gate: one that does not is not held to anything.
    async fn look(&mut self) {
        let answered = std::mem::take(&mut self.heard.answered);
        let used = std::mem::take(&mut self.heard.used);
        self.unnamed += std::mem::take(&mut self.heard.used_unnamed);
        if self.watch.is_loose() || self.broken.borrow().is_some() {
            return;
        }
        let title = self.client.title();
        let why = if answered && !settled(&*self.watch, |watch| watch.has_asked()).await {
            format!(
                "{title} went on without asking abide's gate, so it was ended; `abide doctor` tells whether its hooks are switched off"
            )
        } else {
            let mut unasked = None;
            for call in &used {
                if !settled(&*self.watch, |watch| watch.has_asked_about(call)).await {
                    unasked = Some(());
                }
            }
            let unnamed = self.unnamed;
            if unnamed > 0 && !settled(&*self.watch, |watch| watch.calls() >= unnamed).await {
                unasked = Some(());
            }
            if unasked.is_none() {
                return;
            }
            format!(
                "{title} used a tool without asking abide's gate, so it was ended; `abide doctor` tells whether its hooks are switched off"
            )
        };
        self.broken.send_replace(Some(why));
    }
}

/// Returns whether something is so, or becomes so soon: a hook and the stream are two channels.
pub(crate) async fn settled(watch: &dyn Watch, is_so: impl Fn(&dyn Watch) -> bool + Send) -> bool {
    const PAUSE: Duration = Duration::from_millis(50);
    let mut left = PATIENCE.as_millis() / PAUSE.as_millis();
    while !is_so(watch) {
        if left == 0 {
            return false;
        }
        left -= 1;
        tokio::time::sleep(PAUSE).await;
    }
    true
}
