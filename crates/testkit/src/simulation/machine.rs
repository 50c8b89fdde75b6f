//! The machine alone, played by a seed: a driver that crashes, a disk that fills up, a clock that is set, people who
//! answer at the same time, and reports that come twice or late.

use super::laws::{self, Timed};
use super::{Chance, ability, world};
use abide_core::event::{
    Created, Event, GivenVerdict, HookKey, HookPhase, NotedVerdict, RunId, StepKey, Timestamp, VerdictAnswer,
};
use abide_core::run::{Command, Refusal, Run};
use std::collections::BTreeSet;
use std::sync::Arc;

/// How often something happens at most before everybody becomes helpful.
const HAPPENINGS: usize = 50;
/// More than any ability needs to come to its end when everybody is helpful.
const ENOUGH: usize = 1_500;

/// Plays the run of a seed to its end, and checks every law on the way.
///
/// # Panics
/// If a law does not hold.
pub fn simulate(seed: u64) {
    let mut play = Simulation::start(seed);
    for _ in 0..HAPPENINGS {
        play.something();
        if play.run.is_finished() {
            break;
        }
    }
    play.finish();
    play.nothing_more_happens();
    play.the_rest_of_the_notes();
    laws::check(&play.run, &play.log);
    let length = play.chance.position(play.log.len()) + 1;
    play.from(length);
}

struct Simulation {
    chance: Chance,
    run: Run,
    log: Vec<Timed>,
    now: Timestamp,
    /// The attempts that are really being carried out.
    world: BTreeSet<(StepKey, u32)>,
    /// What was delivered before, and may be again.
    delivered: Vec<Command>,
    /// How many of a hundred appends fail.
    faults: u64,
    /// Whether a full disk has just ended the driver.
    crashed: bool,
    /// How many verdicts the gate has noted.
    noted: u64,
}

impl Simulation {
    fn start(seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let source = ability(&mut chance, true);
        let ability = laws::read(&source);
        let now = Timestamp(1_000_000_000);
        let mut hooks = Vec::new();
        for (phase, file) in
            [(HookPhase::Before, "a.sh"), (HookPhase::Before, "b.sh"), (HookPhase::After, "z.sh")]
        {
            if chance.percent(12) {
                hooks.push(HookKey { phase, file: file.into() });
            }
        }
        let created = Created {
            at: now,
            name: "simulated".into(),
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
            hooks,
            deadline: ability.settings.timeout.as_ref().map(|timeout| now.after(timeout.time())),
            plan_approval: ability.settings.plan_approval.as_ref().is_some_and(|flag| flag.value),
            trace: None,
            source,
        };
        let log = vec![(now, Event::Created(Box::new(created.clone())))];
        let id = RunId::parse("run-1").expect("a valid id");
        let faults = if chance.percent(50) { 0 } else { 8 };
        let mut play = Self {
            run: Run::create(id, created, Arc::clone(&ability)),
            chance,
            log,
            now,
            world: BTreeSet::new(),
            delivered: Vec::new(),
            faults,
            crashed: false,
            noted: 0,
        };
        play.take_in(None).expect("nothing was asked");
        play
    }

    /// Lets one thing happen.
    fn something(&mut self) {
        match self.chance.within(0..100) {
            0..=44 => {
                if let Some(hook) = self.run.hook_in_flight().cloned() {
                    let error = self.chance.percent(15).then(|| "exit code 1".to_owned());
                    self.deliver(Command::HookEnded { hook, error }, true);
                    return;
                }
                let in_flight: Vec<_> = self.world.iter().cloned().collect();
                if let Some(attempt) = in_flight.get(self.chance.position(in_flight.len())) {
                    let command = world::attempt_ends(&mut self.chance, &self.run, attempt.clone(), self.now);
                    self.deliver(command, true);
                }
            }
            45..=59 => {
                if let Some(command) = world::human(&mut self.chance, &self.run, self.now) {
                    self.deliver(command, false);
                }
            }
            60..=79 => self.time_passes(),
            80..=85 => self.again(),
            86..=89 => self.gate_answers(),
            90..=97 => self.crash(),
            _ => self.deliver(Command::Cancel { by: "eve".into(), reason: None }, false),
        }
    }

    fn time_passes(&mut self) {
        let jump = match self.chance.within(0..100) {
            0..=39 => i64::try_from(self.chance.within(0..3_000)).unwrap_or(0),
            40..=79 => self.run.next_moment().map_or(1, |moment| moment.0 - self.now.0),
            80..=89 => i64::try_from(self.chance.within(0..120_000)).unwrap_or(0),
            90..=94 => 8 * 3_600_000,
            _ => -i64::try_from(self.chance.within(0..7_200_000)).unwrap_or(0),
        };
        self.now = Timestamp(self.now.0 + jump);
        self.crashed = false;
        self.deliver(Command::Tick { now: self.now }, true);
        // With a full disk nothing was taken in.
        if self.crashed {
            return;
        }
        if let Some(moment) = self.run.next_moment() {
            let (now, status, phase) = (self.now, self.run.status(), &self.run.phase);
            assert!(
                moment > now,
                "a driver would turn in circles: {moment:?}, {now:?}, {status:?}, {phase:?}"
            );
        }
    }

    /// The gate answers the agent, and somebody reads what it noted, from the beginning or from where the run is.
    fn gate_answers(&mut self) {
        self.noted += self.chance.within(0..3);
        if self.chance.percent(60) {
            let from = if self.chance.percent(50) { 0 } else { self.run.verdicts.until };
            self.deliver(self.notes(from), false);
        }
    }

    fn notes(&self, from: u64) -> Command {
        let note = |until: u64| match until % 4 {
            0 => NotedVerdict::Lost("cut off".to_owned()),
            other => NotedVerdict::Given(Box::new(GivenVerdict {
                at: self.now,
                answer: VerdictAnswer::ALL[usize::try_from(other).unwrap_or(1) - 1],
                tool: "Bash".to_owned(),
                kind: "execute".into(),
                what: String::new(),
                why: "not now".to_owned(),
                client: "claude".into(),
                session: "s".to_owned(),
                sub_agent: None,
            })),
        };
        Command::TakeVerdicts { noted: (from + 1..=self.noted).map(|until| (until, note(until))).collect() }
    }

    /// Takes in what was noted when the run is over, twice: everything is in the log, once.
    fn the_rest_of_the_notes(&mut self) {
        self.noted += 1;
        for _ in 0..2 {
            self.take_in(Some(self.notes(0))).expect("notes are taken in after the end");
        }
        let noted = self.log.iter().filter(|(_, event)| matches!(event, Event::VerdictNoted { .. })).count();
        assert_eq!(noted as u64, self.noted, "every verdict is in the log once");
    }

    /// Delivers something once more that was delivered before.
    fn again(&mut self) {
        if self.delivered.is_empty() {
            return;
        }
        let command = self.delivered[self.chance.position(self.delivered.len())].clone();
        let length = self.log.len();
        let is_report = matches!(command, Command::AttemptEnded { .. });
        let answer = self.take_in(Some(command));
        if is_report {
            assert!(
                matches!(answer, Err(Refusal::NotUnderWay { .. } | Refusal::Finished { .. })),
                "a report counts twice: {answer:?}"
            );
            assert_eq!(self.log.len(), length, "a report that comes twice changes something");
        }
    }

    /// Delivers a command; what comes from the driver itself is never refused.
    fn deliver(&mut self, command: Command, own: bool) {
        let report = matches!(command, Command::AttemptEnded { .. } | Command::HookEnded { .. });
        let answer = self.take_in(Some(command.clone()));
        assert!(!own || answer.is_ok(), "{command:?} is refused: {answer:?}");
        if answer.is_ok() && report && self.accepted(&command) {
            self.delivered.push(command);
        }
    }

    /// Tells whether a report came into the log: the disk may have been full.
    fn accepted(&self, command: &Command) -> bool {
        match command {
            Command::AttemptEnded { key, attempt, .. } => !self.world.contains(&(key.clone(), *attempt)),
            _ => true,
        }
    }

    /// Does what a driver does: decides, appends, and begins what the events ask for.
    fn take_in(&mut self, command: Option<Command>) -> Result<(), Refusal> {
        while self.chance.percent(self.faults) {
            let mut next = self.run.clone();
            let decided = command.clone().map(|command| next.decide(command, &[])).transpose()?;
            decided.iter().flatten().for_each(|event| next.apply(event));
            next.advance(self.now, &[]);
            if self.chance.percent(50) {
                // The disk is full: the driver gives up, and nothing of it is in the log.
                self.crash();
                self.crashed = true;
                return Ok(());
            }
            self.somebody_else();
        }
        let mut events =
            command.map(|command| self.run.decide(command, &[])).transpose()?.unwrap_or_default();
        for event in &events {
            self.run.apply(event);
        }
        events.extend(self.run.advance(self.now, &[]));
        self.append(events);
        Ok(())
    }

    /// Another process appends first.
    fn somebody_else(&mut self) {
        let other = self.replayed();
        let command = if self.chance.percent(20) {
            Some(self.notes(0))
        } else if self.chance.percent(10) {
            Some(Command::Cancel { by: "mallory".into(), reason: None })
        } else {
            world::human(&mut self.chance, &other, self.now)
        };
        if let Some(Ok(events)) = command.map(|command| other.decide(command, &[])) {
            self.log.extend(events.into_iter().map(|event| (self.now, event)));
        }
        self.run = self.replayed();
    }

    fn append(&mut self, events: Vec<Event>) {
        for event in events {
            match &event {
                Event::AttemptStarted { key, attempt, .. } => {
                    assert!(self.world.insert((key.clone(), *attempt)), "{key} runs twice at once");
                }
                Event::AttemptSucceeded { key, attempt, .. }
                | Event::AttemptFailed { key, attempt, .. }
                | Event::AttemptCancelled { key, attempt }
                | Event::AttemptLost { key, attempt, .. } => {
                    self.world.remove(&(key.clone(), *attempt));
                }
                _ => {}
            }
            self.log.push((self.now, event));
        }
        let in_flight: BTreeSet<_> = self.run.in_flight().into_iter().collect();
        assert_eq!(self.world, in_flight, "what runs is not what the run says");
    }

    fn replayed(&self) -> Run {
        laws::replay(&self.run, self.log.iter().map(|(_, event)| event))
    }

    /// The driver is gone; another one reads the log and takes over.
    fn crash(&mut self) {
        let mut again = self.replayed();
        // What is not an event, a run finds out again by itself.
        if again.advance(self.now, &[]).is_empty() && self.run.clone().advance(self.now, &[]).is_empty() {
            laws::same(&self.run, &again);
        }
        self.run = self.replayed();
        self.world = self.run.in_flight().into_iter().collect();
        let faults = std::mem::take(&mut self.faults);
        self.take_in(Some(Command::Recover { again: Vec::new() })).expect("a run can always be taken over");
        self.faults = faults;
    }

    /// Brings the run to its end; everybody is helpful and nothing breaks.
    fn finish(&mut self) {
        self.faults = 0;
        // What somebody else wrote last may have followed a command that was refused: a driver looks before it waits.
        self.take_in(None).expect("nothing can be refused");
        for _ in 0..ENOUGH {
            if self.run.is_finished() {
                return;
            }
            let command = world::kindly(&self.run, self.now);
            if command.is_none() {
                let moment = self.run.next_moment().expect("a run waits for somebody or for a moment");
                self.now = self.now.max(moment);
            }
            let command = command.unwrap_or(Command::Tick { now: self.now });
            self.take_in(Some(command)).expect("help is accepted");
        }
        panic!("the run does not end: {:?} {:?}", self.run.status(), self.run.steps);
    }

    /// Checks that a run that is over stays as it is.
    fn nothing_more_happens(&mut self) {
        let length = self.log.len();
        let mut replayed = self.replayed();
        assert!(replayed.advance(self.now, &[]).is_empty(), "something follows from the end");
        laws::same(&self.run, &replayed);
        let late = Timestamp(self.now.0 + 86_400_000);
        for command in [
            Command::Recover { again: Vec::new() },
            Command::Tick { now: late },
            Command::Cancel { by: "eve".into(), reason: None },
            Command::AnswerPlan { by: "eve".into(), approved: true, comment: None },
        ] {
            let _ = self.take_in(Some(command));
        }
        for command in self.delivered.clone() {
            assert!(self.take_in(Some(command)).is_err(), "a report is taken after the end");
        }
        assert_eq!(self.log.len(), length, "something happens after the end");
    }

    /// Resumes the run from the first events of its log, and brings that to an end too.
    fn from(&mut self, length: usize) {
        let (whole, run, now) = (self.log.clone(), self.run.clone(), self.now);
        self.log.truncate(length);
        self.now = self.log.last().map_or(now, |(at, _)| *at);
        self.run = self.replayed();
        self.world = self.run.in_flight().into_iter().collect();
        self.take_in(Some(Command::Recover { again: Vec::new() })).expect("any prefix can be taken over");
        self.finish();
        laws::check(&self.run, &self.log);
        (self.log, self.run, self.now) = (whole, run, now);
        self.world.clear();
    }
}
