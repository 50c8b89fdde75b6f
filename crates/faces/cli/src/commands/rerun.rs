//! `abide rerun RUN --from STEP`

use super::drive::{Asking, drive};
use crate::args::RerunArguments;
use crate::runners;
use crate::runs::{self, Progress};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::definition::StepId;
use abide_engine::service::{self, Reran, Rerun, ServiceError, Version};
use std::sync::Arc;

pub(crate) fn rerun(session: &mut Session<'_>, arguments: &RerunArguments) -> Result<Exit, Failure> {
    let Some(store) = runs::find_store(session)? else {
        return Err(Failure::new(Exit::NotFound, "no run was ever started here"));
    };
    runs::block_on(async {
        let old = runs::find_run(&store, Some(&arguments.run), runs::Wanted::Any).await?;
        let run = runs::load_run(&store, &old).await?.run;
        let mut inputs = runs::secrets_given(session, &run, &arguments.input)?;
        runs::ask_for_secrets(session, &run, &mut inputs).await?;
        let (progress, told) = Progress::new();
        let driver = runners::driver(session, store, Arc::new(progress));
        let from = arguments.from.clone();
        let by = runs::user(session).into();
        let version = if arguments.with_current { Version::Current } else { Version::Pinned };
        let started = service::rerun(&driver, Rerun { run: old.clone(), from, by, inputs, version }).await;
        let Reran { run: id, taken_over, has_changed } =
            started.map_err(|error| failed(&error, arguments))?;
        if !session.json {
            let steps: Vec<&str> = taken_over.iter().map(StepId::as_str).collect();
            let taken = if steps.is_empty() { "nothing".to_owned() } else { steps.join(", ") };
            session.say(&format!("run {id}\ntaken over from {old}: {taken}\n"))?;
            if has_changed {
                let ability = &run.created.name;
                session.say(&format!(
                    "`{ability}` has changed since, and is repeated as it was; `--with-current` takes it as it is\n"
                ))?;
            }
        }
        drive(session, &driver, id, told, Asking::Human, None).await
    })?
}

/// Says why a run cannot be repeated, and what to do about it.
fn failed(error: &ServiceError, arguments: &RerunArguments) -> Failure {
    let failure = runs::service_failure(error);
    match error {
        ServiceError::Changed { .. } => failure.help(format!(
            "`abide rerun {} --from {} --with-current` runs these steps with the files and the definition as they are now",
            arguments.run, arguments.from
        )),
        _ => failure,
    }
}
