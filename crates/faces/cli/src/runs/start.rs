//! What a command line says about a run that is to be started.

use super::prompt::ask_for_missing;
use super::{LocalWorkspace, SystemClock, Taken, given, service_failure, user};
use crate::args::GivenArguments;
use crate::runners;
use crate::session::{Session, find};
use crate::{Exit, Failure};
use abide_catalog::Status;
use abide_core::definition::InputType;
use abide_core::event::TraceParent;
use abide_core::plan::{Call, Plan};
use abide_engine::service::{self, Prepared, Start};
use abide_process::LocalProcess;
use std::sync::Arc;

/// Reads which ability is meant and what it is given.
pub(crate) fn start_of(
    session: &mut Session<'_>,
    name: &str,
    arguments: &GivenArguments,
) -> Result<Start, Failure> {
    let mut catalog = session.catalog();
    let listing = catalog.scan();
    let entry = find(&listing, name)?;
    if entry.status() != Status::Usable {
        return Err(Failure::new(Exit::Problems, format!("the ability `{}` has errors", entry.name))
            .help(format!("`abide validate {}` shows them", entry.name)));
    }
    let taken = entry.summary.iter().flat_map(|summary| &summary.signature.inputs);
    let taken: Vec<Taken<'_>> =
        taken.map(|(name, kind, _)| Taken { name, is_text: *kind == InputType::String }).collect();
    let mut inputs = given(session, &arguments.input, arguments.inputs.as_deref(), &taken)?;
    if session.surroundings.terminal_in
        && session.surroundings.terminal
        && let Ok((_, Some(ability))) = catalog.load(entry)
    {
        ask_for_missing(session, &ability, &mut inputs)?;
    }
    Ok(Start {
        ability: name.to_owned(),
        inputs,
        input: arguments.text.clone().unwrap_or_default(),
        by: user(session).into(),
        session: None,
        parent: None,
        depth: 0,
        id: None,
        // Whoever starts a command in a span of theirs says so in the environment.
        trace: session.surroundings.variable("TRACEPARENT").and_then(|text| TraceParent::parse(&text)),
    })
}

/// Checks everything that a start needs; nothing is written.
pub(crate) fn prepare(session: &Session<'_>, start: Start) -> Result<Prepared, Failure> {
    let workspace = LocalWorkspace::new(session, Arc::new(LocalProcess::new().only_parent()));
    service::prepare(&workspace, &SystemClock, start).map_err(|error| service_failure(&error))
}

/// Plans a run that was prepared, or returns every problem.
pub(crate) fn plan(session: &Session<'_>, prepared: &Prepared) -> Result<Plan, Vec<String>> {
    let workspace = LocalWorkspace::new(session, Arc::new(LocalProcess::new().only_parent()));
    service::plan(&workspace, prepared)
}

/// Refuses a run that a terminal cannot bring to its end; nothing is written.
pub(crate) fn can_begin(session: &Session<'_>, prepared: &Prepared) -> Result<(), Failure> {
    let workspace = LocalWorkspace::new(session, Arc::new(LocalProcess::new().only_parent()));
    service::can_begin(&runners::runners(session), &workspace, &prepared.run)
        .map_err(|error| service_failure(&error))
}

/// Makes the runs that steps would call; nothing is written.
pub(crate) fn called(session: &Session<'_>) -> Box<Call<'static>> {
    let workspace = LocalWorkspace::new(session, Arc::new(LocalProcess::new().only_parent()));
    Box::new(move |run, key, work, secrets| {
        let prepared = service::prepare_called(&workspace, &SystemClock, (run, key), None, work, secrets);
        prepared.map(|prepared| (prepared.run, prepared.secrets)).map_err(|error| error.to_string())
    })
}
