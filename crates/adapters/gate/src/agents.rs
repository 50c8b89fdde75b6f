//! Whether a process was started by an agent, and so is not a human's, whatever it is called and however it came about.
//!
//! A client is the process that its hooks are started by. Each hook notes it, so that whatever descends from it is known. What was
//! taken away from its ancestors (by `setsid`, `nohup` or a death in between) still has the variables that clients give to
//! what they start, and abide to what it starts for a step. Only a process that lost both is taken for a human's.

use crate::family::above;
use crate::files::{self, GateError};
use crate::{Family, Gate, Relative, word};
use abide_core::policy::Client;
use std::fs;
use std::path::{Path, PathBuf};

/// The variables by which a process tells that an agent, or a step of a run, started it, and who sets them.
const MARKS: &[(&str, &str)] = &[
    ("CLAUDECODE", "Claude Code"),
    ("CLAUDE_CODE_CHILD_SESSION", "Claude Code"),
    ("OPENCODE", "OpenCode"),
    ("OPENCODE_PID", "OpenCode"),
    ("CODEX_THREAD_ID", "Codex"),
    ("CODEX_SANDBOX", "Codex"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "Codex"),
    ("CODEX_CI", "Codex"),
    ("ABIDE_MARK", "a step of a run"),
    ("ABIDE_SEAT", "a step of a run"),
];
/// What stands between a client and its hook when the client starts it through a shell.
const SHELLS: &[&str] = &[
    "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "nu", "elvish", "xonsh", "pwsh", "tcsh", "csh",
];
/// What else does.
const WRAPPERS: &[&str] = &["timeout", "env", "nice", "busybox"];
/// How many clients are looked at for those that are gone.
const MOST_CLIENTS: usize = 1_000;

/// Who started a process that is no human's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentAbove {
    /// What it is: a client, or a step of a run.
    pub who: String,
    /// By what it was recognised.
    pub sign: String,
}

/// Returns who set a variable that only an agent's processes have.
pub fn marked(variable: impl Fn(&str) -> Option<String>) -> Option<AgentAbove> {
    let (name, who) = MARKS.iter().find(|(name, _)| variable(name).is_some_and(|value| !value.is_empty()))?;
    Some(AgentAbove { who: (*who).to_owned(), sign: format!("{name} is set") })
}

impl Gate {
    /// Notes which process the client is whose hook this process is.
    pub fn note_client(&self, client: Client) -> Result<(), GateError> {
        let Some(found) = client_of_this() else { return Ok(()) };
        let file = self.client_file(&found);
        if file.exists() {
            return Ok(());
        }
        self.forget_clients();
        files::replace(&file, &word(client))
    }

    /// Returns the client that this process descends from; what cannot be read is taken for one.
    pub fn client_above(&self) -> Option<AgentAbove> {
        self.client_among(&Family::of_this().0)
    }

    /// Returns whether the client that this process belongs to was started by another one: then an agent may be playing it, and what
    /// is answered there is nobody's word.
    pub fn is_client_of_an_agent(&self) -> bool {
        self.is_nested(&Family::of_this().0)
    }

    fn is_nested(&self, family: &[Relative]) -> bool {
        family.iter().filter(|relative| self.client_file(relative).exists()).nth(1).is_some()
    }

    fn client_among(&self, family: &[Relative]) -> Option<AgentAbove> {
        family.iter().find_map(|relative| {
            let file = self.client_file(relative);
            let who = match files::read::<String>(&file) {
                Ok(None) => return None,
                Ok(Some(who)) => who,
                Err(_) => "an agent".to_owned(),
            };
            Some(AgentAbove { who, sign: format!("process {} is above this one", relative.process) })
        })
    }

    /// Removes what was noted about clients that are gone.
    fn forget_clients(&self) {
        let entries = fs::read_dir(self.folder.join("clients")).into_iter().flatten().flatten();
        for entry in entries.take(MOST_CLIENTS) {
            let lives =
                entry.file_name().to_str().and_then(relative).is_some_and(|relative| relative.lives());
            if !lives {
                let _ = files::remove(&entry.path());
            }
        }
    }

    fn client_file(&self, client: &Relative) -> PathBuf {
        self.folder.join("clients").join(format!("{}-{}", client.process, client.started))
    }
}

fn relative(name: &str) -> Option<Relative> {
    let (process, started) = name.split_once('-')?;
    Some(Relative { process: process.parse().ok()?, started: started.to_owned() })
}

/// Finds the client whose hook this process is: the first process above it that is neither a shell which was given this one to
/// start, nor something that bounds its time.
///
/// A shell that somebody types into is nobody's client: whoever tries out a hook by hand stays a human.
fn client_of_this() -> Option<Relative> {
    for (relative, name) in above() {
        if SHELLS.contains(&name.as_str()) {
            let process = Path::new("/proc").join(relative.process.to_string());
            let words = fs::read(process.join("cmdline")).unwrap_or_default();
            let mut options =
                words.split(|byte| *byte == 0).skip(1).take_while(|word| word.starts_with(b"-"));
            if !options.any(|word| !word.starts_with(b"--") && word.contains(&b'c')) {
                return None;
            }
        } else if !WRAPPERS.contains(&name.as_str()) {
            return Some(relative);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_client_or_a_step_started_has_its_mark() {
        let with = |name: &'static str, value: &'static str| {
            marked(move |asked| (asked == name).then(|| value.to_owned()))
        };
        for (name, who) in MARKS {
            let found = with(name, "1").unwrap();
            assert_eq!((found.who.as_str(), found.sign), (*who, format!("{name} is set")));
        }
        assert_eq!(with("CLAUDECODE", ""), None, "what is empty says nothing");
        assert_eq!(with("CLAUDE_CODE_SSE_PORT", "1"), None, "an editor gives that to its own terminals");
        assert_eq!(with("HOME", "/home/ada"), None);
    }

    #[test]
    fn whatever_descends_from_a_client_that_asked_is_its() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        assert_eq!(gate.client_above(), None);
        gate.note_client(Client::OpenCode).unwrap();
        let client = client_of_this().unwrap();
        let found = gate.client_above().unwrap();
        assert_eq!(
            (found.who.as_str(), found.sign),
            ("opencode", format!("process {} is above this one", client.process))
        );
        let other = Relative { started: "0".into(), ..client.clone() };
        assert_eq!(gate.client_among(&[other]), None, "the number alone is not the process");
        fs::write(gate.client_file(&client), "{").unwrap();
        assert_eq!(gate.client_above().unwrap().who, "an agent", "what cannot be read is not taken for none");
    }

    #[test]
    fn a_client_below_another_one_is_told_from_one_that_a_human_started() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        let family = ["1", "2", "3"].map(|started| Relative { process: 7, started: started.into() });
        assert!(!gate.is_nested(&family));
        files::replace(&gate.client_file(&family[1]), &"claude").unwrap();
        assert!(!gate.is_nested(&family), "one client is a human's");
        files::replace(&gate.client_file(&family[2]), &"codex").unwrap();
        assert!(gate.is_nested(&family) && !gate.is_nested(&family[..2]));
    }

    #[test]
    fn clients_that_are_gone_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        let gone = Relative { process: u32::MAX / 2, started: "1".into() };
        files::replace(&gate.client_file(&gone), &"claude").unwrap();
        gate.note_client(Client::ClaudeCode).unwrap();
        assert!(!gate.client_file(&gone).exists() && gate.client_above().is_some());
    }
}
