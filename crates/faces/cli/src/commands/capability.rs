//! `abide capability list|show|test`: what agents can be given, and what its tools answer.

mod trust;

use crate::args::{CapabilityArguments, CapabilityCommand};
use crate::capabilities::{Capabilities, Reach, Source, capabilities, in_memory};
use crate::runs::block_on;
use crate::session::Session;
use crate::ui::Ink;
use crate::ui::table::Table;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_core::capability::{CapabilityStatus, Conflicts};
use abide_core::diagnostic::nearest;
use abide_engine::capability::Choice;
use abide_engine::port::{Beside, Capability, SessionId, ToolContext, ToolError, ToolOutput, ToolSpec};
use abide_formats::capability::{list_to_json, to_json};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Read as _;

/// The longest arguments that are read from standard input.
const LONGEST: u64 = 16 * 1024 * 1024;

pub(crate) fn capability(
    session: &mut Session<'_>,
    arguments: &CapabilityArguments,
) -> Result<Exit, Failure> {
    match &arguments.command {
        CapabilityCommand::List => list(session),
        CapabilityCommand::Show { id } => show(session, id),
        CapabilityCommand::Test { id, tool, arguments, configuration, session: kept } => {
            let configuration =
                configuration.as_deref().map(|text| parse("configuration", text)).transpose()?;
            let arguments = parse("arguments", &if arguments == "-" { read()? } else { arguments.clone() })?;
            let choice = Choice { id: id.clone(), configuration };
            test(session, choice, tool, arguments, kept.as_deref())
        }
        CapabilityCommand::Trust { id, yes } => trust::trust(session, id, *yes),
        CapabilityCommand::Untrust { id } => trust::untrust(session, id),
    }
}

fn list(session: &mut Session<'_>) -> Result<Exit, Failure> {
    let found = block_on(capabilities(session, in_memory(), Reach::All))?;
    let registry = &found.registry;
    let infos = registry.list();
    if session.json {
        let mut shown = list_to_json(&infos);
        for item in shown["items"].as_array_mut().into_iter().flatten() {
            if let Some(source) = found.sources.iter().find(|source| item["id"] == source.id.as_str()) {
                item["source"] = json!({ "origin": source.origin.word(), "path": source.shown });
            }
        }
        let broken = found.broken.iter();
        let broken: Vec<Value> =
            broken.map(|file| json!({ "id": file.id, "path": file.shown, "reason": file.why })).collect();
        shown["broken"] = json!(broken);
        session.print_json(&shown)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["", "ID", "TOOLS", "RISK", "DESCRIPTION", "CATEGORY"]);
    for (info, capability) in infos.iter().zip(registry.iter()) {
        let (mark, ink, about) = match &info.status {
            CapabilityStatus::Available => ("✓", None, info.description.clone()),
            CapabilityStatus::Deprecated => {
                ("–", Some(Ink::Warning), format!("deprecated: {}", info.description))
            }
            CapabilityStatus::ComingSoon => ("–", Some(Ink::Warning), "not made yet".to_owned()),
            CapabilityStatus::Unavailable { why } => ("✗", Some(Ink::Error), format!("unavailable: {why}")),
        };
        let category = info.category.clone().unwrap_or_default();
        let tools = capability.tools().len().to_string();
        let risk = info.risk.word().to_owned();
        table.row(
            ink,
            [mark.to_owned(), info.id.to_string(), tools, risk, visible(&about, true).into_owned(), category],
        );
    }
    for file in &found.broken {
        let about = visible(&format!("broken: {} ({})", file.why, file.shown), true).into_owned();
        table.row(
            Some(Ink::Error),
            ["✗".to_owned(), file.id.clone(), "–".to_owned(), "–".to_owned(), about, String::new()],
        );
    }
    let text = table.render(session.style, (session.surroundings.width)());
    session.print(&text)?;
    Ok(Exit::Done)
}

fn show(session: &mut Session<'_>, id: &str) -> Result<Exit, Failure> {
    let found = block_on(capabilities(session, in_memory(), Reach::Only(&[id])))?;
    let capability = found.registry.get(id).ok_or_else(|| unknown(&found, id))?;
    let source = found.sources.iter().find(|source| source.id == id);
    if session.json {
        let mut shown = detail(&**capability);
        if let Some(source) = source {
            shown["source"] = json!({ "origin": source.origin.word(), "path": source.shown });
        }
        session.print_json(&shown)?;
    } else {
        session.print(&page(&**capability, source))?;
    }
    Ok(Exit::Done)
}

fn unknown(found: &Capabilities, id: &str) -> Failure {
    if let Some(broken) = found.broken.iter().find(|broken| broken.id == id) {
        return Failure::new(Exit::Problems, format!("{} is no capability: {}", broken.shown, broken.why))
            .help("`abide validate` shows everything that is wrong with it");
    }
    let registry = &found.registry;
    let ids: Vec<String> = registry.list().iter().map(|info| info.id.to_string()).collect();
    let failure = Failure::new(Exit::NotFound, format!("there is no capability `{id}`"));
    failure.help(match nearest(id, ids.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`abide capability list` shows all of them".to_owned(),
    })
}

fn detail(capability: &dyn Capability) -> Value {
    let tools: Vec<Value> = capability.tools().iter().map(|tool| tool_json(tool.spec())).collect();
    let mut shown = to_json(&capability.info());
    shown["system_prompt"] = json!(capability.system_prompt_addition());
    shown["configuration"] = json!(capability.configuration());
    shown["tools"] = json!(tools);
    shown
}

fn tool_json(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name.as_str(),
        "description": spec.description,
        "arguments": spec.arguments,
        "policy": spec.tier.word(),
        "risk": spec.risk.word(),
        "parallel": spec.beside == Beside::Others,
        "examples": spec.examples,
    })
}

fn page(capability: &dyn Capability, source: Option<&Source>) -> String {
    let info = capability.info();
    let mut text = format!("{} ({})\n{}\n", info.name, info.id, info.description);
    // Writing to a string cannot fail.
    match &info.status {
        CapabilityStatus::Unavailable { why } => {
            let _ = writeln!(text, "\nunavailable: {why}");
        }
        status => {
            let _ = writeln!(text, "\nstatus   {}", status.word());
        }
    }
    let _ = writeln!(text, "risk     {}\nversion  {}", info.risk.word(), info.version);
    if let Some(source) = source {
        let _ = writeln!(text, "from     {} ({})", source.shown, source.origin.word());
    }
    if !info.depends_on.is_empty() {
        let needs: Vec<String> = info.depends_on.iter().map(ToString::to_string).collect();
        let _ = writeln!(text, "needs    {}", needs.join(", "));
    }
    for tool in capability.tools() {
        let spec = tool.spec();
        let _ = writeln!(text, "\n{}  {}", spec.name, spec.description);
        arguments_of(&mut text, &spec.arguments, "  ");
        if let Some(example) = spec.examples.first() {
            let _ = writeln!(text, "  try: abide capability test {} {} '{example}'", info.id, spec.name);
        }
    }
    if let Some(schema) = capability.configuration() {
        text.push_str("\nconfiguration\n");
        arguments_of(&mut text, &schema, "  ");
    }
    if let Some(prompt) = capability.system_prompt_addition() {
        let _ = writeln!(text, "\nsystem prompt\n{}", indented(prompt));
    }
    lines_shown(&text)
}

/// Returns a text of several lines with every character shown: tools and what they answer may come from anywhere.
fn lines_shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for line in text.lines() {
        shown.push_str(&visible(line, true));
        shown.push('\n');
    }
    shown
}

/// Writes one line for each property of a schema.
fn arguments_of(text: &mut String, schema: &Value, indent: &str) {
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let kind = match property["enum"].as_array() {
            Some(words) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|"),
            None => property["type"].as_str().unwrap_or("any").to_owned(),
        };
        let need = if required.iter().any(|required| required == name) { ", required" } else { "" };
        let _ = writeln!(
            text,
            "{indent}{name} ({kind}{need})  {}",
            property["description"].as_str().unwrap_or_default()
        );
    }
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!("  {line}") });
    lines.collect::<Vec<_>>().join("\n")
}

fn test(
    session: &mut Session<'_>,
    choice: Choice,
    tool: &str,
    arguments: Value,
    kept: Option<&str>,
) -> Result<Exit, Failure> {
    let name = kept.unwrap_or("test");
    let id = SessionId::parse(name).ok_or_else(|| {
        Failure::new(Exit::Usage, format!("`{name}` is no name of a session"))
            .help("use letters, digits, `-` and `_`")
    })?;
    let files = match kept {
        None => in_memory(),
        Some(_) => crate::capabilities::kept(session)?,
    };
    // One runtime for all of it: what a capability holds open lives in the one that it was opened in.
    let answer = block_on(async {
        let found = capabilities(session, files, Reach::All).await;
        if found.registry.get(choice.id.split('@').next().unwrap_or_default()).is_none() {
            return Err(unknown(&found, &choice.id));
        }
        let equipment = found.registry.equip(&[choice], "", Conflicts::Refuse).map_err(|problems| {
            let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
            Failure::new(Exit::Refused, problems.join("\n  "))
        })?;
        Ok(match equipment.toolbox.find(tool) {
            Ok(tool) => tool.call(arguments, ToolContext::new(id)).await,
            Err(error) => Err(error),
        })
    })??;
    match answer {
        Ok(output) => {
            let value = match output {
                ToolOutput::Json(value) => value,
                ToolOutput::Text(text) | ToolOutput::Shown { text, .. } if session.json => json!(text),
                ToolOutput::Text(text) | ToolOutput::Shown { text, .. } => {
                    session.print(&lines_shown(&text))?;
                    return Ok(Exit::Done);
                }
            };
            session.print_json(&value)?;
            Ok(Exit::Done)
        }
        Err(error) => failed(session, &error),
    }
}

fn failed(session: &mut Session<'_>, error: &ToolError) -> Result<Exit, Failure> {
    let exit = match error {
        ToolError::Arguments { .. } => Exit::Usage,
        ToolError::Unknown { .. } => Exit::NotFound,
        ToolError::Refused(_) => Exit::Refused,
        ToolError::Internal(_) => Exit::System,
        ToolError::Failed(_) | ToolError::TimedOut { .. } | ToolError::Cancelled => Exit::Problems,
    };
    if session.json {
        // The person at the terminal may read what a model may not.
        let message = error.to_string();
        session.print_json(&json!({ "error": { "code": error.code(), "message": message } }))?;
        return Ok(exit);
    }
    Err(Failure::new(exit, error.to_string()))
}

fn parse(what: &str, text: &str) -> Result<Value, Failure> {
    serde_json::from_str(text)
        .map_err(|error| Failure::new(Exit::Usage, format!("the {what} are no JSON: {error}")))
}

fn read() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().take(LONGEST).read_to_string(&mut text);
    read.map_err(|error| Failure::new(Exit::System, format!("cannot read standard input: {error}")))?;
    Ok(text)
}
