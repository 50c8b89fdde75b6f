//! The log of a server: SQLite beside the project, or the PostgreSQL that it is told.

use abide_engine::port::{
    Appended, Extent, HeadPlace, Holder, Lease, NewEvent, OutputKey, Standing, Store, StoreError, Stored,
    StreamHead,
};
use abide_store_postgres::PgStore;
use abide_store_sqlite::SqliteStore;
use std::ops::Range;

/// The log of a server.
pub(crate) enum ServerStore {
    Sqlite(Box<SqliteStore>),
    Postgres(Box<PgStore>),
}

/// Asks whichever store it is.
macro_rules! ask {
    ($self:ident.$method:ident($($argument:expr),*)) => {
        match $self {
            ServerStore::Sqlite(store) => store.$method($($argument),*).await,
            ServerStore::Postgres(store) => store.$method($($argument),*).await,
        }
    };
}

impl Store for ServerStore {
    async fn append(
        &self,
        stream: &str,
        expected: u64,
        lease: Option<&Lease>,
        events: Vec<NewEvent>,
        summary: String,
    ) -> Result<Appended, StoreError> {
        ask!(self.append(stream, expected, lease, events, summary))
    }

    async fn read(&self, stream: &str, positions: Range<u64>) -> Result<Vec<Stored>, StoreError> {
        ask!(self.read(stream, positions))
    }

    async fn head(&self, stream: &str) -> Result<Option<StreamHead>, StoreError> {
        ask!(self.head(stream))
    }

    async fn heads(&self, after: Option<&HeadPlace>, most: usize) -> Result<Vec<StreamHead>, StoreError> {
        ask!(self.heads(after, most))
    }

    async fn extent(&self) -> Result<Extent, StoreError> {
        ask!(self.extent())
    }

    async fn forget(&self, stream: &str) -> Result<(), StoreError> {
        ask!(self.forget(stream))
    }

    async fn save_snapshot(&self, stream: &str, seq: u64, data: String) -> Result<(), StoreError> {
        ask!(self.save_snapshot(stream, seq, data))
    }

    async fn snapshot(&self, stream: &str) -> Result<Option<(u64, String)>, StoreError> {
        ask!(self.snapshot(stream))
    }

    async fn write_output(&self, key: &OutputKey, bytes: Vec<u8>) -> Result<(), StoreError> {
        ask!(self.write_output(key, bytes))
    }

    async fn read_output(&self, key: &OutputKey, range: Range<u64>) -> Result<Vec<u8>, StoreError> {
        ask!(self.read_output(key, range))
    }

    async fn lease(
        &self,
        stream: &str,
        holder: &Holder,
        now: i64,
        until: i64,
        is_dead: &(dyn Fn(&Holder) -> bool + Send + Sync),
    ) -> Result<Lease, StoreError> {
        ask!(self.lease(stream, holder, now, until, is_dead))
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        ask!(self.release(lease))
    }

    async fn standings(&self, streams: &[String]) -> Result<Vec<Standing>, StoreError> {
        ask!(self.standings(streams))
    }

    async fn changed(&self, stream: &str, seq: u64) -> Result<(), StoreError> {
        ask!(self.changed(stream, seq))
    }
}
