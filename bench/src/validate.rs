//! `validate`: what it costs to find and validate abilities, from nothing to the exit code.
//!
//! Each size is measured as cold processes that take turns, so that a busy machine is busy for all of them.

use crate::abilities;
use crate::measure::{Cost, process};
use anyhow::{Context, ensure};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, ExitCode};

const SIZES: [usize; 4] = [10, 100, 1_000, 5_000];

/// What is promised at the largest size: at most so many times the floor, and so much memory.
const MOST_RATIO: f64 = 1.5;
const MOST_MEMORY: u64 = 60 * 1_000_000;

/// How often each process is measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Repetitions(usize);

pub(crate) const THOROUGH: Repetitions = Repetitions(21);
pub(crate) const QUICK: Repetitions = Repetitions(7);

pub(crate) fn run(Repetitions(repetitions): Repetitions) -> anyhow::Result<ExitCode> {
    let abide = abide()?;
    let bench = std::env::current_exe()?.into_os_string();
    println!("medians of {repetitions} cold processes each, in turns");
    println!("  bare    the floor: the files read, and parsed by serde-saphyr, which builds nothing of them");
    println!(
        "  events  for comparison: the files read, and only the events of its inner parser, thrown away"
    );
    println!("  abide   `abide validate --all`\n");
    println!("abilities           wall        cpu     memory     abide/bare wall   cpu  abide/events cpu");
    let mut kept = true;
    for size in SIZES {
        let project = tempfile::tempdir()?;
        let folder = abilities::write(project.path(), size)?;
        let sides: [(&OsStr, Vec<OsString>); 3] = [
            (&bench, vec!["floor".into(), "events".into(), folder.clone().into()]),
            (&bench, vec!["floor".into(), "bare".into(), folder.into()]),
            (&abide, vec!["-C".into(), project.path().into(), "validate".into(), "--all".into()]),
        ];
        let mut costs: [Vec<Cost>; 3] = Default::default();
        for (program, arguments) in &sides {
            process(program, arguments)?; // once for the file cache
        }
        for _ in 0..repetitions {
            for ((program, arguments), costs) in sides.iter().zip(&mut costs) {
                costs.push(process(program, arguments)?);
            }
        }
        let [events, bare, abide] = costs.map(|costs| Cost::median(&costs));
        let ratio = |one: std::time::Duration, other: std::time::Duration| {
            one.as_secs_f64() / other.as_secs_f64().max(1e-6)
        };
        let (wall, cpu) = (ratio(abide.wall, bare.wall), ratio(abide.cpu, bare.cpu));
        for (name, cost) in [("events", events), ("bare", bare)] {
            println!("{size:>9}  {name:<6} {}", numbers(cost));
        }
        println!(
            "{size:>9}  {:<6} {}   {wall:>17.2} {cpu:>5.2}   {:>15.2}",
            "abide",
            numbers(abide),
            ratio(abide.cpu, events.cpu)
        );
        if size == SIZES[SIZES.len() - 1] {
            kept = wall <= MOST_RATIO && cpu <= MOST_RATIO && abide.memory <= MOST_MEMORY;
        }
    }
    println!(
        "\n{}: at {} abilities at most {MOST_RATIO} times the floor, in time and CPU, and {} MB",
        if kept { "kept" } else { "BROKEN" },
        SIZES[SIZES.len() - 1],
        MOST_MEMORY / 1_000_000,
    );
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn numbers(cost: Cost) -> String {
    let milliseconds = |time: std::time::Duration| time.as_secs_f64() * 1_000.0;
    #[expect(clippy::cast_precision_loss, reason = "megabytes with one digit")]
    let megabytes = cost.memory as f64 / 1e6;
    format!("{:>8.1} ms {:>7.1} ms {megabytes:>7.1} MB", milliseconds(cost.wall), milliseconds(cost.cpu))
}

/// Returns the release binary beside this program; under `cargo run` it is brought up to date first.
pub(crate) fn abide() -> anyhow::Result<OsString> {
    let beside: PathBuf = std::env::current_exe()?.with_file_name("abide");
    if let Some(cargo) = std::env::var_os("CARGO") {
        let status = Command::new(cargo)
            .args(["build", "--release", "--locked", "--package", "abide-cli"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status()
            .context("could not start cargo")?;
        ensure!(status.success(), "abide could not be built");
    }
    ensure!(
        beside.is_file(),
        "{} does not exist: start the benchmark with `cargo run --release`",
        beside.display()
    );
    Ok(beside.into_os_string())
}
