//! `hook`: how soon a client has its verdict about a tool call, beside the least that a process takes.
//!
//! A session is bound to an active run of 10,000 events, in projects with no, some and many abilities that protect
//! something; the server that drives a run is there, as it is while a run is active. Each project is asked again within a second,
//! then after more than a second, and a second after another ability came, which holds by then. What a call costs that finds
//! nobody who looked at the definitions for it is printed beside it.

use crate::runs::{Bars, long_run};
use crate::validate::abide;
use abide_core::policy::Client;
use abide_gate::sessions::{Bound, BoundStep};
use abide_gate::{Gate, Relative, SessionId};
use anyhow::{Context, ensure};
use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant, SystemTime};

/// At most so many times as long as `/bin/true`.
const MOST: f64 = 2.0;
/// How many abilities the projects have.
const ABILITIES: [usize; 3] = [0, 100, 1_000];
/// How many events the active run has.
const EVENTS: usize = 10_000;
/// How often all of it is tried on a machine that has other things to do; what is too slow is so every time.
const TRIES: usize = 4;
/// How long nobody asks, so that a look at the definitions is too old to be believed.
const SILENCE: Duration = Duration::from_millis(1_100);
/// How often there is such a silence, for all projects together: each costs a second.
const SILENCES: usize = 12;
const SESSION: &str = "5f0c2f6e-9d0a-4f57-8f55-8a3b1a3f4d21";
const SESSION_WITHOUT_RUN: &str = "0d6c0c55-7c0e-4f0a-9a39-6a54c9f7a0ee";

/// Measures the hook; with `quick`, less often.
pub(crate) fn run(quick: bool) -> anyhow::Result<ExitCode> {
    let rounds = if quick { 60 } else { 300 };
    let home = tempfile::tempdir()?;
    let projects: Vec<Project> = ABILITIES
        .into_iter()
        .map(|abilities| Project::new(home.path(), abilities))
        .collect::<Result<_, _>>()?;
    let mut times =
        Times { projects: projects.iter().map(|_| Default::default()).collect(), ..Times::default() };
    for try_number in 1..=TRIES {
        let bars = measure(&projects, rounds * try_number, &mut times)?;
        if bars.report() {
            break;
        }
        if try_number == TRIES {
            return Ok(ExitCode::FAILURE);
        }
        println!("\nmore rounds, in case the machine was busy:");
    }
    others();
    Ok(ExitCode::SUCCESS)
}

/// What a project was asked, each time beside `/bin/true`.
const CASES: [&str; 4] =
    ["again within a second", "after a second", "an ability added a second ago", "nobody looked, not held"];

/// How long `/bin/true` and each of the projects took, for each of [`CASES`].
#[derive(Default)]
struct Times {
    truth: [Vec<Duration>; CASES.len()],
    projects: Vec<[Vec<Duration>; CASES.len()]>,
}

impl Times {
    /// Asks all of them, `/bin/true` among them. Another one is the first each time: after a silence it finds a machine
    /// that slept, and wakes it for those that follow.
    fn ask(&mut self, projects: &[Project], case: usize) -> anyhow::Result<()> {
        let sides = projects.len() + 1;
        let first = self.truth[case].len();
        for side in (0..sides).map(|side| (first + side) % sides) {
            match side.checked_sub(1) {
                None => self.truth[case].push(timed(&mut Command::new("/bin/true"), None)?),
                Some(project) => self.projects[project][case].push(projects[project].ask()?),
            }
        }
        Ok(())
    }
}

/// Asks until there are so many rounds in all, those of the tries before included: the more there are, the less a machine that
/// had something else to do for a moment says.
fn measure(projects: &[Project], rounds: usize, times: &mut Times) -> anyhow::Result<Bars> {
    let before = times.truth[0].len();
    for _ in before..rounds {
        times.ask(projects, 0)?;
    }
    for _ in 0..SILENCES {
        std::thread::sleep(SILENCE);
        times.ask(projects, 1)?;
        for project in projects {
            project.add_another()?;
        }
        std::thread::sleep(SILENCE);
        times.ask(projects, 2)?;
        for project in projects {
            project.another_holds()?;
        }
    }
    for project in projects {
        project.close();
    }
    for _ in before..rounds {
        for project in projects {
            project.forget_the_look()?;
        }
        times.ask(projects, 3)?;
    }
    println!(
        "a verdict, in microseconds; the medians of {rounds} rounds in which all take turns ({} after a silence)",
        times.truth[1].len()
    );
    let truth = times.truth.clone().map(|mut times| median(&mut times));
    for (truth, case) in truth.iter().zip(CASES) {
        println!("{:<60}{truth:>8.0}", format!("/bin/true, {}", case.trim_end_matches(", not held")));
    }
    let mut bars = Bars::default();
    for (project, times) in projects.iter().zip(&times.projects) {
        for ((times, truth), case) in times.iter().zip(truth).zip(CASES) {
            let name = format!("abide hook, {} abilities, {case}", project.abilities);
            let median = median(&mut times.clone());
            println!("{name:<60}{median:>8.0}{:>8.2}", median / truth);
            if !case.ends_with("not held") {
                bars.hold(format!("{name}, wall: to /bin/true"), median / truth, MOST);
            }
        }
    }
    for project in projects {
        project.serve()?;
    }
    Ok(bars)
}

/// Prints how long other programs take to do nothing; they are not held to anything.
fn others() {
    println!("\nbeside it, doing nothing");
    for (program, arguments) in [("/bin/true", ["", ""]), ("node", ["-e", ""]), ("python3", ["-c", ""])] {
        let mut times = Vec::new();
        for _ in 0..7 {
            let mut command = Command::new(program);
            command.args(if program == "/bin/true" { &[][..] } else { &arguments[..] });
            match timed(&mut command, None) {
                Ok(time) => times.push(time),
                Err(_) => break,
            }
        }
        if times.is_empty() {
            println!("{program:<44}is not installed");
        } else {
            println!("{program:<44}{:>8.0}", median(&mut times));
        }
    }
}

/// Writes an ability that protects a script of its own name.
fn define(project: &Path, name: &str) -> anyhow::Result<()> {
    let text = format!(
        "description: Deploys a service\nprotects: [\"Bash(./{name}.sh *)\"]\nsteps:\n  - id: deploy\n    run: ./{name}.sh\n"
    );
    Ok(std::fs::write(project.join(".abide/abilities").join(name).with_extension("yaml"), text)?)
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6)
}

/// Runs a program to its end and returns how long that took.
fn timed(command: &mut Command, input: Option<&Path>) -> anyhow::Result<Duration> {
    match input {
        Some(file) => command.stdin(File::open(file)?),
        None => command.stdin(Stdio::null()),
    };
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let began = Instant::now();
    let status = command.status()?;
    let took = began.elapsed();
    ensure!(status.success(), "{command:?}: {status}");
    Ok(took)
}

/// A project with a session that is bound to a run.
struct Project {
    abilities: usize,
    program: OsString,
    home: PathBuf,
    folder: PathBuf,
    question: PathBuf,
    /// The server that the session's client has started.
    server: RefCell<Option<Child>>,
    /// How many abilities came later.
    added: Cell<usize>,
}

impl Drop for Project {
    fn drop(&mut self) {
        self.close();
    }
}

impl Project {
    fn new(home: &Path, abilities: usize) -> anyhow::Result<Self> {
        let home = home.canonicalize()?.join(format!("home-{abilities}"));
        let folder = home.join("project");
        let definitions = folder.join(".abide/abilities");
        std::fs::create_dir_all(&definitions)?;
        std::fs::create_dir_all(folder.join(".git"))?;
        for number in 0..abilities {
            define(&folder, &format!("deploy-{number}"))?;
        }
        let log = folder.join(".abide/state/log.db");
        long_run(&log, "active", EVENTS)?;
        let gate = Gate::at(home.join("state/abide/gate"));
        let bound = Bound {
            run: "active".to_owned(),
            ability: "stubborn".to_owned(),
            level: "strict".to_owned(),
            step: Some(BoundStep {
                id: "review".to_owned(),
                step_type: "agent".to_owned(),
                tools: Some(vec!["Read".to_owned(), "Bash(cargo test *)".to_owned()]),
                task: "Run the tests and say what they find.".to_owned(),
                waits_for_human: false,
            }),
            done: 1,
            total: 3,
            root: folder.clone(),
            log,
            driver: Relative::of(std::process::id()).context("this process")?,
            sub_agent: None,
            guarded: Vec::new(),
        };
        gate.bind(&SessionId::new(Client::ClaudeCode, SESSION), &bound)?;
        let question = home.join("question.json");
        std::fs::write(
            &question,
            format!(
                r#"{{"session_id":"{SESSION}","transcript_path":"{0}/.claude/projects/project/{SESSION}.jsonl","cwd":"{1}","permission_mode":"default","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"cargo test --workspace --locked","description":"Run all tests","timeout":120000}},"tool_use_id":"toolu_01DTtkzYkSdeKVHfjKzrYQdL"}}"#,
                home.display(),
                folder.display()
            ),
        )?;
        // The files' times must not be so new that the index doubts them.
        std::thread::sleep(Duration::from_millis(50));
        let project = Self {
            abilities,
            program: abide()?,
            home,
            folder,
            question,
            server: RefCell::default(),
            added: Cell::default(),
        };
        project.serve()?;
        project.is_held()?;
        project.ask()?;
        Ok(project)
    }

    /// Starts the server, as a client does; it ends with its input.
    fn serve(&self) -> anyhow::Result<()> {
        let mut command = self.abide(&["mcp"]);
        let server = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        *self.server.borrow_mut() = Some(server);
        // Until it listens, hooks look for themselves.
        std::thread::sleep(SILENCE);
        self.ask().map(drop)
    }

    fn close(&self) {
        if let Some(mut server) = self.server.take() {
            drop(server.stdin.take());
            let _ = server.wait();
        }
    }

    /// Adds an ability that protects something.
    fn add_another(&self) -> anyhow::Result<()> {
        self.added.set(self.added.get() + 1);
        define(&self.folder, &format!("added-{}", self.added.get()))
    }

    /// Makes sure that what the ability protects that came last is denied.
    fn another_holds(&self) -> anyhow::Result<()> {
        let ability = format!("added-{}", self.added.get());
        self.is_denied(SESSION_WITHOUT_RUN, &format!("./{ability}.sh now"), &ability)
    }

    fn command(&self) -> Command {
        self.abide(&["hook", "claude"])
    }

    fn abide(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("HOME", &self.home)
            .env("XDG_STATE_HOME", self.home.join("state"))
            .env_remove("CLAUDE_PROJECT_DIR");
        command
    }

    /// Asks about a call that the step grants.
    fn ask(&self) -> anyhow::Result<Duration> {
        timed(&mut self.command(), Some(&self.question))
    }

    /// Makes sure that the run is seen and the index is used: a call that the step does not grant is denied, and so is, in a
    /// session without a run, one that an ability protects.
    fn is_held(&self) -> anyhow::Result<()> {
        self.is_denied(SESSION, "rm -rf target", "step `review`")?;
        if let Some(last) = self.abilities.checked_sub(1) {
            let command = format!("cargo test x; ./deploy-{last}.sh now");
            self.is_denied(SESSION_WITHOUT_RUN, &command, &format!("deploy-{last}"))?;
        }
        Ok(())
    }

    fn is_denied(&self, session: &str, command: &str, reason: &str) -> anyhow::Result<()> {
        let asked = std::fs::read_to_string(&self.question)?;
        let question = asked.replace(SESSION, session).replace("cargo test --workspace --locked", command);
        let file = self.home.join("other.json");
        std::fs::write(&file, &question)?;
        let output = self.command().stdin(File::open(&file)?).output()?;
        // A denial is this exit code, and a reason on standard error.
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.code() == Some(2) && said.contains(reason), "{question}: {output:?}");
        Ok(())
    }

    /// Makes the next call look at everything that went into the index.
    fn forget_the_look(&self) -> anyhow::Result<()> {
        let past = SystemTime::now() - Duration::from_mins(1);
        for entry in std::fs::read_dir(self.home.join("state/abide/gate/index"))? {
            let file = entry?.path();
            if file.extension().is_some_and(|extension| extension == "index") {
                File::options().write(true).open(file)?.set_modified(past)?;
            }
        }
        Ok(())
    }
}
