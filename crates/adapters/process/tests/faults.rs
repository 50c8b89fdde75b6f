//! Processes that misbehave: none of them is left behind, holds the return, or costs more than it may.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests look at files, times and processes")]

mod support;

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use abide_engine::port::{Ending, Line, Process, ProcessError, Signal, Spec};
use abide_process::LocalProcess;
use rustix::process::{Pid, kill_process};
use support::{NEVER, Seen, alone, block_on, carriers, nap, run, script, signals, wait_until, with_argument};

fn process() -> LocalProcess {
    LocalProcess::new().with_patience(Duration::from_millis(300))
}

/// Runs a script in which `NAP` is a sleep to be found again, and checks that it ends in time and leaves nobody.
async fn leaves_nobody(text: &str, within: Duration) -> Seen {
    let nap = nap();
    let spec = script(&text.replace("NAP", &format!("sleep {nap}")));
    let mark = spec.mark.clone();
    let begun = Instant::now();
    let (ending, seen) = run(&process(), spec).await;
    assert_eq!(ending, Ok(Ending::Exited(0)), "{text}");
    assert!(begun.elapsed() < within, "{text} took {:?}", begun.elapsed());
    assert_eq!((with_argument(&nap), carriers(&mark)), (0, 0), "{text}");
    seen
}

const SOON: Duration = Duration::from_secs(5);

#[tokio::test]
async fn what_stays_in_the_background_does_not_hold_the_step() {
    let seen = leaves_nobody("NAP & echo done", SOON).await;
    assert_eq!(seen.stdout(), "done\n");
    leaves_nobody("NAP >/dev/null 2>&1 &", SOON).await;
    leaves_nobody("nohup NAP >/dev/null 2>&1 &", SOON).await;
    leaves_nobody("trap '' TERM; (NAP; NAP) & exit 0", SOON).await;
}

#[tokio::test]
async fn what_leaves_the_group_is_found() {
    leaves_nobody("setsid NAP & exit 0", SOON).await;
    leaves_nobody("(setsid sh -c '(NAP >/dev/null 2>&1 </dev/null & exit 0) & exit 0' &) ; exit 0", SOON)
        .await;
    leaves_nobody("setsid nohup sh -c 'trap \"\" TERM HUP; NAP' >/dev/null 2>&1 & sleep 0.1", SOON).await;
}

#[tokio::test]
async fn what_clears_its_environment_is_found_below_what_does_not() {
    let seen = leaves_nobody("setsid sh -c '/usr/bin/env -i /bin/NAP & echo up; wait' & sleep 1", SOON).await;
    assert_eq!(seen.stdout(), "up\n");
}

#[test]
fn the_only_parent_finds_even_what_cleared_its_environment() {
    if !alone("the_only_parent_finds_even_what_cleared_its_environment") {
        return;
    }
    let nap = nap();
    let text = format!("/usr/bin/env -i /usr/bin/setsid /bin/sleep {nap} >/dev/null 2>&1 & sleep 0.2");
    let (ending, _) = block_on(run(&process().only_parent(), script(&text)));
    assert_eq!(ending, Ok(Ending::Exited(0)));
    assert_eq!(with_argument(&nap), 0);
    assert_eq!(children(), "");
    // Those that end by themselves, in sessions of their own, are reaped with a later process at the latest.
    block_on(async {
        run(&process().only_parent(), script("(setsid true &); (setsid true &); sleep 0.1")).await.0.unwrap();
    });
    wait_until("all are reaped", || {
        block_on(run(&process().only_parent(), script("true"))).0.unwrap();
        children().is_empty()
    });
}

#[test]
fn a_stranger_is_neither_killed_nor_reaped() {
    if !alone("a_stranger_is_neither_killed_nor_reaped") {
        return;
    }
    let stranger = |text: &str| {
        Command::new("/bin/sh").args(["-c", text]).stdin(Stdio::null()).spawn().expect("it starts")
    };
    let mut quick = stranger("exit 7");
    let mut slow = stranger("sleep 1; exit 8");
    block_on(async {
        for _ in 0..20 {
            run(&process(), script("sleep 0.01 & setsid true & exit 0")).await.0.unwrap();
        }
    });
    assert_eq!(quick.wait().unwrap().code(), Some(7));
    assert_eq!(slow.wait().unwrap().code(), Some(8));
}

#[tokio::test]
async fn it_may_close_its_pipes_and_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let spec = Spec {
        folder: folder.path().into(),
        ..script("echo hi; exec >&- 2>&-; sleep 0.3; : > done; exit 3")
    };
    let (ending, seen) = run(&process(), spec).await;
    assert_eq!((ending, seen.stdout()), (Ok(Ending::Exited(3)), "hi\n".into()));
    assert!(folder.path().join("done").exists());
}

#[tokio::test]
async fn what_is_written_while_it_exits_is_kept() {
    let mut late = 0;
    for _ in 0..20 {
        let (_, seen) = run(&process(), script("echo early; (sleep 0.02; echo late) &")).await;
        assert!(seen.stdout().starts_with("early\n"));
        late += usize::from(seen.stdout().ends_with("late\n"));
    }
    // It is given time, and not for ever: on a machine that is very busy, some may come too late.
    assert!(late >= 10, "{late} of 20");
    let (ending, seen) = run(&process(), script("head -c 65536 /dev/zero")).await;
    assert_eq!((ending, seen.stdout_bytes().len()), (Ok(Ending::Exited(0)), 65_536));
}

#[tokio::test]
async fn a_background_writer_that_never_stops_is_ended_after_a_while() {
    let begun = Instant::now();
    let spec = script("yes & exit 0");
    let mark = spec.mark.clone();
    let ending = process().run(spec, NEVER, |_: Line| std::future::ready(())).await;
    assert_eq!(ending, Ok(Ending::Exited(0)));
    assert!(begun.elapsed() < SOON, "it took {:?}", begun.elapsed());
    assert_eq!(carriers(&mark), 0);
}

#[tokio::test]
async fn a_storm_of_forks_is_ended() {
    let text = "i=0; while [ $i -lt 200 ]; do NAP & i=$((i+1)); done; echo $i";
    let seen = leaves_nobody(text, Duration::from_secs(20)).await;
    assert_eq!(seen.stdout(), "200\n");
}

#[tokio::test]
async fn a_folder_that_it_locks_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let spec = Spec { folder: folder.path().into(), ..script("chmod 000 .") };
    let (ending, _) = run(&process(), spec.clone()).await;
    assert_eq!(ending, Ok(Ending::Exited(0)));
    let again = run(&process(), spec).await.0;
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o700)).unwrap();
    match again {
        Ok(Ending::Exited(0)) => {} // an administrator may enter it all the same
        Err(ProcessError::Start { reason, .. }) => assert_eq!(reason, "the folder may not be entered"),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_signal_from_outside_is_no_cancel() {
    let sink = |line: Line| {
        let pid = std::str::from_utf8(&line.bytes).unwrap().trim().parse().unwrap();
        kill_process(Pid::from_raw(pid).unwrap(), rustix::process::Signal::USR1).unwrap();
        std::future::ready(())
    };
    let ending = process().run(script("echo $$; exec sleep 60"), NEVER, sink).await;
    assert_eq!(ending, Ok(Ending::Signalled(10)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_at_once_end_each_for_itself() {
    let local = process();
    let runs: Vec<_> = (0..50)
        .map(|index| {
            let local = local.clone();
            tokio::spawn(async move {
                let text =
                    format!("sleep 0.2 & setsid sleep 60 & echo {index}; echo e{index} >&2; exit {index}");
                let spec = script(&text);
                let mark = spec.mark.clone();
                let (ending, seen) = run(&local, spec).await;
                assert_eq!(ending, Ok(Ending::Exited(index)));
                assert_eq!((seen.stdout(), seen.stderr()), (format!("{index}\n"), format!("e{index}\n")));
                assert_eq!(carriers(&mark), 0);
            })
        })
        .collect();
    for run in runs {
        run.await.unwrap();
    }
}

#[tokio::test]
async fn a_cancel_at_any_moment_of_the_start_leaves_nobody() {
    for delay in 0..30 {
        let (send, receive) = signals();
        let spec = script("setsid sleep 60 & sleep 60 & wait");
        let mark = spec.mark.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_micros(delay * 200)).await;
            send.send(if delay % 2 == 0 { Signal::Ask } else { Signal::Kill }).unwrap();
            std::future::pending::<()>().await;
        });
        let begun = Instant::now();
        assert_eq!(process().run(spec, receive, Seen::default()).await, Ok(Ending::Cancelled));
        let took = begun.elapsed();
        assert_eq!(
            support::carrying(&mark),
            Vec::<String>::new(),
            "after {delay} and {took:?}; we are {}",
            std::process::id()
        );
    }
}

#[test]
fn a_thousand_in_a_row_leave_neither_descriptors_nor_children() {
    if !alone("a_thousand_in_a_row_leave_neither_descriptors_nor_children") {
        return;
    }
    let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    block_on(async {
        let local = process();
        run(&local, script("true")).await.0.unwrap();
        let before = descriptors();
        for count in 0..1000 {
            let spec = Spec { program: "/bin/true".into(), arguments: Vec::new(), ..script("") };
            assert_eq!(run(&local, spec).await.0, Ok(Ending::Exited(0)), "number {count}");
        }
        for _ in 0..20 {
            let running = local.run(script("sleep 60 & wait"), NEVER, Seen::default());
            let _ = tokio::time::timeout(Duration::from_millis(5), running).await;
            run(&local, Spec { folder: "/nowhere".into(), ..script("") }).await.0.unwrap_err();
        }
        wait_until("all descriptors are closed", || descriptors() == before);
    });
    wait_until("no child is left", || children().is_empty());
}

#[test]
fn a_gigabyte_of_output_costs_no_memory() {
    if !alone("a_gigabyte_of_output_costs_no_memory") {
        return;
    }
    let mut total = 0;
    let ending = block_on(process().run(script("head -c 1073741824 /dev/zero"), NEVER, |line: Line| {
        total += line.bytes.len();
        std::future::ready(())
    }));
    assert_eq!((ending, total), (Ok(Ending::Exited(0)), 1 << 30));
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.strip_suffix("kB")).unwrap();
    let peak: u64 = peak.trim().parse().unwrap();
    assert!(peak < 80_000, "the peak is {peak} kB");
}

/// The children of all threads of this process.
fn children() -> String {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("children")).ok()).collect()
}
