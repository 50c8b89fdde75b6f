//! `abide validate --watch`: sees what an editor does, within seconds, and ends when it is told to.

use crate::support::{BAD, GOOD, Project};
use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a change may take to be seen, on a machine that is busy with other tests.
const PATIENCE: Duration = Duration::from_secs(20);

/// A watch under way; it is ended when it is dropped.
pub(crate) struct Watching {
    child: Child,
    lines: Receiver<String>,
}

impl Watching {
    /// Starts watching and waits until everything has been looked at once.
    pub(crate) fn start(project: &Project) -> Self {
        let mut child = project
            .command(&["validate", "--watch"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let streams: [Box<dyn Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for stream in streams {
            let sender = sender.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    if sender.send(line).is_err() {
                        break;
                    }
                }
            });
        }
        let watching = Self { child, lines };
        watching.sees("waiting for changes");
        watching
    }

    /// Returns the process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for a line that contains a text.
    fn sees(&self, wanted: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            if line.contains(wanted) {
                return;
            }
            seen.push(line);
        }
        panic!("`{wanted}` was not seen, only {seen:#?}");
    }

    fn signal(&mut self, signal: &str) -> std::process::ExitStatus {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "{signal} does not end it");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn an_edit_a_new_file_and_a_deleted_one_are_seen() {
    let project = Project::new();
    project.write(".abide/abilities/one.yaml", GOOD);
    let watching = Watching::start(&project);
    project.write(".abide/abilities/one.yaml", BAD);
    watching.sees("one.yaml:4:5");
    project.write(".abide/abilities/one.yaml", GOOD);
    watching.sees("1 ability is valid");
    project.write(".abide/abilities/two.yaml", GOOD);
    watching.sees("all 2 abilities are valid");
    fs::remove_file(project.path(".abide/abilities/two.yaml")).unwrap();
    watching.sees("1 ability is valid");
}

#[test]
fn a_file_that_is_renamed_into_place_is_seen() {
    let project = Project::new();
    project.write(".abide/abilities/one/ability.yaml", GOOD);
    let watching = Watching::start(&project);
    for (text, wanted) in [(BAD, "ability.yaml:4:5"), (GOOD, "1 ability is valid")] {
        // As editors save: a new file beside the old one, then a rename over it.
        project.write(".abide/abilities/one/.ability.yaml.swp", text);
        let folder = project.path(".abide/abilities/one");
        fs::rename(folder.join(".ability.yaml.swp"), folder.join("ability.yaml")).unwrap();
        watching.sees(wanted);
    }
}

#[test]
fn new_folders_are_seen_at_any_depth() {
    let project = Project::new();
    project.write(".abide/abilities/one.yaml", GOOD);
    let watching = Watching::start(&project);
    project.write(".abide/abilities/a/b/c/ability.yaml", GOOD);
    watching.sees("all 2 abilities are valid");
    project.write(".abide/abilities/a/b/c/ability.yaml", BAD);
    watching.sees("ability.yaml:4:5");
}

#[test]
fn the_first_folder_may_come_later() {
    let project = Project::new();
    let watching = Watching::start(&project);
    project.write(".abide/abilities/one.yaml", GOOD);
    watching.sees("1 ability is valid");
    project.write(".abide/abilities/one.yaml", BAD);
    watching.sees("one.yaml:4:5");
    project.write("../config/abide/abilities/mine.yaml", BAD);
    watching.sees("mine.yaml:4:5");
}

#[test]
fn a_folder_that_goes_and_comes_back_is_followed() {
    let project = Project::new();
    project.write(".abide/abilities/one.yaml", GOOD);
    let watching = Watching::start(&project);
    for _ in 0..3 {
        fs::remove_dir_all(project.path(".abide")).unwrap();
        watching.sees("nothing to validate");
        project.write(".abide/abilities/one.yaml", BAD);
        watching.sees("one.yaml:4:5");
        project.write(".abide/abilities/one.yaml", GOOD);
        watching.sees("1 ability is valid");
    }
}

#[test]
fn a_folder_that_is_swapped_for_another_is_followed() {
    let project = Project::new();
    project.write(".abide/abilities/one.yaml", GOOD);
    let watching = Watching::start(&project);
    // As `git checkout` may do it: the old one moves away, and a new one has its name at once.
    project.write("new/abilities/one.yaml", GOOD);
    fs::rename(project.path(".abide"), project.path("old")).unwrap();
    fs::rename(project.path("new"), project.path(".abide")).unwrap();
    std::thread::sleep(Duration::from_millis(500));
    project.write(".abide/abilities/one.yaml", BAD);
    watching.sees("one.yaml:4:5");
}

#[test]
fn files_behind_links_are_followed() {
    let project = Project::new();
    project.write("shared/team/one.yaml", GOOD);
    fs::create_dir_all(project.path(".abide/abilities")).unwrap();
    std::os::unix::fs::symlink("../../shared/team", project.path(".abide/abilities/team")).unwrap();
    let watching = Watching::start(&project);
    project.write("shared/team/one.yaml", BAD);
    watching.sees("team/one.yaml:4:5");
}

#[test]
fn the_configuration_is_read_again() {
    let project = Project::new();
    project.write(".abide/abilities/one.yaml", GOOD).write("extra/two.yaml", GOOD);
    let watching = Watching::start(&project);
    project.write(".abide/config.yaml", "abilities:\n  directories: [extra]\n");
    watching.sees("all 2 abilities are valid");
    project.write("extra/two.yaml", BAD);
    watching.sees("two.yaml:4:5");
    project.write(".abide/config.yaml", "abilites: {}\n");
    watching.sees("config.yaml:1:1");
    project.write("../config/abide/config.yaml", "skils: {}\n");
    watching.sees("abide/config.yaml:1:1");
}

#[test]
fn agents_and_skills_are_looked_at_again() {
    let project = Project::new();
    project.write(
        ".abide/abilities/one.yaml",
        "description: x\nsteps: [{ id: a, agent: reviewer, prompt: c }, { id: s, skill: pdf }]\n",
    );
    let watching = Watching::start(&project);
    project.write(".claude/agents/reviewer.md", "---\ndescription: x\n---\nReview.\n");
    watching.sees("1 error in 1 file");
    project.write(".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: x\n---\nText\n");
    watching.sees("1 ability is valid");
    fs::remove_file(project.path(".claude/agents/reviewer.md")).unwrap();
    watching.sees("1 error in 1 file");
}

#[test]
fn a_name_that_does_not_exist_yet_is_waited_for() {
    let project = Project::new();
    let mut command = project.command(&["validate", "later", "--watch"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (sender, lines) = channel();
    let mut watching = Watching { child, lines };
    let out = watching.child.stdout.take().unwrap();
    std::thread::spawn(move || {
        BufReader::new(out).lines().map_while(Result::ok).for_each(|line| drop(sender.send(line)));
    });
    std::thread::sleep(Duration::from_millis(300));
    project.write(".abide/abilities/later.yaml", GOOD);
    watching.sees("later is valid");
}

#[test]
fn signals_end_it() {
    use std::os::unix::process::ExitStatusExt as _;
    let project = Project::new();
    for (signal, number) in [("-TERM", 15), ("-INT", 2)] {
        let mut watching = Watching::start(&project);
        let status = watching.signal(signal);
        assert_eq!(status.signal(), Some(number), "{status:?}");
    }
}
