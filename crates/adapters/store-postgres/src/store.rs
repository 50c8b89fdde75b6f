//! The store: each method of the port is one transaction, or one statement that sees one moment.

use crate::error::{Stop, of_commit, other};
use crate::leases::Taking;
use crate::listen::{AGAIN, Listening};
use crate::outage::{IsCommitted, Outage};
use crate::{events, leases, outputs, schema};
use abide_engine::port::{
    Appended, Extent, HeadPlace, Holder, Lease, NewEvent, OutputKey, Standing, Store, StoreError, Stored,
    StreamHead, Taken,
};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection as _, PgPool, Postgres, Transaction};
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::Instant;

/// How much is read at once.
const EVENTS_AT_ONCE: u64 = 1_000;
const BYTES_AT_ONCE: u64 = 1024 * 1024;

/// How long a connection that nobody uses is taken to be as it was.
const FRESH: Duration = Duration::from_millis(100);

/// How soon something is read again at first.
const SHORTEST: Duration = Duration::from_millis(10);

/// Tells the time, in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> i64 + Send + Sync>;

/// How a database is used.
#[derive(Clone)]
pub struct Settings {
    /// Tells the time of events.
    pub clock: Clock,
    /// How many connections there are at most, beside the one that listens.
    pub connections: u32,
    /// How long a free connection is waited for.
    pub patience: Duration,
    /// How long what a driver writes waits for a database that has gone away, as when it is started anew or another one takes its
    /// place. What is under way goes on meanwhile, and nobody can take it over.
    pub outage: Duration,
}

impl Settings {
    /// Returns the usual settings.
    pub fn new(clock: impl Fn() -> i64 + Send + Sync + 'static) -> Self {
        Self {
            clock: Arc::new(clock),
            connections: 16,
            patience: Duration::from_secs(5),
            outage: Duration::from_mins(1),
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Settings").field("connections", &self.connections).finish_non_exhaustive()
    }
}

/// The log in PostgreSQL.
///
/// It belongs to the runtime that it is first used in. Connections are made when they are needed.
pub struct PgStore {
    pool: Arc<Pool>,
    /// The database, without what opens it.
    place: String,
    settings: Settings,
    listening: Arc<OnceLock<Listening>>,
    /// What its streams are: runs, or sessions.
    family: &'static str,
}

/// The streams of runs, and those of sessions, which are listed and counted apart.
const RUNS: &str = "runs";
const SESSIONS: &str = "sessions";

/// The connections, and whether the tables are there.
pub(crate) struct Pool {
    connections: PgPool,
    place: String,
    migrated: OnceCell<()>,
}

impl Pool {
    /// Returns the connections, once the tables are there.
    pub(crate) async fn ready(&self) -> Result<&PgPool, StoreError> {
        self.migrated.get_or_try_init(|| schema::migrate(&self.connections, &self.place)).await?;
        Ok(&self.connections)
    }
}

/// Whether a commit must be on the disk before it returns.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// It must: an event.
    Log,
    /// It need not: what a power cut undoes, it has also ended the writer of.
    Beside,
}

impl PgStore {
    /// Prepares the log in a database, given as `postgres://…`; nothing is connected yet.
    pub fn new(url: &str, settings: Settings) -> Result<Self, StoreError> {
        const ADDRESS: &str = "the address of the database";
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(other(ADDRESS, "it must begin with postgres://"));
        }
        let options: PgConnectOptions = url.parse().map_err(|error| other(ADDRESS, format!("{error}")))?;
        let place = format!(
            "postgres://{}:{}/{}",
            options.get_host(),
            options.get_port(),
            options.get_database().unwrap_or_default()
        );
        let pool = PgPoolOptions::new()
            .max_connections(settings.connections.saturating_add(1))
            .acquire_timeout(settings.patience)
            // Whether a connection still works costs a round trip to find out: one that was used a moment ago is taken as it is.
            .test_before_acquire(false)
            .before_acquire(|connection, about| {
                Box::pin(async move {
                    if about.idle_for > FRESH {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(options);
        let pool = Arc::new(Pool { connections: pool, place: place.clone(), migrated: OnceCell::new() });
        Ok(Self { pool, place, settings, listening: Arc::default(), family: RUNS })
    }

    /// Returns the logs of sessions in the same database; they share the connections.
    #[must_use]
    pub fn sessions(&self) -> Self {
        Self {
            pool: Arc::clone(&self.pool),
            place: self.place.clone(),
            settings: self.settings.clone(),
            listening: Arc::clone(&self.listening),
            family: SESSIONS,
        }
    }

    /// Tells the time, in milliseconds since 1970.
    pub(crate) fn now(&self) -> i64 {
        (self.settings.clock)()
    }

    /// Returns what hears of changes; it begins when it is first needed.
    pub(crate) fn listening(&self) -> &Listening {
        self.listening.get_or_init(|| Listening::start(self.pool.connections.clone()))
    }

    /// Returns which database it is, without what opens it.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Connects, and brings the tables to the present version.
    pub async fn connect(&self) -> Result<(), StoreError> {
        self.ready().await.map(|_| ())
    }

    pub(crate) async fn ready(&self) -> Result<&PgPool, StoreError> {
        self.pool.ready().await
    }

    /// Returns the connections, for what outlives a borrow of the store.
    pub(crate) fn pool(&self) -> Arc<Pool> {
        Arc::clone(&self.pool)
    }

    /// Begins a transaction that holds a stream; dropping it undoes what was done in it.
    pub(crate) async fn hold(
        &self,
        stream: &str,
        reach: Reach,
    ) -> Result<Transaction<'static, Postgres>, StoreError> {
        let pool = self.ready().await?;
        let failed = |stop: Stop| stop.of_write(&self.place);
        let mut transaction = pool.begin().await.map_err(|error| failed(error.into()))?;
        if reach == Reach::Beside {
            let relaxed = sqlx::query("SET LOCAL synchronous_commit = off").execute(&mut *transaction).await;
            relaxed.map_err(|error| failed(error.into()))?;
        }
        if events::hold(&mut transaction, stream).await.map_err(failed)? {
            // Nothing is decided by what it shows: a lease or an event that is not there yet would count as lost.
            let reason = "it is a stand-by, which only reads".to_owned();
            return Err(StoreError::Unwritable { place: self.place.clone(), reason });
        }
        Ok(transaction)
    }

    /// Commits what was done, if it was.
    pub(crate) async fn commit<T>(
        &self,
        transaction: Transaction<'static, Postgres>,
        done: Result<T, Stop>,
    ) -> Result<T, StoreError> {
        let done = done.map_err(|stop| stop.of_write(&self.place))?;
        transaction.commit().await.map_err(|error| of_commit(&self.place, error))?;
        Ok(done)
    }

    /// Reads, and again for a moment where a connection broke or the database is not back yet: that says nothing about what is read.
    async fn patient<T, R>(&self, mut read: impl FnMut() -> R) -> Result<T, StoreError>
    where
        R: Future<Output = Result<T, Stop>>,
    {
        let ends = Instant::now() + self.settings.patience;
        let mut pause = SHORTEST;
        loop {
            match read().await {
                Err(stop) if stop.is_passing() && Instant::now() + pause < ends => {
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(AGAIN);
                }
                read => return read.map_err(|stop| stop.of_read(&self.place)),
            }
        }
    }

    fn one_line(&self, what: &str, text: &str) -> Result<(), StoreError> {
        if text.contains('\n') {
            return Err(other(&self.place, format!("the {what} {text:?} must not have a line end")));
        }
        Ok(())
    }
}

impl Store for PgStore {
    async fn append(
        &self,
        stream: &str,
        expected: u64,
        lease: Option<&Lease>,
        events: Vec<NewEvent>,
        summary: String,
    ) -> Result<Appended, StoreError> {
        self.one_line("stream", stream)?;
        events.iter().try_for_each(|event| self.one_line("kind", &event.kind))?;
        // Who has a lease is a driver: it has something under way, which would be lost with it.
        let outage = Outage::of(if lease.is_some() { self.settings.outage } else { self.settings.patience });
        let mut perhaps: Option<Appended> = None;
        loop {
            let now = (self.settings.clock)();
            let asked = events::Append {
                family: self.family,
                stream,
                expected,
                lease,
                events: &events,
                summary: &summary,
            };
            let (written, error) = match self.try_append(now, &asked).await {
                (_, Ok(appended)) => return Ok(appended),
                (written, Err(error)) => (written, error),
            };
            // Events where these should go may be these: the connection broke before anybody heard that they were written. The hash
            // tells, which has the time in it.
            if let (StoreError::Conflict { .. }, Some(earlier)) = (&error, &perhaps)
                && self.is_there(stream, earlier, &outage).await?
            {
                return Ok(earlier.clone());
            }
            if !outage.goes_on(&error, IsCommitted::of(written.as_ref())).await {
                return Err(error);
            }
            perhaps = written.or(perhaps);
        }
    }

    async fn read(&self, stream: &str, positions: Range<u64>) -> Result<Vec<Stored>, StoreError> {
        let pool = self.ready().await?;
        let mut all = Vec::new();
        let mut start = positions.start.max(1);
        loop {
            let end = positions.end.min(start.saturating_add(EVENTS_AT_ONCE));
            let some = self.patient(|| events::read(pool, self.family, stream, start..end)).await?;
            let read = some.len() as u64;
            all.extend(some);
            if read < EVENTS_AT_ONCE {
                return Ok(all);
            }
            start += read;
        }
    }

    async fn head(&self, stream: &str) -> Result<Option<StreamHead>, StoreError> {
        let pool = self.ready().await?;
        self.patient(|| events::head(pool, self.family, stream)).await
    }

    async fn heads(&self, after: Option<&HeadPlace>, most: usize) -> Result<Vec<StreamHead>, StoreError> {
        events::heads(self.ready().await?, self.family, after, most)
            .await
            .map_err(|stop| stop.of_read(&self.place))
    }

    async fn extent(&self) -> Result<Extent, StoreError> {
        events::extent(self.ready().await?, self.family).await.map_err(|stop| stop.of_read(&self.place))
    }

    async fn forget(&self, stream: &str) -> Result<(), StoreError> {
        let mut held = self.hold(stream, Reach::Log).await?;
        let done = events::forget(&mut held, stream).await;
        self.commit(held, done).await
    }

    async fn save_snapshot(&self, stream: &str, seq: u64, data: String) -> Result<(), StoreError> {
        let mut held = self.hold(stream, Reach::Beside).await?;
        let done = events::save_snapshot(&mut held, stream, seq, data).await;
        self.commit(held, done).await
    }

    async fn snapshot(&self, stream: &str) -> Result<Option<(u64, String)>, StoreError> {
        let pool = self.ready().await?;
        self.patient(|| events::snapshot(pool, stream)).await
    }

    async fn write_output(&self, key: &OutputKey, bytes: Vec<u8>) -> Result<(), StoreError> {
        let outage = Outage::of(self.settings.outage);
        let mut perhaps: Option<i64> = None;
        loop {
            let (end, error) = match self.try_output(key, &bytes, perhaps).await {
                (_, Ok(())) => return Ok(()),
                (end, Err(error)) => (end, error),
            };
            if !outage.goes_on(&error, IsCommitted::of(end.as_ref())).await {
                return Err(error);
            }
            perhaps = end.or(perhaps);
        }
    }

    async fn read_output(&self, key: &OutputKey, range: Range<u64>) -> Result<Vec<u8>, StoreError> {
        let pool = self.ready().await?;
        let mut bytes = Vec::new();
        let mut start = range.start;
        loop {
            let end = range.end.min(start.saturating_add(BYTES_AT_ONCE));
            let some = outputs::read(pool, &self.place, key, start..end).await;
            let some = some.map_err(|stop| stop.of_read(&self.place))?;
            let read = some.len() as u64;
            bytes.extend(some);
            if read < BYTES_AT_ONCE {
                return Ok(bytes);
            }
            start += read;
        }
    }

    async fn lease(
        &self,
        stream: &str,
        holder: &Holder,
        now: i64,
        until: i64,
        is_dead: &(dyn Fn(&Holder) -> bool + Send + Sync),
    ) -> Result<Lease, StoreError> {
        let mut dead: Option<Lease> = None;
        loop {
            let asked = Taking { stream, holder, now, until, dead: dead.as_ref() };
            let mut held = self.hold(stream, Reach::Beside).await?;
            let done = leases::take(&mut held, &asked).await;
            match self.commit(held, done).await? {
                Taken::Yes(lease) => return Ok(lease),
                Taken::HeldBy(lease) if is_dead(&lease.holder) => dead = Some(lease),
                Taken::HeldBy(lease) => {
                    return Err(StoreError::Held { stream: stream.to_owned(), holder: lease.holder.name });
                }
            }
        }
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let mut held = self.hold(&lease.stream, Reach::Beside).await?;
        let done = leases::release(&mut held, lease).await;
        self.commit(held, done).await
    }

    async fn standings(&self, streams: &[String]) -> Result<Vec<Standing>, StoreError> {
        let pool = self.ready().await?;
        leases::standings(pool, streams).await.map_err(|stop| stop.of_read(&self.place))
    }

    async fn changed(&self, stream: &str, seq: u64) -> Result<(), StoreError> {
        let pool = self.ready().await?;
        let woken = self.listening().follow(stream).await;
        loop {
            let mut next = std::pin::pin!(woken.notified());
            // What happens between the look and the waiting is heard.
            next.as_mut().enable();
            let length = match events::length(pool, stream).await {
                Ok(length) => length,
                // Nothing changes in a database that is away; whoever waits goes on waiting.
                Err(stop) if stop.is_passing() => {
                    tokio::time::sleep(AGAIN).await;
                    continue;
                }
                Err(stop) => return Err(stop.of_read(&self.place)),
            };
            // A stream that is gone has been forgotten: whoever follows it should look.
            if length.unwrap_or(0) > seq || (length.is_none() && seq > 0) {
                return Ok(());
            }
            let _ = tokio::time::timeout(self.listening().patience(), next).await;
        }
    }
}

impl fmt::Debug for PgStore {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PgStore").field("place", &self.place).finish_non_exhaustive()
    }
}
