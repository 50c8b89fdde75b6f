//! Thousands of random runs, each replayable from its seed.
#![expect(clippy::disallowed_methods, reason = "a seed to replay comes from the environment")]

use abide_testkit::simulation::{machine, seeds};

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
