//! The contract of the port, as any implementation keeps it: each test names one promise.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests look at files, times and processes")]

mod support;

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use abide_engine::port::{Ending, Line, Process, ProcessError, Signal, Spec, Variable};
use abide_process::LocalProcess;
use support::{NEVER, Seen, carriers, run, script, signals};

/// The implementation under test, with less patience than users have.
fn process() -> LocalProcess {
    LocalProcess::new().with_patience(Duration::from_millis(300))
}

fn reason(result: Result<Ending, ProcessError>) -> String {
    match result {
        Err(ProcessError::Start { reason, .. }) => reason,
        other => panic!("it was started: {other:?}"),
    }
}

#[tokio::test]
async fn an_exit_code_is_told() {
    for code in [0, 1, 7, 255] {
        let (ending, _) = run(&process(), script(&format!("exit {code}"))).await;
        assert_eq!(ending, Ok(Ending::Exited(code)));
    }
}

#[tokio::test]
async fn a_signal_from_outside_is_told() {
    let (ending, _) = run(&process(), script("kill -9 $$")).await;
    assert_eq!(ending, Ok(Ending::Signalled(9)));
    let (ending, _) = run(&process(), script("kill -TERM $$")).await;
    assert_eq!(ending, Ok(Ending::Signalled(15)));
}

#[tokio::test]
async fn both_streams_are_handed_on_apart_and_in_order() {
    let (ending, seen) = run(&process(), script("for i in 1 2 3; do echo out$i; echo err$i >&2; done")).await;
    assert_eq!(ending, Ok(Ending::Exited(0)));
    assert_eq!((seen.stdout(), seen.stderr()), ("out1\nout2\nout3\n".into(), "err1\nerr2\nerr3\n".into()));
}

#[tokio::test]
async fn bytes_are_handed_on_as_they_are() {
    let (_, seen) = run(&process(), script(r"printf 'a\377\200\000b\r\n\303'")).await;
    assert_eq!(seen.stdout_bytes(), b"a\xff\x80\0b\r\n\xc3");
}

#[tokio::test]
async fn all_of_a_large_output_arrives() {
    let (ending, seen) =
        run(&process(), script("head -c 3000000 /dev/zero; head -c 2000000 /dev/zero >&2")).await;
    assert_eq!(ending, Ok(Ending::Exited(0)));
    assert_eq!((seen.stdout().len(), seen.stderr().len()), (3_000_000, 2_000_000));
}

#[tokio::test]
async fn standard_input_is_at_its_end() {
    let (ending, seen) = run(&process(), script("cat; read line; echo $?")).await;
    assert_eq!((ending, seen.stdout()), (Ok(Ending::Exited(0)), "1\n".into()));
}

#[tokio::test]
async fn it_leads_a_group_of_its_own() {
    let (_, seen) = run(&process(), script("ps -o pgid= -p $$; echo $$")).await;
    let text = seen.stdout();
    let mut ids = text.split_whitespace();
    assert_eq!(ids.next(), ids.next());
}

#[tokio::test]
async fn folder_and_environment_are_what_the_spec_says() {
    let folder = tempfile::tempdir().unwrap();
    let spec = Spec {
        folder: folder.path().canonicalize().unwrap(),
        variables: vec![Variable { name: "GIVEN".into(), value: "a b\n'\"$".into(), secret: true }],
        without: vec!["HOME".into()],
        ..script("pwd -P; printf '%s' \"$GIVEN\"; echo \"${HOME-none}\"; echo \"$ABIDE_MARK\"")
    };
    let (_, seen) = run(&process(), spec.clone()).await;
    assert_eq!(seen.stdout(), format!("{}\na b\n'\"$none\n{}\n", spec.folder.display(), spec.mark));
}

#[tokio::test]
async fn what_is_given_is_read_and_a_writer_sees_the_end_of_who_reads_nothing() {
    let text: String = "0123456789abcdef".repeat(20_000);
    for (program, expected) in [("wc -c", "320000\n"), ("exec <&-; echo deaf", "deaf\n")] {
        let (input, mut end) = std::io::pipe().unwrap();
        let text = text.clone();
        let writer = tokio::task::spawn_blocking(move || end.write_all(text.as_bytes()));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        let sink = move |line: Line| {
            kept.lock().unwrap().extend(line.bytes);
            std::future::ready(())
        };
        let ending = process().run_reading(script(program), input, NEVER, sink).await;
        assert_eq!(ending, Ok(Ending::Exited(0)));
        assert_eq!(String::from_utf8_lossy(&seen.lock().unwrap()), expected);
        assert_eq!(writer.await.unwrap().is_ok(), program == "wc -c", "{program}");
    }
}

#[tokio::test]
async fn a_time_limit_asks_and_then_kills() {
    let begun = Instant::now();
    let asked = Spec { longest: Some(100), ..script("trap 'echo bye; exit 0' TERM; sleep 60 & wait") };
    let (ending, seen) = run(&process(), asked).await;
    assert_eq!((ending, seen.stdout()), (Ok(Ending::TimedOut), "bye\n".into()));

    let deaf = Spec { longest: Some(100), ..script("trap '' TERM; echo deaf; while :; do sleep 0.05; done") };
    let mark = deaf.mark.clone();
    let (ending, seen) = run(&process(), deaf).await;
    assert_eq!((ending, seen.stdout()), (Ok(Ending::TimedOut), "deaf\n".into()));
    assert_eq!(carriers(&mark), 0);
    assert!(begun.elapsed() < Duration::from_secs(5), "it took {:?}", begun.elapsed());
}

#[tokio::test]
async fn a_stopped_process_is_ended_too() {
    let spec = Spec { longest: Some(200), ..script("kill -STOP $$; echo on") };
    assert_eq!(run(&process(), spec).await.0, Ok(Ending::TimedOut));
}

#[tokio::test]
async fn a_cancel_asks_and_a_kill_ends_the_waiting() {
    let patient = LocalProcess::new().with_patience(Duration::from_secs(30));
    let begun = Instant::now();
    let (send, receive) = signals();
    let spec = script("trap '' TERM; echo up; while :; do sleep 0.05; done");
    let mark = spec.mark.clone();
    let sink = move |_: Line| {
        let send = send.clone();
        async move {
            send.send(Signal::Ask).unwrap();
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(200)).await;
                let _ = send.send(Signal::Kill);
            });
        }
    };
    assert_eq!(patient.run(spec, receive, sink).await, Ok(Ending::Cancelled));
    assert!((200..5000).contains(&begun.elapsed().as_millis()), "it took {:?}", begun.elapsed());
    assert_eq!(carriers(&mark), 0);
}

#[tokio::test]
async fn a_kill_does_not_ask() {
    let (send, receive) = signals();
    let sink = move |_: Line| {
        send.send(Signal::Kill).unwrap();
        std::future::ready(())
    };
    let seen = script("trap 'echo asked >&2' TERM; echo up; while :; do sleep 0.05; done");
    assert_eq!(process().run(seen, receive, sink).await, Ok(Ending::Cancelled));
}

#[tokio::test]
async fn a_cancel_that_repeats_itself_is_one_cancel() {
    let always = || std::future::ready(Signal::Ask);
    let mut first = true;
    let cancel = move || {
        let wait = if std::mem::take(&mut first) { 100 } else { 0 };
        async move {
            tokio::time::sleep(Duration::from_millis(wait)).await;
            always().await
        }
    };
    // The first call is the question before the start; it is dropped, and the second one answers.
    let ending =
        process().run(script("trap '' TERM; while :; do sleep 0.05; done"), cancel, Seen::default()).await;
    assert_eq!(ending, Ok(Ending::Cancelled));
}

#[tokio::test]
async fn a_cancel_before_the_start_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let spec = Spec { folder: folder.path().into(), ..script("touch started") };
    let ending = process().run(spec, || std::future::ready(Signal::Ask), Seen::default()).await;
    assert_eq!(ending, Ok(Ending::Cancelled));
    assert!(!folder.path().join("started").exists());
}

#[tokio::test]
async fn what_is_cancelled_may_take_its_time_as_a_whole_group() {
    let patient = LocalProcess::new();
    let (send, receive) = signals();
    let seen = Seen::default();
    let spec =
        script("(trap 'sleep 0.6; echo saved; exit' TERM; while :; do sleep 0.05; done) & sleep 0.2; wait");
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(400)).await;
        send.send(Signal::Ask).unwrap();
        std::future::pending::<()>().await;
    });
    assert_eq!(patient.run(spec, receive, seen.clone()).await, Ok(Ending::Cancelled));
    assert_eq!(seen.stdout(), "saved\n");
}

#[tokio::test]
async fn a_slow_sink_slows_the_process_and_not_the_time_limit() {
    let taken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&taken);
    let sink = move |line: Line| {
        count.fetch_add(line.bytes.len(), Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(50))
    };
    let begun = Instant::now();
    let ending = process().run(Spec { longest: Some(400), ..script("exec yes") }, NEVER, sink).await;
    assert_eq!(ending, Ok(Ending::TimedOut));
    assert!(begun.elapsed() < Duration::from_secs(4), "it took {:?}", begun.elapsed());
    assert!(taken.load(Ordering::Relaxed) < 2_000_000, "{taken:?} bytes went by");
}

#[tokio::test]
async fn a_process_that_never_stops_writing_meets_its_time_limit() {
    let begun = Instant::now();
    let sink = |_: Line| std::future::ready(());
    let ending = process().run(Spec { longest: Some(200), ..script("exec yes") }, NEVER, sink).await;
    assert_eq!(ending, Ok(Ending::TimedOut));
    assert!(begun.elapsed() < Duration::from_secs(4), "it took {:?}", begun.elapsed());
}

#[tokio::test]
async fn dropping_the_future_ends_the_group() {
    let spec = script("trap '' TERM; sleep 60 & setsid sleep 60 & wait");
    let mark = spec.mark.clone();
    let local = process();
    {
        let running = local.run(spec, NEVER, Seen::default());
        let _ = tokio::time::timeout(Duration::from_millis(300), running).await;
    }
    support::wait_until("the group is gone", || carriers(&mark) == 0);
}

#[tokio::test]
async fn what_cannot_be_started_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let plain = file("plain.sh", "echo hi\n");
    let lost = file("lost.sh", "#!/nowhere/python\n");
    std::fs::set_permissions(&lost, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let noise = file("noise", "\u{1}\u{2}");
    std::fs::set_permissions(&noise, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = |program: &str| Spec { program: program.into(), arguments: Vec::new(), ..script("") };
    let here = folder.path().to_owned();
    let cases = [
        (program("/nowhere/program"), "the program does not exist".to_owned()),
        (program("no-such-program-anywhere"), "there is no such program in PATH".to_owned()),
        (program(&plain), format!("the file is not executable; `chmod +x {plain}` makes it so")),
        (program(&lost), "its interpreter `/nowhere/python` does not exist".to_owned()),
        (program(&noise), "the file is neither a program nor a script that starts with `#!`".to_owned()),
        (program(&here.display().to_string()), "the program is a folder".to_owned()),
        (Spec { folder: here.join("gone"), ..script("") }, "the folder does not exist".to_owned()),
        (Spec { folder: plain.clone().into(), ..script("") }, "the folder is not a folder".to_owned()),
        (
            script("\0"),
            "an argument or a variable holds a NUL byte, which no program can be given".to_owned(),
        ),
    ];
    for (spec, expected) in cases {
        assert_eq!(reason(run(&process(), spec.clone()).await.0), expected, "{spec:?}");
    }
}

#[tokio::test]
async fn too_much_for_the_environment_is_said_with_the_name_of_the_largest() {
    let variable =
        |name: &str, length| Variable { name: name.into(), value: "x".repeat(length), secret: true };
    let spec = Spec { variables: vec![variable("SMALL", 5), variable("LARGE", 3_000_000)], ..script("true") };
    assert_eq!(
        reason(run(&process(), spec).await.0),
        "its arguments (8 bytes) and variables (3000019 bytes) are more than the system can hand over; \
         the largest is the variable `LARGE` with 3000000 bytes"
    );
}
