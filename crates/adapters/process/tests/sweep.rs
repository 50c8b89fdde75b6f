//! What a driver that was killed leaves behind is found by its mark, and only that.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests look at files, times and processes")]

mod support;

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use abide_engine::port::Process;
use abide_process::LocalProcess;
use support::{NEVER, Seen, block_on, carriers, mark, nap, script, wait_until, with_argument};

const MARK: &str = "ABIDE_TEST_DRIVER";
const SCRIPT: &str = "ABIDE_TEST_SCRIPT";

/// The other process of these tests: runs a script through `LocalProcess` until it is killed.
#[test]
fn driver() {
    let (Ok(mark), Ok(text)) = (std::env::var(MARK), std::env::var(SCRIPT)) else { return };
    let spec = abide_engine::port::Spec { mark, ..script(&text) };
    let _ = block_on(LocalProcess::new().run(spec, NEVER, Seen::default()));
}

fn start_driver(mark: &str, script: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["driver", "--exact"])
        .envs([(MARK, mark), (SCRIPT, script)])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

fn kill(mut driver: Child) {
    driver.kill().unwrap();
    driver.wait().unwrap();
}

#[test]
fn a_sweep_ends_what_a_killed_driver_left_and_nothing_else() {
    let (dead, alive, naps) = (mark(), mark(), [nap(), nap(), nap()]);
    let text = format!(
        "trap '' TERM; sleep {} & setsid sh -c 'env -i /bin/sleep {} & wait' & wait",
        naps[0], naps[1]
    );
    let driver = start_driver(&dead, &text);
    let other = start_driver(&alive, &format!("exec sleep {}", naps[2]));
    wait_until("all sleep", || naps.iter().all(|nap| with_argument(nap) == 1));
    kill(driver);
    std::thread::sleep(Duration::from_millis(50));
    assert!(naps.iter().all(|nap| with_argument(nap) == 1), "they outlive their driver");

    let local = LocalProcess::new();
    let found = block_on(local.sweep(&[dead.clone(), "never-used".to_owned(), String::new()]));
    assert_eq!(found, 4, "two shells and two sleepers");
    assert_eq!((carriers(&dead), with_argument(&naps[0]), with_argument(&naps[1])), (0, 0, 0));
    assert_eq!(with_argument(&naps[2]), 1, "the other driver's process sleeps on");
    assert_eq!(block_on(local.sweep(&[dead])), 0);

    kill(other);
    assert_eq!(block_on(local.sweep(&[alive])), 1);
    assert_eq!(with_argument(&naps[2]), 0);
}

#[test]
fn a_sweep_for_nothing_finds_nothing() {
    assert_eq!(block_on(LocalProcess::new().sweep(&[])), 0);
    assert_eq!(block_on(LocalProcess::new().sweep(&[String::new()])), 0);
}

#[test]
fn a_sweep_from_inside_a_marked_process_spares_it_and_its_ancestors() {
    const INSIDE: &str = "ABIDE_TEST_INSIDE";
    let own = mark();
    if let Ok(mark) = std::env::var(INSIDE) {
        assert_eq!(block_on(LocalProcess::new().sweep(&[mark])), 0);
        return;
    }
    let test = "a_sweep_from_inside_a_marked_process_spares_it_and_its_ancestors";
    let spec = abide_engine::port::Spec {
        program: "/bin/sh".into(),
        arguments: vec![
            "-c".into(),
            format!("{} {test} --exact; exit $?", std::env::current_exe().unwrap().display()),
        ],
        variables: vec![abide_engine::port::Variable {
            name: INSIDE.into(),
            value: own.clone(),
            secret: false,
        }],
        mark: own,
        ..script("")
    };
    let (ending, seen) = block_on(support::run(&LocalProcess::new(), spec));
    assert_eq!(ending, Ok(abide_engine::port::Ending::Exited(0)), "{}{}", seen.stdout(), seen.stderr());
}

#[test]
fn a_driver_inside_a_step_is_the_steps_to_end() {
    let (outer, inner, nap) = (mark(), mark(), nap());
    let program = std::env::current_exe().unwrap();
    let text = format!(
        "{MARK}={inner} {SCRIPT}='exec sleep {nap}' {} driver --exact >/dev/null 2>&1 & \
         while ! pgrep -f 'sleep {nap}' >/dev/null; do sleep 0.02; done",
        program.display()
    );
    let spec = abide_engine::port::Spec { mark: outer.clone(), ..script(&text) };
    let (ending, _) = block_on(support::run(&LocalProcess::new(), spec));
    assert_eq!(ending, Ok(abide_engine::port::Ending::Exited(0)));
    assert_eq!((carriers(&outer), carriers(&inner), with_argument(&nap)), (0, 0, 0));
}
