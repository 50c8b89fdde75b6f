//! What agents can be given.

use crate::ask::Ask;
use crate::door::{Answered, Door};
use crate::house::House;
use crate::problem::{Code, Problem};
use crate::reply::Reply;
use abide_core::diagnostic::nearest;
use abide_formats::capability::{list_to_json, to_json};
use http::StatusCode;
use serde_json::{Value, json};

pub(super) fn list<H: House>(door: &Door<H>) -> Reply {
    let list =
        door.capabilities.get_or_init(|| list_to_json(&door.house.capabilities().list()).to_string().into());
    Reply::text(StatusCode::OK, "application/json", list.clone())
}

pub(super) fn show<H: House>(house: &H, ask: &Ask) -> Answered {
    let id = ask.part(0);
    let Some(capability) = house.capabilities().get(id) else {
        let problem = Problem::new(Code::NotFound, format!("there is no capability `{id}`"));
        let ids: Vec<String> = house.capabilities().list().iter().map(|info| info.id.to_string()).collect();
        return Err(match nearest(id, ids.iter().map(String::as_str)) {
            Some(meant) => problem.help(format!("did you mean `{meant}`?")),
            None => problem,
        });
    };
    let tools: Vec<Value> = capability
        .tools()
        .iter()
        .map(|tool| {
            let spec = tool.spec();
            json!({
                "name": spec.name.as_str(),
                "description": spec.description,
                "arguments": spec.arguments,
                "policy": spec.tier.word(),
                "risk": spec.risk.word(),
            })
        })
        .collect();
    let mut shown = to_json(&capability.info());
    shown["system_prompt"] = json!(capability.system_prompt_addition());
    shown["tools"] = json!(tools);
    Ok(Reply::done(&shown))
}
