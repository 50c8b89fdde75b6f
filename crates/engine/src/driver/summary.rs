//! Outputs that are put in short before an agent gets them.
//!
//! It is done when the first agent is about to get an output, so that nobody pays for what no agent reads. The summary is
//! an event of the run: neither another step nor another driver pays for it again. Without one, an agent gets the start and the end.

use super::Driver;
use super::drive::Report;
use super::halt::Stop;
use super::hook::cancelled;
use crate::port::{
    Cancel as _, Clock, Line, LongOutput, Process, Store, Stream, Summarizer, Summary, Workspace,
};
use abide_core::definition::{StepId, StepKind};
use abide_core::event::{Event, RunId, StepKey, Timestamp};
use abide_core::run::Run;
use abide_core::view::summary::unsummarized;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use tokio::sync::OnceCell;
use tokio::sync::mpsc::UnboundedSender;

/// The summaries that a driver asks for, or has asked for since it drives the run.
pub(super) type Summaries = HashMap<(RunId, StepId), Arc<OnceCell<Result<Summary, String>>>>;

impl<S: Store, P: Process, W: Workspace, C: Clock> Driver<S, P, W, C> {
    /// Returns the run with a summary of every output that a step is to get in short.
    pub(super) async fn summarized(
        &self,
        mut run: Run,
        key: &StepKey,
        attempt: u32,
        deadline: Option<Timestamp>,
        reports: &UnboundedSender<Report>,
        stop: &Stop,
    ) -> Run {
        let Some(summarizer) = self.runners.summarizer() else { return run };
        let Some((position, _)) = run.find(key) else { return run };
        let due: Vec<(StepId, LongOutput)> = unsummarized(&run, position)
            .into_iter()
            .map(|due| {
                let agent = match &due.step.kind {
                    StepKind::Agent(agent) => Some(agent.agent.to_string()),
                    _ => None,
                };
                let output = LongOutput {
                    run: run.id.clone(),
                    step: due.step.id.to_string(),
                    agent,
                    instruction: due.instruction.map(str::to_owned),
                    text: due.output.text.clone(),
                    cut: due.output.cut,
                };
                (due.step.id.value.clone(), output)
            })
            .collect();
        if due.is_empty() {
            return run;
        }
        self.ours(&run.id, stop).await;
        for (step, output) in due {
            if let Err(exhausted) = run.run_budget_left() {
                self.unsummarized(&run.id, key, attempt, &step, &exhausted.used_up()).await;
                return run;
            }
            let mut halt = cancelled(stop.clone());
            let summary = tokio::select! {
                biased;
                _ = halt.signal() => return run,
                summary = self.summary_once(&*summarizer, &step, output) => summary,
                () = self.sleep_until(deadline) => return run,
            };
            match summary {
                Ok(summary) => {
                    run.apply(&Event::StepSummarized {
                        step: step.clone(),
                        summary: summary.text.clone(),
                        model: summary.model.as_str().into(),
                        usage: summary.usage,
                    });
                    // The driver that waits for it may be gone; then nobody needs to know.
                    let _ = reports.send(Report::Summarized(step, summary));
                }
                Err(why) => self.unsummarized(&run.id, key, attempt, &step, &why).await,
            }
        }
        run
    }

    /// Says why an output is passed on as it is.
    async fn unsummarized(&self, run: &RunId, key: &StepKey, attempt: u32, step: &StepId, why: &str) {
        let text = format!("(`{step}` is not summarized: {why})\n");
        let line = Line { stream: Stream::Stderr, bytes: text.into_bytes() };
        self.observer.output(run, &key.to_string(), &line);
        self.store_output(run, key, attempt, line).await;
    }

    /// Asks for a summary; steps that begin at the same time share one.
    async fn summary_once(
        &self,
        summarizer: &dyn Summarizer,
        step: &StepId,
        output: LongOutput,
    ) -> Result<Summary, String> {
        let cell = {
            let mut all = self.summaries.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry((output.run.clone(), step.clone())).or_default())
        };
        cell.get_or_init(|| summarizer.summarize(output)).await.clone()
    }

    /// Forgets what is in the log by now.
    pub(super) fn forget_summaries(&self, run: &RunId) {
        let mut all = self.summaries.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(known, _), _| known != run);
    }
}
