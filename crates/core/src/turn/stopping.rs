//! What follows when the model takes an answer for its last: the turn ends, or a run holds it.

use super::{Conversation, TurnEnd};
use crate::policy::StopVerdict;

/// What follows from a final answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopping {
    /// The turn is over.
    End(TurnEnd),
    /// The model is told what is left, and goes on.
    Hold {
        /// What it is told.
        why: String,
    },
}

/// How often a model is held that does nothing in between; then the turn ends, and its run stays as it is.
const MOST: u32 = 4;

/// Returns what follows from a final answer, by what the gate says about stopping.
///
/// A model that will not go on cannot be made to: after a few times the turn fails and says what is left. A call that was
/// allowed begins the count anew; one that goes round in circles is not allowed.
pub fn stopping(conversation: &Conversation, verdict: StopVerdict) -> Stopping {
    let held = conversation.active.as_ref().map_or(0, |turn| turn.held);
    match verdict {
        StopVerdict::Warn { why } | StopVerdict::Refuse { why } if held < MOST => Stopping::Hold { why },
        StopVerdict::Allow | StopVerdict::Wait { .. } | StopVerdict::Warn { .. } => {
            Stopping::End(TurnEnd::Finished)
        }
        StopVerdict::Refuse { why } => Stopping::End(TurnEnd::Failed {
            why: format!("the agent stopped {} times although the run is not done. {why}", held + 1),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AnswerEnd, Arguments, Cost, Message, Piece, ToolCall, Usage};
    use crate::turn::{Answered, Decision, Next, Outcome, Room, TurnEvent, next};
    use crate::value::Value;

    fn said(pieces: Vec<Piece>) -> TurnEvent {
        let (usage, cost, end) = (Usage::default(), Cost::default(), AnswerEnd::Done);
        TurnEvent::Answered(Box::new(Answered { pieces, structured: None, usage, cost, end }))
    }

    fn done() -> TurnEvent {
        said(vec![Piece::Text("done".into())])
    }

    fn refuse() -> StopVerdict {
        StopVerdict::Refuse { why: "two steps are left".into() }
    }

    #[test]
    fn a_model_that_stops_early_is_told_what_is_left_and_goes_on() {
        let room = Room { tokens: 100_000, beside: 0 };
        let mut conversation = Conversation::default();
        conversation.apply(&TurnEvent::Told { parts: Vec::new(), label: None });
        conversation.apply(&done());
        assert_eq!(next(&conversation, None, &room), Next::End(TurnEnd::Finished));
        let Stopping::Hold { why } = stopping(&conversation, refuse()) else { panic!("it ends") };
        conversation.apply(&TurnEvent::Held { why });
        assert_eq!(next(&conversation, None, &room), Next::Ask, "it is asked again");
        assert_eq!(conversation.messages.last(), Some(&Message::user("two steps are left")));
    }

    #[test]
    fn a_model_that_will_not_go_on_ends_as_failed_and_one_that_works_is_held_again() {
        let mut conversation = Conversation::default();
        conversation.apply(&TurnEvent::Told { parts: Vec::new(), label: None });
        let hold = |conversation: &mut Conversation| {
            conversation.apply(&done());
            match stopping(conversation, refuse()) {
                Stopping::Hold { why } => {
                    conversation.apply(&TurnEvent::Held { why });
                    true
                }
                Stopping::End(end) => {
                    assert!(end.to_string().contains("two steps are left"), "{end}");
                    assert!(matches!(end, TurnEnd::Failed { .. }));
                    false
                }
            }
        };
        assert_eq!((0..10).take_while(|_| hold(&mut conversation)).count(), 4);
        let arguments = Arguments::Data(Value::Null);
        let call = |id: &str| {
            Piece::Call(ToolCall { id: id.into(), name: "look".into(), arguments: arguments.clone() })
        };
        for (decision, held) in [
            (Decision::Denied { check: crate::turn::Check::Policy, why: "no".into() }, 0),
            (Decision::Allowed { note: None }, 4),
        ] {
            conversation.apply(&said(vec![call("1")]));
            conversation.apply(&TurnEvent::Decided { call: 0, decision });
            conversation.apply(&TurnEvent::Result { call: 0, outcome: Outcome::text("seen") });
            assert_eq!((0..10).take_while(|_| hold(&mut conversation)).count(), held);
        }
    }

    #[test]
    fn who_may_stop_or_waits_for_a_human_ends_and_a_warning_holds() {
        let conversation = Conversation::default();
        let finished = Stopping::End(TurnEnd::Finished);
        assert_eq!(stopping(&conversation, StopVerdict::Allow), finished);
        assert_eq!(stopping(&conversation, StopVerdict::Wait { why: "ada".into() }), finished);
        let warn = StopVerdict::Warn { why: "one is left".into() };
        assert_eq!(stopping(&conversation, warn), Stopping::Hold { why: "one is left".into() });
    }
}
