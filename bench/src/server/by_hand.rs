//! The SQL of a change by hand: the same statements in the same transactions, in a file of the same tables, by one program that does
//! nothing else.

use abide_store_sqlite::SqliteRegistry;
use nix::time::{ClockId, clock_gettime};
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use std::path::Path;
use std::time::{Duration, Instant};

/// What is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    Agent,
    Session,
    Message,
}

/// What the audit says of an agent or a session, and a hash.
const AUDITED: &str = r#"{"by":"bench","detail":{"capabilities":["current_time"],"name":"Agent 1"},"request":"00000000-0000-7000-8000-000000000000","subject":"00000000-0000-7000-8000-000000000000"}"#;
const HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";
const NOW: i64 = 1_700_000_000_000;
/// How many sessions messages are said to.
pub(super) const SESSIONS: usize = 50;

/// What it took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Took {
    pub(super) wall: Duration,
    pub(super) cpu: Duration,
}

impl Took {
    pub(super) fn least(known: Option<Self>, other: Self) -> Self {
        known.map_or(other, |known| Self { wall: known.wall.min(other.wall), cpu: known.cpu.min(other.cpu) })
    }
}

/// Makes so many, and some before them that are not counted.
pub(super) fn make(folder: &Path, made: Made, count: usize) -> anyhow::Result<Took> {
    let file = folder.join("server.db");
    // It makes the tables.
    drop(SqliteRegistry::open(&file)?);
    let mut connection = Connection::open(&file)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let one = match made {
        Made::Agent => agent,
        Made::Session => session,
        Made::Message => message,
    };
    if made == Made::Message {
        for number in 0..SESSIONS {
            within(&mut connection, number, session)?;
        }
    }
    for number in 0..count / 10 {
        within(&mut connection, count + number, one)?;
    }
    let (before, began) = (cpu()?, Instant::now());
    for number in 0..count {
        within(&mut connection, 2 * count + number, one)?;
    }
    Ok(Took { wall: began.elapsed(), cpu: cpu()?.saturating_sub(before) })
}

/// Returns how long this process has been on any core.
fn cpu() -> anyhow::Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?.into())
}

fn within(
    connection: &mut Connection,
    number: usize,
    work: fn(&Connection, usize) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    work(&transaction, number)?;
    Ok(transaction.commit()?)
}

fn id(number: usize) -> String {
    format!("00000000-0000-7000-8000-{number:012}")
}

fn agent(connection: &Connection, number: usize) -> anyhow::Result<()> {
    let id = id(number);
    connection
        .prepare_cached(
            "INSERT INTO agents (id, name, description, system_prompt, model, status, created_at, updated_at, version)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 1)",
        )?
        .execute(params![id, format!("Agent {number}"), None::<String>, format!("You are number {number}."), None::<String>, "active", NOW])?;
    connection
        .prepare_cached(
            "INSERT INTO agent_capabilities (agent_id, capability_id, position, created_at, configuration)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![id, "current_time", 0, NOW, None::<String>])?;
    note(connection, "createAgent")
}

fn session(connection: &Connection, number: usize) -> anyhow::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO sessions (id, agent, title, owner, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5)",
        )?
        .execute(params![id(number), id(0), format!("Session {number}"), "bench", NOW])?;
    note(connection, "createSession")
}

fn message(connection: &Connection, number: usize) -> anyhow::Result<()> {
    let session = id(number % SESSIONS);
    connection
        .prepare_cached("SELECT count(*) FROM session_messages WHERE session = ?1 AND status IS NULL")?
        .query_row([&session], |row| row.get::<_, i64>(0))?;
    let place: i64 = connection
        .prepare_cached(
            "UPDATE sessions SET messages = messages + 1, updated_at = max(updated_at, ?2)
             WHERE id = ?1 AND NOT is_removed RETURNING messages",
        )?
        .query_row(params![session, NOW], |row| row.get(0))?;
    connection
        .prepare_cached(
            "INSERT INTO session_messages (id, session, number, text, owner, when_busy, once, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            id(number),
            session,
            place,
            format!("This is number {number}."),
            "bench",
            "queue",
            None::<String>,
            NOW
        ])?;
    Ok(())
}

/// Notes in the audit who made it: in the same transaction, behind the last note.
fn note(connection: &Connection, kind: &str) -> anyhow::Result<()> {
    let last: Option<i64> = connection
        .prepare_cached("SELECT seq, hash, at FROM audit ORDER BY seq DESC LIMIT 1")?
        .query_row((), |row| row.get(0))
        .optional()?;
    connection
        .prepare_cached(
            "INSERT INTO audit (seq, at, kind, data, prev_hash, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![last.unwrap_or(0) + 1, NOW, kind, AUDITED, HASH, HASH])?;
    Ok(())
}
