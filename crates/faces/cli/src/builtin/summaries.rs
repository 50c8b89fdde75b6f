//! Summaries of outputs, by the model of the agent that left them, else by the one of the configuration.

use super::Here;
use crate::runs::SystemClock;
use abide_core::model::Patience;
use abide_engine::port::{Later, LongOutput, Summarizer, Summary};
use abide_engine::summary::summarize;
use abide_engine::turn::ModelSeat;
use std::sync::Arc;

/// Puts outputs in short with the models that can be asked here.
pub(super) struct LocalSummaries(pub(super) Arc<Here>);

impl Summarizer for LocalSummaries {
    fn summarize(&self, output: LongOutput) -> Later<Result<Summary, String>> {
        let here = Arc::clone(&self.0);
        Box::pin(async move {
            let (name, openable) = here.summarizing(output.agent.as_deref())?;
            let (http, facts) = openable.open().await.map_err(|error| super::seat::with_help(&error))?;
            let seat = ModelSeat {
                model: Arc::new(http),
                name: name.model().to_owned(),
                facts,
                patience: Patience::default(),
            };
            let summary = summarize(&seat, name.to_string(), &SystemClock, &output).await;
            let summary = summary.map_err(|error| super::seat::with_help(&error))?;
            if summary.text.is_empty() { Err(format!("{name} wrote nothing")) } else { Ok(summary) }
        })
    }

    fn unusable(&self, agent: Option<&str>) -> Option<String> {
        self.0.summarizing(agent).err()
    }
}
