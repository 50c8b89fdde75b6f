//! `skills`: what it costs to find, parse and list 20,000 skills, beside reading the same files and nothing else.
//!
//! Both sides are cold processes that take turns, so that a busy machine is busy for both.

use crate::measure::{Cost, process};
use abide_core::skill::listing::{Offer, describe};
use anyhow::{Context, ensure};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// How many skills there are.
const COUNT: usize = 20_000;
/// What is promised: at most so many times the floor, and so much memory.
const MOST_RATIO: f64 = 2.0;
const MOST_MEMORY: u64 = 200 * 1_000_000;
/// How much more a byte of the description may cost when there are a hundred times as many skills: caches are finite.
const MOST_GROWTH: f64 = 2.0;
/// How often as many processes more are started, where the bar is missed.
const TRIES: usize = 4;

pub(crate) fn run(quick: bool) -> anyhow::Result<ExitCode> {
    let repetitions = if quick { 5 } else { 11 };
    let abide = crate::validate::abide()?;
    let bench = std::env::current_exe()?.into_os_string();
    let project = tempfile::tempdir()?;
    write(project.path())?;
    let list = project.path().join("files");
    let sides: [(&OsStr, Vec<OsString>); 2] = [
        (&bench, vec!["floor".into(), "read".into(), list.into()]),
        (&abide, vec!["-C".into(), project.path().into(), "skill".into(), "list".into()]),
    ];
    for (program, arguments) in &sides {
        process(program, arguments)?; // once for the file cache
    }
    let mut costs: [Vec<Cost>; 2] = Default::default();
    let (mut read, mut listed) = Default::default();
    let mut ratio = f64::MAX;
    for _ in 0..TRIES {
        for _ in 0..repetitions {
            for ((program, arguments), costs) in sides.iter().zip(&mut costs) {
                costs.push(process(program, arguments)?);
            }
        }
        // The least of all, on both sides: a machine that has other things to do can only make a process take longer.
        (read, listed) = (Cost::least(&costs[0]), Cost::least(&costs[1]));
        // Memory is what it is.
        listed.memory = costs[1].iter().map(|cost| cost.memory).max().unwrap_or_default();
        ratio = listed.wall.as_secs_f64() / read.wall.as_secs_f64().max(1e-6);
        if ratio <= MOST_RATIO {
            break;
        }
    }
    println!("{COUNT} skills, the least of {} cold processes each, in turns", costs[0].len());
    println!("  read   the floor: the files read by their names, and thrown away");
    println!("  abide  `abide skill list`: found, parsed, checked and printed\n");
    for (name, cost) in [("read", read), ("abide", listed)] {
        println!(
            "{name:<6} wall {:>7.1} ms   cpu {:>7.1} ms   memory {:>4} MB",
            cost.wall.as_secs_f64() * 1e3,
            cost.cpu.as_secs_f64() * 1e3,
            cost.memory / 1_000_000
        );
    }
    let kept = ratio <= MOST_RATIO && listed.memory <= MOST_MEMORY;
    println!(
        "\n{}: {ratio:.2} times the floor in time ({:.2} in cpu), at most {MOST_RATIO}, and at most {} MB",
        if kept { "kept" } else { "BROKEN" },
        listed.cpu.as_secs_f64() / read.cpu.as_secs_f64().max(1e-6),
        MOST_MEMORY / 1_000_000
    );
    let kept = described(repetitions) && kept;
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds the description of the skill tool from skills in memory; a byte may not cost more when there are many.
fn described(repetitions: usize) -> bool {
    let words = "Does the work of this number. Use it when the user asks for this kind of work, or names it.";
    let names: Vec<String> = (0..COUNT).map(|index| format!("skill-{index:05}")).collect();
    let offers: Vec<Offer<'_>> = names.iter().map(|name| Offer { name, description: words }).collect();
    let cost = |count: usize| {
        // The same number of bytes in all, so that both are measured as well as each other.
        let rounds = COUNT / count;
        let best = (0..repetitions).map(|_| {
            let started = Instant::now();
            let bytes: usize = (0..rounds).map(|_| describe(&offers[..count], usize::MAX).len()).sum();
            started.elapsed().as_secs_f64() * 1e9 / f64::from(u32::try_from(bytes).unwrap_or(u32::MAX))
        });
        best.fold(f64::MAX, f64::min)
    };
    let (few, many) = (cost(COUNT / 100), cost(COUNT));
    let ratio = many / few.max(1e-9);
    let kept = ratio <= MOST_GROWTH;
    println!(
        "{}: a byte of the tool's description costs {ratio:.2} times as much with {COUNT} skills as with {}, at most {MOST_GROWTH}",
        if kept { "kept" } else { "BROKEN" },
        COUNT / 100
    );
    kept
}

/// Writes the skills, each of about the size that public ones have, and a list of their files.
fn write(project: &Path) -> anyhow::Result<()> {
    let folder = project.join(".claude/skills");
    let mut files = String::new();
    for index in 0..COUNT {
        let folder = folder.join(format!("skill-{index:05}"));
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut text = format!(
            "---\nname: skill-{index:05}\ndescription: Does the work of number {index}. Use it when the user asks for this \
             kind of work, names one of its files, or wants to know how it is done here.\nlicense: MIT\nmetadata:\n  author: \
             somebody\n  version: \"1.{index}\"\n---\n\n# Skill {index}\n\n"
        );
        for line in 0..60 {
            writeln!(
                text,
                "{line}. Look at what is there, do the next thing, and write down what came of it."
            )?;
        }
        let file = folder.join("SKILL.md");
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        writeln!(files, "{}", file.display())?;
    }
    fs::write(project.join("files"), files)?;
    Ok(())
}

/// Reads every file of a list, and nothing else.
pub(crate) fn read(list: &Path) -> anyhow::Result<ExitCode> {
    let mut bytes = 0;
    for file in fs::read_to_string(list)?.lines() {
        bytes += fs::read(file)?.len();
    }
    ensure!(bytes > COUNT * 1_000, "only {bytes} bytes were there");
    Ok(ExitCode::SUCCESS)
}
