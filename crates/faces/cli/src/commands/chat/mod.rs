//! `abide chat [AGENT]`: a conversation with an agent of abide's own loop, in a terminal or a pipe.
//!
//! One line is one message. What the agent says is data and goes to standard output; what it does, and what is asked, goes
//! to standard error. Everything is in the log of the session before it is shown, so `--resume` goes on with it.
//!
//! An ability that the agent runs is bound to the session, and holds the agent: what it may call, whether it may stop. What
//! the run asks of a human is asked here.

mod bound;
mod images;
pub(in crate::commands) mod sessions;
pub(in crate::commands) mod shown;
mod skills;
pub(in crate::commands) mod terminal;

use crate::args::{ChatArguments, Shared};
use crate::builtin::skills::{Bounds, Workshop};
use crate::builtin::{
    Abilities, Here, Human, Manner, NoHuman, Purpose, SessionGate, Wanted, forget_old_sessions, sessions_file,
};
use crate::desk::LocalDesk;
use crate::human::is_here;
use crate::runs::{self, SystemClock};
use crate::session::Session;
use crate::skills::Brief;
use crate::{Exit, Failure};
use abide_core::model::{ModelName, Part};
use abide_core::turn::{SessionCreated, TurnEnd};
use abide_engine::port::{Confirm, NobodyToAsk, Stopper};
use abide_engine::turn::{Agent, Heard, Report, SessionLog, TurnError};
use abide_store_sqlite::SqliteStore;
use bound::Bound;
use sessions::{hold, new_session, resumed};
use shown::Shown;
use skills::Called;
use std::sync::Arc;
use std::time::Duration;
use terminal::{Asked, AtTerminal, Lines};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

const HELP: &str = "\
one line is one message; Ctrl-C ends what the agent is doing, Ctrl-D or /exit ends the conversation
  /help              this
  /skill             the skills that can be called, each as /NAME
  /status            how the run of this conversation stands
  /answer OPTION     answers what the run asks; what follows the option is your comment
  /cancel [REASON]   ends the run
  /exit              ends; `abide chat --resume` goes on
";

/// How often it is looked whether the last run can be left.
const LOOK: Duration = Duration::from_millis(50);

pub(crate) fn chat(
    session: &mut Session<'_>,
    shared: &Shared,
    arguments: &ChatArguments,
) -> Result<Exit, Failure> {
    runs::block_on(talk(session, shared, arguments))?
}

async fn talk(
    session: &mut Session<'_>,
    shared: &Shared,
    arguments: &ChatArguments,
) -> Result<Exit, Failure> {
    let model = match &arguments.model {
        None => None,
        Some(name) => Some(ModelName::parse(name).map_err(|error| {
            Failure::new(Exit::Usage, error.to_string()).help(abide_core::model::BadModelName::HELP)
        })?),
    };
    let images = images::given(session, &arguments.images)?;
    let store = SqliteStore::open(&sessions_file(session), runs::settings());
    let store = Arc::new(store.map_err(|error| runs::store_failure(&error))?);
    let found = match &arguments.resume {
        None => None,
        Some(name) => Some(resumed(&store, name).await?),
    };
    let name = match (&found, &arguments.agent) {
        (_, Some(agent)) => agent.clone(),
        (Some(log), None) => log.conversation().created.agent.clone(),
        (None, None) => "default".to_owned(),
    };
    let human = is_here(session.surroundings);
    let (asking, asked) = unbounded_channel();
    let (confirm, sitter): (Arc<dyn Confirm>, Arc<dyn Human>) = if human {
        let terminal = Arc::new(AtTerminal::new(asking, runs::user(session)));
        (Arc::clone(&terminal) as _, terminal)
    } else {
        (Arc::new(NobodyToAsk), Arc::new(NoHuman))
    };
    let id = match &found {
        Some(log) => log.id().clone(),
        None => new_session()?,
    };
    let desk = Arc::new(LocalDesk::for_loop(session.surroundings, shared));
    let gate = SessionGate::new(session.surroundings, id.as_str(), &name, session.place.root());
    let usable = gate.is_bound() || desk.has_abilities(&name);
    let abilities = usable.then(|| Abilities::new(Arc::clone(&desk), id.as_str(), &name, sitter));
    let here = Here::of(session);
    let wanted = Wanted {
        agent: name.clone(),
        model,
        purpose: Purpose::Talk(gate.clone(), abilities),
        manner: Manner::Talk,
        mark: format!("chat/{id}"),
        confirm,
    };
    let (seat, workshop) = here.furnished(&wanted).await.map_err(|why| Failure::new(Exit::Refused, why))?;
    let mut log = match found {
        Some(log) => log,
        None => {
            let created = SessionCreated { agent: name, model: seat.model_name, ..SessionCreated::default() };
            let made = SessionLog::create(Arc::clone(&store), id, created).await;
            made.map_err(|error| Failure::new(Exit::System, error.to_string()))?
        }
    };
    hold(&store, &mut log).await?;
    let (telling, heard) = unbounded_channel();
    let agent = Agent {
        clock: Arc::new(SystemClock),
        model: seat.model,
        system: seat.system,
        toolbox: seat.toolbox,
        schema: None,
        permissions: seat.permissions,
        gate: seat.gate,
        confirm: seat.confirm,
        tree: seat.tree,
        watch: Some(Arc::new(move |heard| {
            // Whoever shows it may be gone.
            let _ = telling.send(heard);
            Box::pin(std::future::ready(()))
        })),
    };
    let bound = Bound { desk, gate };
    let mut chat = Chat { agent, workshop, log, heard, asked, lines: Lines::new(), human, bound };
    if !session.json {
        session.say(&format!("session {}\n", chat.log.id()))?;
    }
    chat.bound.take_up(session).await?;
    let end = chat.conversation(session, arguments.message.as_deref(), images).await;
    let left = chat.bound.leave(session).await?;
    // The conversation is over, whatever comes of this; the next one tries again.
    let _ = forget_old_sessions(session, chat.log.id().as_str()).await;
    match end {
        // The agent has done what it could; its run has not come to its end.
        Ok(Exit::Done) if left && !human => Ok(Exit::RunUnfinished),
        end => end,
    }
}

/// A conversation under way.
struct Chat {
    agent: Agent<SystemClock>,
    workshop: Arc<Workshop>,
    log: SessionLog<SqliteStore>,
    heard: UnboundedReceiver<Heard>,
    asked: UnboundedReceiver<Asked>,
    lines: Lines,
    /// Whether somebody sits at the terminal.
    human: bool,
    bound: Bound,
}

/// What is to be done in a turn.
enum Turn {
    /// Something is said, with what is shown beside it.
    Tell(String, Vec<Part>),
    GoOn,
}

impl Chat {
    async fn conversation(
        &mut self,
        session: &mut Session<'_>,
        message: Option<&str>,
        images: Vec<Part>,
    ) -> Result<Exit, Failure> {
        let mut end = TurnEnd::Finished;
        if self.log.conversation().active.is_some() {
            session.say("the last turn was interrupted; it goes on\n")?;
            end = self.turn(session, Turn::GoOn).await?;
        }
        if let Some(message) = message {
            // A message may begin with `/` and be none.
            end = if skills::named(&self.workshop, message).await {
                match skills::called(session, &self.workshop, message, self.human.then_some(&mut self.lines))
                    .await?
                {
                    Called::Skill { brief, bounds } => self.skill(session, &brief, &bounds, images).await?,
                    Called::Nothing => return Ok(Exit::Refused),
                }
            } else {
                self.tell(session, message.to_owned(), images).await?
            };
            return Ok(exit(&end));
        }
        loop {
            if self.human {
                self.bound.remind(session).await?;
                session.say("\n> ")?;
            }
            let Some(line) = self.lines.next().await else { break };
            match line.trim() {
                "" => {}
                "/exit" | "/quit" => break,
                "/help" => {
                    session.say(HELP)?;
                    self.list_skills(session).await?;
                }
                "/skill" | "/skills" => self.list_skills(session).await?,
                line if Bound::is_command(line) => {
                    // Whoever writes into a pipe may be an agent; these are a human's.
                    if !self.human {
                        session.say(&format!("`{line}` takes a human at a terminal\n"))?;
                    } else if let Some(message) = self.bound.command(session, line).await? {
                        end = self.tell(session, message, Vec::new()).await?;
                    }
                }
                line if line.starts_with('/') => {
                    if let Called::Skill { brief, bounds } =
                        skills::called(session, &self.workshop, line, self.human.then_some(&mut self.lines))
                            .await?
                    {
                        end = self.skill(session, &brief, &bounds, Vec::new()).await?;
                    }
                }
                line => end = self.tell(session, line.to_owned(), Vec::new()).await?,
            }
        }
        if self.human {
            session.say(&format!("\n`abide chat --resume {}` goes on\n", self.log.id()))?;
            return Ok(Exit::Done);
        }
        // A pipe has nobody who saw it: the last turn tells how it went.
        Ok(exit(&end))
    }

    /// Tells the agent something. What it can do with skills is what there is by now.
    async fn tell(
        &mut self,
        session: &mut Session<'_>,
        text: String,
        images: Vec<Part>,
    ) -> Result<TurnEnd, Failure> {
        let toolbox = self.workshop.toolbox(&self.agent.tree, &Bounds::default()).await;
        self.agent.toolbox = toolbox.map_err(|why| Failure::new(Exit::System, why))?;
        self.turn(session, Turn::Tell(text, images)).await
    }

    /// Tells the agent what a skill says, and holds the turn to the skill's bounds.
    async fn skill(
        &mut self,
        session: &mut Session<'_>,
        brief: &Brief,
        bounds: &Bounds,
        images: Vec<Part>,
    ) -> Result<TurnEnd, Failure> {
        let toolbox = self.workshop.toolbox(&self.agent.tree, bounds).await;
        self.agent.toolbox = toolbox.map_err(|why| Failure::new(Exit::System, why))?;
        let rules = std::mem::replace(&mut self.agent.permissions, self.workshop.permissions(bounds));
        self.agent.tree.answer_within(brief.own_turns);
        let end = self.turn(session, Turn::Tell(brief.text.clone(), images)).await;
        self.agent.tree.answer_within(None);
        self.agent.permissions = rules;
        end
    }

    async fn list_skills(&self, session: &mut Session<'_>) -> Result<(), Failure> {
        match skills::list(&self.workshop, "").await {
            none if none.is_empty() => session.say("there are no skills here\n"),
            listed => session.say(&listed),
        }
    }

    /// Lets the agent talk until its turn is over, and shows it.
    async fn turn(&mut self, session: &mut Session<'_>, turn: Turn) -> Result<TurnEnd, Failure> {
        let (stopper, stop) = Stopper::pair();
        let mut keys = signal(SignalKind::interrupt())
            .map_err(|error| Failure::new(Exit::System, format!("cannot listen for Ctrl-C: {error}")))?;
        let mut shown = Shown::new(self.log.id().to_string());
        let Self { agent, log, heard, asked, lines, bound, .. } = self;
        let talking = async {
            match turn {
                Turn::Tell(text, mut parts) => {
                    let told = bound.gate.prompted(&text).await;
                    // What is said about a picture is understood best after it.
                    parts.extend([Some(text), told].into_iter().flatten().map(Part::Text));
                    agent.turn(log, parts, None, &stop).await.map(Some)
                }
                Turn::GoOn => agent.go_on(log, &stop).await,
            }
        };
        tokio::pin!(talking);
        let mut question: Option<Asked> = None;
        let report: Result<Option<Report>, TurnError> = loop {
            tokio::select! {
                biased;
                Some(heard) = heard.recv() => shown.tell(session, heard)?,
                Some(next) = asked.recv() => {
                    if next.is_question() {
                        lines.forget();
                    }
                    shown.say(session, &next.text())?;
                    if next.is_question() {
                        question = Some(next);
                    }
                }
                () = taken_back(&mut question), if question.is_some() => {
                    question = None;
                    session.say("\n(it is not asked any more)\n")?;
                }
                line = lines.next(), if question.is_some() => {
                    question = question.take().and_then(|asked| asked.answer(line.as_deref()));
                    if let Some(again) = &question {
                        session.say(&again.text())?;
                    }
                }
                _ = keys.recv() => {
                    session.say("\nstopping\n")?;
                    stopper.stop();
                }
                report = &mut talking => break report,
            }
        };
        while let Ok(heard) = heard.try_recv() {
            shown.tell(session, heard)?;
        }
        let report = report.map_err(|error| Failure::new(Exit::System, error.to_string()))?;
        let end = report.map_or(TurnEnd::Finished, |report| report.end);
        shown.end(session, &end)?;
        Ok(end)
    }
}

/// Waits until nobody waits for the answer to a question any more.
pub(in crate::commands) async fn taken_back(question: &mut Option<Asked>) {
    match question {
        Some(question) => question.closed().await,
        None => std::future::pending().await,
    }
}

pub(in crate::commands) fn exit(end: &TurnEnd) -> Exit {
    match end {
        TurnEnd::Finished => Exit::Done,
        TurnEnd::Cancelled => Exit::RunCancelled,
        TurnEnd::OutOfBudget(_) | TurnEnd::Failed { .. } => Exit::RunFailed,
    }
}
