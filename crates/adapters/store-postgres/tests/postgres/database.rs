//! A schema of its own in a real database, gone when the test is.

use abide_engine::port::link;
use abide_store_postgres::{PgStore, Settings};
use abide_testkit::ManualClock;
use abide_testkit::store::{Subject, Tampering};
use sqlx::{Connection as _, PgConnection, Row as _};
use std::sync::atomic::{AtomicU32, Ordering};

static MADE: AtomicU32 = AtomicU32::new(0);

/// Returns where the database is.
#[expect(clippy::disallowed_methods, reason = "whoever runs the tests says where the database is")]
fn server() -> String {
    std::env::var("ABIDE_POSTGRES").expect("ABIDE_POSTGRES is set to postgres://…: `./test postgres` does it")
}

pub(crate) struct PgSubject {
    schema: String,
    clock: ManualClock,
}

impl PgSubject {
    pub(crate) fn new(clock: ManualClock) -> Self {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let schema = format!("abide_test_{}_{number}", std::process::id());
        alone(async |connection| {
            sqlx::raw_sql(sqlx::AssertSqlSafe(format!("CREATE SCHEMA {schema}")))
                .execute(connection)
                .await
                .unwrap();
        });
        Self { schema, clock }
    }

    pub(crate) fn url(&self) -> String {
        let server = server();
        let and = if server.contains('?') { '&' } else { '?' };
        format!("{server}{and}options[search_path]={}", self.schema)
    }

    pub(crate) fn settings(&self) -> Settings {
        let clock = self.clock.clone();
        Settings { connections: 4, ..Settings::new(move || clock.now()) }
    }

    /// Does something to the tables without the store.
    pub(crate) fn by_hand(&self, work: impl AsyncFnOnce(&mut PgConnection)) {
        let schema = &self.schema;
        alone(async |connection| {
            let path = sqlx::AssertSqlSafe(format!("SET search_path TO {schema}"));
            sqlx::raw_sql(path).execute(&mut *connection).await.unwrap();
            work(connection).await;
        });
    }
}

/// Does something on a connection of its own, outside of any runtime.
pub(crate) fn alone(work: impl AsyncFnOnce(&mut PgConnection)) {
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut connection = PgConnection::connect(&server()).await.unwrap();
            work(&mut connection).await;
            connection.close().await.unwrap();
        });
    };
    // A runtime cannot be waited for inside of another one.
    if tokio::runtime::Handle::try_current().is_ok() { tokio::task::block_in_place(work) } else { work() }
}

impl Drop for PgSubject {
    fn drop(&mut self) {
        let drop = sqlx::AssertSqlSafe(format!("DROP SCHEMA {} CASCADE", self.schema));
        alone(async |connection| {
            sqlx::raw_sql(drop).execute(connection).await.unwrap();
        });
    }
}

impl Subject for PgSubject {
    type Store = PgStore;

    fn open(&self) -> PgStore {
        PgStore::new(&self.url(), self.settings()).unwrap()
    }

    fn tamper(&self, tampering: &Tampering<'_>) {
        self.by_hand(async |connection| {
            let seq = |seq: u64| i64::try_from(seq).unwrap();
            let changed = match *tampering {
                Tampering::Edit { stream, seq: at, data } => {
                    sqlx::query("UPDATE events SET data = $3 WHERE stream = $1 AND seq = $2")
                        .bind(stream)
                        .bind(seq(at))
                        .bind(data.as_bytes())
                        .execute(connection)
                        .await
                }
                Tampering::Rewrite { stream, seq: position, data } => {
                    let row =
                        sqlx::query("SELECT at, kind, prev_hash FROM events WHERE stream = $1 AND seq = $2")
                            .bind(stream)
                            .bind(seq(position))
                            .fetch_one(&mut *connection)
                            .await
                            .unwrap();
                    let kind = String::from_utf8(row.get(1)).unwrap();
                    let hash = link(&row.get::<String, _>(2), stream, position, row.get(0), &kind, data);
                    sqlx::query("UPDATE events SET data = $3, hash = $4 WHERE stream = $1 AND seq = $2")
                        .bind(stream)
                        .bind(seq(position))
                        .bind(data.as_bytes())
                        .bind(hash)
                        .execute(connection)
                        .await
                }
                Tampering::Remove { stream, seq: at } => {
                    sqlx::query("DELETE FROM events WHERE stream = $1 AND seq = $2")
                        .bind(stream)
                        .bind(seq(at))
                        .execute(connection)
                        .await
                }
                Tampering::Add { stream, seq: at } => {
                    sqlx::query(
                        "INSERT INTO events (stream, seq, at, kind, data, prev_hash, hash)
                         SELECT stream, $2, at, kind, data, prev_hash, hash FROM events
                         WHERE stream = $1 ORDER BY seq DESC LIMIT 1",
                    )
                    .bind(stream)
                    .bind(seq(at))
                    .execute(connection)
                    .await
                }
            };
            assert_eq!(changed.unwrap().rows_affected(), 1);
        });
    }
}
