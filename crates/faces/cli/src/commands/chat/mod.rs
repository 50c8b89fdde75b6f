//! `abide chat [AGENT]`: a conversation with an agent of abide's own loop, in a terminal or a pipe.
//!
//! One line is one message. What the agent says is data and goes to standard output; what it does, and what is asked, goes
//! to standard error. Everything is in the log of the session before it is shown, so `--resume` goes on with it.

mod shown;
mod terminal;

use crate::args::ChatArguments;
use crate::builtin::{Here, Manner, Wanted, sessions_file};
use crate::runs::{self, SystemClock};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::model::{ModelName, Part};
use abide_core::turn::{SessionCreated, TurnEnd};
use abide_engine::port::{Clock as _, Confirm, HeadPlace, NobodyToAsk, SessionId, Stopper, Store as _};
use abide_engine::turn::{Agent, Heard, Report, SessionLog, TurnError};
use abide_store_sqlite::SqliteStore;
use shown::Shown;
use std::sync::Arc;
use std::time::Duration;
use terminal::{Asked, Lines, TerminalConfirm};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

const HELP: &str = "\
one line is one message; Ctrl-C ends what the agent is doing, Ctrl-D or /exit ends the conversation
  /help    this
  /skill   the skills that there are
  /exit    ends; `abide chat --resume` goes on
";

/// For how long a session is ours while this process lives.
const HELD: Duration = Duration::from_hours(24);
/// How many sessions are looked at to find the last one.
const PAGE: usize = 200;

pub(crate) fn chat(session: &mut Session<'_>, arguments: &ChatArguments) -> Result<Exit, Failure> {
    runs::block_on(talk(session, arguments))?
}

async fn talk(session: &mut Session<'_>, arguments: &ChatArguments) -> Result<Exit, Failure> {
    let model = match &arguments.model {
        None => None,
        Some(name) => Some(ModelName::parse(name).map_err(|error| {
            Failure::new(Exit::Usage, error.to_string()).help(abide_core::model::BadModelName::HELP)
        })?),
    };
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
    let human = session.surroundings.terminal_in;
    let (asking, asked) = unbounded_channel();
    let confirm: Arc<dyn Confirm> = if human {
        Arc::new(TerminalConfirm::new(asking, runs::user(session)))
    } else {
        Arc::new(NobodyToAsk)
    };
    let id = match &found {
        Some(log) => log.id().clone(),
        None => new_session()?,
    };
    let here = Here::of(session);
    let wanted = Wanted {
        agent: name.clone(),
        model,
        task: None,
        manner: Manner::Talk,
        mark: format!("chat/{id}"),
        confirm,
    };
    let seat = here.seat(&wanted).await.map_err(|why| Failure::new(Exit::Refused, why))?;
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
    let mut chat = Chat { agent, log, heard, asked, lines: Lines::new(), human };
    if !session.json {
        session.say(&format!("session {}\n", chat.log.id()))?;
    }
    chat.conversation(session, arguments.message.as_deref()).await
}

fn new_session() -> Result<SessionId, Failure> {
    let id = SystemClock.new_run().to_string();
    SessionId::parse(&id).ok_or_else(|| Failure::new(Exit::System, format!("`{id}` is no id")))
}

/// Finds the session that is to go on.
async fn resumed(store: &Arc<SqliteStore>, name: &str) -> Result<SessionLog<SqliteStore>, Failure> {
    let none = || Failure::new(Exit::NotFound, "there is no such session").help("`abide chat` begins one");
    let id = if name.is_empty() { last(store).await?.ok_or_else(none)? } else { name.to_owned() };
    let id = SessionId::parse(&id).ok_or_else(none)?;
    let found = SessionLog::find(Arc::clone(store), id).await;
    found.map_err(|error| Failure::new(Exit::System, error.to_string()))?.ok_or_else(none)
}

/// Returns the session that people talked in last; those of steps are not theirs.
async fn last(store: &SqliteStore) -> Result<Option<String>, Failure> {
    let mut place: Option<HeadPlace> = None;
    loop {
        let page = store.heads(place.as_ref(), PAGE).await.map_err(|error| runs::store_failure(&error))?;
        let found = page.iter().find(|head| runs::text_of(&runs::summary(head), "run").is_none());
        if let Some(head) = found {
            return Ok(Some(head.stream.clone()));
        }
        match page.last() {
            Some(last) if page.len() == PAGE => place = Some(last.place()),
            _ => return Ok(None),
        }
    }
}

/// Makes sure that nobody else talks in the session.
async fn hold(store: &SqliteStore, log: &mut SessionLog<SqliteStore>) -> Result<(), Failure> {
    let now = SystemClock.now();
    let lease =
        store.lease(log.id().as_str(), &runs::holder(), now.0, now.after(HELD).0, &runs::is_dead).await;
    let lease = lease.map_err(|error| {
        Failure::new(Exit::Refused, format!("the session is open elsewhere: {error}"))
            .help("end it there first, or begin another one with `abide chat`")
    })?;
    log.hold(lease);
    Ok(())
}

/// A conversation under way.
struct Chat {
    agent: Agent<SystemClock>,
    log: SessionLog<SqliteStore>,
    heard: UnboundedReceiver<Heard>,
    asked: UnboundedReceiver<Asked>,
    lines: Lines,
    /// Whether somebody sits at the terminal.
    human: bool,
}

/// What is to be done in a turn.
enum Turn {
    Tell(String),
    GoOn,
}

impl Chat {
    async fn conversation(
        &mut self,
        session: &mut Session<'_>,
        message: Option<&str>,
    ) -> Result<Exit, Failure> {
        let mut end = TurnEnd::Finished;
        if self.log.conversation().active.is_some() {
            session.say("the last turn was interrupted; it goes on\n")?;
            end = self.turn(session, Turn::GoOn).await?;
        }
        if let Some(message) = message {
            end = self.turn(session, Turn::Tell(message.to_owned())).await?;
            return Ok(exit(&end));
        }
        loop {
            if self.human {
                session.say("\n> ")?;
            }
            let Some(line) = self.lines.next().await else { break };
            match line.trim() {
                "" => {}
                "/exit" | "/quit" => break,
                "/help" => session.say(HELP)?,
                "/skill" | "/skills" => skills(session)?,
                line if line.starts_with('/') => {
                    session.say(&format!("there is no command `{line}`; /help shows all of them\n"))?;
                }
                line => end = self.turn(session, Turn::Tell(line.to_owned())).await?,
            }
        }
        if self.human {
            session.say(&format!("\n`abide chat --resume {}` goes on\n", self.log.id()))?;
            return Ok(Exit::Done);
        }
        // A pipe has nobody who saw it: the last turn tells how it went.
        Ok(exit(&end))
    }

    /// Lets the agent talk until its turn is over, and shows it.
    async fn turn(&mut self, session: &mut Session<'_>, turn: Turn) -> Result<TurnEnd, Failure> {
        let (stopper, stop) = Stopper::pair();
        let mut keys = signal(SignalKind::interrupt())
            .map_err(|error| Failure::new(Exit::System, format!("cannot listen for Ctrl-C: {error}")))?;
        let mut shown = Shown::new(self.log.id().to_string());
        let Self { agent, log, heard, asked, lines, .. } = self;
        let talking = async {
            match turn {
                Turn::Tell(text) => agent.turn(log, vec![Part::Text(text)], None, &stop).await.map(Some),
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
                    lines.forget();
                    session.say(&next.text())?;
                    question = Some(next);
                }
                line = lines.next(), if question.is_some() => {
                    if let Some(asked) = question.take() {
                        asked.answer(line.as_deref());
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

fn exit(end: &TurnEnd) -> Exit {
    match end {
        TurnEnd::Finished => Exit::Done,
        TurnEnd::Cancelled => Exit::RunCancelled,
        TurnEnd::OutOfBudget(_) | TurnEnd::Failed { .. } => Exit::RunFailed,
    }
}

/// Lists the skills that there are.
fn skills(session: &mut Session<'_>) -> Result<(), Failure> {
    let skills = session.catalog().skills();
    let usable = skills.entries.iter().filter(|entry| entry.shadowed_by.is_none());
    let mut text = String::new();
    for (entry, summary) in usable.filter_map(|entry| Some((entry, entry.summary.as_ref()?))) {
        let about = summary.description.as_deref().unwrap_or_default();
        text.push_str(&crate::ui::visible::visible(&format!("  {}  {about}", entry.name), true));
        text.push('\n');
    }
    if text.is_empty() {
        text.push_str("there are no skills here\n");
    }
    session.say(&text)
}
