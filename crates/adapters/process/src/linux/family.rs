//! A process and all that descends from it: who belongs to it, and how all of it is ended.
//!
//! Everything here waits by sleeping, so it is called from threads that may. Start at [`Family::end`].

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, getppid, kill_process_group, pidfd_open, pidfd_send_signal,
};

use super::children;
use super::listing::{self, Carries, Entry};
use crate::Strangers;

/// How often is looked again, after the first KILL, before those who are still there are given up.
const ROUNDS: u32 = 3;

/// How often is looked again because somebody could not be judged.
const UNSURE: u32 = 20;

/// The signs by which the members of a family are known.
#[derive(Debug)]
pub(super) struct Family {
    /// What their environments carry.
    pub(super) marks: Vec<String>,
    /// The group of a leader of ours that is not reaped, so that the number is nobody else's.
    pub(super) group: Option<Pid>,
    pub(super) strangers: Strangers,
}

/// What ending a family came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ended {
    /// How many were alive when they were found.
    pub(super) found: usize,
    /// Whether all of them are gone.
    pub(super) all: bool,
}

impl Family {
    /// Returns whether anybody but the leader, which has ended, may be left; reaps those that have ended too.
    ///
    /// This is asked for every process, so it looks only at orphans that came to us.
    pub(super) fn may_be_left(&self) -> bool {
        let Some(orphans) = children::possible_orphans() else { return true };
        let mut left = false;
        for orphan in orphans.iter().filter_map(|pid| listing::entry(*pid)) {
            if self.is_of_group(&orphan) || (self.takes_strangers() && !children::is_leader(orphan.pid)) {
                if orphan.ended {
                    children::reap_orphan(orphan.pid);
                } else {
                    left = true;
                }
            } else {
                left |= !orphan.ended && listing::carries(orphan.pid, &self.marks) != Carries::No;
            }
        }
        left
    }

    /// Asks all members to end and, after `patience` or as soon as `hurry` says so, ends them; gives up on what is
    /// still there when it has been `dying` for too long. The leader, if there is one, is left to be reaped.
    pub(super) fn end(&self, patience: Duration, dying: Duration, hurry: &AtomicBool) -> Ended {
        let begun = Instant::now();
        let mut known = HashSet::new();
        let mut nap = Duration::from_millis(1);
        let mut rounds = 0;
        let mut first_kill = None;
        loop {
            rounds += 1;
            let killing = hurry.load(Ordering::Relaxed) || begun.elapsed() >= patience;
            if killing {
                first_kill.get_or_insert((Instant::now(), rounds));
                self.signal_group(Signal::KILL);
            }
            let mut alive = 0;
            let (members, unsure) = self.members(&known);
            for member in members {
                if member.ended {
                    if member.parent == Some(getpid()) {
                        children::reap_orphan(member.pid);
                    }
                    continue;
                }
                alive += 1;
                let is_new = known.insert((member.pid, member.start));
                if killing {
                    signal(&member, Signal::KILL);
                } else if is_new {
                    signal(&member, Signal::TERM);
                    signal(&member, Signal::CONT);
                }
            }
            // A list of processes is no snapshot: who came while it was read is found by looking once more.
            let all =
                alive == 0 && !(unsure && rounds < UNSURE) && !(self.group.is_some() && self.may_be_left());
            // On a machine that is busy, time alone says little about how often they could have died.
            let given_up =
                first_kill.is_some_and(|(at, round)| at.elapsed() >= dying && rounds >= round + ROUNDS);
            if all || given_up {
                return Ended { found: known.len(), all };
            }
            std::thread::sleep(nap);
            nap = (nap * 2).min(Duration::from_millis(20));
        }
    }

    /// Signals the group of the leader.
    pub(super) fn signal_group(&self, signal: Signal) {
        if let Some(group) = self.group {
            // It fails when nobody is there, or when all who are there belong to another user: both are past helping.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Returns who belongs to the family now: by its signs, and then whoever descends from a member or is in the group
    /// or session that a member leads. Also returns whether somebody could not be judged yet.
    fn members(&self, known: &HashSet<(Pid, u64)>) -> (Vec<Entry>, bool) {
        let entries = listing::entries();
        let places: HashMap<Pid, usize> =
            entries.iter().enumerate().map(|(place, entry)| (entry.pid, place)).collect();
        let forbidden = self.forbidden(&entries, &places);
        let takes_strangers = self.takes_strangers();
        let own = getpid();
        // Whoever is not below a member of ours was orphaned, and so came to us; after a crash it went elsewhere.
        let may_be_anywhere = self.group.is_none();
        let mut unsure = false;
        let mut carries = |entry: &Entry| match listing::carries(entry.pid, &self.marks) {
            Carries::Yes => true,
            Carries::No => false,
            Carries::NotYet => {
                unsure = true;
                false
            }
        };
        let mut belongs: Vec<bool> = entries
            .iter()
            .map(|entry| {
                !forbidden.contains(&entry.pid)
                    && (self.is_of_group(entry)
                        || known.contains(&(entry.pid, entry.start))
                        || (takes_strangers && entry.parent == Some(own))
                        || (!entry.ended && (may_be_anywhere || entry.parent == Some(own)) && carries(entry)))
            })
            .collect();
        loop {
            let mut grew = false;
            for (place, entry) in entries.iter().enumerate() {
                if belongs[place] || forbidden.contains(&entry.pid) {
                    continue;
                }
                let follows = [entry.parent, entry.group, entry.session]
                    .into_iter()
                    .flatten()
                    .any(|pid| pid != entry.pid && places.get(&pid).is_some_and(|place| belongs[*place]));
                belongs[place] = follows;
                grew |= follows;
            }
            if !grew {
                break;
            }
        }
        let members = entries
            .into_iter()
            .zip(belongs)
            .filter_map(|(entry, belongs)| belongs.then_some(entry))
            .collect();
        (members, unsure)
    }

    /// Returns who is never a member: this process, those it descends from, and the other leaders.
    fn forbidden(&self, entries: &[Entry], places: &HashMap<Pid, usize>) -> HashSet<Pid> {
        let mut forbidden: HashSet<Pid> = entries
            .iter()
            .filter(|entry| Some(entry.pid) != self.group && children::is_leader(entry.pid))
            .map(|entry| entry.pid)
            .collect();
        forbidden.insert(Pid::INIT);
        forbidden.insert(getpid());
        let mut ancestor = getppid();
        while let Some(pid) = ancestor {
            if !forbidden.insert(pid) {
                break;
            }
            ancestor = places.get(&pid).and_then(|place| entries[*place].parent);
        }
        forbidden
    }

    fn is_of_group(&self, entry: &Entry) -> bool {
        self.group.is_some() && entry.group == self.group
    }

    /// Returns whether a child that nobody knows can only be an orphan of this family.
    fn takes_strangers(&self) -> bool {
        self.strangers == Strangers::Orphans && children::at_most_one_leader()
    }
}

/// Signals one process, unless its number has become another's.
fn signal(member: &Entry, signal: Signal) {
    let Ok(pidfd) = pidfd_open(member.pid, PidfdFlags::empty()) else { return };
    // The pidfd stands for whoever had the number when it was opened; that one was it, if it is still listed.
    if listing::entry(member.pid).is_some_and(|now| now.start == member.start) {
        let _ = pidfd_send_signal(&pidfd, signal);
    }
}
