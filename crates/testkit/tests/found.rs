//! What the simulation found, each in its smallest form.

use abide_core::event::{EndStatus, HookKey, HookPhase};
use abide_testkit::play::Do::{Answer, Hook};
use abide_testkit::play::Play;

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
