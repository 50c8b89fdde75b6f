//! Which processes a process comes from, to tell whose hook and whose server belong together.

use std::fs::File;
use std::io::Read as _;

/// A process that no other one can be taken for: its number and when it was started.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Relative {
    /// Its number.
    pub process: u32,
    /// When it was started, as the system counts.
    pub started: String,
}

impl Relative {
    /// Finds a process that lives.
    pub fn of(process: u32) -> Option<Self> {
        Stat::of(process).map(|stat| Self { process, started: stat.started })
    }

    /// Returns whether it still lives.
    pub fn lives(&self) -> bool {
        Stat::of(self.process).is_some_and(|stat| stat.started == self.started)
    }
}

/// The processes that a process comes from, its parent first.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Family(pub Vec<Relative>);

/// Deeper families do not occur outside of attacks.
const MOST: usize = 64;

impl Family {
    /// Finds where this process comes from.
    pub fn of_this() -> Self {
        Self(above().map(|(relative, _)| relative).collect())
    }

    /// Returns the process that started this one.
    pub fn parent(&self) -> Option<&Relative> {
        self.0.first()
    }
}

/// Goes up from this process, its parent first; each comes with its name. Whoever stops early has looked at no more than that: a hook
/// is a process for every call of a tool.
pub(crate) fn above() -> impl Iterator<Item = (Relative, String)> {
    let mut next = std::os::unix::process::parent_id();
    let up = std::iter::from_fn(move || {
        let process = next;
        let Stat { parent, started, name } = (process > 1).then(|| Stat::of(process)).flatten()?;
        next = parent;
        Some((Relative { process, started }, name))
    });
    up.take(MOST)
}

/// What the system says about a process.
struct Stat {
    parent: u32,
    started: String,
    name: String,
}

impl Stat {
    fn of(process: u32) -> Option<Self> {
        // The system writes it in one piece, and it is shorter than this.
        let mut bytes = [0; 1_024];
        let count = File::open(format!("/proc/{process}/stat")).ok()?.read(&mut bytes).ok()?;
        let text = String::from_utf8_lossy(&bytes[..count]);
        // The name in parentheses may hold anything; what counts stands after it.
        let (name, rest) = text.rsplit_once(')')?;
        let name = name.split_once('(')?.1.to_owned();
        let mut fields = rest.split_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        Some(Self { parent, started: fields.nth(17)?.to_owned(), name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_a_parent_that_lives() {
        let family = Family::of_this();
        let parent = family.parent().expect("a test is started by something");
        assert!(parent.lives());
        assert_eq!(parent.process, std::os::unix::process::parent_id());
        let other = Relative { started: "0".into(), ..parent.clone() };
        assert!(!other.lives(), "the number alone is not the process");
    }
}
