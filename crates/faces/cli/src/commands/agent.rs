//! `abide agent`: who there is, what each may use, and what is missing before it can work.

use crate::args::{AgentArguments, AgentCommand, ChatArguments, Shared};
use crate::capabilities::{Reach, capabilities, in_memory};
use crate::models::{self, Survey};
use crate::runs::block_on;
use crate::session::Session;
use crate::ui::Ink;
use crate::ui::table::Table;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_catalog::{AgentEntry, Listing};
use abide_core::capability::Conflicts;
use abide_core::definition::attachment::may_run;
use abide_core::definition::{AgentName, AgentProfile, AgentTools, Config};
use abide_core::diagnostic::nearest;
use abide_core::model::ModelName;
use abide_engine::capability::{CapabilityRegistry, Choice, Equipment};
use abide_formats::json::to_json;
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(crate) fn agent(
    session: &mut Session<'_>,
    shared: &Shared,
    arguments: &AgentArguments,
) -> Result<Exit, Failure> {
    match &arguments.command {
        AgentCommand::List => list(session),
        AgentCommand::Show { name } => show(session, name),
        AgentCommand::Run { name, prompt, images, model } => {
            let arguments = ChatArguments {
                agent: Some(name.clone()),
                message: Some(prompt.clone()),
                images: images.clone(),
                model: model.clone(),
                resume: None,
            };
            super::chat(session, shared, &arguments)
        }
    }
}

/// Everything that is known about an agent.
struct Known {
    entry: AgentEntry,
    profile: AgentProfile,
    /// The model it would be run with, and why it cannot be asked.
    model: Option<String>,
    /// What its capabilities come to.
    equipment: Option<Equipment>,
    /// The abilities that it may run.
    abilities: Vec<String>,
    /// What is missing or wrong, each as a sentence.
    missing: Vec<String>,
}

/// What agents are held against.
struct Around {
    config: Config,
    listing: Listing,
    survey: Survey,
    registry: CapabilityRegistry,
}

/// Returns the capabilities that an agent names, as the registry takes them.
pub(crate) fn choices(profile: &AgentProfile) -> Vec<Choice> {
    let choice = |one: &abide_core::definition::AgentCapability| Choice {
        id: one.id.value.clone(),
        configuration: one.configuration.as_ref().map(to_json),
    };
    profile.capabilities.iter().map(choice).collect()
}

fn around(session: &Session<'_>, wanted: &[&AgentEntry]) -> Result<Around, Failure> {
    let config = session.configuration().config;
    let profiles: Vec<AgentProfile> = wanted.iter().filter_map(|entry| entry.effective(&config)).collect();
    let ids: Vec<&str> =
        profiles.iter().flat_map(|profile| &profile.capabilities).map(|one| one.id.value.as_str()).collect();
    let found = block_on(capabilities(session, in_memory(), Reach::Only(&ids)))?;
    let listing = session.catalog().scan();
    Ok(Around { config, listing, survey: models::survey(session), registry: found.registry })
}

fn known(around: &Around, entry: AgentEntry) -> Option<Known> {
    let profile = entry.effective(&around.config)?;
    let mut missing = Vec::new();
    missing.extend(
        entry.problems.iter().filter(|problem| problem.is_error()).map(|problem| problem.message.clone()),
    );
    let model = model(around, &profile, &mut missing);
    let equipped = around.registry.equip(&choices(&profile), &profile.prompt, Conflicts::Refuse);
    let equipment = match equipped {
        Ok(equipment) => Some(equipment),
        Err(problems) => {
            missing.extend(problems.iter().map(ToString::to_string));
            None
        }
    };
    let own: Option<Vec<&str>> =
        profile.abilities.as_ref().map(|own| own.iter().map(|ability| ability.as_str()).collect());
    let mut abilities = Vec::new();
    for found in around.listing.abilities.iter().filter(|found| found.shadowed_by.is_none()) {
        let reserved = found.summary.iter().flat_map(|summary| &summary.agents);
        let reserved: Vec<&str> = reserved.map(AgentName::as_str).collect();
        if may_run(&entry.name, &found.name, reserved.iter().copied(), own.as_deref()) {
            abilities.push(found.name.to_string());
        } else if own.as_ref().is_some_and(|own| own.contains(&&*found.name)) {
            missing.push(format!("ability `{}` is for {} only", found.name, reserved.join(", ")));
        }
    }
    for name in own.into_iter().flatten() {
        if !around.listing.names().any(|known| known == name) {
            let meant = nearest(name, around.listing.names());
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            missing.push(format!("there is no ability `{name}`{meant}"));
        }
    }
    Some(Known { entry, profile, model, equipment, abilities, missing })
}

/// Returns the model of an agent, and says what is missing before it can be asked.
fn model(around: &Around, profile: &AgentProfile, missing: &mut Vec<String>) -> Option<String> {
    let written = profile.model.as_ref().map(|model| model.value.clone());
    let name = match &written {
        // What other tools call their models (`sonnet`, `inherit`) is for them; here the default is used.
        Some(text) => ModelName::parse(text).ok().or_else(|| around.survey.default.clone()),
        None => around.survey.default.clone(),
    };
    match &name {
        None => missing.push(
            "no model is set: give it a `model: provider/model`, or the configuration one for all".to_owned(),
        ),
        Some(name) => {
            if let Some(trouble) = around.survey.model(name).and_then(|model| model.trouble.as_ref()) {
                missing.push(format!("model `{name}` cannot be used: {}; {}", trouble.problem, trouble.help));
            }
        }
    }
    name.map(|name| name.to_string())
}

fn list(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let (entries, shadowed): (Vec<AgentEntry>, Vec<AgentEntry>) =
        session.catalog().all_agents().into_iter().partition(|entry| entry.shadowed_by.is_none());
    let around = around(session, &entries.iter().collect::<Vec<_>>())?;
    let broken: Vec<(String, String)> = entries
        .iter()
        .filter(|entry| entry.effective(&around.config).is_none())
        .map(|entry| {
            let first = entry.problems.first().map_or("it cannot be read", |first| first.message.as_str());
            (entry.name.to_string(), first.to_owned())
        })
        .collect();
    let agents: Vec<Known> = entries.into_iter().filter_map(|entry| known(&around, entry)).collect();
    if session.json {
        let items: Vec<Value> = agents.iter().map(|agent| summary(session, agent)).collect();
        let shadowed: Vec<Value> = shadowed
            .iter()
            .map(|entry| json!({ "name": &*entry.name, "path": path(session, entry), "shadowed_by": entry.shadowed_by }))
            .collect();
        let broken: Vec<Value> =
            broken.iter().map(|(name, why)| json!({ "name": name, "reason": why })).collect();
        session.print_json(&json!({ "agents": items, "shadowed": shadowed, "broken": broken }))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["", "AGENT", "MODEL", "TOOLS", "ABILITIES", "FROM", "DESCRIPTION"]);
    for agent in &agents {
        let (mark, ink) = if agent.missing.is_empty() { ("✓", None) } else { ("–", Some(Ink::Warning)) };
        let description = agent.profile.description.as_ref().map_or("", |text| text.value.as_str());
        let about = match agent.missing.first() {
            None => visible(description, true).into_owned(),
            Some(first) => format!("{} (`abide agent show {}`)", visible(first, true), agent.entry.name),
        };
        let tools = agent.equipment.as_ref().map_or(0, |equipment| equipment.toolbox.iter().count());
        table.row(
            ink,
            [
                mark.to_owned(),
                agent.entry.name.to_string(),
                agent.model.clone().unwrap_or_else(|| "–".to_owned()),
                tools.to_string(),
                agent.abilities.len().to_string(),
                path(session, &agent.entry),
                about,
            ],
        );
    }
    let marked = |table: &mut Table<'_, 7>, name: &str, from: String, about: String| {
        let none = || "–".to_owned();
        table.row(Some(Ink::Error), ["✗".to_owned(), name.to_owned(), none(), none(), none(), from, about]);
    };
    for (name, why) in &broken {
        marked(&mut table, name, String::new(), format!("broken: {}", visible(why, true)));
    }
    for entry in &shadowed {
        let by = entry.shadowed_by.as_deref().unwrap_or_default();
        marked(&mut table, &entry.name, path(session, entry), format!("not used: {by} is nearer"));
    }
    if agents.is_empty() && broken.is_empty() {
        session.say("no agents are defined; write one to .abide/agents/NAME.md\n")?;
        return Ok(Exit::Done);
    }
    let text = table.render(session.style, (session.surroundings.width)());
    session.print(&text)?;
    Ok(Exit::Done)
}

fn path(session: &Session<'_>, entry: &AgentEntry) -> String {
    entry.path.as_ref().map_or_else(|| "config.yaml".to_owned(), |path| session.place.shown(path))
}

fn summary(session: &Session<'_>, agent: &Known) -> Value {
    json!({
        "name": &*agent.entry.name,
        "description": agent.profile.description.as_ref().map(|text| &text.value),
        "origin": agent.entry.origin.word(),
        "path": path(session, &agent.entry),
        "model": agent.model,
        "abilities": agent.abilities,
        "usable": agent.missing.is_empty(),
        "missing": agent.missing,
    })
}

fn show(session: &mut Session<'_>, name: &str) -> Result<Exit, Failure> {
    let entries = session.catalog().all_agents();
    let shadowed: Vec<String> = entries
        .iter()
        .filter(|entry| &*entry.name == name && entry.shadowed_by.is_some())
        .map(|entry| path(session, entry))
        .collect();
    let names: Vec<String> = entries.iter().map(|entry| entry.name.to_string()).collect();
    let found = entries.into_iter().find(|entry| &*entry.name == name && entry.shadowed_by.is_none());
    let Some(entry) = found else {
        let failure = Failure::new(Exit::NotFound, format!("there is no agent `{name}`"));
        return Err(failure.help(match nearest(name, names.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "`abide agent list` shows all of them".to_owned(),
        }));
    };
    let shown = path(session, &entry);
    let around = around(session, &[&entry])?;
    let Some(agent) = known(&around, entry) else {
        return Err(Failure::new(Exit::Problems, format!("{shown} is no agent that can be read"))
            .help("`abide validate` says what is wrong with it"));
    };
    if session.json {
        session.print_json(&detail(session, &agent, &shadowed))?;
    } else {
        session.print(&page(&agent, &shown, &shadowed))?;
    }
    Ok(Exit::Done)
}

fn detail(session: &Session<'_>, agent: &Known, shadowed: &[String]) -> Value {
    let mut shown = summary(session, agent);
    let profile = &agent.profile;
    let rules = profile.permission.iter();
    let rules =
        rules.map(|rule| json!({ "tool": rule.tool, "pattern": rule.pattern, "action": rule.action.word() }));
    shown["permission"] = rules.collect();
    shown["tools"] = match &profile.tools {
        None => Value::Null,
        Some(AgentTools::Only(names)) => {
            json!({ "only": names.iter().map(|name| &name.value).collect::<Vec<_>>() })
        }
        Some(AgentTools::Switched(tools)) => {
            json!({ "switched": tools.iter().map(|tool| (tool.tool.clone(), json!(tool.granted))).collect::<serde_json::Map<_, _>>() })
        }
    };
    let capabilities = agent.equipment.iter().flat_map(|equipment| &equipment.selected);
    shown["capabilities"] = capabilities
        .map(|one| {
            let tools: Vec<&str> = one.tools.iter().map(|tool| tool.called.as_str()).collect();
            json!({
                "id": one.id.as_str(), "tools": tools,
                "because_of": one.because_of.as_ref().map(abide_core::capability::CapabilityId::as_str)
            })
        })
        .collect();
    shown["skills"] = json!(
        profile.skills.as_ref().map(|skills| skills.iter().map(|skill| &skill.value).collect::<Vec<_>>())
    );
    shown["prompt"] =
        json!(agent.equipment.as_ref().map_or(&profile.prompt, |equipment| &equipment.system_prompt));
    shown["shadows"] = json!(shadowed);
    shown
}

fn page(agent: &Known, from: &str, shadowed: &[String]) -> String {
    let profile = &agent.profile;
    let mut text = format!("{}\n", agent.entry.name);
    // Writing to a string cannot fail.
    if let Some(description) = &profile.description {
        let _ = writeln!(text, "{}", description.value);
    }
    let _ = writeln!(text, "\nfrom          {from} ({})", agent.entry.origin.word());
    for other in shadowed {
        let _ = writeln!(text, "in place of   {other}");
    }
    let _ = writeln!(text, "model         {}", agent.model.as_deref().unwrap_or("–"));
    let none = |names: &[String]| if names.is_empty() { "–".to_owned() } else { names.join(", ") };
    for one in agent.equipment.iter().flat_map(|equipment| &equipment.selected) {
        let tools: Vec<String> = one.tools.iter().map(|tool| tool.called.to_string()).collect();
        let because = one.because_of.as_ref().map(|id| format!(", for {id}")).unwrap_or_default();
        let _ = writeln!(text, "capability    {}{because}: {}", one.id, none(&tools));
    }
    match &profile.tools {
        None => {}
        Some(AgentTools::Only(names)) => {
            let names: Vec<String> = names.iter().map(|name| name.value.clone()).collect();
            let _ = writeln!(text, "tools         only {}", none(&names));
        }
        Some(AgentTools::Switched(tools)) => {
            for tool in tools {
                let _ =
                    writeln!(text, "tools         {} {}", tool.tool, if tool.granted { "on" } else { "off" });
            }
        }
    }
    for rule in &profile.permission {
        let _ = writeln!(text, "permission    {} {} → {}", rule.tool, rule.pattern, rule.action.word());
    }
    let _ = writeln!(text, "abilities     {}", none(&agent.abilities));
    let skills = profile.skills.as_ref();
    let skills = skills.map(|skills| skills.iter().map(|skill| skill.value.clone()).collect::<Vec<_>>());
    let _ = writeln!(text, "skills        {}", skills.map_or("all".to_owned(), |skills| none(&skills)));
    for missing in &agent.missing {
        let _ = writeln!(text, "\nmissing: {missing}");
    }
    let mut shown = String::new();
    for line in text.lines() {
        shown.push_str(&visible(line, true));
        shown.push('\n');
    }
    shown
}
