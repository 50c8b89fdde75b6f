//! What a conversation needs done now.

use super::{Conversation, Exhausted, Room, TurnEnd, compaction};
use crate::model::AnswerEnd;

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Nothing, until the model is told something.
    Wait,
    /// Replace this many messages from the beginning by a summary.
    Compact {
        /// How many.
        upto: usize,
    },
    /// Ask the model.
    Ask,
    /// See to these calls of the last answer.
    Calls(Vec<usize>),
    /// End the turn.
    End(TurnEnd),
}

/// Returns what is to be done; the same arguments give the same answer.
///
/// A final answer is a success, whatever is used up by then. What is used up before there is one ends the turn, and the
/// calls of the last answer are not made: nobody would ever be told what came of them.
pub fn next(conversation: &Conversation, exhausted: Option<Exhausted>, room: &Room) -> Next {
    let Some(turn) = &conversation.active else { return Next::Wait };
    let failed = |why: &str| Next::End(TurnEnd::Failed { why: why.to_owned() });
    match turn.answered {
        None => {}
        // Without calls there is nothing that it could wait for.
        Some(AnswerEnd::Done | AnswerEnd::Calls) => return Next::End(TurnEnd::Finished),
        Some(AnswerEnd::Limit) => {
            return failed("the answer is longer than an answer may be, and was cut off");
        }
        Some(AnswerEnd::Refused) => return failed("the model would not answer"),
    }
    if let Some(exhausted) = exhausted {
        return Next::End(TurnEnd::OutOfBudget(exhausted));
    }
    let open: Vec<usize> = turn.open().collect();
    if !open.is_empty() {
        return Next::Calls(open);
    }
    match compaction(conversation, room) {
        Some(upto) => Next::Compact { upto },
        None => Next::Ask,
    }
}
