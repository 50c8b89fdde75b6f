//! What the MCP server asks, answered on this machine: runs are started for the session that asks, driven here, and held to
//! their steps by the gate.
//!
//! The server is told by nobody whose agent calls it. The hook that saw the call is, and left a ticket; without one no hook
//! stands before the agent, and what the gate could not enforce is not begun.

mod floor;
mod human;
mod look;
mod mine;
mod news;
mod report;
mod runner;
mod skills;
mod wait;

use crate::args::{Colour, Shared};
use crate::builtin::Here;
use crate::gate::gate;
use crate::runners::Briefed;
use crate::runs::{self, LocalDriver, SystemClock};
use crate::session::Session;
use crate::{Failure, Surroundings, runners};
use abide_core::policy::{Client, OwnTool};
use abide_core::value::Value;
use abide_engine::driver::Observer;
use abide_engine::port::Clock as _;
use abide_gate::tickets::{Called, Ticket, canonical};
use abide_gate::{Family, Gate, Relative, SessionId};
use abide_mcp::desk::{
    Caller, Cancellation, Content, Desk, MoreTool, Origin, Report, Resource, Start, Subject, Submission,
    Talk, Unreadable,
};
use floor::Floor;
use news::News;
use runner::SessionRunner;
use skills::SkillDesk;
use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::watch;

pub(crate) use human::OwnRun;
pub(crate) use wait::asked_of_a_human;

/// What an agent is told when it meets abide.
pub(crate) const INSTRUCTIONS: &str = "abide runs abilities: workflows whose steps are enforced. \
`ability_list` shows what there is, `ability_run` starts one. abide runs script steps itself. A step that is yours comes back as \
the result of the call: do it with the tools that it grants, then hand in the result with `ability_submit`; abide checks the \
evidence itself and gives you the next one. Approvals are given by a human, never by you. While a run is active, other tools are \
held back, and you cannot stop before it is done; `ability_status` tells where it is.";

/// The desk of this machine.
pub(crate) struct LocalDesk {
    surroundings: Surroundings,
    shared: Shared,
    /// The client: the process that started this one.
    client: Option<Relative>,
    gate: Option<Gate>,
    floor: Arc<Floor>,
    driver: OnceLock<LocalDriver>,
    /// Held while a run is taken up that nobody here drives.
    taking_up: tokio::sync::Mutex<()>,
    news: OnceLock<News>,
    skills: SkillDesk,
    /// How long a call is held while abide works.
    hold: Duration,
}

/// How long a call of a client is held; the shortest limit that one sets by itself is a minute.
const HOLD: Duration = Duration::from_secs(45);
/// The same for a loop of ours, which ends its calls itself.
const HOLD_LOOP: Duration = Duration::from_hours(24);

impl LocalDesk {
    /// Opens the desk for the client that started this process.
    pub(crate) fn new(surroundings: &Surroundings, shared: &Shared, client: Option<Relative>) -> Self {
        let gate = gate(surroundings);
        Self {
            surroundings: surroundings.clone(),
            shared: shared.clone(),
            client,
            floor: Arc::new(Floor::new(gate.clone())),
            gate,
            driver: OnceLock::new(),
            taking_up: tokio::sync::Mutex::default(),
            news: OnceLock::new(),
            skills: SkillDesk::default(),
            hold: HOLD,
        }
    }

    /// Opens the desk for a loop of this process.
    pub(crate) fn for_loop(surroundings: &Surroundings, shared: &Shared) -> Self {
        Self { hold: HOLD_LOOP, ..Self::new(surroundings, shared, None) }
    }

    /// Returns the runs that are driven here.
    pub(crate) fn floor(&self) -> Arc<Floor> {
        Arc::clone(&self.floor)
    }

    /// Does something as a command would that was started here; what it prints is returned.
    fn command<T>(
        &self,
        json: bool,
        work: impl FnOnce(&mut Session<'_>) -> Result<T, Failure>,
    ) -> Result<(T, String), Failure> {
        let (mut out, mut talk) = (Vec::new(), io::sink());
        let shared = Shared { json, color: Colour::Never, ..self.shared.clone() };
        let mut session = Session::open(&self.surroundings, &shared, &mut out, &mut talk)?;
        let done = work(&mut session)?;
        Ok((done, String::from_utf8_lossy(&out).into_owned()))
    }

    /// Does something that prints nothing.
    fn quietly<T>(&self, work: impl FnOnce(&Session<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        self.command(false, |session| work(session)).map(|(done, _)| done)
    }

    /// Returns the driver of this project's runs; the log is made with the first of them.
    fn driver(&self) -> Result<LocalDriver, Failure> {
        if let Some(driver) = self.driver.get() {
            return Ok(driver.clone());
        }
        let driver = self.quietly(|session| {
            let store = runs::open_store(session)?;
            let observer: Arc<dyn Observer> = Arc::clone(&self.floor) as _;
            let runner = SessionRunner { floor: Arc::clone(&self.floor) };
            let runner = Arc::new(Briefed::new(Arc::new(runner), Arc::new(Here::of(session))));
            Ok(runners::session_driver(session, store, observer, runner))
        })?;
        // Whoever was quicker made the one that all use.
        Ok(self.driver.get_or_init(|| driver).clone())
    }

    /// Takes the ticket that a hook left for a call: who makes it.
    fn ticket(
        &self,
        tool: OwnTool,
        ability: Option<&str>,
        raw: Option<&serde_json::Value>,
        caller: &Caller,
    ) -> Result<Option<Ticket>, Report> {
        if let Origin::Loop { session, agent } = &caller.origin {
            return Ok(Some(own_ticket(session, agent, tool, ability)));
        }
        let (Some(gate), Some(client), Origin::Stdio) = (&self.gate, &self.client, &caller.origin) else {
            return Ok(None);
        };
        let arguments = raw.map(|raw| canonical(&value(raw)));
        let (arguments, call) = (arguments.as_deref(), caller.call.as_deref());
        let wanted = Called { tool: tool.word(), ability, arguments, call, client };
        gate.take(&wanted, SystemClock.now().0).map_err(|error| Report::failure(error.to_string()))
    }
}

/// Returns the ticket of a call of our own loop: it asked the gate itself, and so is its own hook.
fn own_ticket(session: &str, agent: &str, tool: OwnTool, ability: Option<&str>) -> Ticket {
    Ticket {
        client: abide_gate::word(Client::Other).to_owned(),
        session: session.to_owned(),
        sub_agent: None,
        agent: Some(agent.to_owned()),
        tool: tool.word().to_owned(),
        ability: ability.map(str::to_owned),
        arguments: String::new(),
        call: None,
        at: SystemClock.now().0,
        family: Family::of_this(),
    }
}

/// Returns the session that a ticket names.
fn session_of(ticket: &Ticket) -> Option<SessionId> {
    let known = Client::ALL.iter().find(|client| abide_gate::word(**client) == ticket.client);
    known.map(|client| SessionId::new(*client, ticket.session.clone()))
}

/// Reads what a call says as a value of ours.
fn value(json: &serde_json::Value) -> Value {
    // What was parsed once parses again.
    abide_formats::json::parse(&json.to_string()).unwrap_or(Value::Null)
}

fn refused(failure: &Failure) -> Report {
    Report::failure(failure.to_string().trim_end())
}

impl Desk for LocalDesk {
    fn instructions(&self) -> String {
        INSTRUCTIONS.to_owned()
    }

    async fn list(&self, caller: &Caller) -> Report {
        self.listed(caller).unwrap_or_else(|report| report)
    }

    async fn run(&self, asked: Start, talk: &dyn Talk) -> Report {
        match self.begin(&asked).await {
            Ok(id) => self.settled(&id, Some(talk)).await,
            Err(report) => report,
        }
    }

    async fn status(&self, run: Option<String>, caller: &Caller) -> Report {
        match self.mine(OwnTool::Status, run.as_deref(), None, caller).await {
            Ok(Some(id)) => {
                self.caught_up(&id).await;
                self.settled(&id, None).await
            }
            Ok(None) => self.logged(run.as_deref()).await,
            Err(report) => report,
        }
    }

    async fn submit(&self, asked: Submission, talk: &dyn Talk) -> Report {
        match self.handed_in(&asked).await {
            Ok(id) => self.settled(&id, Some(talk)).await,
            Err(report) => report,
        }
    }

    async fn cancel(&self, asked: Cancellation, talk: &dyn Talk) -> Report {
        match self.cancelled(&asked).await {
            Ok(id) => self.settled(&id, Some(talk)).await,
            Err(report) => report,
        }
    }

    async fn validate(&self, ability: Option<String>, _caller: &Caller) -> Report {
        self.validated(ability).unwrap_or_else(|failure| refused(&failure))
    }

    async fn agent(&self, agent: Option<String>, caller: &Caller) -> Report {
        self.agent_may(agent, caller).unwrap_or_else(|report| report)
    }

    async fn more_tools(&self, _caller: &Caller) -> Vec<MoreTool> {
        self.skill_tools()
    }

    async fn call_more(
        &self,
        tool: &str,
        arguments: serde_json::Map<String, serde_json::Value>,
        _caller: &Caller,
    ) -> Option<Report> {
        if tool == skills::TOOL {
            return Some(self.skill(&arguments));
        }
        self.run_skill(tool, &arguments).await
    }

    fn tool_changes(&self) -> Option<watch::Receiver<u64>> {
        self.skill_changes().cloned()
    }

    async fn resources(&self, caller: &Caller) -> Result<Vec<Resource>, Unreadable> {
        self.readable(caller).await
    }

    async fn read(&self, subject: Subject, caller: &Caller) -> Result<Content, Unreadable> {
        self.text_of(subject, caller).await
    }

    fn changes(&self) -> Option<watch::Receiver<u64>> {
        let news = self.news.get_or_init(|| News::watch(self.surroundings.clone(), self.shared.clone()));
        Some(news.receiver())
    }
}
