//! The rules of a run, each played from its smallest ability.

use abide_core::event::{HookKey, HookPhase, LossDecision};
use abide_core::value::Value;
use abide_testkit::play::Do::{
    Answer, Cancel, Crash, EndAll, Fail, Finish, Hook, Miss, Plan, Resolve, TimeOut, Wait,
};
use abide_testkit::play::{Play, play};
use insta::assert_snapshot;

const DEPLOY: &str = "
description: Deploy
inputs:
  environment: { enum: [staging, production], default: staging }
steps:
  - { id: build, run: make }
  - { id: approve, type: approval, prompt: \"Deploy to {{inputs.environment}}?\", needs: [build], when: 'inputs.environment == \"production\"' }
  - { id: deploy, run: ./deploy.sh, needs: [approve] }
";

fn production() -> Vec<(&'static str, Value)> {
    vec![("environment", Value::Text("production".into()))]
}

#[test]
fn steps_run_one_after_the_other_and_a_skipped_one_satisfies_its_dependents() {
    assert_snapshot!(play(DEPLOY, &[], &[Finish("build", ""), Finish("deploy", "")]), @r#"
    completed
    build      ✓
    approve    – inputs.environment is "staging"
    deploy     ✓
    "#);
}

#[test]
fn a_rejected_approval_skips_what_needed_it() {
    let log = play(DEPLOY, &production(), &[Finish("build", ""), Answer("approve", "rejected", "eve")]);
    assert_snapshot!(log, @r"
    failed
    build      ✓
    approve    ✗ rejected by eve
    deploy     – needs `approve`, which was rejected
    ");
}

#[test]
fn an_approval_waits_and_then_lets_the_run_go_on() {
    let mut play = Play::start(DEPLOY, &production());
    play.happen(&Finish("build", "")).unwrap();
    assert_snapshot!(play.picture(), @r"
    waiting
    build      ✓
    approve    ?
    deploy     ·
    ");
    play.happen(&Answer("approve", "approved", "eve")).unwrap();
    let again = play.happen(&Answer("approve", "approved", "eve")).unwrap_err();
    assert_eq!(again.to_string(), "`approve` was already answered with `approved` by eve");
    play.happen(&Finish("deploy", "")).unwrap();
    let late = play.happen(&Answer("approve", "approved", "eve")).unwrap_err();
    assert_eq!(late.to_string(), "run run-1 is over: it completed");
}

#[test]
fn a_failed_step_ends_the_run_and_the_rest_is_not_done() {
    assert_snapshot!(play(DEPLOY, &[], &[Fail("build", 2)]), @r"
    failed
    build      ✗ it exited with code 2
    approve    ○
    deploy     ○
    ");
}

#[test]
fn on_failure_continue_goes_on() {
    let ability = "
description: x
steps:
  - { id: lint, run: lint, on_failure: continue }
  - { id: test, run: test, needs: [lint] }
";
    assert_snapshot!(play(ability, &[], &[Fail("lint", 1), Finish("test", "")]), @r"
    completed
    lint       ✗ it exited with code 1
    test       ✓
    ");
}

#[test]
fn a_retry_waits_longer_each_time_and_gives_up_in_the_end() {
    let ability = "
description: x
steps:
  - { id: a, run: x, on_failure: retry, max_retries: 2, retry_delay: 1s }
";
    let mut play = Play::start(ability, &[]);
    play.happen(&Fail("a", 1)).unwrap();
    play.happen(&Wait(999)).unwrap();
    assert!(play.picture().contains("a          ~"), "{}", play.picture());
    play.happen(&Wait(252)).unwrap();
    assert!(play.picture().contains("a          …"), "{}", play.picture());
    play.happen(&Fail("a", 1)).unwrap();
    play.happen(&Wait(1_999)).unwrap();
    assert!(play.picture().contains("a          ~"), "{}", play.picture());
    play.happen(&Wait(502)).unwrap();
    play.happen(&Fail("a", 3)).unwrap();
    assert_snapshot!(play.picture(), @r"
    failed
    a          ✗ it exited with code 3 (attempt 3)
    ");
}

#[test]
fn on_failure_ask_lets_a_human_retry_skip_or_stop() {
    let ability = "
description: x
steps:
  - { id: a, run: x, on_failure: ask }
  - { id: b, run: y, needs: [a] }
";
    assert_snapshot!(play(ability, &[], &[Fail("a", 1), Answer("a", "retry", "eve"), Finish("a", ""), Finish("b", "")]), @r"
    completed
    a          ✓ (attempt 2)
    b          ✓
    ");
    assert_snapshot!(play(ability, &[], &[Fail("a", 1), Answer("a", "skip", "eve"), Finish("b", "")]), @r"
    completed
    a          – it exited with code 1
    b          ✓
    ");
    assert_snapshot!(play(ability, &[], &[Fail("a", 1), Answer("a", "stop", "eve")]), @r"
    failed
    a          ✗ it exited with code 1
    b          ○
    ");
}

#[test]
fn parallel_steps_are_bounded() {
    let ability = "
description: x
steps:
  - { id: a, run: x }
  - { id: b, run: x }
  - { id: c, run: x }
  - { id: d, run: x, needs: [a, b, c] }
settings: { parallel: true, max_parallel: 2 }
";
    let mut play = Play::start(ability, &[]);
    assert_snapshot!(play.picture(), @r"
    running
    a          …
    b          …
    c          ·
    d          ·
    ");
    for step in ["b", "a", "c"] {
        play.happen(&Finish(step, "")).unwrap();
    }
    assert_snapshot!(play.picture(), @r"
    running
    a          ✓
    b          ✓
    c          ✓
    d          …
    ");
}

#[test]
fn a_failure_ends_what_runs_beside_it() {
    let ability = "
description: x
steps:
  - { id: a, run: x }
  - { id: b, run: x }
  - { id: c, run: x, needs: [a] }
settings: { parallel: true }
";
    assert_snapshot!(play(ability, &[], &[Fail("a", 1), EndAll]), @r"
    failed
    a          ✗ it exited with code 1
    b          ○
    c          ○
    ");
}

#[test]
fn for_each_makes_an_instance_per_item() {
    let ability = "
description: x
inputs:
  regions: { type: array, default: [eu-west, us east, eu-west] }
steps:
  - { id: deploy, run: \"./deploy.sh {{item}}\", for_each: \"{{inputs.regions}}\", max_parallel: 2 }
  - { id: report, run: \"echo {{steps.deploy.output}}\" }
";
    let mut play = Play::start(ability, &[]);
    assert_snapshot!(play.picture(), @r"
    running
    deploy[eu-west] …
    deploy[1]  …
    deploy[eu-west.2] ·
    report     ·
    ");
    for (step, output) in [("deploy[1]", "one"), ("deploy[eu-west]", "two"), ("deploy[eu-west.2]", "three")] {
        play.happen(&Finish(step, output)).unwrap();
    }
    let work = play.run.work(&"report".parse_key(), &[]).unwrap();
    assert!(format!("{work:?}").contains("two\\none\\nthree"), "{work:?}");
}

trait ParseKey {
    fn parse_key(&self) -> abide_core::event::StepKey;
}

impl ParseKey for str {
    fn parse_key(&self) -> abide_core::event::StepKey {
        abide_core::event::StepKey::parse(self).unwrap()
    }
}

#[test]
fn for_each_over_nothing_is_done_at_once() {
    let ability = "
description: x
inputs:
  regions: { type: array, default: [] }
steps:
  - { id: deploy, run: x, for_each: \"{{inputs.regions}}\" }
  - { id: after, run: x, needs: [deploy] }
";
    assert_snapshot!(play(ability, &[], &[Finish("after", "")]), @r"
    completed
    deploy     ✓
    after      ✓
    ");
}

#[test]
fn repeat_runs_until_the_condition_holds() {
    let ability = "
description: x
steps:
  - { id: poll, run: x, repeat: { until: 'steps.poll.output.contains(\"ready\")', max: 3, delay: 10s } }
";
    let rounds =
        [Finish("poll", "wait"), Wait(10_000), Fail("poll", 7), Wait(10_000), Finish("poll", "ready")];
    assert_snapshot!(play(ability, &[], &rounds), @r"
    completed
    poll       ✓ (attempt 3)
    ");
    let rounds = [Finish("poll", ""), Wait(10_000), Finish("poll", ""), Wait(10_000), Finish("poll", "")];
    assert_snapshot!(play(ability, &[], &rounds), @r"
    failed
    poll       ✗ `until` did not hold after 3 runs (attempt 3)
    ");
}

#[test]
fn an_agent_is_told_what_evidence_is_missing_and_tries_again() {
    let ability = "
description: x
steps:
  - { id: write, agent: writer, prompt: Write it, validation: { file_exists: out.txt } }
";
    assert_snapshot!(play(ability, &[], &[Miss("write", "out.txt does not exist"), Wait(0), Finish("write", "done")]), @r"
    completed
    write      ✓ (attempt 2)
    ");
    assert_snapshot!(play(ability, &[], &[Miss("write", "no file"), Wait(0), Miss("write", "no file")]), @r"
    failed
    write      ✗ evidence is missing: no file (attempt 2)
    ");
}

#[test]
fn times_run_out() {
    let ability = "
description: x
steps:
  - { id: ask, type: approval, prompt: ok?, timeout: 1h }
";
    assert_snapshot!(play(ability, &[], &[Wait(3_600_000)]), @r"
    failed
    ask        ✗ nobody answered in time
    ");
    let ability = "
description: x
steps:
  - { id: a, run: x }
settings: { timeout: 1m }
";
    assert_snapshot!(play(ability, &[], &[Wait(60_000), EndAll]), @r"
    timed_out
    a          ○
    ");
    assert_snapshot!(play(ability, &[], &[TimeOut("a")]), @r"
    failed
    a          ✗ it ran out of time
    ");
}

#[test]
fn a_cancelled_run_ends_what_is_under_way_first() {
    let mut play = Play::start(DEPLOY, &[]);
    play.happen(&Cancel("eve")).unwrap();
    assert_snapshot!(play.picture(), @r"
    running
    build      …
    approve    ·
    deploy     ·
    ");
    assert_eq!(play.happen(&Cancel("eve")).unwrap_err().to_string(), "run run-1 is already ending");
    play.happen(&EndAll).unwrap();
    assert_snapshot!(play.picture(), @r"
    cancelled
    build      ○
    approve    ○
    deploy     ○
    ");
}

#[test]
fn a_plan_that_needs_agreement_waits_for_it() {
    let ability = "
description: x
steps:
  - { id: a, run: x }
settings: { plan_approval: true }
";
    assert_snapshot!(play(ability, &[], &[]), @r"
    awaiting_plan
    a          ·
    ");
    assert_snapshot!(play(ability, &[], &[Plan("eve", true), Finish("a", "")]), @r"
    completed
    a          ✓
    ");
    assert_snapshot!(play(ability, &[], &[Plan("eve", false)]), @r"
    cancelled
    a          ○
    ");
}

#[test]
fn only_a_named_approver_answers_and_never_whoever_started_the_run() {
    let ability = "
description: x
steps:
  - { id: ok, type: approval, prompt: ok?, approvers: [ada, eve] }
";
    let mut play = Play::start(ability, &[]);
    let refusal =
        |play: &mut Play, answer, by| play.happen(&Answer("ok", answer, by)).unwrap_err().to_string();
    assert_eq!(refusal(&mut play, "approved", "bob"), "bob may not answer `ok`: only ada, eve may");
    assert_eq!(refusal(&mut play, "approved", "ada"), "ada started this run and may not answer `ok`");
    assert_eq!(
        refusal(&mut play, "maybe", "eve"),
        "`maybe` is not an answer to `ok`: the answers are `approved`, `rejected`"
    );
    play.happen(&Answer("ok", "approved", "eve")).unwrap();
    assert_eq!(play.run.status().word(), "completed");
}

#[test]
fn a_crash_reruns_only_what_is_declared_safe() {
    let ability = "
description: x
steps:
  - { id: a, run: x, idempotent: true }
  - { id: b, run: x }
  - { id: c, run: x, on_failure: retry }
settings: { parallel: true }
";
    let mut play = Play::start(ability, &[]);
    play.happen(&Crash).unwrap();
    assert_snapshot!(play.picture(), @r"
    interrupted
    a          ·
    b          !
    c          ·
    ");
    play.happen(&Resolve("b", LossDecision::Rerun)).unwrap();
    for step in ["a", "b", "c"] {
        play.happen(&Finish(step, "")).unwrap();
    }
    assert_snapshot!(play.picture(), @r"
    completed
    a          ✓ (attempt 2)
    b          ✓ (attempt 2)
    c          ✓ (attempt 2)
    ");
}

#[test]
fn hooks_run_before_the_first_step_and_always_after_the_last() {
    let start = || {
        Play::start_with(DEPLOY, |created| {
            created.hooks = vec![
                HookKey { phase: HookPhase::Before, file: "check.sh".into() },
                HookKey { phase: HookPhase::After, file: "notify.sh".into() },
            ];
        })
    };
    let mut play = start();
    assert_eq!(play.run.in_flight(), []);
    for what in [Hook("check.sh", None), Fail("build", 1), Hook("notify.sh", Some("no network"))] {
        play.happen(&what).unwrap();
    }
    assert_eq!(play.run.status().word(), "failed");
    assert_eq!(play.replayed().status().word(), "failed");

    let mut play = start();
    play.happen(&Hook("check.sh", Some("not today"))).unwrap();
    play.happen(&Hook("notify.sh", None)).unwrap();
    assert_snapshot!(play.picture(), @r"
    failed
    build      ○
    approve    ○
    deploy     ○
    ");
}
