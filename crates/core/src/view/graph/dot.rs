//! The drawing as Graphviz DOT, for whoever wants to lay it out or style it differently.

use super::dag::Dag;
use super::label;
use super::model::{EdgeKind, Graph, Node};
use crate::definition::StepType;
use std::fmt::Write as _;

/// A line of a label is cut here: Graphviz makes boxes as wide as their text.
const LONGEST: usize = 60;

/// Draws a graph in the DOT language.
pub(super) fn draw(graph: &Graph) -> String {
    let dag = Dag::new(graph.nodes.len(), &graph.edges);
    let title = escaped(&graph.title);
    let mut text = format!("digraph \"{title}\" {{\n  graph [label=\"{title}\", labelloc=t, rankdir=TB");
    text.push_str(", fontname=\"Helvetica,Arial,sans-serif\", fontsize=18, nodesep=0.4, ranksep=0.5];\n");
    text.push_str("  node [fontname=\"Helvetica,Arial,sans-serif\", fontsize=11, margin=\"0.2,0.1\"];\n");
    text.push_str("  edge [color=\"#64748b\", arrowsize=0.7];\n");
    for (index, node) in graph.nodes.iter().enumerate() {
        let (shape, style, fill, line) = look(node.kind);
        let dashed = if node.conditional { ",dashed" } else { "" };
        let _ = writeln!(
            text,
            "  n{index} [label=\"{}\", shape={shape}, style=\"{style}{dashed}\", fillcolor=\"{fill}\", \
             color=\"{line}\"];",
            label_of(node)
        );
    }
    for edge in &dag.edges {
        let style = match edge.kind {
            EdgeKind::Data => " [style=dotted]",
            _ if graph.nodes[edge.to].conditional => " [style=dashed]",
            EdgeKind::Needs | EdgeKind::Order => "",
        };
        let _ = writeln!(text, "  n{} -> n{}{style};", edge.from, edge.to);
    }
    text.push_str("}\n");
    text
}

/// Returns the shape, style, fill and line of a kind.
fn look(kind: StepType) -> (&'static str, &'static str, &'static str, &'static str) {
    match kind {
        StepType::Script => ("box", "filled", "#dbeafe", "#2563eb"),
        StepType::Agent => ("box", "filled,rounded", "#ede9fe", "#7c3aed"),
        StepType::Skill => ("note", "filled", "#ccfbf1", "#0d9488"),
        StepType::Approval => ("hexagon", "filled", "#fef3c7", "#d97706"),
        StepType::Workflow => ("box3d", "filled", "#fce7f3", "#db2777"),
    }
}

fn label_of(node: &Node) -> String {
    let mut lines = vec![format!("{} ({})", escaped(&node.id), node.kind.word())];
    lines.extend(label::title_beside(&node.id, &node.title).map(escaped));
    lines.extend(node.detail.iter().map(|detail| escaped(detail)));
    lines.join("\\n")
}

/// Escapes for a quoted string: the quotes, the escapes like `\N`, and HTML entities, which DOT expands.
fn escaped(text: &str) -> String {
    label::line(text, LONGEST).replace('\\', "\\\\").replace('"', "\\\"").replace('&', "&amp;")
}
