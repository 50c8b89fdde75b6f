//! What no hook can stop in each client, so that a user hears it from `abide doctor` and not from an accident.

use crate::Client;

/// A way round the gate that the client itself opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SideDoor {
    /// What somebody does.
    pub what: &'static str,
    /// What holds against it.
    pub instead: &'static str,
}

/// Returns the ways round the gate in a client.
pub fn of(client: Client) -> &'static [SideDoor] {
    match client {
        Client::Claude => &[
            SideDoor {
                what: "your own `!command` in its terminal, and !`command` in slash commands, are not asked about",
                instead: "keep the credential that matters in a step's `secrets`, where no shell of yours has it",
            },
            SideDoor {
                what: "`--bare`, `--safe-mode`, `--restricted`, `--setting-sources user` and `disableAllHooks` start it without hooks",
                instead: "hooks in the managed settings file of your organisation survive all of these",
            },
            SideDoor {
                what: "removing the hooks from its settings takes effect within seconds",
                instead: "while a run is active, abide denies agents to write these files",
            },
        ],
        Client::OpenCode => &[
            SideDoor {
                what: "your own `!command`, !`command` in command templates and its `/pty` are not asked about",
                instead: "keep the credential that matters in a step's `secrets`, where no shell of yours has it",
            },
            SideDoor {
                what: "`--pure` and OPENCODE_DISABLE_PROJECT_CONFIG start it without the plugin, which nothing says",
                instead: "without the plugin no run can be started from the session",
            },
            SideDoor {
                what: "`POST /instance/dispose` loads the configuration again, changed or not",
                instead: "while a run is active, abide denies agents to write these files",
            },
        ],
        Client::Codex => &[
            SideDoor {
                what: "your own `!command` in its terminal is not asked about",
                instead: "keep the credential that matters in a step's `secrets`, where no shell of yours has it",
            },
            SideDoor {
                what: "`--disable hooks`, and a project that is not trusted, start it without hooks",
                instead: "pin the feature in the requirements.toml of your organisation; trust the project",
            },
            SideDoor {
                what: "where the system has no `timeout` (of coreutils), a hook that hangs is let through",
                instead: "`abide hook` ends itself before that unless it is stopped; `-s read-only` is a second fence",
            },
            SideDoor {
                what: "what is typed into a command that runs (`write_stdin`) is not asked about",
                instead: "`abide install` sets features.unified_exec_tty to false, so that nothing can be typed; leave it so",
            },
        ],
    }
}
