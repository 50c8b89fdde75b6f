//! A run driven and shown, until it is over or left.

use crate::runs::{self, LocalDriver, Screen, SystemClock, Told};
use crate::session::Session;
use crate::ui::json::from_value;
use crate::{Exit, Failure};
use abide_core::event::{Event, Question, RunId, StepKey, Timestamp};
use abide_core::run::{Command, RunStatus};
use abide_engine::driver::DriveError;
use abide_engine::port::{Clock as _, Signal};
use abide_engine::service::{self, ServiceError};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;

/// Who answers questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    /// A human: here, or from elsewhere.
    Human,
    /// Nobody: the first option is taken.
    FirstOption,
}

/// How often a live list is drawn.
const FRAME: Duration = Duration::from_millis(100);

/// Drives a run and shows what happens, until it is over or left.
pub(super) async fn drive(
    session: &mut Session<'_>,
    driver: &LocalDriver,
    id: RunId,
    mut told: UnboundedReceiver<Told>,
    asking: Asking,
) -> Result<Exit, Failure> {
    let (answers, mut answered) = unbounded_channel::<(StepKey, String)>();
    let live = session.surroundings.terminal && !session.json;
    let screen = Screen::new(live.then_some(session.style));
    let mut shown = Shown { id: id.clone(), began: SystemClock.now(), screen, answers, asking };
    let (stop, stopped) = watch::channel(None);
    let end = driver.drive(id.clone(), stopped);
    tokio::pin!(end);
    let mut interrupts = 0;
    let mut frames = tokio::time::interval(FRAME);
    let status = loop {
        tokio::select! {
            biased;
            Some(told) = told.recv() => shown.tell(session, told)?,
            Some((key, answer)) = answered.recv() => shown.answer(session, driver, key, answer).await?,
            status = &mut end => break status,
            signal = tokio::signal::ctrl_c() => {
                signal.map_err(|error| Failure::new(Exit::System, error.to_string()))?;
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
            _ = frames.tick(), if live => {
                let frame = shown.screen.frame(shown.at());
                session.print(&frame)?;
            }
        }
    };
    while let Ok(told) = told.try_recv() {
        shown.tell(session, told)?;
    }
    let rest = shown.screen.end();
    session.print(&rest)?;
    let status = status.map_err(|error| drive_failure(&error))?;
    if status == RunStatus::Interrupted {
        session.say(&format!("\na step was interrupted in the middle, and nobody knows how far it came\n  abide resume {id} --rerun   runs it again\n  abide resume {id} --fail    counts it as failed\n"))?;
    }
    Ok(runs::exit_of(status))
}

fn drive_failure(error: &DriveError) -> Failure {
    match error {
        DriveError::Load(error) => runs::load_failure(error),
        DriveError::Store(error) => runs::store_failure(error),
        DriveError::Refused(..) => Failure::new(Exit::System, error.to_string()),
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
    id: RunId,
    began: Timestamp,
    screen: Screen,
    answers: UnboundedSender<(StepKey, String)>,
    asking: Asking,
}

impl Shown {
    fn at(&self) -> Duration {
        SystemClock.now().since(self.began)
    }

    fn tell(&mut self, session: &mut Session<'_>, told: Told) -> Result<(), Failure> {
        if session.json {
            return match told {
                Told::Event { run, event, .. } => session.print(&event_json(&run, &event)),
                Told::Output { .. } => Ok(()),
            };
        }
        let asked = match &told {
            Told::Event { run, event, .. } => match &**event {
                Event::QuestionAsked { key, question } => Some((run.clone(), key.clone(), question.clone())),
                _ => None,
            },
            Told::Output { .. } => None,
        };
        let text = self.screen.tell(told, self.at());
        session.print(&text)?;
        match asked {
            Some((run, key, question)) => self.ask(session, &run, &key, &question),
            None => Ok(()),
        }
    }

    /// Asks a question where the run is shown, or says how to answer it from elsewhere.
    fn ask(
        &mut self,
        session: &mut Session<'_>,
        run: &RunId,
        key: &StepKey,
        question: &Question,
    ) -> Result<(), Failure> {
        let options: Vec<&str> = question.options.iter().map(|(_, value)| value.as_str()).collect();
        if self.asking == Asking::FirstOption
            && let Some(first) = options.first().filter(|_| *run == self.id)
        {
            session.say(&format!("  nobody is asked here: the answer is `{first}`\n"))?;
            let _ = self.answers.send((key.clone(), (*first).to_owned()));
            return Ok(());
        }
        if !session.surroundings.terminal_in || *run != self.id {
            let answers = options.join("|");
            return session.say(&format!(
                "  abide approve {run} {key} [--answer {answers}]\n  abide reject {run} {key}\n"
            ));
        }
        // The cursor stands behind the question: nothing may be drawn over it.
        self.screen.pause();
        session.say(&format!("  {} > ", options.join(" / ")))?;
        self.read_answer(key.clone());
        Ok(())
    }

    fn read_answer(&self, key: StepKey) {
        let answers = self.answers.clone();
        // Reading a terminal cannot be cancelled; the thread ends with the process.
        std::thread::spawn(move || {
            let mut line = String::new();
            if std::io::stdin().read_line(&mut line).is_ok_and(|read| read > 0) {
                let _ = answers.send((key, line.trim().to_owned()));
            }
        });
    }

    async fn answer(
        &mut self,
        session: &mut Session<'_>,
        driver: &LocalDriver,
        key: StepKey,
        text: String,
    ) -> Result<(), Failure> {
        let answer = match text.to_lowercase().as_str() {
            "y" | "yes" | "approve" => "approved".to_owned(),
            "n" | "no" | "reject" => "rejected".to_owned(),
            _ => text,
        };
        let by = runs::user(session).into();
        let now = SystemClock.now();
        let command = Command::Answer { key: key.clone(), answer: answer.into(), by, comment: None, now };
        match service::command(driver, &self.id, command).await {
            Ok(_) => self.screen.go_on(),
            Err(ServiceError::Refused(refusal)) => {
                let again = matches!(refusal, abide_core::run::Refusal::NoOption { .. });
                session.say(&format!("{refusal}\n{}", if again { "  > " } else { "" }))?;
                if again && self.asking == Asking::Human {
                    self.read_answer(key);
                } else {
                    self.screen.go_on();
                }
            }
            Err(error) => return Err(runs::service_failure(&error)),
        }
        Ok(())
    }
}
