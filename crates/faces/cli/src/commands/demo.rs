//! `abide demo`: what abide does, played in a folder that is gone afterwards.
#![expect(clippy::disallowed_methods, reason = "the demo writes its own project")]

use super::audit;
use super::drive::{Asking, drive};
use crate::args::{DemoArguments, GivenArguments};
use crate::human::is_here;
use crate::runs::{self, Progress};
use crate::session::Session;
use crate::{Exit, Failure};
use abide_engine::service;
use std::sync::Arc;

const FILES: &[(&str, &str)] = &[
    ("release.yaml", include_str!("../../templates/demo/release.yaml")),
    ("release-notes.yaml", include_str!("../../templates/demo/release-notes.yaml")),
];

pub(crate) fn demo(session: &mut Session<'_>, arguments: &DemoArguments) -> Result<Exit, Failure> {
    let failed = |error| Failure::new(Exit::System, format!("cannot write a temporary project: {error}"));
    let project = tempfile::Builder::new().prefix("abide-demo-").tempdir().map_err(failed)?;
    let root = project.path().canonicalize().map_err(failed)?;
    let folder = root.join(".abide/abilities");
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for (name, content) in FILES {
        std::fs::write(folder.join(name), content).map_err(failed)?;
    }
    let mut inner = session.alone_in(root);
    let exit = play(&mut inner, arguments);
    project.close().map_err(failed)?;
    exit
}

fn play(session: &mut Session<'_>, arguments: &DemoArguments) -> Result<Exit, Failure> {
    if !session.json {
        session.say(
            "This plays `release`, an ability of six steps, in a temporary project:\n\
             a build, two tests side by side (one has to be tried twice), an approval,\n\
             another ability that writes the notes, and the release itself.\n\n",
        )?;
    }
    let human = is_here(session.surroundings) && !arguments.yes;
    if !human && !session.json {
        session.say("nobody can be asked here, so the approval is answered with a yes\n\n")?;
    }
    let asking = if human { Asking::Human } else { Asking::FirstOption };
    let given = GivenArguments { input: Vec::new(), inputs: None, text: None };
    let start = runs::start_of(session, "release", &given)?;
    let (progress, told) = Progress::new();
    let driver = runs::driver(session, runs::open_store(session)?, Arc::new(progress));
    runs::block_on(async {
        let started = service::start(&driver, start).await;
        let id = started.map_err(|error| runs::service_failure(&error))?;
        let exit = drive(session, &driver, id.clone(), told, asking, None).await?;
        if !session.json {
            session
                .say("\nthe log of the run; every event is chained to the one before it by its hash\n\n")?;
            if let Some(store) = runs::find_store(session)? {
                audit::show(session, &store, &id).await?;
            }
            session.say(
                "\nnext\n  abide init       writes a first ability into this folder\n  abide plan NAME  shows what a run would do\n  abide run NAME   runs it\n",
            )?;
        }
        Ok(exit)
    })?
}
