//! A run of a server, started and shown as one of this machine is, until it is over or left.

use super::{Remote, failure};
use crate::args::RunArguments;
use crate::runs::{Screen, Told};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::event::{Event, RunId};
use abide_engine::port::Stream;
use abide_sdk::{Error, LogOptions, RunStatus};
use serde_json::json;
use std::collections::HashMap;
use std::pin::pin;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How often a live list is drawn.
const FRAME: Duration = Duration::from_millis(100);

/// What is shown of a run.
struct Shown {
    id: RunId,
    screen: Screen,
    began: Instant,
    /// How much of the output of each step has been printed.
    printed: HashMap<String, usize>,
}

impl Remote {
    pub(super) async fn start(
        &self,
        session: &mut Session<'_>,
        arguments: &RunArguments,
    ) -> Result<Exit, Failure> {
        if arguments.dry_run {
            return Err(Failure::new(Exit::Usage, "a dry run walks through the steps on this machine")
                .help(format!("`{} plan {}` shows what a run would do there", self.typed, arguments.name)));
        }
        let execution = self.execution(session, &arguments.name, &arguments.given).await?;
        let run = self.abide.abilities().execute(execution).await.map_err(|error| failure(&error))?.run;
        if !arguments.detach {
            if !session.json {
                session.say(&format!("run {run}\n"))?;
            }
            return self.follow(session, &run, 0).await;
        }
        if session.json {
            session.print_json(&json!({ "run": run }))?;
        } else {
            session.print(&format!("{run}\n"))?;
            let typed = &self.typed;
            session.say(&format!(
                "`{typed} logs -f {run}` follows it, `{typed} status {run}` shows how far it is\n"
            ))?;
        }
        Ok(Exit::Done)
    }

    /// Returns how many events a run has.
    pub(super) async fn length(&self, run: &str) -> Result<u64, Failure> {
        let mut events = self.abide.runs().events(run);
        let mut last = 0;
        while let Some(event) = events.next().await.map_err(|error| failure(&error))? {
            last = event.seq;
        }
        Ok(last)
    }

    /// Shows what happens in a run after one of its events, until it is over, waits for a decision, or is left.
    pub(super) async fn follow(
        &self,
        session: &mut Session<'_>,
        run: &str,
        after: u64,
    ) -> Result<Exit, Failure> {
        let id = RunId::parse(run).ok_or_else(|| Failure::new(Exit::System, format!("`{run}` is no run")))?;
        let live = session.surroundings.terminal && !session.json;
        let screen = Screen::new(live.then_some(session.style));
        let mut shown = Shown { id, screen, began: Instant::now(), printed: HashMap::new() };
        let (sender, mut events) = mpsc::channel(64);
        // Whoever waits in a `select!` could lose a connection that is being opened.
        let mut reading = pin!(async move {
            // It ends with the block, and so does whoever listens.
            let sender = sender;
            let mut stream = self.abide.runs().stream(run, after);
            while let Some(event) = stream.next().await? {
                if sender.send(event).await.is_err() {
                    break;
                }
            }
            Ok::<(), Error>(())
        });
        let mut keys = signal(SignalKind::interrupt())
            .map_err(|error| Failure::new(Exit::System, format!("cannot listen for Ctrl-C: {error}")))?;
        let (mut interrupts, mut read) = (0, None);
        let mut frames = tokio::time::interval(FRAME);
        loop {
            tokio::select! {
                biased;
                event = events.recv() => {
                    let Some(event) = event else { break };
                    if self.tell(session, &mut shown, &event).await? {
                        break;
                    }
                }
                end = &mut reading, if read.is_none() => read = Some(end),
                _ = keys.recv() => {
                    interrupts += 1;
                    let cleared = shown.screen.end();
                    session.print(&cleared)?;
                    if interrupts > 1 || !self.stop(session, run).await? {
                        session.say(&format!("left; `{} status {run}` shows how far it is\n", self.typed))?;
                        return Ok(Exit::RunUnfinished);
                    }
                }
                _ = frames.tick(), if live => {
                    let frame = shown.screen.frame(session.width(), shown.began.elapsed());
                    session.print(&frame)?;
                }
            }
        }
        let rest = shown.screen.end();
        session.print(&rest)?;
        if let Some(Err(error)) = read {
            return Err(failure(&error).help(format!("the run goes on: `{} status {run}`", self.typed)));
        }
        self.end(session, run).await
    }

    /// Shows an event; returns whether the run now waits for somebody to decide how it goes on.
    async fn tell(
        &self,
        session: &mut Session<'_>,
        shown: &mut Shown,
        event: &abide_sdk::Event,
    ) -> Result<bool, Failure> {
        let run = shown.id.clone();
        // One of a newer server is left to the log.
        let known = abide_formats::event::read(&event.kind, &event.data.to_string()).ok();
        if session.json {
            session.print(&format!(
                "{}\n",
                json!({ "run": run.as_str(), "type": event.kind, "data": event.data })
            ))?;
        } else if let Some(known) = &known {
            if let Event::AttemptSucceeded { key, .. }
            | Event::AttemptFailed { key, .. }
            | Event::AttemptCancelled { key, .. } = known
            {
                self.output(session, shown, &key.to_string()).await?;
            }
            let told = Told::Event { run: run.clone(), depth: 0, event: Box::new(known.clone()) };
            let text = shown.screen.tell(told, session.width(), shown.began.elapsed());
            session.print(&text)?;
        }
        match known {
            Some(Event::AttemptLost { rerun: false, .. }) => {
                let now = self.abide.runs().get(run.as_str()).await.map_err(|error| failure(&error))?;
                Ok(now.status == RunStatus::Interrupted)
            }
            Some(Event::QuestionAsked { .. } | Event::Created(_)) if !session.json => {
                let now = self.abide.runs().get(run.as_str()).await.map_err(|error| failure(&error))?;
                let mut text = String::new();
                self.push_questions(&mut text, &now);
                session.say(&text)?;
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    /// Shows what a step has written since it was looked at last.
    async fn output(&self, session: &mut Session<'_>, shown: &mut Shown, step: &str) -> Result<(), Failure> {
        let options = LogOptions { step: Some(step.to_owned()), follow: false };
        // A step that has written nothing has no log.
        let Ok(mut stream) = self.abide.runs().logs(shown.id.as_str(), &options).await else { return Ok(()) };
        let mut seen = 0;
        while let Ok(Some(bytes)) = stream.next().await {
            let printed = shown.printed.entry(step.to_owned()).or_default();
            let new = bytes.get(printed.saturating_sub(seen).min(bytes.len())..).unwrap_or_default();
            seen += bytes.len();
            *printed = (*printed).max(seen);
            let told = Told::Output {
                run: shown.id.clone(),
                key: step.to_owned(),
                stream: Stream::Stdout,
                bytes: new.to_vec(),
            };
            let text = shown.screen.tell(told, session.width(), shown.began.elapsed());
            session.print(&text)?;
        }
        Ok(())
    }

    /// Asks the server to end a run; returns whether it does.
    async fn stop(&self, session: &mut Session<'_>, run: &str) -> Result<bool, Failure> {
        match self.abide.runs().cancel(run, None).await {
            Ok(_) => {
                session.say("stopping; press Ctrl-C again to leave the run\n")?;
                Ok(true)
            }
            Err(error) => {
                session.say(&format!("{}", failure(&error)))?;
                Ok(false)
            }
        }
    }

    /// Says how a run ended, or what it waits for.
    async fn end(&self, session: &mut Session<'_>, run: &str) -> Result<Exit, Failure> {
        let status = self.abide.runs().get(run).await.map_err(|error| failure(&error))?.status;
        if status == RunStatus::Interrupted {
            let typed = &self.typed;
            session.say(&format!("\na step was interrupted in the middle, and nobody knows how far it came\n  {typed} resume {run} --rerun   runs it again\n  {typed} resume {run} --fail    counts it as failed\n"))?;
        }
        Ok(match status {
            RunStatus::Completed => Exit::Done,
            RunStatus::Failed => Exit::RunFailed,
            RunStatus::Cancelled => Exit::RunCancelled,
            RunStatus::TimedOut => Exit::RunTimedOut,
            _ => Exit::RunUnfinished,
        })
    }
}
