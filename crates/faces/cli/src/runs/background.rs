//! Runs that go on in the background: the same binary, in a session of its own.
#![expect(
    clippy::disallowed_methods,
    reason = "the background process outlives this one, so no adapter holds it"
)]

use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::event::RunId;
use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

/// Starts a process that drives a run on, and hands it the values of secret inputs.
pub(crate) fn detach(session: &Session<'_>, id: &RunId, secrets: &[(String, String)]) -> Result<(), Failure> {
    let failed = |error| Failure::new(Exit::System, format!("cannot start the background process: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let mut child = Command::new(program)
        .arg("-C")
        .arg(&session.place.start)
        .args(["resume", "--detached", id.as_str()])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(failed)?;
    let secrets: serde_json::Map<String, serde_json::Value> =
        secrets.iter().map(|(name, value)| (name.clone(), value.as_str().into())).collect();
    if let Some(mut pipe) = child.stdin.take() {
        pipe.write_all(serde_json::Value::Object(secrets).to_string().as_bytes()).map_err(failed)?;
    }
    Ok(())
}

/// Leaves the terminal of whoever started this process, and takes the values of secret inputs from them.
pub(crate) fn arrive() -> Result<Vec<(String, String)>, Failure> {
    let failed = |what: String| Failure::new(Exit::System, format!("cannot go on in the background: {what}"));
    // It fails only for the leader of a group, which has been detached by somebody else already.
    let _ = rustix::process::setsid();
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| failed(error.to_string()))?;
    let values: std::collections::BTreeMap<String, String> =
        serde_json::from_str(&text).map_err(|error| failed(error.to_string()))?;
    Ok(values.into_iter().collect())
}
