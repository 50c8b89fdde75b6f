//! What one cold process costs.
//!
//! The system counts the time and memory of ended children together. So each process is started by a small
//! one of its own, whose only child it is: [`process`] starts that one, and [`child`] is what it does.

use anyhow::{Context, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use std::ffi::OsStr;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// What a process cost.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Cost {
    /// From its start to its end.
    pub(crate) wall: Duration,
    /// On all cores, in the program and in the system.
    pub(crate) cpu: Duration,
    /// The most memory it held at once, in bytes.
    pub(crate) memory: u64,
}

impl Cost {
    /// Returns the least of each number: a machine that has other things to do can only add to it.
    pub(crate) fn least(costs: &[Self]) -> Self {
        Self {
            wall: costs.iter().map(|cost| cost.wall).min().unwrap_or_default(),
            cpu: costs.iter().map(|cost| cost.cpu).min().unwrap_or_default(),
            memory: costs.iter().map(|cost| cost.memory).min().unwrap_or_default(),
        }
    }

    /// Returns the median of each number.
    pub(crate) fn median(costs: &[Self]) -> Self {
        fn middle<T: Ord + Copy + Default>(costs: &[Cost], number: impl Fn(&Cost) -> T) -> T {
            let mut numbers: Vec<T> = costs.iter().map(number).collect();
            numbers.sort_unstable();
            numbers.get(numbers.len() / 2).copied().unwrap_or_default()
        }
        Self {
            wall: middle(costs, |cost| cost.wall),
            cpu: middle(costs, |cost| cost.cpu),
            memory: middle(costs, |cost| cost.memory),
        }
    }
}

/// Runs a program to its end and returns what it cost.
pub(crate) fn process<A: AsRef<OsStr>>(program: &OsStr, arguments: &[A]) -> anyhow::Result<Cost> {
    let shown = program.display();
    let output = Command::new(std::env::current_exe()?)
        .arg("measure")
        .arg(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("could not start {shown}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "{shown} failed:\n{text}{}", String::from_utf8_lossy(&output.stderr));
    let numbers: Vec<u64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let [wall, cpu, memory] = numbers[..] else {
        anyhow::bail!("{shown} was measured as {text:?}");
    };
    Ok(Cost { wall: Duration::from_nanos(wall), cpu: Duration::from_micros(cpu), memory })
}

/// Runs a program as the only child of this process and prints its nanoseconds, CPU microseconds and bytes.
pub(crate) fn child(program: &str, arguments: &[&str]) -> anyhow::Result<ExitCode> {
    let started = Instant::now();
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output()?;
    let wall = started.elapsed();
    if !output.status.success() {
        print!("{}", String::from_utf8_lossy(&output.stdout));
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        return Ok(ExitCode::FAILURE);
    }
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let (user, system) = (usage.user_time(), usage.system_time());
    let cpu = (user.tv_sec() + system.tv_sec()) * 1_000_000 + user.tv_usec() + system.tv_usec();
    println!("{} {cpu} {}", wall.as_nanos(), usage.max_rss() * 1024);
    Ok(ExitCode::SUCCESS)
}
