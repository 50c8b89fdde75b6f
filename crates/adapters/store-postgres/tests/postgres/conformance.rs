//! Every case of `conformance/`, driven on a real PostgreSQL.

use crate::database::PgSubject;
use abide_store_postgres::PgStore;
use abide_testkit::ManualClock;
use abide_testkit::conformance::{Stores, every_case};
use abide_testkit::store::Subject as _;

struct Postgres;

impl Stores for Postgres {
    type Place = PgSubject;
    type Store = PgStore;
    const NAME: &'static str = "PostgreSQL";

    fn place(&self) -> PgSubject {
        PgSubject::new(ManualClock::at(0))
    }

    fn open(&self, place: &PgSubject) -> PgStore {
        place.open()
    }
}

#[test]
fn every_case_holds() {
    every_case(&Postgres, false);
}
