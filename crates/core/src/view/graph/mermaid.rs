//! The drawing as Mermaid, for READMEs, pull requests and chats that render it.
//!
//! Ids are generated, because Mermaid trips over `end`, dots and slashes; labels are quoted, and everything
//! that could end the quotes, start a tag or be read as Markdown is written as an entity code.

use super::dag::Dag;
use super::label;
use super::model::{EdgeKind, Graph, Node};
use crate::definition::StepType;
use std::fmt::Write as _;

/// A line of a label is cut here: Mermaid makes boxes as wide as their text.
const LONGEST: usize = 60;

/// Draws a graph as a Mermaid flowchart.
pub(super) fn draw(graph: &Graph) -> String {
    let dag = Dag::new(graph.nodes.len(), &graph.edges);
    let mut text = format!("---\ntitle: \"{}\"\n---\nflowchart TD\n", yaml_escaped(&graph.title));
    for (index, node) in graph.nodes.iter().enumerate() {
        let (open, close) = shape(node.kind);
        let _ = writeln!(text, "  n{index}{open}\"{}\"{close}", label_of(node));
    }
    for edge in &dag.edges {
        let dotted = edge.kind == EdgeKind::Data || graph.nodes[edge.to].conditional;
        let _ = writeln!(text, "  n{} {} n{}", edge.from, if dotted { "-.->" } else { "-->" }, edge.to);
    }
    for kind in StepType::ALL.iter().copied() {
        let of_kind = |node: &&Node| node.kind == kind;
        if graph.nodes.iter().any(|node| of_kind(&node)) {
            let (fill, stroke) = colours(kind);
            let name = kind.word();
            let _ = writeln!(text, "  classDef {name} fill:{fill},stroke:{stroke},color:#1e293b");
            class(&mut text, graph, name, |node| node.kind == kind);
        }
    }
    if graph.nodes.iter().any(|node| node.conditional) {
        text.push_str("  classDef conditional stroke-dasharray:5 4\n");
        class(&mut text, graph, "conditional", |node| node.conditional);
    }
    text
}

/// Gives a class to all nodes that belong to it.
fn class(text: &mut String, graph: &Graph, name: &str, belongs: impl Fn(&Node) -> bool) {
    let members: Vec<String> = (0..graph.nodes.len())
        .filter(|&index| belongs(&graph.nodes[index]))
        .map(|index| format!("n{index}"))
        .collect();
    let _ = writeln!(text, "  class {} {name}", members.join(","));
}

fn shape(kind: StepType) -> (&'static str, &'static str) {
    match kind {
        StepType::Script => ("[", "]"),
        StepType::Agent => ("([", "])"),
        StepType::Skill => ("[/", "/]"),
        StepType::Approval => ("{{", "}}"),
        StepType::Workflow => ("[[", "]]"),
    }
}

fn colours(kind: StepType) -> (&'static str, &'static str) {
    match kind {
        StepType::Script => ("#dbeafe", "#2563eb"),
        StepType::Agent => ("#ede9fe", "#7c3aed"),
        StepType::Skill => ("#ccfbf1", "#0d9488"),
        StepType::Approval => ("#fef3c7", "#d97706"),
        StepType::Workflow => ("#fce7f3", "#db2777"),
    }
}

fn label_of(node: &Node) -> String {
    let mut lines = vec![format!("<b>{}</b>", escaped(&node.id))];
    lines.extend(label::title_beside(&node.id, &node.title).map(escaped));
    lines.extend(node.detail.iter().map(|detail| format!("<small>{}</small>", escaped(detail))));
    lines.join("<br/>")
}

/// Writes everything but letters, digits, spaces and a few harmless signs as an entity code.
fn escaped(text: &str) -> String {
    let mut safe = String::new();
    for character in label::line(text, LONGEST).chars() {
        match character {
            ' ' | ',' | '/' | ':' | '=' | '…' => safe.push(character),
            letter if letter.is_alphanumeric() => safe.push(letter),
            other => {
                let _ = write!(safe, "#{};", u32::from(other));
            }
        }
    }
    safe
}

/// Escapes for a double-quoted YAML string, in which Mermaid must not see a `%%{directive}%%` either.
fn yaml_escaped(text: &str) -> String {
    label::line(text, LONGEST).replace('\\', "\\\\").replace('"', "\\\"").replace('%', "\\x25")
}
