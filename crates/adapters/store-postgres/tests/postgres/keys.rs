//! What a server keeps beside the log keeps the contracts of its ports.

use crate::database::PgSubject;
use abide_store_postgres::PgStore;
use abide_testkit::ManualClock;

fn make() -> (PgStore, PgSubject) {
    let subject = PgSubject::new(ManualClock::at(1));
    (PgStore::new(&subject.url(), subject.settings()).unwrap(), subject)
}

abide_testkit::keys_contract!(make);
abide_testkit::starts_contract!(make);
abide_testkit::agents_contract!(make);
abide_testkit::audit_contract!(make);
abide_testkit::sessions_contract!(make);
abide_testkit::messages_contract!(make);
abide_testkit::outbox_contract!(make);
abide_testkit::questions_contract!(make);

fn files(
    clock: std::sync::Arc<dyn Fn() -> abide_core::event::Timestamp + Send + Sync>,
) -> (PgStore, PgSubject) {
    let subject = PgSubject::new(ManualClock::at(1));
    let settings = abide_store_postgres::Settings {
        clock: std::sync::Arc::new(move || clock().0),
        ..subject.settings()
    };
    (PgStore::new(&subject.url(), settings).unwrap(), subject)
}

mod files_rules {
    use super::files;
    abide_testkit::files_contract!(files);
}
