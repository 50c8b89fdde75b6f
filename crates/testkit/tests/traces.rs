//! Traces as folds of logs: the same log makes the same spans, and each has its place, its time and its end.

use abide_core::event::{Event, RunId, Timestamp, TraceParent};
use abide_core::model::{AnswerEnd, Arguments, Cost, Part, Piece, ToolCall, Usage};
use abide_core::turn::{Answered, Check, Decision, Outcome, SessionCreated, TurnEnd, TurnEvent};
use abide_core::value::Value;
use abide_engine::port::SessionId;
use abide_engine::trace::{Attribute, Place, RunFold, RunSpans, SessionFold, Span};
use abide_testkit::play::{Do, Play};
use insta::assert_snapshot;
use std::fmt::Write as _;
use std::sync::Arc;

const ID: &str = "0193a5f0-1111-7222-8333-444455556666";

/// Plays a run, one thing each second; returns its log with the time of each event.
fn played(source: &str, happenings: &[Do]) -> (Play, Vec<(Timestamp, Event)>) {
    let mut play = Play::start(source, &[]);
    let mut log: Vec<(Timestamp, Event)> = Vec::new();
    let mut note = |play: &Play| {
        let known = log.len();
        log.extend(play.log[known..].iter().map(|event| (play.now, event.clone())));
    };
    note(&play);
    for what in happenings {
        play.now = Timestamp(play.now.0 + 1_000);
        play.happen(what).unwrap();
        note(&play);
    }
    (play, log)
}

fn folded((play, log): &(Play, Vec<(Timestamp, Event)>), asked: Option<TraceParent>) -> RunSpans {
    let id = RunId::parse(ID).unwrap();
    let Event::Created(created) = &log[0].1 else { panic!("it begins with its creation") };
    let ability = Arc::clone(&play.run.ability);
    let mut fold = RunFold::new(id, Place::of(ID, asked), created, ability, log[0].0);
    for (position, (at, event)) in (2..).zip(&log[1..]) {
        fold.take(position, *at, event);
    }
    fold.into_spans()
}

/// Draws spans as a tree, in the order of their beginnings, with times since the first one.
fn drawn(spans: &[Span]) -> String {
    let ids: Vec<_> = spans.iter().map(|span| span.id).collect();
    assert!(ids.iter().enumerate().all(|(n, id)| !ids[..n].contains(id)), "no two have the same id");
    let mut roots: Vec<&Span> =
        spans.iter().filter(|span| span.place.parent.is_none_or(|parent| !ids.contains(&parent))).collect();
    roots.sort_by_key(|span| span.from);
    let zero = roots.first().map_or(0, |span| span.from.0);
    let mut text = String::new();
    for root in roots {
        draw(&mut text, spans, root, 0, zero);
    }
    text
}

fn draw(text: &mut String, spans: &[Span], span: &Span, depth: usize, zero: i64) {
    let seconds = |at: Timestamp| (at.0 - zero) / 1_000;
    let error = span.error.as_ref().map(|error| format!(" ✗ {error}")).unwrap_or_default();
    write!(text, "{}{} {}-{}{error}", "  ".repeat(depth), span.name, seconds(span.from), seconds(span.until))
        .unwrap();
    for (name, value) in &span.attributes {
        // What every span of a run has.
        if ["abide.run.id", "abide.ability", "abide.step.id", "gen_ai.system", "gen_ai.conversation.id"]
            .contains(name)
        {
            continue;
        }
        let value = match value {
            Attribute::Text(text) => text.clone(),
            Attribute::Count(count) => count.to_string(),
            Attribute::Flag(flag) => flag.to_string(),
            Attribute::Texts(texts) => texts.join("+"),
        };
        let name = name.trim_start_matches("gen_ai.").trim_start_matches("abide.");
        write!(text, " {name}={value}").unwrap();
    }
    text.push('\n');
    for event in &span.events {
        writeln!(text, "{}· {} {}", "  ".repeat(depth + 1), event.name, seconds(event.at)).unwrap();
    }
    let mut within: Vec<&Span> = spans.iter().filter(|other| other.place.parent == Some(span.id)).collect();
    within.sort_by_key(|span| span.from);
    for other in within {
        draw(text, spans, other, depth + 1, zero);
    }
}

const RELEASE: &str = r"
description: d
steps:
  - { id: build, run: make }
  - { id: test, run: make test, needs: [build], on_failure: retry, max_retries: 1, retry_delay: 1s }
  - { id: approve, type: approval, prompt: Ship it?, needs: [test] }
  - { id: never, run: x, when: '1 == 2', needs: [approve] }
  - { id: notes, agent: writer, prompt: p, needs: [approve] }
  - { id: ship, workflow: other, needs: [notes] }
";

fn release() -> (Play, Vec<(Timestamp, Event)>) {
    let wait = || Do::Wait(1_000);
    played(
        RELEASE,
        &[
            Do::Finish("build", "hunter2"),
            Do::Fail("test", 2),
            wait(),
            Do::Finish("test", ""),
            Do::Answer("approve", "approved", "ada"),
            Do::Finish("notes", "hunter2"),
            Do::Finish("ship", ""),
        ],
    )
}

#[test]
fn a_run_is_a_tree_of_steps_attempts_and_questions() {
    let told = folded(&release(), None);
    assert!(told.over);
    assert_snapshot!(drawn(&told.spans), @r"
    run played 0-8 run.status=completed
      · step skipped 6
      step build 0-1 step.type=script attempt=1 exit_code=0
      step test 1-2 ✗ exit_code step.type=script attempt=1 exit_code=2 then=retry
      step test 4-5 step.type=script attempt=2 exit_code=0
      approval approve 5-6 step.type=approval answer=approved
      step notes 6-7 step.type=agent attempt=1 exit_code=0
      step ship 7-8 step.type=workflow attempt=1 exit_code=0
    ");
    let called: Vec<&str> = told.calls.iter().map(|(run, _)| run.as_str()).collect();
    assert_eq!(called.len(), 1, "{called:?}");
    let agents: Vec<&str> = told.agents.iter().map(|attempt| attempt.agent.as_str()).collect();
    assert_eq!(agents, ["writer"]);
    assert!(!format!("{told:?}").contains("hunter2"), "what a step wrote is in no span");
}

#[test]
fn the_same_log_makes_the_same_spans_and_a_longer_one_changes_none() {
    let played = release();
    let whole = folded(&played, None);
    assert_eq!(folded(&played, None), whole);
    for end in 1..played.1.len() {
        let part = folded(&(played.0.clone(), played.1[..end].to_vec()), None);
        assert!(!part.over);
        for span in &part.spans {
            assert!(whole.spans.contains(span), "{} is told otherwise later", span.name);
        }
    }
    let trace = whole.spans[0].place.trace.to_string();
    assert_eq!(trace, ID.replace('-', ""), "the trace is found by the id of the run");
}

#[test]
fn a_run_that_was_asked_for_in_a_trace_is_part_of_it() {
    let asked = TraceParent::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").unwrap();
    let told = folded(&release(), Some(asked));
    let root = told.spans.last().unwrap();
    assert_eq!(root.place.parent.unwrap().to_string(), "b7ad6b7169203331");
    for span in &told.spans {
        assert_eq!(span.place.trace.to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(span.place.sampled, Some(true));
    }
}

#[test]
fn what_a_crash_left_open_ends_with_what_came_next() {
    let source = "description: d\nsteps:\n  - { id: one, run: x, idempotent: true }\n  - { id: two, run: y, needs: [one] }\n";
    let crashed = played(
        source,
        &[
            Do::Crash,
            Do::Finish("one", ""),
            Do::Crash,
            Do::Resolve("two", abide_core::event::LossDecision::Rerun),
            Do::Cancel("ada"),
            Do::EndAll,
        ],
    );
    assert_snapshot!(drawn(&folded(&crashed, None).spans), @r"
    run played 0-6 ✗ cancelled run.status=cancelled
      · cancel requested 5
      step one 0-1 ✗ lost step.type=script attempt=1
      step one 1-2 step.type=script attempt=2 exit_code=0
      step two 2-3 ✗ lost step.type=script attempt=1
      step two 4-6 ✗ cancelled step.type=script attempt=2
    ");
}

fn answered(pieces: Vec<Piece>, end: AnswerEnd) -> TurnEvent {
    let usage = Usage { input_tokens: 100, output_tokens: 7, cache_read_tokens: 60, cache_write_tokens: 0 };
    TurnEvent::Answered(Box::new(Answered { pieces, structured: None, usage, cost: Cost(5), end }))
}

fn call(id: &str, name: &str) -> Piece {
    let arguments = Arguments::Data(Value::Text("hunter2".to_owned()));
    Piece::Call(ToolCall { id: id.to_owned(), name: name.to_owned(), arguments })
}

/// Folds what happens in a session, one thing each second.
fn turns(events: &[TurnEvent]) -> Vec<Span> {
    let place_of = |label: Option<&str>, _| label.map(|label| Place::of(label, None));
    let created =
        SessionCreated { agent: "helper".into(), model: "anthropic/m".into(), ..SessionCreated::default() };
    let mut fold = SessionFold::new(SessionId::parse("s").unwrap(), SessionCreated::default(), &place_of);
    fold.take(1, Timestamp(0), &TurnEvent::Created(Box::new(created)));
    for (position, event) in (2..).zip(events) {
        fold.take(position, Timestamp(i64::try_from(position).unwrap() * 1_000), event);
    }
    fold.into_spans()
}

fn told(label: Option<&str>) -> TurnEvent {
    TurnEvent::Told { parts: vec![Part::Text("hunter2".into())], label: label.map(str::to_owned) }
}

#[test]
fn a_turn_is_a_tree_of_what_the_model_was_asked_and_which_tools_it_called() {
    let allowed = |call| TurnEvent::Decided { call, decision: Decision::Allowed { note: None } };
    let denied = Decision::Denied { check: Check::Policy, why: "hunter2".to_owned() };
    let spans = turns(&[
        told(Some(ID)),
        TurnEvent::Asked,
        answered(vec![call("1", "read"), call("2", "write"), call("3", "bash")], AnswerEnd::Calls),
        allowed(0),
        TurnEvent::Decided { call: 1, decision: Decision::Asked { why: "hunter2".to_owned() } },
        TurnEvent::Decided { call: 2, decision: denied },
        TurnEvent::Result { call: 0, outcome: Outcome::text("hunter2") },
        TurnEvent::Decided { call: 1, decision: Decision::Confirmed { by: "ada".to_owned() } },
        TurnEvent::Started { call: 1 },
        TurnEvent::Result { call: 1, outcome: Outcome::error("no_space", "hunter2") },
        TurnEvent::Asked,
        answered(vec![Piece::Text("hunter2".into())], AnswerEnd::Done),
        TurnEvent::Ended(TurnEnd::Finished),
    ]);
    assert_snapshot!(drawn(&spans), @r"
    invoke_agent helper 0-12 operation.name=invoke_agent agent.name=helper provider.name=anthropic request.model=m message.id=0193a5f0-1111-7222-8333-444455556666 turn.end=finished
      chat m 1-2 operation.name=chat provider.name=anthropic request.model=m agent.name=helper usage.input_tokens=100 usage.output_tokens=7 usage.cache_read.input_tokens=60 cost.nanodollars=5 response.finish_reasons=tool_calls
      execute_tool read 3-6 agent.name=helper tool.name=read tool.call.id=1 operation.name=execute_tool
      confirm write 4-7 agent.name=helper tool.name=write tool.call.id=2 answer=approve
      execute_tool bash 5-5 ✗ denied.policy agent.name=helper tool.name=bash tool.call.id=3 operation.name=execute_tool
      execute_tool write 7-9 ✗ no_space agent.name=helper tool.name=write tool.call.id=2 operation.name=execute_tool
      chat m 10-11 operation.name=chat provider.name=anthropic request.model=m agent.name=helper usage.input_tokens=100 usage.output_tokens=7 usage.cache_read.input_tokens=60 cost.nanodollars=5 response.finish_reasons=stop
    ");
    assert!(!format!("{spans:?}").contains("hunter2"), "what was said is in no span");
    assert_eq!(spans.last().unwrap().place.trace.to_string(), ID.replace('-', ""));
}

#[test]
fn a_turn_that_is_not_answered_says_so_and_one_that_nobody_asked_about_is_left_out() {
    let failed = TurnEnd::Failed { why: "hunter2".to_owned() };
    let spans = turns(&[
        told(None),
        TurnEvent::Asked,
        TurnEvent::Ended(TurnEnd::Finished),
        told(Some("one")),
        TurnEvent::Asked,
        TurnEvent::Asked,
        TurnEvent::Ended(failed),
        told(Some("two")),
    ]);
    assert_snapshot!(drawn(&spans), @r"
    invoke_agent helper 0-3 ✗ failed operation.name=invoke_agent agent.name=helper provider.name=anthropic request.model=m message.id=one turn.end=failed
      chat m 1-2 ✗ no_answer operation.name=chat provider.name=anthropic request.model=m agent.name=helper
      chat m 2-3 ✗ failed operation.name=chat provider.name=anthropic request.model=m agent.name=helper
    ");
}
