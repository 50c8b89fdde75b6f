//! Who gets a lease. Written once here, so that every store means the same by it.

use super::{Holder, Lease};

/// What a store keeps of the lease on a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseRow {
    /// Who has it; nobody after it was given back.
    pub holder: Option<Holder>,
    /// Grows with every new holder.
    pub generation: u64,
    /// When it ends.
    pub until: i64,
}

impl LeaseRow {
    /// Returns the lease, if somebody has it.
    pub fn into_lease(self, stream: &str) -> Option<Lease> {
        let Self { holder, generation, until } = self;
        holder.map(|holder| Lease { stream: stream.to_owned(), holder, generation, until })
    }

    /// Returns whether it is this lease: a name and a generation together, since generations begin again after a stream was
    /// forgotten.
    pub fn is_of(&self, lease: &Lease) -> bool {
        self.generation == lease.generation
            && self.holder.as_ref().is_some_and(|holder| holder.name == lease.holder.name)
    }
}

/// What came of asking for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Taken {
    /// The caller has it.
    Yes(Lease),
    /// Somebody has it, who may be dead: that is looked up outside of any transaction.
    HeldBy(Lease),
}

/// Decides who has a lease; `dead` is one whose holder is known to be dead.
pub fn take_lease(
    row: Option<&LeaseRow>,
    stream: &str,
    holder: &Holder,
    now: i64,
    until: i64,
    dead: Option<&Lease>,
) -> Taken {
    let lease = |holder: &Holder, generation, until| Lease {
        stream: stream.to_owned(),
        holder: holder.clone(),
        generation,
        until,
    };
    let Some(row) = row else { return Taken::Yes(lease(holder, 1, until)) };
    let generation = match &row.holder {
        Some(present) if present.name == holder.name => row.generation,
        Some(present) if row.until > now && !dead.is_some_and(|dead| row.is_of(dead)) => {
            return Taken::HeldBy(lease(present, row.generation, row.until));
        }
        _ => row.generation + 1,
    };
    Taken::Yes(lease(holder, generation, until))
}
