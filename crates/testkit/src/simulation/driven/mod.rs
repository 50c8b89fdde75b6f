//! The real driver, played by a seed: programs that crash or are left, a second one that wants the same run, a store
//! that is slow, full or broken, a clock that is set, and people who answer twice, late or not at all.
//!
//! Everything is in memory and follows the seed, so that a failure can be looked at again. The laws of every log
//! ([`laws`](super::laws)) hold here too; what is asked on top of them is in `ledger.rs`.

mod host;
mod ledger;
mod people;
mod programs;
mod stage;
mod store;

use crate::simulation::Chance;
use crate::twin::play;
use abide_core::event::{Event, RunId};
use abide_core::run::Run;
use abide_engine::driver::Nobody;
use abide_engine::service::{self, Start};
use host::Host;
use programs::Programs;
use stage::{ABILITY, SimulatedDriver, Stage};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use store::Weather;

/// How often something happens at most before everybody becomes helpful.
const HAPPENINGS: usize = 25;
/// More than any ability needs to come to its end when everybody is helpful.
const ENOUGH: usize = 3_000;

/// What is broken on purpose, to see that the simulation can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sabotage {
    /// Nothing.
    None,
    /// What a dead driver left running goes on.
    NothingIsSwept,
    /// Anybody drives, whoever has the lease.
    LeasesMeanNothing,
    /// The store says that it has written before it has.
    AnswersBeforeItWrites,
}

/// Plays the run of a seed to its end, and checks every law on the way.
///
/// # Panics
/// If a law does not hold, with the story of how that came.
pub fn simulate(seed: u64) {
    simulate_with(seed, Sabotage::None);
}

/// Plays the run of a seed with something broken.
///
/// # Panics
/// If a law does not hold, with the story of how that came.
pub fn simulate_with(seed: u64, sabotage: Sabotage) {
    let play = |tells| {
        let stage = Stage::set(seed, sabotage);
        stage.ledger().story = tells;
        (catch_unwind(AssertUnwindSafe(|| play_on(&stage))).err(), stage)
    };
    let (None, _) = play(None) else {
        // The same again, this time with somebody who writes it down.
        let (Some(panic), stage) = play(Some(Vec::new())) else {
            panic!("the law that did not hold does when it is played again: the simulation is not one");
        };
        let why = panic.downcast_ref::<String>().cloned();
        let why = why.or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()));
        let story = stage.ledger().story.take().unwrap_or_default();
        panic!("{}\n\n{}\n{}", why.unwrap_or_default(), stage.abilities_as_text(), story.join("\n"));
    };
}

/// Plays the run of a seed; returns the story of it.
pub fn story(seed: u64) -> String {
    let stage = Stage::set(seed, Sabotage::None);
    stage.ledger().story = Some(Vec::new());
    play_on(&stage);
    let story = stage.ledger().story.take().unwrap_or_default();
    story.join("\n")
}

fn play_on(stage: &Arc<Stage>) {
    let set = Arc::clone(stage);
    play(&stage.clock, async move {
        let mut simulation = Simulation::start(set).await;
        for _ in 0..HAPPENINGS {
            simulation.something().await;
            if simulation.is_over() {
                break;
            }
        }
        simulation.finish().await;
        simulation.check().await;
    });
}

struct Simulation {
    stage: Arc<Stage>,
    id: RunId,
    programs: Programs,
    /// What people use to answer; it never crashes.
    door: SimulatedDriver,
    door_host: Arc<Host>,
    /// An answer to an approval that was taken.
    answered: Option<(RunId, abide_core::run::Command)>,
}

impl Simulation {
    async fn start(stage: Arc<Stage>) -> Self {
        let door_host = stage.host();
        let door = stage.driver(&door_host, Arc::new(Nobody));
        let start = Start {
            ability: ABILITY.to_owned(),
            inputs: Vec::new(),
            input: String::new(),
            by: "ada".into(),
            session: None,
            parent: None,
            depth: 0,
            id: None,
            trace: None,
        };
        let id = service::start(&door, start).await.expect("an ability that is valid starts");
        let mut programs = Programs::new(&stage, &id);
        programs.resume();
        let weather = Self::some_weather(&mut stage.chance());
        programs.at_peace = weather.slow == 0;
        stage.set_weather(weather);
        Self { stage, id, programs, door, door_host, answered: None }
    }

    fn some_weather(chance: &mut Chance) -> Weather {
        match chance.within(0..10) {
            0..=3 => Weather::default(),
            4..=6 => Weather { slow: chance.within(5..60), ..Weather::default() },
            7..=8 => Weather { broken: chance.within(1..12), slow: chance.within(0..40), full: false },
            _ => Weather { full: true, ..Weather::default() },
        }
    }

    /// Lets time pass, and one thing happen.
    async fn something(&mut self) {
        let (pause, what, jump) = {
            let mut chance = self.stage.chance();
            let pause = match chance.within(0..10) {
                0..=6 => chance.within(0..700),
                7..=8 => chance.within(700..6_000),
                _ => chance.within(6_000..60_000),
            };
            let jump = match chance.within(0..4) {
                0 => -i64::try_from(chance.within(0..7_200_000)).unwrap_or(0),
                1 => i64::try_from(chance.within(0..7_200_000)).unwrap_or(0),
                _ => i64::try_from(chance.within(0..20_000)).unwrap_or(0),
            };
            (pause, chance.within(0..100), jump)
        };
        self.stage.clock.sleep(pause).await;
        let (passed, shown) = (self.stage.clock.passed(), self.stage.clock.shown().now());
        let weather = self.stage.weather();
        self.stage
            .ledger()
            .tell(|| format!("-- {passed} ms have passed, the clock shows {shown}, {weather:?}"));
        self.programs.look().await;
        match what {
            0..=34 => self.somebody_acts().await,
            35..=38 => self.somebody_answers_again().await,
            39..=52 => self.programs.crash(),
            53..=57 => self.programs.leave(),
            58..=61 => self.programs.drop_one(),
            62..=66 => self.programs.rival().await,
            67..=72 => {
                self.programs.at_peace = false;
                self.stage.clock.jump(jump);
            }
            73..=79 => {
                let weather = Self::some_weather(&mut self.stage.chance());
                self.programs.at_peace &= weather.slow == 0;
                self.stage.set_weather(weather);
            }
            80..=81 => self.somebody_cancels().await,
            82..=84 => {
                // The machine slept longer than a lease holds, and another driver is the first to wake.
                self.programs.at_peace = false;
                self.stage.clock.jump(60_000);
                self.programs.rival().await;
            }
            _ => {}
        }
        if !self.programs.is_driven() && self.stage.chance().percent(70) {
            self.programs.resume();
        }
    }

    /// Returns a run as all that was written makes it, without asking the store.
    fn picture(&self, id: &RunId) -> Run {
        self.stage.picture(id)
    }

    /// Reads a run back from what is really in the store.
    async fn load(&self, id: &RunId) -> Run {
        match abide_engine::load(&self.stage.store, id).await {
            Ok(loaded) => loaded.run,
            Err(error) => panic!("run {id} cannot be read back: {error}"),
        }
    }

    fn is_over(&self) -> bool {
        let ledger = self.stage.ledger();
        matches!(ledger.log(self.id.as_str()).last(), Some((_, Event::Finished { .. })))
    }

    /// Brings the run to its end; everybody is helpful and nothing breaks.
    async fn finish(&mut self) {
        self.stage.set_weather(Weather::default());
        let mut pause = 200;
        for _ in 0..ENOUGH {
            self.programs.look().await;
            if self.is_over() {
                return;
            }
            if !self.programs.is_driven() {
                self.programs.resume();
            }
            pause = if self.everybody_helps().await { 200 } else { (pause * 2).min(60_000) };
            self.stage.clock.sleep(pause).await;
        }
        let run = self.picture(&self.id);
        panic!("the run does not end: {:?} {:?}", run.status(), run.steps);
    }

    /// Checks what must hold at the end, whatever happened.
    async fn check(&mut self) {
        // A driver that lost the run to another one finds out within a heartbeat, once slow calls have been answered.
        self.stage.clock.sleep(90_000).await;
        self.programs.look().await;
        assert!(!self.programs.is_driven(), "a driver does not see that the run is over");
        assert_eq!(self.stage.world().alive(), Vec::<String>::new(), "processes are left");
        let runs = self.stage.ledger().runs();
        for id in runs {
            let run = self.load(&id).await;
            self.stage.ledger().check(&run);
            assert!(run.is_finished(), "{id} was called by {} and is {:?}", self.id, run.status());
        }
        let length = self.stage.ledger().log(self.id.as_str()).len();
        self.programs.resume();
        self.stage.clock.sleep(1).await;
        self.programs.look().await;
        assert!(!self.programs.is_driven(), "a run that is over is driven");
        assert_eq!(
            self.stage.ledger().log(self.id.as_str()).len(),
            length,
            "something happens after the end"
        );
    }
}
