//! `turn`: what a durable turn of an agent costs beside the least that it could, and how much memory sessions hold that wait.
//!
//! A scripted model answers at once: ten times with the call of a tool, then with a text. One side is abide's loop, with
//! every answer and every result in SQLite before anything follows from it. The other side sends the very same requests
//! with a bare client, reads the answers to their end, and commits as often as the loop does, as many bytes. Each side is a
//! process of its own, and the model is in neither.

use crate::langgraph;
use crate::measure::{self, Cost};
use crate::runs::Bars;
use abide_core::capability::{Risk, Tier, ToolName};
use abide_core::definition::{Config, ProviderName};
use abide_core::event::{RunId, Timestamp};
use abide_core::model::{ModelFacts, Part, Patience, Provider};
use abide_core::policy::ToolKind;
use abide_core::turn::{Envelope, SessionCreated, TurnEnd, TurnEvent};
use abide_core::value::Secret;
use abide_engine::port::{
    Beside, Clock, Later, NobodyToAsk, SessionId, Stop, Stopper, Tool, ToolContext, ToolError, ToolOutput,
    ToolSpec,
};
use abide_engine::toolbox::Toolbox;
use abide_engine::turn::{Agent, CallTree, Heard, ModelSeat, OpenGate, OwnTiers, SessionLog};
use abide_models::{HttpModel, Proxies};
use abide_store_sqlite::{Settings, SqliteStore};
use abide_testkit::model::{Fault, ModelServer, Request, Script, ToolCall, Turn};
use anyhow::{Context, ensure};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

/// At most so many times the CPU of the bare client.
const MOST_CPU: f64 = 1.5;
/// At most so many megabytes for [`WAITING`] sessions.
const MOST_MEGABYTES: f64 = 500.0;
const WAITING: usize = 1_000;
/// How many scripted models they wait for: each takes some hundred connections at once.
const SERVERS: usize = 5;
/// How many tools a turn calls, one after the other.
const CALLS: usize = 10;
/// What the loop commits: the session, what it is told, each answer, each result, the end.
const COMMITS: usize = 1 + 1 + (CALLS + 1) + CALLS + 1;
/// How often all of it is tried on a machine that has other things to do; what is too slow is so every time.
const TRIES: usize = 4;

pub(crate) fn run(quick: bool) -> anyhow::Result<ExitCode> {
    let (turns, rounds) = if quick { (50, 3) } else { (200, 7) };
    for try_number in 1..=TRIES {
        let mut bars = Bars::default();
        cpu(turns, rounds, &mut bars)?;
        memory(&mut bars)?;
        if bars.report() {
            return Ok(ExitCode::SUCCESS);
        }
        if try_number < TRIES {
            println!("\nagain, in case the machine was busy:");
        }
    }
    Ok(ExitCode::FAILURE)
}

fn cpu(turns: u32, rounds: usize, bars: &mut Bars) -> anyhow::Result<()> {
    let server = ModelServer::start(Script::function(answer))?;
    let folder = tempfile::tempdir()?;
    let bodies = folder.path().join("bodies.json");
    // Once to see what the loop sends: the bare client sends the same.
    side("durable", &[&server.url(), "1", &shown(&folder.path().join("first.db"))])?;
    let sent: Vec<Value> = server.turns().iter().map(|request| request.body.clone()).collect();
    ensure!(sent.len() == CALLS + 1, "the loop asked {} times", sent.len());
    std::fs::write(&bodies, serde_json::to_string(&sent)?)?;
    let bytes = std::fs::metadata(folder.path().join("first.db"))?.len().min(64 << 10) as usize / COMMITS;
    let (mut durable, mut least) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        // A new one each time: a scripted model keeps what it was asked.
        let server = ModelServer::start(Script::function(answer))?;
        let at = |name: &str| shown(&folder.path().join(format!("{name}-{round}.db")));
        let count = turns.to_string();
        durable.push(side("durable", &[&server.url(), &count, &at("durable")])?);
        least.push(side("bare", &[&server.url(), &count, &at("bare"), &shown(&bodies), &bytes.to_string()])?);
    }
    let (durable, least) = (Cost::least(&durable), Cost::least(&least));
    println!("{turns} turns with {CALLS} calls each, {COMMITS} commits a turn; the least of {rounds} rounds");
    for (name, cost) in [("abide's loop", durable), ("bare client and commits", least)] {
        let each = |time: Duration| time.as_secs_f64() * 1e3 / f64::from(turns);
        println!("{name:<28}{:>8.2} ms CPU a turn{:>8.2} ms wall", each(cost.cpu), each(cost.wall));
    }
    beside(durable.cpu / turns, folder.path())?;
    bars.hold(
        "a durable turn, CPU: to a bare client",
        durable.cpu.as_secs_f64() / least.cpu.as_secs_f64(),
        MOST_CPU,
    );
    Ok(())
}

/// Prints what `LangGraph` takes for the same turn, which is no bar.
fn beside(own: Duration, folder: &Path) -> anyhow::Result<()> {
    const TURNS: u32 = 10;
    let Some(python) = langgraph::python() else {
        println!("LangGraph is left out: ABIDE_BENCH_LANGGRAPH names no Python that has it");
        return Ok(());
    };
    let server = ModelServer::start(Script::function(answer))?;
    let theirs = langgraph::turn(&python, &server.url(), TURNS, folder)?;
    let ratio = theirs.as_secs_f64() / own.as_secs_f64();
    println!(
        "{:<28}{:>8.2} ms CPU a turn, {ratio:.1} times abide's loop",
        "LangGraph, SQLite",
        theirs.as_secs_f64() * 1e3
    );
    Ok(())
}

fn memory(bars: &mut Bars) -> anyhow::Result<()> {
    more_files()?;
    let silent = || ModelServer::start(Script::function(|_| Turn::fault(Fault::Silent)));
    let servers: Vec<ModelServer> = (0..SERVERS).map(|_| silent()).collect::<Result<_, _>>()?;
    let urls: Vec<String> = servers.iter().map(ModelServer::url).collect();
    let folder = tempfile::tempdir()?;
    let count = WAITING.to_string();
    let cost = side("waiting", &[&urls.join(","), &count, &shown(&folder.path().join("waiting.db"))])?;
    let asked: usize = servers.iter().map(|server| server.turns().len()).sum();
    ensure!(asked == WAITING, "{asked} of {WAITING} sessions asked");
    // A byte as a microsecond: a division that loses nothing.
    let megabytes = Duration::from_micros(cost.memory).as_secs_f64();
    println!("{WAITING} sessions that wait for their models: {megabytes:.0} MB");
    bars.hold(format!("{WAITING} waiting sessions, in megabytes"), megabytes, MOST_MEGABYTES);
    Ok(())
}

fn answer(request: &Request) -> Turn {
    let results: usize = request.messages.iter().map(|message| message.results.len()).sum();
    if results < CALLS {
        Turn::call(ToolCall::new(
            "look",
            json!({ "path": format!("src/file_{results}.rs"), "line": results }),
        ))
    } else {
        Turn::text("All ten files were looked at, and they are as they should be.")
    }
}

fn side(name: &str, arguments: &[&str]) -> anyhow::Result<Cost> {
    let program = std::env::current_exe()?;
    let arguments: Vec<&str> = ["turn-side", name].into_iter().chain(arguments.iter().copied()).collect();
    measure::process(program.as_os_str(), &arguments)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// One side of a comparison, in a process of its own.
pub(crate) fn other(words: &[&str]) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match *words {
        ["durable", url, turns, file] => runtime.block_on(durable(url, turns.parse()?, file.as_ref()))?,
        ["bare", url, turns, file, bodies, bytes] => {
            runtime.block_on(bare(url, turns.parse()?, file.as_ref(), bodies.as_ref(), bytes.parse()?))?;
        }
        ["waiting", url, count, file] => runtime.block_on(waiting(url, count.parse()?, file.as_ref()))?,
        _ => anyhow::bail!("no such side"),
    }
    Ok(ExitCode::SUCCESS)
}

async fn durable(url: &str, turns: usize, file: &Path) -> anyhow::Result<()> {
    let store = Arc::new(SqliteStore::open(file, Settings::new(now))?);
    let agent = agent(url)?;
    for number in 0..turns {
        let mut session = session(&store, number).await?;
        let message = vec![Part::Text("Look at all ten files.".to_owned())];
        let report = agent.turn(&mut session, message, None, &Stop::never()).await?;
        ensure!(report.end == TurnEnd::Finished, "{}", report.end);
    }
    Ok(())
}

async fn bare(url: &str, turns: usize, file: &Path, bodies: &Path, bytes: usize) -> anyhow::Result<()> {
    let bodies: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(bodies)?)?;
    let database = rusqlite::Connection::open(file)?;
    database.pragma_update(None, "journal_mode", "wal")?;
    database.pragma_update(None, "synchronous", "full")?;
    database.execute_batch("create table events (seq integer primary key, data text)")?;
    let data = "x".repeat(bytes);
    // As the adapter does; an error says that somebody has.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();
    for _ in 0..turns {
        let mut commits = 0;
        let mut commit = || {
            commits += 1;
            database.prepare_cached("insert into events (data) values (?1)")?.execute([&data])
        };
        commit()?;
        for body in &bodies {
            commit()?;
            let request = client.post(format!("{url}/v1/chat/completions"));
            let request =
                request.header("content-type", "application/json").header("authorization", "Bearer key");
            let mut response = request.body(serde_json::to_vec(body)?).send().await?.error_for_status()?;
            while let Some(piece) = response.chunk().await? {
                ensure!(!piece.is_empty());
            }
            commit()?;
        }
        commit()?;
        ensure!(commits == COMMITS, "{commits} commits");
    }
    Ok(())
}

async fn waiting(urls: &str, count: usize, file: &Path) -> anyhow::Result<()> {
    more_files()?;
    let store = Arc::new(SqliteStore::open(file, Settings::new(now))?);
    let (stopper, stop) = Stopper::pair();
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = |url: &str| -> anyhow::Result<Arc<Agent<SystemClock>>> {
        let counted = Arc::clone(&asked);
        let watch = move |heard| -> Later<()> {
            if matches!(heard, Heard::Happened(TurnEvent::Asked)) {
                counted.fetch_add(1, Ordering::SeqCst);
            }
            Box::pin(std::future::ready(()))
        };
        Ok(Arc::new(Agent { watch: Some(Arc::new(watch)), ..agent(url)? }))
    };
    let agents = urls.split(',').map(counting).collect::<anyhow::Result<Vec<_>>>()?;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..count {
        let mut session = session(&store, number).await?;
        let (agent, stop) = (Arc::clone(&agents[number % agents.len()]), stop.clone());
        tasks.spawn(async move {
            let message = vec![Part::Text("Look at all ten files. ".repeat(100))];
            let report = agent.turn(&mut session, message, None, &stop).await;
            report.is_ok_and(|report| report.end == TurnEnd::Cancelled)
        });
    }
    for _ in 0..600 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        if asked.load(Ordering::SeqCst) == count {
            break;
        }
    }
    // The last ones are still on their way to the model.
    tokio::time::sleep(Duration::from_secs(5)).await;
    stopper.stop();
    while let Some(ended) = tasks.join_next().await {
        ensure!(ended?, "a session did not wait");
    }
    Ok(())
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(now())
    }

    async fn sleep_until(&self, moment: Timestamp) {
        tokio::time::sleep(moment.since(self.now())).await;
    }

    fn new_run(&self) -> RunId {
        // Invariant: letters are an id. No run is made here.
        RunId::parse("none").unwrap_or_else(|| unreachable!("`none` is an id"))
    }
}

struct Look(ToolSpec);

impl Tool for Look {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call(&self, arguments: Value, _: ToolContext) -> Later<Result<ToolOutput, ToolError>> {
        Box::pin(async move { Ok(ToolOutput::Text(format!("{} is as it should be", arguments["path"]))) })
    }
}

async fn session(store: &Arc<SqliteStore>, number: usize) -> anyhow::Result<SessionLog<SqliteStore>> {
    let id = SessionId::parse(&format!("session-{number}")).context("an id")?;
    let created =
        SessionCreated { agent: "bench".into(), model: "openai/bench".into(), ..SessionCreated::default() };
    Ok(SessionLog::create(Arc::clone(store), id, created).await?)
}

fn agent(url: &str) -> anyhow::Result<Agent<SystemClock>> {
    let name = ProviderName::parse("openai")?;
    let mut provider = Provider::find(&Config::default(), &name, |_| None)?;
    provider.url = format!("{url}/v1");
    let model = HttpModel::new(provider, Some(Secret::new("key")), &Proxies::of(|_| None))?;
    let look = ToolSpec {
        name: ToolName::parse("look").context("a name")?,
        description: "Look at a file of the project.".to_owned(),
        arguments: json!({
            "type": "object",
            "properties": { "path": { "type": "string" }, "line": { "type": "integer" } },
            "required": ["path"]
        }),
        kind: ToolKind::Read,
        risk: Risk::Medium,
        tier: Tier::Auto,
        beside: Beside::Others,
        examples: Vec::new(),
    };
    Ok(Agent {
        clock: Arc::new(SystemClock),
        model: ModelSeat {
            model: Arc::new(model),
            name: "bench".to_owned(),
            facts: ModelFacts::default(),
            patience: Patience::default(),
        },
        system: "You look at files, and say what you see. ".repeat(50),
        toolbox: Toolbox::new([Arc::new(Look(look)) as Arc<dyn Tool>])?,
        schema: None,
        permissions: Arc::new(OwnTiers),
        gate: Arc::new(OpenGate),
        confirm: Arc::new(NobodyToAsk),
        tree: CallTree::new(Envelope::default()),
        watch: None,
    })
}

/// Lets this process have as many connections as sessions need.
fn more_files() -> anyhow::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most.min(65_536), most)?;
    Ok(())
}
