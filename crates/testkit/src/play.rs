//! A run played through scripted happenings: the machine alone, with time as a number.
//!
//! A play does what a driver does (append, then do, then report) and nothing else. Every attempt waits until the
//! script ends it, so a test sees the run at any moment.

use abide_core::definition::Ability;
use abide_core::event::{
    Created, Event, HookKey, LossDecision, Observation, Output, ProcessEnd, RunId, StepKey, StepResult,
    Timestamp,
};
use abide_core::run::{Command, Refusal, Run};
use abide_core::value::Value;
use abide_core::view::status::step_lines;
use std::fmt::Write as _;
use std::sync::Arc;

/// Something that happens in a play.
#[derive(Debug, Clone)]
pub enum Do {
    /// An attempt of this step ends with exit code 0 and this output.
    Finish(&'static str, &'static str),
    /// An attempt of this step ends with this exit code.
    Fail(&'static str, i32),
    /// An attempt of this step ends well, but this evidence is missing.
    Miss(&'static str, &'static str),
    /// An attempt of this step runs out of time.
    TimeOut(&'static str),
    /// Somebody answers a question.
    Answer(&'static str, &'static str, &'static str),
    /// Somebody answers the plan.
    Plan(&'static str, bool),
    /// A hook ends, with this error or none.
    Hook(&'static str, Option<&'static str>),
    /// Time passes, in milliseconds.
    Wait(i64),
    /// Somebody cancels.
    Cancel(&'static str),
    /// Everything under way ends because the run does.
    EndAll,
    /// The driver is lost, and another one takes over.
    Crash,
    /// A human decides about a lost attempt.
    Resolve(&'static str, LossDecision),
}

/// A run being played.
#[derive(Debug, Clone)]
pub struct Play {
    /// The run.
    pub run: Run,
    /// Everything that happened.
    pub log: Vec<Event>,
    /// What time it is.
    pub now: Timestamp,
}

impl Play {
    /// Starts a run of an ability with inputs.
    ///
    /// # Panics
    /// If the ability has errors: a play is a test.
    pub fn start(source: &str, inputs: &[(&str, Value)]) -> Self {
        Self::start_with(source, |created| {
            for (name, value) in inputs {
                created.inputs.retain(|(known, _)| known != name);
                created.inputs.push(((*name).into(), value.clone()));
            }
        })
    }

    /// Starts a run of an ability whose beginning is changed by `change`.
    ///
    /// # Panics
    /// If the ability has errors: a play is a test.
    pub fn start_with(source: &str, change: impl FnOnce(&mut Created)) -> Self {
        let ability = ability(source);
        let now = Timestamp(1_000_000);
        let mut created = Created {
            at: now,
            name: ability.name.as_str().into(),
            source: source.to_owned(),
            digest: "".into(),
            folder: None,
            root: "/project".to_owned(),
            files: Vec::new(),
            inputs: Vec::new(),
            input: String::new(),
            by: "ada".into(),
            session: None,
            parent: None,
            depth: 0,
            rerun_of: None,
            taken_over: Vec::new(),
            hooks: Vec::new(),
            deadline: ability.settings.timeout.as_ref().map(|timeout| now.after(timeout.time())),
            plan_approval: ability.settings.plan_approval.as_ref().is_some_and(|flag| flag.value),
            trace: None,
        };
        for input in &ability.inputs {
            if let Some(default) = &input.default {
                created.inputs.push((input.name.as_str().into(), default.value.clone()));
            }
        }
        change(&mut created);
        let log = vec![Event::Created(Box::new(created.clone()))];
        let id = RunId::parse("run-1").expect("a valid id");
        let mut play = Self { run: Run::create(id, created, Arc::new(ability)), log, now };
        play.advance();
        play
    }

    /// Lets one thing happen; returns the refusal if it may not.
    pub fn happen(&mut self, what: &Do) -> Result<(), Refusal> {
        let now = self.now;
        let key = |text: &str| StepKey::parse(text).expect("a step key");
        match what {
            Do::Finish(step, output) => self.end(step, ProcessEnd::Exited(0), output, &[]),
            Do::Fail(step, code) => self.end(step, ProcessEnd::Exited(*code), "", &[]),
            Do::Miss(step, missing) => self.end(step, ProcessEnd::Exited(0), "", &[missing]),
            Do::TimeOut(step) => self.end(step, ProcessEnd::TimedOut, "", &[]),
            Do::Answer(step, answer, by) => self.command(Command::Answer {
                key: key(step),
                answer: (*answer).into(),
                by: (*by).into(),
                comment: None,
                now,
            }),
            Do::Plan(by, approved) => {
                self.command(Command::AnswerPlan { by: (*by).into(), approved: *approved, comment: None })
            }
            Do::Hook(file, error) => {
                let hook = self.run.hook_in_flight().cloned().filter(|hook: &HookKey| hook.file == *file);
                let hook = hook.unwrap_or_else(|| panic!("no hook {file} is under way"));
                self.command(Command::HookEnded { hook, error: error.map(str::to_owned) })
            }
            Do::Wait(time) => {
                self.now = Timestamp(now.0 + time);
                self.command(Command::Tick { now: self.now })
            }
            Do::Cancel(by) => self.command(Command::Cancel { by: (*by).into(), reason: None }),
            Do::EndAll => {
                for (key, _) in self.run.in_flight() {
                    self.end(&key.to_string(), ProcessEnd::Cancelled, "", &[])?;
                }
                Ok(())
            }
            Do::Crash => {
                self.run = self.replayed();
                self.command(Command::Recover { again: Vec::new() })
            }
            Do::Resolve(step, decision) => {
                self.command(Command::Resolve { key: key(step), by: "ada".into(), decision: *decision })
            }
        }
    }

    /// Returns the run that the log alone amounts to.
    pub fn replayed(&self) -> Run {
        let Some(Event::Created(created)) = self.log.first() else {
            unreachable!("a log begins with its creation")
        };
        let mut run =
            Run::create(self.run.id.clone(), (**created).clone(), Arc::new(ability(&created.source)));
        for event in &self.log[1..] {
            run.apply(event);
        }
        run
    }

    fn end(&mut self, step: &str, end: ProcessEnd, output: &str, missing: &[&str]) -> Result<(), Refusal> {
        let key = StepKey::parse(step).expect("a step key");
        let attempt = self.run.instance(&key).map_or(0, |instance| instance.attempt);
        let exit_code = if let ProcessEnd::Exited(code) = &end { Some(*code) } else { None };
        let result = StepResult { output: Output::whole(output), exit_code, ..StepResult::default() };
        let missing = missing.iter().map(|text| (*text).to_owned()).collect();
        let observation = Box::new(Observation { end, result, missing });
        self.command(Command::AttemptEnded { key, attempt, observation, now: self.now })
    }

    fn command(&mut self, command: Command) -> Result<(), Refusal> {
        for event in self.run.decide(command, &[])? {
            self.run.apply(&event);
            self.append(event);
        }
        self.advance();
        Ok(())
    }

    fn advance(&mut self) {
        for event in self.run.advance(self.now, &[]) {
            self.append(event);
        }
    }

    /// Keeps an event as a store would: what is read back is what was written.
    fn append(&mut self, event: Event) {
        let stored = abide_formats::event::write(&event);
        let read = abide_formats::event::read(event.kind(), &stored);
        assert_eq!(read.as_ref(), Ok(&event), "{stored}");
        self.log.push(event);
    }

    /// Returns the status of the run and a line per step.
    pub fn picture(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(text, "{}", self.run.status().word());
        for line in step_lines(&self.run) {
            let note = line.note.map(|note| format!(" {note}")).unwrap_or_default();
            let attempts =
                if line.attempts > 1 { format!(" (attempt {})", line.attempts) } else { String::new() };
            let _ = writeln!(text, "{:<10} {}{note}{attempts}", line.key, line.mark.sign());
        }
        text
    }
}

/// Plays a run to its end and returns how it looks then.
///
/// # Panics
/// If something is refused: use [`Play::happen`] to look at refusals.
pub fn play(source: &str, inputs: &[(&str, Value)], happenings: &[Do]) -> String {
    let mut play = Play::start(source, inputs);
    for what in happenings {
        if let Err(refusal) = play.happen(what) {
            panic!("{what:?}: {refusal}\n{}", play.picture());
        }
    }
    play.picture()
}

fn ability(source: &str) -> Ability {
    let reading = abide_formats::ability::read(source, "played");
    let errors: Vec<_> = reading.problems.iter().filter(|problem| problem.is_error()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    reading.ability.expect("an ability without errors")
}
