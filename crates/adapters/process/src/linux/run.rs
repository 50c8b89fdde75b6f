//! One process from its start to its end: time, cancel and output at once, then what it left behind.

use std::io::PipeReader;
use std::pin::pin;
use std::time::Duration;

use abide_engine::port::{Cancel, Ending, ProcessError, Signal, Sink, Spec};
use tokio::time::{Instant, sleep, sleep_until};

use super::leader::Leader;
use super::output::{Progress, pump};
use crate::LocalProcess;

/// How soon a cancel that keeps on asking is heard again.
const AGAIN: Duration = Duration::from_millis(20);

/// How far ending a process early has come.
#[derive(Clone, Copy)]
enum Pressure {
    /// It may run, until its time is over.
    None { until: Option<Instant> },
    /// It was asked to end.
    Asked { until: Instant },
    /// It was killed; what the kernel does not let go by then is given up.
    Killed { until: Instant },
}

impl Pressure {
    fn until(self) -> Option<Instant> {
        match self {
            Self::None { until } => until,
            Self::Asked { until } | Self::Killed { until } => Some(until),
        }
    }
}

pub(crate) async fn run(
    local: &LocalProcess,
    spec: Spec,
    input: Option<PipeReader>,
    mut cancel: impl Cancel,
    sink: impl Sink,
) -> Result<Ending, ProcessError> {
    tokio::select! {
        biased;
        _ = cancel.signal() => return Ok(Ending::Cancelled),
        () = std::future::ready(()) => {}
    }
    let limits = local.limits;
    let (mut leader, stdout, stderr) = Leader::start(local, &spec, input)?;
    let longest = spec.longest.and_then(|longest| Instant::now().checked_add(Duration::from_millis(longest)));
    let progress = Progress::default();
    let mut pump = pin!(pump(stdout, stderr, sink, &progress));
    let mut pumping = true;
    let mut early = None;
    let mut pressure = Pressure::None { until: longest };

    let ask = |leader: &Leader, early: &mut Option<Ending>, why| {
        early.get_or_insert(why);
        leader.ask();
        Pressure::Asked { until: Instant::now() + limits.patience }
    };
    let kill = |leader: &Leader, early: &mut Option<Ending>, why| {
        early.get_or_insert(why);
        leader.kill();
        Pressure::Killed { until: Instant::now() + limits.dying }
    };
    loop {
        tokio::select! {
            biased;
            () = leader.ended() => break,
            signal = next_signal(&mut cancel, pressure) => match (signal, pressure) {
                (Signal::Ask, Pressure::None { .. }) => pressure = ask(&leader, &mut early, Ending::Cancelled),
                (Signal::Ask, _) | (Signal::Kill, Pressure::Killed { .. }) => {}
                (Signal::Kill, _) => pressure = kill(&leader, &mut early, Ending::Cancelled),
            },
            () = reached(pressure.until()) => match pressure {
                Pressure::None { .. } => pressure = ask(&leader, &mut early, Ending::TimedOut),
                Pressure::Asked { .. } => pressure = kill(&leader, &mut early, Ending::TimedOut),
                Pressure::Killed { .. } => break,
            },
            () = &mut pump, if pumping => pumping = false,
        }
    }

    leader.close_writers();
    progress.look();
    if pumping && early.is_none() {
        tokio::select! {
            biased;
            () = &mut pump => pumping = false,
            () = killed(&mut cancel) => leader.kill(),
            () = progress.quiet(limits.quiet, limits.held) => {}
        }
    }
    if leader.may_leave_family() {
        let patience = match pressure {
            Pressure::None { .. } => limits.parting,
            Pressure::Asked { until } => until.saturating_duration_since(Instant::now()),
            Pressure::Killed { .. } => Duration::ZERO,
        };
        let mut ending = pin!(leader.end_family(patience));
        let mut hurried = false;
        loop {
            tokio::select! {
                biased;
                () = &mut ending => break,
                () = killed(&mut cancel), if !hurried => {
                    leader.kill();
                    hurried = true;
                }
                () = &mut pump, if pumping => pumping = false,
            }
        }
    }
    if pumping {
        progress.stop();
        pump.await;
    }

    let lost = |reason: String| ProcessError::Lost {
        program: spec.program.clone(),
        folder: spec.folder.display().to_string(),
        reason,
    };
    let ended = leader.reap().map_err(|error| lost(error.to_string()));
    match early {
        Some(early) => Ok(early),
        None => ended?.ok_or_else(|| lost("it cannot be reaped".to_owned())),
    }
}

/// Waits for a signal; one that only repeats itself does not keep a thread busy.
async fn next_signal(cancel: &mut impl Cancel, pressure: Pressure) -> Signal {
    if !matches!(pressure, Pressure::None { .. }) {
        sleep(AGAIN).await;
    }
    cancel.signal().await
}

/// Waits for a KILL.
async fn killed(cancel: &mut impl Cancel) {
    while cancel.signal().await != Signal::Kill {
        sleep(AGAIN).await;
    }
}

async fn reached(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until).await,
        None => std::future::pending().await,
    }
}
