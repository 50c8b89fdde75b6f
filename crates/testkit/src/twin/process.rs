//! The twin of processes: each follows a script, and the world remembers them all.

use super::VirtualClock;
use abide_engine::port::{Cancel, Ending, Line, Process, ProcessError, Signal, Sink, Spec};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use tokio::sync::Notify;

/// How long a process that does not listen lives after it was asked to end.
const PATIENCE: u64 = 5_000;
/// How long a sweep waits before it kills.
const SWEEP_PATIENCE: u64 = 2_000;

/// What a process does.
#[derive(Debug, Clone)]
pub struct Script {
    /// How long it takes, in milliseconds; nothing for one that never ends by itself.
    pub takes: Option<u64>,
    /// How it ends by itself.
    pub ending: Ending,
    /// What it writes, and how long after its start.
    pub output: Vec<(u64, Line)>,
    /// Whether it ignores TERM.
    pub deaf: bool,
    /// Why it cannot be started.
    pub refused: Option<String>,
}

impl Default for Script {
    fn default() -> Self {
        Self { takes: Some(0), ending: Ending::Exited(0), output: Vec::new(), deaf: false, refused: None }
    }
}

/// A process, also after its end.
#[derive(Debug, Clone)]
pub struct Living {
    /// Its mark.
    pub mark: String,
    /// When it began, in milliseconds of passed time.
    pub begun: u64,
    /// When it was over.
    pub over: Option<u64>,
    /// When it ends by itself.
    ends: Option<u64>,
    /// Whether somebody waits for it; without that, it goes on alone.
    is_watched: bool,
    deaf: bool,
    /// The signal that ended it.
    signal: Option<i32>,
}

impl Living {
    /// Tells whether it was alive at a time.
    pub fn is_alive(&self, at: u64) -> bool {
        let by_itself = self.ends.filter(|_| !self.is_watched);
        self.over.is_none_or(|over| at < over) && by_itself.is_none_or(|ends| at < ends)
    }
}

type Scripts = dyn Fn(&Spec) -> Script + Send + Sync;

/// Every process there ever was.
pub struct World {
    clock: VirtualClock,
    scripts: Box<Scripts>,
    all: Mutex<Vec<Living>>,
    ended: Notify,
}

impl World {
    /// Returns a world in which `scripts` says what a process does.
    pub fn new(clock: VirtualClock, scripts: impl Fn(&Spec) -> Script + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { clock, scripts: Box::new(scripts), all: Mutex::default(), ended: Notify::new() })
    }

    /// Returns every process there ever was, in the order of their beginning.
    pub fn all(&self) -> Vec<Living> {
        self.lock().clone()
    }

    /// Returns the marks of those that live.
    pub fn alive(&self) -> Vec<String> {
        let now = self.clock.passed();
        self.lock().iter().filter(|one| one.is_alive(now)).map(|one| one.mark.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Living>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, mark: &str, script: &Script) -> usize {
        let begun = self.clock.passed();
        let ends = script.takes.map(|takes| begun.saturating_add(takes));
        let mark = mark.to_owned();
        let mut all = self.lock();
        all.push(Living { mark, begun, over: None, ends, is_watched: true, deaf: script.deaf, signal: None });
        all.len() - 1
    }

    fn end(&self, place: usize, signal: Option<i32>) {
        let now = self.clock.passed();
        let mut all = self.lock();
        let one = &mut all[place];
        if one.is_alive(now) && one.over.is_none() {
            one.over = Some(now);
            one.signal = signal;
        }
        drop(all);
        self.ended.notify_waiters();
    }

    /// Waits until somebody else has ended a process.
    async fn killed(&self, place: usize) -> i32 {
        loop {
            let ended = self.ended.notified();
            if let Some(signal) = self.lock()[place].signal {
                return signal;
            }
            ended.await;
        }
    }
}

/// Starts processes of a [`World`] for one program, which may crash.
#[derive(Clone)]
pub struct TwinProcess {
    world: Arc<World>,
    crashed: Arc<AtomicBool>,
    sweeps: bool,
}

impl TwinProcess {
    /// Returns what starts processes; once `crashed` is true, nobody is left to end them.
    pub fn new(world: &Arc<World>, crashed: &Arc<AtomicBool>) -> Self {
        Self { world: Arc::clone(world), crashed: Arc::clone(crashed), sweeps: true }
    }

    /// Returns one whose sweeps do nothing, which breaks the contract: whoever tests a driver must notice.
    #[must_use]
    pub fn without_sweep(self) -> Self {
        Self { sweeps: false, ..self }
    }
}

/// Ends a process that nobody waits for any more, unless its starter is gone too.
struct Watch<'a> {
    process: &'a TwinProcess,
    place: usize,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if self.process.crashed.load(Ordering::SeqCst) {
            self.process.world.lock()[self.place].is_watched = false;
        } else {
            self.process.world.end(self.place, None);
        }
    }
}

impl Process for TwinProcess {
    async fn run(
        &self,
        spec: Spec,
        mut cancel: impl Cancel,
        mut sink: impl Sink,
    ) -> Result<Ending, ProcessError> {
        // A program that is gone starts nothing.
        if self.crashed.load(Ordering::SeqCst) {
            return std::future::pending().await;
        }
        if pin!(cancel.signal()).poll(&mut Context::from_waker(Waker::noop())).is_ready() {
            return Ok(Ending::Cancelled);
        }
        let clock = &self.world.clock;
        let script = (self.world.scripts)(&spec);
        if let Some(reason) = script.refused {
            let folder = spec.folder.display().to_string();
            return Err(ProcessError::Start { program: spec.program, folder, reason });
        }
        let watch = Watch { process: self, place: self.world.begin(&spec.mark, &script) };
        let begun = clock.passed();
        let dies = |from: u64| if script.deaf { from + PATIENCE } else { from };
        let mut limit = spec.longest.map(|longest| begun.saturating_add(longest));
        // What ends it early, and when it is gone then.
        let mut early: Option<(Ending, u64)> = None;
        let mut listens = true;
        let mut body = pin!(async {
            for (after, line) in script.output {
                clock.wait(begun + after).await;
                sink.take(line).await;
            }
            match script.takes {
                Some(takes) => clock.wait(begun.saturating_add(takes)).await,
                None => std::future::pending().await,
            }
        });
        let ending = loop {
            let gone = early.map_or(u64::MAX, |(_, gone)| gone);
            tokio::select! {
                biased;
                signal = self.world.killed(watch.place) => {
                    break early.map_or(Ending::Signalled(signal), |(why, _)| why);
                }
                () = &mut body => break early.map_or(script.ending, |(why, _)| why),
                () = clock.wait(gone), if early.is_some() => break early.map_or(script.ending, |(why, _)| why),
                signal = cancel.signal(), if listens => match (signal, early) {
                    (Signal::Kill, _) => break early.map_or(Ending::Cancelled, |(why, _)| why),
                    (Signal::Ask, None) => early = Some((Ending::Cancelled, dies(clock.passed()))),
                    (Signal::Ask, Some(_)) => listens = early.is_none(),
                },
                () = clock.wait(limit.unwrap_or(u64::MAX)), if limit.is_some() => {
                    limit = None;
                    early = early.or(Some((Ending::TimedOut, dies(clock.passed()))));
                }
            }
        };
        self.world.end(watch.place, None);
        Ok(ending)
    }

    async fn sweep(&self, marks: &[String]) -> usize {
        if self.crashed.load(Ordering::SeqCst) {
            return std::future::pending().await;
        }
        let now = self.world.clock.passed();
        let found: Vec<(usize, bool)> = {
            let all = self.world.lock();
            let carries = |one: &Living| self.sweeps && one.is_alive(now) && marks.contains(&one.mark);
            all.iter()
                .enumerate()
                .filter(|(_, one)| carries(one))
                .map(|(place, one)| (place, one.deaf))
                .collect()
        };
        for (place, _) in found.iter().filter(|(_, deaf)| !deaf) {
            self.world.end(*place, Some(15));
        }
        if found.iter().any(|(_, deaf)| *deaf) {
            self.world.clock.sleep(SWEEP_PATIENCE).await;
        }
        for (place, _) in found.iter().filter(|(_, deaf)| *deaf) {
            self.world.end(*place, Some(9));
        }
        found.len()
    }
}
