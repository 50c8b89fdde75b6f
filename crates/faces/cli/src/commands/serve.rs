//! `abide serve`: abide over HTTP.

use crate::args::{ServeArguments, Shared};
use crate::house::{LocalHouse, ServerLog, Stores, log};
use crate::session::Session;
use crate::traces::Traces;
use crate::{Exit, Failure};
use crate::{models, webhooks};
use abide_http::{House as _, Options, ServeError, Server, Times};
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};

pub(crate) fn serve(
    session: &mut Session<'_>,
    shared: &Shared,
    arguments: &ServeArguments,
) -> Result<Exit, Failure> {
    let log = if arguments.check { None } else { log(arguments.log, arguments.log_level) };
    let (requests, deliveries) = match log {
        Some(ServerLog { requests, deliveries }) => (Some(requests), Some(deliveries)),
        None => (None, None),
    };
    let options = Options {
        require_key: arguments.require_key,
        hosts: arguments.hosts.clone(),
        grace: Some(Duration::from_secs(arguments.grace)),
        rate: Some(arguments.rate),
        log: requests,
        times: Times::default(),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(Exit::System, format!("cannot start: {error}")))?;
    runtime.block_on(async {
        let stores = Stores::open(session, arguments.database.database.as_deref())?;
        let shown = stores.shown.clone();
        let traces = match Traces::start(session, Arc::clone(&stores.log), Arc::clone(&stores.talks)) {
            Ok(traces) => traces.map(Arc::new),
            // What is wrong with that keeps nobody from working.
            Err(why) => {
                session.say(&why)?;
                None
            }
        };
        let house = Arc::new(LocalHouse::new(session, shared, stores, deliveries, traces.clone()).await);
        house.ready().await.map_err(|why| Failure::new(Exit::System, why))?;
        let server = Server::bind(arguments.bind, &options, house).await.map_err(|error| failed(&error))?;
        // What happens is kept until it can be told: what is missing does not keep a server from starting.
        for webhook in webhooks::survey(session) {
            match &webhook.trouble {
                Some(trouble) => session.say(&format!(
                    "the webhook {} cannot be told anything: {}\n  = {}\n",
                    webhook.name, trouble.problem, trouble.help
                ))?,
                None if arguments.check => session.say(&format!("the webhook {}\n", webhook.shown()))?,
                None => {}
            }
        }
        if arguments.check {
            // Abilities without agents need no model: what is missing does not keep a server from starting.
            for model in models::survey(session).models {
                if let Some(trouble) = model.trouble {
                    session.say(&format!(
                        "{} cannot be asked: {}\n  = {}\n",
                        model.name, trouble.problem, trouble.help
                    ))?;
                }
            }
            session.say(&format!(
                "the server can start on {}; everything is kept in {shown}\n",
                arguments.bind
            ))?;
            return Ok(Exit::Done);
        }
        session.say(&format!(
            "serving on http://{}; everything is kept in {shown}; Ctrl-C ends\n",
            server.address()
        ))?;
        server.serve(told_to_end()?).await;
        if let Some(traces) = traces {
            traces.end().await;
        }
        Ok(Exit::Done)
    })
}

fn failed(error: &ServeError) -> Failure {
    match error {
        ServeError::NeedsKey(_) => Failure::new(Exit::Refused, error.to_string())
            .help("`abide key create NAME --scope admin` makes one"),
        ServeError::Keys(_) | ServeError::Listen { .. } => Failure::new(Exit::System, error.to_string()),
    }
}

/// Waits until somebody ends this process.
fn told_to_end() -> Result<impl Future<Output = ()> + Send, Failure> {
    let listen = |kind| {
        signal(kind)
            .map_err(|error| Failure::new(Exit::System, format!("cannot listen for signals: {error}")))
    };
    let (mut ended, mut interrupted) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    Ok(async move {
        tokio::select! {
            _ = ended.recv() => {}
            _ = interrupted.recv() => {}
        }
    })
}
