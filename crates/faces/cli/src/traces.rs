//! Traces of what is done here, told to a collector if the environment names one.
//!
//! A command tells of the run that it drove, and waits for that no longer than [`PATIENCE`]; a server has [`Traces`], which tells of
//! runs and turns beside everything else. Neither fails because of it.

use crate::builtin::sessions_file;
use crate::house::ServerStore;
use crate::session::Session;
use crate::{Surroundings, runs};
use abide_core::event::RunId;
use abide_core::turn::{Conversation, TurnEvent};
use abide_engine::port::{SessionId, Store};
use abide_engine::trace::{Fate, Tally, Trace, TraceError, trace_of_run, trace_of_turn};
use abide_engine::turn::Ear;
use abide_otlp::{Exporter, Settings};
use abide_store_sqlite::SqliteStore;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// How long a command waits at the end of its run until its trace is taken.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long a server that ends has to tell of what is left.
const GRACE: Duration = Duration::from_secs(5);
/// How many runs and turns may wait to be looked at.
const MOST_WAITING: usize = 4_096;

/// Tells of a run that is over; returns what to say if the collector did not take it.
///
/// `sessions` is where those of steps lie.
pub(crate) async fn tell_of_run<S: Store>(
    surroundings: &Surroundings,
    sessions: &Path,
    store: &S,
    id: &RunId,
) -> Option<String> {
    let settings = match Settings::of(|name| surroundings.variable(name)) {
        Ok(settings) => settings?,
        Err(error) => return Some(not_told(&error)),
    };
    let told = tokio::time::timeout(PATIENCE, async {
        let sessions = find_sessions(sessions);
        let trace = trace_of_run(store, sessions.as_ref(), id).await.map_err(|error| error.to_string())?;
        if trace.spans.is_empty() {
            return Ok::<_, String>(None);
        }
        let exporter = Exporter::start(settings, Arc::default())?;
        exporter.give(trace.spans);
        exporter.end(PATIENCE).await;
        let lost = exporter.tally().count(Fate::Dropped) + exporter.tally().count(Fate::Rejected);
        let why = exporter.trouble().unwrap_or_else(|| format!("{lost} spans were not wanted"));
        Ok((lost > 0).then(|| format!("{} did not take them: {why}", exporter.shown())))
    });
    match told.await {
        Ok(Ok(trouble)) => trouble.map(|trouble| not_told(&trouble)),
        Ok(Err(why)) => Some(not_told(&why)),
        Err(_) => Some(not_told(&"it takes too long")),
    }
}

fn not_told(why: &dyn std::fmt::Display) -> String {
    format!("traces are not sent: {why}\n")
}

/// Opens the sessions of steps, if there are any.
fn find_sessions(file: &Path) -> Option<SqliteStore> {
    SqliteStore::find(file, runs::settings()).ok().flatten()
}

/// Something that is over.
enum Over {
    Run(RunId),
    Turn(SessionId, String),
    /// Everything is: whoever waits is told when all before it is looked at.
    All(oneshot::Sender<()>),
}

/// What a server tells of its runs and turns.
pub(crate) struct Traces {
    over: mpsc::Sender<Over>,
    exporter: Arc<Exporter>,
}

impl Traces {
    /// Begins to tell, if the environment names a collector; the error says why nothing will be told.
    pub(crate) fn start(
        session: &Session<'_>,
        log: Arc<ServerStore>,
        talks: Arc<ServerStore>,
    ) -> Result<Option<Self>, String> {
        let settings = Settings::of(|name| session.surroundings.variable(name));
        let settings = settings.map_err(|error| not_told(&error))?;
        let Some(settings) = settings else { return Ok(None) };
        let exporter = Exporter::start(settings, Arc::default()).map_err(|why| not_told(&why))?;
        let exporter = Arc::new(exporter);
        let (over, waiting) = mpsc::channel(MOST_WAITING);
        let teller = Teller {
            log,
            talks,
            steps: sessions_file(session),
            found: None,
            exporter: Arc::clone(&exporter),
        };
        tokio::spawn(teller.tell(waiting));
        Ok(Some(Self { over, exporter }))
    }

    /// Returns what became of the spans.
    pub(crate) fn tally(&self) -> &Tally {
        self.exporter.tally()
    }

    /// Tells of a run that is over, some time.
    pub(crate) fn run(&self, id: RunId) {
        self.add(Over::Run(id));
    }

    fn add(&self, over: Over) {
        if self.over.try_send(over).is_err() {
            self.tally().lose();
        }
    }

    /// Tells of everything that is over, and ends.
    pub(crate) async fn end(&self) {
        let looked = async {
            let (all, done) = oneshot::channel();
            if self.over.send(Over::All(all)).await.is_ok() {
                let _ = done.await;
            }
        };
        // What is not looked at by then is gone, as it is when a server is killed.
        let _ = tokio::time::timeout(GRACE, looked).await;
        self.exporter.end(GRACE).await;
    }
}

impl Ear for Traces {
    fn happened(&self, session: &SessionId, conversation: &Conversation, event: &TurnEvent) {
        let created = &conversation.created;
        // What an agent does for a run, or for another agent, is told of with that.
        if !matches!(event, TurnEvent::Ended(_)) || created.run.is_some() || created.parent.is_some() {
            return;
        }
        if let Some((Some(label), _)) = &conversation.last {
            self.add(Over::Turn(session.clone(), label.clone()));
        }
    }
}

/// Looks at the logs of what is over.
struct Teller {
    log: Arc<ServerStore>,
    talks: Arc<ServerStore>,
    steps: PathBuf,
    found: Option<SqliteStore>,
    exporter: Arc<Exporter>,
}

impl Teller {
    async fn tell(mut self, mut waiting: mpsc::Receiver<Over>) {
        while let Some(over) = waiting.recv().await {
            let trace = match over {
                Over::Run(id) => self.of_run(&id).await,
                Over::Turn(session, label) => trace_of_turn(&*self.talks, &session, &label).await,
                Over::All(told) => {
                    // Nobody may wait any more.
                    let _ = told.send(());
                    return;
                }
            };
            let tally = self.exporter.tally();
            match trace {
                Ok(trace) => {
                    tally.add(Fate::Dropped, trace.left_out);
                    self.exporter.give(trace.spans);
                }
                // Its log may have been forgotten meanwhile, or does not answer.
                Err(_) => tally.lose(),
            }
        }
    }

    async fn of_run(&mut self, id: &RunId) -> Result<Trace, TraceError> {
        // There is none before the first step of an agent.
        self.found = self.found.take().or_else(|| find_sessions(&self.steps));
        trace_of_run(&*self.log, self.found.as_ref(), id).await
    }
}
