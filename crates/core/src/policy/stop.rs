//! What an agent may do about the run itself: stop working, cancel it, answer its approvals.

use super::reason;
use super::situation::{Seat, Session, Situation};
use super::verdict::Verdict;
use crate::definition::Enforcement;

/// What the gate answers when an agent wants to stop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopVerdict {
    /// It may.
    Allow,
    /// It may, because only a human can go on; the run stays active.
    Wait {
        /// What the run waits for.
        why: String,
    },
    /// It is told once that the run is not done; the next time it may.
    Warn {
        /// What is left.
        why: String,
    },
    /// It may not.
    Refuse {
        /// What is left.
        why: String,
    },
}

/// Returns whether a session may stop now.
///
/// A sub-agent may always stop: it hands its result to the session that started it, which the run holds. One that
/// started the run itself is held as a session is. A run that waits for a human holds nobody, since nothing that
/// the agent does could bring it on; the tools stay as they are.
pub fn stop(situation: &Situation) -> StopVerdict {
    let (level, warned, why) = match &situation.session {
        Session::Free => return StopVerdict::Allow,
        _ if situation.seat == Seat::Child => return StopVerdict::Allow,
        Session::Unreadable { level, why } => {
            (level.unwrap_or(Enforcement::Strict), false, reason::unreadable_stop(why))
        }
        // Whoever started it looks for the evidence then, and tells it what is missing.
        Session::Active(active) if active.worker => return StopVerdict::Allow,
        Session::Active(active) => {
            if active.step.as_ref().is_some_and(|step| step.waits_for_human) {
                return match active.level {
                    Enforcement::Loose => StopVerdict::Allow,
                    Enforcement::Strict | Enforcement::Normal => {
                        StopVerdict::Wait { why: reason::waits(active) }
                    }
                };
            }
            (active.level, active.warned, reason::left(active))
        }
    };
    match level {
        Enforcement::Strict => StopVerdict::Refuse { why },
        Enforcement::Normal if warned => StopVerdict::Allow,
        Enforcement::Normal => StopVerdict::Warn { why },
        Enforcement::Loose => StopVerdict::Allow,
    }
}

/// Returns whether an agent may cancel the run of its session.
pub fn cancel(situation: &Situation) -> Verdict {
    let (level, run) = match &situation.session {
        Session::Free => return Verdict::Allow,
        Session::Active(active) => (active.level, Some(active)),
        Session::Unreadable { level, .. } => (level.unwrap_or(Enforcement::Strict), None),
    };
    match level {
        Enforcement::Strict => {
            let (why, instead) = reason::cancel(run.map(|active| &**active));
            Verdict::Deny { why, instead }
        }
        Enforcement::Normal => Verdict::Ask { why: reason::cancel(run.map(|active| &**active)).0 },
        Enforcement::Loose => Verdict::Allow,
    }
}

/// Who gives an answer to an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// A human, through a channel that an agent cannot use.
    Human,
    /// An agent, or anything that it could have written.
    Agent,
}

/// Returns whether an approval may be answered: never by an agent, at any level.
pub fn approve(asker: Asker) -> Verdict {
    match asker {
        Asker::Human => Verdict::Allow,
        Asker::Agent => {
            let (why, instead) = reason::approve();
            Verdict::Deny { why, instead }
        }
    }
}
