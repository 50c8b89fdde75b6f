//! Questions of a run and of those that it calls, asked one at a time where the run is shown.
//!
//! A line that is typed answers the question that stands on the screen and no other: what was typed before it was
//! asked is thrown away, and a question that somebody else answers is taken off.

use crate::Failure;
use crate::human::agent_above;
use crate::runs::{self, LocalDriver, SystemClock};
use crate::session::Session;
use crate::ui::visible::visible;
use abide_core::event::{Event, Question, RunId, StepKey};
use abide_core::run::{Command, Refusal};
use abide_engine::port::Clock as _;
use abide_engine::service::{self, Open, ServiceError};
use abide_gate::agents::AgentAbove;
use std::collections::VecDeque;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// Who answers questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Asking {
    /// A human: here, or from elsewhere.
    Human,
    /// Nobody: the first option is taken.
    FirstOption,
}

/// What came of a line that was typed.
pub(super) enum Answered {
    /// It is the answer.
    Taken,
    /// It is too late, or nothing can be typed any more: the question is off the screen.
    Dropped,
    /// It is no answer: the question stands.
    Again,
}

/// What is asked, and what is to be asked next.
pub(super) struct Questions {
    asking: Asking,
    waiting: VecDeque<Asked>,
    /// The one that stands on the screen.
    current: Option<Asked>,
    /// What is typed, once something has been asked.
    lines: Option<UnboundedReceiver<String>>,
    /// Whether nothing can be typed any more.
    closed: bool,
}

struct Asked {
    run: RunId,
    open: Open,
    /// Whether the line right above says what is asked.
    told: bool,
}

impl Questions {
    pub(super) fn new(asking: Asking) -> Self {
        Self { asking, waiting: VecDeque::new(), current: None, lines: None, closed: false }
    }

    /// Adds a question that was asked before the run was shown.
    pub(super) fn add(&mut self, run: &RunId, open: Open) {
        self.push(Asked { run: run.clone(), open, told: false });
    }

    /// Adds a question, unless it is known.
    fn push(&mut self, asked: Asked) {
        if !self.current.iter().chain(&self.waiting).any(|known| known.is(&asked)) {
            self.waiting.push_back(asked);
        }
    }

    pub(super) fn has_more(&self) -> bool {
        self.current.is_none() && !self.waiting.is_empty()
    }

    /// Takes in what happened to a run; returns whether that settles the question on the screen.
    pub(super) fn hear(&mut self, run: &RunId, event: &Event) -> bool {
        let key = match event {
            Event::QuestionAsked { key, question } => {
                let told = self.current.is_none() && self.waiting.is_empty();
                let open = Open::Question(key.clone(), Box::new(question.clone()));
                self.push(Asked { run: run.clone(), open, told });
                return false;
            }
            Event::QuestionAnswered { key, .. } | Event::QuestionExpired { key } => Some(key),
            // Everything that the run asked is settled.
            Event::PlanAnswered { .. }
            | Event::CancelRequested { .. }
            | Event::DeadlinePassed
            | Event::Finished { .. } => None,
            _ => return false,
        };
        let settled = |asked: &Asked| asked.run == *run && (key.is_none() || asked.key() == key);
        self.waiting.retain(|asked| !settled(asked));
        self.current.take_if(|asked| settled(asked)).is_some()
    }

    /// Asks what is to be asked next; returns whether an answer is to be typed.
    pub(super) fn ask(&mut self, session: &mut Session<'_>) -> Result<bool, Failure> {
        while self.current.is_none() {
            let Some(asked) = self.waiting.pop_front() else { return Ok(false) };
            let answers = asked.answers();
            if self.asking == Asking::Human {
                if session.surroundings.terminal_in
                    && !self.closed
                    && let Some(AgentAbove { who, sign }) = agent_above(session.surroundings)
                {
                    // A program can hold a terminal and type into it.
                    session.say(&format!(
                        "  nobody is asked here, because this process was started by {who} ({sign})\n"
                    ))?;
                    self.closed = true;
                }
                if !session.surroundings.terminal_in || self.closed {
                    session.say(&asked.how_elsewhere())?;
                    continue;
                }
            }
            if self.asking == Asking::FirstOption {
                session.say(&format!("  nobody is asked here: the answer is `{}`\n", answers[0]))?;
                let (sender, lines) = unbounded_channel();
                // The other end is held here.
                let _ = sender.send(answers[0].clone());
                self.lines = Some(lines);
                self.current = Some(asked);
                return Ok(false);
            }
            session.say(&format!("{}  {}\n", asked.introduction(), answers.join(" / ")))?;
            self.listen();
            self.current = Some(asked);
            return Ok(true);
        }
        Ok(false)
    }

    /// Throws away what was typed before, and reads from now on.
    fn listen(&mut self) {
        // On what is no terminal after all, there is nothing to throw away.
        let _ = rustix::termios::tcflush(std::io::stdin(), rustix::termios::QueueSelector::IFlush);
        if let Some(lines) = &mut self.lines {
            while lines.try_recv().is_ok() {}
            return;
        }
        let (sender, lines) = unbounded_channel();
        self.lines = Some(lines);
        // Reading a terminal cannot be cancelled; the thread ends with the process.
        std::thread::spawn(move || {
            let mut line = String::new();
            while std::io::stdin().read_line(&mut line).is_ok_and(|read| read > 0) {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
    }

    /// Waits for a line that answers the question on the screen; nothing when no more can be typed.
    pub(super) async fn line(&mut self) -> Option<String> {
        match &mut self.lines {
            Some(lines) if self.current.is_some() => lines.recv().await,
            _ => std::future::pending().await,
        }
    }

    /// Answers the question on the screen.
    pub(super) async fn answer(
        &mut self,
        session: &mut Session<'_>,
        driver: &LocalDriver,
        line: Option<String>,
    ) -> Result<Answered, Failure> {
        let Some(asked) = self.current.take() else { return Ok(Answered::Dropped) };
        let Some(line) = line else {
            self.closed = true;
            session.say(&format!("\n{}", asked.how_elsewhere()))?;
            return Ok(Answered::Dropped);
        };
        let by = runs::user(session);
        let command = match asked.command(line.trim(), &by) {
            Ok(command) => command,
            Err(message) => {
                session.say(&format!("{message}\n"))?;
                self.current = Some(asked);
                return Ok(Answered::Again);
            }
        };
        match service::command(driver, &asked.run, command).await {
            Ok(_) => Ok(Answered::Taken),
            Err(ServiceError::Refused(refusal)) => {
                session.say(&format!("{refusal}\n"))?;
                let again = self.asking == Asking::Human && matches!(refusal, Refusal::NoOption { .. });
                if again {
                    self.current = Some(asked);
                    return Ok(Answered::Again);
                }
                Ok(Answered::Dropped)
            }
            Err(error @ ServiceError::Answered(_)) => {
                session.say(&format!("{error}\n"))?;
                Ok(Answered::Dropped)
            }
            Err(error) => Err(runs::service_failure(&error)),
        }
    }
}

impl Asked {
    fn is(&self, other: &Self) -> bool {
        self.run == other.run && self.key() == other.key()
    }

    fn key(&self) -> Option<&StepKey> {
        match &self.open {
            Open::Plan => None,
            Open::Question(key, _) => Some(key),
        }
    }

    fn question(&self) -> Option<&Question> {
        match &self.open {
            Open::Plan => None,
            Open::Question(_, question) => Some(question),
        }
    }

    /// Returns the words that answer it; at least one.
    fn answers(&self) -> Vec<String> {
        let options = self.question().map(|question| &question.options[..]).unwrap_or_default();
        let values: Vec<String> = options.iter().map(|(_, value)| value.to_string()).collect();
        if values.is_empty() { vec!["approved".to_owned(), "rejected".to_owned()] } else { values }
    }

    /// Returns what stands over the answers.
    fn introduction(&self) -> String {
        match &self.open {
            _ if self.told => String::new(),
            Open::Plan => "? the plan waits to be approved\n".to_owned(),
            Open::Question(key, question) => format!("? {key}: {}\n", visible(&question.prompt, true)),
        }
    }

    /// Returns how it is answered from elsewhere.
    fn how_elsewhere(&self) -> String {
        let (run, introduction) = (&self.run, self.introduction());
        match &self.open {
            Open::Plan => format!("{introduction}  abide approve {run}\n  abide reject {run}\n"),
            Open::Question(key, _) => {
                let answers = self.answers().join("|");
                format!(
                    "{introduction}  abide approve {run} {key} [--answer {answers}]\n  abide reject {run} {key}\n"
                )
            }
        }
    }

    /// Returns what a typed line asks for, or why it asks for nothing.
    fn command(&self, line: &str, by: &str) -> Result<Command, String> {
        let answer = self.meant(line);
        match &self.open {
            Open::Question(key, _) => Ok(Command::Answer {
                key: key.clone(),
                answer: answer.into(),
                by: by.into(),
                comment: None,
                now: SystemClock.now(),
            }),
            Open::Plan if answer == "approved" || answer == "rejected" => {
                Ok(Command::AnswerPlan { by: by.into(), approved: answer == "approved", comment: None })
            }
            Open::Plan => Err(format!("`{line}` is not an answer: the answers are `approved`, `rejected`")),
        }
    }

    /// Returns the answer that a typed line means: its value, its label, or a plain yes or no.
    fn meant(&self, line: &str) -> String {
        let options = self.question().map(|question| &question.options[..]).unwrap_or_default();
        let labelled = options
            .iter()
            .find(|(label, value)| label.eq_ignore_ascii_case(line) || value.eq_ignore_ascii_case(line));
        match (labelled, line.to_ascii_lowercase().as_str()) {
            (Some((_, value)), _) => value.to_string(),
            (None, "y" | "yes" | "approve") => "approved".to_owned(),
            (None, "n" | "no" | "reject") => "rejected".to_owned(),
            _ => line.to_owned(),
        }
    }
}
