//! The binary on a real pseudo terminal, which it controls: what is typed reaches it as from a keyboard.

use crate::screen::Screen;
use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A project with abilities.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new(abilities: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let abilities_folder = folder.path().join(".abide/abilities");
        std::fs::create_dir_all(&abilities_folder).unwrap();
        for (name, text) in abilities {
            std::fs::write(abilities_folder.join(format!("{name}.yaml")), text).unwrap();
        }
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn prepared(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder.path()).env_clear();
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("ABIDE_USER", "ada");
        command
    }

    /// Runs a command line away from the terminal.
    pub(crate) fn elsewhere(&self, arguments: &[&str]) -> Output {
        let program = Path::new(env!("CARGO_BIN_EXE_abide"));
        self.prepared(program).args(arguments).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs a command line on a terminal of 80 columns.
    pub(crate) fn terminal(&self, arguments: &[&str]) -> Terminal {
        self.terminal_with(80, &[], arguments)
    }

    /// Runs a command line on a terminal of a width, with variables.
    pub(crate) fn terminal_with(
        &self,
        width: u16,
        variables: &[(&str, &str)],
        arguments: &[&str],
    ) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, size(width)).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let end = || Stdio::from(slave.try_clone().unwrap());
        // `setsid -c` makes the terminal the one that it controls, so that Ctrl-C is a signal.
        let child = self
            .prepared(Path::new("setsid"))
            .arg("-c")
            .arg(env!("CARGO_BIN_EXE_abide"))
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .unwrap();
        let seen = Arc::new(Mutex::new(Seen { screen: Screen::new(width.into()), raw: String::new() }));
        let (mut reading, watched) = (File::from(master.try_clone().unwrap()), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // A terminal that nobody holds any more is an error here, and the end.
            while let Ok(count) = reading.read(&mut bytes) {
                let mut seen = watched.lock().unwrap();
                seen.raw.push_str(&String::from_utf8_lossy(&bytes[..count]));
                seen.screen.take(&bytes[..count]);
            }
        });
        Terminal { child, master: File::from(master), seen }
    }
}

fn size(width: u16) -> Winsize {
    Winsize { ws_row: 50, ws_col: width, ws_xpixel: 0, ws_ypixel: 0 }
}

struct Seen {
    screen: Screen,
    raw: String,
}

/// A command line that runs on a terminal.
pub(crate) struct Terminal {
    child: Child,
    master: File,
    seen: Arc<Mutex<Seen>>,
}

/// Nothing takes as long, also on a busy machine.
const LONGEST: Duration = Duration::from_secs(30);

impl Terminal {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().expect("the screen knows every control")
    }

    /// Returns what stands on the screen.
    pub(crate) fn screen(&self) -> String {
        self.seen().screen.lines().join("\n")
    }

    /// Returns every byte that was written.
    pub(crate) fn raw(&self) -> String {
        self.seen().raw.clone()
    }

    #[track_caller]
    fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        let began = Instant::now();
        while !holds(self) {
            assert!(began.elapsed() < LONGEST, "{what}\nis not on the screen:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits until something stands on the screen.
    #[track_caller]
    pub(crate) fn sees(&self, text: &str) {
        self.until(text, |terminal| terminal.screen().contains(text));
    }

    /// Waits until something was written, even if it is gone from the screen again.
    #[track_caller]
    pub(crate) fn saw(&self, text: &str) {
        self.until(text, |terminal| terminal.raw().contains(text));
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn types(&mut self, text: &str) {
        self.master.write_all(text.as_bytes()).unwrap();
    }

    /// Returns whether what is typed is shown.
    pub(crate) fn echoes(&self) -> bool {
        tcgetattr(&self.master).unwrap().local_modes.contains(LocalModes::ECHO)
    }

    pub(crate) fn resize(&self, width: u16) {
        self.seen().screen.resize(width.into());
        tcsetwinsize(&self.master, size(width)).unwrap();
    }

    /// Waits for the end; returns the exit code and what stands on the screen.
    #[track_caller]
    pub(crate) fn ends(mut self) -> (i32, String, String) {
        let began = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(began.elapsed() < LONGEST, "it does not end:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        };
        // What was written last may still be on its way.
        std::thread::sleep(Duration::from_millis(50));
        (status.code().unwrap_or(-1), self.screen(), self.raw())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // It has ended already, unless a test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
