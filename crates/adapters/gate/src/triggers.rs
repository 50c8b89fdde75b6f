//! What in a message suggests an ability: the triggers of a project, compiled, and when a session was last told of one.

use crate::files::{self, GateError};
use crate::{Gate, SessionId};
use abide_core::definition::{Pattern, Triggers};
use abide_core::event::Timestamp;
use abide_core::source::{Span, Spanned};
use abide_core::trigger::may_suggest;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;

/// The triggers of a project's abilities.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TriggerIndex {
    /// Whether a trigger starts its ability by itself; otherwise it suggests it.
    pub start: bool,
    /// The abilities that have triggers.
    pub abilities: Vec<Suggestible>,
}

/// An ability that a message can suggest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suggestible {
    /// Its name.
    pub ability: String,
    /// What it does, in a line.
    pub description: String,
    /// Words and phrases.
    pub keywords: Vec<String>,
    /// Regular expressions, as they are written.
    pub patterns: Vec<String>,
}

impl Suggestible {
    /// Returns its triggers; a pattern that is none is left out, since only a definition that is in order gets here.
    pub fn triggers(&self) -> Triggers {
        let patterns = self.patterns.iter().filter_map(|pattern| Pattern::parse(pattern).ok());
        Triggers {
            keywords: self.keywords.iter().map(|word| Spanned::new(word.clone(), Span::default())).collect(),
            patterns: patterns.map(|pattern| Spanned::new(pattern, Span::default())).collect(),
        }
    }
}

/// The triggers, with what tells them from those of another compilation.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptTriggers {
    pub(crate) of: String,
    pub(crate) triggers: TriggerIndex,
}

impl KeptTriggers {
    pub(crate) fn new(triggers: TriggerIndex) -> Self {
        // Values of texts and lists always serialise.
        let text = serde_json::to_vec(&triggers).unwrap_or_default();
        Self { of: files::name_of(&text), triggers }
    }
}

/// The largest note of a session that is read.
const LARGEST: u64 = 64 * 1024;

impl Gate {
    /// Notes that a session is told of an ability, unless it just was; returns whether it may be.
    pub fn suggest(&self, session: &SessionId, ability: &str, now: Timestamp) -> Result<bool, GateError> {
        let path = self.suggested_file(session);
        let failed = |what| GateError::io(what, &path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(GateError::io("make", folder))?;
        }
        let file =
            File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let mut file = file.map_err(failed("write"))?;
        match file.try_lock() {
            Ok(()) => {}
            // Another hook of the same message is about to say it; nobody waits for a note.
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(error)) => return Err(failed("lock")(error)),
        }
        let mut text = Vec::new();
        (&file).take(LARGEST).read_to_end(&mut text).map_err(failed("read"))?;
        // A note that was cut off only means that something is said once more.
        let mut told: BTreeMap<String, i64> = serde_json::from_slice(&text).unwrap_or_default();
        if !may_suggest(told.get(ability).copied().map(Timestamp), now) {
            return Ok(false);
        }
        // What may be said again need not be remembered, so the note stays small.
        told.retain(|_, last| !may_suggest(Some(Timestamp(*last)), now));
        told.insert(ability.to_owned(), now.0);
        let text = serde_json::to_vec(&told).unwrap_or_default();
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(&text))
            .map_err(failed("write"))?;
        Ok(true)
    }

    fn suggested_file(&self, session: &SessionId) -> PathBuf {
        self.folder.join("sessions").join(session.file_name()).with_extension("suggested")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::policy::Client;

    #[test]
    fn a_session_is_told_of_an_ability_once_in_ten_seconds() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        let (one, two) = (SessionId::new(Client::Codex, "1"), SessionId::new(Client::Codex, "2"));
        let told = |session, ability, seconds: i64| {
            gate.suggest(session, ability, Timestamp(seconds * 1_000)).unwrap()
        };
        assert!(told(&one, "deploy", 100));
        assert!(!told(&one, "deploy", 109));
        assert!(told(&one, "review", 109), "another ability");
        assert!(told(&two, "deploy", 109), "another session");
        assert!(told(&one, "deploy", 110));
        assert!(told(&one, "deploy", 50), "a clock that is set back does not silence it");
        assert!(!told(&one, "deploy", 51));
        fs::write(gate.suggested_file(&one), "{\"deploy\":510").unwrap();
        assert!(told(&one, "deploy", 52), "a note that was cut off does not either");
    }

    #[test]
    fn of_many_hooks_of_one_message_one_says_it() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        let session = SessionId::new(Client::ClaudeCode, "s");
        let say = || gate.suggest(&session, "deploy", Timestamp(1_000)).unwrap();
        let said: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(say)).collect();
            threads.into_iter().map(|thread| usize::from(thread.join().unwrap())).sum()
        });
        assert_eq!(said, 1);
    }

    #[test]
    fn the_note_of_a_long_session_stays_small() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        let session = SessionId::new(Client::ClaudeCode, "s");
        for number in 0..300 {
            assert!(
                gate.suggest(&session, &format!("ability-{number}"), Timestamp(number * 60_000)).unwrap()
            );
        }
        assert!(fs::metadata(gate.suggested_file(&session)).unwrap().len() < 100);
    }
}
