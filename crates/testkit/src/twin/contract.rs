//! The contract of [`Process`], as far as every implementation can show it.
//!
//! A crate that implements the port writes `abide_testkit::process_contract!(subject)` in a test, where `subject` is an
//! expression that makes a [`Subject`]; each rule becomes a test with a name.

use super::{Script, TwinProcess, VirtualClock, World, play};
use abide_engine::port::{Cancel, Ending, Line, Process, Signal, Sink, Spec, Stream};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, PoisonError};

/// What a process under test does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// Exits with a code.
    Exits(i32),
    /// Writes `out1`, `out2`, `out3` and `err1`, each with a line end, and exits.
    Writes,
    /// Writes `up` and a line end, and goes on until it is told to end.
    Waits,
    /// The same, but it does not listen to TERM.
    IsDeaf,
    /// Is a program that does not exist.
    IsMissing,
}

/// An implementation under test.
pub trait Subject: Send + Sync + 'static {
    /// What it implements.
    type Process: Process;

    /// Returns the implementation.
    fn process(&self) -> Arc<Self::Process>;

    /// Returns what makes a process do something; each has a mark of its own.
    fn spec(&self, act: Act) -> Spec;

    /// Returns how many live processes carry a mark.
    fn carriers(&self, mark: &str) -> usize;

    /// Waits for a time, as its processes know time.
    fn wait(&self, milliseconds: u64) -> impl Future<Output = ()> + Send;

    /// Plays a rule to its end.
    fn play(self: Arc<Self>, rule: impl Future<Output = ()> + Send + 'static);
}

/// A mark that no other process of this program has.
pub fn mark() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("contract-{}-{}", std::process::id(), COUNT.fetch_add(1, Relaxed))
}

/// A sink that remembers.
#[derive(Debug, Clone, Default)]
struct Seen(Arc<Mutex<[Vec<u8>; 2]>>);

impl Seen {
    fn text(&self, stream: Stream) -> String {
        let both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&both[usize::from(stream == Stream::Stderr)]).into_owned()
    }
}

impl Sink for Seen {
    async fn take(&mut self, line: Line) {
        let mut both = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        both[usize::from(line.stream == Stream::Stderr)].extend_from_slice(&line.bytes);
    }
}

/// Cancels after a time, and never again.
struct Later<S: Subject> {
    subject: Arc<S>,
    coming: Vec<(u64, Signal)>,
}

impl<S: Subject> Cancel for Later<S> {
    async fn signal(&mut self) -> Signal {
        let Some((after, signal)) = self.coming.first().copied() else {
            return std::future::pending().await;
        };
        self.subject.wait(after).await;
        self.coming.remove(0);
        signal
    }
}

fn later<S: Subject>(subject: &Arc<S>, coming: &[(u64, Signal)]) -> Later<S> {
    Later { subject: Arc::clone(subject), coming: coming.to_vec() }
}

const NEVER: fn() -> std::future::Pending<Signal> = std::future::pending::<Signal>;

/// The rules, each with a name.
pub mod check {
    use super::{Act, Arc, Ending, NEVER, Process as _, Seen, Signal, Spec, Stream, Subject, later};

    /// An exit code is told as it was.
    pub async fn an_exit_code_is_told<S: Subject>(subject: Arc<S>) {
        for code in [0, 1, 7] {
            let ending = subject.process().run(subject.spec(Act::Exits(code)), NEVER, Seen::default()).await;
            assert_eq!(ending, Ok(Ending::Exited(code)));
        }
    }

    /// What is written arrives whole, in order within each stream, before the end is told.
    pub async fn output_comes_in_order_and_before_the_end<S: Subject>(subject: Arc<S>) {
        let seen = Seen::default();
        let ending = subject.process().run(subject.spec(Act::Writes), NEVER, seen.clone()).await;
        assert_eq!(ending, Ok(Ending::Exited(0)));
        assert_eq!(seen.text(Stream::Stdout), "out1\nout2\nout3\n");
        assert_eq!(seen.text(Stream::Stderr), "err1\n");
    }

    /// What cannot be started is an error and no ending.
    pub async fn what_cannot_be_started_says_so<S: Subject>(subject: Arc<S>) {
        let ending = subject.process().run(subject.spec(Act::IsMissing), NEVER, Seen::default()).await;
        assert!(ending.is_err(), "{ending:?}");
    }

    /// A time limit ends a process, also one that does not listen, and leaves nothing of it.
    pub async fn a_time_limit_leaves_nothing<S: Subject>(subject: Arc<S>) {
        for act in [Act::Waits, Act::IsDeaf] {
            let spec = Spec { longest: Some(300), ..subject.spec(act) };
            let mark = spec.mark.clone();
            let ending = subject.process().run(spec, NEVER, Seen::default()).await;
            assert_eq!(ending, Ok(Ending::TimedOut), "{act:?}");
            assert_eq!(subject.carriers(&mark), 0, "{act:?}");
        }
    }

    /// A cancel ends a process, also one that does not listen, and leaves nothing of it.
    pub async fn a_cancel_leaves_nothing<S: Subject>(subject: Arc<S>) {
        for act in [Act::Waits, Act::IsDeaf] {
            let spec = subject.spec(act);
            let mark = spec.mark.clone();
            let cancel = later(&subject, &[(300, Signal::Ask), (100, Signal::Kill)]);
            let ending = subject.process().run(spec, cancel, Seen::default()).await;
            assert_eq!(ending, Ok(Ending::Cancelled), "{act:?}");
            assert_eq!(subject.carriers(&mark), 0, "{act:?}");
        }
    }

    /// A cancel that is there before the start starts nothing.
    pub async fn a_cancel_before_the_start_starts_nothing<S: Subject>(subject: Arc<S>) {
        let seen = Seen::default();
        let at_once = || std::future::ready(Signal::Ask);
        let ending = subject.process().run(subject.spec(Act::Writes), at_once, seen.clone()).await;
        assert_eq!(ending, Ok(Ending::Cancelled));
        assert_eq!(seen.text(Stream::Stdout), "");
    }

    /// A cancel that comes after the end changes nothing about it.
    pub async fn a_late_cancel_changes_nothing<S: Subject>(subject: Arc<S>) {
        let cancel = later(&subject, &[(5_000, Signal::Ask)]);
        let ending = subject.process().run(subject.spec(Act::Exits(7)), cancel, Seen::default()).await;
        assert_eq!(ending, Ok(Ending::Exited(7)));
    }

    /// Dropping the future ends the process.
    pub async fn dropping_the_future_ends_it<S: Subject>(subject: Arc<S>) {
        let spec = subject.spec(Act::IsDeaf);
        let mark = spec.mark.clone();
        let process = subject.process();
        {
            let running = process.run(spec, NEVER, Seen::default());
            tokio::select! {
                ending = running => panic!("it ended by itself: {ending:?}"),
                () = subject.wait(300) => {}
            }
        }
        gone(&*subject, &mark).await;
    }

    /// A sweep of marks that nobody carries finds nothing and touches nothing.
    pub async fn a_sweep_touches_no_other_mark<S: Subject>(subject: Arc<S>) {
        let spec = subject.spec(Act::Waits);
        let kept = spec.mark.clone();
        let process = subject.process();
        let cancel = later(&subject, &[(900, Signal::Kill)]);
        let running = tokio::spawn({
            let process = Arc::clone(&process);
            async move { process.run(spec, cancel, Seen::default()).await }
        });
        subject.wait(400).await;
        for _ in 0..2 {
            assert_eq!(process.sweep(&[super::mark()]).await, 0);
        }
        assert_eq!(process.sweep(&[]).await, 0);
        assert!(subject.carriers(&kept) > 0, "another mark is touched");
        assert_eq!(running.await.unwrap(), Ok(Ending::Cancelled));
        assert_eq!(subject.carriers(&kept), 0);
    }

    async fn gone<S: Subject>(subject: &S, mark: &str) {
        for _ in 0..200 {
            if subject.carriers(mark) == 0 {
                return;
            }
            subject.wait(50).await;
        }
        panic!("{mark} is still there");
    }
}

/// The twin under test.
pub struct TwinSubject {
    clock: VirtualClock,
    world: Arc<World>,
}

impl TwinSubject {
    /// Returns a world of its own.
    pub fn new() -> Self {
        let clock = VirtualClock::at(0);
        let world = World::new(clock.clone(), |spec| {
            let line =
                |after: u64, stream, text: &str| (after, Line { stream, bytes: text.as_bytes().to_vec() });
            let up = || vec![line(0, Stream::Stdout, "up\n")];
            match spec.program.as_str() {
                "waits" => Script { takes: None, output: up(), ..Script::default() },
                "deaf" => Script { takes: None, output: up(), deaf: true, ..Script::default() },
                "missing" => Script { refused: Some("it does not exist".to_owned()), ..Script::default() },
                "writes" => {
                    let output = vec![
                        line(1, Stream::Stdout, "out1\n"),
                        line(1, Stream::Stderr, "err1\n"),
                        line(2, Stream::Stdout, "out2\n"),
                        line(2, Stream::Stdout, "out3\n"),
                    ];
                    Script { takes: Some(3), output, ..Script::default() }
                }
                code => Script { ending: Ending::Exited(code.parse().unwrap_or(-1)), ..Script::default() },
            }
        });
        Self { clock, world }
    }
}

impl Default for TwinSubject {
    fn default() -> Self {
        Self::new()
    }
}

impl Subject for TwinSubject {
    type Process = TwinProcess;

    fn process(&self) -> Arc<TwinProcess> {
        Arc::new(TwinProcess::new(&self.world, &Arc::default()))
    }

    fn spec(&self, act: Act) -> Spec {
        let program = match act {
            Act::Exits(code) => code.to_string(),
            Act::Writes => "writes".to_owned(),
            Act::Waits => "waits".to_owned(),
            Act::IsDeaf => "deaf".to_owned(),
            Act::IsMissing => "missing".to_owned(),
        };
        Spec {
            program,
            arguments: Vec::new(),
            folder: "/".into(),
            variables: Vec::new(),
            without: Vec::new(),
            longest: None,
            mark: mark(),
        }
    }

    fn carriers(&self, mark: &str) -> usize {
        self.world.alive().iter().filter(|alive| *alive == mark).count()
    }

    async fn wait(&self, milliseconds: u64) {
        self.clock.sleep(milliseconds).await;
    }

    fn play(self: Arc<Self>, rule: impl Future<Output = ()> + Send + 'static) {
        play(&self.clock, rule);
    }
}

/// Writes a test for every rule of the contract of processes.
#[macro_export]
macro_rules! process_contract {
    ($subject:expr) => {
        $crate::process_contract!(@ $subject,
            an_exit_code_is_told,
            output_comes_in_order_and_before_the_end,
            what_cannot_be_started_says_so,
            a_time_limit_leaves_nothing,
            a_cancel_leaves_nothing,
            a_cancel_before_the_start_starts_nothing,
            a_late_cancel_changes_nothing,
            dropping_the_future_ends_it,
            a_sweep_touches_no_other_mark
        );
    };
    (@ $subject:expr, $($rule:ident),+) => {$(
        #[test]
        fn $rule() {
            use $crate::twin::contract::{Subject as _, check};
            let subject = ::std::sync::Arc::new($subject);
            let rule = check::$rule(::std::sync::Arc::clone(&subject));
            subject.play(rule);
        }
    )+};
}
