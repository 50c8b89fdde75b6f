//! Agents as Markdown files: what one server writes, another takes.

use super::agents::{self, find, made};
use crate::ask::Ask;
use crate::door::{Answered, Door};
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use abide_formats::agent_document::{self, AgentDocument, NamedCapability};
use abide_formats::json::{from_json, to_json};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Map, Value, json};

pub(super) async fn export<H: House>(house: &H, ask: &Ask) -> Answered {
    let agent = find(house, ask.part(0)).await?;
    let capabilities = agent
        .capabilities
        .into_iter()
        .map(|choice| NamedCapability { id: choice.id, configuration: choice.configuration.map(from_json) });
    let text = agent_document::print(&AgentDocument {
        name: agent.name,
        description: agent.description,
        model: agent.model,
        capabilities: capabilities.collect(),
        system_prompt: agent.system_prompt,
    });
    let reply = Reply::text(StatusCode::OK, "text/markdown; charset=utf-8", text);
    let file = HeaderValue::from_str(&format!("attachment; filename=\"agent-{}.md\"", agent.id));
    Ok(match file {
        Ok(file) => reply.header(header::CONTENT_DISPOSITION, file),
        Err(_) => reply,
    })
}

pub(super) async fn import<H: House>(door: &Door<H>, ask: &Ask) -> Answered {
    let document = agent_document::read(ask.document()?).map_err(|problems| {
        let help = |help: String| format!("; {help}");
        let told: Vec<String> = problems
            .into_iter()
            .map(|problem| problem.message + &problem.help.map(help).unwrap_or_default())
            .collect();
        Problem::new(Code::Invalid, told.join("\n")).with("problems", json!(told))
    })?;
    let capabilities = document.capabilities.into_iter().map(|named| match &named.configuration {
        Some(configuration) => json!({ "id": named.id, "configuration": to_json(configuration) }),
        None => Value::from(named.id),
    });
    let mut fields = Map::new();
    fields.insert("name".to_owned(), json!(document.name));
    fields.insert("description".to_owned(), json!(document.description));
    fields.insert("model".to_owned(), json!(document.model));
    fields.insert("system_prompt".to_owned(), Value::from(document.system_prompt));
    fields.insert("capabilities".to_owned(), capabilities.collect());
    // What a field may be is said once; here it is the file that breaks the rule, and not the request.
    let agent = made(door, fields).map_err(|problem| problem.instead_of(Code::BadBody, Code::Invalid))?;
    agents::add(&*door.house, agent).await
}
