//! The store keeps the contract of the port; a second handle stands for a second process.

mod common;

use common::SqliteSubject;

abide_testkit::store_contract!(SqliteSubject::new);
