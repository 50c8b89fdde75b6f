//! What happens to a server: connections that are cut, versions that do not fit, passwords that must not be shown.

use crate::database::PgSubject;
use abide_engine::port::{NewEvent, Store as _, StoreError};
use abide_store_postgres::PgStore;
use abide_testkit::ManualClock;
use abide_testkit::store::{Subject as _, check};
use std::sync::Arc;
use std::time::Duration;

fn event() -> Vec<NewEvent> {
    vec![NewEvent { kind: "test".to_owned(), data: "{}".to_owned() }]
}

fn subject() -> PgSubject {
    PgSubject::new(ManualClock::at(1_700_000_000_000))
}

/// Cuts every connection of the store, as a server does that is started anew.
fn cut(subject: &PgSubject) {
    subject.by_hand(async |connection| {
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'
                     AND query NOT LIKE '%pg_terminate_backend%'";
        sqlx::raw_sql(cut).execute(connection).await.unwrap();
    });
}

#[test]
fn connections_that_are_cut_are_made_again_and_nobody_sleeps_on() {
    check(async {
        let subject = subject();
        let store = Arc::new(subject.open());
        store.append("s", 0, None, event(), String::new()).await.unwrap();
        let follower = tokio::spawn({
            let store = Arc::clone(&store);
            async move { store.changed("s", 1).await }
        });
        tokio::time::sleep(Duration::from_millis(300)).await;
        cut(&subject);
        // The first calls may find a connection that is gone; none of them writes half of anything.
        let mut tries = 0;
        loop {
            let expected = store.head("s").await.map_or(0, |head| head.map_or(0, |head| head.seq));
            match store.append("s", expected, None, event(), String::new()).await {
                Ok(_) => break,
                Err(error) => assert!(tries < 20, "{error}"),
            }
            tries += 1;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let woken = tokio::time::timeout(Duration::from_secs(20), follower).await;
        woken.expect("whoever follows hears of it").unwrap().unwrap();
        assert_eq!(store.read("s", 0..9).await.unwrap().len(), 2);
    });
}

#[test]
fn a_database_of_a_newer_abide_is_left_alone() {
    check(async {
        let subject = subject();
        subject.open().connect().await.unwrap();
        subject.by_hand(async |connection| {
            sqlx::raw_sql("INSERT INTO abide_version VALUES (99)").execute(connection).await.unwrap();
        });
        let refused = subject.open().append("s", 0, None, event(), String::new()).await.unwrap_err();
        assert!(matches!(&refused, StoreError::Unreadable { .. }), "{refused}");
        assert!(refused.to_string().contains("a newer abide has written it (format 99"), "{refused}");
    });
}

#[test]
fn servers_that_start_at_once_make_the_tables_once() {
    check(async {
        let subject = subject();
        let stores: Vec<Arc<PgStore>> = (0..6).map(|_| Arc::new(subject.open())).collect();
        let started: Vec<_> = stores
            .iter()
            .map(|store| {
                let store = Arc::clone(store);
                tokio::spawn(async move { store.connect().await })
            })
            .collect();
        for started in started {
            started.await.unwrap().unwrap();
        }
    });
}

#[test]
fn a_server_that_is_not_there_is_named_without_its_password() {
    check(async {
        let clock = ManualClock::at(0);
        let settings = PgSubject::new(clock).settings();
        let url = "postgres://ada:hush@127.0.0.1:1/abide";
        let store = PgStore::new(url, settings).unwrap();
        let refused = store.append("s", 0, None, event(), String::new()).await.unwrap_err();
        let said = format!("{refused} {store:?}");
        assert!(matches!(refused, StoreError::Unwritable { .. }), "{said}");
        assert!(said.contains("postgres://127.0.0.1:1/abide") && !said.contains("hush"), "{said}");
        let odd = PgStore::new("mysql://ada:hush@host/x", PgSubject::new(ManualClock::at(0)).settings());
        assert!(!odd.unwrap_err().to_string().contains("hush"));
    });
}
