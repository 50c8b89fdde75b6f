//! Rows that were read lately: as long as nobody has committed anything, they are what is there.
//!
//! SQLite counts, for each connection, the commits of all others, those of other processes too ([`Recent::current`] asks it with
//! every look). That costs a look at shared memory, as every read does, and less than to find a row and take it apart. Rows are kept
//! beside the connection that has read them: a count means something to that one only, and nobody waits for a lock.

use abide_engine::keys::ApiKey;
use abide_engine::port::AgentRow;
use rusqlite::{Connection, Error};
use std::collections::HashMap;

/// How many bytes are kept beside a connection, and of a row at most.
const MOST: usize = 1024 * 1024;
const LONGEST: usize = 64 * 1024;

/// What a connection has read since somebody else has committed.
#[derive(Default)]
pub(crate) struct Recent {
    version: Option<i64>,
    agents: Rows<AgentRow>,
    keys: Rows<ApiKey>,
}

/// Rows by their ids.
pub(super) struct Rows<T> {
    rows: HashMap<String, T>,
    bytes: usize,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self { rows: HashMap::new(), bytes: 0 }
    }
}

impl Recent {
    /// Returns what is kept, without what may be different by now.
    pub(super) fn current(&mut self, connection: &Connection) -> Result<&mut Self, Error> {
        let version: i64 =
            connection.prepare_cached("PRAGMA data_version")?.query_row((), |row| row.get(0))?;
        if self.version != Some(version) {
            // What is read from here on is as of this version or a later one, whose number the next look sees.
            *self = Self { version: Some(version), ..Self::default() };
        }
        Ok(self)
    }

    pub(super) fn agents(&mut self) -> &mut Rows<AgentRow> {
        &mut self.agents
    }

    pub(super) fn keys(&mut self) -> &mut Rows<ApiKey> {
        &mut self.keys
    }
}

impl<T: Clone> Rows<T> {
    /// Returns a row as it is kept or, if it is not, as it is read; one that is not there is looked for again.
    pub(super) fn find(
        &mut self,
        id: &str,
        bytes: impl FnOnce(&T) -> usize,
        read: impl FnOnce() -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        if let Some(row) = self.rows.get(id) {
            return Ok(Some(row.clone()));
        }
        let Some(row) = read()? else { return Ok(None) };
        let bytes = bytes(&row);
        if bytes <= LONGEST {
            if self.bytes + bytes > MOST {
                *self = Self::default();
            }
            self.bytes += bytes;
            self.rows.insert(id.to_owned(), row.clone());
        }
        Ok(Some(row))
    }
}
