//! The laws of a conversation: whatever its log, whoever crashes when.

use super::*;
use crate::model::{AnswerEnd, Arguments, Cost, Image, Message, Piece, ToolCall, Usage};
use crate::value::Value;
use proptest::prelude::*;

/// What the model does in one of its answers.
#[derive(Debug, Clone)]
struct Saying {
    /// The input of each call; none is a final answer.
    calls: Vec<u8>,
    tokens: u64,
    /// How long what it says is.
    bytes: usize,
}

fn saying() -> impl Strategy<Value = Saying> {
    (prop::collection::vec(0_u8..6, 0..4), 1_u64..200, 0_usize..400)
        .prop_map(|(calls, tokens, bytes)| Saying { calls, tokens, bytes })
}

/// A world that answers the same way whenever it is asked the same thing.
struct World {
    script: Vec<Saying>,
    envelope: Envelope,
    room: Room,
    /// How often the model was asked, by everybody.
    asked: usize,
}

impl World {
    fn new(script: &[Saying], turns: u32, tokens: u64, room: u64) -> Self {
        Self {
            script: script.to_vec(),
            envelope: Envelope { turns: Some(turns), tokens: Some(tokens), ..Envelope::default() },
            room: Room { tokens: room, beside: 0 },
            asked: 0,
        }
    }

    /// Does what is next; returns the events that a loop would store, in the pieces in which it stores them.
    fn step(&mut self, conversation: &Conversation) -> Vec<Vec<TurnEvent>> {
        let turn = conversation.active.clone().unwrap_or_default();
        let exhausted = self.envelope.exhausted(&turn.spent, std::time::Duration::ZERO);
        match next(conversation, exhausted, &self.room) {
            Next::Wait => Vec::new(),
            Next::End(end) => vec![vec![TurnEvent::Ended(end)]],
            Next::Compact { upto } => vec![vec![TurnEvent::Compacted(Compacted {
                upto: u32::try_from(upto).unwrap(),
                summary: "what was".into(),
                by_model: true,
                usage: Usage::default(),
                cost: Cost::default(),
            })]],
            Next::Ask => {
                self.asked += 1;
                vec![vec![TurnEvent::Asked], vec![TurnEvent::Answered(Box::new(self.answer(conversation)))]]
            }
            Next::Calls(open) => {
                let mut steps = Vec::new();
                let mut repeats = turn.repeats.clone();
                for position in open {
                    let call = u32::try_from(position).unwrap();
                    let called = &turn.calls[position];
                    let too_often = called.stage == Stage::Open && repeats.count(&called.call);
                    if too_often {
                        let decision = Decision::Denied { check: Check::Repeats, why: "again".into() };
                        steps.push(vec![TurnEvent::Decided { call, decision }]);
                        continue;
                    }
                    steps.push(vec![
                        TurnEvent::Decided { call, decision: Decision::Allowed { note: None } },
                        TurnEvent::Started { call },
                    ]);
                    let outcome = Outcome::text(format!("result of {}", called.call.id));
                    steps.push(vec![TurnEvent::Result { call, outcome }]);
                }
                steps
            }
        }
    }

    fn answer(&self, conversation: &Conversation) -> Answered {
        let number = conversation.spent.turns as usize;
        let said =
            self.script.get(number).cloned().unwrap_or(Saying { calls: Vec::new(), tokens: 1, bytes: 1 });
        let mut pieces = vec![Piece::Text("x".repeat(said.bytes.max(1)))];
        pieces.extend(said.calls.iter().enumerate().map(|(position, input)| {
            Piece::Call(ToolCall {
                id: format!("call_{number}_{position}"),
                name: "look".into(),
                arguments: Arguments::Data(Value::Int((*input).into())),
            })
        }));
        let usage = Usage { output_tokens: said.tokens, ..Usage::default() };
        let end = if said.calls.is_empty() { AnswerEnd::Done } else { AnswerEnd::Calls };
        Answered { pieces, structured: None, usage, cost: Cost(said.tokens), end }
    }
}

fn told(text: &str) -> TurnEvent {
    TurnEvent::Told { parts: vec![crate::model::Part::Text(text.into())], label: None }
}

fn fold(log: &[TurnEvent]) -> Conversation {
    let mut conversation = Conversation::default();
    for event in log {
        conversation.apply(event);
    }
    conversation
}

/// Lets a world play until nothing is left to do; crashes once after this many appends, if so many there are.
fn play(world: &mut World, messages: &[&str], crash: Option<usize>) -> (Vec<TurnEvent>, Option<usize>) {
    let mut log = Vec::new();
    let mut appends = 0;
    let mut crashed_at = None;
    for message in messages {
        log.push(told(message));
        let mut rounds = 0;
        while fold(&log).active.is_some() {
            rounds += 1;
            assert!(rounds < 200, "a turn comes to its end");
            for events in world.step(&fold(&log)) {
                log.extend(events);
                appends += 1;
                if crash == Some(appends) {
                    crashed_at = Some(log.len());
                    let lost = fold(&log).lost(|_| false);
                    log.extend(lost);
                    break;
                }
            }
        }
    }
    (log, crashed_at)
}

/// Every call has exactly one result, right after it, and in its order.
fn is_whole(conversation: &Conversation) -> bool {
    let messages = &conversation.messages;
    messages.iter().enumerate().all(|(position, message)| {
        let calls: Vec<&str> = match message {
            Message::Model(pieces) => pieces
                .iter()
                .filter_map(|piece| match piece {
                    Piece::Call(call) => Some(call.id.as_str()),
                    Piece::Text(_) | Piece::Thought(_) => None,
                })
                .collect(),
            Message::User(_) => Vec::new(),
            // Nothing but calls is followed by results.
            Message::Results(_) => {
                return position > 0 && matches!(messages[position - 1], Message::Model(_));
            }
        };
        let results: Vec<&str> = match messages.get(position + 1) {
            Some(Message::Results(results)) => results.iter().map(|result| result.call.as_str()).collect(),
            _ => Vec::new(),
        };
        calls == results
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A crash after any append leads to the same conversation, with as many answers paid for; only a call that may have
    /// been made is not made again, and says so.
    #[test]
    fn a_turn_that_is_taken_up_again_ends_as_if_nothing_had_happened(
        script in prop::collection::vec(saying(), 0..6),
        crash in 1_usize..40,
    ) {
        let messages = ["first", "second"];
        let mut world = World::new(&script, 20, 1_000_000, 1_000_000);
        let (whole, _) = play(&mut world, &messages, None);
        let mut other = World::new(&script, 20, 1_000_000, 1_000_000);
        let (log, crashed_at) = play(&mut other, &messages, Some(crash));
        let (whole, resumed) = (fold(&whole), fold(&log));
        prop_assert!(is_whole(&whole) && is_whole(&resumed));
        prop_assert_eq!(whole.spent, resumed.spent);
        prop_assert_eq!(whole.text, resumed.text);
        prop_assert_eq!(whole.messages.len(), resumed.messages.len());
        let in_doubt = crashed_at.is_some_and(|at| matches!(log[at - 1], TurnEvent::Started { .. }));
        let was_asked = crashed_at.is_some_and(|at| matches!(log[at - 1], TurnEvent::Asked));
        prop_assert_eq!(other.asked, world.asked + usize::from(was_asked), "an answer is paid for once");
        prop_assert_eq!(whole.messages == resumed.messages, !in_doubt);
        let mut made = std::collections::BTreeSet::new();
        for end in 1..=log.len() {
            if let TurnEvent::Started { call } = log[end - 1] {
                prop_assert!(made.insert((fold(&log[..end]).spent.turns, call)), "no call is made twice");
            }
        }
    }

    /// What may be used is never used twice over: nothing is asked and nothing called once something has run out.
    #[test]
    fn an_envelope_holds_and_a_final_answer_within_it_counts(
        script in prop::collection::vec(saying(), 0..8),
        turns in 1_u32..6,
        tokens in 1_u64..600,
    ) {
        let mut world = World::new(&script, turns, tokens, 1_000_000);
        let (log, _) = play(&mut world, &["do it"], None);
        let conversation = fold(&log);
        let spent = conversation.spent;
        prop_assert!(spent.turns <= turns);
        let last = log.iter().rev().find_map(|event| match event {
            TurnEvent::Answered(answered) => Some(answered),
            _ => None,
        });
        if let Some(last) = last {
            prop_assert!(spent.usage.tokens() - last.usage.tokens() < tokens, "asked with something left");
        }
        let final_answer = last.is_some_and(|last| last.end == AnswerEnd::Done);
        let (_, end) = conversation.last.clone().unwrap();
        prop_assert_eq!(end == TurnEnd::Finished, final_answer, "{}", end);
        prop_assert!(is_whole(&conversation));
    }

    /// However long it gets, it stays a conversation; what the turn was told, and its last exchange, are still in it.
    #[test]
    fn a_conversation_that_is_cut_stays_whole_and_knows_its_task(
        script in prop::collection::vec(saying(), 0..8),
        room in 60_u64..400,
    ) {
        let mut world = World::new(&script, 20, 1_000_000, room);
        let (log, _) = play(&mut world, &["first", "the task"], None);
        for end in 1..=log.len() {
            let conversation = fold(&log[..end]);
            if let Some(turn) = &conversation.active {
                let text = if conversation.turns == 1 { "first" } else { "the task" };
                prop_assert_eq!(&conversation.messages[turn.told], &Message::user(text));
                if turn.calls.is_empty() {
                    prop_assert!(is_whole(&conversation));
                }
            }
        }
    }

    /// The third call that is the same is never made, however it is spread over answers and crashes.
    #[test]
    fn no_call_is_made_a_third_time(
        script in prop::collection::vec(saying(), 0..8),
        crash in 1_usize..40,
    ) {
        let mut world = World::new(&script, 20, 1_000_000, 1_000_000);
        let (log, _) = play(&mut world, &["do it"], Some(crash));
        let mut conversation = Conversation::default();
        let mut made = std::collections::BTreeMap::<String, u32>::new();
        for event in &log {
            if let TurnEvent::Started { call } = event {
                let call = &conversation.active.as_ref().unwrap().calls[*call as usize].call;
                *made.entry(format!("{:?}", call.arguments)).or_default() += 1;
            }
            conversation.apply(event);
        }
        prop_assert!(made.values().all(|count| *count <= Repeats::MOST), "{:?}", made);
    }
}

#[test]
fn a_turn_that_ends_early_leaves_a_conversation_that_can_go_on() {
    let script = [Saying { calls: vec![1, 2, 3], tokens: 1, bytes: 1 }];
    let world = World::new(&script, 20, 1_000, 1_000);
    let mut conversation = fold(&[told("do it"), TurnEvent::Asked]);
    let answered = world.answer(&conversation);
    conversation.apply(&TurnEvent::Answered(Box::new(answered)));
    let allowed = Decision::Allowed { note: None };
    conversation.apply(&TurnEvent::Decided { call: 0, decision: allowed.clone() });
    conversation.apply(&TurnEvent::Result { call: 0, outcome: Outcome::text("found") });
    conversation.apply(&TurnEvent::Decided { call: 1, decision: allowed });
    conversation.apply(&TurnEvent::Started { call: 1 });
    conversation.apply(&TurnEvent::Ended(TurnEnd::Cancelled));
    assert!(is_whole(&conversation));
    let Some(Message::Results(results)) = conversation.messages.last() else { panic!("no results") };
    let said: Vec<String> = results.iter().map(|result| format!("{:?}", result.parts)).collect();
    assert!(said[0].contains("found") && !results[0].is_error);
    assert!(said[1].contains("not known whether it had its effect") && results[1].is_error);
    assert!(said[2].contains("ended before this was done"), "{}", said[2]);
    assert_eq!(conversation.last, Some((None, TurnEnd::Cancelled)));
    conversation.apply(&told("go on"));
    assert_eq!(next(&conversation, None, &Room { tokens: 1_000, beside: 0 }), Next::Ask);
}

#[test]
fn what_a_provider_measured_is_believed_and_the_rest_is_guessed() {
    let room = Room { tokens: 1_000, beside: 100 };
    let mut conversation = fold(&[told(&"x".repeat(400))]);
    let guessed = conversation.size(&room);
    assert!((200..230).contains(&guessed), "{guessed}");
    conversation.apply(&TurnEvent::Answered(Box::new(Answered {
        pieces: vec![Piece::Text("ok".into())],
        structured: None,
        usage: Usage { input_tokens: 700, output_tokens: 50, ..Usage::default() },
        cost: Cost::default(),
        end: AnswerEnd::Done,
    })));
    assert_eq!(conversation.size(&room), 750);
    conversation.apply(&TurnEvent::Ended(TurnEnd::Finished));
    conversation.apply(&told(&"x".repeat(400)));
    assert!((850..870).contains(&conversation.size(&room)));
}

#[test]
fn a_long_text_keeps_its_beginning_and_its_end() {
    assert_eq!(cut("short", 10), "short");
    let text = cut(&format!("{}ä{}", "a".repeat(50), "b".repeat(50)), 20);
    assert_eq!(text, format!("{}\n[… 82 bytes left out]\n{}", "a".repeat(10), "b".repeat(10)));
    let many: Vec<Message> = (0..50).map(|_| Message::user("y".repeat(9_000))).collect();
    assert!(transcript(&many, 5_000).len() < 5_100);
}

#[test]
fn the_pictures_of_all_results_fit_into_one_message() {
    assert_eq!([1, 4].map(Room::picture_bytes), [Image::MOST_BYTES; 2]);
    for calls in [0, 5, 64] {
        assert!(Room::picture_bytes(calls) * calls <= PICTURE_BYTES, "{calls}");
    }
}
