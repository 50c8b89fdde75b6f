//! `abide graph NAME`
#![expect(clippy::disallowed_methods, reason = "`--output` writes the file that the user names")]

use crate::args::{Drawing, GraphArguments};
use crate::session::{Session, find};
use crate::{Exit, Failure};
use abide_catalog::Status;
use abide_core::view::graph::{EdgeKind, Graph};
use serde_json::{Value, json};

pub(crate) fn graph(session: &mut Session<'_>, arguments: &GraphArguments) -> Result<Exit, Failure> {
    let mut catalog = session.catalog();
    let listing = catalog.scan();
    let entry = find(&listing, &arguments.name)?;
    let (_, ability) =
        catalog.load(entry).map_err(|unreadable| Failure::new(Exit::System, unreadable.to_string()))?;
    let Some(ability) = ability else {
        return Err(Failure::new(Exit::Problems, format!("`{}` cannot be read", entry.name))
            .help(format!("`abide validate {}` says what is wrong with it", entry.name)));
    };
    let graph = Graph::of(&ability);
    let drawing = match arguments.format {
        _ if session.json => pretty(&to_json(&graph)),
        Drawing::Text => graph.to_text(),
        Drawing::Mermaid => graph.to_mermaid(),
        Drawing::Dot => graph.to_dot(),
        Drawing::Svg => graph.to_svg(),
    };
    match &arguments.output {
        Some(file) => {
            let path = session.place.start.join(file);
            std::fs::write(&path, drawing).map_err(|source| {
                Failure::new(Exit::System, format!("cannot write {}: {source}", path.display()))
            })?;
            session.say(&format!("wrote {}\n", file.display()))?;
        }
        None => session.print(&drawing)?,
    }
    if entry.status() == Status::Broken {
        return session.unusable(entry);
    }
    Ok(Exit::Done)
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn to_json(graph: &Graph) -> Value {
    let id = |index: usize| graph.nodes[index].id.clone();
    let steps: Vec<Value> = graph
        .nodes
        .iter()
        .map(|node| {
            json!({
                "id": node.id,
                "type": node.kind.word(),
                "title": node.title,
                "detail": node.detail,
                "conditional": node.conditional,
            })
        })
        .collect();
    let edges: Vec<Value> = graph
        .edges
        .iter()
        .map(|edge| {
            let kind = match edge.kind {
                EdgeKind::Needs => "needs",
                EdgeKind::Order => "order",
                EdgeKind::Data => "uses",
            };
            json!({ "from": id(edge.from), "to": id(edge.to), "kind": kind })
        })
        .collect();
    json!({ "ability": graph.title, "steps": steps, "edges": edges })
}
