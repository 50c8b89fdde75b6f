//! What a person does in a terminal, from a test that plays a client.
//!
//! A test that calls hooks is a client, and nothing that descends from a client is a person's. So the command is started by a shell
//! that ends before it.

use std::fs;
use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long a command may take.
const LONGEST: Duration = Duration::from_mins(1);
/// Starts what follows its two files, and is gone when that begins.
const LEAVES: &str = r#"out=$1 code=$2; shift 2
(sleep 0.05; "$@" >"$out" 2>&1; echo $? >"$code.new"; mv "$code.new" "$code") &"#;

/// Runs a command away from this process; returns its exit code and everything that it said.
#[expect(clippy::disallowed_methods, reason = "this starts a process for a test, and reads what it said")]
pub fn as_a_person(command: &Command) -> io::Result<(i32, String)> {
    let said = tempfile::tempdir()?;
    let (out, code) = (said.path().join("out"), said.path().join("code"));
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", LEAVES, "sh"]).args([&out, &code]).arg(command.get_program()).args(command.get_args());
    // The variables of the command are all that it has.
    shell.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    let began = Instant::now();
    while !code.exists() {
        if began.elapsed() > LONGEST {
            return Err(io::Error::new(io::ErrorKind::TimedOut, format!("{command:?} does not end")));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let code = fs::read_to_string(code)?.trim().parse().unwrap_or(-1);
    Ok((code, String::from_utf8_lossy(&fs::read(out)?).into_owned()))
}
