//! Hooks: scripts beside an ability that run before its steps and after them.

use super::halt::{Halt, Stop};
use super::{Driver, Report};
use crate::port::{Cancel, Clock, Ending, Process, ProcessError, Signal, Spec, Store, Variable, Workspace};
use abide_core::event::{HookKey, HookPhase, RunId};
use abide_core::run::Run;
use std::path::{Path, PathBuf};
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
        let spec = self.hook_spec(run, &hook);
        let driver = self.clone();
        let reports = reports.clone();
        let stop = stop.clone();
        let id = run.id.clone();
        tasks.spawn(async move {
            driver.ours(&id, &stop).await;
            let error = match spec {
                Ok(spec) => driver.run_hook(spec, stop.clone()).await,
                Err(error) => Some(error),
            };
            let is_left = error.is_some() && matches!(stop.get(), Some(Halt::Leave(_)));
            let report = if is_left { Report::HookLeft } else { Report::Hook(hook, error) };
            // The driver that waits for it may be gone; then nobody needs to know.
            let _ = reports.send(report);
        });
    }

    async fn run_hook(&self, spec: Spec, stop: Stop) -> Option<String> {
        let output = std::sync::Arc::new(std::sync::Mutex::new(Vec::<u8>::new()));
        let kept = std::sync::Arc::clone(&output);
        let sink = move |line: crate::port::Line| {
            if let Ok(mut kept) = kept.lock() {
                let room = 4_096_usize.saturating_sub(kept.len());
                kept.extend(line.bytes.iter().take(room));
            }
            std::future::ready(())
        };
        let said = || {
            let bytes = output.lock().map(|kept| kept.clone()).unwrap_or_default();
            String::from_utf8_lossy(&bytes).trim().to_owned()
        };
        match self.process.run(spec, cancelled(stop), sink).await {
            Ok(Ending::Exited(0)) => None,
            Ok(Ending::Exited(code)) => Some(format!("exit code {code}: {}", said())),
            Ok(Ending::Signalled(signal)) => Some(format!("ended by signal {signal}")),
            Ok(Ending::TimedOut) => Some("it ran out of time".to_owned()),
            Ok(Ending::Cancelled) => Some("it was cancelled".to_owned()),
            Err(error @ (ProcessError::Start { .. } | ProcessError::Lost { .. })) => Some(error.to_string()),
        }
    }

    fn hook_spec(&self, run: &Run, hook: &HookKey) -> Result<Spec, String> {
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
            without: Vec::new(),
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
