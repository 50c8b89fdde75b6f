//! Messages of sessions, beside the sessions: what waits to be told, and what came of it.

use super::SqliteRegistry;
use abide_engine::port::{
    Later, MOST_WAITING, MessageEnd, MessageRow, Messages, MessagesError, NewMessage, Posted, WhenBusy,
};
use rusqlite::{OptionalExtension as _, Row, Transaction, TransactionBehavior, params};
use std::time::Duration;

/// How long whoever waits for news does not look: another process may have written.
const LOOK: Duration = Duration::from_secs(1);

fn later<T: Send + 'static>(done: Result<T, rusqlite::Error>) -> Later<Result<T, MessagesError>> {
    Box::pin(std::future::ready(done.map_err(|error| MessagesError(error.to_string()))))
}

const COLUMNS: &str =
    "id, session, number, text, owner, when_busy, cancelled_by, created_at, status, answer, error, ended_at";

/// In which order they are told.
const ORDER: &str =
    "ORDER BY when_busy = 'interrupt' DESC, CASE WHEN when_busy = 'interrupt' THEN -number ELSE number END";

/// Only of a session that was not removed.
const THERE: &str = "EXISTS (SELECT 1 FROM sessions WHERE sessions.id = session AND NOT is_removed)";

fn row(row: &Row<'_>) -> Result<MessageRow, rusqlite::Error> {
    let when_busy: String = row.get(5)?;
    let status: Option<String> = row.get(8)?;
    let end = match status {
        None => None,
        Some(status) => {
            Some(MessageEnd { status, answer: row.get(9)?, error: row.get(10)?, at: row.get(11)? })
        }
    };
    Ok(MessageRow {
        id: row.get(0)?,
        session: row.get(1)?,
        number: row.get(2)?,
        text: row.get(3)?,
        by: row.get(4)?,
        // A word that this version does not know harms nobody else's turn.
        when_busy: WhenBusy::parse(&when_busy).unwrap_or(WhenBusy::Queue),
        cancelled_by: row.get(6)?,
        created_at: row.get(7)?,
        end,
    })
}

fn post(transaction: &Transaction<'_>, message: &NewMessage) -> Result<Posted, rusqlite::Error> {
    let NewMessage { id, session, text, by, when_busy, once, at } = message;
    // Of a session that is busy or full, too, whoever asks again is told of the first time.
    if once.is_some() {
        let sql = format!(
            "SELECT {COLUMNS} FROM session_messages WHERE session = ?1 AND owner = ?2 AND once = ?3 AND {THERE}"
        );
        let known =
            transaction.prepare_cached(&sql)?.query_row(params![session, by, once], row).optional()?;
        if let Some(known) = known {
            return Ok(Posted::Known(known));
        }
    }
    let sql = "SELECT count(*) FROM session_messages WHERE session = ?1 AND status IS NULL";
    let waiting: usize = transaction.prepare_cached(sql)?.query_row([session], |row| row.get(0))?;
    if waiting > 0 && *when_busy == WhenBusy::Refuse {
        return Ok(Posted::Busy);
    }
    if waiting >= MOST_WAITING {
        return Ok(Posted::Full);
    }
    let sql = "UPDATE sessions SET messages = messages + 1, updated_at = max(updated_at, ?2)
               WHERE id = ?1 AND NOT is_removed RETURNING messages";
    let number: Option<u64> =
        transaction.prepare_cached(sql)?.query_row(params![session, at], |row| row.get(0)).optional()?;
    let Some(number) = number else { return Ok(Posted::NoSession) };
    let sql = "INSERT INTO session_messages (id, session, number, text, owner, when_busy, once, created_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    transaction.prepare_cached(sql)?.execute(params![
        id,
        session,
        number,
        text,
        by,
        when_busy.word(),
        once,
        at
    ])?;
    Ok(Posted::New(MessageRow {
        id: id.clone(),
        session: session.clone(),
        number,
        text: text.clone(),
        by: by.clone(),
        when_busy: *when_busy,
        cancelled_by: None,
        created_at: *at,
        end: None,
    }))
}

fn open(transaction: &Transaction<'_>, session: &str) -> Result<Vec<MessageRow>, rusqlite::Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM session_messages WHERE session = ?1 AND status IS NULL AND {THERE} {ORDER}"
    );
    transaction.prepare_cached(&sql)?.query_map([session], row)?.collect()
}

impl Messages for SqliteRegistry {
    fn post(&self, message: NewMessage) -> Later<Result<Posted, MessagesError>> {
        let posted = self.within(TransactionBehavior::Immediate, |transaction| post(transaction, &message));
        self.ring(&message.session);
        later(posted)
    }

    fn list(&self, session: &str, after: u64, most: usize) -> Later<Result<Vec<MessageRow>, MessagesError>> {
        later(self.within(TransactionBehavior::Deferred, |transaction| {
            let sql = format!(
                "SELECT {COLUMNS} FROM session_messages WHERE session = ?1 AND number > ?2 AND {THERE} ORDER BY number LIMIT ?3"
            );
            let after = i64::try_from(after).unwrap_or(i64::MAX);
            transaction.prepare_cached(&sql)?.query_map(params![session, after, most], row)?.collect()
        }))
    }

    fn find(&self, session: &str, id: &str) -> Later<Result<Option<MessageRow>, MessagesError>> {
        later(self.within(TransactionBehavior::Deferred, |transaction| {
            let sql =
                format!("SELECT {COLUMNS} FROM session_messages WHERE session = ?1 AND id = ?2 AND {THERE}");
            transaction.prepare_cached(&sql)?.query_row([session, id], row).optional()
        }))
    }

    fn open(&self, session: &str) -> Later<Result<Vec<MessageRow>, MessagesError>> {
        later(self.within(TransactionBehavior::Deferred, |transaction| open(transaction, session)))
    }

    fn cancel(&self, session: &str, by: &str, all: bool) -> Later<Result<Vec<MessageRow>, MessagesError>> {
        let cancelled = self.within(TransactionBehavior::Immediate, |transaction| {
            let mut cancelled = Vec::new();
            for message in open(transaction, session)?.into_iter().take(if all { MOST_WAITING } else { 1 }) {
                let sql =
                    "UPDATE session_messages SET cancelled_by = ?2 WHERE id = ?1 AND cancelled_by IS NULL";
                if transaction.prepare_cached(sql)?.execute(params![message.id, by])? == 1 {
                    cancelled.push(MessageRow { cancelled_by: Some(by.to_owned()), ..message });
                }
            }
            Ok::<_, rusqlite::Error>(cancelled)
        });
        self.ring(session);
        later(cancelled)
    }

    fn end(&self, session: &str, id: &str, end: MessageEnd) -> Later<Result<(), MessagesError>> {
        later(self.within(TransactionBehavior::Immediate, |transaction| {
            let sql = "UPDATE session_messages SET status = ?3, answer = ?4, error = ?5, ended_at = ?6
                       WHERE session = ?1 AND id = ?2 AND status IS NULL";
            let MessageEnd { status, answer, error, at } = &end;
            transaction.prepare_cached(sql)?.execute(params![session, id, status, answer, error, at])?;
            Ok(())
        }))
    }

    fn waiting(&self, after: Option<&str>, most: usize) -> Later<Result<Vec<String>, MessagesError>> {
        later(self.within(TransactionBehavior::Deferred, |transaction| {
            let sql = format!(
                "SELECT DISTINCT session FROM session_messages WHERE status IS NULL AND session > ?1 AND {THERE} ORDER BY session LIMIT ?2"
            );
            let mut found = transaction.prepare_cached(&sql)?;
            found.query_map(params![after.unwrap_or(""), most], |row| row.get(0))?.collect()
        }))
    }

    fn news(&self, session: &str) -> Later<()> {
        // What happens from now on is heard, also before the future is first polled.
        let rung = self.bells.follow(session).notified_owned();
        Box::pin(async move {
            let _ = tokio::time::timeout(LOOK, rung).await;
        })
    }
}
