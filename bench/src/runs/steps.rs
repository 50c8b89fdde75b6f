//! Chains and fan-outs of steps that do nothing, beside the floor.
//!
//! The sides take turns, and of each the least of all rounds counts: on a machine that has other things to do,
//! a round can only be too long. A case that is not kept gets more rounds, a bounded number of them: what costs too
//! much costs it in every round.

use super::bars::Bars;
use super::floor::{Floor, Program};
use super::meter::{Spent, spent};
use super::stack::{Shape, Stack, ability};
use std::path::Path;

/// At most so many times the floor.
const MOST: f64 = 1.15;
/// At most so many times the cost of a step in a short run.
const FLAT: f64 = 1.15;
/// How many times as many rounds a case gets at most.
const PATIENCE: usize = 4;
/// How many steps a fan-out has under way at once.
pub(super) const WIDTH: usize = 4;

/// A run that is measured, and how often.
struct Case {
    name: &'static str,
    shape: Shape,
    steps: usize,
    rounds: usize,
    is_held: bool,
}

/// The least of what each side cost, for one step.
#[derive(Default)]
struct Side {
    wall: Option<f64>,
    cpu: Option<f64>,
}

impl Side {
    fn take(&mut self, spent: Spent, steps: usize) {
        let (wall, cpu) = spent.each(steps);
        self.wall = Some(self.wall.map_or(wall, |least| least.min(wall)));
        self.cpu = Some(self.cpu.map_or(cpu, |least| least.min(cpu)));
    }

    fn wall(&self) -> f64 {
        self.wall.unwrap_or(f64::NAN)
    }

    fn cpu(&self) -> f64 {
        self.cpu.unwrap_or(f64::NAN)
    }
}

/// Measures every case; with `quick`, less often.
pub(crate) fn measure(quick: bool, bars: &mut Bars) -> anyhow::Result<()> {
    let rounds = |quickly: usize, thoroughly: usize| if quick { quickly } else { thoroughly };
    let cases = [
        Case { name: "chain of 100", shape: Shape::Chain, steps: 100, rounds: rounds(7, 25), is_held: true },
        Case {
            name: "fan-out of 100",
            shape: Shape::FanOut,
            steps: 100,
            rounds: rounds(7, 25),
            is_held: true,
        },
        Case {
            name: "chain of 1,000",
            shape: Shape::Chain,
            steps: 1_000,
            rounds: rounds(2, 5),
            is_held: true,
        },
        Case { name: "chain of 10,000", shape: Shape::Chain, steps: 10_000, rounds: 1, is_held: false },
    ];
    println!("what a step costs, in microseconds; the least of several rounds in which the sides take turns");
    println!("  floor        `/bin/true` started from Rust, and two commits in SQLite that are on the disk");
    println!("  floor, sh    the same with `sh -c '/bin/true; true'`: a shell that starts another program");
    println!("  abide        a run of steps with `run: /bin/true`");
    println!("  abide, sh    a run of steps with `run: /bin/true; true`\n");
    println!("{:<17}{:<11}{:>8}{:>8}   {:>13}   {:>13}", "", "", "wall", "cpu", "to floor", "to floor, sh");
    let mut short = None;
    for case in cases {
        let cpu = one(&case, short, bars)?;
        match short {
            None => short = Some(cpu),
            Some(short) if !case.is_held => {
                bars.hold(
                    format!("CPU of a step in a {}, to one in a chain of 100", case.name),
                    cpu / short,
                    FLAT,
                );
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Measures one case and returns the CPU of a step of abide's; `short` is that in a short run.
fn one(case: &Case, short: Option<f64>, bars: &mut Bars) -> anyhow::Result<f64> {
    let mut sides: [Side; 4] = Default::default();
    for round in 1..=case.rounds * PATIENCE {
        if case.is_held {
            let folder = tempfile::tempdir()?;
            for (side, program) in [(0, Program::True), (1, Program::Shell)] {
                sides[side].take(floor(case, program, folder.path())?, case.steps);
            }
        }
        for (side, script) in [(2, "/bin/true"), (3, Program::SCRIPT)] {
            if case.is_held || side == 2 {
                let folder = tempfile::tempdir()?;
                let stack = Stack::open(folder.path(), ability(case.shape, case.steps, script))?;
                sides[side].take(spent(|| stack.run())?, case.steps);
            }
        }
        let is_kept = match short {
            Some(short) if !case.is_held => sides[2].cpu() / short <= FLAT,
            _ => ratios(&sides).iter().all(|(_, ratio)| *ratio <= MOST),
        };
        if round >= case.rounds && is_kept {
            break;
        }
    }
    let names = ["floor", "floor, sh", "abide", "abide, sh"];
    for (name, side) in names.iter().zip(&sides).filter(|(_, side)| side.wall.is_some()) {
        let to = |other: &Side| match other.wall {
            Some(_) => format!("{:>6.2} {:>6.2}", side.wall() / other.wall(), side.cpu() / other.cpu()),
            None => String::new(),
        };
        println!(
            "{:<17}{name:<11}{:>8.0}{:>8.0}   {:>13}   {:>13}",
            if *name == "floor" || !case.is_held { case.name } else { "" },
            side.wall(),
            side.cpu(),
            to(&sides[0]),
            to(&sides[1])
        );
    }
    if case.is_held {
        for (what, ratio) in ratios(&sides) {
            bars.hold(format!("{}, {what}", case.name), ratio, MOST);
        }
    }
    Ok(sides[2].cpu())
}

/// Returns what is held to the floors.
fn ratios(sides: &[Side; 4]) -> [(&'static str, f64); 4] {
    let [floor, floor_sh, abide, abide_sh] = sides;
    [
        ("wall: abide to floor", abide.wall() / floor.wall()),
        ("CPU: abide to floor", abide.cpu() / floor.cpu()),
        ("wall: abide, sh to floor, sh", abide_sh.wall() / floor_sh.wall()),
        ("CPU: abide, sh to floor, sh", abide_sh.cpu() / floor_sh.cpu()),
    ]
}

/// Does as many steps as abide does, in one database as abide does.
fn floor(case: &Case, program: Program, folder: &Path) -> anyhow::Result<Spent> {
    let floor = Floor::open(&folder.join(format!("{program:?}.db")))?;
    spent(|| match case.shape {
        Shape::Chain => floor.steps(program, case.steps, folder),
        Shape::FanOut => std::thread::scope(|scope| {
            let workers: Vec<_> = (0..WIDTH)
                .map(|_| scope.spawn(|| floor.steps(program, case.steps / WIDTH, folder)))
                .collect();
            workers.into_iter().try_for_each(|worker| worker.join().expect("no floor panics"))
        }),
    })
}
