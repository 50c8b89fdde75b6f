//! Thousands of random runs, each replayable from its seed.
#![expect(clippy::disallowed_methods, reason = "a seed to replay comes from the environment")]

use abide_testkit::simulation::{driven, machine, seeds};

/// Returns the seed that `ABIDE_SEED` names.
fn only() -> Option<u64> {
    std::env::var("ABIDE_SEED").ok()?.parse().ok()
}

macro_rules! machine {
    ($($name:ident = $part:literal),+) => {$(
        #[test]
        fn $name() {
            let first = $part * 2_000;
            seeds(stringify!($name), first..first + 2_000, only(), machine::simulate);
        }
    )+};
}

machine! {
    the_machine_holds_its_laws_first_part = 0,
    the_machine_holds_its_laws_second_part = 1,
    the_machine_holds_its_laws_third_part = 2,
    the_machine_holds_its_laws_fourth_part = 3,
    the_machine_holds_its_laws_fifth_part = 4,
    the_machine_holds_its_laws_sixth_part = 5
}

/// How many runs each part plays through the real driver.
const DRIVEN: u64 = 800;

macro_rules! driven {
    ($($name:ident = $part:literal),+) => {$(
        #[test]
        fn $name() {
            let first = $part * DRIVEN;
            seeds(stringify!($name), first..first + DRIVEN, only(), driven::simulate);
        }
    )+};
}

driven! {
    the_driver_holds_its_laws_first_part = 0,
    the_driver_holds_its_laws_second_part = 1,
    the_driver_holds_its_laws_third_part = 2,
    the_driver_holds_its_laws_fourth_part = 3
}

#[test]
fn a_seed_plays_the_same_every_time() {
    for seed in 0..60 {
        assert_eq!(driven::story(seed), driven::story(seed), "seed {seed}");
    }
}

/// Returns what the first seed says that notices that something is broken.
fn noticed(sabotage: driven::Sabotage) -> String {
    let found = (0..2_000).find_map(|seed| {
        let panic = std::panic::catch_unwind(|| driven::simulate_with(seed, sabotage)).err()?;
        panic.downcast_ref::<String>().cloned()
    });
    found.unwrap_or_else(|| panic!("nobody notices {sabotage:?}"))
}

#[test]
fn the_simulation_notices_processes_that_nobody_swept() {
    let why = noticed(driven::Sabotage::NothingIsSwept);
    assert!(why.contains("lives") || why.contains("processes are left"), "{why}");
}

#[test]
fn the_simulation_notices_two_drivers() {
    let why = noticed(driven::Sabotage::LeasesMeanNothing);
    assert!(why.contains("two drivers") || why.contains("lives") || why.contains("twice"), "{why}");
}

#[test]
fn the_simulation_notices_what_was_done_before_it_was_written() {
    let why = noticed(driven::Sabotage::AnswersBeforeItWrites);
    assert!(why.contains("before the log says so"), "{why}");
}
