//! What was changed, by whom and when: a list that only grows.

use super::{End, Later, NO_HASH, NewEvent, StoreError, Stored, chained, verify};
use serde_json::json;

/// The name of the list in its hashes.
pub const AUDIT: &str = "audit";

/// Something that was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNote {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Who: the name of a key, or of a user of this machine.
    pub by: String,
    /// What was done, as the API calls it: `createKey`.
    pub action: String,
    /// The id of what it was done to.
    pub subject: String,
    /// The id of the request, if it was one.
    pub request: Option<String>,
    /// What was said about it, as JSON text without secrets.
    pub detail: String,
}

impl NewNote {
    /// Returns it as it lies behind the end of the list.
    pub fn chained(&self, end: Option<&End>) -> Stored {
        let detail: serde_json::Value = serde_json::from_str(&self.detail).unwrap_or_default();
        let data =
            json!({ "by": self.by, "subject": self.subject, "request": self.request, "detail": detail });
        let event = NewEvent { kind: self.action.replace('\n', " "), data: data.to_string() };
        let mut stored = chained(AUDIT, end, self.at, vec![event]);
        // Invariant: one event in, one out.
        stored.pop().unwrap_or_else(|| unreachable!("a note is one event"))
    }
}

/// What keeps the list does not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the audit cannot be reached: {0}")]
pub struct AuditError(pub String);

/// Keeps what was changed.
///
/// Contract:
/// - Positions begin with 1 and have no gaps; of notes at once each gets its own. `at` never decreases.
/// - Each is chained to the one before it, as events of a log are; nothing is ever changed or removed.
/// - What has returned without an error outlives a crash.
pub trait Audit: Send + Sync + 'static {
    /// Adds a note; returns its position.
    fn note(&self, note: NewNote) -> Later<Result<u64, AuditError>>;

    /// Returns notes after a position, as they were written: nothing is checked.
    fn list(&self, after: u64, most: usize) -> Later<Result<Vec<Stored>, AuditError>>;
}

/// Why the list is not what was written, or cannot be looked at.
#[derive(Debug, thiserror::Error)]
pub enum AuditDamage {
    /// It cannot be read.
    #[error(transparent)]
    Unread(#[from] AuditError),
    /// A note was changed, removed or put in between.
    #[error("{0}")]
    Damaged(StoreError),
}

/// Looks whether every note is as it was written; returns how many there are.
pub async fn verify_audit(audit: &dyn Audit) -> Result<u64, AuditDamage> {
    const PAGE: usize = 1_000;
    let (mut seq, mut previous) = (0, NO_HASH.to_owned());
    loop {
        let page = audit.list(seq, PAGE).await?;
        verify(AUDIT, &previous, seq + 1, &page).map_err(AuditDamage::Damaged)?;
        if let Some(last) = page.last() {
            (seq, previous) = (last.seq, last.hash.clone());
        }
        if page.len() < PAGE {
            return Ok(seq);
        }
    }
}
