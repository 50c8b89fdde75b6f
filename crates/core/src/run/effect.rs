//! What a driver has to do about an event.

use super::scope::RunScope;
use super::state::Run;
use crate::definition::{Argument, Environment, ScriptStep, Shell, StepKind};
use crate::event::{Event, HookKey, StepKey, StepResult, Timestamp};
use crate::source::Spanned;
use crate::value::shell::Dialect;
use crate::value::template::{Part, script};
use crate::value::{Template, Value};

/// Something to do outside; its end comes back as a command.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Run a hook.
    Hook(HookKey),
    /// Carry out an attempt.
    Attempt {
        /// Which instance.
        key: StepKey,
        /// Which attempt.
        attempt: u32,
        /// When it is ended.
        deadline: Option<Timestamp>,
    },
}

/// What an attempt consists of, with every value in place.
#[derive(Debug, Clone, PartialEq)]
pub enum Work {
    /// Run a command.
    Script(ScriptWork),
    /// Give an agent a task.
    Agent(AgentWork),
    /// Run a skill.
    Skill(SkillWork),
    /// Run another ability.
    Child(ChildWork),
}

/// A command with every value in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptWork {
    /// Which shell.
    pub shell: Shell,
    /// The script; values are variable references in it.
    pub script: String,
    /// The variables that carry the values, and the step's own.
    pub variables: Vec<(String, String)>,
    /// Variables that take a named secret.
    pub secrets: Vec<(String, String)>,
    /// Where it runs, relative to the project's root.
    pub cwd: Option<String>,
}

/// A task for an agent with every value in place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentWork {
    /// Which agent.
    pub agent: String,
    /// The task.
    pub prompt: String,
    /// What goes before it.
    pub context: Vec<ContextWork>,
}

/// Something that an agent gets before its task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextWork {
    /// The files that a path or a glob names, relative to the project's root.
    Files(String),
    /// This text.
    Text(String),
}

/// A skill with every value in place.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillWork {
    /// Which skill.
    pub skill: String,
    /// What it is given.
    pub inputs: Vec<(String, Value)>,
}

/// Another ability with every value in place.
#[derive(Debug, Clone, PartialEq)]
pub struct ChildWork {
    /// Which ability.
    pub ability: String,
    /// What it is given.
    pub inputs: Vec<(String, Value)>,
}

impl Run {
    /// Returns what an event that was just appended asks for.
    pub fn effect(&self, event: &Event) -> Option<Effect> {
        match event {
            Event::HookStarted { hook } => Some(Effect::Hook(hook.clone())),
            Event::AttemptStarted { key, attempt, deadline } => {
                Some(Effect::Attempt { key: key.clone(), attempt: *attempt, deadline: *deadline })
            }
            _ => None,
        }
    }

    /// Returns what an attempt consists of; `secrets` are the values of secret inputs.
    pub fn work(&self, key: &StepKey, secrets: &[(String, String)]) -> Result<Work, String> {
        let (step, instance) = self.find(key).ok_or_else(|| format!("there is no step `{key}`"))?;
        let scope = RunScope::new(self, Some((step, instance)), secrets);
        let text = |template: &Template| template.render(&scope).map_err(|error| error.to_string());
        // What goes to a model is out of our hands: a secret input stays masked, as it is in the log.
        let open = RunScope::new(self, Some((step, instance)), &[]);
        let open_text = |template: &Template| template.render(&open).map_err(|error| error.to_string());
        Ok(match &self.step(step).kind {
            StepKind::Script(script) => {
                let dialect_shell = script.shell.as_ref().map_or(Shell::Sh, |shell| shell.value);
                let (rendered, mut variables) = render(&script.run, dialect_shell, &scope)?;
                let (own, named) = environment(script, &scope)?;
                variables.extend(own);
                let cwd = script.cwd.as_ref().map(|cwd| text(cwd)).transpose()?;
                Work::Script(ScriptWork {
                    shell: dialect_shell,
                    script: rendered,
                    variables,
                    secrets: named,
                    cwd,
                })
            }
            StepKind::Agent(agent) => Work::Agent(AgentWork {
                agent: agent.agent.to_string(),
                prompt: open_text(&agent.prompt)?,
                context: agent
                    .context
                    .iter()
                    .map(|entry| {
                        let kind = if names_files(entry) { ContextWork::Files } else { ContextWork::Text };
                        open_text(entry).map(kind)
                    })
                    .collect::<Result<_, _>>()?,
            }),
            StepKind::Skill(skill) => Work::Skill(SkillWork {
                skill: skill.skill.to_string(),
                inputs: arguments(&skill.inputs, &open)?,
            }),
            StepKind::Workflow(workflow) => Work::Child(ChildWork {
                ability: workflow.workflow.to_string(),
                inputs: arguments(&workflow.inputs, &scope)?,
            }),
            StepKind::Approval(_) => return Err(format!("`{key}` asks a human; there is nothing to run")),
        })
    }

    /// Renders a command of the step's evidence, which has the environment of the step; `result` is what the attempt that has just ended left.
    pub fn check_command(
        &self,
        key: &StepKey,
        command: &Template,
        result: &StepResult,
        secrets: &[(String, String)],
    ) -> Result<ScriptWork, String> {
        let (step, instance) = self.find(key).ok_or_else(|| format!("there is no step `{key}`"))?;
        let scope = RunScope::new(self, Some((step, instance)), secrets).seeing(result, None);
        let (script, mut variables) = render(command, Shell::Sh, &scope)?;
        let mut secrets = Vec::new();
        if let StepKind::Script(of) = &self.step(step).kind {
            let (own, named) = environment(of, &scope)?;
            variables.extend(own);
            secrets = named;
        }
        Ok(ScriptWork { shell: Shell::Sh, script, variables, secrets, cwd: None })
    }
}

/// Tells whether a `context` entry names files: it is a path or glob as it stands, or its own text is that of one.
fn names_files(entry: &Template) -> bool {
    let literal =
        || entry.parts().filter_map(|part| if let Part::Text(text) = part { Some(text) } else { None });
    entry.is_literal()
        || (literal().any(|text| text.contains('/'))
            && !literal().any(|text| text.contains(char::is_whitespace)))
}

fn arguments(
    inputs: &[(Spanned<String>, Spanned<Argument>)],
    scope: &RunScope<'_>,
) -> Result<Vec<(String, Value)>, String> {
    let value = |argument: &Argument| match argument {
        Argument::Template(template) => template.render_value(scope).map_err(|error| error.to_string()),
        Argument::Value(value) => Ok(value.clone()),
    };
    inputs.iter().map(|(name, argument)| Ok((name.value.clone(), value(argument)?))).collect()
}

/// Pairs of a variable and what it takes.
type Pairs = Vec<(String, String)>;

/// Returns the variables that a step sets, and those that take a named secret.
fn environment(step: &ScriptStep, scope: &RunScope<'_>) -> Result<(Pairs, Pairs), String> {
    let (mut own, mut named) = (Vec::new(), Vec::new());
    for (name, value) in &step.env {
        match &value.value {
            Environment::Template(template) => {
                let text = template.render(scope).map_err(|error| error.to_string())?;
                own.push((name.value.clone(), text));
            }
            Environment::Secret(secret) => named.push((name.value.clone(), secret.to_string())),
        }
    }
    Ok((own, named))
}

/// Renders a script for the shell of a step.
fn render(
    template: &Template,
    shell: Shell,
    scope: &RunScope<'_>,
) -> Result<(String, Vec<(String, String)>), String> {
    let dialect = match shell {
        Shell::Sh => Dialect::Sh,
        Shell::Bash => Dialect::Bash,
    };
    script(template, dialect, scope)
}
