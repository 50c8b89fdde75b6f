//! The contract of [`Store`], rule by rule. Start at [`store_contract!`](crate::store_contract).
//!
//! Each rule is a function here that panics where the contract is broken; the macro makes a test of each.

pub mod appending;
pub mod damage;
pub mod following;
pub mod forgetting;
pub mod heads;
pub mod leasing;
pub mod outputs;
pub mod reading;
pub mod snapshots;
pub mod together;

use abide_engine::port::{Appended, NewEvent, Store, StoreError, Stored};
use std::future::Future;
use std::time::Duration;

/// A log under test.
pub trait Subject: Send + Sync + 'static {
    /// What is tested.
    type Store: Store;

    /// Opens the log; every call gives another way to the same one, as another process has.
    fn open(&self) -> Self::Store;

    /// Changes an event behind the store's back.
    fn tamper(&self, tampering: &Tampering<'_>);
}

/// What somebody with an editor may do to a log.
#[derive(Debug, Clone, Copy)]
pub enum Tampering<'a> {
    /// Changes an event's data.
    Edit {
        /// The stream.
        stream: &'a str,
        /// Which event.
        seq: u64,
        /// Its new data.
        data: &'a str,
    },
    /// Changes an event's data, and its hash so that it fits.
    Rewrite {
        /// The stream.
        stream: &'a str,
        /// Which event.
        seq: u64,
        /// Its new data.
        data: &'a str,
    },
    /// Removes an event.
    Remove {
        /// The stream.
        stream: &'a str,
        /// Which event.
        seq: u64,
    },
    /// Adds an event behind the end, a copy of the last one.
    Add {
        /// The stream.
        stream: &'a str,
        /// Which event it claims to be.
        seq: u64,
    },
}

impl<'a> Tampering<'a> {
    /// Returns the stream that it is about.
    pub fn stream(&self) -> &'a str {
        match self {
            Self::Edit { stream, .. }
            | Self::Rewrite { stream, .. }
            | Self::Remove { stream, .. }
            | Self::Add { stream, .. } => stream,
        }
    }
}

/// Runs a rule on several threads; one that takes a minute has failed.
pub fn check(rule: impl Future<Output = ()> + Send + 'static) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .expect("threads can be started");
    runtime.block_on(async {
        // A task of its own, so that the rule itself runs on one of the threads.
        let rule = tokio::spawn(rule);
        let ended = tokio::time::timeout(Duration::from_mins(1), rule).await.expect("the rule does not hang");
        if let Err(failed) = ended {
            std::panic::resume_unwind(failed.into_panic());
        }
    });
}

/// Makes a test of every rule of the contract of `Store`.
///
/// The argument is an expression that makes a [`Subject`] from a [`ManualClock`](crate::ManualClock):
/// `store_contract!(|clock| MemorySubject::new(clock))`.
#[macro_export]
macro_rules! store_contract {
    ($subject:expr) => {
        $crate::store_contract! { $subject;
            appending: a_new_stream_begins_at_event_one, positions_have_no_gaps, an_old_picture_is_a_conflict,
                nothing_is_appended_without_events, line_ends_in_names_are_refused, any_text_is_kept,
                the_summary_is_the_last_one, time_does_not_go_back_within_a_stream;
            together: of_equal_appends_one_wins, streams_do_not_disturb_each_other,
                a_refusal_does_not_touch_the_others, another_process_is_seen, one_log_has_two_writers,
                a_dropped_append_is_whole_or_not_there;
            reading: ranges_are_cut_to_what_is_there, an_unknown_stream_is_said_to_be, an_append_is_seen_at_once;
            damage: a_log_that_nobody_touched_is_whole, an_edited_event_is_seen, a_rewritten_event_is_seen,
                a_rewritten_last_event_is_seen, a_missing_event_is_seen, a_missing_last_event_is_seen,
                an_added_event_is_seen;
            heads: a_head_says_what_is_known, heads_come_newest_first, heads_of_one_moment_are_paged_without_loss;
            snapshots: the_newest_snapshot_stays, a_snapshot_needs_its_events;
            forgetting: a_forgotten_stream_leaves_nothing, a_forgotten_stream_is_lost_to_its_driver,
                the_extent_follows_what_is_there, large_outputs_are_forgotten_too;
            outputs: bytes_come_back_exactly, many_small_writes_are_one_output, outputs_are_kept_apart,
                an_output_needs_its_stream, calls_that_overlap_keep_whole_pieces;
            leasing: a_lease_is_for_one, renewing_keeps_the_generation, an_ended_lease_is_taken_over,
                a_dead_holder_is_replaced, a_lease_given_back_is_free, the_old_driver_appends_no_more,
                an_ended_lease_that_nobody_took_still_appends, a_lease_comes_before_the_expected_event,
                of_many_who_ask_one_has_it, somebody_elses_lease_is_not_given_back,
                standings_tell_who_works_on_what;
            following: what_has_changed_returns_at_once, an_append_wakes, another_process_wakes,
                a_stream_that_is_to_come_wakes, forgetting_wakes;
        }
    };
    ($subject:expr; $($part:ident: $($rule:ident),+;)+) => {
        $(mod $part {
            #[allow(unused_imports, reason = "the subject may be a path or a closure")]
            use super::*;
            $(
                #[test]
                fn $rule() {
                    let clock = $crate::ManualClock::at(1_700_000_000_000);
                    let subject = ($subject)(clock.clone());
                    $crate::store::check($crate::store::contract::$part::$rule(subject, clock));
                }
            )+
        })+
    };
}

/// Returns an event of a kind with little data.
pub(crate) fn event(kind: &str) -> NewEvent {
    NewEvent { kind: kind.to_owned(), data: format!(r#"{{"of":"{kind}"}}"#) }
}

/// Appends events of these kinds.
pub(crate) async fn append(
    store: &impl Store,
    stream: &str,
    expected: u64,
    kinds: &[&str],
) -> Result<Appended, StoreError> {
    let events = kinds.iter().map(|kind| event(kind)).collect();
    store.append(stream, expected, None, events, r#"{"a":"summary"}"#.to_owned()).await
}

/// Reads all events of a stream.
pub(crate) async fn all(store: &impl Store, stream: &str) -> Vec<Stored> {
    store.read(stream, 0..u64::MAX).await.expect("the stream can be read")
}

/// Returns the kinds of all events of a stream.
pub(crate) async fn kinds(store: &impl Store, stream: &str) -> Vec<String> {
    all(store, stream).await.into_iter().map(|event| event.kind).collect()
}

/// Fails unless a result is an error of a kind.
macro_rules! assert_refused {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {
        match $result {
            Err($pattern) $(if $guard)? => {}
            other => panic!("expected {}, got {other:?}", stringify!($pattern $(if $guard)?)),
        }
    };
}
pub(crate) use assert_refused;
