//! What webhooks are to be told, for every process that shares the database.

use crate::PgStore;
use crate::events::{signed, unsigned};
use abide_engine::port::{
    Attempted, DELIVERIES_KEPT, Delivery, Later, MOST_UNDELIVERED, NewDelivery, Outbox, OutboxError,
    PostedDeliveries, Undelivered,
};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};
use std::collections::HashMap;

/// The table.
pub(crate) const TABLE: &str = r#"
CREATE TABLE webhook_deliveries (
    webhook   text   COLLATE "C" NOT NULL,
    id        text   COLLATE "C" NOT NULL,
    body      bytea  NOT NULL,
    posted_at bigint NOT NULL,
    due_at    bigint NOT NULL,
    until     bigint NOT NULL,
    attempts  bigint NOT NULL DEFAULT 0,
    ended_at  bigint,
    "end"     text,
    error     bytea,
    PRIMARY KEY (webhook, id)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (webhook, due_at, id) WHERE ended_at IS NULL;
CREATE INDEX webhook_deliveries_ended ON webhook_deliveries (ended_at) WHERE ended_at IS NOT NULL;
"#;

fn failed(error: impl std::error::Error) -> OutboxError {
    OutboxError(error.to_string())
}

async fn post(connection: &mut PgConnection, new: &[NewDelivery]) -> Result<PostedDeliveries, sqlx::Error> {
    let mut posted = PostedDeliveries::default();
    let Some(now) = new.iter().map(|delivery| delivery.at).max() else { return Ok(posted) };
    // What is left of webhooks that nobody configures any more goes, too.
    let sql = "DELETE FROM webhook_deliveries WHERE ended_at < $1 OR (ended_at IS NULL AND until < $1)";
    let old = now.saturating_sub(DELIVERIES_KEPT);
    sqlx::query(sql).bind(old).execute(&mut *connection).await?;
    let mut waiting: HashMap<&str, u64> = HashMap::new();
    for delivery in new {
        if !waiting.contains_key(delivery.webhook.as_str()) {
            let sql = "SELECT count(*) FROM webhook_deliveries WHERE webhook = $1 AND ended_at IS NULL";
            let count = sqlx::query(sql).bind(&delivery.webhook).fetch_one(&mut *connection).await?;
            waiting.insert(&delivery.webhook, unsigned(count.try_get(0)?));
        }
        let waiting = waiting.entry(&delivery.webhook).or_default();
        if *waiting < MOST_UNDELIVERED as u64 {
            // Of two who post the same, one waits here until the other is through, and then writes nothing.
            let sql = "INSERT INTO webhook_deliveries (webhook, id, body, posted_at, due_at, until)
                       VALUES ($1, $2, $3, $4, $4, $5) ON CONFLICT DO NOTHING";
            let written = sqlx::query(sql)
                .bind(&delivery.webhook)
                .bind(&delivery.id)
                .bind(delivery.body.as_bytes())
                .bind(delivery.at)
                .bind(delivery.until)
                .execute(&mut *connection)
                .await?;
            *waiting += written.rows_affected();
            posted.new += usize::from(written.rows_affected() == 1);
            continue;
        }
        let sql = "SELECT EXISTS (SELECT 1 FROM webhook_deliveries WHERE webhook = $1 AND id = $2)";
        let known = sqlx::query(sql).bind(&delivery.webhook).bind(&delivery.id);
        if !known.fetch_one(&mut *connection).await?.try_get::<bool, _>(0)? {
            posted.full += 1;
        }
    }
    Ok(posted)
}

impl Outbox for PgStore {
    fn post(&self, deliveries: Vec<NewDelivery>) -> Later<Result<PostedDeliveries, OutboxError>> {
        let pool = self.pool();
        Box::pin(async move {
            let mut transaction = pool.ready().await.map_err(failed)?.begin().await.map_err(failed)?;
            let posted = post(&mut transaction, &deliveries).await.map_err(failed)?;
            transaction.commit().await.map_err(failed)?;
            Ok(posted)
        })
    }

    fn take(
        &self,
        webhook: &str,
        now: i64,
        until: i64,
        most: usize,
    ) -> Later<Result<Vec<Delivery>, OutboxError>> {
        let (pool, webhook) = (self.pool(), webhook.to_owned());
        Box::pin(async move {
            // What another server takes at this moment is left to it.
            let sql = "UPDATE webhook_deliveries taken SET due_at = $3, attempts = attempts + 1
                       FROM (SELECT id FROM webhook_deliveries
                             WHERE webhook = $1 AND ended_at IS NULL AND due_at <= $2
                             ORDER BY due_at, id LIMIT $4 FOR UPDATE SKIP LOCKED) due
                       WHERE taken.webhook = $1 AND taken.id = due.id
                       RETURNING taken.id, taken.body, taken.attempts, taken.until";
            let taken = sqlx::query(sql).bind(&webhook).bind(now).bind(until).bind(signed(most as u64));
            let taken = taken.fetch_all(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            let delivery = |row: &PgRow| {
                let body = String::from_utf8(row.try_get(1)?);
                Ok(Delivery {
                    webhook: webhook.clone(),
                    id: row.try_get(0)?,
                    body: body.map_err(|error| sqlx::Error::Decode(Box::new(error)))?,
                    attempt: u32::try_from(unsigned(row.try_get(2)?)).unwrap_or(u32::MAX),
                    until: row.try_get(3)?,
                })
            };
            taken.iter().map(delivery).collect::<Result<_, sqlx::Error>>().map_err(failed)
        })
    }

    fn settle(
        &self,
        delivery: &Delivery,
        now: i64,
        attempted: Attempted,
    ) -> Later<Result<bool, OutboxError>> {
        let (pool, delivery) = (self.pool(), delivery.clone());
        let (due_at, end, error) = match attempted {
            Attempted::Delivered => (None, Some("delivered"), None),
            Attempted::Again(at, why) => (Some(at), None, Some(why)),
            Attempted::GivenUp(why) => (None, Some("given_up"), Some(why)),
        };
        Box::pin(async move {
            let sql = "UPDATE webhook_deliveries
                       SET due_at = coalesce($4, due_at), ended_at = $5, \"end\" = $6, error = $7
                       WHERE webhook = $1 AND id = $2 AND attempts = $3 AND ended_at IS NULL";
            let settled = sqlx::query(sql)
                .bind(&delivery.webhook)
                .bind(&delivery.id)
                .bind(i64::from(delivery.attempt))
                .bind(due_at)
                .bind(end.map(|_| now))
                .bind(end)
                .bind(error.map(String::into_bytes));
            let settled = settled.execute(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            Ok(settled.rows_affected() == 1)
        })
    }

    fn due(&self, webhook: &str) -> Later<Result<Option<i64>, OutboxError>> {
        let (pool, webhook) = (self.pool(), webhook.to_owned());
        Box::pin(async move {
            let sql = "SELECT min(due_at) FROM webhook_deliveries WHERE webhook = $1 AND ended_at IS NULL";
            let due = sqlx::query(sql).bind(webhook);
            let due = due.fetch_one(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            due.try_get(0).map_err(failed)
        })
    }

    fn undelivered(&self) -> Later<Result<Vec<Undelivered>, OutboxError>> {
        let pool = self.pool();
        Box::pin(async move {
            let sql = "SELECT webhook, count(*), min(posted_at) FROM webhook_deliveries
                       WHERE ended_at IS NULL GROUP BY webhook ORDER BY webhook";
            let found = sqlx::query(sql).fetch_all(pool.ready().await.map_err(failed)?).await;
            let row = |row: &PgRow| {
                Ok(Undelivered {
                    webhook: row.try_get(0)?,
                    count: unsigned(row.try_get(1)?),
                    oldest: row.try_get(2)?,
                })
            };
            found.map_err(failed)?.iter().map(row).collect::<Result<_, sqlx::Error>>().map_err(failed)
        })
    }
}
