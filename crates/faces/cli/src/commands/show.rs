//! `abide show NAME`

use crate::args::ShowArguments;
use crate::session::{Session, find};
use crate::ui::json::{from_path, from_value};
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_catalog::{Catalog, Entry, Status};
use abide_core::definition::{Ability, Enforcement, Input};
use abide_core::view::graph::Graph;
use abide_formats::ability::{print, to_data};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::PathBuf;

pub(crate) fn show(session: &mut Session<'_>, arguments: &ShowArguments) -> Result<Exit, Failure> {
    let mut catalog = session.catalog();
    let listing = catalog.scan();
    let entry = find(&listing, &arguments.name)?;
    let (_, ability) =
        catalog.load(entry).map_err(|unreadable| Failure::new(Exit::System, unreadable.to_string()))?;
    let Some(ability) = ability else {
        return Err(Failure::new(Exit::Problems, format!("`{}` cannot be read", entry.name))
            .help(format!("`abide validate {}` says what is wrong with it", entry.name)));
    };
    if session.json {
        session.print_json(&to_json(&catalog, entry, &ability))?;
    } else if arguments.yaml {
        session.print(&print(&ability))?;
    } else {
        session.print(&page(session, &catalog, entry, &ability))?;
    }
    if entry.status() == Status::Broken {
        return session.unusable(entry);
    }
    Ok(Exit::Done)
}

/// Returns the enforcement that applies, and who says so.
fn enforcement(catalog: &Catalog, ability: &Ability) -> (Enforcement, &'static str) {
    if let Some(own) = &ability.settings.enforcement {
        return (own.value, "ability");
    }
    match &catalog.configuration().config.abilities.enforcement {
        Some(configured) => (configured.value, "configuration"),
        None => (Enforcement::Strict, "default"),
    }
}

/// Returns whether a trigger starts the ability by itself.
fn auto_trigger(catalog: &Catalog) -> bool {
    catalog.configuration().config.abilities.auto_trigger.as_ref().is_some_and(|flag| flag.value)
}

fn page(session: &Session<'_>, catalog: &Catalog, entry: &Entry, ability: &Ability) -> String {
    let mut out = String::new();
    let mut line = |label: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "{label:<13}{}", visible(text, true));
        }
    };
    line("ability", ability.name.as_str());
    line("description", &ability.description.split_whitespace().collect::<Vec<_>>().join(" "));
    line("version", ability.version.as_ref().map_or("", |version| version.as_str()));
    line("file", &format!("{} ({})", entry.shown, entry.origin.word()));
    line("runs in", &entry.root.display().to_string());
    let (level, whose) = enforcement(catalog, ability);
    line("enforcement", &format!("{} ({whose})", level.word()));
    let timeout =
        ability.settings.timeout.as_ref().map_or_else(|| "none".to_owned(), |time| time.to_string());
    line("time limit", &timeout);
    let order = if ability.settings.is_parallel() {
        "in parallel where nothing orders them"
    } else {
        "one after the other"
    };
    line("steps run", order);
    let keywords = ability.triggers.keywords.iter().map(|word| format!("\"{}\"", **word));
    let patterns = ability.triggers.patterns.iter().map(|pattern| format!("/{}/", **pattern));
    let triggers: Vec<String> = keywords.chain(patterns).collect();
    if !triggers.is_empty() {
        let verb = if auto_trigger(catalog) { "start it" } else { "suggest it" };
        line("triggers", &format!("{} {verb}", triggers.join(", ")));
    }
    let agents: Vec<&str> = match &ability.exclusive_agent {
        Some(agent) => vec![agent.as_str()],
        None => ability.compatible_agents.iter().map(|agent| agent.as_str()).collect(),
    };
    line("only for", &agents.join(", "));
    line(
        "protects",
        &ability.protects.iter().map(|pattern| pattern.to_string()).collect::<Vec<_>>().join(", "),
    );
    let hooks = entry.hooks();
    let shown =
        |paths: &[PathBuf]| paths.iter().map(|path| session.place.shown(path)).collect::<Vec<_>>().join(", ");
    line("runs before", &shown(&hooks.before));
    line("context", &shown(&hooks.context));
    line("runs after", &shown(&hooks.after));
    if !ability.inputs.is_empty() {
        out.push_str("\ninputs\n");
        let width = ability.inputs.iter().map(|input| input.name.as_str().len()).max().unwrap_or(0);
        for input in &ability.inputs {
            let _ = writeln!(out, "  {:<width$}  {}", input.name.as_str(), visible(&rules(input), true));
        }
    }
    out.push('\n');
    out.push_str(&Graph::of(ability).to_text());
    out
}

pub(crate) fn rules(input: &Input) -> String {
    let mut rules = vec![input.input_type().word().to_owned()];
    if input.must_be_given() {
        rules.push("required".to_owned());
    }
    if let Some(default) = &input.default {
        rules.push(if input.is_secret() {
            "has a default".to_owned()
        } else {
            format!("default {}", default.value)
        });
    }
    if !input.choices.is_empty() {
        let choices: Vec<String> = input.choices.iter().map(|choice| choice.value.to_string()).collect();
        rules.push(format!("one of {}", choices.join(", ")));
    }
    if let Some(pattern) = &input.pattern {
        rules.push(format!("matches {}", **pattern));
    }
    for (word, bound) in [("at least", &input.min), ("at most", &input.max)] {
        if let Some(bound) = bound {
            rules.push(format!("{word} {}", bound.value));
        }
    }
    for (word, bound) in [("length at least", &input.min_length), ("length at most", &input.max_length)] {
        if let Some(bound) = bound {
            rules.push(format!("{word} {}", bound.value));
        }
    }
    if input.is_secret() {
        rules.push("secret".to_owned());
    }
    match &input.description {
        Some(description) => {
            format!("{}: {}", rules.join(", "), description.split_whitespace().collect::<Vec<_>>().join(" "))
        }
        None => rules.join(", "),
    }
}

fn to_json(catalog: &Catalog, entry: &Entry, ability: &Ability) -> Value {
    let (level, whose) = enforcement(catalog, ability);
    let hooks = entry.hooks();
    let paths = |paths: &[PathBuf]| paths.iter().map(|path| from_path(path)).collect::<Value>();
    json!({
        "name": ability.name.as_str(),
        "status": entry.status().word(),
        "file": &*entry.shown,
        "path": from_path(&entry.path),
        "origin": entry.origin.word(),
        "root": from_path(&entry.root),
        "enforcement": { "level": level.word(), "set_by": whose },
        "auto_trigger": auto_trigger(catalog),
        "hooks": { "before": paths(&hooks.before), "context": paths(&hooks.context), "after": paths(&hooks.after) },
        "definition": from_value(&to_data(ability)),
    })
}
