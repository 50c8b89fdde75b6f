//! Messages of sessions, for every process that shares the database: what waits to be told, and what came of it.

use crate::PgStore;
use crate::events::{signed, unsigned};
use crate::listen::{CHANNEL, MESSAGES, PATIENCE};
use abide_engine::port::{
    Later, MOST_WAITING, MessageEnd, MessageRow, Messages, MessagesError, NewMessage, Posted, WhenBusy,
};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

fn failed(error: impl std::error::Error) -> MessagesError {
    MessagesError(error.to_string())
}

const COLUMNS: &str = "m.id, m.session, m.number, m.text, m.owner, m.when_busy, m.cancelled_by, m.created_at, m.status, m.answer, m.error, m.ended_at";

/// Only of a session that was not removed.
const FROM: &str = "FROM session_messages m JOIN sessions s ON s.id = m.session AND NOT s.is_removed";

/// In which order they are told.
const ORDER: &str = "ORDER BY m.when_busy = 'interrupt' DESC, CASE WHEN m.when_busy = 'interrupt' THEN -m.number ELSE m.number END";

/// Returns a text that is kept as bytes.
fn text(row: &PgRow, column: usize) -> Result<String, sqlx::Error> {
    let bytes: Vec<u8> = row.try_get(column)?;
    String::from_utf8(bytes).map_err(|error| sqlx::Error::Decode(Box::new(error)))
}

fn message(row: &PgRow) -> Result<MessageRow, sqlx::Error> {
    let when_busy: String = row.try_get(5)?;
    let end = match row.try_get::<Option<String>, _>(8)? {
        None => None,
        Some(status) => {
            let error = row.try_get::<Option<Vec<u8>>, _>(10)?.map(|_| text(row, 10)).transpose()?;
            Some(MessageEnd { status, answer: text(row, 9)?, error, at: row.try_get(11)? })
        }
    };
    Ok(MessageRow {
        id: row.try_get(0)?,
        session: row.try_get(1)?,
        number: unsigned(row.try_get(2)?),
        text: text(row, 3)?,
        by: row.try_get(4)?,
        // A word that this version does not know harms nobody else's turn.
        when_busy: WhenBusy::parse(&when_busy).unwrap_or(WhenBusy::Queue),
        cancelled_by: row.try_get(6)?,
        created_at: row.try_get(7)?,
        end,
    })
}

/// Takes a message; of an answer that is not [`Posted::New`] nothing may be committed.
async fn post(connection: &mut PgConnection, new: &NewMessage) -> Result<Posted, sqlx::Error> {
    // Whoever posts to the same session waits here, so that numbers have no gap.
    let sql = "UPDATE sessions SET messages = messages + 1, updated_at = greatest(updated_at, $2)
               WHERE id = $1 AND NOT is_removed
               RETURNING messages";
    let counted = sqlx::query(sql).bind(&new.session).bind(new.at);
    let Some(counted) = counted.fetch_optional(&mut *connection).await? else { return Ok(Posted::NoSession) };
    let number: i64 = counted.try_get(0)?;
    if new.once.is_some() {
        let sql = format!("SELECT {COLUMNS} {FROM} WHERE m.session = $1 AND m.owner = $2 AND m.once = $3");
        let known = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(&new.session).bind(&new.by).bind(&new.once);
        if let Some(known) = known.fetch_optional(&mut *connection).await? {
            return Ok(Posted::Known(message(&known)?));
        }
    }
    let sql = "SELECT count(*) FROM session_messages WHERE session = $1 AND status IS NULL";
    let waiting = sqlx::query(sql).bind(&new.session).fetch_one(&mut *connection).await?;
    let waiting = unsigned(waiting.try_get(0)?);
    if waiting > 0 && new.when_busy == WhenBusy::Refuse {
        return Ok(Posted::Busy);
    }
    if waiting >= MOST_WAITING as u64 {
        return Ok(Posted::Full);
    }
    let sql = "WITH added AS (INSERT INTO session_messages (id, session, number, text, owner, when_busy, once, created_at)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING session)
               SELECT pg_notify($9, $10 || session) FROM added";
    sqlx::query(sql)
        .bind(&new.id)
        .bind(&new.session)
        .bind(number)
        .bind(new.text.as_bytes())
        .bind(&new.by)
        .bind(new.when_busy.word())
        .bind(&new.once)
        .bind(new.at)
        .bind(CHANNEL)
        .bind(MESSAGES)
        .execute(&mut *connection)
        .await?;
    Ok(Posted::New(MessageRow {
        id: new.id.clone(),
        session: new.session.clone(),
        number: unsigned(number),
        text: new.text.clone(),
        by: new.by.clone(),
        when_busy: new.when_busy,
        cancelled_by: None,
        created_at: new.at,
        end: None,
    }))
}

impl Messages for PgStore {
    fn post(&self, new: NewMessage) -> Later<Result<Posted, MessagesError>> {
        let pool = self.pool();
        Box::pin(async move {
            let mut transaction = pool.ready().await.map_err(failed)?.begin().await.map_err(failed)?;
            let posted = post(&mut transaction, &new).await.map_err(failed)?;
            if let Posted::New(_) = posted {
                transaction.commit().await.map_err(failed)?;
            }
            Ok(posted)
        })
    }

    fn list(&self, session: &str, after: u64, most: usize) -> Later<Result<Vec<MessageRow>, MessagesError>> {
        let (pool, session) = (self.pool(), session.to_owned());
        Box::pin(async move {
            let sql = format!(
                "SELECT {COLUMNS} {FROM} WHERE m.session = $1 AND m.number > $2 ORDER BY m.number LIMIT $3"
            );
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(session).bind(signed(after));
            let found = found.bind(signed(most as u64));
            let found = found.fetch_all(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.iter().map(message).collect::<Result<_, _>>().map_err(failed)
        })
    }

    fn find(&self, session: &str, id: &str) -> Later<Result<Option<MessageRow>, MessagesError>> {
        let (pool, session, id) = (self.pool(), session.to_owned(), id.to_owned());
        Box::pin(async move {
            let sql = format!("SELECT {COLUMNS} {FROM} WHERE m.session = $1 AND m.id = $2");
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(session).bind(id);
            let found = found.fetch_optional(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.as_ref().map(message).transpose().map_err(failed)
        })
    }

    fn open(&self, session: &str) -> Later<Result<Vec<MessageRow>, MessagesError>> {
        let (pool, session) = (self.pool(), session.to_owned());
        Box::pin(async move {
            let sql = format!("SELECT {COLUMNS} {FROM} WHERE m.session = $1 AND m.status IS NULL {ORDER}");
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(session);
            let found = found.fetch_all(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.iter().map(message).collect::<Result<_, _>>().map_err(failed)
        })
    }

    fn cancel(&self, session: &str, by: &str, all: bool) -> Later<Result<Vec<MessageRow>, MessagesError>> {
        let (pool, session, by) = (self.pool(), session.to_owned(), by.to_owned());
        Box::pin(async move {
            let most = if all { MOST_WAITING as u64 } else { 1 };
            let sql = format!(
                "WITH first AS (SELECT m.id {FROM} WHERE m.session = $1 AND m.status IS NULL {ORDER} LIMIT $3),
                 marked AS (UPDATE session_messages m SET cancelled_by = $2 FROM first
                            WHERE m.id = first.id AND m.cancelled_by IS NULL AND m.status IS NULL RETURNING m.*)
                 SELECT {COLUMNS}, pg_notify($4, $5 || $1) FROM marked m {ORDER}"
            );
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(session).bind(by).bind(signed(most));
            let found = found.bind(CHANNEL).bind(MESSAGES);
            let found = found.fetch_all(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.iter().map(message).collect::<Result<_, _>>().map_err(failed)
        })
    }

    fn end(&self, session: &str, id: &str, end: MessageEnd) -> Later<Result<(), MessagesError>> {
        let (pool, session, id) = (self.pool(), session.to_owned(), id.to_owned());
        Box::pin(async move {
            let sql = "UPDATE session_messages SET status = $3, answer = $4, error = $5, ended_at = $6
                       WHERE session = $1 AND id = $2 AND status IS NULL";
            let ended = sqlx::query(sql)
                .bind(session)
                .bind(id)
                .bind(end.status)
                .bind(end.answer.into_bytes())
                .bind(end.error.map(String::into_bytes))
                .bind(end.at);
            ended.execute(pool.ready().await.map_err(failed)?).await.map(drop).map_err(failed)
        })
    }

    fn waiting(&self, after: Option<&str>, most: usize) -> Later<Result<Vec<String>, MessagesError>> {
        let (pool, after) = (self.pool(), after.unwrap_or_default().to_owned());
        Box::pin(async move {
            let sql = format!(
                "SELECT DISTINCT m.session {FROM} WHERE m.status IS NULL AND m.session > $1 ORDER BY m.session LIMIT $2"
            );
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(after).bind(signed(most as u64));
            let found = found.fetch_all(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>().map_err(failed)
        })
    }

    fn news(&self, session: &str) -> Later<()> {
        // What happens from now on is heard, also before the future is first polled.
        let told = self.listening().hear(&format!("{MESSAGES}{session}"));
        Box::pin(async move {
            let _ = tokio::time::timeout(PATIENCE, told).await;
        })
    }
}
