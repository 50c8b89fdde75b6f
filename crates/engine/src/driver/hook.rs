//! Hooks: scripts beside an ability that run before its steps and after them.

use super::halt::{Halt, Stop};
use super::vault::Vault;
use super::{Driver, Report};
use crate::port::{
    Cancel, Clock, Ending, Line, Process, ProcessError, Signal, Spec, Store, Stream, Variable, Workspace,
};
use abide_core::event::{HookKey, HookPhase, RunId};
use abide_core::run::Run;
use abide_core::value::output::Masker;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinSet;

/// How long a hook may take.
const LONGEST: u64 = 5 * 60 * 1000;

impl<S: Store, P: Process, W: Workspace, C: Clock> Driver<S, P, W, C> {
    pub(super) fn start_hook(
        &self,
        tasks: &mut JoinSet<()>,
        run: &Run,
        hook: HookKey,
        reports: &UnboundedSender<Report>,
        stop: &Stop,
    ) {
        let driver = self.clone();
        let reports = reports.clone();
        let stop = stop.clone();
        let run = run.clone();
        tasks.spawn(async move {
            let error = match driver.opened_vault(&run, &[]).await {
                Ok(vault) => driver.run_hook(&run, &hook, &vault, stop.clone()).await,
                Err(error) => Some(error),
            };
            let is_left = error.is_some() && matches!(stop.get(), Some(Halt::Leave(_)));
            let report = if is_left { Report::HookLeft } else { Report::Hook(hook, error) };
            // The driver that waits for it may be gone; then nobody needs to know.
            let _ = reports.send(report);
        });
    }

    async fn run_hook(&self, run: &Run, hook: &HookKey, vault: &Vault, stop: Stop) -> Option<String> {
        let spec = match self.hook_spec(run, hook, vault) {
            Ok(spec) => spec,
            Err(error) => return Some(error),
        };
        self.ours(&run.id, &stop).await;
        let heard = Arc::new(Mutex::new(Heard::new(vault)));
        let hearing = Arc::clone(&heard);
        let sink = move |line: Line| {
            hearing.lock().unwrap_or_else(PoisonError::into_inner).take(&line);
            std::future::ready(())
        };
        let ended = self.process.run(spec, cancelled(stop), sink).await;
        let said = || heard.lock().unwrap_or_else(PoisonError::into_inner).text();
        match ended {
            Ok(Ending::Exited(0)) => None,
            Ok(Ending::Exited(code)) => Some(format!("exit code {code}: {}", said())),
            Ok(Ending::Signalled(signal)) => Some(format!("ended by signal {signal}")),
            Ok(Ending::TimedOut) => Some("it ran out of time".to_owned()),
            Ok(Ending::Cancelled) => Some("it was cancelled".to_owned()),
            Err(error @ (ProcessError::Start { .. } | ProcessError::Lost { .. })) => Some(error.to_string()),
        }
    }

    fn hook_spec(&self, run: &Run, hook: &HookKey, vault: &Vault) -> Result<Spec, String> {
        let folder = run.created.folder.as_ref().ok_or("the ability has no folder of its own")?;
        let path = PathBuf::from(folder).join(hook.to_string());
        self.unchanged(run, &path)?;
        let mut variables =
            vec![variable("ABIDE_RUN", run.id.as_str()), variable("ABIDE_ABILITY", &run.created.name)];
        variables.push(variable("ABIDE_ABILITY_DIR", folder));
        if hook.phase == HookPhase::After {
            let (status, error) = run.outcome();
            variables.push(variable("ABIDE_RESULT", status.word()));
            variables.push(variable("ABIDE_ERROR", error.as_deref().unwrap_or_default()));
        }
        Ok(Spec {
            program: "sh".to_owned(),
            arguments: vec![path.display().to_string()],
            folder: PathBuf::from(&run.created.root),
            variables,
            without: vault.hidden(),
            longest: Some(LONGEST),
            mark: mark(&run.id, hook),
        })
    }

    /// Refuses a file that changed since the run was created.
    pub(super) fn unchanged(&self, run: &Run, path: &Path) -> Result<(), String> {
        let shown = path.display().to_string();
        match run.created.files.iter().find(|(known, _)| *known == shown) {
            None => Ok(()),
            Some((_, digest)) if self.workspace.digest(path).is_some_and(|found| found == **digest) => Ok(()),
            Some(_) => {
                Err(format!("{shown} has changed since the run was created; start a new run to use it"))
            }
        }
    }
}

/// What a hook says, without its secrets; the beginning of it.
struct Heard {
    stdout: Masker,
    stderr: Masker,
    text: Vec<u8>,
}

impl Heard {
    /// How much is kept.
    const KEPT: usize = 4_096;

    fn new(vault: &Vault) -> Self {
        Self { stdout: vault.masker(), stderr: vault.masker(), text: Vec::new() }
    }

    fn take(&mut self, line: &Line) {
        let masker = match line.stream {
            Stream::Stdout => &mut self.stdout,
            Stream::Stderr => &mut self.stderr,
        };
        let mut open = Vec::new();
        masker.push(&line.bytes, &mut open);
        self.keep(&open);
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = Self::KEPT.saturating_sub(self.text.len());
        self.text.extend(bytes.iter().take(room));
    }

    /// Returns what was kept, when nothing more comes.
    fn text(&mut self) -> String {
        let mut rest = Vec::new();
        self.stdout.finish(&mut rest);
        self.stderr.finish(&mut rest);
        self.keep(&rest);
        String::from_utf8_lossy(&self.text).trim().to_owned()
    }
}

/// Returns the mark that a hook's processes carry.
pub(super) fn mark(run: &RunId, hook: &HookKey) -> String {
    format!("{run}/{hook}").replace(' ', "_")
}

/// Builds a variable that may be shown.
pub(super) fn variable(name: &str, value: &str) -> Variable {
    Variable { name: name.to_owned(), value: value.to_owned(), secret: false }
}

/// Turns the driver's stop into what a process waits for: each signal is told once, a stronger one after it.
pub(super) struct Cancelled {
    stop: Stop,
    told: Option<Signal>,
}

/// Follows a driver's stop.
pub(super) fn cancelled(stop: Stop) -> Cancelled {
    Cancelled { stop, told: None }
}

impl Cancel for Cancelled {
    async fn signal(&mut self) -> Signal {
        loop {
            let asked = self.stop.see();
            if let Some(signal) = asked.map(Halt::signal)
                && self.told != Some(signal)
            {
                self.told = Some(signal);
                return signal;
            }
            self.stop.changed().await;
        }
    }
}
