//! Nothing lost, nothing twice: the driver is killed after every event, and at times that nobody chose.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests start processes and look at files")]

use abide_core::event::{Event, RunId};
use abide_core::run::Run;
use abide_engine::port::Store as _;
use abide_store_sqlite::{Settings, SqliteStore};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Twenty steps: a chain, a fan, items, a retry, an approval, a called ability.
const LONG: &str = r#"
description: Everything at once
settings: { parallel: true, max_parallel: 3 }
steps:
  - { id: s01, run: "echo s01 | tee -a ran.txt" }
  - { id: s02, run: "echo s02 | tee -a ran.txt", needs: [s01], idempotent: true }
  - { id: s03, run: "sleep 0.02; echo s03 | tee -a ran.txt", needs: [s01] }
  - { id: s04, run: "echo s04 | tee -a ran.txt", needs: [s01], idempotent: true }
  - { id: s05, run: "sleep 0.02; echo s05 | tee -a ran.txt", needs: [s02, s03] }
  - { id: s06, run: "echo s06 >> ran.txt; test -e once || { touch once; exit 1; }", needs: [s04], on_failure: retry, retry_delay: 0s, max_retries: 3 }
  - { id: s07, run: "echo s07 | tee -a ran.txt", needs: [s05, s06] }
  - { id: s08, type: approval, prompt: "Go on?", needs: [s07] }
  - { id: s09, run: "echo s09 | tee -a ran.txt", needs: [s08] }
  - { id: s10, workflow: small, needs: [s08] }
  - { id: s11, run: "sleep 0.02; echo s11 | tee -a ran.txt", needs: [s08], idempotent: true }
  - { id: s12, run: "echo 's12[{{item}}]' | tee -a ran.txt", for_each: [eu, us, asia], max_parallel: 2, needs: [s09] }
  - { id: s13, run: "echo s13 | tee -a ran.txt", needs: [s10] }
  - { id: s14, run: "echo s14 | tee -a ran.txt", needs: [s11] }
  - { id: s15, run: "echo s15 | tee -a ran.txt", needs: [s12, s13, s14] }
  - { id: s16, run: "echo s16 | tee -a ran.txt", when: 'steps.s15.output == "no"' }
  - { id: s17, run: "echo s17 >> ran.txt; exit 3", needs: [s15], on_failure: continue }
  - { id: s18, run: "echo s18 | tee -a ran.txt", needs: [s15, s16] }
  - { id: s19, run: "echo s19 | tee -a ran.txt", needs: [s17] }
  - { id: s20, run: "echo s20 | tee -a ran.txt", needs: [s18, s19] }
"#;

const SMALL: &str = r#"
description: Called by another
steps:
  - { id: c1, run: "echo c1 | tee -a ran.txt" }
  - { id: c2, run: "sleep 0.02; echo c2 | tee -a ran.txt" }
  - { id: c3, run: "echo c3 | tee -a ran.txt", idempotent: true }
"#;

/// No run takes as long, also on a busy machine.
const LONGEST: Duration = Duration::from_mins(1);
/// How many runs of each event have a second driver that is killed, too.
const AGAIN: u64 = 3;

/// A project of its own, in which one run is started and brought to its end.
struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let abilities = folder.path().join(".abide/abilities");
        std::fs::create_dir_all(&abilities).unwrap();
        std::fs::write(abilities.join("long.yaml"), LONG).unwrap();
        std::fs::write(abilities.join("small.yaml"), SMALL).unwrap();
        Self { folder }
    }

    fn abide(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
        command.args(arguments).current_dir(self.folder.path()).env("HOME", self.folder.path());
        command.env("ABIDE_USER", "ada").env_remove("XDG_CONFIG_HOME");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Waits for a driver, answers what it asks, and kills it when its time is over.
    fn wait(&self, mut command: Command, longest: Duration) -> ExitStatus {
        let mut driver = command.spawn().unwrap();
        let pause = Duration::from_millis(10);
        let mut waited = Duration::ZERO;
        loop {
            if let Some(status) = driver.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(pause);
            waited += pause;
            if waited > longest {
                driver.kill().unwrap();
                return driver.wait().unwrap();
            }
            self.answer();
        }
    }

    fn answer(&self) {
        let Some((run, _)) = self.runs().into_iter().find(|(run, _)| run.created.parent.is_none()) else {
            return;
        };
        for (key, _) in run.questions() {
            // The driver may have been killed, or the answer be there already.
            let _ = self.abide(&["approve", run.id.as_str(), &key.to_string()]).status().unwrap();
        }
    }

    /// Resumes a run that is not over: `--rerun` is said once.
    fn finish(&self) {
        let runs = self.runs();
        let is_over = |(run, _): &(Run, Vec<Event>)| run.created.parent.is_none() && run.is_finished();
        let status = match runs.len() {
            // It was killed before it was in the log.
            0 => self.wait(self.abide(&["run", "long"]), LONGEST),
            _ if runs.iter().any(is_over) => return,
            _ => self.wait(self.abide(&["resume", "--rerun"]), LONGEST),
        };
        assert_eq!(status.code(), Some(0), "the run does not end: {:#?}", self.events());
    }

    /// Returns every run with its log, read through the store, which checks the chain of hashes.
    fn runs(&self) -> Vec<(Run, Vec<Event>)> {
        let file: PathBuf = self.folder.path().join(".abide/state/log.db");
        // While it is being made, it cannot be opened yet.
        let Ok(Some(store)) = SqliteStore::find(&file, Settings::new(|| 0)) else { return Vec::new() };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut runs = Vec::new();
            for head in store.heads(None, 100).await.unwrap() {
                let id = RunId::parse(&head.stream).unwrap();
                let run = abide_engine::load(&store, &id).await.unwrap().run;
                let stored = store.read(&head.stream, 1..u64::MAX).await.unwrap();
                let read = |event: &abide_engine::port::Stored| {
                    abide_formats::event::read(&event.kind, &event.data).unwrap()
                };
                runs.push((run, stored.iter().map(read).collect()));
            }
            runs
        })
    }

    fn events(&self) -> Vec<String> {
        let runs = self.runs();
        runs.iter().flat_map(|(_, log)| log.iter().map(|event| format!("{event:?}"))).collect()
    }

    /// Returns how every step of every run ended and what it left, whatever the ids are.
    fn ends(&self) -> Vec<String> {
        let mut ends = Vec::new();
        for (run, _) in self.runs() {
            ends.push(format!("{} {}", run.created.name, run.status().word()));
            for (position, state) in run.steps.iter().enumerate() {
                let id = run.step(position).id.as_str();
                ends.push(format!("{id} {:?} {:?} {:?}", state.status, state.note, state.result.output.text));
            }
        }
        ends.sort();
        ends
    }

    /// Checks that every step ran as often as the log says, and that what was done was not done again.
    fn nothing_twice(&self, case: &str) {
        let ran = std::fs::read_to_string(self.folder.path().join("ran.txt")).unwrap();
        let mut lines = BTreeMap::<String, usize>::new();
        ran.lines().for_each(|line| *lines.entry(line.to_owned()).or_default() += 1);
        for (run, log) in self.runs() {
            let mut attempts = BTreeMap::<String, (usize, usize, bool)>::new();
            for event in &log {
                match event {
                    Event::AttemptStarted { key, attempt, .. } => {
                        let entry = attempts.entry(key.to_string()).or_default();
                        assert!(!entry.2, "{case}: {key} was done and began again");
                        entry.0 += 1;
                        assert_eq!(entry.0, *attempt as usize, "{case}: attempts of {key}");
                    }
                    Event::AttemptSucceeded { key, .. } => {
                        let entry = attempts.entry(key.to_string()).or_default();
                        assert!(!entry.2, "{case}: {key} was done twice");
                        (entry.1, entry.2) = (entry.1 + 1, true);
                    }
                    Event::AttemptFailed { key, .. } => attempts.entry(key.to_string()).or_default().1 += 1,
                    Event::AttemptLost { key, rerun, .. } => {
                        let step = run.ability.step(key.step.as_str()).unwrap();
                        let may = step.idempotent.as_ref().is_some_and(|flag| flag.value)
                            || step.on_failure.as_ref().is_some_and(|word| word.value.word() == "retry");
                        assert_eq!(*rerun, may, "{case}: {key} is run again without being asked about");
                    }
                    _ => {}
                }
            }
            for (key, (started, ended, _)) in attempts.iter().filter(|(key, _)| *key != "s10") {
                let count = lines.get(key).copied().unwrap_or(0);
                assert!(
                    (*ended..=*started).contains(&count),
                    "{case}: {key} ran {count} times, of {started} attempts of which {ended} ended"
                );
            }
        }
    }

    /// Checks that no process of any run is left.
    fn nothing_left(&self, case: &str) {
        let ids: Vec<String> = self.runs().iter().map(|(run, _)| run.id.to_string()).collect();
        for process in std::fs::read_dir("/proc").unwrap().flatten() {
            let Ok(environment) = std::fs::read(process.path().join("environ")) else { continue };
            let marks =
                environment.split(|byte| *byte == 0).filter(|entry| entry.starts_with(b"ABIDE_MARK="));
            for mark in marks {
                let mark = String::from_utf8_lossy(mark);
                assert!(!ids.iter().any(|id| mark.contains(id.as_str())), "{case}: {mark} is left");
            }
        }
    }

    fn check(&self, case: &str, undisturbed: &[String]) {
        assert_eq!(self.ends(), undisturbed, "{case}: another end; {:#?}", self.events());
        self.nothing_twice(case);
        self.nothing_left(case);
    }
}

fn undisturbed() -> Vec<String> {
    let project = Project::new();
    let status = project.wait(project.abide(&["run", "long"]), LONGEST);
    assert_eq!(status.code(), Some(0), "{:#?}", project.events());
    let ends = project.ends();
    project.check("undisturbed", &ends);
    ends
}

#[test]
fn a_run_that_is_killed_after_any_event_comes_to_the_same_end() {
    let ends = undisturbed();
    let next = AtomicU64::new(1);
    let last = AtomicU64::new(u64::MAX);
    let runs = AtomicU64::new(0);
    let work = || {
        loop {
            let event = next.fetch_add(1, Ordering::SeqCst);
            if event > last.load(Ordering::SeqCst) {
                return;
            }
            // Whoever takes over may die as well, after the first thing that it does or a later one.
            for again in 0..=AGAIN {
                let project = Project::new();
                let mut command = project.abide(&["run", "long"]);
                command.env("ABIDE_TEST_EXIT_AFTER_EVENT", event.to_string());
                let status = project.wait(command, LONGEST);
                if status.code().is_some() {
                    // There is no such event: the run came to its end before.
                    last.fetch_min(event, Ordering::SeqCst);
                    project.check(&format!("{event} events are too many"), &ends);
                    break;
                }
                if again > 0 {
                    let mut command = project.abide(&["resume", "--rerun"]);
                    command.env("ABIDE_TEST_EXIT_AFTER_EVENT", again.to_string());
                    project.wait(command, LONGEST);
                }
                project.finish();
                runs.fetch_add(1, Ordering::SeqCst);
                project.check(&format!("killed after event {event}, and again after {again} more"), &ends);
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let events = last.load(Ordering::SeqCst);
    assert!((55..u64::MAX).contains(&events), "only {events} events");
    let runs = runs.load(Ordering::SeqCst);
    assert!(runs >= 200, "only {runs} runs were killed");
}

#[test]
fn a_run_that_is_killed_at_any_time_comes_to_the_same_end() {
    let ends = undisturbed();
    for round in 0..8_u64 {
        let project = Project::new();
        let time = |kill: u64| Duration::from_millis((round * 131 + kill * 71) % 420 + 20);
        project.wait(project.abide(&["run", "long"]), time(0));
        for kill in 1..3 {
            project.wait(project.abide(&["resume", "--rerun"]), time(kill));
        }
        project.finish();
        project.check(&format!("killed in round {round}"), &ends);
    }
}
