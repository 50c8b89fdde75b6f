//! What a plan says before anything runs: the order, what is decided and by what, and what it refuses.

use abide_core::definition::{Ability, StepId};
use abide_core::event::EndStatus;
use abide_core::plan::{Action, Decision, Known, Plan, Stub, Stubs, walk};
use abide_core::run::{Run, RunStatus};
use abide_core::source::{Span, Spanned};
use abide_core::value::Value;
use abide_testkit::play::Play;
use std::fmt::Write as _;
use std::sync::Arc;

/// Returns a run that has not begun.
fn run(steps: &str, inputs: &[(&str, Value)]) -> Run {
    changed(&format!("description: d\n{steps}"), inputs, |_| {})
}

/// Returns a run of an ability that was changed after it had been checked, as a bug or an edited log would.
fn changed(source: &str, inputs: &[(&str, Value)], change: impl FnOnce(&mut Ability)) -> Run {
    let begun = Play::start(source, inputs).run;
    let mut ability = (*begun.ability).clone();
    change(&mut ability);
    Run::create(begun.id.clone(), (*begun.created).clone(), Arc::new(ability))
}

fn plan(steps: &str) -> Plan {
    Plan::of(&run(steps, &[]), &[]).unwrap()
}

/// Returns stage and step, in order, such as `1 build, 2 test`.
fn order(plan: &Plan) -> String {
    let steps: Vec<String> = plan.steps.iter().map(|step| format!("{} {}", step.stage, step.id)).collect();
    steps.join(", ")
}

#[test]
fn what_runs_first() {
    let cases = [
        ("as they are written", "steps: [{id: b, run: x}, {id: a, run: x}]", "1 b, 2 a"),
        ("after what they need", "steps: [{id: b, run: x, needs: [a]}, {id: a, run: x}]", "1 a, 2 b"),
        (
            "after what they use",
            "steps: [{id: b, run: 'echo {{steps.a.output}}'}, {id: a, run: x}]",
            "1 a, 2 b",
        ),
        (
            "after what their condition looks at",
            "steps: [{id: b, run: x, when: steps.a.exit_code == 0}, {id: a, run: x}]",
            "1 a, 2 b",
        ),
        (
            "side by side, a stage waits for the ones before it",
            "settings: {parallel: true}\nsteps: [{id: d, run: x, needs: [b, c]}, {id: c, run: x, needs: [a]}, {id: b, run: x, needs: [a]}, {id: a, run: x}]",
            "1 a, 2 c, 2 b, 3 d",
        ),
        (
            "a skipped step keeps its place",
            "steps: [{id: a, run: x, when: 1 == 2}, {id: b, run: x, needs: [a]}]",
            "1 a, 2 b",
        ),
    ];
    for (name, steps, expected) in cases {
        assert_eq!(order(&plan(steps)), expected, "{name}");
    }
}

const CONDITIONS: &str = "
inputs:
  env: { type: string, default: staging }
  key: { type: string, secret: true, default: hunter22 }
steps:
  - { id: sign, run: x, when: 'inputs.env == \"production\"' }
  - { id: build, run: x, when: inputs.env != \"production\" }
  - { id: known, run: x, when: steps.sign.status == \"skipped\" }
  - { id: later, run: x, when: steps.build.exit_code == 0 && inputs.env == \"staging\" }
  - { id: early, run: x, when: 'inputs.env == \"production\" && steps.build.exit_code == 0' }
  - { id: secret, run: x, when: inputs.key == \"hunter22\" }
";

#[test]
fn why_a_condition_is_true_false_or_not_decided_yet() {
    let secrets = [("key".to_owned(), "hunter22".to_owned())];
    let run = run(CONDITIONS, &[("env", Value::Text("staging".into())), ("key", Value::Text("•••".into()))]);
    let plan = Plan::of(&run, &secrets).unwrap();
    let mut told = String::new();
    for step in &plan.steps {
        let Some((_, decision)) = &step.when else { continue };
        let why = match decision {
            Decision::Holds { because } => format!("holds: {because}"),
            Decision::Fails { because } => format!("fails: {because}"),
            Decision::Later { on } => format!("later: {}", on.join(", ")),
        };
        writeln!(told, "{} {why}", step.id).unwrap();
    }
    insta::assert_snapshot!(told, @r#"
    sign fails: inputs.env is "staging"
    build holds: inputs.env is "staging"
    known holds: steps.sign.status is "skipped"
    later later: steps.build.exit_code
    early fails: inputs.env is "staging"
    secret holds: inputs.key is secret
    "#);
    let skipped: Vec<&str> =
        plan.steps.iter().filter(|step| step.is_skipped()).map(|step| step.id.as_str()).collect();
    assert_eq!(skipped, ["sign", "early"]);
}

#[test]
fn values_that_are_known_are_shown_and_others_say_what_they_wait_for() {
    let source = "
inputs:
  who: { type: string, default: you }
  key: { type: string, secret: true, default: hunter22 }
steps:
  - { id: first, run: 'greet {{inputs.who}} {{inputs.key}}', env: { TOKEN: { secret: token } }, cwd: 'in/{{inputs.who}}' }
  - { id: second, run: 'greet {{steps.first.output}}' }
  - { id: ask, type: approval, prompt: 'Tell {{inputs.who}} {{steps.first.exit_code}}?', approvers: [eve] }
  - { id: call, workflow: other, inputs: { a: '{{inputs.who}}', b: 7 } }
  - { id: each, for_each: [x, y], run: 'echo {{item}}' }
";
    let inputs = [("who", Value::Text("you".into())), ("key", Value::Text("•••".into()))];
    let plan = Plan::of(&run(source, &inputs), &[("key".into(), "hunter22".into())]).unwrap();
    let step = |id: &str| plan.steps.iter().find(|step| step.id.as_str() == id).unwrap();
    let now = |text: &str| Known::Now(Value::Text(text.to_owned()));
    let Action::Script { script, values, secrets, cwd, .. } = &step("first").action else { panic!() };
    assert_eq!(script, r#"greet "${ABIDE_VALUE_0}" "${ABIDE_VALUE_1}""#);
    assert_eq!(values.iter().map(|value| value.value.clone()).collect::<Vec<_>>(), [now("you"), now("•••")]);
    assert_eq!(secrets, &[("TOKEN".to_owned(), "token".to_owned())]);
    assert_eq!(*cwd, Some(now("in/you")));
    let Action::Script { values, .. } = &step("second").action else { panic!() };
    let later = |text: &str, on: &str| Known::Later { text: text.to_owned(), on: vec![on.to_owned()] };
    assert_eq!(values[0].value, later("{{steps.first.output}}", "steps.first.output"));
    let Action::Approval { prompt, answers, approvers } = &step("ask").action else { panic!() };
    assert_eq!(*prompt, later("Tell {{inputs.who}} {{steps.first.exit_code}}?", "steps.first.exit_code"));
    assert_eq!((answers.len(), approvers.as_slice()), (2, &["eve".to_owned()][..]));
    let Action::Workflow { ability, inputs } = &step("call").action else { panic!() };
    assert_eq!(
        (ability.as_str(), &inputs[0].value, &inputs[1].value),
        ("other", &now("you"), &Known::Now(Value::Int(7)))
    );
    let items = Value::List(vec![Value::Text("x".into()), Value::Text("y".into())]);
    assert_eq!(step("each").for_each, Some(Known::Now(items)));
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let source = "
inputs:
  list: { type: array, required: false }
steps:
  - { id: one, for_each: '{{inputs.list}}', run: 'echo {{item}}' }
  - { id: two, run: 'echo {{inputs.list[0]}}' }
";
    let problems = Plan::of(&run(source, &[]), &[]).unwrap_err();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].starts_with("step `one`: `for_each` cannot be decided: "), "{problems:?}");
    assert!(problems[1].starts_with("step `two`: "), "{problems:?}");
}

/// No way to call the run of another ability.
fn nothing(
    _: &Run,
    _: &abide_core::event::StepKey,
    _: abide_core::run::ChildWork,
    _: &[(String, String)],
) -> Result<(Run, Vec<(String, String)>), String> {
    Err("nothing is called here".to_owned())
}

/// Checks that a run that cannot be carried out is neither planned nor ever completed.
fn never_completes(run: Run) {
    let problems = Plan::of(&run, &[]).unwrap_err();
    assert!(problems.contains(&"some steps could never begin".to_owned()), "{problems:?}");
    assert_eq!(run.outcome().0, EndStatus::Failed);
    let (walked, _) = walk(run, &[], &Vec::new(), &nothing);
    assert_eq!(walked.status(), RunStatus::Failed);
}

const ONE: &str = "description: d\nsteps: [{id: a, run: x}, {id: b, run: x, needs: [a]}]";

#[test]
fn a_plan_without_steps_is_never_completed() {
    never_completes(changed(ONE, &[], |ability| ability.steps.clear()));
}

#[test]
fn a_plan_whose_steps_wait_for_each_other_is_never_completed() {
    never_completes(changed(ONE, &[], |ability| {
        ability.steps[0].needs.push(Spanned::new(StepId::parse("b").unwrap(), Span::default()));
    }));
}

#[test]
fn a_plan_whose_step_needs_one_that_is_not_there_is_never_completed() {
    never_completes(changed(ONE, &[], |ability| {
        ability.steps[1].needs.push(Spanned::new(StepId::parse("ghost").unwrap(), Span::default()));
    }));
}

/// Walks a run with stubs; returns how it ends and every event's kind.
fn walked(steps: &str, stubs: &Stubs) -> (RunStatus, Vec<&'static str>) {
    let (run, log) = walk(run(steps, &[]), &[], stubs, &nothing);
    (run.status(), log.iter().map(|walked| walked.event.kind()).collect())
}

#[test]
fn a_walk_follows_its_stubs() {
    let code = |code| Stub { exit_code: Some(code), ..Stub::default() };
    let retried = "steps: [{id: a, run: x, on_failure: retry, max_retries: 2, retry_delay: 1h}]";
    let once = vec![("a".to_owned(), vec![code(1), code(0)])];
    let (status, kinds) = walked(retried, &once);
    assert_eq!(status, RunStatus::Completed);
    assert_eq!(kinds, ["step.started", "step.failed", "step.started", "step.succeeded", "run.finished"]);
    let always = vec![("a".to_owned(), vec![code(1)])];
    assert_eq!(walked(retried, &always).0, RunStatus::Failed);
    let late = vec![("a".to_owned(), vec![Stub { times_out: true, ..Stub::default() }])];
    assert_eq!(walked("steps: [{id: a, run: x}]", &late).0, RunStatus::Failed);
    let missing = vec![("a".to_owned(), vec![Stub { missing: vec!["a file".into()], ..Stub::default() }])];
    assert_eq!(walked("steps: [{id: a, run: x}]", &missing).0, RunStatus::Failed);
}

#[test]
fn a_walk_answers_and_does_not_complete_on_an_answer_that_is_none() {
    let asks = "steps: [{id: a, type: approval, prompt: Sure?}, {id: b, run: x, needs: [a]}]";
    let answer =
        |answer: &str| vec![("a".to_owned(), vec![Stub { answer: Some(answer.into()), ..Stub::default() }])];
    assert_eq!(walked(asks, &Vec::new()).0, RunStatus::Completed);
    assert_eq!(walked(asks, &answer("rejected")).0, RunStatus::Failed);
    assert_eq!(walked(asks, &answer("perhaps")).0, RunStatus::Waiting);
}

#[test]
fn a_walk_of_a_condition_that_never_holds_ends() {
    let (status, kinds) = walked(
        "steps: [{id: a, run: x, repeat: {until: 'steps.a.exit_code == 7', max: 4, delay: 1s}}]",
        &Vec::new(),
    );
    assert_eq!(status, RunStatus::Failed);
    assert_eq!(kinds.iter().filter(|kind| **kind == "step.started").count(), 4);
}
