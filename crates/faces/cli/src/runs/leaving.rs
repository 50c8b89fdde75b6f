//! The signals that ask a process to go: TERM, and HUP when its terminal is closed.
#![expect(clippy::disallowed_methods, reason = "which signals are ignored is asked where things are wired")]

use crate::{Exit, Failure};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears that the process is asked to go.
pub(crate) struct Leaving {
    ended: Signal,
    /// Nothing where whoever started the process wants it to outlive its terminal, as `nohup` does.
    hung_up: Option<Signal>,
}

impl Leaving {
    /// Listens from now on: the signals do not end the process any more.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let listen = |kind| {
            signal(kind)
                .map_err(|error| Failure::new(Exit::System, format!("cannot listen for signals: {error}")))
        };
        let hangup = SignalKind::hangup();
        let hung_up = if is_ignored(hangup) { None } else { Some(listen(hangup)?) };
        Ok(Self { ended: listen(SignalKind::terminate())?, hung_up })
    }

    /// Waits until somebody asks.
    pub(crate) async fn recv(&mut self) {
        let hung_up = async {
            match &mut self.hung_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.ended.recv() => {}
            _ = hung_up => {}
        }
    }
}

/// Returns whether the process was started with a signal ignored.
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let bit = u32::try_from(kind.as_raw_value() - 1).ok().and_then(|bit| 1_u64.checked_shl(bit));
    bit.is_some_and(|bit| ignored & bit != 0)
}
