//! `abide run NAME` and `abide resume [RUN]`

use crate::args::{ResumeArguments, RunArguments};
use crate::runs::{self, Lines, LocalDriver, Progress, SystemClock, Told};
use crate::session::Session;
use crate::ui::json::from_value;
use crate::{Exit, Failure, ui};
use abide_core::event::{Event, LossDecision, Question, RunId, StepKey};
use abide_core::plan::Plan;
use abide_core::run::{Command, RunStatus};
use abide_engine::driver::DriveError;
use abide_engine::port::{Clock as _, Signal};
use abide_engine::service::{self, ServiceError};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{mpsc, watch};

pub(crate) fn run(session: &mut Session<'_>, arguments: &RunArguments) -> Result<Exit, Failure> {
    let start = runs::start_of(session, &arguments.name, &arguments.given)?;
    if session.surroundings.terminal && !session.json {
        let prepared = runs::prepare(session, start.clone())?;
        // A plan that cannot be made is shown where it fails: a step that is never reached does no harm.
        if let Ok(plan) = Plan::of(&prepared.run, &prepared.secrets) {
            session.say(&ui::plan::outline(&plan))?;
        }
    }
    let store = runs::open_store(session)?;
    let (progress, told) = Progress::new();
    let driver = runs::driver(session, store, Arc::new(progress));
    runs::block_on(async {
        let id = service::start(&driver, start).await.map_err(|error| runs::service_failure(&error))?;
        if !session.json {
            session.say(&format!("run {id}\n"))?;
        }
        drive(session, &driver, id, told).await
    })?
}

pub(crate) fn resume(session: &mut Session<'_>, arguments: &ResumeArguments) -> Result<Exit, Failure> {
    let Some(store) = runs::find_store(session)? else {
        return Err(
            Failure::new(Exit::NotFound, "no run was ever started here").help("`abide run NAME` starts one")
        );
    };
    runs::block_on(async {
        let unfinished = |status: &str| !matches!(status, "completed" | "failed" | "cancelled" | "timed_out");
        let id = runs::find_run(&store, arguments.run.as_deref(), unfinished).await?;
        let loaded = runs::load_run(&store, &id).await?;
        if loaded.run.is_finished() {
            let message = format!("run {id} is over: {}", loaded.run.status().word());
            return Err(Failure::new(Exit::Refused, message).help("`abide run NAME` starts a new one"));
        }
        let (progress, told) = Progress::new();
        let driver = runs::driver(session, store, Arc::new(progress));
        let decision = match (arguments.rerun, arguments.fail) {
            (true, _) => Some(LossDecision::Rerun),
            (_, true) => Some(LossDecision::Fail),
            _ => None,
        };
        if let Some(decision) = decision {
            let lost = service::lost(&driver, &id).await.map_err(|error| runs::service_failure(&error))?;
            for (run, key) in lost {
                let command = Command::Resolve { key, by: runs::user(session).into(), decision };
                service::command(&driver, &run, command)
                    .await
                    .map_err(|error| runs::service_failure(&error))?;
            }
        }
        drive(session, &driver, id, told).await
    })?
}

/// Drives a run and shows what happens, until it is over or left.
async fn drive(
    session: &mut Session<'_>,
    driver: &LocalDriver,
    id: RunId,
    mut told: UnboundedReceiver<Told>,
) -> Result<Exit, Failure> {
    let began = SystemClock.now();
    let (stop, stopped) = watch::channel(None);
    let end = driver.drive(id.clone(), stopped);
    tokio::pin!(end);
    let mut lines = Lines::default();
    let (answers, mut answered) = mpsc::unbounded_channel::<(StepKey, String)>();
    let mut interrupts = 0;
    let status = loop {
        tokio::select! {
            biased;
            Some(told) = told.recv() => show(session, &mut lines, told, began, &id, &answers)?,
            Some((key, answer)) = answered.recv() => answer_here(session, driver, &id, key, answer).await?,
            status = &mut end => break status,
            signal = tokio::signal::ctrl_c() => {
                signal.map_err(|error| Failure::new(Exit::System, error.to_string()))?;
                interrupts += 1;
                if interrupts == 1 {
                    session.say("stopping; press Ctrl-C again to end everything at once\n")?;
                    let by = runs::user(session).into();
                    // A run that is already ending is being stopped.
                    let _ = service::command(driver, &id, Command::Cancel { by, reason: None }).await;
                } else {
                    let _ = stop.send(Some(Signal::Kill));
                }
            }
        }
    };
    while let Ok(told) = told.try_recv() {
        show(session, &mut lines, told, began, &id, &answers)?;
    }
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

fn show(
    session: &mut Session<'_>,
    lines: &mut Lines,
    told: Told,
    began: abide_core::event::Timestamp,
    id: &RunId,
    answers: &mpsc::UnboundedSender<(StepKey, String)>,
) -> Result<(), Failure> {
    if session.json {
        return match told {
            Told::Event { run, event, .. } => {
                let data = abide_formats::event::write(&event);
                let data =
                    abide_formats::json::parse(&data).map(|data| from_value(&data)).unwrap_or_default();
                session.print(&format!(
                    "{}\n",
                    serde_json::json!({ "run": run.as_str(), "type": event.kind(), "data": data })
                ))
            }
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
    let at: Duration = SystemClock.now().since(began);
    let text = lines.tell(told, at);
    session.print(&text)?;
    if let Some((run, key, question)) = asked {
        ask(session, id, &run, &key, &question, answers)?;
    }
    Ok(())
}

/// Asks a question where the run is shown, or says how to answer it from elsewhere.
fn ask(
    session: &mut Session<'_>,
    id: &RunId,
    run: &RunId,
    key: &StepKey,
    question: &Question,
    answers: &mpsc::UnboundedSender<(StepKey, String)>,
) -> Result<(), Failure> {
    let options: Vec<&str> = question.options.iter().map(|(_, value)| value.as_str()).collect();
    if !session.surroundings.terminal_in || run != id {
        let step = key.to_string();
        session.say(&format!(
            "  abide approve {run} {step} [--answer {}]\n  abide reject {run} {step}\n",
            options.join("|")
        ))?;
        return Ok(());
    }
    session.say(&format!("  {} > ", options.join(" / ")))?;
    let answers = answers.clone();
    let key = key.clone();
    // Reading a terminal cannot be cancelled; the thread ends with the process.
    std::thread::spawn(move || {
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line).is_ok_and(|read| read > 0) {
            let _ = answers.send((key, line.trim().to_owned()));
        }
    });
    Ok(())
}

async fn answer_here(
    session: &mut Session<'_>,
    driver: &LocalDriver,
    id: &RunId,
    key: StepKey,
    text: String,
) -> Result<(), Failure> {
    let answer = match text.to_lowercase().as_str() {
        "y" | "yes" | "approve" => "approved".to_owned(),
        "n" | "no" | "reject" => "rejected".to_owned(),
        other => other.to_owned(),
    };
    let by = runs::user(session).into();
    let command = Command::Answer { key, answer: answer.into(), by, comment: None, now: SystemClock.now() };
    match service::command(driver, id, command).await {
        Ok(_) => Ok(()),
        Err(ServiceError::Refused(refusal)) => session.say(&format!("{refusal}\n  > ")),
        Err(error) => Err(runs::service_failure(&error)),
    }
}
