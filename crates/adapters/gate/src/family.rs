//! Which processes a process comes from, to tell whose hook and whose server belong together.

use std::path::Path;

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
        stat(process).map(|(_, started)| Self { process, started })
    }

    /// Returns whether it still lives.
    pub fn lives(&self) -> bool {
        stat(self.process).is_some_and(|(_, started)| started == self.started)
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
        let mut family = Vec::new();
        let mut process = std::process::id();
        while family.len() < MOST {
            let Some((parent, _)) = stat(process) else { break };
            let Some(relative) = (parent > 1).then(|| Relative::of(parent)).flatten() else { break };
            process = parent;
            family.push(relative);
        }
        Self(family)
    }

    /// Returns the process that started this one.
    pub fn parent(&self) -> Option<&Relative> {
        self.0.first()
    }
}

/// Returns the parent of a process and when it was started.
fn stat(process: u32) -> Option<(u32, String)> {
    let text = std::fs::read_to_string(Path::new("/proc").join(process.to_string()).join("stat")).ok()?;
    // The name in parentheses may hold anything; what counts stands after it.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace();
    let parent = fields.nth(1)?.parse().ok()?;
    Some((parent, fields.nth(17)?.to_owned()))
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
