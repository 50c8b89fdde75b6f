//! What is made: beside the same SQL in the same transactions, by hand, in a file of the same tables.

use super::{Extent, Served, key, project, verdict};
use abide_store_sqlite::SqliteRegistry;
use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};
use std::path::Path;
use std::time::{Duration, Instant};

/// How many times as long as the SQL alone a request may take, one after the other.
const MOST: f64 = 1.3;

/// What the audit says of an agent, and a hash.
const AUDITED: &str = r#"{"by":"bench","subject":"00000000-0000-7000-8000-000000000000","request":"00000000-0000-7000-8000-000000000000","detail":{"name":"Agent 1","capabilities":["current_time"]}}"#;
const HASH: &str = "0000000000000000000000000000000000000000000000000000000000000000";

pub(super) fn run(extent: Extent) -> anyhow::Result<bool> {
    let (mut ours, mut least): (Option<(Duration, Duration)>, Option<Duration>) = (None, None);
    for _ in 0..extent.rounds {
        let (one, other) = (project()?, project()?);
        let key = key(one.path())?;
        let served = Served::abide(one.path(), &[])?;
        let caller = served.caller_with(&key);
        let ask = |number: usize| {
            let body = format!(
                r#"{{"name": "Agent {number}", "system_prompt": "You are number {number}.", "capabilities": ["current_time"]}}"#
            );
            ("POST", "/v1/agents".to_owned(), body)
        };
        caller.ask(1, extent.changes / 10, &ask)?;
        let before = served.cpu()?;
        let wall = caller.ask(1, extent.changes, &ask)?;
        let cost = (wall, served.cpu()?.saturating_sub(before));
        ours = Some(ours.map_or(cost, |known| (known.0.min(cost.0), known.1.min(cost.1))));
        let alone = by_hand(other.path(), extent.changes)?;
        least = Some(least.map_or(alone, |known| known.min(alone)));
    }
    let (Some((wall, cpu)), Some(alone)) = (ours, least) else { return Ok(true) };
    #[expect(clippy::cast_precision_loss, reason = "a number of changes")]
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / extent.changes as f64;
    println!("\nPOST, one after the other, µs each");
    println!("agents         abide     {:>8.1} ({:.1} of CPU)", micros(wall), micros(cpu));
    println!("               SQL alone {:>8.1}", micros(alone));
    Ok(verdict("time to make an agent", wall.as_secs_f64() / alone.as_secs_f64(), MOST))
}

/// Makes agents as the server does, and nothing else.
fn by_hand(folder: &Path, count: usize) -> anyhow::Result<Duration> {
    let file = folder.join("server.db");
    // It makes the tables.
    drop(SqliteRegistry::open(&file)?);
    let mut connection = Connection::open(&file)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let mut make = |number: usize| -> anyhow::Result<()> {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (id, now) = (format!("00000000-0000-7000-8000-{number:012}"), 1_700_000_000_000_i64);
        transaction
            .prepare_cached(
                "INSERT INTO agents (id, name, description, system_prompt, model, status, created_at, updated_at, version)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, 1)",
            )?
            .execute(params![id, format!("Agent {number}"), None::<String>, format!("You are number {number}."), None::<String>, "active", now])?;
        transaction
            .prepare_cached("INSERT INTO agent_capabilities (agent_id, capability_id, position, created_at) VALUES (?1, ?2, ?3, ?4)")?
            .execute(params![id, "current_time", 0, now])?;
        // Who made it stands in the audit, in the same transaction.
        let last: Option<i64> = transaction
            .prepare_cached("SELECT seq, hash, at FROM audit ORDER BY seq DESC LIMIT 1")?
            .query_row((), |row| row.get(0))
            .optional()?;
        transaction
            .prepare_cached(
                "INSERT INTO audit (seq, at, kind, data, prev_hash, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            )?
            .execute(params![last.unwrap_or(0) + 1, now, "createAgent", AUDITED, HASH, HASH])?;
        Ok(transaction.commit()?)
    };
    for number in 0..count / 10 {
        make(number)?;
    }
    let began = Instant::now();
    for number in 0..count {
        make(count + number)?;
    }
    Ok(began.elapsed())
}
