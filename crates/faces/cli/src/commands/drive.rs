//! A run driven and shown, until it is over or left.

use super::asking::{Answered, Questions};
use crate::builtin::{forget_old_sessions, sessions_file};
use crate::gate::try_to_take_verdicts;
use crate::runs::{self, Leaving, LocalDriver, Screen, SystemClock, Told};
use crate::session::Session;
use crate::traces::tell_of_run;
use crate::ui::json::from_value;
use crate::{Exit, Failure};
use abide_core::event::{Event, LossDecision, RunId, Timestamp};
use abide_core::run::{Command, RunStatus};
use abide_engine::driver::DriveError;
use abide_engine::history;
use abide_engine::port::{Clock as _, Signal, StoreError};
use abide_engine::service::{self, GoOnError};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;

pub(super) use super::asking::Asking;

/// How often a live list is drawn.
const FRAME: Duration = Duration::from_millis(100);

/// Drives a run and shows what happens, until it is over or left.
///
/// `lost` is what a human said about the steps that the last driver was in the middle of.
pub(super) async fn drive(
    session: &mut Session<'_>,
    driver: &LocalDriver,
    id: RunId,
    mut told: UnboundedReceiver<Told>,
    asking: Asking,
    lost: Option<LossDecision>,
) -> Result<Exit, Failure> {
    session.go_on_unheard();
    let live = session.surroundings.terminal && !session.json;
    let screen = Screen::new(live.then_some(session.style));
    let mut shown = Shown { began: SystemClock.now(), screen, questions: Questions::new(asking) };
    let (stop, stopped) = watch::channel(None);
    let by = runs::user(session);
    let end = service::go_on(driver, &id, stopped, lost, &by);
    tokio::pin!(end);
    // One listener for all of them: a second Ctrl-C may come while the first is being taken in.
    let mut keys = signal(SignalKind::interrupt())
        .map_err(|error| Failure::new(Exit::System, format!("cannot listen for Ctrl-C: {error}")))?;
    let mut leaving = Leaving::listen()?;
    let (mut interrupts, mut left) = (0, 0);
    let mut frames = tokio::time::interval(FRAME);
    let status = loop {
        tokio::select! {
            biased;
            Some(told) = told.recv() => shown.tell(session, told)?,
            typed = shown.questions.line() => shown.answer(session, driver, typed).await?,
            status = &mut end => break status,
            _ = keys.recv() => {
                interrupts += 1;
                if interrupts == 1 {
                    let cleared = shown.screen.end();
                    session.print(&cleared)?;
                    session.say("stopping; press Ctrl-C again to end everything at once\n")?;
                    let by = runs::user(session).into();
                    // A run that is already ending is being stopped.
                    let _ = service::command(driver, &id, Command::Cancel { by, reason: None }).await;
                } else {
                    let _ = stop.send(Some(Signal::Kill));
                }
            }
            () = leaving.recv() => {
                left += 1;
                let cleared = shown.screen.end();
                session.print(&cleared)?;
                session.say("leaving the run; what is under way is ended\n")?;
                let _ = stop.send(Some(if left == 1 { Signal::Ask } else { Signal::Kill }));
            }
            _ = frames.tick(), if live => {
                let frame = shown.screen.frame(session.width(), shown.at());
                session.print(&frame)?;
            }
        }
    };
    while let Ok(told) = told.try_recv() {
        shown.tell(session, told)?;
    }
    let rest = shown.screen.end();
    session.print(&rest)?;
    let status = status.map_err(|error| failed(&error, &id))?;
    try_to_take_verdicts(session.surroundings, driver.store(), &id).await;
    if status.is_final() {
        let sessions = sessions_file(session);
        if let Some(trouble) = tell_of_run(session.surroundings, &sessions, driver.store(), &id).await {
            session.say(&trouble)?;
        }
        // The run is over, whatever comes of this; the next one tries again.
        let _ = history::prune(driver.store(), &SystemClock, runs::limits(session), &id).await;
        let _ = forget_old_sessions(session, "").await;
    }
    if status == RunStatus::Interrupted {
        session.say(&format!("\na step was interrupted in the middle, and nobody knows how far it came\n  abide resume {id} --rerun   runs it again\n  abide resume {id} --fail    counts it as failed\n"))?;
    } else if left > 0 && !status.is_final() {
        session.say(&format!("\nthe run is left, and not over\n  abide resume {id}   drives it on\n"))?;
    } else if interrupts > 1 && !status.is_final() {
        session.say(&format!("\neverything was ended at once, and the run is not over\n  abide resume {id}   brings it to its end\n"))?;
    }
    Ok(runs::exit_of(status))
}

/// Says what went wrong and how the run goes on; it is as far as its log says.
fn failed(error: &GoOnError, id: &RunId) -> Failure {
    match error {
        GoOnError::Drive(DriveError::Store(error @ (StoreError::Held { .. } | StoreError::LeaseLost(_)))) => {
            runs::store_failure(error)
        }
        GoOnError::Drive(DriveError::Store(error)) => runs::store_failure(error).resume(id),
        GoOnError::Drive(DriveError::Load(error)) => runs::load_failure(error),
        GoOnError::Drive(error @ DriveError::Secrets { .. }) => Failure::new(Exit::Usage, error.to_string())
            .help(format!("`abide resume {id}` asks for them, or takes `-i name=value`")),
        GoOnError::Drive(error @ DriveError::Refused(..)) => Failure::new(Exit::System, error.to_string()),
        GoOnError::Service(error) => runs::service_failure(error),
    }
}

/// Returns an event as one line of JSON.
pub(super) fn event_json(run: &RunId, event: &Event) -> String {
    let data = abide_formats::event::write(event);
    let data = abide_formats::json::parse(&data).map(|data| from_value(&data)).unwrap_or_default();
    format!("{}\n", serde_json::json!({ "run": run.as_str(), "type": event.kind(), "data": data }))
}

/// What is shown of a run.
struct Shown {
    began: Timestamp,
    screen: Screen,
    questions: Questions,
}

impl Shown {
    fn at(&self) -> Duration {
        SystemClock.now().since(self.began)
    }

    fn tell(&mut self, session: &mut Session<'_>, told: Told) -> Result<(), Failure> {
        if session.json {
            return match told {
                Told::Event { run, event, .. } => session.print(&event_json(&run, &event)),
                Told::Output { .. } | Told::Driving { .. } => Ok(()),
            };
        }
        let settled = match &told {
            Told::Event { run, event, .. } => self.questions.hear(run, event),
            Told::Driving { run, open } => {
                for open in open {
                    self.questions.add(run, open.clone());
                }
                false
            }
            Told::Output { .. } => false,
        };
        if settled {
            self.screen.asked(None);
        }
        let text = self.screen.tell(told, session.width(), self.at());
        session.print(&text)?;
        self.ask(session)
    }

    /// Asks the next question, unless one is being asked.
    fn ask(&mut self, session: &mut Session<'_>) -> Result<(), Failure> {
        if session.json {
            return Ok(());
        }
        let cleared = if self.questions.has_more() { self.screen.end() } else { String::new() };
        session.print(&cleared)?;
        if self.questions.ask(session)? { self.prompt(session) } else { Ok(()) }
    }

    fn prompt(&mut self, session: &mut Session<'_>) -> Result<(), Failure> {
        let prompt = self.screen.asked(Some("  > "));
        // What is written to a file is data; the question is for whoever sits at the terminal.
        if session.surroundings.terminal { session.print(&prompt) } else { session.say(&prompt) }
    }

    async fn answer(
        &mut self,
        session: &mut Session<'_>,
        driver: &LocalDriver,
        line: Option<String>,
    ) -> Result<(), Failure> {
        match self.questions.answer(session, driver, line).await? {
            // The log tells it, and after that the next one is asked.
            Answered::Taken => {
                self.screen.asked(None);
                Ok(())
            }
            Answered::Dropped => {
                self.screen.asked(None);
                self.ask(session)
            }
            Answered::Again => self.prompt(session),
        }
    }
}
