//! What the gate must know about a session: small, and made without loading a run or reading an ability.

use super::path::Place;
use crate::definition::{Enforcement, Protect, StepType};
use smol_str::SmolStr;

/// Everything that a verdict depends on, besides the call.
#[derive(Debug, Clone, PartialEq)]
pub struct Situation {
    /// Where the session works.
    pub place: Place,
    /// The run that the session is bound to.
    pub session: Session,
    /// Who asks: the session itself, or one that it started.
    pub seat: Seat,
    /// What the agent may run.
    pub agent: AgentRights,
    /// Every call that an ability reserves, of all abilities.
    pub reserved: Vec<Reserved>,
    /// Files and folders that are not the agent's to change.
    pub guarded: Vec<Guarded>,
    /// The processes that drive runs.
    pub processes: Vec<u32>,
}

/// The run that a session is bound to.
#[derive(Debug, Clone, PartialEq)]
pub enum Session {
    /// None.
    Free,
    /// One is active.
    Active(Box<Active>),
    /// Whether or how one is active cannot be read.
    Unreadable {
        /// Its level, when at least that is known; without it the strictest is taken.
        level: Option<Enforcement>,
        /// Why, in a few words.
        why: String,
    },
}

/// A run that is active in a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Active {
    /// Its id.
    pub run: String,
    /// The ability that it is a run of; for a called ability, that one.
    pub ability: String,
    /// How strictly the agent is held to the step.
    pub level: Enforcement,
    /// The step that is being done; `None` before the first and while hooks run.
    pub step: Option<ActiveStep>,
    /// How many steps are done.
    pub done: usize,
    /// How many there are.
    pub total: usize,
    /// Whether the agent was already told that the run is not done when it wanted to stop.
    pub warned: bool,
    /// Whether abide itself started the session, for this step alone: it hands nothing in, its answer is looked at
    /// when it ends.
    pub worker: bool,
}

/// The step that is being done.
#[derive(Debug, Clone, PartialEq)]
pub struct ActiveStep {
    /// Its id.
    pub id: String,
    /// Its type; for a workflow step whose child is active, the child's step stands here instead.
    pub step_type: StepType,
    /// The tools that it grants.
    pub grants: Grants,
    /// What to do, in one sentence.
    pub task: String,
    /// Whether only a human can go on: an approval, or a question after a failure.
    pub waits_for_human: bool,
}

/// The tools that a step grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Grants {
    /// Those that the agent has anyway.
    Own,
    /// These: `Read`, `Bash(cargo test *)`, `mcp__github__*`.
    Only(Vec<String>),
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    /// The session itself.
    Main,
    /// A sub-agent or child session; it inherits the run and everything that follows from it.
    Child,
    /// A sub-agent that started the run itself, and so answers for it.
    ChildWithRun,
}

/// The abilities that an agent may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentRights {
    /// Those that are open to all agents, and these.
    Any {
        /// Abilities that belong to other agents.
        except: Vec<String>,
    },
    /// These only; also the answer for an agent that nobody knows.
    Only(Vec<String>),
}

impl AgentRights {
    /// Returns whether the agent may run an ability.
    pub fn may_run(&self, ability: &str) -> bool {
        match self {
            Self::Any { except } => !except.iter().any(|name| name == ability),
            Self::Only(names) => names.iter().any(|name| name == ability),
        }
    }
}

/// A call that only a run of an ability may make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reserved {
    /// The ability.
    pub ability: SmolStr,
    /// The call.
    pub pattern: Protect,
    /// The folder that the paths of the pattern start from, absolute: that of the definition, wherever the session is.
    pub root: SmolStr,
    /// Whether a run of the ability lifts it.
    pub standing: Standing,
}

/// How a definition that reserves a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A run of its ability may make the call.
    Current,
    /// Another definition has taken the ability's name, or the run is one of another project: no run may make the call.
    Replaced,
    /// It does not say so any more, and no human has let it go: nobody may make the call.
    Gone,
}

/// A file or folder that is not the agent's to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guarded {
    /// Its absolute path.
    pub path: String,
    /// What it is.
    pub role: Role,
}

/// What a guarded file or folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// abide's own state; guarded at all times.
    State,
    /// A definition of an ability.
    Definition,
    /// A definition that reserves calls; guarded at all times, since without it nothing would be reserved.
    Reservation,
    /// A script or hook of an ability.
    Script,
    /// Skills of the project, which steps are done by.
    Skill,
    /// What tells a client to ask the gate.
    Settings,
}

impl Role {
    /// Returns whether it is guarded while no run is active; `reserved` tells whether anything is reserved.
    pub fn always(self, reserved: bool) -> bool {
        match self {
            Self::State | Self::Reservation => true,
            // Whoever takes the gate away has what it keeps.
            Self::Settings => reserved,
            Self::Definition | Self::Script | Self::Skill => false,
        }
    }

    /// Returns what it is, for messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::State => "abide's own state",
            Self::Definition => "the definition of an ability",
            Self::Reservation => "the definition of an ability that protects something",
            Self::Script => "a script of an ability",
            Self::Skill => "a skill of the project, which a step may be done by",
            Self::Settings => "the settings that put the gate in place",
        }
    }
}

impl Situation {
    /// Returns a situation of which only the place counts, for reading a call.
    pub(super) fn at_place(place: &Place) -> Self {
        Self {
            place: place.clone(),
            session: Session::Free,
            seat: Seat::Main,
            agent: AgentRights::Only(Vec::new()),
            reserved: Vec::new(),
            guarded: Vec::new(),
            processes: Vec::new(),
        }
    }

    /// Returns the active run.
    pub fn active(&self) -> Option<&Active> {
        match &self.session {
            Session::Active(active) => Some(active),
            Session::Free | Session::Unreadable { .. } => None,
        }
    }

    /// Returns whether a run is active, or could be.
    pub fn may_be_active(&self) -> bool {
        !matches!(self.session, Session::Free)
    }
}
