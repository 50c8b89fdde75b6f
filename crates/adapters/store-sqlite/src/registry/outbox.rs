//! What webhooks are to be told, beside the keys of the server.

use super::{SqliteRegistry, Unreached};
use abide_engine::port::{
    Attempted, DELIVERIES_KEPT, Delivery, Later, MOST_UNDELIVERED, NewDelivery, Outbox, OutboxError,
    PostedDeliveries, Undelivered,
};
use rusqlite::{Connection, params};
use std::collections::HashMap;

/// The table.
pub(super) const TABLE: &str = "
CREATE TABLE webhook_deliveries (
    webhook   TEXT NOT NULL,
    id        TEXT NOT NULL,
    body      TEXT NOT NULL,
    posted_at INTEGER NOT NULL,
    due_at    INTEGER NOT NULL,
    until     INTEGER NOT NULL,
    attempts  INTEGER NOT NULL DEFAULT 0,
    ended_at  INTEGER,
    end       TEXT,
    error     TEXT,
    PRIMARY KEY (webhook, id)
) STRICT;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, due_at, id) WHERE ended_at IS NULL;
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE ended_at IS NOT NULL;
";

impl Unreached for OutboxError {
    fn unreached(why: String) -> Self {
        Self(why)
    }
}

fn post(connection: &Connection, new: &[NewDelivery]) -> Result<PostedDeliveries, rusqlite::Error> {
    let mut posted = PostedDeliveries::default();
    let Some(now) = new.iter().map(|delivery| delivery.at).max() else { return Ok(posted) };
    let old = now.saturating_sub(DELIVERIES_KEPT);
    connection.execute("DELETE FROM webhook_deliveries WHERE ended_at < ?1", [old])?;
    // What is left of webhooks that nobody configures any more.
    connection.execute("DELETE FROM webhook_deliveries WHERE ended_at IS NULL AND until < ?1", [old])?;
    let mut waiting: HashMap<&String, usize> = HashMap::new();
    for delivery in new {
        let NewDelivery { webhook, id, body, at, until } = delivery;
        let sql = "SELECT EXISTS (SELECT 1 FROM webhook_deliveries WHERE webhook = ?1 AND id = ?2)";
        if connection.prepare_cached(sql)?.query_row([webhook, id], |row| row.get(0))? {
            continue;
        }
        if !waiting.contains_key(webhook) {
            let sql = "SELECT count(*) FROM webhook_deliveries WHERE webhook = ?1 AND ended_at IS NULL";
            let count: usize = connection.prepare_cached(sql)?.query_row([webhook], |row| row.get(0))?;
            waiting.insert(webhook, count);
        }
        let waiting = waiting.entry(webhook).or_default();
        if *waiting >= MOST_UNDELIVERED {
            posted.full += 1;
            continue;
        }
        let sql = "INSERT INTO webhook_deliveries (webhook, id, body, posted_at, due_at, until)
                   VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
        connection.prepare_cached(sql)?.execute(params![webhook, id, body, at, until])?;
        *waiting += 1;
        posted.new += 1;
    }
    Ok(posted)
}

impl Outbox for SqliteRegistry {
    fn post(&self, deliveries: Vec<NewDelivery>) -> Later<Result<PostedDeliveries, OutboxError>> {
        let bytes = deliveries.iter().map(|delivery| delivery.body.len()).sum();
        self.change(bytes, move |connection| Ok(post(connection, &deliveries)?))
    }

    fn take(
        &self,
        webhook: &str,
        now: i64,
        until: i64,
        most: usize,
    ) -> Later<Result<Vec<Delivery>, OutboxError>> {
        let webhook = webhook.to_owned();
        self.change(0, move |connection| {
            let sql = "UPDATE webhook_deliveries SET due_at = ?3, attempts = attempts + 1
                       WHERE webhook = ?1 AND id IN (
                           SELECT id FROM webhook_deliveries
                           WHERE webhook = ?1 AND ended_at IS NULL AND due_at <= ?2
                           ORDER BY due_at, id LIMIT ?4)
                       RETURNING id, body, attempts, until";
            let mut due = connection.prepare_cached(sql)?;
            let delivery = |row: &rusqlite::Row<'_>| {
                Ok(Delivery {
                    webhook: webhook.clone(),
                    id: row.get(0)?,
                    body: row.get(1)?,
                    attempt: row.get(2)?,
                    until: row.get(3)?,
                })
            };
            Ok(due.query_map(params![webhook, now, until, most], delivery)?.collect::<Result<_, _>>()?)
        })
    }

    fn settle(
        &self,
        delivery: &Delivery,
        now: i64,
        attempted: Attempted,
    ) -> Later<Result<bool, OutboxError>> {
        let (due_at, end, error) = match attempted {
            Attempted::Delivered => (None, Some("delivered"), None),
            Attempted::Again(at, why) => (Some(at), None, Some(why)),
            Attempted::GivenUp(why) => (None, Some("given_up"), Some(why)),
        };
        let ended_at = end.map(|_| now);
        let delivery = delivery.clone();
        self.change(0, move |connection| {
            let sql = "UPDATE webhook_deliveries
                       SET due_at = coalesce(?4, due_at), ended_at = ?5, end = ?6, error = ?7
                       WHERE webhook = ?1 AND id = ?2 AND attempts = ?3 AND ended_at IS NULL";
            let Delivery { webhook, id, attempt, .. } = &delivery;
            let settled = connection
                .prepare_cached(sql)?
                .execute(params![webhook, id, attempt, due_at, ended_at, end, error])?;
            Ok(settled == 1)
        })
    }

    fn due(&self, webhook: &str) -> Later<Result<Option<i64>, OutboxError>> {
        self.look(|connection| {
            let sql = "SELECT min(due_at) FROM webhook_deliveries WHERE webhook = ?1 AND ended_at IS NULL";
            connection.prepare_cached(sql)?.query_row([webhook], |row| row.get(0))
        })
    }

    fn undelivered(&self) -> Later<Result<Vec<Undelivered>, OutboxError>> {
        self.look(|connection| {
            let sql = "SELECT webhook, count(*), min(posted_at) FROM webhook_deliveries
                       WHERE ended_at IS NULL GROUP BY webhook ORDER BY webhook";
            let row = |row: &rusqlite::Row<'_>| {
                Ok(Undelivered { webhook: row.get(0)?, count: row.get(1)?, oldest: row.get(2)? })
            };
            connection.prepare_cached(sql)?.query_map((), row)?.collect()
        })
    }
}
