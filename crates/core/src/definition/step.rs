//! A step: one thing that must be done, of one of five types.

use super::ability::words;
use super::{AbilityName, AgentName, Budget, OnFailure, SecretName, SkillName, StepId, Validation};
use crate::source::Spanned;
use crate::value::{Duration, Expression, Template, Value};

/// One thing that must be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its id, unique in the ability.
    pub id: Spanned<StepId>,
    /// What it is for.
    pub description: Option<Spanned<String>>,
    /// The steps that must be done before.
    pub needs: Vec<Spanned<StepId>>,
    /// Whether it is done at all.
    pub when: Option<Spanned<Expression>>,
    /// How long one attempt may take.
    pub timeout: Option<Spanned<Duration>>,
    /// What happens when it fails.
    pub on_failure: Option<Spanned<OnFailure>>,
    /// How often it is tried again.
    pub max_retries: Option<Spanned<u32>>,
    /// How long to wait before it is tried again.
    pub retry_delay: Option<Spanned<Duration>>,
    /// Whether it may be run again after a crash in the middle of it.
    pub idempotent: Option<Spanned<bool>>,
    /// One instance per item of a list.
    pub for_each: Option<ForEach>,
    /// Run again until something holds.
    pub repeat: Option<Repeat>,
    /// What it does.
    pub kind: StepKind,
}

/// One instance of a step per item of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct ForEach {
    /// The list: a template that is one placeholder, or the items themselves.
    pub items: Spanned<Items>,
    /// How many instances may run at the same time.
    pub max_parallel: Option<Spanned<u32>>,
}

/// Where the items of a `for_each` come from.
#[derive(Debug, Clone, PartialEq)]
pub enum Items {
    /// A template that yields a list.
    Template(Template),
    /// The items as written.
    List(Vec<Value>),
}

/// A step that is run again until something holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeat {
    /// What must hold.
    pub until: Spanned<Expression>,
    /// How often it is run at most.
    pub max: Option<Spanned<u32>>,
    /// How long to wait in between.
    pub delay: Option<Spanned<Duration>>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum StepKind {
    /// Runs a command.
    Script(ScriptStep),
    /// Gives an agent a task.
    Agent(AgentStep),
    /// Runs a skill.
    Skill(SkillStep),
    /// Asks a human.
    Approval(ApprovalStep),
    /// Runs another ability.
    Workflow(WorkflowStep),
}

impl StepKind {
    /// Returns which type of step this is.
    pub fn step_type(&self) -> StepType {
        match self {
            Self::Script(_) => StepType::Script,
            Self::Agent(_) => StepType::Agent,
            Self::Skill(_) => StepType::Skill,
            Self::Approval(_) => StepType::Approval,
            Self::Workflow(_) => StepType::Workflow,
        }
    }
}

words! {
    /// The five types of steps.
    StepType {
        /// Runs a command.
        Script = "script",
        /// Gives an agent a task.
        Agent = "agent",
        /// Runs a skill.
        Skill = "skill",
        /// Asks a human.
        Approval = "approval",
        /// Runs another ability.
        Workflow = "workflow",
    }
}

/// A step that runs a command.
#[derive(Debug, Clone, PartialEq)]
pub struct ScriptStep {
    /// The command; its placeholders are data, never code.
    pub run: Spanned<Template>,
    /// Which shell runs it.
    pub shell: Option<Spanned<Shell>>,
    /// Where it runs, relative to the project's root.
    pub cwd: Option<Spanned<Template>>,
    /// What its environment adds.
    pub env: Vec<(Spanned<String>, Spanned<Environment>)>,
    /// What proves that it worked.
    pub validation: Validation,
}

words! {
    /// Which shell runs a script.
    Shell {
        /// The system's `sh`.
        Sh = "sh",
        /// `bash`.
        Bash = "bash",
    }
}

/// The value of an environment variable.
#[derive(Debug, Clone, PartialEq)]
pub enum Environment {
    /// Text, with placeholders.
    Template(Template),
    /// A secret, which only this step's process gets.
    Secret(SecretName),
}

/// A step that gives an agent a task.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentStep {
    /// Which agent.
    pub agent: Spanned<AgentName>,
    /// The task.
    pub prompt: Spanned<Template>,
    /// Paths, globs and templates that are put before the task.
    pub context: Vec<Spanned<Template>>,
    /// The tools that the agent may use in this step; `None` leaves it its own.
    pub tools: Option<Vec<Spanned<String>>>,
    /// What executes it.
    pub runner: Option<Spanned<Runner>>,
    /// The JSON Schema that its answer must fit.
    pub output_schema: Option<Spanned<Value>>,
    /// Whether its output is condensed for later steps.
    pub summarize: Option<Spanned<Summarize>>,
    /// What all its attempts may use of models together.
    pub budget: Budget,
    /// What proves that it was done.
    pub validation: Validation,
}

/// What executes an agent step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runner {
    /// abide's own loop.
    Builtin,
    /// Claude Code, headless.
    Claude,
    /// OpenCode, headless.
    Opencode,
    /// Codex, headless.
    Codex,
    /// The session that started the run.
    Session,
    /// A command that speaks the Agent Client Protocol.
    Acp(String),
}

impl Runner {
    /// The words that stand for a runner; the last one is followed by a command.
    pub const WORDS: &[&str] = &["builtin", "claude", "opencode", "codex", "session", "acp:<command>"];

    /// Finds the runner of a word.
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "builtin" => Self::Builtin,
            "claude" => Self::Claude,
            "opencode" => Self::Opencode,
            "codex" => Self::Codex,
            "session" => Self::Session,
            _ => match text.strip_prefix("acp:").map(str::trim) {
                Some(command) if !command.is_empty() => Self::Acp(command.to_owned()),
                _ => return None,
            },
        })
    }
}

impl std::fmt::Display for Runner {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Builtin => out.write_str("builtin"),
            Self::Claude => out.write_str("claude"),
            Self::Opencode => out.write_str("opencode"),
            Self::Codex => out.write_str("codex"),
            Self::Session => out.write_str("session"),
            Self::Acp(command) => write!(out, "acp:{command}"),
        }
    }
}

/// Whether and how an output is condensed for later steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Summarize {
    /// `false`: passed on as it is.
    Off,
    /// `true`: condensed.
    On,
    /// Condensed by this instruction.
    Prompt(String),
}

/// A step that runs a skill.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillStep {
    /// Which skill.
    pub skill: Spanned<SkillName>,
    /// What it is given.
    pub inputs: Vec<(Spanned<String>, Spanned<Argument>)>,
    /// What executes it.
    pub runner: Option<Spanned<Runner>>,
    /// Whether its output is condensed for later steps.
    pub summarize: Option<Spanned<Summarize>>,
    /// What all its attempts may use of models together.
    pub budget: Budget,
    /// What proves that it was done.
    pub validation: Validation,
}

/// What a skill or a called ability is given under one name.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// Text with placeholders; one placeholder alone keeps the type of its value.
    Template(Template),
    /// Any other value as written.
    Value(Value),
}

/// A step that asks a human.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalStep {
    /// The question.
    pub prompt: Spanned<Template>,
    /// The possible answers; empty means approve and reject.
    pub options: Vec<Answer>,
    /// Who may answer; empty means anyone.
    pub approvers: Vec<Spanned<String>>,
}

/// One possible answer of an approval.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What the human sees.
    pub label: Spanned<String>,
    /// What later steps see as the answer.
    pub value: Spanned<String>,
}

impl ApprovalStep {
    /// The answer that rejects, whatever the options are: it is what a timeout answers.
    pub const REJECTED: &'static str = "rejected";
    /// The answer that approves when no options are given.
    pub const APPROVED: &'static str = "approved";
    /// The approver that stands for anybody but whoever started the run.
    pub const ANYBODY_ELSE: &'static str = "*";

    /// Returns every answer that later steps can see.
    pub fn answers(&self) -> Vec<&str> {
        if self.options.is_empty() {
            return vec![Self::APPROVED, Self::REJECTED];
        }
        let mut answers: Vec<&str> = self.options.iter().map(|option| option.value.as_str()).collect();
        if !answers.contains(&Self::REJECTED) {
            answers.push(Self::REJECTED);
        }
        answers
    }
}

/// A step that runs another ability.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkflowStep {
    /// Which ability.
    pub workflow: Spanned<AbilityName>,
    /// What it is given.
    pub inputs: Vec<(Spanned<String>, Spanned<Argument>)>,
}
