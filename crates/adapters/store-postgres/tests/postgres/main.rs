//! The store on a real PostgreSQL: the contract of the port, and what only a server can do to it.
//!
//! `ABIDE_POSTGRES` says where one is; `./test postgres` starts one and sets it.

mod conformance;
mod database;
mod faults;
mod keys;

use database::PgSubject;

abide_testkit::store_contract!(PgSubject::new);
