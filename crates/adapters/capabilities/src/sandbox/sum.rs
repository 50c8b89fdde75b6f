//! What all processes of a sandbox use together.
//!
//! The kernel holds each process to its memory and all of them to their number; it adds memory up only for control
//! groups, which a user seldom may make. So somebody looks from outside, often, and ends what is too much. What the kernel
//! keeps for a process is not all in the process's own count: tables of pages and what waits in sockets are added.
#![expect(clippy::disallowed_methods, reason = "what processes use is read from /proc")]

use std::fs;
use std::path::Path;
use std::time::Duration;

/// The most memory that all processes of a sandbox may have together.
pub(super) const MEMORY_OF_ALL: u64 = 1 << 30;
/// What a socket can hold: as much as is sent before the kernel lets a sender wait, and one more piece.
const SOCKET: u64 = 512 << 10;
/// How often it is looked at.
const PAUSE: Duration = Duration::from_millis(20);
/// How many processes are looked at; there may be far fewer.
const MOST: usize = 1_000;

/// Returns why what processes use cannot be added up here.
pub(super) fn missing() -> Option<&'static str> {
    let told = Path::new("/proc/thread-self/children").exists();
    (!told).then_some("this kernel does not tell which processes another one has started")
}

/// Waits until the processes of a sandbox use too much; `leader` is a file with the number of the first of them.
pub(super) async fn too_much(leader: &Path) {
    loop {
        tokio::time::sleep(PAUSE).await;
        let leader = leader.to_owned();
        // A look that fails is taken for too much: what cannot be counted is not let go on.
        if tokio::task::spawn_blocking(move || is_too_much(&leader)).await.unwrap_or(true) {
            return;
        }
    }
}

fn is_too_much(leader: &Path) -> bool {
    let Some(leader) = fs::read_to_string(leader).ok().and_then(|text| text.trim().parse().ok()) else {
        return false;
    };
    let family = family(leader);
    let sockets = sockets(&family).saturating_mul(SOCKET);
    let sum = |of: fn(u32) -> u64| family.iter().map(|process| of(*process)).sum::<u64>() + sockets;
    // Pages that are shared count for each who has them; only if that is too much are they counted exactly.
    sum(resident) > MEMORY_OF_ALL && sum(share) > MEMORY_OF_ALL
}

/// Returns how many sockets there are inside; the processes that put the walls up stand outside and are passed over.
fn sockets(family: &[u32]) -> u64 {
    let inside = family.iter().find(|process| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        let numbers = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
        numbers.is_some_and(|numbers| numbers.split_whitespace().count() > 1)
    });
    let told = inside.and_then(|process| fs::read_to_string(format!("/proc/{process}/net/sockstat")).ok());
    let line =
        told.as_deref().and_then(|text| text.lines().find_map(|line| line.strip_prefix("sockets: used ")));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or_default()
}

/// Returns a process and all that descend from it.
fn family(leader: u32) -> Vec<u32> {
    let mut found = vec![leader];
    let mut next = 0;
    while let Some(process) = found.get(next).copied().filter(|_| found.len() < MOST) {
        next += 1;
        let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { continue };
        for thread in threads.filter_map(Result::ok) {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
        }
    }
    found
}

fn resident(process: u32) -> u64 {
    bytes_of(process, "status", "VmRSS:").unwrap_or_default() + tables(process)
}

/// Returns what a process has, with its part of what it shares; where that is not told, all that it has.
fn share(process: u32) -> u64 {
    bytes_of(process, "smaps_rollup", "Pss:").map_or_else(|| resident(process), |own| own + tables(process))
}

/// Returns what the kernel needs to know where the pages of a process are.
fn tables(process: u32) -> u64 {
    bytes_of(process, "status", "VmPTE:").unwrap_or_default()
}

/// Returns a line of a file about a process that counts kilobytes.
fn bytes_of(process: u32, file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/{file}")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}
