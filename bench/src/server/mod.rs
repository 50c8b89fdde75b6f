//! `server`: what a request costs `abide serve`, beside the least that the same answer or the same SQL could cost.
//!
//! Both sides are processes on loopback and are asked by the same caller in the same way, in turns. What a request costs is the CPU
//! time of the process that answers it, so the caller and its machine do not count; the least of all rounds counts.

mod bare;
mod by_hand;
mod load;
mod reads;
mod streams;
mod turns;
mod writes;

pub(crate) use bare::serve as bare;
pub(crate) use turns::ask as asks;

use anyhow::{Context, ensure};
use load::Caller;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

/// How much is done.
#[derive(Clone, Copy)]
struct Extent {
    rounds: usize,
    requests: usize,
    changes: usize,
    clients: usize,
}

const THOROUGH: Extent = Extent { rounds: 7, requests: 20_000, changes: 3_000, clients: 1_000 };
const QUICK: Extent = Extent { rounds: 3, requests: 8_000, changes: 500, clients: 1_000 };
/// How often all of it is done again when a bar is missed: another program can only make a round cost more.
const TRIES: usize = 3;

/// Runs all parts, or the one that is named.
pub(crate) fn run(quick: bool, only: Option<&str>) -> anyhow::Result<ExitCode> {
    let extent = if quick { QUICK } else { THOROUGH };
    let mut kept = true;
    let wanted = |name: &str| only.is_none_or(|only| only == name);
    ensure!(PARTS.iter().any(|(name, _)| wanted(name)), "the parts are reads, writes, turns and streams");
    for (what, part) in PARTS.iter().filter(|(name, _)| wanted(name)) {
        let mut tries = 0;
        let held = loop {
            tries += 1;
            let held = part(extent).with_context(|| (*what).to_owned())?;
            if held || tries == TRIES {
                break held;
            }
        };
        kept &= held;
    }
    Ok(if kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

type Part = fn(Extent) -> anyhow::Result<bool>;

const PARTS: &[(&str, Part)] =
    &[("reads", reads::run), ("writes", writes::run), ("turns", turns::run), ("streams", streams::run)];

/// Says whether a bar is kept.
fn verdict(what: &str, ratio: f64, most: f64) -> bool {
    let kept = ratio <= most;
    println!("{}: {what}: {ratio:.2} times, at most {most}", if kept { "kept" } else { "BROKEN" });
    kept
}

/// A process that serves on loopback, and ends with this.
struct Served {
    child: Child,
    address: String,
}

impl Served {
    /// Starts `abide serve` in a folder.
    fn abide(project: &Path) -> anyhow::Result<Self> {
        let mut command = abide(project)?;
        Self::start(command.args(["serve", "--bind", "127.0.0.1:0", "--rate", "0"]))
    }

    /// Starts it with a model that is there.
    fn with_model(project: &Path, url: &str) -> anyhow::Result<Self> {
        let mut command = abide(project)?;
        command.args(["serve", "--bind", "127.0.0.1:0", "--rate", "0"]);
        command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "none");
        Self::start(command.env("ABIDE_MODEL", "anthropic/scripted"))
    }

    /// Starts the bare side, with what it answers.
    fn bare(answers: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("server-bare").arg(answers);
        Self::start(&mut command)
    }

    fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut line = String::new();
        let talk = child.stderr.take().context("it talks")?;
        let mut talk = BufReader::new(talk);
        talk.read_line(&mut line)?;
        // What it says later is nobody's concern, but must go somewhere.
        std::thread::spawn(move || std::io::copy(&mut talk, &mut std::io::sink()));
        let address = line.split("http://").nth(1).and_then(|rest| rest.split([';', '\n']).next());
        let address = address.with_context(|| format!("it does not serve: {line}"))?.to_owned();
        Ok(Self { child, address })
    }

    fn caller(&self) -> Caller {
        Caller::new(&self.address, None)
    }

    fn caller_with(&self, key: &str) -> Caller {
        Caller::new(&self.address, Some(key))
    }

    /// Returns how long it has been on any core.
    fn cpu(&self) -> anyhow::Result<Duration> {
        let mut nanos = 0;
        for task in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            // A thread may have ended meanwhile; the others go on.
            let Ok(text) = std::fs::read_to_string(task?.path().join("schedstat")) else { continue };
            nanos += text.split(' ').next().unwrap_or_default().parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanos))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the binary, which lies beside this one, ready to be started in a project.
fn abide(project: &Path) -> anyhow::Result<Command> {
    let program: PathBuf = std::env::current_exe()?.with_file_name("abide");
    ensure!(program.exists(), "no {}: build it with `cargo build --release -p abide-cli`", program.display());
    let mut command = Command::new(program);
    command.current_dir(project).env("HOME", project).env("XDG_CONFIG_HOME", project.join("config"));
    Ok(command)
}

/// Makes a folder that abide takes for a project.
fn project() -> anyhow::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    std::fs::create_dir(folder.path().join(".git"))?;
    std::fs::create_dir(folder.path().join("config"))?;
    Ok(folder)
}

/// Makes a key that may do everything.
fn key(project: &Path) -> anyhow::Result<String> {
    let made = abide(project)?.args(["key", "create", "bench", "--scope", "admin"]).output()?;
    ensure!(made.status.success(), "{made:?}");
    Ok(String::from_utf8(made.stdout)?.trim().to_owned())
}

/// What one of many requests cost the process that answered, and how many there were in a second.
#[derive(Clone, Copy)]
struct Each {
    micros: f64,
    a_second: f64,
}

impl Each {
    fn least(one: Option<Self>, other: Self) -> Self {
        match one {
            None => other,
            Some(one) => {
                Self { micros: one.micros.min(other.micros), a_second: one.a_second.max(other.a_second) }
            }
        }
    }
}

/// Asks for something many times, on some connections, and returns what each cost.
fn each(served: &Served, connections: usize, count: usize, ask: &load::Ask<'_>) -> anyhow::Result<Each> {
    let caller = served.caller();
    // Connections, caches and pages are there before anything is counted.
    caller.ask(connections, count / 10, ask)?;
    let before = served.cpu()?;
    let wall = caller.ask(connections, count, ask)?;
    let cpu = served.cpu()?.saturating_sub(before);
    #[expect(clippy::cast_precision_loss, reason = "a number of requests")]
    let count = count as f64;
    Ok(Each { micros: cpu.as_secs_f64() * 1e6 / count, a_second: count / wall.as_secs_f64() })
}
