//! What the server stands on, put together by the cli.

use crate::fleet::Fleet;
use crate::hub::Hub;
use crate::meter::Meter;
use crate::notices::Notices;
use crate::problem::Problem;
use abide_core::event::RunId;
use abide_core::value::Value as Given;
use abide_engine::capability::CapabilityRegistry;
use abide_engine::driver::Driver;
use abide_engine::port::{
    Agents, Audit, Clock, Keys, Later, Messages, Process, SessionFiles, Sessions, Starts, Store, Workspace,
};
use abide_engine::talk::{Inbox, Talks};
use abide_engine::trace::Tally;
use serde_json::Value;
use std::sync::Arc;

/// The driver of a house.
pub type HouseDriver<H> =
    Driver<<H as House>::Store, <H as House>::Process, <H as House>::Workspace, <H as House>::Clock>;

/// What lies on the disk and can be looked at.
#[derive(Debug, Clone, PartialEq)]
pub enum Look {
    /// Every ability.
    Abilities,
    /// One of them.
    Ability(String),
    /// What is wrong with it.
    Problems(String),
    /// Its steps, as data.
    Graph(String),
    /// Its steps, drawn: a JSON text of `mermaid`, `dot`, `svg` or `text`.
    Drawing(String, Drawn),
    /// What a run of it would do.
    Plan {
        /// The ability.
        ability: String,
        /// What it would be given.
        inputs: Vec<(String, Given)>,
        /// The text that would start it.
        input: String,
    },
    /// Every skill.
    Skills,
    /// One of them.
    Skill(String),
    /// Models, and who serves them.
    Models,
}

/// How steps are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drawn {
    /// For a terminal.
    Text,
    /// For Markdown.
    Mermaid,
    /// For Graphviz.
    Dot,
    /// As a picture.
    Svg,
}

/// What the server stands on.
pub trait House: Send + Sync + 'static {
    /// The log.
    type Store: Store;
    /// What runs scripts.
    type Process: Process;
    /// What lies around runs.
    type Workspace: Workspace;
    /// The time.
    type Clock: Clock;

    /// Returns what drives runs; it tells [`House::fleet`] what happens to them.
    fn driver(&self) -> &HouseDriver<Self>
    where
        Self: Sized;

    /// Returns the runs that are driven here.
    fn fleet(&self) -> &Fleet;

    /// Returns what is measured here; whatever drives runs tells it what happens to them.
    fn meter(&self) -> &Arc<Meter>;

    /// Returns what became of the spans of traces, if a collector is told of them.
    fn spans(&self) -> Option<&Tally>;

    /// Returns the keys that open the server.
    fn keys(&self) -> &dyn Keys;

    /// Returns which runs were started here.
    fn starts(&self) -> &dyn Starts;

    /// Returns the agents that were made over the API.
    fn agents(&self) -> &dyn Agents;

    /// Returns what was changed, by whom.
    fn audit(&self) -> &dyn Audit;

    /// Returns the sessions that were made over the API.
    fn sessions(&self) -> &dyn Sessions;

    /// Returns what was said to them.
    fn messages(&self) -> &dyn Messages;

    /// Returns their files.
    fn files(&self) -> &dyn SessionFiles;

    /// Returns what drives sessions; it tells [`House::hub`] what models say.
    fn talks(&self) -> &Arc<Talks<Self::Store, Self::Clock>>
    where
        Self: Sized;

    /// Returns who hears what models say.
    fn hub(&self) -> &Hub;

    /// Returns the calls of sessions that wait for a human's yes.
    fn inbox(&self) -> &Inbox<Self::Clock>
    where
        Self: Sized;

    /// Returns what webhooks are told; whatever drives runs, and whatever asks about calls, tells it what happens.
    fn notices(&self) -> &Arc<Notices<Self::Clock>>
    where
        Self: Sized;

    /// Returns what agents can be given.
    fn capabilities(&self) -> &CapabilityRegistry;

    /// Tells the time, in milliseconds since 1970.
    fn now(&self) -> i64;

    /// Lets time begin no earlier than a moment, such as the last event of a run that is driven on.
    fn not_before(&self, moment: i64);

    /// Looks whether the stores answer; the error says which does not.
    fn ready(&self) -> Later<Result<(), String>>;

    /// Looks something up that lies on the disk.
    fn look(&self, what: Look) -> Later<Result<Value, Problem>>;

    /// Does what is done after a run has been driven: what the gate noted is taken in, and old runs are forgotten.
    fn settle(&self, run: &RunId, over: bool) -> Later<()>;
}
