//! Agents and their capabilities, in the tables of the specification.

use super::{SqliteRegistry, Undone, Unreached};
use abide_engine::capability::Choice;
use abide_engine::port::{AgentRow, AgentStatus, Agents, AgentsError, Later};
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::Value;

impl Unreached for AgentsError {
    fn unreached(why: String) -> Self {
        Self::Unreachable(why)
    }
}

/// Reads agents with their capabilities in one statement, which sees one moment and needs no transaction around it.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, description, system_prompt, model, status, created_at, updated_at, version,
                (SELECT group_concat(capability_id || coalesce(' ' || configuration, ''), char(10)) FROM
                    (SELECT capability_id, configuration FROM agent_capabilities WHERE agent_id = agents.id ORDER BY position))
             FROM agents ",
            $rest
        )
    };
}

fn choice(line: &str) -> Result<Choice, rusqlite::Error> {
    let Some((id, configuration)) = line.split_once(' ') else { return Ok(Choice::of(line)) };
    let configuration = serde_json::from_str(configuration)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(9, Type::Text, Box::new(error)))?;
    Ok(Choice { id: id.to_owned(), configuration: Some(configuration) })
}

fn row(row: &Row<'_>) -> Result<AgentRow, rusqlite::Error> {
    // No id of a capability has a space or a line end in it, and JSON is written here without line ends.
    let capabilities = match row.get_ref(9)?.as_str_or_null().map_err(rusqlite::Error::from)? {
        Some(text) => text.split('\n').map(choice).collect::<Result<_, _>>()?,
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

fn equip(connection: &Connection, agent: &AgentRow) -> Result<(), rusqlite::Error> {
    let sql = "INSERT INTO agent_capabilities (agent_id, capability_id, position, created_at, configuration)
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut add = connection.prepare_cached(sql)?;
    for (position, capability) in agent.capabilities.iter().enumerate() {
        let configuration = capability.configuration.as_ref().map(Value::to_string);
        add.execute(params![agent.id, capability.id, position, agent.updated_at, configuration])?;
    }
    Ok(())
}

/// About how much a row takes.
fn bytes(agent: &AgentRow) -> usize {
    let texts = [agent.description.as_deref(), agent.model.as_deref()].into_iter().flatten().map(str::len);
    // A value takes the most room for the least text in a list such as `[0,0]`.
    let configured = |value: &Value| value.to_string().len() * size_of::<Value>() / 2;
    let capabilities = agent.capabilities.iter().map(|capability| {
        let configured = capability.configuration.as_ref().map_or(0, configured);
        capability.id.len() + size_of::<Choice>() + configured
    });
    let known = agent.name.len() + agent.system_prompt.len() + size_of::<AgentRow>();
    known + texts.sum::<usize>() + capabilities.sum::<usize>()
}

impl Agents for SqliteRegistry {
    fn add(&self, agent: AgentRow) -> Later<Result<(), AgentsError>> {
        self.change(bytes(&agent), move |connection| {
            let sql = "INSERT INTO agents
                (id, name, description, system_prompt, model, status, created_at, updated_at, version)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 1)";
            connection.prepare_cached(sql)?.execute(params![
                agent.id,
                agent.name,
                agent.description,
                agent.system_prompt,
                agent.model,
                agent.status.word(),
                agent.created_at,
                agent.updated_at
            ])?;
            Ok(equip(connection, &agent)?)
        })
    }

    fn find(&self, id: &str) -> Later<Result<Option<AgentRow>, AgentsError>> {
        let sql = select!("WHERE id = ?1");
        self.look_beside(|connection, recent| {
            let read = || connection.prepare_cached(sql)?.query_row([id], row).optional();
            recent.current(connection)?.agents().find(id, bytes, read)
        })
    }

    fn list(
        &self,
        after: Option<&str>,
        status: Option<AgentStatus>,
        most: usize,
    ) -> Later<Result<Vec<AgentRow>, AgentsError>> {
        self.look(|connection| {
            let sql = select!("WHERE id > ?1 AND (?2 IS NULL OR status = ?2) ORDER BY id LIMIT ?3");
            let mut found = connection.prepare_cached(sql)?;
            let status = status.map(AgentStatus::word);
            let rows = found.query_map(params![after.unwrap_or(""), status, most], row)?;
            rows.collect()
        })
    }

    fn replace(&self, agent: AgentRow) -> Later<Result<u64, AgentsError>> {
        self.change(bytes(&agent), move |connection| {
            let found: Option<u64> = connection
                .query_row("SELECT version FROM agents WHERE id = ?1", [&agent.id], |row| row.get(0))
                .optional()?;
            let found = found.ok_or_else(|| Undone::Refused(AgentsError::Missing(agent.id.clone())))?;
            if found != agent.version {
                return Err(Undone::Refused(AgentsError::Changed { expected: agent.version, found }));
            }
            let sql =
                "UPDATE agents SET name = ?2, description = ?3, system_prompt = ?4, model = ?5, status = ?6,
                       updated_at = ?7, version = version + 1 WHERE id = ?1";
            connection.execute(
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
            connection.execute("DELETE FROM agent_capabilities WHERE agent_id = ?1", [&agent.id])?;
            equip(connection, &agent)?;
            Ok(found + 1)
        })
    }
}
