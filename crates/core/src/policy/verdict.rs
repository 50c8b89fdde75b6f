//! The verdict about one tool call.

use super::call::ToolCall;
use super::cli::{self, Refused};
use super::grant::granted;
use super::guard;
use super::kind::{OwnTool, ToolKind, kind};
use super::path::Files;
use super::reading::only_looks;
use super::reason;
use super::reserve::{Hit, reserved};
use super::situation::{Active, Grants, Session, Situation, Standing};
use super::stop::cancel;
use super::subject::Subject;
use crate::definition::{Enforcement, StepType};

/// What the gate answers about a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It may be made.
    Allow,
    /// It may be made, and the agent is told what is off.
    Warn {
        /// What is off.
        why: String,
    },
    /// A human must be asked.
    Ask {
        /// What about.
        why: String,
    },
    /// It may not be made.
    Deny {
        /// What is denied, and why.
        why: String,
        /// What to do instead.
        instead: String,
    },
}

impl Verdict {
    /// Returns whether the call may be made without anybody being asked.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow | Self::Warn { .. })
    }

    fn severity(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Warn { .. } => 1,
            Self::Ask { .. } => 2,
            Self::Deny { .. } => 3,
        }
    }
}

/// Returns whether a session may make a tool call now.
pub fn verdict(situation: &Situation, call: &ToolCall, files: &dyn Files) -> Verdict {
    if kind(call.client, &call.name) == ToolKind::Batch && !call.arguments.unreadable {
        // The calls inside are what is made; the strictest answer about one of them is the answer.
        let verdicts = call.arguments.nested.iter().map(|call| verdict(situation, call, files));
        return verdicts.max_by_key(Verdict::severity).unwrap_or(Verdict::Allow);
    }
    let subject = Subject::new(situation, call, files);
    let by_session = match (&situation.session, subject.kind) {
        (_, ToolKind::Own(own)) => return own_tool(&subject, own),
        (Session::Free, _) => Verdict::Allow,
        (Session::Unreadable { level, why }, _) => unreadable(&subject, *level, why),
        (Session::Active(active), _) => by_level(&subject, active),
    };
    if !by_session.is_allowed() {
        return by_session;
    }
    always(&subject).unwrap_or(by_session)
}

/// What holds at every level, with and without a run.
fn always(subject: &Subject<'_>) -> Option<Verdict> {
    let deny = |(why, instead)| Some(Verdict::Deny { why, instead });
    if let Some(refused) = cli::refused(subject) {
        return deny(match refused {
            Refused::Command(command) => reason::own_command(&command, subject.situation),
            Refused::Run(ability) => reason::not_runnable(&ability),
            Refused::Kill => reason::kill(subject.situation),
            Refused::Types => reason::types(subject.situation),
        });
    }
    if let Some(touch) = guard::touched(subject) {
        return deny(reason::guarded(&touch, subject));
    }
    let hits = reserved(subject);
    let forbidden = hits.iter().find(|hit| !may_make_reserved(subject, hit))?;
    deny(reason::reserved(forbidden, subject))
}

/// Returns whether a reserved call may be made: in a run of its ability, by a step that names it.
///
/// A step that leaves the agent all its own tools does not grant a reserved call: a review could deploy before
/// anybody approved it.
fn may_make_reserved(subject: &Subject<'_>, hit: &Hit<'_>) -> bool {
    let Some(active) = subject.situation.active() else { return false };
    if active.ability != hit.reserved.ability || hit.reserved.standing != Standing::Current {
        return false;
    }
    let by_step = active.step.as_ref().is_some_and(|step| {
        matches!(step.step_type, StepType::Agent | StepType::Skill)
            && matches!(step.grants, Grants::Only(_))
            && granted(subject, &step.grants)
    });
    by_step || active.level == Enforcement::Loose
}

/// The table of levels.
fn by_level(subject: &Subject<'_>, active: &Active) -> Verdict {
    if by_step(subject, active) {
        return Verdict::Allow;
    }
    let outside = || reason::outside(subject, active);
    match active.level {
        Enforcement::Normal if only_looks(subject) => Verdict::Allow,
        Enforcement::Strict | Enforcement::Normal => outside(),
        Enforcement::Loose => match outside() {
            Verdict::Deny { why, .. } => Verdict::Warn { why },
            other => other,
        },
    }
}

/// Returns whether the step grants the call.
fn by_step(subject: &Subject<'_>, active: &Active) -> bool {
    let Some(step) = &active.step else { return false };
    match step.step_type {
        // abide runs these itself, or a human answers.
        StepType::Script | StepType::Approval | StepType::Workflow => false,
        StepType::Agent | StepType::Skill => !step.waits_for_human && granted(subject, &step.grants),
    }
}

fn unreadable(subject: &Subject<'_>, level: Option<Enforcement>, why: &str) -> Verdict {
    let denied = || {
        let (why, instead) = reason::unreadable(&subject.call.name, why);
        Verdict::Deny { why, instead }
    };
    match level.unwrap_or(Enforcement::Strict) {
        Enforcement::Normal if only_looks(subject) => Verdict::Allow,
        Enforcement::Strict | Enforcement::Normal => denied(),
        Enforcement::Loose => Verdict::Warn { why: reason::unreadable(&subject.call.name, why).0 },
    }
}

/// What may be done with the tools of abide.
fn own_tool(subject: &Subject<'_>, own: OwnTool) -> Verdict {
    let situation = subject.situation;
    let deny = |(why, instead)| Verdict::Deny { why, instead };
    match (own, &situation.session) {
        // Without a run abide answers that there is none.
        (OwnTool::List | OwnTool::Status, _)
        | (OwnTool::Submit | OwnTool::Validate | OwnTool::Agent, Session::Free) => Verdict::Allow,
        // Whoever started it is told by its answer, at every level.
        (OwnTool::Cancel, Session::Active(active)) if active.worker => deny(reason::cancel(Some(&**active))),
        (OwnTool::Cancel, _) => cancel(situation),
        (OwnTool::Run, Session::Active(active)) => deny(reason::second_run(active)),
        (OwnTool::Run, Session::Unreadable { why, .. }) => deny(reason::unreadable(&subject.call.name, why)),
        (OwnTool::Run, Session::Free) => match &subject.call.arguments.ability {
            _ if subject.call.arguments.unreadable => deny(reason::unreadable_arguments(&subject.call.name)),
            Some(ability) if !situation.agent.may_run(ability) => deny(reason::not_runnable(ability)),
            _ => Verdict::Allow,
        },
        (OwnTool::Submit, Session::Active(active)) if active.worker => {
            deny(reason::nothing_to_submit(active))
        }
        (OwnTool::Submit, Session::Active(active)) => {
            let takes = active.step.as_ref().is_some_and(|step| {
                matches!(step.step_type, StepType::Agent | StepType::Skill) && !step.waits_for_human
            });
            match active.level {
                _ if takes => Verdict::Allow,
                Enforcement::Loose => Verdict::Warn { why: reason::nothing_to_submit(active).0 },
                Enforcement::Strict | Enforcement::Normal => deny(reason::nothing_to_submit(active)),
            }
        }
        (OwnTool::Validate | OwnTool::Agent, Session::Active(active)) => match active.level {
            Enforcement::Strict => {
                if by_step(subject, active) {
                    Verdict::Allow
                } else {
                    reason::outside(subject, active)
                }
            }
            Enforcement::Normal | Enforcement::Loose => Verdict::Allow,
        },
        (_, Session::Unreadable { level, why }) => unreadable(subject, *level, why),
    }
}
