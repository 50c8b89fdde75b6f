//! Agents and their capabilities, in the tables of the specification.

use crate::PgStore;
use abide_engine::capability::Choice;
use abide_engine::port::{AgentRow, AgentStatus, Agents, AgentsError, Later};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row as _};

fn failed(error: impl std::error::Error) -> AgentsError {
    AgentsError::Unreachable(error.to_string())
}

const SELECT: &str = "SELECT agents.id::text AS id, name, description, system_prompt, model, status,
    (extract(epoch FROM created_at) * 1000)::bigint AS created_at,
    (extract(epoch FROM updated_at) * 1000)::bigint AS updated_at, version,
    ARRAY(SELECT capability_id || coalesce(' ' || configuration::text, '') FROM agent_capabilities WHERE agent_id = agents.id ORDER BY position) AS capabilities
    FROM agents";

/// Reads an id, in which there is no space, and behind one what is configured.
fn choice(text: &str) -> Result<Choice, sqlx::Error> {
    let Some((id, configuration)) = text.split_once(' ') else { return Ok(Choice::of(text)) };
    let configuration =
        serde_json::from_str(configuration).map_err(|error| sqlx::Error::Decode(error.into()))?;
    Ok(Choice { id: id.to_owned(), configuration: Some(configuration) })
}

fn agent(row: &PgRow) -> Result<AgentRow, sqlx::Error> {
    let status: String = row.try_get("status")?;
    let version: i64 = row.try_get("version")?;
    let capabilities: Vec<String> = row.try_get("capabilities")?;
    Ok(AgentRow {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        description: row.try_get("description")?,
        system_prompt: row.try_get("system_prompt")?,
        model: row.try_get("model")?,
        capabilities: capabilities.iter().map(|text| choice(text)).collect::<Result<_, _>>()?,
        // A status that this version does not know is none that it may use.
        status: AgentStatus::parse(&status).unwrap_or(AgentStatus::Archived),
        created_at: row.try_get("created_at")?,
        updated_at: row.try_get("updated_at")?,
        version: u64::try_from(version).unwrap_or(0),
    })
}

async fn equip(connection: &mut PgConnection, agent: &AgentRow) -> Result<(), sqlx::Error> {
    for (position, capability) in (0_i32..).zip(&agent.capabilities) {
        let sql = "INSERT INTO agent_capabilities (agent_id, capability_id, position, configuration)
                   VALUES ($1::uuid, $2, $3, $4::json)";
        sqlx::query(sql)
            .bind(&agent.id)
            .bind(&capability.id)
            .bind(position)
            .bind(capability.configuration.as_ref().map(Value::to_string))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

async fn add(connection: &mut PgConnection, agent: &AgentRow) -> Result<(), sqlx::Error> {
    let sql = "INSERT INTO agents (id, name, description, system_prompt, model, status, created_at, updated_at)
               VALUES ($1::uuid, $2, $3, $4, $5, $6, to_timestamp($7::bigint / 1000.0), to_timestamp($8::bigint / 1000.0))";
    sqlx::query(sql)
        .bind(&agent.id)
        .bind(&agent.name)
        .bind(&agent.description)
        .bind(&agent.system_prompt)
        .bind(&agent.model)
        .bind(agent.status.word())
        .bind(agent.created_at)
        .bind(agent.updated_at)
        .execute(&mut *connection)
        .await?;
    equip(connection, agent).await
}

/// Replaces an agent; the answer is the version that there is if it is another one, or nothing if there is none.
async fn replace(
    connection: &mut PgConnection,
    agent: &AgentRow,
) -> Result<Option<Result<u64, u64>>, sqlx::Error> {
    let found = sqlx::query("SELECT version FROM agents WHERE id = $1::uuid FOR UPDATE").bind(&agent.id);
    let Some(found) = found.fetch_optional(&mut *connection).await? else { return Ok(None) };
    let found: i64 = found.try_get("version")?;
    let found = u64::try_from(found).unwrap_or(0);
    if found != agent.version {
        return Ok(Some(Err(found)));
    }
    let sql = "UPDATE agents SET name = $2, description = $3, system_prompt = $4, model = $5, status = $6,
               updated_at = to_timestamp($7::bigint / 1000.0), version = version + 1 WHERE id = $1::uuid";
    sqlx::query(sql)
        .bind(&agent.id)
        .bind(&agent.name)
        .bind(&agent.description)
        .bind(&agent.system_prompt)
        .bind(&agent.model)
        .bind(agent.status.word())
        .bind(agent.updated_at)
        .execute(&mut *connection)
        .await?;
    let gone = sqlx::query("DELETE FROM agent_capabilities WHERE agent_id = $1::uuid").bind(&agent.id);
    gone.execute(&mut *connection).await?;
    equip(connection, agent).await?;
    Ok(Some(Ok(found + 1)))
}

/// Returns whether a text could be an id: PostgreSQL would fail on another.
fn is_id(text: &str) -> bool {
    let hyphens = [8, 13, 18, 23];
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| {
            if hyphens.contains(&at) { byte == b'-' } else { matches!(byte, b'0'..=b'9' | b'a'..=b'f') }
        })
}

impl Agents for PgStore {
    fn add(&self, agent: AgentRow) -> Later<Result<(), AgentsError>> {
        let pool = self.pool();
        Box::pin(async move {
            let mut transaction = pool.ready().await.map_err(failed)?.begin().await.map_err(failed)?;
            add(&mut transaction, &agent).await.map_err(failed)?;
            crate::audit::commit(transaction).await.map_err(failed)
        })
    }

    fn find(&self, id: &str) -> Later<Result<Option<AgentRow>, AgentsError>> {
        let (pool, id) = (self.pool(), id.to_owned());
        Box::pin(async move {
            if !is_id(&id) {
                return Ok(None);
            }
            let sql = format!("{SELECT} WHERE agents.id = $1::uuid");
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id);
            let found = found.fetch_optional(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.as_ref().map(agent).transpose().map_err(failed)
        })
    }

    fn list(
        &self,
        after: Option<&str>,
        status: Option<AgentStatus>,
        most: usize,
    ) -> Later<Result<Vec<AgentRow>, AgentsError>> {
        let (pool, after) = (self.pool(), after.filter(|after| is_id(after)).map(str::to_owned));
        Box::pin(async move {
            let sql = format!(
                // Without an `OR`, so that a page begins where it begins, and not at the first agent.
                "{SELECT} WHERE agents.id > coalesce($1::uuid, '00000000-0000-0000-0000-000000000000') AND ($2::text IS NULL OR status = $2) ORDER BY agents.id LIMIT $3"
            );
            let found = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(after).bind(status.map(AgentStatus::word));
            let found = found.bind(i64::try_from(most).unwrap_or(i64::MAX));
            let found = found.fetch_all(pool.ready().await.map_err(failed)?).await.map_err(failed)?;
            found.iter().map(agent).collect::<Result<_, _>>().map_err(failed)
        })
    }

    fn replace(&self, agent: AgentRow) -> Later<Result<u64, AgentsError>> {
        let pool = self.pool();
        Box::pin(async move {
            if !is_id(&agent.id) {
                return Err(AgentsError::Missing(agent.id));
            }
            let mut transaction = pool.ready().await.map_err(failed)?.begin().await.map_err(failed)?;
            match replace(&mut transaction, &agent).await.map_err(failed)? {
                None => Err(AgentsError::Missing(agent.id)),
                Some(Err(found)) => Err(AgentsError::Changed { expected: agent.version, found }),
                Some(Ok(version)) => {
                    crate::audit::commit(transaction).await.map_err(failed)?;
                    Ok(version)
                }
            }
        })
    }
}
