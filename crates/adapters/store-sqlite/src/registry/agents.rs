//! Agents and their capabilities, in the tables of the specification.

use super::SqliteRegistry;
use abide_engine::port::{AgentRow, AgentStatus, Agents, AgentsError, Later};
use rusqlite::{OptionalExtension as _, Row, Transaction, TransactionBehavior, params};

/// Why something was not done.
enum Problem {
    Agents(AgentsError),
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

fn later<T: Send + 'static>(done: Result<T, Problem>) -> Later<Result<T, AgentsError>> {
    let done = done.map_err(|problem| match problem {
        Problem::Agents(error) => error,
        Problem::Sqlite(error) => AgentsError::Unreachable(error.to_string()),
    });
    Box::pin(std::future::ready(done))
}

/// Reads agents with their capabilities in one statement, which sees one moment and needs no transaction around it.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, description, system_prompt, model, status, created_at, updated_at, version,
                (SELECT group_concat(capability_id, char(10)) FROM
                    (SELECT capability_id FROM agent_capabilities WHERE agent_id = agents.id ORDER BY position))
             FROM agents ",
            $rest
        )
    };
}

fn row(row: &Row<'_>) -> Result<AgentRow, rusqlite::Error> {
    // No id of a capability has a line end in it.
    let capabilities = match row.get_ref(9)?.as_str_or_null().map_err(rusqlite::Error::from)? {
        Some(text) => text.split('\n').map(str::to_owned).collect(),
        None => Vec::new(),
    };
    let status = row.get_ref(5)?.as_str().map_err(rusqlite::Error::from)?;
    Ok(AgentRow {
        id: row.get(0)?,
        name: row.get(1)?,
        description: row.get(2)?,
        system_prompt: row.get(3)?,
        model: row.get(4)?,
        capabilities,
        // A status that this version does not know is none that it may use.
        status: AgentStatus::parse(status).unwrap_or(AgentStatus::Archived),
        created_at: row.get(6)?,
        updated_at: row.get(7)?,
        version: row.get(8)?,
    })
}

fn equip(transaction: &Transaction<'_>, agent: &AgentRow) -> Result<(), rusqlite::Error> {
    let sql = "INSERT INTO agent_capabilities (agent_id, capability_id, position, created_at) VALUES (?1, ?2, ?3, ?4)";
    let mut add = transaction.prepare_cached(sql)?;
    for (position, capability) in agent.capabilities.iter().enumerate() {
        add.execute(params![agent.id, capability, position, agent.updated_at])?;
    }
    Ok(())
}

impl Agents for SqliteRegistry {
    fn add(&self, agent: AgentRow) -> Later<Result<(), AgentsError>> {
        later(self.within(TransactionBehavior::Immediate, |transaction| {
            let sql = "INSERT INTO agents
                (id, name, description, system_prompt, model, status, created_at, updated_at, version)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1)";
            transaction.prepare_cached(sql)?.execute(params![
                agent.id,
                agent.name,
                agent.description,
                agent.system_prompt,
                agent.model,
                agent.status.word(),
                agent.created_at,
                agent.updated_at
            ])?;
            Ok(equip(transaction, &agent)?)
        }))
    }

    fn find(&self, id: &str) -> Later<Result<Option<AgentRow>, AgentsError>> {
        let sql = select!("WHERE id = ?1");
        later(self.look(|connection| Ok(connection.prepare_cached(sql)?.query_row([id], row).optional()?)))
    }

    fn list(
        &self,
        after: Option<&str>,
        status: Option<AgentStatus>,
        most: usize,
    ) -> Later<Result<Vec<AgentRow>, AgentsError>> {
        later(self.look(|connection| {
            let sql = select!("WHERE id > ?1 AND (?2 IS NULL OR status = ?2) ORDER BY id LIMIT ?3");
            let mut found = connection.prepare_cached(sql)?;
            let status = status.map(AgentStatus::word);
            let rows = found.query_map(params![after.unwrap_or(""), status, most], row)?;
            Ok(rows.collect::<Result<_, _>>()?)
        }))
    }

    fn replace(&self, agent: AgentRow) -> Later<Result<u64, AgentsError>> {
        later(self.within(TransactionBehavior::Immediate, |transaction| {
            let found: Option<u64> = transaction
                .query_row("SELECT version FROM agents WHERE id = ?1", [&agent.id], |row| row.get(0))
                .optional()?;
            let found = found.ok_or_else(|| Problem::Agents(AgentsError::Missing(agent.id.clone())))?;
            if found != agent.version {
                return Err(Problem::Agents(AgentsError::Changed { expected: agent.version, found }));
            }
            let sql =
                "UPDATE agents SET name = ?2, description = ?3, system_prompt = ?4, model = ?5, status = ?6,
                       updated_at = ?7, version = version + 1 WHERE id = ?1";
            transaction.execute(
                sql,
                params![
                    agent.id,
                    agent.name,
                    agent.description,
                    agent.system_prompt,
                    agent.model,
                    agent.status.word(),
                    agent.updated_at
                ],
            )?;
            transaction.execute("DELETE FROM agent_capabilities WHERE agent_id = ?1", [&agent.id])?;
            equip(transaction, &agent)?;
            Ok(found + 1)
        }))
    }
}
