//! How long runs are kept: which of them are forgotten, and forgetting them.
//!
//! A run and those that it calls are one family and go together. Nothing goes that is not over, nor what a run that is
//! not over repeats. [`prune`] does a bounded part each time it is called, and so little when there is nothing to do
//! that it can be called after every run.

use crate::port::{Clock, HeadPlace, Store, StoreError, StreamHead};
use abide_core::event::{RunId, Timestamp};
use abide_core::run::RunStatus;
use abide_core::value::Value;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// How long runs are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many, those that others call included.
    pub keep: u64,
    /// For how long after their last event.
    pub keep_for: Option<Duration>,
}

/// How many runs are forgotten at once; a family that is begun is finished.
const AT_ONCE: usize = 64;
/// How many heads are read at once.
const PAGE: usize = 1_000;

/// Forgets runs beyond the limits, never `just`, the one that has just ended; returns how many.
///
/// To look at every run after each one would cost more than the runs: there may be half a percent more of them.
pub async fn prune<S: Store, C: Clock>(
    store: &S,
    clock: &C,
    limits: Limits,
    just: &RunId,
) -> Result<usize, StoreError> {
    let extent = store.extent().await?;
    let since = limits.keep_for.map(|time| before(clock.now(), time));
    let too_many = extent.streams > limits.keep.saturating_add(limits.keep / 200);
    let too_old = since.is_some_and(|since| extent.oldest.is_some_and(|oldest| oldest < since));
    if !too_many && !too_old {
        return Ok(0);
    }
    let keep = if too_many { limits.keep } else { u64::MAX };
    let mut runs = Vec::new();
    let mut place: Option<HeadPlace> = None;
    loop {
        let page = store.heads(place.as_ref(), PAGE).await?;
        runs.extend(page.iter().map(Kept::of));
        match page.last() {
            Some(last) if page.len() == PAGE => place = Some(last.place()),
            _ => break,
        }
    }
    let mut forgotten = 0;
    for stream in forgettable(&runs, keep, since, just.as_str()) {
        match store.forget(stream).await {
            Ok(()) => forgotten += 1,
            // Somebody else was faster.
            Err(StoreError::Unknown(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(forgotten)
}

fn before(now: Timestamp, time: Duration) -> i64 {
    now.0.saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

/// What is known of a run without reading its log.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kept {
    stream: String,
    changed_at: i64,
    is_over: bool,
    parent: Option<String>,
    rerun_of: Option<String>,
}

impl Kept {
    fn of(head: &StreamHead) -> Self {
        let summary = abide_formats::json::parse(&head.summary).unwrap_or(Value::Null);
        let text = |name: &str| match summary.get(name) {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        // What cannot be read is not known to be over.
        let is_over = text("status").is_some_and(|status| {
            let over = [RunStatus::Completed, RunStatus::Failed, RunStatus::Cancelled, RunStatus::TimedOut];
            over.iter().any(|known| known.word() == status)
        });
        Self {
            stream: head.stream.clone(),
            changed_at: head.changed_at,
            is_over,
            parent: text("parent"),
            rerun_of: text("rerun_of"),
        }
    }
}

/// Returns which runs go: families that changed longest ago first, called runs before those that call them.
fn forgettable<'a>(runs: &'a [Kept], keep: u64, since: Option<i64>, just: &str) -> Vec<&'a str> {
    let known: HashMap<&str, &Kept> = runs.iter().map(|run| (run.stream.as_str(), run)).collect();
    let mut families: HashMap<&str, Vec<&Kept>> = HashMap::new();
    for run in runs {
        families.entry(first_of(run, &known)).or_default().push(run);
    }
    let repeated = runs.iter().filter(|run| !run.is_over).filter_map(|run| run.rerun_of.as_deref());
    let held: HashSet<&str> = repeated
        .chain([just])
        .filter_map(|stream| known.get(stream))
        .map(|run| first_of(run, &known))
        .collect();
    let mut old: Vec<(i64, &str, Vec<&Kept>)> = families
        .into_iter()
        .filter(|(first, family)| !held.contains(first) && family.iter().all(|run| run.is_over))
        .map(|(first, family)| {
            let changed_at = family.iter().map(|run| run.changed_at).max().unwrap_or(i64::MAX);
            (changed_at, first, family)
        })
        .collect();
    old.sort_unstable_by_key(|(changed_at, first, _)| (*changed_at, *first));
    let mut excess = (runs.len() as u64).saturating_sub(keep);
    let mut going = Vec::new();
    for (changed_at, first, mut family) in old {
        let too_old = since.is_some_and(|since| changed_at < since);
        if going.len() >= AT_ONCE || (excess == 0 && !too_old) {
            break;
        }
        excess = excess.saturating_sub(family.len() as u64);
        // A crash on the way leaves the one that people know.
        family.sort_unstable_by_key(|run| (run.stream == first, run.stream.as_str()));
        going.extend(family.iter().map(|run| run.stream.as_str()));
    }
    going
}

/// Returns the run that began a family; a circle, which no run makes, ends where it is noticed.
fn first_of<'a>(run: &'a Kept, known: &HashMap<&'a str, &'a Kept>) -> &'a str {
    let mut first = run;
    for _ in 0..known.len() {
        match first.parent.as_deref().and_then(|parent| known.get(parent)) {
            Some(parent) => first = parent,
            None => break,
        }
    }
    &first.stream
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads runs from lines such as `10 child completed parent=a rerun_of=b`, the time first.
    fn runs(text: &str) -> Vec<Kept> {
        let read = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let named = |name: &str| {
                let found = words.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
                found.map(str::to_owned)
            };
            Kept {
                stream: words[1].to_owned(),
                changed_at: words[0].parse().unwrap(),
                is_over: words[2] == "over",
                parent: named("parent"),
                rerun_of: named("rerun_of"),
            }
        };
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(read).collect()
    }

    /// What it shows, the runs, how many are kept, since when, and which go.
    type Case = (&'static str, &'static str, u64, Option<i64>, &'static [&'static str]);

    #[test]
    fn which_runs_go() {
        let plain = "1 a over\n2 b over\n3 c over\n4 d over";
        let family = "1 a over\n9 a1 over parent=a\n8 a2 over parent=a1\n2 b over\n3 c over";
        let cases: &[Case] = &[
            ("enough room", plain, 4, None, &[]),
            ("the oldest go first", plain, 2, None, &["a", "b"]),
            ("by age alone", plain, u64::MAX, Some(3), &["a", "b"]),
            ("by either", plain, 3, Some(3), &["a", "b"]),
            ("what is under way stays", "1 a under_way\n2 b over\n3 c over", 1, Some(99), &["b", "c"]),
            ("a family is as old as its youngest", family, 3, None, &["b", "c"]),
            ("and goes as one, who was started last", family, 2, None, &["b", "c", "a1", "a2", "a"]),
            (
                "a child under way holds its parents",
                "1 a over\n2 b under_way parent=a\n3 c over",
                0,
                None,
                &["c"],
            ),
            ("a parent under way holds its children", "1 a under_way\n2 b over parent=a", 0, Some(99), &[]),
            ("what is being repeated stays", "1 a over\n2 b under_way rerun_of=a\n3 c over", 1, None, &["c"]),
            ("what was repeated goes", "1 a over\n2 b over rerun_of=a\n3 c over", 2, None, &["a"]),
            (
                "repeating holds a whole family",
                "1 a over\n2 a1 over parent=a\n3 b under_way rerun_of=a",
                0,
                None,
                &[],
            ),
            ("a child whose parent is gone goes", "1 a over parent=gone\n2 b over", 1, None, &["a"]),
            ("the one that has just ended stays", "1 just over\n2 b over\n3 c over", 1, None, &["b", "c"]),
        ];
        for (name, text, keep, since, going) in cases {
            assert_eq!(forgettable(&runs(text), *keep, *since, "just"), *going, "{name}");
        }
    }

    #[test]
    fn a_part_goes_at_a_time() {
        let many: Vec<String> = (0..1_000).map(|number| format!("{number} r{number:04} over")).collect();
        let runs = runs(&many.join("\n"));
        let going = forgettable(&runs, 10, None, "r0999");
        assert_eq!((going.len(), going[0], going[63]), (AT_ONCE, "r0000", "r0063"));
    }

    #[test]
    fn a_circle_of_parents_ends() {
        let circle = runs("1 a over parent=b\n2 b over parent=a");
        assert_eq!(forgettable(&circle, 0, None, "just").len(), 2);
    }
}
