//! What there is to run and to read, for the agent that asks: what it may not run it does not see.

use super::{LocalDesk, refused};
use crate::args::{self, ValidateArguments};
use crate::commands;
use crate::{Exit, Failure, gate, runs};
use abide_catalog::{Entry, Listing, Status, read_text};
use abide_core::definition::attachment::DEFAULT_AGENT;
use abide_core::policy::{AgentRights, OwnTool};
use abide_engine::port::Store as _;
use abide_engine::service;
use abide_mcp::desk::{Caller, Content, Report, Resource, Subject, Unreadable};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// How many runs are offered for reading.
pub(super) const RUNS: usize = 50;

impl LocalDesk {
    /// Returns what an agent may run; one that nobody knows may run what is open to all.
    pub(super) fn rights(&self, agent: Option<&str>) -> Result<AgentRights, Report> {
        let Some(gate) = &self.gate else {
            return Err(Report::failure(
                "abide finds no home folder (HOME is not set), so it cannot tell who may run what",
            ));
        };
        self.quietly(|session| {
            gate::rights_in(session.surroundings, gate, &session.place, agent)
                .map_err(|why| Failure::new(Exit::System, why))
        })
        .map_err(|failure| refused(&failure))
    }

    fn listing(&self) -> Result<Listing, Report> {
        self.quietly(|session| Ok(session.catalog().scan())).map_err(|failure| refused(&failure))
    }

    /// Returns whether there is an ability that an agent may run.
    pub(crate) fn has_abilities(&self, agent: &str) -> bool {
        let (Ok(rights), Ok(listing)) = (self.rights(Some(agent)), self.listing()) else { return false };
        usable(&listing, &rights).next().is_some()
    }

    pub(super) fn listed(&self, caller: &Caller) -> Result<Report, Report> {
        let ticket = self.ticket(OwnTool::List, None, None, caller)?;
        let rights = self.rights(ticket.as_ref().and_then(|ticket| ticket.agent.as_deref()))?;
        let listing = self.listing()?;
        let mut text = String::new();
        let mut abilities = Vec::new();
        for entry in usable(&listing, &rights) {
            let Some(summary) = &entry.summary else { continue };
            let inputs: Vec<&str> = summary.signature.inputs.iter().map(|(name, ..)| &**name).collect();
            // Writing to a string cannot fail.
            let _ = write!(text, "- {}: {}", entry.name, summary.description.trim());
            if !inputs.is_empty() {
                let _ = write!(text, " (inputs: {})", inputs.join(", "));
            }
            text.push('\n');
            abilities.push(json!({
                "name": &*entry.name,
                "description": summary.description,
                "inputs": inputs,
                "steps": summary.steps.iter().map(|step| step.word()).collect::<Vec<_>>(),
            }));
        }
        if text.is_empty() {
            text.push_str("there is no ability that this agent may run");
        }
        Ok(Report { text, data: Map::from_iter([("abilities".to_owned(), abilities.into())]), failed: false })
    }

    pub(super) fn agent_may(&self, agent: Option<String>, caller: &Caller) -> Result<Report, Report> {
        let ticket = self.ticket(OwnTool::Agent, None, None, caller)?;
        let agent = agent
            .or_else(|| ticket.and_then(|ticket| ticket.agent))
            .unwrap_or_else(|| DEFAULT_AGENT.to_owned());
        let rights = self.rights(Some(&agent))?;
        let listing = self.listing()?;
        let names: Vec<&str> = usable(&listing, &rights).map(|entry| &*entry.name).collect();
        let agents =
            self.quietly(|session| Ok(session.catalog().agents())).map_err(|failure| refused(&failure))?;
        let agents: Vec<&str> = agents.iter().map(|agent| &*agent.name).collect();
        let mut text = if names.is_empty() {
            format!("the agent `{agent}` may run no ability")
        } else {
            format!("the agent `{agent}` may run: {}", names.join(", "))
        };
        if !agents.contains(&agent.as_str()) && agent != DEFAULT_AGENT {
            text.push_str("\n(no profile is called like that, so this is what every agent may run)");
        }
        let data = json!({ "agent": agent, "abilities": names, "agents": agents });
        let Value::Object(data) = data else { return Err(Report::failure(text)) };
        Ok(Report { text, data, failed: false })
    }

    pub(super) fn validated(&self, ability: Option<String>) -> Result<Report, Failure> {
        let arguments = ValidateArguments {
            names: ability.into_iter().collect(),
            all: false,
            format: args::Report::Text,
            deny_warnings: false,
            watch: false,
        };
        let (exit, text) = self.command(false, |session| commands::validate(session, &arguments))?;
        let valid = exit == Exit::Done;
        Ok(Report { text, data: Map::from_iter([("valid".to_owned(), valid.into())]), failed: false })
    }

    pub(super) async fn readable(&self, _caller: &Caller) -> Result<Vec<Resource>, Unreadable> {
        let failed = |report: Report| Unreadable::Failed(report.text);
        let rights = self.rights(None).map_err(failed)?;
        let listing = self.listing().map_err(failed)?;
        let mut resources: Vec<Resource> = usable(&listing, &rights)
            .map(|entry| Resource {
                subject: Subject::Ability(entry.name.to_string()),
                description: entry.summary.as_ref().map(|summary| summary.description.clone()),
                mime: "application/yaml",
            })
            .collect();
        let store = self.quietly(runs::find_store).map_err(|failure| failed(refused(&failure)))?;
        if let Some(store) = store {
            let heads =
                store.heads(None, RUNS).await.map_err(|error| Unreadable::Failed(error.to_string()))?;
            resources.extend(heads.iter().map(|head| {
                let summary = runs::summary(head);
                let text = |name| runs::text_of(&summary, name).unwrap_or_default();
                Resource {
                    subject: Subject::Run(head.stream.clone()),
                    description: Some(format!("{}: {}", text("ability"), text("status"))),
                    mime: "application/json",
                }
            }));
        }
        Ok(resources)
    }

    pub(super) async fn text_of(&self, subject: Subject, _caller: &Caller) -> Result<Content, Unreadable> {
        let failed = |report: Report| Unreadable::Failed(report.text);
        match subject {
            Subject::Ability(name) => {
                let rights = self.rights(None).map_err(failed)?;
                let listing = self.listing().map_err(failed)?;
                let found = usable(&listing, &rights).find(|entry| *entry.name == *name);
                let entry = found.ok_or_else(|| {
                    Unreadable::NotFound(format!(
                        "no ability `{name}`; `ability_list` shows those that there are"
                    ))
                })?;
                let text = read_text(&entry.path).map_err(|why| Unreadable::Failed(why.to_string()))?;
                Ok(Content { text, mime: "application/yaml" })
            }
            Subject::Run(id) => {
                let missing = || Unreadable::NotFound(format!("there is no run {id}"));
                let store = self.quietly(runs::find_store).map_err(|failure| failed(refused(&failure)))?;
                let store = store.ok_or_else(missing)?;
                let id = runs::find_run(&store, Some(&id), runs::Wanted::Any).await.map_err(|_| missing())?;
                let family = service::family(&store, &id).await;
                let family = family.map_err(|error| Unreadable::Failed(error.to_string()))?;
                let first = family.first().ok_or_else(missing)?;
                let text = format!("{:#}\n", commands::family_json(&family, first));
                Ok(Content { text, mime: "application/json" })
            }
        }
    }
}

fn usable<'l>(listing: &'l Listing, rights: &'l AgentRights) -> impl Iterator<Item = &'l Entry> {
    let usable = |entry: &&Entry| entry.status() == Status::Usable && rights.may_run(&entry.name);
    listing.abilities.iter().filter(usable)
}
