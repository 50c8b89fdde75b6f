//! Time that passes only when everything waits for it.

use crate::ManualClock;
use abide_core::event::{RunId, Timestamp};
use abide_engine::port::Clock;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A clock whose time passes inside [`play`]; clones show the same time.
///
/// What it shows can be set, as people do with clocks. Waiting goes by the time that has really passed, so that a wait
/// that has begun does not change with it.
#[derive(Debug, Clone)]
pub struct VirtualClock {
    shown: ManualClock,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    /// How much time has passed, in milliseconds.
    passed: u64,
    /// Who waits for which moment, those of the same one in the order in which they came.
    sleepers: BTreeMap<(u64, u64), Waker>,
    count: u64,
    runs: u64,
}

impl VirtualClock {
    /// Returns a clock that shows a time, in milliseconds since 1970.
    pub fn at(now: i64) -> Self {
        Self { shown: ManualClock::at(now), state: Arc::default() }
    }

    /// Returns the clock that shows the same and cannot be waited for.
    pub fn shown(&self) -> ManualClock {
        self.shown.clone()
    }

    /// Returns how much time has passed, in milliseconds, whatever the clock was set to.
    pub fn passed(&self) -> u64 {
        self.state().passed
    }

    /// Sets the clock forward, or back.
    pub fn jump(&self, by: i64) {
        self.shown.set(self.shown.now() + by);
    }

    /// Waits until so much time has passed since the beginning.
    pub fn wait(&self, moment: u64) -> Wait {
        Wait { clock: self.clone(), moment, place: None }
    }

    /// Waits for a time.
    pub fn sleep(&self, milliseconds: u64) -> Wait {
        self.wait(self.passed().saturating_add(milliseconds))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets time pass until somebody has waited long enough; tells whether anybody waits.
    fn pass(&self) -> bool {
        let mut state = self.state();
        let Some(((moment, _), _)) = state.sleepers.first_key_value() else { return false };
        let moment = *moment;
        let by = moment.saturating_sub(state.passed);
        state.passed += by;
        let later = state.sleepers.split_off(&(moment, u64::MAX));
        let due = std::mem::replace(&mut state.sleepers, later);
        drop(state);
        self.jump(i64::try_from(by).unwrap_or(i64::MAX));
        due.into_values().for_each(Waker::wake);
        true
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.shown.now())
    }

    async fn sleep_until(&self, moment: Timestamp) {
        let wait = u64::try_from(moment.since(self.now()).as_millis()).unwrap_or(u64::MAX);
        self.sleep(wait).await;
    }

    fn new_run(&self) -> RunId {
        let mut state = self.state();
        state.runs += 1;
        RunId::parse(&format!("run-{}", state.runs)).unwrap_or_else(|| unreachable!("a word and a number"))
    }
}

/// A wait for a moment.
#[derive(Debug)]
pub struct Wait {
    clock: VirtualClock,
    moment: u64,
    place: Option<(u64, u64)>,
}

impl Future for Wait {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let mut state = this.clock.state();
        if state.passed >= this.moment {
            return Poll::Ready(());
        }
        let place = *this.place.get_or_insert_with(|| {
            state.count += 1;
            (this.moment, state.count)
        });
        state.sleepers.insert(place, context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.clock.state().sleepers.remove(&place);
        }
    }
}

/// Plays something to its end on this thread: time passes whenever nothing else can happen.
///
/// # Panics
/// When the play does, and when nothing can ever happen any more.
pub fn play<T: Send + 'static>(clock: &VirtualClock, work: impl Future<Output = T> + Send + 'static) -> T {
    let over = Arc::new(AtomicBool::new(false));
    let (time, is_over) = (clock.clone(), Arc::clone(&over));
    // The runtime calls this when no task can go on. The play is a task too, so that this knows about it.
    let idle = move || assert!(time.pass() || is_over.load(Ordering::SeqCst), "nothing can happen any more");
    let runtime = tokio::runtime::Builder::new_current_thread().on_thread_park(idle).build();
    let runtime = runtime.unwrap_or_else(|error| panic!("cannot start a runtime: {error}"));
    let task = async move {
        let result = work.await;
        over.store(true, Ordering::SeqCst);
        result
    };
    match runtime.block_on(async { tokio::spawn(task).await }) {
        Ok(result) => result,
        Err(error) => resume_unwind(error.into_panic()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_when_everybody_waits_and_waiting_ignores_what_the_clock_is_set_to() {
        let clock = VirtualClock::at(1_000);
        let inside = clock.clone();
        let order = play(&clock, async move {
            let order = Arc::new(Mutex::new(Vec::new()));
            let mut tasks = tokio::task::JoinSet::new();
            for wait in [7_200_000_u64, 10, 500] {
                let (clock, order) = (inside.clone(), Arc::clone(&order));
                tasks.spawn(async move {
                    clock.sleep(wait).await;
                    order.lock().unwrap().push(wait);
                });
            }
            inside.sleep(20).await;
            inside.jump(-900);
            while tasks.join_next().await.is_some() {}
            order.lock().unwrap().clone()
        });
        assert_eq!(order, [10, 500, 7_200_000]);
        assert_eq!((clock.passed(), clock.now().0), (7_200_000, 7_200_100));
    }

    #[test]
    #[should_panic(expected = "nothing can happen any more")]
    fn a_play_that_waits_for_nothing_is_noticed() {
        play(&VirtualClock::at(0), std::future::pending::<()>());
    }
}
