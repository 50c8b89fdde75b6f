//! What the steps of a run wrote, streamed; with `follow`, as they write it.

use super::refusals;
use super::runs::{id, loaded};
use crate::ask::{Ask, bad};
use crate::door::{Answered, Door, closed};
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use crate::standing::Guest;
use abide_core::event::{RunId, StepKey};
use abide_core::run::Run;
use abide_engine::port::{OutputKey, Store as _};
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::watch;

/// How many bytes of an output are read at once.
const CHUNK: u64 = 64 * 1024;
/// How often a run is looked at that another process drives: what steps write is no event, and only its driver knows of it.
const LOOK: Duration = Duration::from_secs(1);
/// How long writing is collected before it is read.
const COLLECT: Duration = Duration::from_millis(50);

/// Which outputs are wanted.
struct Wanted<H> {
    step: Option<String>,
    channels: &'static [&'static str],
    follow: bool,
    /// By whom.
    guest: Guest<H>,
    /// How often it is looked whether they still may.
    beat: Duration,
}

pub(super) async fn stream<H: House>(door: &Door<H>, ask: &Ask) -> Answered {
    let id = id(ask)?;
    let channels: &'static [&'static str] = match ask.query("channel") {
        None => &["stdout", "stderr"],
        Some("stdout") => &["stdout"],
        Some("stderr") => &["stderr"],
        Some(_) => return Err(bad("channel", "is stdout or stderr")),
    };
    let follow = ask.flag("follow")?;
    let run = loaded(&*door.house, &id).await?;
    let step = ask.query("step").map(str::to_owned);
    if let Some(step) = &step
        && StepKey::parse(step).and_then(|key| run.position(key.step.as_str())).is_none()
    {
        return Err(Problem::new(Code::NotFound, format!("run {id} has no step `{step}`")));
    }
    let room = door.rooms.stream(&ask.who)?;
    let (sender, parts) = channel(4);
    let (house, closing) = (Arc::clone(&door.house), door.closing());
    let wanted = Wanted { step, channels, follow, guest: door.guest(ask), beat: door.times.heartbeat };
    tokio::spawn(async move {
        // A log that breaks off cannot be told from one that ends here; whoever follows looks at the run.
        let _ = tell(&*house, &id, &wanted, &sender, closing).await;
    });
    Ok(Reply::stream("text/plain; charset=utf-8", parts, room))
}

async fn tell<H: House>(
    house: &H,
    id: &RunId,
    wanted: &Wanted<H>,
    sender: &Sender<Bytes>,
    mut closing: watch::Receiver<bool>,
) -> Result<(), Problem> {
    let mut told = HashMap::new();
    let mut written = house.fleet().follow(id);
    loop {
        written.borrow_and_update();
        if !wanted.guest.may_stay().await {
            return Ok(());
        }
        let at =
            abide_engine::load(house.driver().store(), id).await.map_err(|error| refusals::load(&error))?;
        if !tell_new(house, &at.run, wanted, &mut told, sender).await?
            || !wanted.follow
            || at.run.is_finished()
        {
            return Ok(());
        }
        tokio::select! {
            changed = written.changed() => {
                tokio::time::sleep(if changed.is_ok() { COLLECT } else { LOOK }).await;
                if changed.is_err() {
                    // Its driver here has left it.
                    written = house.fleet().follow(id);
                }
            }
            _ = house.driver().store().changed(id.as_str(), at.seq) => {}
            () = tokio::time::sleep(wanted.beat) => {}
            () = tokio::time::sleep(LOOK), if !house.fleet().drives(id) => {}
            () = sender.closed() => return Ok(()),
            () = closed(&mut closing) => return Ok(()),
        }
    }
}

/// Tells what was written since; returns whether somebody listens.
async fn tell_new<H: House>(
    house: &H,
    run: &Run,
    wanted: &Wanted<H>,
    told: &mut HashMap<OutputKey, u64>,
    sender: &Sender<Bytes>,
) -> Result<bool, Problem> {
    for (position, state) in run.steps.iter().enumerate() {
        for (index, instance) in state.instances.iter().enumerate() {
            let key = run.key(position, index);
            let other = |step: &String| *step != key.to_string() && *step != *key.step.as_str();
            if wanted.step.as_ref().is_some_and(other) {
                continue;
            }
            for attempt in 1..=instance.attempt {
                for channel in wanted.channels {
                    let output = OutputKey {
                        stream: run.id.to_string(),
                        attempt: format!("{key}#{attempt}"),
                        channel,
                    };
                    let from = told.entry(output.clone()).or_default();
                    loop {
                        let bytes = house.driver().store().read_output(&output, *from..*from + CHUNK).await;
                        let bytes = bytes.map_err(|error| refusals::store(&error))?;
                        if bytes.is_empty() {
                            break;
                        }
                        *from += bytes.len() as u64;
                        if !wanted.guest.may_stay().await {
                            return Ok(false);
                        }
                        if sender.send(Bytes::from(bytes)).await.is_err() {
                            return Ok(false);
                        }
                    }
                }
            }
        }
    }
    Ok(true)
}
