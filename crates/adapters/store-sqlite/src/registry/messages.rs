//! Messages of sessions, beside the sessions: what waits to be told, and what came of it.

use super::{SqliteRegistry, Unreached};
use abide_engine::port::{
    Later, MOST_WAITING, MessageEnd, MessageRow, Messages, MessagesError, NewMessage, Posted, WhenBusy,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use std::time::Duration;

/// How long whoever waits for news does not look: another process may have written.
const LOOK: Duration = Duration::from_secs(1);

impl Unreached for MessagesError {
    fn unreached(why: String) -> Self {
        Self(why)
    }
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

fn post(connection: &Connection, message: &NewMessage) -> Result<Posted, rusqlite::Error> {
    let NewMessage { id, session, text, by, when_busy, once, at } = message;
    // Of a session that is busy or full, too, whoever asks again is told of the first time.
    if once.is_some() {
        let sql = format!(
            "SELECT {COLUMNS} FROM session_messages WHERE session = ?1 AND owner = ?2 AND once = ?3 AND {THERE}"
        );
        let known = connection.prepare_cached(&sql)?.query_row(params![session, by, once], row).optional()?;
        if let Some(known) = known {
            return Ok(Posted::Known(known));
        }
    }
    let sql = "SELECT count(*) FROM session_messages WHERE session = ?1 AND status IS NULL";
    let waiting: usize = connection.prepare_cached(sql)?.query_row([session], |row| row.get(0))?;
    if waiting > 0 && *when_busy == WhenBusy::Refuse {
        return Ok(Posted::Busy);
    }
    if waiting >= MOST_WAITING {
        return Ok(Posted::Full);
    }
    let sql = "UPDATE sessions SET messages = messages + 1, updated_at = max(updated_at, ?2)
               WHERE id = ?1 AND NOT is_removed RETURNING messages";
    let number: Option<u64> =
        connection.prepare_cached(sql)?.query_row(params![session, at], |row| row.get(0)).optional()?;
    let Some(number) = number else { return Ok(Posted::NoSession) };
    let sql = "INSERT INTO session_messages (id, session, number, text, owner, when_busy, once, created_at)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
    connection.prepare_cached(sql)?.execute(params![
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

fn open(connection: &Connection, session: &str) -> Result<Vec<MessageRow>, rusqlite::Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM session_messages WHERE session = ?1 AND status IS NULL AND {THERE} {ORDER}"
    );
    connection.prepare_cached(&sql)?.query_map([session], row)?.collect()
}

impl Messages for SqliteRegistry {
    fn post(&self, message: NewMessage) -> Later<Result<Posted, MessagesError>> {
        let (session, bytes) = (message.session.clone(), message.text.len());
        self.change_session(&session, bytes, move |connection| Ok(post(connection, &message)?))
    }

    fn list(&self, session: &str, after: u64, most: usize) -> Later<Result<Vec<MessageRow>, MessagesError>> {
        self.look(|connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM session_messages WHERE session = ?1 AND number > ?2 AND {THERE} ORDER BY number LIMIT ?3"
            );
            let after = i64::try_from(after).unwrap_or(i64::MAX);
            connection.prepare_cached(&sql)?.query_map(params![session, after, most], row)?.collect()
        })
    }

    fn find(&self, session: &str, id: &str) -> Later<Result<Option<MessageRow>, MessagesError>> {
        self.look(|connection| {
            let sql =
                format!("SELECT {COLUMNS} FROM session_messages WHERE session = ?1 AND id = ?2 AND {THERE}");
            connection.prepare_cached(&sql)?.query_row([session, id], row).optional()
        })
    }

    fn open(&self, session: &str) -> Later<Result<Vec<MessageRow>, MessagesError>> {
        self.look(|connection| open(connection, session))
    }

    fn cancel(&self, session: &str, by: &str, all: bool) -> Later<Result<Vec<MessageRow>, MessagesError>> {
        let (id, by) = (session.to_owned(), by.to_owned());
        self.change_session(session, 0, move |connection| {
            let mut cancelled = Vec::new();
            for message in open(connection, &id)?.into_iter().take(if all { MOST_WAITING } else { 1 }) {
                let sql =
                    "UPDATE session_messages SET cancelled_by = ?2 WHERE id = ?1 AND cancelled_by IS NULL";
                if connection.prepare_cached(sql)?.execute(params![message.id, by])? == 1 {
                    cancelled.push(MessageRow { cancelled_by: Some(by.clone()), ..message });
                }
            }
            Ok(cancelled)
        })
    }

    fn end(&self, session: &str, id: &str, end: MessageEnd) -> Later<Result<(), MessagesError>> {
        let (session, id) = (session.to_owned(), id.to_owned());
        self.change(end.answer.len(), move |connection| {
            let sql = "UPDATE session_messages SET status = ?3, answer = ?4, error = ?5, ended_at = ?6
                       WHERE session = ?1 AND id = ?2 AND status IS NULL";
            let MessageEnd { status, answer, error, at } = &end;
            connection.prepare_cached(sql)?.execute(params![session, id, status, answer, error, at])?;
            Ok(())
        })
    }

    fn waiting(&self, after: Option<&str>, most: usize) -> Later<Result<Vec<String>, MessagesError>> {
        self.look(|connection| {
            let sql = format!(
                "SELECT DISTINCT session FROM session_messages WHERE status IS NULL AND session > ?1 AND {THERE} ORDER BY session LIMIT ?2"
            );
            let mut found = connection.prepare_cached(&sql)?;
            found.query_map(params![after.unwrap_or(""), most], |row| row.get(0))?.collect()
        })
    }

    fn news(&self, session: &str) -> Later<()> {
        // What happens from now on is heard, also before the future is first polled.
        let rung = self.0.bells.follow(session).notified_owned();
        Box::pin(async move {
            let _ = tokio::time::timeout(LOOK, rung).await;
        })
    }
}
