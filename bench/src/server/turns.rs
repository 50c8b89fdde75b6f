//! Turns at once: two hundred agents that talk with a model which takes its time, beside the least that this could take.
//!
//! The ideal is what nobody can do without: the questions of one turn, one after the other, each as late as the model is; and the
//! time in which the same model, now without being late, answers the same questions of all turns to a bare client, which asks them
//! at once and keeps nothing.

use super::load::Caller;
use super::writes::until;
use super::{Extent, Served, key, project, verdict};
use abide_testkit::model::{Fault, ModelServer, Request, Script, ToolCall, Turn};
use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many times the ideal it may take.
const MOST: f64 = 1.5;
const TURNS: usize = 200;
/// How late the model is.
const LATE: Duration = Duration::from_millis(50);
/// The time zones that a turn asks for, one after the other, before its answer.
const ZONES: [&str; 3] = ["UTC", "Asia/Tokyo", "Europe/Berlin"];
const QUESTIONS: usize = ZONES.len() + 1;
const CONNECTIONS: usize = 16;

pub(super) fn run(extent: Extent) -> anyhow::Result<bool> {
    let folder = tempfile::tempdir()?;
    let bodies = folder.path().join("bodies.json");
    let (mut ours, mut floor, mut bare): (Option<Duration>, Option<Duration>, Option<Duration>) =
        (None, None, None);
    let least = |known: Option<Duration>, took: Duration| Some(known.map_or(took, |known| known.min(took)));
    for _ in 0..extent.rounds {
        // What is asked is written down for the bare client.
        ours = least(ours, served(&bodies)?);
        floor = least(floor, asked(&bodies, Duration::ZERO)?);
        bare = least(bare, asked(&bodies, LATE)?);
    }
    let (Some(ours), Some(floor), Some(bare)) = (ours, floor, bare) else { return Ok(true) };
    let waited = LATE * u32::try_from(QUESTIONS)?;
    let ideal = waited + floor;
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "\n{TURNS} turns at once with {QUESTIONS} questions each, and a model that is {} ms late",
        millis(LATE)
    );
    println!("abide                                   {:>8.0} ms", millis(ours));
    println!(
        "ideal: {:.0} ms late, {:.0} ms to answer   {:>8.0} ms",
        millis(waited),
        millis(floor),
        millis(ideal)
    );
    println!("bare client, late answers               {:>8.0} ms", millis(bare));
    Ok(verdict("turns at once, to the ideal", ours.as_secs_f64() / ideal.as_secs_f64(), MOST))
}

/// Asks for the time in each zone, then answers.
fn model(late: Duration) -> anyhow::Result<ModelServer> {
    let answer = move |request: &Request| {
        let results: usize = request.messages.iter().map(|message| message.results.len()).sum();
        let turn = match ZONES.get(results) {
            Some(zone) => Turn::call(ToolCall::new("current_time", json!({ "timezone": zone }))),
            None => Turn::text("It is the same moment everywhere."),
        };
        if late.is_zero() { turn } else { turn.with(Fault::Late(late)) }
    };
    Ok(ModelServer::start(Script::function(answer))?)
}

/// Lets abide do it; writes down what it asks in one turn.
fn served(bodies: &Path) -> anyhow::Result<Duration> {
    let (project, model) = (project()?, model(LATE)?);
    let key = key(project.path())?;
    let served = Served::with_model(project.path(), &model.url())?;
    let caller = served.caller_with(&key);
    let post = |path: &str, body: &str| -> anyhow::Result<Value> {
        Ok(serde_json::from_str(&caller.once("POST", path, body)?)?)
    };
    let body =
        r#"{"name": "Clock", "system_prompt": "You tell the time.", "capabilities": ["current_time"]}"#;
    let agent = post("/v1/agents", body)?["id"].as_str().context("an id")?.to_owned();
    let session = || -> anyhow::Result<String> {
        let made = post(&format!("/v1/agents/{agent}/sessions"), "{}")?;
        Ok(format!("/v1/sessions/{}/messages", made["id"].as_str().context("an id")?))
    };
    let said = r#"{"text": "What time is it in London, Tokyo and Berlin?"}"#;
    post(&session()?, said)?;
    until(|| finished(&caller).is_ok_and(|finished| finished == 1))?;
    let sent: Vec<Value> = model.turns().iter().map(|request| request.body.clone()).collect();
    ensure!(sent.len() == QUESTIONS, "a turn asked {} times", sent.len());
    std::fs::write(bodies, serde_json::to_string(&sent)?)?;
    let sessions: Vec<String> = (0..TURNS).map(|_| session()).collect::<anyhow::Result<_>>()?;
    let began = Instant::now();
    caller.ask(CONNECTIONS, TURNS, &|number| ("POST", sessions[number].clone(), said.to_owned()))?;
    until(|| finished(&caller).is_ok_and(|finished| finished == TURNS + 1))?;
    let took = began.elapsed();
    ensure!(model.turns().len() == QUESTIONS * (TURNS + 1), "{} questions", model.turns().len());
    for path in &sessions {
        let ended = || {
            let shown = caller.once("GET", path, "").unwrap_or_default();
            shown.contains(r#""status":"finished""#) && shown.contains("the same moment everywhere")
        };
        until(ended).with_context(|| path.clone())?;
    }
    Ok(took)
}

/// Returns how many turns have come to their end.
fn finished(caller: &Caller) -> anyhow::Result<usize> {
    let metrics = caller.once("GET", "/v1/metrics", "")?;
    let line = metrics.lines().find_map(|line| line.strip_prefix(r#"abide_turns_total{end="finished"} "#));
    Ok(line.unwrap_or("0").parse()?)
}

/// Lets the bare client do it.
fn asked(bodies: &Path, late: Duration) -> anyhow::Result<Duration> {
    let model = model(late)?;
    let program = std::env::current_exe()?;
    let done = Command::new(program).arg("server-asks").arg(model.url()).arg(bodies).output()?;
    ensure!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    ensure!(model.turns().len() == QUESTIONS * TURNS, "{} questions", model.turns().len());
    Ok(Duration::from_nanos(String::from_utf8(done.stdout)?.trim().parse()?))
}

/// The bare client, in a process of its own: every turn asks its questions one after the other, and all turns go on at once.
pub(crate) fn ask(url: &str, bodies: &str) -> anyhow::Result<ExitCode> {
    let bodies: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(bodies)?)?;
    let bodies = Arc::new(bodies);
    // As the adapter does; an error says that somebody has.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let took = runtime.block_on(async {
        let began = Instant::now();
        let mut turns = tokio::task::JoinSet::new();
        for _ in 0..TURNS {
            let (client, bodies, url) = (client.clone(), Arc::clone(&bodies), format!("{url}/v1/messages"));
            turns.spawn(async move {
                for body in &*bodies {
                    let request = client.post(&url).header("content-type", "application/json");
                    let request =
                        request.header("x-api-key", "none").header("anthropic-version", "2023-06-01");
                    let mut response =
                        request.body(serde_json::to_vec(body)?).send().await?.error_for_status()?;
                    while let Some(piece) = response.chunk().await? {
                        ensure!(!piece.is_empty());
                    }
                }
                Ok::<(), anyhow::Error>(())
            });
        }
        while let Some(turn) = turns.join_next().await {
            turn??;
        }
        Ok::<_, anyhow::Error>(began.elapsed())
    })?;
    println!("{}", took.as_nanos());
    Ok(ExitCode::SUCCESS)
}
