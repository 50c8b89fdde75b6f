//! A run and the runs that its steps have called, as far as it matters to whoever leaves them: whether anything would be cut short.
//!
//! A run whose step has called another one is at work, as its own log says it. When all that it is at waits, it waits as well.

use abide_core::event::{RunId, StepKey};
use abide_core::run::{Run, RunStatus};
use std::collections::HashMap;

/// What a run does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Doing {
    /// Something that would be cut short.
    Work,
    /// It waits for a human or a moment.
    Waiting,
    /// These steps are under way; they may all have called other runs.
    Steps(Vec<StepKey>),
}

impl Doing {
    pub(super) fn of(run: &Run) -> Self {
        let waits =
            matches!(run.status(), RunStatus::Waiting | RunStatus::AwaitingPlan | RunStatus::Interrupted);
        let steps: Vec<StepKey> = run.in_flight().into_iter().map(|(key, _)| key).collect();
        match (steps.is_empty(), waits) {
            _ if run.hook_in_flight().is_some() => Self::Work,
            // What ends tells the runs that it has called, and they have something to do.
            (false, _) if run.ending.is_some() => Self::Work,
            (true, true) => Self::Waiting,
            (true, false) => Self::Work,
            (false, _) => Self::Steps(steps),
        }
    }
}

/// A run that a step has called.
struct Called {
    by: (RunId, StepKey),
    doing: Doing,
}

/// A run that is driven here, with all that it has called and that is not over.
pub(super) struct Family {
    doing: Doing,
    called: HashMap<RunId, Called>,
}

impl Default for Family {
    fn default() -> Self {
        Self { doing: Doing::Work, called: HashMap::new() }
    }
}

impl Family {
    /// Takes in what the run itself does.
    pub(super) fn own(&mut self, doing: Doing) {
        self.doing = doing;
    }

    /// Takes in what a run does that a step has called; nothing if it is over.
    pub(super) fn called(&mut self, id: &RunId, by: &(RunId, StepKey), doing: Option<Doing>) {
        match doing {
            Some(doing) => drop(self.called.insert(id.clone(), Called { by: by.clone(), doing })),
            None => drop(self.called.remove(id)),
        }
    }

    /// Returns the runs that were called and are not over.
    pub(super) fn members(&self) -> impl Iterator<Item = &RunId> {
        self.called.keys()
    }

    /// Returns whether nothing is cut short when the run is left.
    pub(super) fn waits(&self, id: &RunId) -> bool {
        self.rests(id, &self.doing)
    }

    fn rests(&self, id: &RunId, doing: &Doing) -> bool {
        let steps = match doing {
            Doing::Work => return false,
            Doing::Waiting => return true,
            Doing::Steps(steps) => steps,
        };
        steps.iter().all(|step| {
            let of_step = |called: &Called| called.by.0 == *id && called.by.1 == *step;
            self.called.iter().any(|(id, called)| of_step(called) && self.rests(id, &called.doing))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> RunId {
        RunId::parse(&format!("0198b5a0-0000-7000-8000-0000000000{number:02}")).unwrap()
    }

    fn steps(names: &[&str]) -> Doing {
        Doing::Steps(names.iter().map(|name| StepKey::parse(name).unwrap()).collect())
    }

    fn by(number: u8, step: &str) -> (RunId, StepKey) {
        (id(number), StepKey::parse(step).unwrap())
    }

    #[test]
    fn a_run_waits_when_all_that_it_has_called_waits() {
        let mut family = Family::default();
        assert!(!family.waits(&id(0)), "nobody knows yet");
        family.own(Doing::Waiting);
        assert!(family.waits(&id(0)));
        family.own(steps(&["a", "b"]));
        assert!(!family.waits(&id(0)), "a step that has called nothing is at work");
        family.called(&id(1), &by(0, "a"), Some(Doing::Waiting));
        assert!(!family.waits(&id(0)), "the other step is at work");
        family.called(&id(2), &by(0, "b"), Some(Doing::Work));
        assert!(!family.waits(&id(0)), "what it has called is at work");
        family.called(&id(2), &by(0, "b"), Some(steps(&["c"])));
        assert!(!family.waits(&id(0)), "and so is a step of that");
        family.called(&id(3), &by(2, "c"), Some(Doing::Waiting));
        assert!(family.waits(&id(0)), "at any depth");
        family.called(&id(3), &by(2, "c"), None);
        assert!(!family.waits(&id(0)), "what is over waits for nobody");
        assert_eq!(family.members().count(), 2);
    }

    #[test]
    fn a_step_of_the_same_name_is_another_one() {
        let mut family = Family::default();
        family.own(steps(&["a"]));
        family.called(&id(1), &by(0, "b"), Some(steps(&["a"])));
        family.called(&id(2), &by(1, "a"), Some(Doing::Waiting));
        assert!(!family.waits(&id(0)));
    }
}
