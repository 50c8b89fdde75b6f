//! `ability.yaml` → [`Ability`], and back.

mod input;
mod print;
mod step;
mod validation;

pub use print::{print, to_data};
pub(crate) use validation::schema;

use crate::read::Reader;
use crate::{shape, yaml};
use abide_core::definition::{
    Ability, AbilityName, AgentName, Enforcement, OnFailure, Protect, Settings, Triggers, check,
};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::source::Spanned;

/// What came of reading one ability file.
#[derive(Debug)]
pub struct Reading {
    /// The ability, as far as it could be read; whole when there are no errors.
    pub ability: Option<Ability>,
    /// Everything that is wrong with the file on its own, in the order of the file.
    pub problems: Vec<Diagnostic>,
}

impl Reading {
    /// Returns whether the ability can be used.
    pub fn is_usable(&self) -> bool {
        self.ability.is_some() && !self.problems.iter().any(Diagnostic::is_error)
    }
}

/// Returns whether a YAML file is meant as an ability: a mapping that has `steps`.
///
/// A file that cannot be parsed as YAML is taken for one if a line starts with `steps:`.
pub fn looks_like_one(source: &str) -> bool {
    source.contains("steps")
        && (is_flow(source)
            || source.lines().any(|line| {
                ["steps", "\"steps\"", "'steps'"]
                    .iter()
                    .find_map(|key| line.strip_prefix(key))
                    .is_some_and(|rest| rest.trim_start().starts_with(':'))
            }))
}

/// Tells whether a document is one `{ … }`, in which `steps` may stand anywhere.
fn is_flow(source: &str) -> bool {
    let first = source.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with(['#', '%']));
    first.is_some_and(|line| line.strip_prefix("---").unwrap_or(line).trim_start().starts_with('{'))
}

/// Reads an ability; `default_name` is the name that its place on the disk gives it.
///
/// The result has every problem that can be found in this file alone: its form, its names, its graph, its
/// templates and scripts. What it refers to is checked with the whole catalog at hand
/// ([`check::References`]).
pub fn read(source: &str, default_name: &str) -> Reading {
    let document = yaml::parse(source);
    let mut reader = Reader::new(source, document.problems);
    let read = match &document.root {
        Some(root) if !root.is_null() => ability(&mut reader, root, default_name),
        Some(_) | None => {
            if reader.problems.as_slice().is_empty() {
                reader.report(
                    Diagnostic::whole_file(Code::Documents, "the file is empty")
                        .help("an ability needs at least `description` and `steps`; `abide init` writes one to start from"),
                );
            }
            None
        }
    };
    let mut problems = reader.problems;
    let ability = read.map(|(ability, whole)| {
        problems.extend(check::ability(&ability, whole));
        ability
    });
    Reading { ability, problems: problems.sorted() }
}

/// Reads the root mapping; the second value tells whether every step could be read far enough to be known.
fn ability(
    reader: &mut Reader<'_>,
    root: &yaml::Node<'_>,
    default_name: &str,
) -> Option<(Ability, check::Steps)> {
    let mut fields = reader.fields(root, &shape::ABILITY, |_| None)?;
    let name = match fields.take(reader, "name") {
        Some(node) => reader.name(node, AbilityName::parse),
        None => match AbilityName::parse(default_name) {
            Ok(name) => Some(Spanned::new(name, fields.head)),
            Err(bad) => {
                reader.report(
                    Diagnostic::new(
                        Code::BadName,
                        fields.head,
                        format!("the file's place gives it no name: {bad}"),
                    )
                    .help("rename the file or its folder in lower case, or give it a `name:`"),
                );
                None
            }
        },
    };
    let description = fields.take(reader, "description").and_then(|node| reader.full_text(node));
    let version = fields.take(reader, "version").and_then(|node| reader.full_text(node));
    let triggers = fields.take(reader, "triggers").map(|node| triggers(reader, node)).unwrap_or_default();
    let inputs = fields.take(reader, "inputs").map(|node| input::read(reader, node)).unwrap_or_default();
    let settings = fields.take(reader, "settings").map(|node| settings(reader, node)).unwrap_or_default();
    let compatible_agents = match fields.take(reader, "compatible_agents") {
        Some(node) => {
            reader.list(node, "a list of agents", |reader, node| reader.name(node, AgentName::parse))
        }
        None => Vec::new(),
    };
    let exclusive_agent =
        fields.take(reader, "exclusive_agent").and_then(|node| reader.name(node, AgentName::parse));
    let protects = match fields.take(reader, "protects") {
        Some(node) => reader.list(node, "a list of patterns", protect),
        None => Vec::new(),
    };
    let mut known = check::Steps::All;
    let steps = match fields.take(reader, "steps") {
        Some(node) => reader.list(node, "a list of steps", |reader, node| {
            let step = step::read(reader, node);
            if step.is_none() {
                known = check::Steps::Some;
            }
            step
        }),
        None => {
            known = check::Steps::Some;
            Vec::new()
        }
    };
    let head = fields.head;
    fields.finish();
    let ability = Ability {
        name: name.or_else(|| AbilityName::parse("unnamed").ok().map(|name| Spanned::new(name, head)))?,
        description: description.unwrap_or_default(),
        version,
        triggers,
        inputs,
        steps,
        settings,
        compatible_agents,
        exclusive_agent,
        protects,
    };
    Some((ability, known))
}

fn triggers(reader: &mut Reader<'_>, node: &yaml::Node<'_>) -> Triggers {
    let Some(mut fields) = reader.fields(node, &shape::TRIGGERS, |_| None) else {
        return Triggers::default();
    };
    let keywords = match fields.take(reader, "keywords") {
        Some(node) => reader.list(node, "a list of words and phrases", Reader::full_text),
        None => Vec::new(),
    };
    let patterns = match fields.take(reader, "patterns") {
        Some(node) => reader.list(node, "a list of regular expressions", Reader::regex),
        None => Vec::new(),
    };
    fields.finish();
    Triggers { keywords, patterns }
}

fn settings(reader: &mut Reader<'_>, node: &yaml::Node<'_>) -> Settings {
    let Some(mut fields) = reader.fields(node, &shape::SETTINGS, |_| None) else {
        return Settings::default();
    };
    let settings = Settings {
        timeout: fields.take(reader, "timeout").and_then(|node| reader.duration(node)),
        parallel: fields.take(reader, "parallel").and_then(|node| reader.boolean(node)),
        max_parallel: fields.take(reader, "max_parallel").and_then(|node| reader.count(node, 1, 256)),
        enforcement: fields
            .take(reader, "enforcement")
            .and_then(|node| reader.choice(node, Enforcement::WORDS, Enforcement::parse)),
        on_failure: fields
            .take(reader, "on_failure")
            .and_then(|node| reader.choice(node, OnFailure::WORDS, OnFailure::parse)),
        plan_approval: fields.take(reader, "plan_approval").and_then(|node| reader.boolean(node)),
        budget: fields
            .take(reader, "budget")
            .map(|node| crate::agent::allowance(reader, node))
            .unwrap_or_default(),
    };
    fields.finish();
    settings
}

fn protect(reader: &mut Reader<'_>, node: &yaml::Node<'_>) -> Option<Spanned<Protect>> {
    let text = reader.text(node)?;
    match Protect::parse(&text) {
        Ok(protect) => Some(Spanned::new(protect, node.span)),
        Err(bad) => {
            reader.report(
                Diagnostic::new(Code::UnmatchablePattern, node.span, bad.to_string()).help(
                    "name a tool and, in parentheses, a glob for one command, as in `Bash(git push *)`",
                ),
            );
            None
        }
    }
}
