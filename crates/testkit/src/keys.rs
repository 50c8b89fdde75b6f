//! The contract of [`Keys`], rule by rule.
//!
//! A crate that implements the port writes `abide_testkit::keys_contract!(make)` in a test, where `make` returns what it tests (and
//! whatever must live as long); each rule becomes a test with a name.

use abide_engine::keys::{ApiKey, Scope, mint};
use abide_engine::port::{Keys, KeysError};

fn key(number: u8, at: i64) -> ApiKey {
    mint("ada", &[Scope::Run, Scope::Approve], "root", at, ([number; 8], [number; 32]))
        .expect("a key of a test")
        .key
}

async fn ids(keys: &impl Keys, after: Option<&str>, most: usize) -> Vec<String> {
    let listed = keys.list(after, most).await.expect("keys can be listed");
    listed.into_iter().map(|key| key.id).collect()
}

/// What is added comes back as it was, and nothing else does.
pub async fn what_is_added_comes_back(keys: &impl Keys) {
    let (one, other) = (key(1, 10), key(2, 11));
    keys.add(one.clone()).await.expect("it can be added");
    keys.add(other.clone()).await.expect("a second of the same name can be added");
    assert_eq!(keys.find(&one.id).await, Ok(Some(one.clone())));
    assert_eq!(keys.find("0303030303030303").await, Ok(None));
    assert_eq!(keys.find("").await, Ok(None));
    assert!(keys.add(ApiKey { name: "eve".to_owned(), ..one.clone() }).await.is_err(), "an id is taken once");
    assert_eq!(keys.find(&one.id).await, Ok(Some(one)));
}

/// Pages hold every key once, in the order of creation.
pub async fn pages_hold_every_key_once(keys: &impl Keys) {
    for (number, at) in [(5, 7), (1, 9), (3, 8), (4, 8), (2, 8)] {
        keys.add(key(number, at)).await.expect("it can be added");
    }
    let id = |number: u8| key(number, 0).id;
    let order: Vec<String> = [5, 2, 3, 4, 1].into_iter().map(id).collect();
    assert_eq!(ids(keys, None, 100).await, order);
    let mut paged = Vec::new();
    loop {
        let page = ids(keys, paged.last().map(String::as_str), 2).await;
        if page.is_empty() {
            break;
        }
        paged.extend(page);
    }
    assert_eq!(paged, order);
    assert_eq!(ids(keys, Some("not an id"), 10).await, Vec::<String>::new());
}

/// A key is revoked once, and stays.
pub async fn a_key_is_revoked_once_and_stays(keys: &impl Keys) {
    let one = key(1, 10);
    keys.add(one.clone()).await.expect("it can be added");
    let revoked = ApiKey { revoked_at: Some(20), ..one.clone() };
    assert_eq!(keys.revoke(&one.id, 20).await, Ok(revoked.clone()));
    assert_eq!(keys.revoke(&one.id, 30).await, Ok(revoked.clone()), "since when it was first");
    assert_eq!(keys.find(&one.id).await, Ok(Some(revoked)));
    assert_eq!(ids(keys, None, 10).await, [one.id]);
    assert_eq!(keys.revoke("gone", 1).await, Err(KeysError::Missing("gone".to_owned())));
}

/// Makes each rule a test.
#[macro_export]
macro_rules! keys_contract {
    ($make:expr) => {
        $crate::keys_contract!(@rules $make;
            what_is_added_comes_back
            pages_hold_every_key_once
            a_key_is_revoked_once_and_stays
        );
    };
    (@rules $make:expr; $($rule:ident)+) => {
        $(
            #[test]
            fn $rule() {
                $crate::store::check(async {
                    let (keys, _kept) = ($make)();
                    $crate::keys::$rule(&keys).await;
                });
            }
        )+
    };
}
