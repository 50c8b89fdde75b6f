//! What a run would do: definition and inputs → [`Plan`], or every problem at once.
//!
//! Nothing is run to find out. What depends on results that do not exist yet is said to be decided later, and
//! by what; everything else is shown as the run will see it. Start at [`Plan::of`].

mod action;
mod evidence;
mod order;
mod scope;
mod walk;

pub use action::{Action, Known, NamedValue};
pub use walk::{Call, Stub, Stubs, Walked, walk};

use crate::definition::check::dependencies;
use crate::definition::{Items, OnFailure, Step, StepId, StepKind, StepType};
use crate::event::{Event, HookKey, HookPhase, Skip};
use crate::run::Run;
use crate::value::{Duration, Value};
use scope::PlanScope;
use smol_str::SmolStr;

/// What a run would do, in the order in which it would.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The ability's name.
    pub ability: SmolStr,
    /// Where scripts run.
    pub root: String,
    /// The inputs, with defaults filled in; secret ones are masked.
    pub inputs: Vec<(SmolStr, Value)>,
    /// Scripts that run before the first step.
    pub before: Vec<HookKey>,
    /// Scripts that run after the last step.
    pub after: Vec<HookKey>,
    /// How many steps may run at the same time.
    pub at_once: usize,
    /// How long the whole run may take.
    pub timeout: Option<Duration>,
    /// Whether a human must agree to it first.
    pub approval: bool,
    /// The steps.
    pub steps: Vec<PlannedStep>,
}

/// What would be done about one step.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedStep {
    /// Which.
    pub id: StepId,
    /// What it is for.
    pub description: Option<String>,
    /// Steps with the same number may run at the same time.
    pub stage: usize,
    /// The steps that it waits for.
    pub needs: Vec<StepId>,
    /// Its condition, and how that is decided.
    pub when: Option<(String, Decision)>,
    /// What it does.
    pub action: Action,
    /// The items of a `for_each`, each as data.
    pub for_each: Option<Known>,
    /// How it is repeated, if it is.
    pub repeat: Option<PlannedRepeat>,
    /// What must hold before it counts as done: each rule by its key, and what it asks for.
    pub evidence: Vec<(&'static str, Known)>,
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
    /// What happens when it fails.
    pub on_failure: OnFailure,
    /// How often it is tried again, and after what time first, where a failure leads to that.
    pub retries: Option<(u32, Duration)>,
}

/// How a step is repeated.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRepeat {
    /// Until this holds.
    pub until: String,
    /// How often it runs at most.
    pub max: u32,
    /// How long it waits in between.
    pub delay: Duration,
}

impl PlannedStep {
    /// Returns the type of the step.
    pub fn step_type(&self) -> StepType {
        match self.action {
            Action::Script { .. } => StepType::Script,
            Action::Agent { .. } => StepType::Agent,
            Action::Skill { .. } => StepType::Skill,
            Action::Approval { .. } => StepType::Approval,
            Action::Workflow { .. } => StepType::Workflow,
        }
    }

    /// Returns whether it is known that the step will not be done.
    pub fn is_skipped(&self) -> bool {
        matches!(self.when, Some((_, Decision::Fails { .. })))
    }
}

/// How a condition is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// It holds.
    Holds {
        /// The values that make it so.
        because: String,
    },
    /// It does not hold: the step is skipped.
    Fails {
        /// The values that make it so.
        because: String,
    },
    /// It depends on what does not exist yet.
    Later {
        /// On what, as paths.
        on: Vec<String>,
    },
}

impl Plan {
    /// Plans a run that has not begun; `secrets` are the values of secret inputs, which only conditions look at.
    pub fn of(run: &Run, secrets: &[(String, String)]) -> Result<Self, Vec<String>> {
        let mut run = run.clone();
        let mut problems = Vec::new();
        let mut steps = Vec::new();
        let ability = std::sync::Arc::clone(&run.ability);
        let waits = dependencies(&ability);
        for (stage, position) in order::stages(&waits, ability.settings.is_parallel()) {
            let step = &ability.steps[position];
            let mut wrong = |message: String| problems.push(format!("step `{}`: {message}", *step.id));
            let when = step.when.as_ref().and_then(|when| {
                let scope = PlanScope::new(&run, secrets);
                let holds = scope.known(|| when.evaluate_condition(&scope));
                let decision = match holds {
                    Err(on) => Decision::Later { on },
                    Ok(Ok(true)) => Decision::Holds { because: when.explain(&scope) },
                    Ok(Ok(false)) => Decision::Fails { because: when.explain(&scope) },
                    Ok(Err(error)) => {
                        wrong(format!("`when` cannot be decided: {error}"));
                        return None;
                    }
                };
                Some((when.text().to_owned(), decision))
            });
            let skipped = matches!(when, Some((_, Decision::Fails { .. })));
            // Values are shown, so secret ones stay masked here.
            let scope = PlanScope::new(&run, &[]);
            let for_each = for_each(step, &scope, &mut wrong);
            let evidence = evidence::of(step, &scope, &mut |message| {
                if !skipped {
                    wrong(message);
                }
            });
            let action = action::of(step, &scope, &mut |message| {
                // A step that is skipped may refer to what is not there.
                if !skipped {
                    wrong(message);
                }
            });
            steps.push(PlannedStep {
                id: step.id.value.clone(),
                description: step.description.as_ref().map(|text| text.value.clone()),
                stage,
                needs: waits[position].iter().map(|wait| ability.steps[wait.on].id.value.clone()).collect(),
                when,
                action,
                for_each,
                repeat: step.repeat.as_ref().map(|repeat| PlannedRepeat {
                    until: repeat.until.text().to_owned(),
                    max: Run::most_rounds(repeat),
                    delay: Run::pause_between_rounds(repeat),
                }),
                timeout: Run::time_limit(step),
                on_failure: run.on_failure(step),
                retries: retries(&run, step, &evidence),
                evidence,
            });
            if skipped {
                let why = Skip::When { because: String::new() };
                run.apply(&Event::StepSkipped { step: step.id.value.clone(), why });
            }
        }
        let mut needs = ability.steps.iter().flat_map(|step| &step.needs);
        let lacking = needs.any(|need| run.position(need.as_str()).is_none());
        if steps.len() < ability.steps.len() || steps.is_empty() || lacking {
            problems.push("some steps could never begin".to_owned());
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let hooks = |phase: HookPhase| run.hooks(phase);
        Ok(Self {
            ability: run.created.name.clone(),
            root: run.created.root.clone(),
            inputs: run.created.inputs.clone(),
            before: hooks(HookPhase::Before),
            after: hooks(HookPhase::After),
            at_once: if ability.settings.is_parallel() { run.capacity() } else { 1 },
            timeout: ability.settings.timeout.as_ref().map(|timeout| timeout.value),
            approval: run.created.plan_approval,
            steps,
        })
    }
}

/// Returns how often a step is tried again and after what time, if a failure of it leads to that.
fn retries(run: &Run, step: &Step, evidence: &[(&'static str, Known)]) -> Option<(u32, Duration)> {
    let most = Run::most_retries(step);
    if run.on_failure(step) == OnFailure::Retry {
        return Some((most, Run::pause_before_retries(step)));
    }
    // An agent is told at once what evidence is missing.
    let is_told = matches!(step.kind, StepKind::Agent(_) | StepKind::Skill(_)) && !evidence.is_empty();
    is_told.then_some((most, Duration::from_millis(0)))
}

fn for_each(step: &Step, scope: &PlanScope<'_>, wrong: &mut dyn FnMut(String)) -> Option<Known> {
    let items = match &step.for_each.as_ref()?.items.value {
        Items::List(items) => return Some(Known::Now(Value::List(items.clone()))),
        Items::Template(items) => items,
    };
    match scope.known(|| items.render_value(scope)) {
        Err(on) => Some(Known::Later { text: items.text().to_owned(), on }),
        Ok(Ok(list @ Value::List(_))) => Some(Known::Now(list)),
        Ok(Ok(other)) => {
            wrong(format!("`for_each` takes a list, and this is {}", other.kind()));
            None
        }
        Ok(Err(error)) => {
            wrong(format!("`for_each` cannot be decided: {error}"));
            None
        }
    }
}
