//! The drawing as SVG, laid out by us, so that it needs no browser, no script and no font to be made.
//!
//! The document is complete in itself: no ids, no references, one `<style>` whose rules all start at its own
//! class, so it can be a file, an `<img>` or a part of a page. It follows the reader's light or dark mode.

mod card;
mod measure;

use super::dag::Dag;
use super::label;
use super::layout::{Layout, Route, layout, widest_row};
use super::model::{EdgeKind, Graph};
use crate::definition::StepType;
use card::escaped;
use measure::Face;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The space around everything.
const MARGIN: i64 = 32;
/// The room for the title, and for the line below it.
const HEADER: i64 = 52;
/// The room for the legend, with the space above it.
const LEGEND: i64 = 60;
/// The font sizes of the header.
const NAME: i64 = 20;
const ABOUT: i64 = 13;
/// A header alone makes the page no wider than this.
const WIDEST_HEADER: i64 = 560;

/// Draws a graph as an SVG document.
pub(super) fn draw(graph: &Graph) -> String {
    let dag = Dag::new(graph.nodes.len(), &graph.edges);
    let heights: Vec<i64> = graph.nodes.iter().map(card::height).collect();
    let layout = layout(&dag, card::common_width(&graph.nodes, widest_row(&dag)), &heights);
    let legend = Legend::new(graph, &dag);

    let about = about(graph);
    let header = measure::width(&label::line(&graph.title, 200), Face::Bold, NAME)
        .max(measure::width(&label::line(&about, 200), Face::Sans, ABOUT))
        .min(WIDEST_HEADER);
    let inner = layout.width.max(header).max(legend.width());
    let top = MARGIN + HEADER + 20;
    let (width, height) = (inner + 2 * MARGIN, top + layout.height + LEGEND + MARGIN / 2);
    let left = MARGIN + (inner - layout.width) / 2;

    let name = escaped(&label::line(&graph.title, 200));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"abide-graph\" role=\"img\" \
         aria-label=\"{name}: {size}\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<title>{name}: {size}</title>\n<style>\n{style}</style>\n\
         <rect class=\"page\" width=\"{width}\" height=\"{height}\" rx=\"12\"/>\n",
        size = graph.size(),
        style = include_str!("style.css"),
    );
    text(&mut svg, "name", (MARGIN, MARGIN + 18), &measure::fitted(&graph.title, Face::Bold, NAME, inner));
    text(&mut svg, "about", (MARGIN, MARGIN + 42), &measure::fitted(&about, Face::Sans, ABOUT, inner));

    let _ = writeln!(svg, "<g transform=\"translate({left} {top})\">");
    edges(&mut svg, graph, &dag, &layout);
    for (node, at) in graph.nodes.iter().zip(&layout.cards) {
        card::draw(&mut svg, node, *at);
    }
    svg.push_str("</g>\n");
    legend.draw(&mut svg, (MARGIN, top + layout.height + LEGEND - 10));
    svg.push_str("</svg>\n");
    svg
}

fn about(graph: &Graph) -> String {
    match &graph.subtitle {
        Some(subtitle) if !subtitle.trim().is_empty() => format!("{} · {subtitle}", graph.size()),
        _ => graph.size(),
    }
}

fn edges(svg: &mut String, graph: &Graph, dag: &Dag, layout: &Layout) {
    for (edge, route) in dag.edges.iter().zip(&layout.routes) {
        let class = match edge.kind {
            EdgeKind::Data => "edge data",
            _ if graph.nodes[edge.to].conditional => "edge maybe",
            EdgeKind::Needs | EdgeKind::Order => "edge",
        };
        let _ = writeln!(svg, "<path class=\"{class}\" d=\"{}\"/>", path(route));
    }
    // Edges that end at the same place share one head.
    let heads: BTreeSet<(i64, i64)> = layout.routes.iter().map(|route| route.end).collect();
    for (x, y) in heads {
        let _ = writeln!(svg, "<path class=\"head\" d=\"M{x} {y}l-5 -9q5 2 10 0z\"/>");
    }
}

/// Returns the path of an edge: curves between rows, straight lines past the cards of a row.
fn path(route: &Route) -> String {
    /// The arrow's head, which the line must not stick out of.
    const HEAD: i64 = 6;
    let (mut x, mut y) = route.start;
    let mut path = format!("M{x} {y}");
    let mut to = |path: &mut String, next_x: i64, next_y: i64| {
        let bend = (next_y - y) / 2;
        let _ = if x == next_x {
            write!(path, "V{next_y}")
        } else {
            write!(path, "C{x} {} {next_x} {} {next_x} {next_y}", y + bend, next_y - bend)
        };
        (x, y) = (next_x, next_y);
    };
    for &(column, top, bottom) in &route.passes {
        to(&mut path, column, top);
        to(&mut path, column, bottom);
    }
    to(&mut path, route.end.0, route.end.1 - HEAD);
    path
}

fn text(svg: &mut String, class: &str, (x, y): (i64, i64), line: &str) {
    let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>", escaped(line));
}

/// What the signs of a drawing mean; only those that it uses.
struct Legend {
    kinds: Vec<StepType>,
    lines: Vec<(&'static str, &'static str)>,
}

impl Legend {
    const FONT: i64 = 11;

    fn new(graph: &Graph, dag: &Dag) -> Self {
        let kinds = StepType::ALL
            .iter()
            .copied()
            .filter(|kind| graph.nodes.iter().any(|node| node.kind == *kind))
            .collect();
        let mut lines = Vec::new();
        if graph.nodes.iter().any(|node| node.conditional) {
            lines.push(("edge maybe", "may be skipped"));
        }
        if dag.edges.iter().any(|edge| edge.kind == EdgeKind::Data) {
            lines.push(("edge data", "uses the output"));
        }
        Self { kinds, lines }
    }

    /// Returns how far apart two signs of the legend stand, for the words of the first.
    fn step(sign: i64, words: &str) -> i64 {
        sign + 8 + measure::width(words, Face::Sans, Self::FONT) + 18
    }

    fn width(&self) -> i64 {
        self.kinds.iter().map(|kind| Self::step(16, kind.word())).sum::<i64>()
            + self.lines.iter().map(|(_, words)| Self::step(28, words)).sum::<i64>()
    }

    fn draw(&self, svg: &mut String, (mut x, y): (i64, i64)) {
        for &kind in &self.kinds {
            let _ = write!(svg, "<g class=\"{}\">", kind.word());
            card::tile(svg, kind, (x, y - 8), 16);
            text(svg, "sub", (x + 24, y + 4), kind.word());
            svg.push_str("</g>\n");
            x += Self::step(16, kind.word());
        }
        for (class, words) in &self.lines {
            let _ = writeln!(svg, "<path class=\"{class}\" d=\"M{x} {y}h28\"/>");
            text(svg, "sub", (x + 36, y + 4), words);
            x += Self::step(28, words);
        }
    }
}
