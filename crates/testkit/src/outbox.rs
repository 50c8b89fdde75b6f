//! The contract of [`Outbox`], rule by rule.
//!
//! A crate that implements the port writes `abide_testkit::outbox_contract!(make)` in a test, where `make` returns what it tests (and
//! whatever must live as long); each rule becomes a test with a name.

use abide_engine::port::{
    Attempted, DELIVERIES_KEPT, Delivery, MOST_UNDELIVERED, NewDelivery, Outbox, PostedDeliveries,
    Undelivered,
};
use std::collections::BTreeSet;
use std::sync::Arc;

fn new(webhook: &str, id: &str, at: i64) -> NewDelivery {
    let body = format!("{{\"what\":\"{id}\\u0000\"}}");
    NewDelivery { webhook: webhook.to_owned(), id: id.to_owned(), body, at, until: at + 1_000 }
}

fn posted(new: usize) -> PostedDeliveries {
    PostedDeliveries { new, full: 0 }
}

async fn take(outbox: &impl Outbox, webhook: &str, now: i64, until: i64) -> Vec<Delivery> {
    let mut taken = outbox.take(webhook, now, until, 100).await.unwrap();
    taken.sort_by(|one, other| one.id.cmp(&other.id));
    taken
}

fn ids(deliveries: &[Delivery]) -> Vec<&str> {
    deliveries.iter().map(|delivery| delivery.id.as_str()).collect()
}

/// What is posted is taken whole, each webhook's own, and the longest due first.
pub async fn what_is_posted_is_taken_whole(outbox: Arc<impl Outbox>) {
    let all = vec![new("a", "1", 5), new("b", "1", 6), new("a", "2", 7), new("a", "3", 6)];
    assert_eq!(outbox.post(all).await, Ok(posted(4)));
    assert_eq!(outbox.due("a").await, Ok(Some(5)));
    assert_eq!(outbox.due("c").await, Ok(None));
    assert_eq!(ids(&outbox.take("a", 4, 50, 9).await.unwrap()), [""; 0], "nothing is due yet");
    let first = outbox.take("a", 6, 50, 1).await.unwrap();
    let NewDelivery { webhook, id, body, until, .. } = new("a", "1", 5);
    assert_eq!(first, [Delivery { webhook, id, body, attempt: 1, until }]);
    assert_eq!(ids(&outbox.take("a", 7, 50, 1).await.unwrap()), ["3"]);
    assert_eq!(ids(&outbox.take("a", 7, 50, 9).await.unwrap()), ["2"]);
    assert_eq!(ids(&take(&*outbox, "b", 7, 50).await), ["1"]);
}

/// What is known is not posted again, also when it has been told or given up.
pub async fn what_is_known_is_not_posted_again(outbox: Arc<impl Outbox>) {
    assert_eq!(outbox.post(vec![new("a", "1", 1), new("a", "1", 1)]).await, Ok(posted(1)));
    assert_eq!(outbox.post(vec![new("a", "1", 2), new("a", "2", 2), new("b", "1", 2)]).await, Ok(posted(2)));
    let taken = take(&*outbox, "a", 3, 9).await;
    assert_eq!(outbox.settle(&taken[0], 4, Attempted::Delivered).await, Ok(true));
    assert_eq!(outbox.settle(&taken[1], 4, Attempted::GivenUp("gone".to_owned())).await, Ok(true));
    assert_eq!(outbox.post(vec![new("a", "1", 5), new("a", "2", 5)]).await, Ok(posted(0)));
    assert_eq!(take(&*outbox, "a", 1_000, 2_000).await, []);
    let later = 4 + DELIVERIES_KEPT + 1;
    assert_eq!(outbox.post(vec![new("a", "1", later)]).await, Ok(posted(1)), "it is forgotten in the end");
}

/// What is taken is nobody else's until its time is over, and only the last who took it settles it.
pub async fn what_is_taken_is_due_again_when_nobody_settles_it(outbox: Arc<impl Outbox>) {
    outbox.post(vec![new("a", "1", 1)]).await.unwrap();
    let first = take(&*outbox, "a", 2, 60).await;
    assert_eq!(take(&*outbox, "a", 59, 119).await, []);
    assert_eq!(outbox.due("a").await, Ok(Some(60)));
    let second = take(&*outbox, "a", 60, 120).await;
    assert_eq!((second.len(), second[0].attempt), (1, 2));
    assert_eq!(outbox.settle(&first[0], 61, Attempted::Delivered).await, Ok(false), "it is another's now");
    assert_eq!(outbox.settle(&second[0], 61, Attempted::Again(500, "later".to_owned())).await, Ok(true));
    assert_eq!(take(&*outbox, "a", 499, 900).await, []);
    let third = take(&*outbox, "a", 500, 900).await;
    assert_eq!(third[0].attempt, 3);
    assert_eq!(outbox.settle(&third[0], 501, Attempted::Delivered).await, Ok(true));
    assert_eq!(outbox.settle(&third[0], 502, Attempted::Again(1, "no".to_owned())).await, Ok(false));
    assert_eq!((outbox.due("a").await, take(&*outbox, "a", 9_999, 10_000).await), (Ok(None), Vec::new()));
}

/// What waits is counted, with when the oldest was posted.
pub async fn what_waits_is_counted(outbox: Arc<impl Outbox>) {
    assert_eq!(outbox.undelivered().await, Ok(Vec::new()));
    outbox.post(vec![new("b", "1", 7), new("a", "1", 3), new("a", "2", 2), new("a", "3", 1)]).await.unwrap();
    let taken = take(&*outbox, "a", 1, 9).await;
    outbox.settle(&taken[0], 2, Attempted::Delivered).await.unwrap();
    let waits = |webhook: &str, count, oldest| Undelivered { webhook: webhook.to_owned(), count, oldest };
    assert_eq!(outbox.undelivered().await, Ok(vec![waits("a", 2, 2), waits("b", 1, 7)]));
}

/// Too much for one webhook is not taken, and what another one waits for is.
pub async fn too_much_is_not_taken(outbox: Arc<impl Outbox>) {
    let many = (0..MOST_UNDELIVERED).map(|number| new("a", &format!("{number:06}"), 1)).collect();
    assert_eq!(outbox.post(many).await, Ok(posted(MOST_UNDELIVERED)));
    let more = vec![new("a", "more", 2), new("b", "more", 2), new("a", "000001", 2)];
    assert_eq!(outbox.post(more).await, Ok(PostedDeliveries { new: 1, full: 1 }));
    let one = outbox.take("a", 2, 9, 1).await.unwrap();
    outbox.settle(&one[0], 3, Attempted::Delivered).await.unwrap();
    assert_eq!(outbox.post(vec![new("a", "more", 4)]).await, Ok(posted(1)));
}

/// Of many who take at once, each thing is taken by one, and of many who post the same, one is the first.
pub async fn of_many_at_once_each_is_taken_once(outbox: Arc<impl Outbox>) {
    let tasks = (0..8).map(|_| {
        let outbox = Arc::clone(&outbox);
        tokio::spawn(async move {
            let all = (0..40).map(|number| new("a", &format!("{number:02}"), 1)).collect();
            outbox.post(all).await.unwrap().new
        })
    });
    let mut first = 0;
    for task in tasks.collect::<Vec<_>>() {
        first += task.await.unwrap();
    }
    assert_eq!(first, 40);
    let tasks = (0..8).map(|_| {
        let outbox = Arc::clone(&outbox);
        tokio::spawn(async move {
            let mut taken = Vec::new();
            loop {
                let more = outbox.take("a", 2, 9, 3).await.unwrap();
                if more.is_empty() {
                    return taken;
                }
                taken.extend(more.into_iter().map(|delivery| delivery.id));
            }
        })
    });
    let mut taken = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        taken.extend(task.await.unwrap());
    }
    // One that another was taking may have been left; it is taken now.
    taken.extend(take(&*outbox, "a", 2, 9).await.into_iter().map(|delivery| delivery.id));
    assert_eq!((taken.len(), taken.iter().collect::<BTreeSet<_>>().len()), (40, 40));
}

/// Makes each rule a test.
#[macro_export]
macro_rules! outbox_contract {
    ($make:expr) => {
        $crate::outbox_contract!(@rules $make;
            what_is_posted_is_taken_whole
            what_is_known_is_not_posted_again
            what_is_taken_is_due_again_when_nobody_settles_it
            what_waits_is_counted
            too_much_is_not_taken
            of_many_at_once_each_is_taken_once
        );
    };
    (@rules $make:expr; $($rule:ident)+) => {
        $(
            #[test]
            fn $rule() {
                $crate::store::check(async {
                    let (outbox, _kept) = ($make)();
                    $crate::outbox::$rule(std::sync::Arc::new(outbox)).await;
                });
            }
        )+
    };
}
