//! Every case of `conformance/` holds on every store; on PostgreSQL it is a test of `abide-store-postgres`.
//!
//! `ABIDE_CASE=012 cargo test -p abide-testkit --test conformance` plays the cases whose name contains that;
//! `ABIDE_BLESS=1` rewrites their `expected.log`.

use abide_engine::port::Clock as _;
use abide_store_sqlite::{Settings, SqliteStore};
use abide_testkit::conformance::{Stores, every_case};
use abide_testkit::store::MemoryStore;
use abide_testkit::{ManualClock, RealClock};

struct Memory;

impl Stores for Memory {
    type Place = ();
    type Store = MemoryStore;
    const NAME: &'static str = "memory";

    fn place(&self) {}

    fn open(&self, (): &()) -> MemoryStore {
        MemoryStore::new(ManualClock::at(0))
    }
}

struct Sqlite;

impl Stores for Sqlite {
    type Place = tempfile::TempDir;
    type Store = SqliteStore;
    const NAME: &'static str = "SQLite";

    fn place(&self) -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn open(&self, place: &tempfile::TempDir) -> SqliteStore {
        let settings = Settings::new(|| RealClock::default().now().0);
        SqliteStore::open(&place.path().join("log.db"), settings).unwrap()
    }
}

#[test]
fn every_case_holds_on_every_store() {
    // The first store is the one that blesses.
    every_case(&Memory, true);
    every_case(&Sqlite, false);
}
