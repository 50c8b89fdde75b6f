//! What an ability names outside itself: agents, skills, other abilities, secrets.

use crate::definition::{
    Ability, AgentName, Argument, Environment, Input, InputName, InputType, SecretName, SkillName, StepKind,
    WorkflowStep,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Spanned;
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The agent that every session has.
const DEFAULT_AGENT: &str = "default";

/// What exists outside an ability.
#[derive(Debug, Clone, Default)]
pub struct World {
    /// The agents that are defined.
    pub agents: BTreeSet<Arc<str>>,
    /// The skills that were found.
    pub skills: BTreeSet<Arc<str>>,
    /// The abilities that were found, with what they take; `None` for one that is broken.
    pub abilities: BTreeMap<Arc<str>, Option<Signature>>,
    /// The secrets that have a source.
    pub secrets: BTreeSet<Arc<str>>,
}

/// What an ability takes.
#[derive(Debug, Clone, Default)]
pub struct Signature {
    /// Its inputs, in order.
    pub inputs: Vec<(Arc<str>, InputType, Need)>,
}

/// Whether a caller must give an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// It must.
    Must,
    /// It may.
    May,
}

impl Signature {
    /// Returns what an ability takes.
    pub fn of(ability: &Ability) -> Self {
        let need = |input: &Input| if input.must_be_given() { Need::Must } else { Need::May };
        Self {
            inputs: ability
                .inputs
                .iter()
                .map(|input| (input.name.as_str().into(), input.input_type(), need(input)))
                .collect(),
        }
    }
}

/// Everything that an ability names outside itself; much smaller than the ability, so that a catalog of
/// thousands can keep it.
#[derive(Debug, Clone, Default)]
pub struct References {
    /// Agents that steps are given to.
    pub agents: Vec<Spanned<AgentName>>,
    /// Agents that the ability is attached to.
    pub attached: Vec<Spanned<AgentName>>,
    /// Skills that steps run.
    pub skills: Vec<Spanned<SkillName>>,
    /// Secrets that steps take.
    pub secrets: Vec<Spanned<SecretName>>,
    /// Abilities that steps call, and what they are given.
    pub workflows: Vec<WorkflowStep>,
}

impl References {
    /// Collects what an ability names.
    pub fn of(ability: &Ability) -> Self {
        let mut found = Self {
            attached: ability.compatible_agents.iter().chain(&ability.exclusive_agent).cloned().collect(),
            ..Self::default()
        };
        for step in &ability.steps {
            match &step.kind {
                StepKind::Script(script) => {
                    for (_, value) in &script.env {
                        if let Environment::Secret(name) = &value.value {
                            found.secrets.push(Spanned::new(name.clone(), value.span));
                        }
                    }
                }
                StepKind::Agent(step) => found.agents.push(step.agent.clone()),
                StepKind::Skill(step) => found.skills.push(step.skill.clone()),
                StepKind::Workflow(step) => found.workflows.push(step.clone()),
                StepKind::Approval(_) => {}
            }
        }
        found
    }

    /// Returns what is named and nobody defines.
    pub fn check(&self, world: &World) -> Vec<Diagnostic> {
        let mut problems = Vec::new();
        let known =
            |agent: &AgentName| world.agents.contains(agent.as_str()) || agent.as_str() == DEFAULT_AGENT;
        for agent in self.attached.iter().filter(|agent| !known(agent)) {
            let message = format!("the ability is attached to agent `{}`, which is not defined", **agent);
            problems.push(
                Diagnostic::new(Code::UnattachedAgent, agent.span, message)
                    .did_you_mean(agent.as_str(), names(&world.agents))
                    .help(define_agent(agent.as_str())),
            );
        }
        for agent in self.agents.iter().filter(|agent| !known(agent)) {
            problems.push(
                Diagnostic::new(
                    Code::UnknownAgent,
                    agent.span,
                    format!("the agent `{}` is not defined", **agent),
                )
                .did_you_mean(agent.as_str(), names(&world.agents))
                .help(define_agent(agent.as_str())),
            );
        }
        for skill in self.skills.iter().filter(|skill| !world.skills.contains(skill.as_str())) {
            problems.push(
                Diagnostic::new(Code::UnknownSkill, skill.span, format!("the skill `{}` is not found", **skill))
                    .did_you_mean(skill.as_str(), names(&world.skills))
                    .help(format!(
                        "create .abide/skills/{}/SKILL.md, or name its folder in `skills.directories` of the configuration",
                        **skill
                    )),
            );
        }
        for secret in self.secrets.iter().filter(|secret| !world.secrets.contains(secret.as_str())) {
            problems.push(
                Diagnostic::new(
                    Code::UnknownSecret,
                    secret.span,
                    format!("the secret `{}` has no source", **secret),
                )
                .did_you_mean(secret.as_str(), names(&world.secrets))
                .help(format!(
                    "add it to `secrets` in .abide/config.yaml, as in `{}: {{ env: MY_VARIABLE }}`",
                    **secret
                )),
            );
        }
        for step in &self.workflows {
            workflow(step, world, &mut problems);
        }
        problems
    }
}

fn names(known: &BTreeSet<Arc<str>>) -> impl Iterator<Item = &str> {
    known.iter().map(|name| &**name)
}

fn define_agent(name: &str) -> String {
    format!("create .abide/agents/{name}.md, or add it to `agents` in .abide/config.yaml")
}

fn workflow(step: &WorkflowStep, world: &World, problems: &mut Vec<Diagnostic>) {
    let name = step.workflow.as_str();
    let Some(found) = world.abilities.get(name) else {
        problems.push(
            Diagnostic::new(
                Code::UnknownWorkflow,
                step.workflow.span,
                format!("the ability `{name}` is not found"),
            )
            .did_you_mean(name, world.abilities.keys().map(|name| &**name))
            .help("`abide list` shows every ability by its name"),
        );
        return;
    };
    // A broken ability is reported where it is broken.
    let Some(signature) = found else { return };
    for (given, argument) in &step.inputs {
        match signature.inputs.iter().find(|(known, ..)| **known == ***given) {
            None => problems.push(
                Diagnostic::new(
                    Code::WorkflowInputs,
                    given.span,
                    format!("`{name}` has no input `{}`", **given),
                )
                .did_you_mean(given, signature.inputs.iter().map(|(known, ..)| &**known))
                .help(format!("`abide show {name}` lists its inputs")),
            ),
            Some((_, input_type, _)) => {
                if let Some(problem) = wrong_literal(name, given, argument, *input_type) {
                    problems.push(problem);
                }
            }
        }
    }
    for (known, _, need) in &signature.inputs {
        if *need == Need::Must && !step.inputs.iter().any(|(given, _)| ***given == **known) {
            problems.push(
                Diagnostic::new(
                    Code::WorkflowInputs,
                    step.workflow.span,
                    format!("`{name}` must be given the input `{known}`"),
                )
                .help(format!("add `{known}:` to this step's `inputs`")),
            );
        }
    }
}

/// Finds a literal of another type than the input takes; what a template yields is known at run time only.
fn wrong_literal(
    name: &str,
    given: &Spanned<String>,
    argument: &Spanned<Argument>,
    input_type: InputType,
) -> Option<Diagnostic> {
    let value = match &argument.value {
        Argument::Value(value) => value.clone(),
        Argument::Template(template) if template.is_literal() => Value::Text(template.text().to_owned()),
        Argument::Template(_) => return None,
    };
    let mut input = Input::named(Spanned::new(InputName::parse(given).ok()?, given.span));
    input.input_type = Some(Spanned::new(input_type, given.span));
    // Text takes numbers and booleans as they are written.
    if input_type == InputType::String && matches!(value, Value::Int(_) | Value::Float(_) | Value::Bool(_)) {
        return None;
    }
    let broken = input.wrong_type(&value)?;
    Some(
        Diagnostic::new(
            Code::WorkflowInputs,
            argument.span,
            format!("the input `{}` of `{name}`: {broken}", **given),
        )
        .help(format!("`abide show {name}` lists its inputs")),
    )
}
