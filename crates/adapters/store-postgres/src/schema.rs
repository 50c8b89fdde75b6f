//! What is in the database, and how an older one becomes a present one.
//!
//! Migrations go forward only; `abide_version` says how many a database has had.

use crate::error::{Stop, other, unreadable};
use abide_engine::port::StoreError;
use sqlx::{PgPool, Row as _};

/// Keeps two servers that start at once from migrating at once.
const LOCK: i64 = 0x6162_6465;

/// Each migration makes the next version. One that has been released is never changed.
///
/// Names are compared byte by byte (`COLLATE "C"`), as everywhere else in abide. Snapshots are beside their stream and
/// not in it: a row is rewritten as a whole with every append.
const MIGRATIONS: &[&str] = &[
    r#"
CREATE TABLE streams (
    stream     text   COLLATE "C" PRIMARY KEY,
    seq        bigint NOT NULL,
    hash       text   NOT NULL,
    created_at bigint NOT NULL,
    changed_at bigint NOT NULL,
    summary    bytea  NOT NULL
);
CREATE INDEX streams_by_change ON streams (changed_at, stream);

CREATE TABLE events (
    stream    text   COLLATE "C" NOT NULL,
    seq       bigint NOT NULL,
    at        bigint NOT NULL,
    kind      bytea  NOT NULL,
    data      bytea  NOT NULL,
    prev_hash text   NOT NULL,
    hash      text   NOT NULL,
    PRIMARY KEY (stream, seq)
);

CREATE TABLE snapshots (
    stream text   COLLATE "C" PRIMARY KEY,
    seq    bigint NOT NULL,
    data   bytea  NOT NULL
);

CREATE TABLE outputs (
    stream   text   COLLATE "C" NOT NULL,
    attempt  text   COLLATE "C" NOT NULL,
    channel  text   COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    bytes    bytea  NOT NULL,
    PRIMARY KEY (stream, attempt, channel, position)
);

CREATE TABLE leases (
    stream     text   COLLATE "C" PRIMARY KEY,
    holder     text,
    process    bigint NOT NULL,
    generation bigint NOT NULL,
    until      bigint NOT NULL
);

CREATE VIEW log AS
    SELECT stream, seq, to_timestamp(at / 1000.0) AS at, convert_from(kind, 'UTF8') AS kind, convert_from(data, 'UTF8') AS data
    FROM events;
"#,
    r#"
CREATE TABLE api_keys (
    id         text   COLLATE "C" PRIMARY KEY,
    name       text   NOT NULL,
    scopes     text   NOT NULL,
    digest     bytea  NOT NULL,
    created_at bigint NOT NULL,
    created_by text   NOT NULL,
    revoked_at bigint
);
CREATE INDEX api_keys_in_order ON api_keys (created_at, id);
"#,
    r#"
CREATE TABLE starts (
    run     text   COLLATE "C" PRIMARY KEY,
    owner   text   COLLATE "C" NOT NULL,
    once    text   COLLATE "C",
    digest  text   NOT NULL,
    at      bigint NOT NULL,
    is_over boolean NOT NULL DEFAULT false,
    UNIQUE (owner, once)
);
CREATE INDEX starts_open ON starts (at, run) WHERE NOT is_over;
"#,
    r"
-- PostgreSQL has it itself from version 18 on.
DO $do$ BEGIN
    IF to_regprocedure('uuidv7()') IS NULL THEN
        CREATE FUNCTION uuidv7() RETURNS uuid LANGUAGE sql VOLATILE AS $f$
            SELECT encode(
                set_bit(set_bit(
                    overlay(uuid_send(gen_random_uuid())
                        PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
                        FROM 1 FOR 6),
                    52, 1), 53, 1),
                'hex')::uuid
        $f$;
    END IF;
END $do$;

CREATE TABLE agents (
    id            UUID PRIMARY KEY DEFAULT uuidv7(),
    name          TEXT NOT NULL,
    description   TEXT,
    system_prompt TEXT NOT NULL,
    model         TEXT,
    status        VARCHAR(20) NOT NULL DEFAULT 'active',
    created_at    TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    updated_at    TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    version       BIGINT NOT NULL DEFAULT 1
);

CREATE TABLE agent_capabilities (
    id            UUID PRIMARY KEY DEFAULT uuidv7(),
    agent_id      UUID NOT NULL REFERENCES agents(id) ON DELETE CASCADE,
    -- Which ones there are is checked against the registry.
    capability_id VARCHAR(50) NOT NULL,
    position      INTEGER NOT NULL DEFAULT 0,
    created_at    TIMESTAMPTZ NOT NULL DEFAULT NOW(),
    UNIQUE(agent_id, capability_id)
);
CREATE INDEX idx_agent_capabilities_agent_id ON agent_capabilities(agent_id);
CREATE INDEX idx_agent_capabilities_position ON agent_capabilities(agent_id, position);
",
    crate::audit::TABLE,
    r#"
CREATE TABLE sessions (
    id         text   COLLATE "C" PRIMARY KEY,
    agent      text   COLLATE "C" NOT NULL,
    title      text,
    owner      text   COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    messages   bigint NOT NULL DEFAULT 0,
    is_removed boolean NOT NULL DEFAULT false
);
CREATE INDEX sessions_by_agent ON sessions (agent, id);
CREATE INDEX sessions_removed ON sessions (id) WHERE is_removed;

CREATE TABLE session_messages (
    id           text   COLLATE "C" PRIMARY KEY,
    session      text   COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    number       bigint NOT NULL,
    text         bytea  NOT NULL,
    owner        text   COLLATE "C" NOT NULL,
    when_busy    text   NOT NULL,
    once         text   COLLATE "C",
    cancelled_by text,
    created_at   bigint NOT NULL,
    status       text,
    answer       bytea,
    error        bytea,
    ended_at     bigint,
    UNIQUE (session, number),
    UNIQUE (session, owner, once)
);
CREATE INDEX session_messages_open ON session_messages (session, number) WHERE status IS NULL;

-- The logs of sessions are beside those of runs, and listed apart from them.
ALTER TABLE streams ADD COLUMN family text COLLATE "C" NOT NULL DEFAULT 'runs';
DROP INDEX streams_by_change;
CREATE INDEX streams_by_change ON streams (family, changed_at, stream);

-- `folder` is the path of the folder that an entry is in, so that a list is one range of an index. The root has no row.
CREATE TABLE session_files (
    session    text   COLLATE "C" NOT NULL,
    path       text   COLLATE "C" NOT NULL,
    folder     text   COLLATE "C" NOT NULL,
    size       bigint NOT NULL,
    readonly   boolean NOT NULL,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    bytes      bytea,
    PRIMARY KEY (session, path)
);
CREATE INDEX session_files_by_folder ON session_files (session, folder, path);
"#,
    crate::outbox::TABLE,
    crate::questions::TABLE,
    // What is configured for the agent. Of `json` the text is kept as it was written; `jsonb` takes no character zero.
    "
ALTER TABLE agent_capabilities ADD COLUMN configuration JSON;
",
];

/// Brings a database to the present version, in one transaction; another server may have been faster.
pub(crate) async fn migrate(pool: &PgPool, place: &str) -> Result<(), StoreError> {
    let failed = |error: sqlx::Error| Stop::from(error).of_write(place);
    let mut transaction = pool.begin().await.map_err(failed)?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)")
        .bind(LOCK)
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
    sqlx::query("CREATE TABLE IF NOT EXISTS abide_version (version integer NOT NULL)")
        .execute(&mut *transaction)
        .await
        .map_err(failed)?;
    let row = sqlx::query("SELECT max(version) AS version FROM abide_version")
        .fetch_one(&mut *transaction)
        .await
        .map_err(failed)?;
    let version: Option<i32> = row.try_get("version").map_err(failed)?;
    let (known, found) = (MIGRATIONS.len(), usize::try_from(version.unwrap_or(0)).unwrap_or(usize::MAX));
    if found > known {
        return Err(unreadable(
            place,
            format!("a newer abide has written it (format {found}, this one knows {known}); update abide"),
        ));
    }
    for (version, migration) in (1_i32..).zip(MIGRATIONS).skip(found) {
        sqlx::raw_sql(*migration).execute(&mut *transaction).await.map_err(|error| {
            if found == 0 {
                other(
                    place,
                    format!("the tables cannot be made: {error}; an empty database or schema is needed"),
                )
            } else {
                failed(error)
            }
        })?;
        sqlx::query("INSERT INTO abide_version (version) VALUES ($1)")
            .bind(version)
            .execute(&mut *transaction)
            .await
            .map_err(failed)?;
    }
    transaction.commit().await.map_err(failed)
}
