//! Leases: one driver at a time, and the old one knows when it is not the driver any more.

use super::{Subject, append, assert_refused, event, kinds};
use crate::ManualClock;
use abide_engine::port::{Appended, Holder, Lease, Standing, Store, StoreError};
use std::sync::Arc;
use tokio::task::JoinSet;

pub(super) fn holder(name: &str) -> Holder {
    Holder { name: name.to_owned(), process: 4711 }
}

pub(super) fn alive(_: &Holder) -> bool {
    false
}

async fn append_with(store: &impl Store, expected: u64, lease: &Lease) -> Result<Appended, StoreError> {
    store.append("s", expected, Some(lease), vec![event(&lease.holder.name)], String::new()).await
}

/// While somebody has a lease, nobody else gets it; the stream need not exist.
pub async fn a_lease_is_for_one(subject: impl Subject, _: ManualClock) {
    let (here, there) = (subject.open(), subject.open());
    let lease = here.lease("s", &holder("ada"), 10, 100, &alive).await.unwrap();
    assert_eq!(lease, Lease { stream: "s".to_owned(), holder: holder("ada"), generation: 1, until: 100 });
    for store in [&here, &there] {
        let refused = store.lease("s", &holder("bob"), 99, 500, &alive).await;
        assert_refused!(refused, StoreError::Held { stream, holder } if stream == "s" && holder == "ada");
    }
    there.lease("another", &holder("bob"), 10, 100, &alive).await.unwrap();
    append_with(&here, 0, &lease).await.unwrap();
}

/// Renewing moves the end and keeps the generation, also after the end.
pub async fn renewing_keeps_the_generation(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    let first = store.lease("s", &holder("ada"), 0, 100, &alive).await.unwrap();
    let second = store.lease("s", &holder("ada"), 50, 150, &alive).await.unwrap();
    assert_eq!(second, Lease { until: 150, ..first.clone() });
    assert_refused!(store.lease("s", &holder("bob"), 149, 500, &alive).await, StoreError::Held { .. });
    let third = store.lease("s", &holder("ada"), 900, 1000, &alive).await.unwrap();
    assert_eq!(third.generation, first.generation);
    append_with(&store, 0, &first).await.unwrap();
}

/// A lease that has ended can be taken over, with a new generation.
pub async fn an_ended_lease_is_taken_over(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    let old = store.lease("s", &holder("ada"), 0, 100, &alive).await.unwrap();
    let new = store.lease("s", &holder("bob"), 100, 200, &alive).await.unwrap();
    assert!(new.generation > old.generation);
    assert_refused!(store.lease("s", &holder("ada"), 150, 250, &alive).await, StoreError::Held { .. });
    let again = store.lease("s", &holder("ada"), 200, 300, &alive).await.unwrap();
    assert!(again.generation > new.generation);
}

/// The lease of a dead holder can be taken over before it ends; `is_dead` is asked about that holder.
pub async fn a_dead_holder_is_replaced(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    let dead = Holder { name: "dead".to_owned(), process: 99 };
    let old = store.lease("s", &dead, 0, 100, &alive).await.unwrap();
    let is_dead = |asked: &Holder| *asked == Holder { name: "dead".to_owned(), process: 99 };
    let new = store.lease("s", &holder("bob"), 1, 200, &is_dead).await.unwrap();
    assert!(new.generation > old.generation);
    assert_eq!(new.holder, holder("bob"));
    assert_refused!(store.lease("s", &holder("cid"), 1, 200, &is_dead).await, StoreError::Held { .. });
}

/// A lease that was given back is free at once, and its old holder cannot append with it.
pub async fn a_lease_given_back_is_free(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    let old = store.lease("s", &holder("ada"), 0, 100, &alive).await.unwrap();
    store.release(&old).await.unwrap();
    assert_refused!(append_with(&store, 0, &old).await, StoreError::LeaseLost(_));
    let new = store.lease("s", &holder("bob"), 1, 100, &alive).await.unwrap();
    assert!(new.generation > old.generation);
    assert_refused!(append_with(&store, 0, &old).await, StoreError::LeaseLost(_));
    append_with(&store, 0, &new).await.unwrap();
}

/// After a take-over the old driver's appends are refused, with nothing written, whatever it expects.
pub async fn the_old_driver_appends_no_more(subject: impl Subject, _: ManualClock) {
    let (here, there) = (subject.open(), subject.open());
    let old = here.lease("s", &holder("ada"), 0, 100, &alive).await.unwrap();
    append_with(&here, 0, &old).await.unwrap();
    let new = there.lease("s", &holder("bob"), 100, 200, &alive).await.unwrap();
    assert_refused!(append_with(&here, 1, &old).await, StoreError::LeaseLost(stream) if stream == "s");
    append_with(&there, 1, &new).await.unwrap();
    assert_refused!(append_with(&here, 2, &old).await, StoreError::LeaseLost(_));
    let again = here.lease("s", &holder("ada"), 200, 300, &alive).await.unwrap();
    assert_refused!(append_with(&here, 2, &old).await, StoreError::LeaseLost(_));
    let elsewhere = Lease { stream: "another".to_owned(), ..again };
    assert_refused!(append_with(&here, 2, &elsewhere).await, StoreError::LeaseLost(_));
    append(&here, "s", 2, &["anybody"]).await.unwrap();
    assert_eq!(kinds(&here, "s").await, ["ada", "bob", "anybody"]);
}

/// The end of a lease lets others in; it does not stop the holder before one comes.
pub async fn an_ended_lease_that_nobody_took_still_appends(subject: impl Subject, clock: ManualClock) {
    let store = subject.open();
    let lease = store.lease("s", &holder("ada"), 0, 100, &alive).await.unwrap();
    clock.set(5_000_000_000_000);
    append_with(&store, 0, &lease).await.unwrap();
}

/// A driver that has lost its stream is told so, and not that its picture is old.
pub async fn a_lease_comes_before_the_expected_event(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    let old = store.lease("s", &holder("ada"), 0, 100, &alive).await.unwrap();
    let new = store.lease("s", &holder("bob"), 100, 200, &alive).await.unwrap();
    append_with(&store, 0, &new).await.unwrap();
    assert_refused!(append_with(&store, 0, &old).await, StoreError::LeaseLost(_));
    assert_refused!(append_with(&store, 0, &new).await, StoreError::Conflict { .. });
}

/// When many take over at once, one gets the lease.
pub async fn of_many_who_ask_one_has_it(subject: impl Subject, _: ManualClock) {
    let stores = [Arc::new(subject.open()), Arc::new(subject.open())];
    stores[0].lease("s", &holder("dead"), 0, 100, &alive).await.unwrap();
    let mut tasks = JoinSet::new();
    for task in 0..32 {
        let store = stores[task % 2].clone();
        tasks.spawn(async move {
            let is_dead = |holder: &Holder| holder.name == "dead";
            store.lease("s", &holder(&format!("h{task}")), 1, 100, &is_dead).await
        });
    }
    let results = tasks.join_all().await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    for result in results.into_iter().filter(Result::is_err) {
        assert_refused!(result, StoreError::Held { .. });
    }
}

/// Giving back a lease that somebody else has taken over changes nothing.
pub async fn somebody_elses_lease_is_not_given_back(subject: impl Subject, _: ManualClock) {
    let store = subject.open();
    let old = store.lease("s", &holder("ada"), 0, 100, &alive).await.unwrap();
    let new = store.lease("s", &holder("bob"), 100, 200, &alive).await.unwrap();
    store.release(&old).await.unwrap();
    append_with(&store, 0, &new).await.unwrap();
    assert_refused!(store.lease("s", &holder("ada"), 150, 250, &alive).await, StoreError::Held { .. });
    store.release(&new).await.unwrap();
    store.release(&new).await.unwrap();
}

/// One look says how long streams are and who works on them; a stream without events is not told.
pub async fn standings_tell_who_works_on_what(subject: impl Subject, _: ManualClock) {
    let (here, there) = (subject.open(), subject.open());
    for stream in ["a", "b", "c"] {
        here.append(stream, 0, None, vec![event("x"), event("y")], String::new()).await.unwrap();
    }
    let held = here.lease("a", &holder("ada"), 0, 100, &alive).await.unwrap();
    let given = here.lease("b", &holder("ada"), 0, 100, &alive).await.unwrap();
    here.release(&given).await.unwrap();
    here.lease("new", &holder("ada"), 0, 100, &alive).await.unwrap();
    let asked: Vec<String> = ["new", "b", "none", "a"].map(str::to_owned).to_vec();
    let mut told = there.standings(&asked).await.unwrap();
    told.sort_by(|one, other| one.stream.cmp(&other.stream));
    let standing = |stream: &str, lease| Standing { stream: stream.to_owned(), seq: 2, lease };
    assert_eq!(told, [standing("a", Some(held)), standing("b", None)]);
    assert_eq!(there.standings(&[]).await.unwrap(), []);
}
