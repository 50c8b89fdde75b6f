//! The shell in which one document is played.
//!
//! Each script is its own bash, so that a hang or a failure is that script's; the working folder and exported
//! variables travel from one to the next through files.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, ensure};
use tempfile::TempDir;

/// How long one script may take.
pub(super) const LIMIT_SECONDS: u32 = 300;

/// The exit status by which `timeout` says that it had to stop a script.
pub(super) const TIMED_OUT: i32 = 124;

pub(super) struct Shell {
    /// What the document's reader sees: the empty folder they start in.
    folder: TempDir,
    /// What they do not see: home, the last script's output, what travels between scripts.
    state: TempDir,
    path: OsString,
    /// Process groups that outlived their script, such as a server started with `&`.
    left_running: Vec<String>,
}

pub(super) struct Outcome {
    pub(super) exit: i32,
    /// stdout and stderr together, as a terminal shows them.
    pub(super) output: String,
}

impl Shell {
    /// Returns a shell that finds programs in `binaries` before anywhere else.
    pub(super) fn new(binaries: &Path) -> anyhow::Result<Self> {
        let state = tempfile::tempdir().context("could not make a temporary folder")?;
        fs::create_dir(state.path().join("home")).context("could not make a home folder")?;
        let mut path = OsString::from(binaries);
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let folder = tempfile::tempdir().context("could not make a temporary folder")?;
        Ok(Self { folder, state, path, left_running: Vec::new() })
    }

    /// Runs a script to its end.
    pub(super) fn run(&mut self, script: &str) -> anyhow::Result<Outcome> {
        // A file rather than a pipe: what a script leaves running may hold it open without holding us.
        let log = self.state.path().join("output");
        let output = File::create(&log).context("could not make a file for the output")?;
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        let mut command = Command::new("timeout");
        command
            .arg("--kill-after=5")
            .arg(LIMIT_SECONDS.to_string())
            .args(["bash", "-euo", "pipefail", "-c"])
            .arg(format!("{}\n{script}", self.before()))
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(output.try_clone().context("could not share the output file")?)
            .stderr(output);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("ABIDE_") || name.starts_with("XDG_") {
                command.env_remove(&*name);
            }
        }
        for (name, default) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            command.env(name, std::env::var_os(name).unwrap_or_else(|| home.join(default).into()));
        }
        command.env("PATH", &self.path).env("HOME", self.state.path().join("home"));

        let mut child = command.spawn().context("could not start bash under timeout")?;
        let group = format!("-{}", child.id()); // `timeout` leads a process group of its own
        let status = child.wait().context("could not wait for bash")?;
        if is_running(&group) {
            self.left_running.push(group);
        }
        let output = fs::read(&log).context("could not read the output")?;
        Ok(Outcome {
            exit: status.code().unwrap_or(TIMED_OUT),
            output: String::from_utf8_lossy(&output).into_owned(),
        })
    }

    /// Returns the line that goes before a script: go on where the last one ended, and leave word at the end.
    fn before(&self) -> String {
        let quoted = |name: &str| {
            let path = self.state.path().join(name).display().to_string();
            format!("'{}'", path.replace('\'', r"'\''"))
        };
        let (folder, variables) = (quoted("folder"), quoted("variables"));
        format!(
            "leave_word() {{ pwd >{folder}; export -p >{variables}; }}; trap leave_word EXIT; \
             if [ -e {folder} ]; then source {variables}; cd \"$(cat {folder})\"; fi"
        )
    }

    /// Saves a file where the document's reader would, below the folder that the last script ended in.
    pub(super) fn save(&self, path: &str, text: &str) -> anyhow::Result<()> {
        let inside = Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        ensure!(inside, "`{path}` does not stay inside the document's folder");
        let here = match fs::read_to_string(self.state.path().join("folder")) {
            Ok(folder) => PathBuf::from(folder.trim_end_matches('\n')),
            Err(_) => self.folder.path().to_path_buf(), // no script ran yet
        };
        let path = here.join(path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("could not make {}", parent.display()))?;
        }
        fs::write(&path, text).with_context(|| format!("could not write {}", path.display()))
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        for group in &self.left_running {
            signal("TERM", group);
            for _ in 0..20 {
                if !is_running(group) {
                    break;
                }
                thread::sleep(Duration::from_millis(100));
            }
            signal("KILL", group);
        }
    }
}

/// Returns whether a process, or with a leading `-` any process of a group, is there.
fn is_running(target: &str) -> bool {
    signal("0", target)
}

fn signal(name: &str, target: &str) -> bool {
    Command::new("bash")
        .args(["-c", r#"kill -s "$0" -- "$1""#, name, target])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_leaves_running_neither_holds_it_nor_outlives_the_document() {
        let mut shell = Shell::new(Path::new("/nowhere")).unwrap();
        let pid = shell.run("sleep 300 & echo $!").unwrap().output.trim().to_owned();
        assert_eq!(shell.left_running.len(), 1);
        assert!(is_running(&pid));
        drop(shell);
        // A killed process may stay in the table as a zombie until someone takes note of it.
        let gone =
            || fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "));
        assert!((0..50).any(|_| gone() || {
            thread::sleep(Duration::from_millis(100));
            false
        }));
    }

    #[test]
    fn files_are_saved_in_the_working_folder_and_never_outside() {
        let mut shell = Shell::new(Path::new("/nowhere")).unwrap();
        shell.run("mkdir inner; cd inner").unwrap();
        shell.save("a/b.txt", "text\n").unwrap();
        assert_eq!(shell.run("cat a/b.txt; cd ..; cat inner/a/b.txt").unwrap().output, "text\ntext\n");
        assert!(shell.save("../x", "").is_err());
        assert!(shell.save("/x", "").is_err());
    }

    #[test]
    fn a_script_has_a_home_of_its_own_and_the_binaries_first() {
        let mut shell = Shell::new(Path::new("/nowhere")).unwrap();
        let outcome = shell.run("ls -A ~; echo \"${PATH%%:*}\"").unwrap();
        assert_eq!((outcome.exit, outcome.output.as_str()), (0, "/nowhere\n"));
    }
}
