//! The runner `acp:<command>`: any program that speaks the Agent Client Protocol over its standard input and output.
//!
//! Such an agent is held in three ways. What it asks for (a permission, a file) is answered by the gate. What it reports to do without
//! having asked is judged as well, and an agent that did what the gate denies is ended. And an agent that is a client which abide
//! can hold by hooks (`opencode acp`) is held by these, too; only such a one may do a step at the level `strict`.

mod call;
mod ending;
mod files;
mod talk;

use crate::client::{prompt_in_words, schema_in_words};
use crate::hearing::answer_as_data;
use crate::keeper::Judge;
use crate::lines::Lines;
use crate::trouble::Complaints;
use crate::{Client, Keeper, Profile, Profiles, Watch};
use abide_core::definition::{self, Ability, Budget, Enforcement, Step};
use abide_core::turn::Spent;
use abide_engine::port::{
    Answer, Cancellation, Clock, Ending, Later, Line, Listener, Process, ProcessError, Runner, RunnerEnd,
    Spec, Stream, Task, Variable, runner_of,
};
use call::Call;
use ending::{Early, State};
use serde_json::{Value as Json, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use talk::{Next, REFUSED, Talk, answer, chosen, none_chosen, refusal};
use tokio::sync::{Mutex, mpsc, watch};

/// How many messages may wait until the agent reads them; then it is not listened to, either.
const MOST_WAITING: usize = 64;

/// Finds a program by its name.
pub type Finder = Arc<dyn Fn(&str) -> Option<PathBuf> + Send + Sync>;

/// Executes tasks by agents that speak the protocol.
pub struct AcpRunner<P, C> {
    shared: Arc<Shared<P, C>>,
}

struct Shared<P, C> {
    process: Arc<P>,
    clock: Arc<C>,
    keeper: Arc<dyn Keeper>,
    profiles: Arc<dyn Profiles>,
    find: Finder,
    /// What abilities are held to that do not say it.
    level: Enforcement,
    /// The command of steps that name no runner.
    usual: Option<String>,
}

impl<P: Process, C: Clock> AcpRunner<P, C> {
    /// Makes the runner; `level` is what abilities are held to that do not say it, and `usual` the command of steps that name
    /// no runner.
    pub fn new(
        ports: (Arc<P>, Arc<C>),
        keeper: Arc<dyn Keeper>,
        profiles: Arc<dyn Profiles>,
        find: Finder,
        level: Enforcement,
        usual: Option<String>,
    ) -> Self {
        let (process, clock) = ports;
        Self { shared: Arc::new(Shared { process, clock, keeper, profiles, find, level, usual }) }
    }
}

impl<P: Process, C: Clock> Runner for AcpRunner<P, C> {
    fn execute(&self, task: Task, cancel: Cancellation, listener: Listener) -> Later<Answer> {
        let shared = Arc::clone(&self.shared);
        Box::pin(async move {
            let executed = shared.execute(task, cancel, listener).await;
            executed.unwrap_or_else(|why| Answer::ended(RunnerEnd::Failed(why)))
        })
    }

    fn unusable_for(&self, ability: &Ability, step: &Step) -> Option<String> {
        let command = match self.shared.command(runner_of(step)) {
            Ok(command) => command,
            Err(why) => return Some(why),
        };
        let level = ability.settings.enforcement.as_ref().map_or(self.shared.level, |level| level.value);
        if level == Enforcement::Strict && command.client.is_none() {
            let name = command.program.display();
            return Some(format!(
                "nothing makes {name} ask abide before it uses a tool, so it cannot be held at the level `strict`; set `enforcement: normal` in the settings of the ability, which holds what the agent asks for and ends one that goes further, or name another `runner`"
            ));
        }
        None
    }
}

/// What is started.
struct Command {
    program: PathBuf,
    arguments: Vec<String>,
    /// The client that it is, if it is one that hooks can hold.
    client: Option<Client>,
}

impl<P: Process, C: Clock> Shared<P, C> {
    fn command(&self, runner: Option<&definition::Runner>) -> Result<Command, String> {
        let line = match runner {
            Some(definition::Runner::Acp(line)) => line,
            _ => {
                self.usual.as_ref().ok_or_else(|| "no command is named: write `acp:<command>`".to_owned())?
            }
        };
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        let program = (self.find)(name);
        let program = program.ok_or_else(|| {
            format!("there is no program `{name}`; install it, or let another `runner` do the step")
        })?;
        let is_opencode = program.file_name().is_some_and(|file| file == Client::Opencode.word());
        let client = is_opencode.then_some(Client::Opencode);
        Ok(Command { program, arguments: words.map(str::to_owned).collect(), client })
    }

    async fn execute(&self, task: Task, cancel: Cancellation, listener: Listener) -> Result<Answer, String> {
        let command = self.command(task.runner.as_ref())?;
        let profile = self.profiles.find(task.worker.agent()).unwrap_or_default();
        let tools = task.tools.clone().or_else(|| profile.tools.clone());
        let judge = self.keeper.judge(&task, tools.clone())?;
        if judge.level() == Enforcement::Strict && command.client.is_none() {
            return Err(format!("{} cannot be held at the level `strict`", command.program.display()));
        }
        let held = command.client.map(|client| self.keeper.hold(client, &task, tools)).transpose()?;
        let spec = self.spec(&task, &command, held.as_ref().map_or(&[], |held| &held.variables))?;
        let (input, end) = std::io::pipe().map_err(|error| format!("cannot talk with the agent: {error}"))?;
        let (sender, receiver) = mpsc::channel(MOST_WAITING);
        // It ends when nobody has anything to send any more, or when the agent is gone.
        let writing = tokio::task::spawn_blocking(move || write_all(end, receiver));
        let (state, is_over) = watch::channel(State::Working);
        let desk = Arc::new(Mutex::new(Desk {
            name: command.program.display().to_string(),
            talk: Talk::new(&task.folder, told(&task, &profile)),
            lines: Lines::default(),
            stderr: Complaints::default(),
            root: task.folder.clone(),
            budget: task.budget,
            judge,
            watch: held.map(|held| held.watch),
            allowed: Vec::new(),
            sender: Some(sender),
            state,
            listener,
        }));
        desk.lock().await.send(Talk::begin()).await;
        let sink = {
            let desk = Arc::clone(&desk);
            move |line: Line| {
                let desk = Arc::clone(&desk);
                async move { desk.lock().await.take(line).await }
            }
        };
        let early = Early::new(cancel, is_over, Arc::clone(&desk));
        let ending = self.process.run_reading(spec, input, early, sink).await;
        drop(writing);
        let mut desk = desk.lock().await;
        let end = desk.end(&ending);
        let text = desk.talk.final_text();
        let structured = task.output_schema.as_ref().and_then(|_| answer_as_data(&text));
        Ok(Answer { text, structured, usage: desk.talk.usage, ..Answer::ended(end) })
    }

    fn spec(&self, task: &Task, command: &Command, held: &[(String, String)]) -> Result<Spec, String> {
        let program = command.program.to_str();
        let program =
            program.ok_or_else(|| format!("the path {} is not valid text", command.program.display()))?;
        let variable = |(name, value): (String, String)| Variable { name, value, secret: false };
        let mut variables: Vec<Variable> = held.iter().cloned().map(variable).collect();
        variables.push(variable(("PWD".to_owned(), task.folder.display().to_string())));
        let longest = task.deadline.map(|deadline| deadline.since(self.clock.now()));
        Ok(Spec {
            program: program.to_owned(),
            arguments: command.arguments.clone(),
            folder: task.folder.clone(),
            variables,
            without: crate::launch::not_inherited(task),
            longest: longest.map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
            mark: task.mark.clone(),
        })
    }
}

/// Returns all that the agent is told: the protocol has no place for a system prompt or a schema.
fn told(task: &Task, profile: &Profile) -> String {
    let schema = task.output_schema.as_ref().map(schema_in_words).unwrap_or_default();
    let parts = [prompt_in_words(profile), schema, task.message()];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

/// Writes messages, one on a line, until there are no more or nobody reads them.
fn write_all(mut end: std::io::PipeWriter, mut messages: mpsc::Receiver<Json>) {
    while let Some(message) = messages.blocking_recv() {
        if end.write_all(format!("{message}\n").as_bytes()).is_err() {
            return;
        }
    }
}

/// Where an agent is talked with.
struct Desk {
    name: String,
    talk: Talk,
    lines: Lines,
    /// The end of what it wrote to standard error.
    stderr: Complaints,
    root: PathBuf,
    /// What it may use.
    budget: Budget,
    judge: Box<dyn Judge>,
    watch: Option<Box<dyn Watch>>,
    /// The calls that it may make, by their ids.
    allowed: Vec<String>,
    sender: Option<mpsc::Sender<Json>>,
    state: watch::Sender<State>,
    listener: Listener,
}

impl Desk {
    async fn take(&mut self, line: Line) {
        match line.stream {
            Stream::Stderr => self.stderr.take(line.bytes),
            Stream::Stdout => {
                for line in self.lines.take(&line.bytes) {
                    // What is no JSON is a note of the agent to its user.
                    let Ok(message) = serde_json::from_slice::<Json>(&line) else { continue };
                    for next in self.talk.hear(&message) {
                        self.follow(next).await;
                    }
                    self.account();
                }
            }
        }
    }

    async fn follow(&mut self, next: Next) {
        // One that has broken the rules gets nothing any more.
        if matches!(*self.state.borrow(), State::Broken(_)) {
            return;
        }
        match next {
            Next::Send(message) => self.send(message).await,
            Next::Says(text) => (self.listener)(text).await,
            Next::Asks { id, call, options } => {
                let permitted = self.judged(&call).and_then(|()| {
                    // A yes for ever would be the last that abide hears of it.
                    chosen(&id, &options, &["allow_once"])
                        .ok_or_else(|| "it can only be allowed for ever".to_owned())
                });
                let message = match permitted {
                    Ok(message) => {
                        self.allowed.push(call.id);
                        message
                    }
                    Err(why) => {
                        self.tell(&why).await;
                        chosen(&id, &options, &["reject_once", "reject_always"])
                            .unwrap_or_else(|| none_chosen(&id))
                    }
                };
                self.send(message).await;
            }
            Next::Reads { id, path, line, limit } => {
                let read = |root: &Path| {
                    files::read(root, &path, line, limit).map(|text| json!({ "content": text }))
                };
                self.serve("read", &id, &path, read).await;
            }
            Next::Writes { id, path, content } => {
                let write = |root: &Path| files::write(root, &path, &content).map(|()| Json::Null);
                self.serve("edit", &id, &path, write).await;
            }
            Next::Uses(call) => self.look(&call).await,
            Next::Ends => {
                self.state.send_replace(State::Done);
                // An agent that reads to the end of its input ends by itself.
                self.sender = None;
            }
        }
    }

    /// Does something with a file, if the gate allows it.
    async fn serve(
        &mut self,
        kind: &str,
        id: &Json,
        path: &str,
        work: impl FnOnce(&Path) -> Result<Json, String>,
    ) {
        let done = match self.judged(&Call::of_file(kind, path)) {
            Ok(()) => work(&self.root),
            Err(why) => {
                self.tell(&why).await;
                Err(why)
            }
        };
        let message = match done {
            Ok(result) => answer(id, &result),
            Err(why) => refusal(id, REFUSED, &why),
        };
        self.send(message).await;
    }

    fn judged(&self, call: &Call) -> Result<(), String> {
        call.judged()
            .iter()
            .try_for_each(|judged| self.judge.judge(judged.names, &judged.arguments, &call.id))
    }

    /// Looks whether a call that the agent makes is one that it may make: it need not have asked.
    async fn look(&mut self, call: &Call) {
        if self.judge.level() == Enforcement::Loose || self.allowed.contains(&call.id) {
            return;
        }
        let asked = match &self.watch {
            Some(watch) => crate::launch::settled(&**watch, |watch| watch.has_asked_about(&call.id)).await,
            None => self.judged(call).is_ok(),
        };
        if !asked {
            let why = format!(
                "{} used a tool (`{}`) that it may not use, and did not ask abide, so it was ended",
                self.name,
                call.title()
            );
            self.state.send_replace(State::Broken(why));
        }
    }

    /// Ends an agent that has used more than it may; one that is done has given its answer.
    fn account(&self) {
        let spent = Spent { usage: self.talk.usage.unwrap_or_default(), ..Spent::default() };
        if let Err(exhausted) = self.budget.left(&spent)
            && *self.state.borrow() == State::Working
        {
            self.state.send_replace(State::Broken(exhausted.used_up()));
        }
    }

    async fn tell(&mut self, why: &str) {
        (self.listener)(format!("\n✗ {}\n", why.replace('\n', " "))).await;
    }

    async fn send(&mut self, message: Json) {
        if let Some(sender) = &self.sender {
            // Nobody reads it any more when the agent is gone, which its end says.
            let _ = sender.send(message).await;
        }
    }

    fn end(&self, ending: &Result<Ending, ProcessError>) -> RunnerEnd {
        let state = self.state.borrow().clone();
        let failed = |why: &str| RunnerEnd::Failed(format!("{}: {why}", self.name));
        if let State::Broken(why) = state {
            return RunnerEnd::Failed(why);
        }
        match (ending, &self.talk.failure, self.talk.reason.as_deref()) {
            (Ok(Ending::TimedOut), _, None) => RunnerEnd::TimedOut,
            (_, Some(why), _) => failed(why),
            (_, None, Some("end_turn")) => RunnerEnd::Finished,
            (_, None, Some("cancelled")) | (Ok(Ending::Cancelled), None, None) => RunnerEnd::Cancelled,
            (_, None, Some(reason)) => failed(&format!("its turn ended early ({reason})")),
            (Ok(Ending::Exited(code)), None, None) => {
                let said = self.stderr.text();
                let said = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
                let said: String = said.chars().take(300).collect();
                let said = if said.is_empty() { String::new() } else { format!(": {said}") };
                failed(&format!("it ended with exit code {code} before its turn was over{said}"))
            }
            (Ok(Ending::Signalled(signal)), None, None) => {
                failed(&format!("it was ended by signal {signal}"))
            }
            (Err(error), None, None) => RunnerEnd::Failed(error.to_string()),
        }
    }
}
