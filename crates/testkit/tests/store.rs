//! The in-memory store keeps the contract, and fails when it is told to.

use abide_engine::port::{NewEvent, Store as _, StoreError};
use abide_testkit::ManualClock;
use abide_testkit::store::{Fault, MemoryStore, MemorySubject, check};

abide_testkit::store_contract!(MemorySubject::new);

#[test]
fn faults_come_in_their_order_and_leave_nothing() {
    check(async {
        let store = MemoryStore::new(ManualClock::at(0));
        store.fail_append(1, Fault::FullDisk);
        store.fail_append(0, Fault::Conflict);
        store.fail_append(1, Fault::LostLease);
        let mut outcomes = Vec::new();
        let mut end = 0;
        for _ in 0..6 {
            let event = NewEvent { kind: "e".to_owned(), data: "{}".to_owned() };
            match store.append("s", end, None, vec![event], String::new()).await {
                Ok(appended) => {
                    end = appended.seq;
                    outcomes.push(format!("event {end}"));
                }
                Err(error) => outcomes.push(error.to_string()),
            }
        }
        assert_eq!(
            outcomes,
            [
                "event 1",
                "cannot write to memory: the disk is full",
                "the log of s has moved on: expected event 1, found 2",
                "event 2",
                "the lease on s has been lost",
                "event 3",
            ]
        );
        assert!(matches!(store.read("t", 0..9).await, Err(StoreError::Unknown(_))));
        assert_eq!(store.read("s", 0..9).await.unwrap().len(), 3);
    });
}

#[test]
fn every_rule_is_a_test() {
    let macros = include_str!("../src/store/contract/mod.rs");
    for (part, text) in [
        ("appending", include_str!("../src/store/contract/appending.rs")),
        ("damage", include_str!("../src/store/contract/damage.rs")),
        ("following", include_str!("../src/store/contract/following.rs")),
        ("forgetting", include_str!("../src/store/contract/forgetting.rs")),
        ("heads", include_str!("../src/store/contract/heads.rs")),
        ("leasing", include_str!("../src/store/contract/leasing.rs")),
        ("outputs", include_str!("../src/store/contract/outputs.rs")),
        ("reading", include_str!("../src/store/contract/reading.rs")),
        ("snapshots", include_str!("../src/store/contract/snapshots.rs")),
        ("together", include_str!("../src/store/contract/together.rs")),
    ] {
        for rule in text.lines().filter_map(|line| line.strip_prefix("pub async fn ")) {
            let name = rule.split('(').next().unwrap();
            assert!(macros.contains(name), "{part}::{name} is not in the macro `store_contract`");
        }
    }
}
