//! Every event of a session comes back from its JSON as it went in, and what is no event is refused.

use super::{read, write};
use abide_core::model::{
    AnswerEnd, Arguments, Cost, Image, ImageMedia, Part, Piece, Thought, ToolCall, Usage,
};
use abide_core::turn::{
    Answered, Charged, Check, Compacted, Decision, EventKind, Exhausted, Outcome, SessionCreated, Spent,
    TurnEnd, TurnEvent,
};
use abide_core::value::Value;
use std::sync::Arc;

fn every_event() -> Vec<TurnEvent> {
    let usage = Usage { input_tokens: 7, output_tokens: 3, cache_read_tokens: 5, cache_write_tokens: 0 };
    let call = |id: &str, arguments| Piece::Call(ToolCall { id: id.into(), name: "look".into(), arguments });
    let data = |text: &str| Arguments::Data(crate::json::parse(text).unwrap());
    let answered = |pieces: Vec<Piece>, structured, end| {
        TurnEvent::Answered(Box::new(Answered { pieces, structured, usage, cost: Cost(12), end }))
    };
    let picture = Part::Image(Image { media: ImageMedia::Png, bytes: Arc::from(*b"\x89PNG\0\xff") });
    let decided = |decision| TurnEvent::Decided { call: 2, decision };
    let ended = |exhausted| TurnEvent::Ended(TurnEnd::OutOfBudget(exhausted));
    vec![
        TurnEvent::Created(Box::new(SessionCreated {
            agent: "reviewer".into(),
            model: "anthropic/claude".into(),
            parent: Some("p".into()),
            run: Some("r".into()),
            step: Some("deploy[eu]".into()),
        })),
        TurnEvent::Created(Box::default()),
        TurnEvent::Told { parts: vec![Part::Text(String::new()), picture], label: Some("1".into()) },
        TurnEvent::Told { parts: Vec::new(), label: None },
        TurnEvent::Asked,
        answered(
            vec![
                Piece::Thought(Thought::Open { text: "hm".into(), seal: String::new() }),
                Piece::Thought(Thought::Sealed("0xff".into())),
                Piece::Text("\u{0}\"\n".into()),
                call("1", data("{}")),
                call("2", data("[]")),
                call("3", data("null")),
                call("4", data("false")),
                call("5", data(r#"{"a": {"b": [], "c": {}}, "n": 1.0, "z": 9007199254740993}"#)),
                call("6", Arguments::Unreadable("{".into())),
            ],
            Some(Value::Map(Vec::new())),
            AnswerEnd::Calls,
        ),
        answered(Vec::new(), None, AnswerEnd::Done),
        answered(Vec::new(), Some(Value::Bool(false)), AnswerEnd::Limit),
        answered(Vec::new(), None, AnswerEnd::Refused),
        decided(Decision::Allowed { note: None }),
        decided(Decision::Allowed { note: Some("off".into()) }),
        decided(Decision::Asked { why: "sure?".into() }),
        decided(Decision::Confirmed { by: "ada".into() }),
        decided(Decision::Denied { check: Check::Human, why: "no".into() }),
        TurnEvent::Started { call: 0 },
        TurnEvent::Result { call: 3, outcome: Outcome::text("found") },
        TurnEvent::Result {
            call: 3,
            outcome: Outcome { detail: Some("a path".into()), ..Outcome::error("internal", "it failed") },
        },
        TurnEvent::Held { why: "2 steps are left".into() },
        TurnEvent::Ended(TurnEnd::Finished),
        TurnEvent::Ended(TurnEnd::Cancelled),
        TurnEvent::Ended(TurnEnd::Failed { why: "no network".into() }),
        ended(Exhausted::Tokens { limit: 1 }),
        ended(Exhausted::Cost { limit: Cost(2) }),
        ended(Exhausted::Time),
        ended(Exhausted::Turns { limit: 3 }),
        ended(Exhausted::Depth { limit: 4 }),
        TurnEvent::Compacted(Compacted {
            upto: 9,
            summary: "what was".into(),
            by_model: true,
            usage,
            cost: Cost(0),
        }),
        TurnEvent::Charged(Charged { call: None, spent: Spent { usage, cost: Cost(12), turns: 0 } }),
        TurnEvent::Charged(Charged { call: Some(0), spent: Spent { usage, cost: Cost(0), turns: 3 } }),
    ]
}

#[test]
fn every_event_comes_back_as_it_was_written() {
    let events = every_event();
    for event in &events {
        let text = write(event);
        assert_eq!(read(event.kind().word(), &text).as_ref(), Ok(event), "{text}");
    }
    for kind in EventKind::ALL {
        assert!(events.iter().any(|event| event.kind() == *kind), "{kind:?} is tried");
    }
}

#[test]
fn the_stored_form_is_this() {
    let shown: Vec<String> = every_event()
        .iter()
        .filter(|event| !matches!(event, TurnEvent::Answered(_)))
        .take(6)
        .map(|event| format!("{} {}", event.kind().word(), write(event)))
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @r#"
    session.created {"version":1,"agent":"reviewer","model":"anthropic/claude","parent":"p","run":"r","step":"deploy[eu]"}
    session.created {"version":1,"agent":"","model":""}
    message.told {"parts":[{"text":""},{"image":"iVBORwD/","media":"image/png"}],"label":"1"}
    message.told {}
    model.asked {}
    tool.decided {"call":2,"decision":"allowed"}
    "#);
}

#[test]
fn what_a_newer_abide_wrote_is_refused_and_not_misread() {
    for (kind, data, why) in [
        ("tool.dreamt", "{}", "it is not known to this version of abide"),
        ("model.asked", r#"{"mood": 1}"#, "`mood` is not known to this version of abide"),
        ("session.created", r#"{"version": 2, "agent": "a", "model": "m"}"#, "`version`"),
        ("tool.decided", r#"{"decision": "perhaps"}"#, "`decision`"),
        ("turn.ended", r#"{"end": "out_of_budget", "what": "luck"}"#, "`what`"),
        ("message.told", r#"{"parts": [{"image": "?", "media": "image/png"}]}"#, "`image`"),
        ("turn.charged", r#"{"call": -1}"#, "`call`"),
        ("model.answered", "[]", "its data is not a mapping"),
    ] {
        let error = read(kind, data).unwrap_err();
        assert!(error.what.contains(why), "{kind}: {error}");
    }
}
