//! The children of this process, which are of three kinds: leaders that we started, orphans that we adopted, and
//! children of somebody else in this program, which are never reaped here.
//!
//! Reaping and listing exclude each other, because the kernel's list of children may skip one while another is taken
//! out of it. Children belong to the whole process, and so does this register, however many `LocalProcess` there are.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, getpid, set_child_subreaper, waitid};

static REGISTER: Mutex<Register> = Mutex::new(Register { starting: 0, leaders: Vec::new() });

struct Register {
    /// How many are being started, so that their number is not known yet.
    starting: usize,
    leaders: Vec<Pid>,
}

fn register() -> MutexGuard<'static, Register> {
    REGISTER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this process the parent of the orphans among its descendants.
pub(crate) fn adopt_orphans() {
    // Every Linux since 3.4 knows it. Where it fails, orphans go to init, and only their group and mark find them.
    let _ = set_child_subreaper(Some(getpid()));
}

/// Starts a leader by `start`, so that nobody takes it for an orphan in the meantime.
pub(super) fn enrol(start: impl FnOnce() -> io::Result<Pid>) -> io::Result<Pid> {
    register().starting += 1;
    let started = start();
    let mut register = register();
    register.starting -= 1;
    if let Ok(pid) = started {
        register.leaders.push(pid);
    }
    started
}

/// Returns whether a process is a leader that we started and have not reaped.
pub(super) fn is_leader(pid: Pid) -> bool {
    register().leaders.contains(&pid)
}

/// Returns whether one leader at most is there, and none is about to be.
pub(super) fn at_most_one_leader() -> bool {
    let register = register();
    register.starting + register.leaders.len() <= 1
}

/// Reaps a leader that has ended; nothing if it has not.
pub(super) fn reap_leader(pid: Pid) -> io::Result<Option<WaitIdStatus>> {
    let mut register = register();
    let reaped = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    if !matches!(reaped, Ok(None)) {
        register.leaders.retain(|leader| *leader != pid);
    }
    Ok(reaped?)
}

/// Reaps an orphan that has ended. Does nothing for a leader.
pub(super) fn reap_orphan(pid: Pid) {
    let register = register();
    if !register.leaders.contains(&pid) {
        let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }
}

/// Returns the children that are no leaders and may be orphans, or nothing if the system does not list children.
///
/// The kernel gives orphans to the first thread of the process that adopts, so its list is the only one to read.
pub(super) fn possible_orphans() -> Option<Vec<Pid>> {
    static LIST: OnceLock<Option<File>> = OnceLock::new();
    let list = LIST
        .get_or_init(|| {
            let own = getpid();
            File::open(format!("/proc/{own}/task/{own}/children")).ok()
        })
        .as_ref()?;
    let register = register();
    let mut text = Vec::new();
    let mut chunk = [0; 1024];
    loop {
        match list.read_at(&mut chunk, text.len() as u64) {
            Ok(0) => break,
            Ok(count) => text.extend_from_slice(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
        // The list ends in a space; a chunk that is not full is the last, and asking again costs a call.
        if text.len() % chunk.len() != 0 {
            break;
        }
    }
    let pids = std::str::from_utf8(&text).ok()?.split_ascii_whitespace();
    Some(
        pids.filter_map(|pid| Pid::from_raw(pid.parse().ok()?))
            .filter(|pid| !register.leaders.contains(pid))
            .collect(),
    )
}
