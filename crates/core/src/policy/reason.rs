//! The sentences of the gate: what is denied, why, and what to do instead, for a model to act on.

use super::guard::Touch;
use super::reserve::{Doubt, Hit};
use super::situation::{Active, Grants, Situation, Standing};
use super::subject::Subject;
use super::verdict::Verdict;
use crate::definition::StepType;
use crate::diagnostic::excerpt;

/// How much of a step's task a sentence repeats.
const LONGEST_TASK: usize = 300;

type Sentences = (String, String);

/// Says that a call is outside the step.
pub(super) fn outside(subject: &Subject<'_>, active: &Active) -> Verdict {
    let tool = excerpt(&subject.call.name);
    let run = run(active);
    let why = match &active.step {
        Some(step) => {
            format!("`{tool}` is not part of step `{}`, which is active in {run}", excerpt(&step.id))
        }
        None => format!("`{tool}` is not part of {run}, in which no step is active yet"),
    };
    Verdict::Deny { why, instead: next(active) }
}

fn run(active: &Active) -> String {
    format!(
        "the run of `{}` ({} of {} steps done, {})",
        excerpt(&active.ability),
        active.done,
        active.total,
        active.level.word()
    )
}

/// Says what to do now.
pub(super) fn next(active: &Active) -> String {
    let Some(step) = &active.step else {
        return "wait until the first step begins; `ability_status` shows how far the run is".to_owned();
    };
    let id = excerpt(&step.id);
    if step.waits_for_human {
        return format!(
            "step `{id}` waits for a human: tell the user what is asked, and wait for the answer"
        );
    }
    match step.step_type {
        StepType::Script => {
            format!("step `{id}` is run by abide itself: wait for it; `ability_status` shows how far it is")
        }
        StepType::Approval => {
            format!("step `{id}` waits for a human: tell the user what is asked, and wait for the answer")
        }
        StepType::Workflow => {
            format!("step `{id}` runs another ability: do the step of that one, which `ability_status` shows")
        }
        StepType::Agent | StepType::Skill => {
            let granted = match &step.grants {
                Grants::Own => String::new(),
                Grants::Only(tools) if tools.is_empty() => "; it grants no other tools".to_owned(),
                Grants::Only(tools) => {
                    let shown: Vec<String> =
                        tools.iter().take(20).map(|tool| excerpt(tool).into_owned()).collect();
                    format!("; it grants {}", shown.join(", "))
                }
            };
            let task: String = step.task.chars().take(LONGEST_TASK).collect();
            let then = if active.worker { "say what came of it" } else { "call `ability_submit`" };
            format!("do step `{id}`: {task}{granted}. When it is done, {then}")
        }
    }
}

/// Says how things stand for one that a denied call leaves without a step.
fn instead(situation: &Situation) -> String {
    match situation.active() {
        Some(active) => next(active),
        None => "ask the user to do it".to_owned(),
    }
}

pub(super) fn own_command(command: &str, situation: &Situation) -> Sentences {
    let why =
        format!("`{command}` is a human's to call; an agent may not decide about runs, nor change the gate");
    let other = match situation.active() {
        Some(active) => next(active),
        None => "ask the user to run it in a terminal, or use the `ability_…` tools".to_owned(),
    };
    (why, other)
}

pub(super) fn kill(situation: &Situation) -> Sentences {
    ("this could end the process that drives a run".to_owned(), instead(situation))
}

pub(super) fn types(situation: &Situation) -> Sentences {
    let why = "this types into another terminal, where no line shows what is run and a human could be asked";
    (why.to_owned(), instead(situation))
}

pub(super) fn guarded(touch: &Touch<'_>, subject: &Subject<'_>) -> Sentences {
    let tool = excerpt(&subject.call.name);
    let (path, role) = (excerpt(&touch.guarded.path), touch.guarded.role.word());
    let why = match (touch.doubtful, subject.line().and_then(|line| line.blind.as_ref())) {
        (false, _) => format!("`{tool}` would change `{path}`, which is {role}"),
        (true, Some(blind)) => format!("`{tool}` could change `{path}`, which is {role}: {blind}"),
        (true, None) => {
            format!(
                "`{tool}` could change `{path}`, which is {role}: what it writes is known only when it runs"
            )
        }
    };
    let other = match subject.situation.active() {
        Some(active) if touch.doubtful => {
            format!(
                "name the files that are written as they are, or put the code into a file; {}",
                next(active)
            )
        }
        Some(active) => format!("leave it as it is until the run is over; {}", next(active)),
        None => "leave it to abide, or ask the user".to_owned(),
    };
    (why, other)
}

pub(super) fn reserved(hit: &Hit<'_>, subject: &Subject<'_>) -> Sentences {
    let (ability, pattern) = (excerpt(&hit.reserved.ability), hit.reserved.pattern.to_string());
    let pattern = excerpt(&pattern);
    let why = match &hit.doubt {
        None => format!("`{pattern}` is reserved for runs of the ability `{ability}`"),
        Some(Doubt::Unknown) => {
            format!("this could be `{pattern}`, which is reserved for runs of the ability `{ability}`")
        }
        Some(Doubt::Blind(blind)) => {
            format!(
                "this could be `{pattern}`, which is reserved for runs of the ability `{ability}`: {blind}"
            )
        }
    };
    let plainly = if hit.doubt.is_some() {
        "if it is something else, write the command plainly, without code, variables or wildcards that decide what \
         runs; otherwise "
    } else {
        ""
    };
    match hit.reserved.standing {
        Standing::Current => {}
        Standing::Replaced => {
            let other = format!(
                "{plainly}ask the user: the definition that reserves it is another `{ability}` than the one that runs here"
            );
            return (why, other);
        }
        Standing::Gone => {
            let other = format!(
                "{plainly}ask the user: no definition says so any more, and a human lets it go with `abide validate` in a \
                 terminal of their own"
            );
            return (why, other);
        }
    }
    let other = match subject.situation.active() {
        Some(active) if active.ability == hit.reserved.ability => {
            format!("{plainly}leave it to the step that does it; {}", next(active))
        }
        Some(active) => format!("{plainly}finish this run first; {}", next(active)),
        None => format!("{plainly}run the ability `{ability}` with `ability_run`"),
    };
    (why, other)
}

pub(super) fn unreadable(tool: &str, why: &str) -> Sentences {
    (
        format!(
            "`{}` is denied because it cannot be read whether a run is active: {}",
            excerpt(tool),
            excerpt(why)
        ),
        "tell the user to run `abide doctor`".to_owned(),
    )
}

pub(super) fn unreadable_stop(why: &str) -> String {
    format!(
        "it cannot be read whether a run is active: {}; tell the user to run `abide doctor`, then call `ability_status`",
        excerpt(why)
    )
}

pub(super) fn unreadable_arguments(tool: &str) -> Sentences {
    (
        format!("the arguments of `{}` cannot be understood", excerpt(tool)),
        "call it again as its schema says".to_owned(),
    )
}

pub(super) fn not_runnable(ability: &str) -> Sentences {
    (
        format!("this agent may not run the ability `{}`", excerpt(ability)),
        "`ability_list` shows what it may run; otherwise ask the user".to_owned(),
    )
}

pub(super) fn second_run(active: &Active) -> Sentences {
    (
        format!(
            "run `{}` is active in this session, and one at a time is the rule: {}",
            active.run,
            run(active)
        ),
        next(active),
    )
}

pub(super) fn nothing_to_submit(active: &Active) -> Sentences {
    (format!("there is nothing to submit now in {}", run(active)), next(active))
}

pub(super) fn cancel(active: Option<&Active>) -> Sentences {
    match active {
        Some(active) => (
            format!("to cancel {} is a human's right", run(active)),
            format!("if it should end, ask the user to run `abide cancel {}`; {}", active.run, next(active)),
        ),
        None => (
            "to cancel a run whose state cannot be read is a human's right".to_owned(),
            "tell the user to run `abide doctor`".to_owned(),
        ),
    }
}

pub(super) fn approve() -> Sentences {
    (
        "an approval is answered by a human, never by an agent".to_owned(),
        "tell the user what is asked, and wait for the answer".to_owned(),
    )
}

pub(super) fn left(active: &Active) -> String {
    let open = active.total.saturating_sub(active.done);
    format!("{} is not done, {open} of its steps are left; {}", run(active), next(active))
}

pub(super) fn waits(active: &Active) -> String {
    format!("{} goes on when a human has answered; {}", run(active), next(active))
}
