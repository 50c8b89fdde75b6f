//! The same turn by `LangGraph`, where it is installed: what people would use otherwise.

use anyhow::{Context, ensure};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// The turn in Python.
const SCRIPT: &str = include_str!("../langgraph_turn.py");
/// The variable that names a Python that has `LangGraph`.
const VARIABLE: &str = "ABIDE_BENCH_LANGGRAPH";

/// Finds a Python that has `LangGraph`.
pub(crate) fn python() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).map(PathBuf::from).filter(|python| python.is_file())
}

/// Returns how much CPU one turn takes; what Python imports is not counted.
pub(crate) fn turn(python: &Path, url: &str, turns: u32, folder: &Path) -> anyhow::Result<Duration> {
    let script = folder.join("langgraph_turn.py");
    std::fs::write(&script, SCRIPT)?;
    let output = Command::new(python)
        .arg(&script)
        .args([url, &turns.to_string()])
        .arg(folder.join("langgraph.db"))
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("could not start {}", python.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    ensure!(output.status.success(), "LangGraph failed:\n{text}{}", String::from_utf8_lossy(&output.stderr));
    let milliseconds: f64 =
        text.trim().parse().with_context(|| format!("LangGraph was measured as {text:?}"))?;
    Ok(Duration::from_secs_f64(milliseconds / 1e3))
}
