//! The configuration: `.abide/config.yaml` of a project over the user's own.

use super::{
    AbilityName, AgentCapability, AgentName, AgentTools, Budget, Enforcement, Permission, ProviderName,
    ProviderSettings, Runner, SecretName, ServerSettings, WebSettings, WebhookName, WebhookSettings,
};
use crate::capability::CapabilityId;
use crate::diagnostic::{Code, Diagnostic};
use crate::model::ModelName;
use crate::source::Spanned;
use crate::value::Duration;

/// What the user configured; what is not set has a default at the place that uses it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Config {
    /// How abilities are found and enforced.
    pub abilities: AbilitySettings,
    /// How skills are found.
    pub skills: SkillSettings,
    /// Agents by name: new ones, and additions to profiles.
    pub agents: Vec<(Spanned<AgentName>, AgentSettings)>,
    /// Where secrets come from.
    pub secrets: Vec<(Spanned<SecretName>, Spanned<SecretSource>)>,
    /// How long runs are kept.
    pub runs: RunSettings,
    /// How long sessions of abide's own loop are kept.
    pub sessions: SessionSettings,
    /// What an agent may use at most; one of the project cannot be more than the user's own.
    pub budget: Budget,
    /// The model of agents that name none.
    pub model: Option<Spanned<ModelName>>,
    /// What executes the steps of agents that name no runner.
    pub runner: Option<Spanned<Runner>>,
    /// Who serves models: new ones, and changes to those that everybody knows.
    pub providers: Vec<(Spanned<ProviderName>, ProviderSettings)>,
    /// MCP servers whose tools are capabilities.
    pub capabilities: Vec<(Spanned<CapabilityId>, ServerSettings)>,
    /// How tools may use the web.
    pub web: WebSettings,
    /// Who is told over HTTP what happens at a server.
    pub webhooks: Vec<(Spanned<WebhookName>, WebhookSettings)>,
}

/// How abilities are found and enforced.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AbilitySettings {
    /// Whether abilities are used at all.
    pub enabled: Option<Spanned<bool>>,
    /// Whether a trigger may start an ability by itself.
    pub auto_trigger: Option<Spanned<bool>>,
    /// The enforcement level of abilities that do not set their own.
    pub enforcement: Option<Spanned<Enforcement>>,
    /// More folders with abilities, after the project's and the user's.
    pub directories: Vec<Spanned<String>>,
}

/// How long runs are kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunSettings {
    /// How many, those that others call included.
    pub keep: Option<Spanned<u32>>,
    /// For how long after their last event.
    pub keep_for: Option<Spanned<Duration>>,
}

impl RunSettings {
    /// How many runs are kept when nothing is said.
    pub const KEEP: u32 = 10_000;
    /// How many may be kept at most.
    pub const MOST: u32 = 1_000_000;
}

/// How long sessions of abide's own loop are kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SessionSettings {
    /// How many.
    pub keep: Option<Spanned<u32>>,
    /// For how long after their last event.
    pub keep_for: Option<Spanned<Duration>>,
}

impl SessionSettings {
    /// How many sessions are kept when nothing is said.
    pub const KEEP: u32 = 2_000;
    /// How many may be kept at most.
    pub const MOST: u32 = 1_000_000;
}

/// How skills are found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SkillSettings {
    /// Whether `.claude/skills` is looked at.
    pub claude: Option<Spanned<bool>>,
    /// Whether the folders of other clients are looked at: `.claude/skills`, `.agents/skills` and `.codex/skills`.
    pub external: Option<Spanned<bool>>,
    /// How many bytes the description of the skill tool may take.
    pub listing: Option<Spanned<u32>>,
    /// More folders with skills.
    pub directories: Vec<Spanned<String>>,
    /// More folders that skills may have files read from; the user's own configuration alone says so.
    pub reads: Vec<Spanned<String>>,
}

/// What the configuration says about an agent.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AgentSettings {
    /// What it is for.
    pub description: Option<Spanned<String>>,
    /// The model it uses, as `provider/model`.
    pub model: Option<Spanned<ModelName>>,
    /// The tools it has.
    pub tools: Option<AgentTools>,
    /// Rules for single calls, after those of its profile.
    pub permission: Vec<Spanned<Permission>>,
    /// The capabilities it is given, in order.
    pub capabilities: Option<Vec<AgentCapability>>,
    /// The abilities it may run.
    pub abilities: Option<Vec<Spanned<AbilityName>>>,
    /// The skills it may use.
    pub skills: Option<Vec<Spanned<String>>>,
    /// Its system prompt.
    pub prompt: Option<Spanned<String>>,
    /// What it may use at most.
    pub budget: Budget,
}

impl AgentSettings {
    /// Lays other settings over these: what they set wins, and their rules come last, where they win too.
    fn overlay(&mut self, over: Self) {
        self.description = over.description.or(self.description.take());
        self.model = over.model.or(self.model.take());
        self.tools = over.tools.or(self.tools.take());
        self.permission.extend(over.permission);
        self.capabilities = over.capabilities.or(self.capabilities.take());
        self.abilities = over.abilities.or(self.abilities.take());
        self.skills = over.skills.or(self.skills.take());
        self.prompt = over.prompt.or(self.prompt.take());
        self.budget = self.budget.and(over.budget);
    }
}

/// Where a secret comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SecretSource {
    /// An environment variable.
    Env(String),
    /// A file, whose last line end is dropped.
    File(String),
    /// The output of a command.
    Command(String),
}

impl Config {
    /// Returns the variables of the environment that named secrets come from.
    pub fn secret_variables(&self) -> impl Iterator<Item = &str> {
        self.secrets.iter().filter_map(|(_, source)| match &source.value {
            SecretSource::Env(variable) => Some(variable.as_str()),
            SecretSource::File(_) | SecretSource::Command(_) => None,
        })
    }

    /// Takes folders of skills that lie outside the project, and what skills may read there, out of a project's configuration:
    /// opening a project must not have files read elsewhere.
    pub fn without_far_skills(&mut self) -> Vec<Diagnostic> {
        let leads_out = |folder: &str| {
            folder.starts_with(['/', '~', '\\']) || folder.split(['/', '\\']).any(|part| part == "..")
        };
        let (far, near) = std::mem::take(&mut self.skills.directories)
            .into_iter()
            .partition::<Vec<_>, _>(|folder| leads_out(&folder.value));
        self.skills.directories = near;
        let problem = |folder: &Spanned<String>| {
            Diagnostic::new(
                Code::BadPath,
                folder.span,
                "a project names a folder of skills outside of itself",
            )
            .help("move it to your own configuration, ~/.config/abide/config.yaml")
        };
        let mut problems: Vec<Diagnostic> = far.iter().map(problem).collect();
        problems.extend(std::mem::take(&mut self.skills.reads).iter().map(|folder| {
            Diagnostic::new(Code::BadPath, folder.span, "a project says what skills may read outside of it")
                .help("move it to your own configuration, ~/.config/abide/config.yaml")
        }));
        problems
    }

    /// Returns this configuration with `over` laid over it: what `over` sets wins, lists and maps join.
    #[must_use]
    pub fn overlaid(mut self, over: Self) -> Self {
        let abilities = &mut self.abilities;
        abilities.enabled = over.abilities.enabled.or(abilities.enabled.take());
        abilities.auto_trigger = over.abilities.auto_trigger.or(abilities.auto_trigger.take());
        abilities.enforcement = over.abilities.enforcement.or(abilities.enforcement.take());
        // The nearer configuration's folders are looked at first.
        abilities.directories.splice(0..0, over.abilities.directories);
        self.skills.claude = over.skills.claude.or(self.skills.claude.take());
        self.skills.external = over.skills.external.or(self.skills.external.take());
        self.skills.listing = over.skills.listing.or(self.skills.listing.take());
        self.skills.directories.splice(0..0, over.skills.directories);
        self.skills.reads.extend(over.skills.reads);
        self.runs.keep = over.runs.keep.or(self.runs.keep.take());
        self.runs.keep_for = over.runs.keep_for.or(self.runs.keep_for.take());
        self.sessions.keep = over.sessions.keep.or(self.sessions.keep.take());
        self.sessions.keep_for = over.sessions.keep_for.or(self.sessions.keep_for.take());
        self.budget = self.budget.and(over.budget);
        self.runner = over.runner.or(self.runner.take());
        self.model = over.model.or(self.model.take());
        for (name, settings) in over.providers {
            match self.providers.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.overlay(settings),
                None => self.providers.push((name, settings)),
            }
        }
        for (name, settings) in over.capabilities {
            match self.capabilities.iter_mut().find(|(known, _)| *known == name) {
                // One whole definition or the other: half of one would start what neither says.
                Some((_, known)) => *known = settings,
                None => self.capabilities.push((name, settings)),
            }
        }
        self.web.overlay(over.web);
        for (name, settings) in over.webhooks {
            match self.webhooks.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = settings,
                None => self.webhooks.push((name, settings)),
            }
        }
        for (name, settings) in over.agents {
            match self.agents.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.overlay(settings),
                None => self.agents.push((name, settings)),
            }
        }
        for (name, source) in over.secrets {
            match self.secrets.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = source,
                None => self.secrets.push((name, source)),
            }
        }
        self
    }
}
