//! What a server says about requests, and about what webhooks are told: one line each, on standard error.
//!
//! Lines are handed to a thread that writes all that have come in at once. If nobody reads them, or not fast enough, requests are
//! answered all the same: lines are left out, and the next one that is written says how many.

use crate::args::{LogForm, LogLevel};
use crate::runs::SystemClock;
use crate::ui::moment::moment;
use abide_core::event::Timestamp;
use abide_engine::port::Clock as _;
use abide_engine::webhooks::{Fate, Hearing, Told};
use abide_http::{Line, Log};
use serde_json::{Value, json};
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// How many lines wait to be written.
const MOST_WAITING: usize = 4_096;

/// Who is told what is said.
pub(crate) struct ServerLog {
    /// Takes requests.
    pub(crate) requests: Log,
    /// Takes what became of deliveries to webhooks.
    pub(crate) deliveries: Hearing,
}

/// Starts a log; something is said if it is as important as the level asks.
pub(crate) fn log(form: LogForm, level: LogLevel) -> Option<ServerLog> {
    let (sender, lines) = sync_channel(MOST_WAITING);
    let started = std::thread::Builder::new().name("log".to_owned()).spawn(move || write(&lines));
    // Without the thread there is nobody to write; a server without a log is better than none.
    started.ok()?;
    let lost = AtomicU64::new(0);
    let say = Arc::new(move |own: LogLevel, text: &dyn Fn() -> String, document: &dyn Fn() -> Value| {
        if own <= level {
            send(&sender, &lost, &said(form, own, SystemClock.now(), text, document));
        }
    });
    let say_told = Arc::clone(&say);
    Some(ServerLog {
        requests: Arc::new(move |line: &Line| say(weight(line), &|| line.to_string(), &|| line.to_json())),
        deliveries: Arc::new(move |told: &Told| {
            say_told(weight_of(&told.fate), &|| text_of(told), &|| document_of(told));
        }),
    })
}

fn weight(line: &Line) -> LogLevel {
    match line.status {
        500.. => LogLevel::Error,
        // Somebody is kept out: the one thing about callers that an operator should see.
        401 | 403 | 421 | 429 => LogLevel::Warn,
        _ => LogLevel::Info,
    }
}

/// What is tried again is worth a look; what is not is lost.
fn weight_of(fate: &Fate) -> LogLevel {
    match fate {
        Fate::Delivered => LogLevel::Info,
        Fate::Failed { .. } => LogLevel::Warn,
        Fate::GivenUp { .. } | Fate::Full => LogLevel::Error,
    }
}

fn why_and_again(fate: &Fate) -> (Option<&str>, Option<i64>) {
    match fate {
        Fate::Delivered => (None, None),
        Fate::Failed { why, again } => (Some(why), Some(*again)),
        Fate::GivenUp { why } => (Some(why), None),
        Fate::Full => (Some("too much waits for it"), None),
    }
}

fn text_of(told: &Told) -> String {
    let (why, again) = why_and_again(&told.fate);
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let again = again.map(|again| format!("; again at {}", moment(Timestamp(again)))).unwrap_or_default();
    let (webhook, id, attempt) = (&told.webhook, &told.id, told.attempt);
    let milliseconds = told.took.as_secs_f64() * 1e3;
    format!(
        "webhook {webhook} {} {milliseconds:.1} ms{why}{again} delivery={id} attempt={attempt}",
        told.fate.word()
    )
}

fn document_of(told: &Told) -> Value {
    let (why, again) = why_and_again(&told.fate);
    json!({
        "webhook": told.webhook,
        "delivery": told.id,
        "attempt": told.attempt,
        "outcome": told.fate.word(),
        "why": why,
        "again": again,
        "milliseconds": (told.took.as_secs_f64() * 1e6).round() / 1e3,
    })
}

fn said(
    form: LogForm,
    level: LogLevel,
    at: Timestamp,
    text: &dyn Fn() -> String,
    document: &dyn Fn() -> Value,
) -> String {
    let at = moment(at);
    match form {
        LogForm::Text => format!("{at} {} {}\n", level.word(), text()),
        LogForm::Json => {
            let mut document = document();
            document["at"] = at.into();
            document["level"] = level.word().into();
            format!("{document}\n")
        }
    }
}

fn send(sender: &SyncSender<String>, lost: &AtomicU64, line: &str) {
    let before = lost.swap(0, Ordering::Relaxed);
    let text = if before > 0 { format!("{line}({before} lines were left out)\n") } else { line.to_owned() };
    if sender.try_send(text).is_err() {
        lost.fetch_add(before + 1, Ordering::Relaxed);
    }
}

fn write(lines: &Receiver<String>) {
    while let Ok(mut text) = lines.recv() {
        while let Ok(more) = lines.try_recv() {
            text.push_str(&more);
        }
        // Nobody may read it any more; the server goes on.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_that_nobody_reads_holds_nothing_up_and_says_what_it_left_out() {
        let (sender, lines) = sync_channel(2);
        let lost = AtomicU64::new(0);
        for number in 0..10 {
            send(&sender, &lost, &format!("{number}\n"));
        }
        assert_eq!((lines.recv().unwrap(), lines.recv().unwrap()), ("0\n".to_owned(), "1\n".to_owned()));
        send(&sender, &lost, "10\n");
        assert_eq!(lines.recv().unwrap(), "10\n(8 lines were left out)\n");
    }
}
