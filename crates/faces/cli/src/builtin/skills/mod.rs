//! Skills in abide's own loop: loaded by an agent with the tool `skill`, run by one with `skills__<name>`, or run for a
//! person or a step.
//!
//! A skill that is run is an agent of its own, and never more than whoever called it: the caller's tools without those
//! that start agents or runs and without itself, the caller's rules and gate, a part of the caller's envelope.

mod load;
mod run;
mod step;

pub(crate) use run::{By, Order, Unrun};
pub(crate) use step::{SkillStep, filled_in};

use super::rules::{Manner, ProfileRules};
use crate::runs;
use crate::skills::{Brief, KeptShelf, Shelf};
use abide_core::definition::{AgentName, AgentProfile, AgentTools};
use abide_core::model::{Arguments, ToolCall};
use abide_core::policy::{Client, OwnTool, Place, ToolKind, Verdict, names_tool};
use abide_core::skill::text::{Piece, pieces};
use abide_core::source::{Span, Spanned};
use abide_core::value::Value;
use abide_core::value::template::as_text;
use abide_engine::port::{Confirm, Later, Tool, ToolSpec};
use abide_engine::toolbox::Toolbox;
use abide_engine::turn::{CallTree, Gate, ModelSeat, Narrowed, Permissions, Seat};
use abide_process::LocalProcess;
use abide_skills::Commands;
use abide_store_sqlite::SqliteStore;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Everything that an agent loads and runs skills with.
pub(crate) struct Workshop {
    pub(super) kept: Arc<KeptShelf>,
    pub(super) profile: AgentProfile,
    /// What the agent may be given: by its step, and by its profile.
    pub(super) granted: Option<Vec<String>>,
    /// Its own tools.
    pub(super) tools: Vec<Arc<dyn Tool>>,
    pub(super) model: ModelSeat,
    pub(super) model_name: String,
    pub(super) system: String,
    pub(super) permissions: Arc<dyn Permissions>,
    pub(super) gate: Arc<dyn Gate>,
    pub(super) confirm: Arc<dyn Confirm>,
    pub(super) process: Arc<LocalProcess>,
    /// The project's root.
    pub(super) project: PathBuf,
    pub(super) place: Place,
    pub(super) mark: String,
    /// The variables that no command of a skill gets.
    pub(super) hidden: Vec<String>,
    /// Where sessions are kept; opened with the first skill that is run.
    pub(super) sessions: PathBuf,
    pub(super) store: OnceLock<Arc<SqliteStore>>,
}

/// What narrows the tools of a skill that is run, beside what its caller has.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bounds {
    /// The skill itself: it does not call itself.
    itself: Option<String>,
    /// The tools that it, and every skill above it, says it uses.
    allowed: Vec<Vec<String>>,
}

impl Bounds {
    /// Returns the bounds of whoever may use these tools and no others.
    pub(crate) fn only(tools: &[&str]) -> Self {
        Self { itself: None, allowed: vec![tools.iter().map(|tool| (*tool).to_owned()).collect()] }
    }

    /// Returns the bounds of a skill that is run within these.
    pub(crate) fn of(&self, skill: &str, tools: Option<&[String]>) -> Self {
        let allowed = self.allowed.iter().cloned().chain(tools.map(<[String]>::to_vec)).collect();
        Self { itself: Some(skill.to_owned()), allowed }
    }

    fn allow(&self, tool: &str) -> bool {
        self.allowed.iter().all(|names| names_tool(names, Client::Other, tool))
    }
}

impl Workshop {
    /// Looks at the skills without holding up anything else: a server may have to answer first.
    pub(crate) async fn look<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Shelf) -> T + Send + 'static,
    ) -> Option<T> {
        let kept = Arc::clone(&self.kept);
        tokio::task::spawn_blocking(move || kept.with(work)).await.ok()
    }

    /// Returns the tools of the agent, or of a skill that it runs, with those that load and run skills.
    pub(crate) async fn toolbox(
        self: &Arc<Self>,
        tree: &CallTree,
        bounds: &Bounds,
    ) -> Result<Toolbox, String> {
        let within = bounds.itself.is_some();
        let own = self.tools.iter().filter(|tool| {
            let spec = tool.spec();
            !(within && starts_others(spec)) && bounds.allow(spec.name.as_str())
        });
        let mut tools: Vec<Arc<dyn Tool>> = own.cloned().collect();
        let profile = self.profile.clone();
        let (names, description, offers) = self
            .look(move |shelf| {
                let profile = Some(&profile);
                (shelf.names(profile).len(), shelf.described(profile), shelf.tools(profile).0)
            })
            .await
            .ok_or("the skills cannot be listed")?;
        let is_free = |tools: &[Arc<dyn Tool>], name: &str| {
            bounds.allow(name)
                && self.grants(name)
                && !tools.iter().any(|tool| tool.spec().name.as_str() == name)
        };
        if names > 0 && is_free(&tools, load::TOOL) {
            tools.push(Arc::new(load::LoadTool::new(Arc::clone(self), description)));
        }
        for offer in offers {
            let is_self = bounds.itself.as_deref() == Some(&*offer.name);
            if !is_self && is_free(&tools, offer.tool.as_str()) {
                let tool = run::RunTool::new(Arc::clone(self), offer, tree.clone(), bounds.clone());
                tools.push(Arc::new(tool));
            }
        }
        Toolbox::new(tools).map_err(|error| error.to_string())
    }

    /// Returns whether the step and the profile of the agent give it a tool.
    fn grants(&self, tool: &str) -> bool {
        let by_profile = match &self.profile.tools {
            None | Some(AgentTools::Switched(_)) => true,
            Some(AgentTools::Only(names)) => {
                let names: Vec<String> = names.iter().map(|name| name.value.clone()).collect();
                names_tool(&names, Client::Other, tool)
            }
        };
        by_profile && self.granted.as_ref().is_none_or(|names| names_tool(names, Client::Other, tool))
    }

    /// Returns the rules of a skill: the caller's, and no tool that the skill does not say it uses.
    pub(crate) fn permissions(&self, bounds: &Bounds) -> Arc<dyn Permissions> {
        let Ok(name) = AgentName::parse("skill") else { return Arc::clone(&self.permissions) };
        bounds.allowed.iter().fold(Arc::clone(&self.permissions), |rules, allowed| {
            let mut profile = AgentProfile::named(Spanned::new(name.clone(), Span::default()));
            let tools = allowed.iter().map(|tool| Spanned::new(tool.clone(), Span::default()));
            profile.tools = Some(AgentTools::Only(tools.collect()));
            let own = ProfileRules { profile, place: self.place.clone(), manner: Manner::Step };
            Arc::new(Narrowed(rules, Arc::new(own)))
        })
    }

    /// Returns the agent of a step that runs a skill, and nothing but that.
    pub(crate) async fn seat_for(
        self: &Arc<Self>,
        seat: Seat,
        skill: &str,
        turns: Option<u32>,
        tools: Option<&[String]>,
    ) -> Result<Seat, String> {
        let bounds = Bounds::default().of(skill, tools);
        // One that does not say how many turns it has is done as the agent does its other steps.
        seat.tree.answer_within(turns);
        let toolbox = match turns {
            Some(1) => Toolbox::default(),
            _ => self.toolbox(&seat.tree, &bounds).await?,
        };
        Ok(Seat { toolbox, permissions: self.permissions(&bounds), ..seat })
    }

    /// Returns whether the commands of a trusted skill run when an agent or a step calls it: only those that the agent could
    /// run itself. That the user trusts the skill is the yes of a human.
    pub(crate) async fn commands(&self, body: &str, trusted: Commands) -> Commands {
        let bash = self.tools.iter().find(|tool| tool.spec().name.as_str() == BASH);
        let caller =
            Caller { bash: bash.map(|tool| tool.spec()), permissions: &*self.permissions, gate: &*self.gate };
        caller.commands(body, trusted).await
    }

    /// Opens where sessions are kept.
    fn store(&self) -> Result<Arc<SqliteStore>, String> {
        if let Some(store) = self.store.get() {
            return Ok(Arc::clone(store));
        }
        let store = SqliteStore::open(&self.sessions, runs::settings()).map_err(|error| error.to_string())?;
        Ok(Arc::clone(self.store.get_or_init(|| Arc::new(store))))
    }

    /// Returns the mark of what is started for a skill.
    fn mark_of(&self) -> String {
        format!("{}/skill-{}", self.mark, uuid::Uuid::now_v7())
    }
}

/// What runs commands.
const BASH: &str = "bash";

/// Whoever has a skill filled in, as far as that says which of its commands run.
struct Caller<'a> {
    /// What runs commands, if they have it.
    bash: Option<&'a ToolSpec>,
    permissions: &'a dyn Permissions,
    gate: &'a dyn Gate,
}

impl Caller<'_> {
    /// Returns whether the commands of a skill run: those of a trusted one, if the caller may run each of them.
    async fn commands(&self, body: &str, trusted: Commands) -> Commands {
        if let Commands::Refused(_) = trusted {
            return trusted;
        }
        for piece in pieces(body) {
            let Piece::Command { command } = piece else { continue };
            let Some(bash) = self.bash else {
                return Commands::Refused(
                    "whoever calls the skill has no tool that runs commands".to_owned(),
                );
            };
            let text = Value::Map(vec![("command".to_owned(), Value::Text(command.to_owned()))]);
            let arguments = Arguments::Data(text);
            let ruling = self.permissions.ruling(bash, &arguments);
            if ruling.tier == abide_core::capability::Tier::Deny {
                let why = ruling.why.unwrap_or_else(|| "its rules deny it".to_owned());
                return Commands::Refused(format!("whoever calls the skill may not run it: {why}"));
            }
            let call = ToolCall { id: String::new(), name: BASH.to_owned(), arguments };
            if !self.gate.verdict(&call).await.is_allowed() {
                return Commands::Refused("whoever calls the skill may not run it now".to_owned());
            }
        }
        trusted
    }
}

/// The gate of a skill that is run: its caller's for every call. That it ends is not that its caller stops.
pub(super) struct SkillGate(pub(super) Arc<dyn Gate>);

impl Gate for SkillGate {
    fn verdict(&self, call: &ToolCall) -> Later<Verdict> {
        self.0.verdict(call)
    }
}

/// Returns whether a tool starts agents or runs: a skill does not.
fn starts_others(spec: &ToolSpec) -> bool {
    match abide_core::policy::kind(Client::Other, spec.name.as_str()) {
        ToolKind::Own(OwnTool::Run | OwnTool::Submit | OwnTool::Cancel | OwnTool::Agent) => true,
        kind => kind == ToolKind::Agent || spec.kind == ToolKind::Agent,
    }
}

/// What whoever does a skill is told, with the inputs of a step.
pub(super) fn with_inputs(brief: &Brief, inputs: &[(String, Value)]) -> String {
    let mut text = brief.bounded();
    if !inputs.is_empty() {
        text.push_str("\n\nIts inputs:\n");
    }
    for (name, value) in inputs {
        // Writing to a string cannot fail.
        let _ = write!(text, "\n- {name}: {}", as_text(value));
    }
    text
}
