//! How a hook and a server meet: the hook that sees an agent start an ability knows the session and leaves a ticket, the server
//! that starts it takes the ticket and so learns the session.
//!
//! They find each other by the process that started both, which is the client. A server that finds no ticket knows
//! that no hook stands before it, so that nobody would hold the agent to the steps.

use crate::files::{self, GateError};
use crate::{Family, Gate, Relative};
use abide_core::value::Value;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::PathBuf;

/// What a hook leaves for the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ticket {
    /// The client's word: `claude`, `opencode`, `codex`.
    pub client: String,
    /// The session.
    pub session: String,
    /// The sub-agent that starts the ability, unless it is the session itself.
    pub sub_agent: Option<String>,
    /// Which agent, as the client calls it.
    pub agent: Option<String>,
    /// The ability that it starts.
    pub ability: String,
    /// The arguments that it gives, as JSON in one spelling.
    pub arguments: String,
    /// When it was left, in milliseconds since 1970.
    pub at: i64,
    /// Where the hook comes from.
    pub family: Family,
}

/// Returns arguments in one spelling, whatever order their keys came in.
pub fn canonical(arguments: &Value) -> String {
    fn sorted(value: &Value) -> Value {
        match value {
            Value::Map(entries) => {
                let mut entries: Vec<_> =
                    entries.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
                entries.sort_by(|(one, _), (other, _)| one.cmp(other));
                Value::Map(entries)
            }
            Value::List(items) => Value::List(items.iter().map(sorted).collect()),
            other => other.clone(),
        }
    }
    sorted(arguments).to_string()
}

/// How long a ticket holds: a client may ask its user in between.
const LIFE: i64 = 60 * 60 * 1000;
/// How many tickets are looked at; more are only left by somebody who wants to fill the folder.
const MOST: usize = 1_000;

impl Gate {
    /// Leaves a ticket; `number` tells it from others of the same moment.
    pub fn leave(&self, ticket: &Ticket, number: u64) -> Result<(), GateError> {
        let name = format!("{:016}-{}-{number}", ticket.at, std::process::id());
        files::replace(&self.tickets().join(name).with_extension("ticket"), ticket)
    }

    /// Takes the ticket for an ability that is started with these arguments by a child of `client`.
    ///
    /// One with the very arguments goes before others, since a client may spell them in its own way; when only others are
    /// there, and of several sessions, none is taken. Of several the newest, because an earlier one was refused by the
    /// client's user; those of the same session that it takes the place of are gone with it.
    pub fn take(
        &self,
        ability: &str,
        arguments: &str,
        client: &Relative,
        now: i64,
    ) -> Result<Option<Ticket>, GateError> {
        let mut found: Vec<(PathBuf, Ticket)> = Vec::new();
        for path in self.left()? {
            // One that cannot be read is nobody's; another server may have taken it just now.
            let Ok(Some(ticket)) = files::read::<Ticket>(&path) else { continue };
            if (now - ticket.at).abs() > LIFE {
                files::remove(&path)?;
            } else if ticket.ability == ability && ticket.family.0.contains(client) {
                found.push((path, ticket));
            }
        }
        let exact = |(_, ticket): &(PathBuf, Ticket)| ticket.arguments == arguments;
        if !found.iter().any(exact) {
            let mut sessions: Vec<&str> = found.iter().map(|(_, ticket)| ticket.session.as_str()).collect();
            sessions.dedup();
            if sessions.len() > 1 {
                return Ok(None);
            }
        }
        found.sort_by(|one, other| exact(one).cmp(&exact(other)).then_with(|| one.0.cmp(&other.0)));
        while let Some((path, ticket)) = found.pop() {
            match fs::remove_file(&path) {
                Ok(()) => {
                    for (path, other) in &found {
                        if other.session == ticket.session && other.client == ticket.client {
                            files::remove(path)?;
                        }
                    }
                    return Ok(Some(ticket));
                }
                // Another server was quicker.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(GateError::io("remove", &path)(error)),
            }
        }
        Ok(None)
    }

    fn left(&self) -> Result<Vec<PathBuf>, GateError> {
        let folder = self.tickets();
        let entries = match fs::read_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(GateError::io("read", &folder))?,
        };
        let mut paths: Vec<PathBuf> = entries
            .filter_map(Result::ok)
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|end| end == "ticket"))
            .collect();
        paths.sort_unstable();
        // The newest come last.
        let skipped = paths.len().saturating_sub(MOST);
        Ok(paths.split_off(skipped))
    }

    fn tickets(&self) -> PathBuf {
        self.folder.join("tickets")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relative(process: u32) -> Relative {
        Relative { process, started: "5".into() }
    }

    fn ticket(session: &str, client_process: u32, at: i64) -> Ticket {
        Ticket {
            client: "claude".into(),
            session: session.into(),
            sub_agent: None,
            agent: None,
            ability: "deploy".into(),
            arguments: "{}".into(),
            at,
            family: Family(vec![relative(client_process), relative(1)]),
        }
    }

    #[test]
    fn a_server_takes_the_ticket_of_its_own_client_once() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        gate.leave(&ticket("a", 10, 100), 0).unwrap();
        gate.leave(&ticket("b", 20, 100), 1).unwrap();
        let take = |process: u32| gate.take("deploy", "{}", &relative(process), 200).unwrap();
        assert_eq!(take(30), None, "no hook stands before a client that has left no ticket");
        assert_eq!(gate.take("other", "{}", &relative(10), 200).unwrap(), None);
        let other_start = Relative { started: "6".into(), ..relative(10) };
        assert_eq!(gate.take("deploy", "{}", &other_start, 200).unwrap(), None);
        assert_eq!(take(20).unwrap().session, "b");
        assert_eq!(take(20), None, "a ticket is taken once");
        assert_eq!(take(10).unwrap().session, "a");
    }

    #[test]
    fn the_newest_ticket_of_a_session_replaces_those_before() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        for (at, number) in [(100, 0), (150, 1)] {
            gate.leave(&ticket("a", 10, at), number).unwrap();
        }
        assert_eq!(gate.take("deploy", "{}", &relative(10), 200).unwrap().unwrap().at, 150);
        assert_eq!(gate.take("deploy", "{}", &relative(10), 200).unwrap(), None);
    }

    #[test]
    fn other_arguments_are_taken_for_the_clients_spelling_unless_that_is_in_doubt() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        let take = |arguments: &str| gate.take("deploy", arguments, &relative(10), 200).unwrap();
        gate.leave(&ticket("a", 10, 100), 0).unwrap();
        assert_eq!(take("{\"x\":1}").unwrap().session, "a");
        gate.leave(&ticket("a", 10, 100), 0).unwrap();
        gate.leave(&Ticket { arguments: "{\"x\":2}".into(), ..ticket("b", 10, 150) }, 1).unwrap();
        assert_eq!(take("{\"x\":1}"), None, "it could be either");
        assert_eq!(take("{}").unwrap().session, "a");
        assert_eq!(take("{}").unwrap().session, "b");
    }

    #[test]
    fn an_old_ticket_is_no_ticket() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        gate.leave(&ticket("a", 10, 0), 0).unwrap();
        assert_eq!(gate.take("deploy", "{}", &relative(10), LIFE + 1).unwrap(), None);
        assert_eq!(gate.take("deploy", "{}", &relative(10), 1).unwrap(), None, "and it is gone");
    }

    #[test]
    fn of_many_servers_each_takes_another_ticket() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        for number in 0..8 {
            gate.leave(&ticket(&format!("s{number}"), 10, 100), number).unwrap();
        }
        let take = || gate.take("deploy", "{}", &relative(10), 200).unwrap().unwrap().session;
        let mut sessions: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        sessions.sort_unstable();
        sessions.dedup();
        assert_eq!(sessions.len(), 8);
    }
}
