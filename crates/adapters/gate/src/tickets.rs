//! How a hook and a server meet: the hook that sees an agent call a tool of abide knows the session and leaves a ticket, the
//! server that is called takes the ticket and so learns the session.
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
    /// The sub-agent that makes the call, unless it is the session itself.
    pub sub_agent: Option<String>,
    /// Which agent, as the client calls it.
    pub agent: Option<String>,
    /// The tool of abide that it calls, like `ability_run`.
    pub tool: String,
    /// The ability that the call names.
    pub ability: Option<String>,
    /// The arguments that it gives, as JSON in one spelling.
    pub arguments: String,
    /// The client's own name of the call.
    pub call: Option<String>,
    /// When it was left, in milliseconds since 1970.
    pub at: i64,
    /// Where the hook comes from.
    pub family: Family,
}

/// A call that a server was asked to carry out, by which its ticket is found.
#[derive(Debug, Clone, Copy)]
pub struct Called<'a> {
    /// The tool of abide.
    pub tool: &'a str,
    /// The ability that the call names.
    pub ability: Option<&'a str>,
    /// Its arguments, as [`canonical`] spells them; without them, those of any call will do.
    pub arguments: Option<&'a str>,
    /// The client's own name of the call, where it tells the server too.
    pub call: Option<&'a str>,
    /// The client that made it: the process that started the server.
    pub client: &'a Relative,
}

impl Called<'_> {
    fn is(&self, ticket: &Ticket) -> bool {
        ticket.tool == self.tool
            && ticket.ability.as_deref() == self.ability
            && ticket.family.0.contains(self.client)
    }
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

    /// Takes the ticket of a call.
    ///
    /// One with the client's own name of the call is the one. Without, the very arguments go before others, since a client may spell them in its own way; when only others are
    /// there, and of several sessions, none is taken. Of several the newest, because an earlier one was refused by the
    /// client's user; those of the same session that it takes the place of are gone with it.
    pub fn take(&self, called: &Called<'_>, now: i64) -> Result<Option<Ticket>, GateError> {
        let mut found: Vec<(PathBuf, Ticket)> = Vec::new();
        for path in self.left()? {
            // One that cannot be read is nobody's; another server may have taken it just now.
            let Ok(Some(ticket)) = files::read::<Ticket>(&path) else { continue };
            if (now - ticket.at).abs() > LIFE {
                files::remove(&path)?;
            } else if called.is(&ticket) {
                found.push((path, ticket));
            }
        }
        let is_named =
            |(_, ticket): &(PathBuf, Ticket)| called.call.is_some() && ticket.call.as_deref() == called.call;
        if found.iter().any(is_named) {
            found.retain(is_named);
        }
        let exact = |(_, ticket): &(PathBuf, Ticket)| {
            called.arguments.is_none_or(|arguments| ticket.arguments == arguments)
        };
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
            tool: "ability_run".into(),
            ability: Some("deploy".into()),
            arguments: "{}".into(),
            call: None,
            at,
            family: Family(vec![relative(client_process), relative(1)]),
        }
    }

    fn take(gate: &Gate, ability: &str, arguments: &str, client: &Relative, now: i64) -> Option<Ticket> {
        let called = Called {
            tool: "ability_run",
            ability: Some(ability),
            arguments: Some(arguments),
            call: None,
            client,
        };
        gate.take(&called, now).unwrap()
    }

    #[test]
    fn a_server_takes_the_ticket_of_its_own_client_once() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        gate.leave(&ticket("a", 10, 100), 0).unwrap();
        gate.leave(&ticket("b", 20, 100), 1).unwrap();
        let of = |process: u32| take(&gate, "deploy", "{}", &relative(process), 200);
        assert_eq!(of(30), None, "no hook stands before a client that has left no ticket");
        assert_eq!(take(&gate, "other", "{}", &relative(10), 200), None);
        let other_start = Relative { started: "6".into(), ..relative(10) };
        assert_eq!(take(&gate, "deploy", "{}", &other_start, 200), None);
        assert_eq!(of(20).unwrap().session, "b");
        assert_eq!(of(20), None, "a ticket is taken once");
        assert_eq!(of(10).unwrap().session, "a");
    }

    #[test]
    fn the_newest_ticket_of_a_session_replaces_those_before() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        for (at, number) in [(100, 0), (150, 1)] {
            gate.leave(&ticket("a", 10, at), number).unwrap();
        }
        assert_eq!(take(&gate, "deploy", "{}", &relative(10), 200).unwrap().at, 150);
        assert_eq!(take(&gate, "deploy", "{}", &relative(10), 200), None);
    }

    #[test]
    fn other_arguments_are_taken_for_the_clients_spelling_unless_that_is_in_doubt() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        let of = |arguments: &str| take(&gate, "deploy", arguments, &relative(10), 200);
        gate.leave(&ticket("a", 10, 100), 0).unwrap();
        assert_eq!(of("{\"x\":1}").unwrap().session, "a");
        gate.leave(&ticket("a", 10, 100), 0).unwrap();
        gate.leave(&Ticket { arguments: "{\"x\":2}".into(), ..ticket("b", 10, 150) }, 1).unwrap();
        assert_eq!(of("{\"x\":1}"), None, "it could be either");
        assert_eq!(of("{}").unwrap().session, "a");
        assert_eq!(of("{}").unwrap().session, "b");
    }

    #[test]
    fn an_old_ticket_is_no_ticket() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        gate.leave(&ticket("a", 10, 0), 0).unwrap();
        assert_eq!(take(&gate, "deploy", "{}", &relative(10), LIFE + 1), None);
        assert_eq!(take(&gate, "deploy", "{}", &relative(10), 1), None, "and it is gone");
    }

    #[test]
    fn of_many_servers_each_takes_another_ticket() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        for number in 0..8 {
            gate.leave(&ticket(&format!("s{number}"), 10, 100), number).unwrap();
        }
        let one = || take(&gate, "deploy", "{}", &relative(10), 200).unwrap().session;
        let mut sessions: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(one)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        sessions.sort_unstable();
        sessions.dedup();
        assert_eq!(sessions.len(), 8);
    }

    #[test]
    fn a_ticket_is_for_one_tool() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        let asked = Ticket { tool: "ability_status".into(), ability: None, ..ticket("a", 10, 100) };
        gate.leave(&asked, 0).unwrap();
        let client = relative(10);
        let called = |tool| Called { tool, ability: None, arguments: None, call: None, client: &client };
        assert_eq!(take(&gate, "deploy", "{}", &client, 200), None);
        assert_eq!(gate.take(&called("ability_list"), 200).unwrap(), None);
        assert_eq!(gate.take(&called("ability_status"), 200).unwrap(), Some(asked));
    }

    #[test]
    fn a_call_that_the_client_names_is_found_whoever_else_makes_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::at(folder.path());
        for (number, session) in ["a", "b", "c"].into_iter().enumerate() {
            let named = Ticket { call: Some(format!("call {session}")), ..ticket(session, 10, 100) };
            gate.leave(&named, number as u64).unwrap();
        }
        let client = relative(10);
        let taken = |call: Option<&str>| {
            let called = Called {
                tool: "ability_run",
                ability: Some("deploy"),
                arguments: Some("{}"),
                call,
                client: &client,
            };
            gate.take(&called, 200).unwrap().map(|ticket| ticket.session)
        };
        assert_eq!(taken(Some("call a")).as_deref(), Some("a"));
        assert_eq!(taken(Some("call b")).as_deref(), Some("b"));
        assert_eq!(taken(Some("a name that no hook was told")).as_deref(), Some("c"));
    }
}
