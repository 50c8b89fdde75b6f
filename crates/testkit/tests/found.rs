//! Mistakes that a run once made, each in its smallest form.

use abide_core::event::{EndStatus, HookKey, HookPhase};
use abide_core::run::RunStatus;
use abide_testkit::play::Do::{Answer, Cancel, Crash, EndAll, Fail, Finish, Hook, Wait};
use abide_testkit::play::{Play, play};

fn with_hook(source: &str, phase: HookPhase) -> Play {
    Play::start_with(source, |created| created.hooks = vec![HookKey { phase, file: "z.sh".into() }])
}

#[test]
fn hooks_after_a_rejection_are_told_that_the_run_failed() {
    let ability = "
description: x
steps:
  - { id: may, type: approval, prompt: May it? }
";
    let mut play = with_hook(ability, HookPhase::After);
    play.happen(&Answer("may", "rejected", "eve")).unwrap();
    assert!(play.run.hook_in_flight().is_some());
    let outcome = play.run.outcome();
    assert_eq!(outcome, (EndStatus::Failed, Some("step `may`: rejected by eve".to_owned())));
    assert_eq!(play.replayed().outcome(), outcome);
    play.happen(&Hook("z.sh", None)).unwrap();
    assert_eq!(play.run.status().word(), "failed");
}

#[test]
fn items_keep_apart_when_the_name_that_would_do_so_is_taken() {
    let ability = "
description: x
steps:
  - { id: a, run: x, for_each: [eu, eu.2, eu] }
";
    let done = [Finish("a[eu]", ""), Finish("a[eu.2]", ""), Finish("a[eu.3]", "")];
    assert!(play(ability, &[], &done).starts_with("completed\n"));
}

#[test]
fn a_child_that_somebody_else_cancelled_is_a_failed_step() {
    let ability = "
description: x
steps:
  - { id: a, workflow: child }
  - { id: b, run: x, needs: [a] }
";
    let mut play = Play::start(ability, &[]);
    play.happen(&EndAll).unwrap();
    assert_eq!(play.run.status(), RunStatus::Failed);
    assert!(play.picture().contains("✗ the ability that it called was cancelled"), "{}", play.picture());
}

#[test]
fn a_retry_that_is_due_and_has_no_room_waits_for_room_and_not_for_a_moment() {
    let ability = "
description: x
settings: { parallel: true, max_parallel: 1 }
steps:
  - { id: a, run: x, on_failure: retry, retry_delay: 1s }
  - { id: b, run: y }
";
    let mut play = Play::start(ability, &[]);
    play.happen(&Fail("a", 1)).unwrap();
    play.happen(&Wait(5_000)).unwrap();
    assert_eq!(play.run.in_flight()[0].0.to_string(), "b");
    assert_eq!(play.run.next_moment(), None);
    play.happen(&Finish("b", "")).unwrap();
    assert_eq!(play.run.in_flight()[0].0.to_string(), "a");
}

#[test]
fn nothing_begins_after_the_deadline_of_a_run() {
    let ability = "
description: x
settings: { timeout: 10s }
steps:
  - { id: a, run: x, idempotent: true }
  - { id: b, run: y }
";
    let mut play = Play::start(ability, &[]);
    // The machine slept, and nobody has told the run what time it is.
    play.now.0 += 3_600_000;
    play.happen(&Crash).unwrap();
    assert_eq!(play.run.status(), RunStatus::TimedOut);
    assert!(play.picture().contains("b          ○"), "{}", play.picture());
}

#[test]
fn a_cancelled_run_runs_its_last_hooks_although_a_step_was_lost() {
    let ability = "
description: x
steps:
  - { id: a, run: x }
";
    let mut play = with_hook(ability, HookPhase::After);
    play.happen(&Crash).unwrap();
    assert_eq!(play.run.status(), RunStatus::Interrupted);
    play.happen(&Cancel("eve")).unwrap();
    assert_eq!(play.run.status(), RunStatus::Running, "the hook runs");
    play.happen(&Hook("z.sh", None)).unwrap();
    assert_eq!(play.run.status(), RunStatus::Cancelled);
}

#[test]
fn a_log_that_ends_before_the_question_about_a_failure_asks_it_all_the_same() {
    let ability = "
description: x
steps:
  - { id: a, run: x, on_failure: ask }
";
    let mut play = Play::start(ability, &[]);
    play.happen(&Fail("a", 1)).unwrap();
    play.log.pop();
    play.happen(&Crash).unwrap();
    play.happen(&Answer("a", "skip", "eve")).unwrap();
    assert_eq!(play.run.status(), RunStatus::Completed);
}
