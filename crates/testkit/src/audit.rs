//! The contract of [`Audit`], rule by rule; see `agents_contract!` for how it is used.

use abide_engine::audit::noting;
use abide_engine::keys::{Scope, mint};
use abide_engine::port::{Audit, Keys, NewNote, verify_audit};
use std::sync::Arc;

fn note(number: i64) -> NewNote {
    NewNote {
        at: number,
        by: "ada \"quoted\" ü".to_owned(),
        action: "createKey".to_owned(),
        subject: number.to_string(),
        request: number.is_positive().then(|| "r".to_owned()),
        detail: r#"{"name":"x\ny"}"#.to_owned(),
    }
}

/// Notes are in order, chained, and told page by page.
pub async fn notes_are_chained_and_told_page_by_page(audit: Arc<impl Audit + Keys>) {
    for number in [5, 3, 9] {
        audit.note(note(number)).await.expect("it can be noted");
    }
    let all = Audit::list(&*audit, 0, 10).await.expect("notes can be listed");
    assert_eq!(all.iter().map(|one| (one.seq, one.at)).collect::<Vec<_>>(), [(1, 5), (2, 5), (3, 9)]);
    assert!(all[0].data.contains("ada") && all[0].kind == "createKey", "{all:?}");
    assert_eq!(Audit::list(&*audit, 1, 1).await.expect("notes can be listed"), all[1..2]);
    assert_eq!(Audit::list(&*audit, 3, 10).await.expect("notes can be listed"), []);
    assert_eq!(verify_audit(&*audit).await.expect("nobody has changed it"), 3);
}

/// Notes at once get a position each.
pub async fn notes_at_once_get_a_position_each(audit: Arc<impl Audit + Keys>) {
    let asked: Vec<_> = (1..=16)
        .map(|number| {
            let audit = Arc::clone(&audit);
            tokio::spawn(async move { audit.note(note(number)).await })
        })
        .collect();
    let mut found = Vec::new();
    for task in asked {
        found.push(task.await.expect("it does not panic").expect("it can be noted"));
    }
    found.sort_unstable();
    assert_eq!(found, (1..=16).collect::<Vec<_>>());
    assert_eq!(verify_audit(&*audit).await.expect("nobody has changed it"), 16);
}

/// A change takes the note of its task along, and one that comes to nothing leaves it.
pub async fn a_change_takes_its_note_along(audit: Arc<impl Audit + Keys>) {
    let key = mint("ada", &[Scope::Read], "root", 1, ([1; 8], [1; 32])).expect("it is a key").key;
    let (added, left) = noting(Some(note(1)), async { Keys::add(&*audit, key.clone()).await }).await;
    added.expect("it can be added");
    assert_eq!(left, None, "it was written with the key");
    let (again, left) = noting(Some(note(2)), async { Keys::add(&*audit, key).await }).await;
    assert!(again.is_err() && left == Some(note(2)), "nothing was written");
    assert_eq!(verify_audit(&*audit).await.expect("nobody has changed it"), 1);
}

/// Makes each rule a test.
#[macro_export]
macro_rules! audit_contract {
    ($make:expr) => {
        mod audit_rules {
            use super::*;
            $crate::audit_contract!(@rules $make;
                notes_are_chained_and_told_page_by_page
                notes_at_once_get_a_position_each
                a_change_takes_its_note_along
            );
        }
    };
    (@rules $make:expr; $($rule:ident)+) => {
        $(
            #[test]
            fn $rule() {
                $crate::store::check(async {
                    let (audit, _kept) = ($make)();
                    $crate::audit::$rule(std::sync::Arc::new(audit)).await;
                });
            }
        )+
    };
}
