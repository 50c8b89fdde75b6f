//! `abide skill run NAME [ARGUMENT…]`: a skill as an agent of its own, bounded as it says, with the tools and the rules of
//! an agent.

use crate::builtin::skills::{Bounds, By, Order, Unrun};
use crate::builtin::{Here, Manner, Purpose, SessionGate, Wanted};
use crate::commands::chat::sessions::new_session;
use crate::commands::chat::shown::Shown;
use crate::commands::chat::terminal::{Asked, AtTerminal, Lines};
use crate::commands::chat::{exit, taken_back};
use crate::human::is_here;
use crate::runs;
use crate::session::Session;
use crate::skills::{Reader, Shelf};
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_core::model::ModelName;
use abide_core::skill::text::Arguments;
use abide_core::turn::TurnEnd;
use abide_engine::port::{Confirm, NobodyToAsk, Stopper};
use abide_engine::turn::Watch;
use serde_json::json;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::unbounded_channel;

/// What was typed.
pub(super) struct Typed<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a [String],
    pub(super) agent: &'a str,
    pub(super) model: Option<&'a str>,
}

pub(super) fn run(session: &mut Session<'_>, typed: &Typed<'_>) -> Result<Exit, Failure> {
    // Asked before anything is started, so that what is wrong with the skill is said by itself.
    let shelf = Shelf::open(session);
    let loaded = super::load(&shelf, typed.name, Reader::Person)?;
    super::trusting::offer(session, &shelf, &loaded)?;
    let model = match typed.model {
        None => loaded.model(),
        Some(name) => Some(ModelName::parse(name).map_err(|error| {
            Failure::new(Exit::Usage, error.to_string()).help(abide_core::model::BadModelName::HELP)
        })?),
    };
    runs::block_on(execute(session, typed, model))?
}

async fn execute(
    session: &mut Session<'_>,
    typed: &Typed<'_>,
    model: Option<ModelName>,
) -> Result<Exit, Failure> {
    let (asking, mut asked) = unbounded_channel();
    let confirm: Arc<dyn Confirm> = if is_here(session.surroundings) {
        Arc::new(AtTerminal::new(asking, runs::user(session)))
    } else {
        Arc::new(NobodyToAsk)
    };
    let id = new_session()?;
    let gate = SessionGate::new(session.surroundings, id.as_str(), typed.agent, session.place.root());
    let wanted = Wanted {
        agent: typed.agent.to_owned(),
        model,
        // A skill starts no runs, so it needs nothing to start them with.
        purpose: Purpose::Talk(gate, None),
        manner: Manner::Talk,
        mark: format!("skill/{id}"),
        confirm,
    };
    let here = Here::of(session);
    let (seat, workshop) = here.furnished(&wanted).await.map_err(|why| Failure::new(Exit::Refused, why))?;
    let (telling, mut heard) = unbounded_channel();
    let watch: Watch = Arc::new(move |heard| {
        // Whoever shows it may be gone.
        let _ = telling.send(heard);
        Box::pin(std::future::ready(()))
    });
    let order = Order {
        name: typed.name,
        arguments: Arguments::of(typed.arguments.to_vec()),
        by: By::Person,
        bounds: &Bounds::default(),
        tree: seat.tree,
        parent: None,
        watch: Some(watch),
    };
    let (stopper, stop) = Stopper::pair();
    let mut keys = signal(SignalKind::interrupt())
        .map_err(|error| Failure::new(Exit::System, format!("cannot listen for Ctrl-C: {error}")))?;
    let mut lines = Lines::new();
    let mut shown = Shown::new(String::new());
    let json = session.json;
    let running = workshop.run(order, &stop);
    tokio::pin!(running);
    let mut question: Option<Asked> = None;
    let ran = loop {
        tokio::select! {
            biased;
            Some(heard) = heard.recv() => if !json {
                shown.tell(session, heard)?;
            },
            Some(next) = asked.recv() => {
                lines.forget();
                session.say(&next.text())?;
                question = Some(next);
            }
            () = taken_back(&mut question), if question.is_some() => {
                question = None;
                session.say("\n(it is not asked any more)\n")?;
            }
            line = lines.next(), if question.is_some() => {
                question = question.take().and_then(|asked| asked.answer(line.as_deref()));
            }
            _ = keys.recv() => {
                session.say("\nstopping\n")?;
                stopper.stop();
            }
            ran = &mut running => break ran,
        }
    };
    while let Ok(heard) = heard.try_recv() {
        if !json {
            shown.tell(session, heard)?;
        }
    }
    let ran = ran.map_err(|why| match why {
        Unrun::Unfit(unfit) => super::unfit(typed.name, unfit),
        Unrun::Failed(why) => Failure::new(Exit::System, why),
    })?;
    let report = ran.report;
    if json {
        let problem = match &report.end {
            TurnEnd::Finished => None,
            end => Some(end.to_string()),
        };
        session.print_json(&json!({
            "name": typed.name,
            "text": report.text,
            "problem": problem,
            "notes": ran.notes,
            "turns": report.spent.turns,
            "tokens": report.spent.usage.tokens(),
        }))?;
    } else {
        shown.end(session, &report.end)?;
        for note in &ran.notes {
            session.say(&format!("note: {}\n", visible(note, true)))?;
        }
    }
    Ok(exit(&report.end))
}
