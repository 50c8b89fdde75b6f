//! `abide rerun RUN --from STEP`

use super::drive::{Asking, drive};
use crate::args::RerunArguments;
use crate::runners;
use crate::runs::{self, Progress};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::definition::StepId;
use abide_engine::service::{self, Rerun};
use std::sync::Arc;

pub(crate) fn rerun(session: &mut Session<'_>, arguments: &RerunArguments) -> Result<Exit, Failure> {
    let Some(store) = runs::find_store(session)? else {
        return Err(Failure::new(Exit::NotFound, "no run was ever started here"));
    };
    runs::block_on(async {
        let old = runs::find_run(&store, Some(&arguments.run), |_| true).await?;
        let run = runs::load_run(&store, &old).await?.run;
        let inputs = runs::secrets_given(session, &run, &arguments.input)?;
        let (progress, told) = Progress::new();
        let driver = runners::driver(session, store, Arc::new(progress));
        let from = arguments.from.clone();
        let by = runs::user(session).into();
        let started = service::rerun(&driver, Rerun { run: old.clone(), from, by, inputs }).await;
        let (id, taken_over) = started.map_err(|error| runs::service_failure(&error))?;
        if !session.json {
            let steps: Vec<&str> = taken_over.iter().map(StepId::as_str).collect();
            let taken = if steps.is_empty() { "nothing".to_owned() } else { steps.join(", ") };
            session.say(&format!("run {id}\ntaken over from {old}: {taken}\n"))?;
        }
        drive(session, &driver, id, told, Asking::Human, None).await
    })?
}
