//! An ability: what an agent must do.

use super::{AbilityName, AgentName, Budget, Input, Pattern, Protect, Step};
use crate::source::Spanned;
use crate::value::Duration;

/// A workflow that is enforced, validated and resumable.
#[derive(Debug, Clone, PartialEq)]
pub struct Ability {
    /// Its name: given by `name`, or by where the file lies.
    pub name: Spanned<AbilityName>,
    /// What it is for, in one or two sentences.
    pub description: Spanned<String>,
    /// The author's version of it.
    pub version: Option<Spanned<String>>,
    /// Which messages suggest it.
    pub triggers: Triggers,
    /// What it must be given.
    pub inputs: Vec<Input>,
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// How it is run.
    pub settings: Settings,
    /// The agents that may run it; empty when every agent may.
    pub compatible_agents: Vec<Spanned<AgentName>>,
    /// The one agent that may run it.
    pub exclusive_agent: Option<Spanned<AgentName>>,
    /// Tool calls that are allowed only inside a run of it.
    pub protects: Vec<Spanned<Protect>>,
}

impl Ability {
    /// Returns the input of a name.
    pub fn input(&self, name: &str) -> Option<&Input> {
        self.inputs.iter().find(|input| input.name.as_str() == name)
    }

    /// Returns the step of an id.
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id.as_str() == id)
    }
}

/// Which messages suggest an ability.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Triggers {
    /// Words and phrases.
    pub keywords: Vec<Spanned<String>>,
    /// Regular expressions.
    pub patterns: Vec<Spanned<Pattern>>,
}

/// How an ability is run; what is not set falls back to the configuration, then to a default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Settings {
    /// How long the whole run may take.
    pub timeout: Option<Spanned<Duration>>,
    /// Whether steps that do not wait for each other run at the same time.
    pub parallel: Option<Spanned<bool>>,
    /// How many steps may run at the same time.
    pub max_parallel: Option<Spanned<u32>>,
    /// What the gate does with tool calls outside the current step.
    pub enforcement: Option<Spanned<Enforcement>>,
    /// What happens when a step fails that does not say so itself.
    pub on_failure: Option<Spanned<OnFailure>>,
    /// Whether a human must agree to the plan before anything runs.
    pub plan_approval: Option<Spanned<bool>>,
    /// What all agents and summaries of a run may use of models together.
    pub budget: Budget,
}

impl Settings {
    /// Returns whether steps may run at the same time.
    pub fn is_parallel(&self) -> bool {
        self.parallel.as_ref().is_some_and(|parallel| parallel.value)
    }
}

macro_rules! words {
    ($(#[$doc:meta])+ $name:ident { $($(#[$variant_doc:meta])+ $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_doc])+ $variant,)+
        }

        impl $name {
            /// Every variant, in order.
            pub const ALL: &[$name] = &[$($name::$variant),+];

            /// The words that stand for the variants, in order.
            pub const WORDS: &[&str] = &[$($word),+];

            /// Finds the variant of a word.
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// Returns the word as it is written in files.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }
    };
}
pub(crate) use words;

words! {
    /// How strictly the gate holds an agent to the current step.
    Enforcement {
        /// Everything outside the step is denied, and stopping early is refused.
        Strict = "strict",
        /// Destructive and unknown tools are denied; reading is allowed.
        Normal = "normal",
        /// Everything is allowed, and the agent is told what is off.
        Loose = "loose",
    }
}

words! {
    /// What happens when a step fails.
    OnFailure {
        /// The run ends and whatever still runs is cancelled.
        Stop = "stop",
        /// The run goes on as if the step had been skipped.
        Continue = "continue",
        /// The step is tried again.
        Retry = "retry",
        /// A human decides: retry, skip or stop.
        Ask = "ask",
    }
}
