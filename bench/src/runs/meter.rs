//! What a piece of work in this process costs, with the processes that it starts.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use std::time::{Duration, Instant};

/// Wall and CPU time.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    /// From start to end.
    pub(crate) wall: Duration,
    /// On all cores: of this process and of the children that it has reaped.
    pub(crate) cpu: Duration,
}

impl Spent {
    /// Returns the share of one of `count` steps, in microseconds: wall and CPU.
    pub(crate) fn each(self, count: usize) -> (f64, f64) {
        #[expect(clippy::cast_precision_loss, reason = "a number of steps")]
        let count = count.max(1) as f64;
        (self.wall.as_secs_f64() * 1e6 / count, self.cpu.as_secs_f64() * 1e6 / count)
    }
}

/// Does something and returns what it cost.
pub(crate) fn spent<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<Spent> {
    let (began, own, children) =
        (Instant::now(), cpu(UsageWho::RUSAGE_SELF)?, cpu(UsageWho::RUSAGE_CHILDREN)?);
    work()?;
    let wall = began.elapsed();
    let own = cpu(UsageWho::RUSAGE_SELF)?.saturating_sub(own);
    let children = cpu(UsageWho::RUSAGE_CHILDREN)?.saturating_sub(children);
    Ok(Spent { wall, cpu: own + children })
}

fn cpu(who: UsageWho) -> anyhow::Result<Duration> {
    let usage = getrusage(who)?;
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Ok(Duration::from_micros(u64::try_from(micros)?))
}
