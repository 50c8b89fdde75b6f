//! Abilities: listed, shown, checked, drawn and planned; all of it lies on the disk, so the house looks.

use super::excerpt::page;
use crate::ask::{Ask, bad, text, wrong};
use crate::door::Answered;
use crate::house::{Drawn, House, Look};
use crate::problem::Problem;
use crate::reply::Reply;
use abide_core::value::Value as Given;
use http::StatusCode;
use serde_json::{Map, Value};

/// The longest text that starts a run, and the longest name of an ability.
pub(super) const LONGEST_TEXT: usize = 256 * 1024;
pub(super) const LONGEST_NAME: usize = 256;

pub(super) async fn list<H: House>(house: &H, ask: &Ask) -> Answered {
    let abilities = house.look(Look::Abilities).await?;
    Ok(Reply::done(&page(abilities, "abilities", "path", ask)?))
}

pub(super) async fn show<H: House>(house: &H, ask: &Ask) -> Answered {
    Ok(Reply::done(&house.look(Look::Ability(ask.part(0).to_owned())).await?))
}

pub(super) async fn problems<H: House>(house: &H, ask: &Ask) -> Answered {
    Ok(Reply::done(&house.look(Look::Problems(ask.part(0).to_owned())).await?))
}

pub(super) async fn graph<H: House>(house: &H, ask: &Ask) -> Answered {
    let name = ask.part(0).to_owned();
    let (drawn, kind) = match ask.query("format") {
        None | Some("json") => return Ok(Reply::done(&house.look(Look::Graph(name)).await?)),
        Some("text") => (Drawn::Text, "text/plain; charset=utf-8"),
        Some("mermaid") => (Drawn::Mermaid, "text/plain; charset=utf-8"),
        Some("dot") => (Drawn::Dot, "text/plain; charset=utf-8"),
        Some("svg") => (Drawn::Svg, "image/svg+xml"),
        Some(_) => return Err(bad("format", "is json, text, mermaid, dot or svg")),
    };
    let drawing = house.look(Look::Drawing(name, drawn)).await?;
    Ok(Reply::text(StatusCode::OK, kind, drawing.as_str().unwrap_or_default().to_owned()))
}

pub(super) async fn plan<H: House>(house: &H, ask: &Ask) -> Answered {
    let mut body = ask.object(&["inputs", "input"])?;
    let inputs = inputs(&mut body, "inputs")?;
    let input = text(&mut body, "input", LONGEST_TEXT)?.unwrap_or_default();
    Ok(Reply::done(&house.look(Look::Plan { ability: ask.part(0).to_owned(), inputs, input }).await?))
}

/// Takes inputs out of a body.
pub(super) fn inputs(body: &mut Map<String, Value>, name: &str) -> Result<Vec<(String, Given)>, Problem> {
    match body.remove(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(object)) => Ok(object
            .into_iter()
            .map(|(name, value)| (name, abide_formats::json::from_json(value)))
            .collect()),
        Some(_) => Err(wrong(name, "is no object")),
    }
}
