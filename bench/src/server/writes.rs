//! What is made: beside the same SQL in the same transactions by hand, in a file of the same tables.
//!
//! Under load, those that come while the disk is waited for share what comes next, and that is held. One after the other, every request
//! waits for the disk as long as the SQL alone does and, in addition, is carried there and back between two processes: how many times
//! as long that is says more about the disk, and is printed only.

use super::by_hand::{self, Made, SESSIONS, Took};
use super::{Extent, Served, key, project, verdict};
use abide_testkit::model::{Fault, ModelServer, Script, Turn};
use anyhow::Context as _;
use std::path::Path;
use std::time::{Duration, Instant};

/// How many times as long as the SQL alone a request may take.
const MOST: f64 = 1.3;
/// How many ask at once.
const CONNECTIONS: usize = 16;

pub(super) fn run(extent: Extent) -> anyhow::Result<bool> {
    println!("\n{:<28} {:>12} {:>12}", "POST", "µs each", "µs of CPU");
    let mut kept = true;
    for (name, made) in [("agents", Made::Agent), ("sessions", Made::Session), ("messages", Made::Message)] {
        kept &= compare(name, made, extent)?;
    }
    Ok(kept)
}

fn compare(name: &str, made: Made, extent: Extent) -> anyhow::Result<bool> {
    let (mut single, mut many, mut alone) = (None, None, None);
    for _ in 0..extent.rounds {
        let (one, other) = (project()?, project()?);
        let (each, at_once) = served(one.path(), made, extent.changes)?;
        single = Some(Took::least(single, each));
        many = Some(Took::least(many, at_once));
        alone = Some(Took::least(alone, by_hand::make(other.path(), made, extent.changes)?));
    }
    let (Some(single), Some(many), Some(alone)) = (single, many, alone) else { return Ok(true) };
    let sides = [("abide, one after the other", single), ("abide, 16 at once", many), ("SQL alone", alone)];
    for (side, took) in sides {
        #[expect(clippy::cast_precision_loss, reason = "a number of changes")]
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / extent.changes as f64;
        println!("{name:<9} {side:<27} {:>9.1} {:>9.1}", micros(took.wall), micros(took.cpu));
    }
    let ratio = |took: Took| took.wall.as_secs_f64() / alone.wall.as_secs_f64();
    println!("printed: {name}, one after the other, to the SQL alone: {:.2} times", ratio(single));
    Ok(verdict(&format!("{name}, 16 at once, to the SQL alone"), ratio(many), MOST))
}

/// Makes them over HTTP, one after the other and then at once.
fn served(folder: &Path, made: Made, count: usize) -> anyhow::Result<(Took, Took)> {
    let key = key(folder)?;
    // A model that never answers: what is said while a turn waits for it is kept, and not told.
    let model = ModelServer::start(Script::function(|_| Turn::fault(Fault::Silent)))?;
    let served = Served::with_model(folder, &model.url())?;
    let caller = served.caller_with(&key);
    let post = |path: &str, body: String| -> anyhow::Result<String> {
        let made: serde_json::Value = serde_json::from_str(&caller.once("POST", path, &body)?)?;
        Ok(made["id"].as_str().context("an id")?.to_owned())
    };
    let agent = |number: usize| {
        format!(
            r#"{{"name": "Agent {number}", "system_prompt": "You are number {number}.", "capabilities": ["current_time"]}}"#
        )
    };
    let said = |number: usize| format!(r#"{{"text": "This is number {number}."}}"#);
    let sessions: Vec<String> = match made {
        Made::Agent => Vec::new(),
        Made::Session => vec![format!("/v1/agents/{}/sessions", post("/v1/agents", agent(0))?)],
        Made::Message => {
            let place = format!("/v1/agents/{}/sessions", post("/v1/agents", agent(0))?);
            let begun = || post(&place, "{}".to_owned()).map(|id| format!("/v1/sessions/{id}/messages"));
            (0..SESSIONS).map(|_| begun()).collect::<anyhow::Result<_>>()?
        }
    };
    if made == Made::Message {
        for path in &sessions {
            post(path, said(0))?;
        }
        until(|| model.turns().len() == SESSIONS)?;
    }
    let ask = |number: usize| match made {
        Made::Agent => ("POST", "/v1/agents".to_owned(), agent(number)),
        Made::Session => ("POST", sessions[0].clone(), format!(r#"{{"title": "Session {number}"}}"#)),
        Made::Message => ("POST", sessions[number % SESSIONS].clone(), said(number)),
    };
    let measured = |connections: usize| -> anyhow::Result<Took> {
        caller.ask(connections, count / 10, &ask)?;
        let before = served.cpu()?;
        let wall = caller.ask(connections, count, &ask)?;
        Ok(Took { wall, cpu: served.cpu()?.saturating_sub(before) })
    };
    let took = (measured(1)?, measured(CONNECTIONS)?);
    anyhow::ensure!(made != Made::Message || model.turns().len() == SESSIONS, "a message was told");
    Ok(took)
}

/// Waits for something that comes soon.
pub(super) fn until(come: impl Fn() -> bool) -> anyhow::Result<()> {
    let began = Instant::now();
    while !come() {
        anyhow::ensure!(began.elapsed() < Duration::from_secs(30), "it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
