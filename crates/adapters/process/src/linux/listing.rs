//! What `/proc` says about processes.

use std::fs;

use rustix::process::Pid;

/// One process, at the moment at which it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) pid: Pid,
    pub(super) parent: Option<Pid>,
    pub(super) group: Option<Pid>,
    pub(super) session: Option<Pid>,
    /// When it was started, in ticks since the machine was; with the pid, what tells it from a later one.
    pub(super) start: u64,
    /// Whether it has ended and only waits to be reaped.
    pub(super) ended: bool,
}

/// Returns every process that can be seen; none of them need still be there.
pub(super) fn entries() -> Vec<Entry> {
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    folder
        .filter_map(|file| {
            let name = file.ok()?.file_name();
            entry(Pid::from_raw(name.to_str()?.parse().ok()?)?)
        })
        .collect()
}

/// Returns one process, if there is such a one.
pub(super) fn entry(pid: Pid) -> Option<Entry> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads `pid (name) state parent group session … start …`; the name may hold anything, so what counts is its last `)`.
fn parse(pid: Pid, line: &[u8]) -> Option<Entry> {
    let name_end = line.iter().rposition(|&byte| byte == b')')?;
    let mut fields = std::str::from_utf8(&line[name_end + 1..]).ok()?.split_ascii_whitespace();
    let state = fields.next()?;
    // A process that is being reaped has no group or session any more: the kernel says -1.
    let mut id = || Some(Pid::from_raw(fields.next()?.parse::<i32>().ok()?.max(0)));
    let (parent, group, session) = (id()?, id()?, id()?);
    let start = fields.nth(15)?.parse().ok()?;
    Some(Entry { pid, parent, group, session, start, ended: matches!(state, "Z" | "X" | "x") })
}

/// Whether a process carries a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Carries {
    Yes,
    No,
    /// It is becoming another program at this moment, and shows no environment until it has.
    NotYet,
}

/// Returns whether the environment that a process was started with carries one of the marks.
pub(super) fn carries(pid: Pid, marks: &[String]) -> Carries {
    // Without an environment the first time, it may have been becoming what it is by the second.
    for _ in 0..2 {
        let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return Carries::No };
        if holds(&environment, marks) {
            return Carries::Yes;
        }
        if !environment.is_empty() {
            return Carries::No;
        }
        if is_becoming(pid) {
            return Carries::NotYet;
        }
    }
    Carries::No
}

/// Returns whether a process is between two programs: its memory is new and no environment is in it, not even an
/// empty one.
fn is_becoming(pid: Pid) -> bool {
    let Ok(line) = fs::read(format!("/proc/{pid}/stat")) else { return false };
    let start = line.iter().rposition(|&byte| byte == b')').map_or(0, |end| end + 1);
    let mut fields = line[start..].split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    // The state is the third field of all; where the environment ends in memory is the 51st.
    let ended = fields.next().is_none_or(|state| b"ZXx".contains(&state[0]));
    !ended && fields.nth(47).is_some_and(|address| address == b"0")
}

fn holds(environment: &[u8], marks: &[String]) -> bool {
    environment
        .split(|&byte| byte == 0)
        .filter_map(|variable| variable.strip_prefix(crate::MARK.as_bytes())?.strip_prefix(b"="))
        .flat_map(|value| value.split(|&byte| byte == b' '))
        .any(|carried| marks.iter().any(|mark| mark.as_bytes() == carried))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_spaces_does_not_shift_the_fields() {
        let pid = Pid::from_raw(7).unwrap();
        let stat = b"7 (a) Z 9 (b)) S 1 7 5 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4711 99 100 0";
        assert_eq!(
            parse(pid, stat),
            Some(Entry {
                pid,
                parent: Pid::from_raw(1),
                group: Pid::from_raw(7),
                session: Pid::from_raw(5),
                start: 4711,
                ended: false
            })
        );
    }

    #[test]
    fn a_process_that_is_just_being_reaped_has_no_group() {
        let pid = Pid::from_raw(7).unwrap();
        let entry = parse(pid, b"7 (a) X 0 -1 -1 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4711 99").unwrap();
        assert_eq!((entry.parent, entry.group, entry.session, entry.ended), (None, None, None, true));
    }

    #[test]
    fn this_process_is_listed() {
        let own = rustix::process::getpid();
        assert!(entries().iter().any(|entry| entry.pid == own && !entry.ended));
    }

    #[test]
    fn a_process_that_runs_its_program_is_not_becoming_one() {
        assert!(!is_becoming(rustix::process::getpid()));
        assert_eq!(carries(rustix::process::getpid(), &["no-such-mark".to_owned()]), Carries::No);
    }

    #[test]
    fn a_mark_is_a_whole_word_of_its_variable() {
        let marks = ["run-1".to_owned()];
        assert!(holds(b"A=1\0ABIDE_MARK=run-1\0", &marks));
        assert!(holds(b"ABIDE_MARK=outer run-1 inner\0B=2\0", &marks));
        assert!(!holds(b"ABIDE_MARK=run-11\0", &marks));
        assert!(!holds(b"NO_ABIDE_MARK=run-1\0X=ABIDE_MARK=run-1\0", &marks));
    }
}
