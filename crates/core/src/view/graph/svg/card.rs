//! One step as a card: what kind it is, what it does, and the lines about it.

use super::super::label;
use super::super::layout::Card;
use super::super::model::Node;
use super::measure::{self, Face};
use crate::definition::StepType;
use std::fmt::Write as _;

/// The narrowest that cards may be.
const NARROWEST: i64 = 168;
/// So many lines of detail are shown; the rest is in the tooltip.
const MOST_DETAILS: usize = 4;
/// Where the words start, right of the tile.
const TEXT: i64 = 52;
/// The space at the sides.
const PADDING: i64 = 14;
/// The height of the part above the details.
const HEAD: i64 = 54;
/// The height of a line of detail.
const LINE: i64 = 16;
/// The font sizes of the title, the line below it, and the details.
const TITLE: i64 = 14;
const SUB: i64 = 11;
const DETAIL: i64 = 11;

/// Returns how high a step's card has to be.
pub(super) fn height(node: &Node) -> i64 {
    match details(node).len() {
        0 => HEAD,
        lines => HEAD + 14 + LINE * i64::try_from(lines).unwrap_or(0),
    }
}

/// Returns the width that all cards share: as wide as the widest needs, but less the more stand beside each other.
pub(super) fn common_width(nodes: &[Node], beside: usize) -> i64 {
    let limit = match beside {
        0..=2 => 360,
        3..=4 => 296,
        _ => 248,
    };
    let needed = |node: &Node| {
        let title = measure::width(&title(node), Face::Bold, TITLE) + TEXT;
        let sub = measure::width(&sub(node), Face::Sans, SUB) + TEXT;
        let details = details(node);
        let detail = details.iter().map(|line| measure::width(line, Face::Mono, DETAIL) + PADDING).max();
        title.max(sub).max(detail.unwrap_or(0)) + PADDING
    };
    let widest = nodes.iter().map(needed).max().unwrap_or(0).clamp(NARROWEST, limit);
    widest + widest % 2
}

/// Draws a step's card.
pub(super) fn draw(svg: &mut String, node: &Node, at: Card) {
    let Card { left, top, width, height } = at;
    let _ = writeln!(
        svg,
        "<g class=\"{}\" transform=\"translate({left} {top})\"><title>{}</title>",
        node.kind.word(),
        escaped(&tooltip(node))
    );
    let dashed = if node.conditional { " if" } else { "" };
    let _ = writeln!(
        svg,
        "<rect class=\"shade\" y=\"2\" width=\"{width}\" height=\"{height}\" rx=\"10\"/>\
         <rect class=\"card{dashed}\" width=\"{width}\" height=\"{height}\" rx=\"10\"/>"
    );
    tile(svg, node.kind, (12, 12), 30);
    let room = width - TEXT - PADDING;
    super::text(svg, "title", (TEXT, 25), &measure::fitted(&title(node), Face::Bold, TITLE, room));
    let kind = node.kind.word();
    let sub = measure::fitted(&sub(node), Face::Sans, SUB, room);
    let rest = sub.strip_prefix(kind).unwrap_or_default();
    let _ = writeln!(
        svg,
        "<text class=\"sub\" x=\"{TEXT}\" y=\"41\"><tspan class=\"kind\">{kind}</tspan>{}</text>",
        escaped(rest)
    );
    let details = details(node);
    if !details.is_empty() {
        let _ = writeln!(svg, "<path class=\"rule\" d=\"M1 {HEAD}H{}\"/>", width - 1);
    }
    let mut y = HEAD + 18;
    for detail in &details {
        let line = measure::fitted(detail, Face::Mono, DETAIL, width - 2 * PADDING);
        super::text(svg, "detail", (PADDING, y), &line);
        y += LINE;
    }
    svg.push_str("</g>\n");
}

/// Draws the coloured tile with the sign of a kind, in pixels of a 30 × 30 tile scaled to `size`.
pub(super) fn tile(svg: &mut String, kind: StepType, (x, y): (i64, i64), size: i64) {
    let glyph = match kind {
        StepType::Script => "M9 10l5 5-5 5M16 20h6",
        StepType::Agent => "M15 7l2.2 5.8L23 15l-5.8 2.2L15 23l-2.2-5.8L7 15l5.8-2.2z",
        StepType::Skill => {
            "M15 11c-2-1.7-4.5-2.2-7-1.8v11c2.5-.4 5 .1 7 1.8 2-1.7 4.5-2.2 7-1.8v-11c-2.5-.4-5 .1-7 1.8zv11"
        }
        StepType::Approval => "M8.5 15.5l4.5 4.5 8.5-10",
        StepType::Workflow => "M8 8h6v6H8zM16 16h6v6h-6zM11 14v5h5",
    };
    let _ = writeln!(
        svg,
        "<svg x=\"{x}\" y=\"{y}\" width=\"{size}\" height=\"{size}\" viewBox=\"0 0 30 30\">\
         <rect class=\"tile\" width=\"30\" height=\"30\" rx=\"8\"/><path class=\"glyph\" d=\"{glyph}\"/></svg>"
    );
}

/// Escapes for XML text and attributes; `label` has taken out what XML cannot hold at all.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&apos;")
}

fn title(node: &Node) -> String {
    label::line(label::title_beside(&node.id, &node.title).unwrap_or(&node.id), 200)
}

/// Returns the line below the title: the kind, and the id where the title is another.
fn sub(node: &Node) -> String {
    match label::title_beside(&node.id, &node.title) {
        Some(_) => format!("{} · {}", node.kind.word(), label::line(&node.id, 200)),
        None => node.kind.word().to_owned(),
    }
}

fn details(node: &Node) -> Vec<String> {
    let all = node.detail.len();
    let shown = if all > MOST_DETAILS { MOST_DETAILS - 1 } else { all };
    let mut lines: Vec<String> = node.detail[..shown].iter().map(|line| label::line(line, 200)).collect();
    if shown < all {
        lines.push(format!("… {} more", all - shown));
    }
    lines
}

/// Returns everything about a step, for whoever points at its card or cannot see it.
fn tooltip(node: &Node) -> String {
    const MOST_LINES: usize = 20;
    let mut lines = vec![format!("{} ({})", label::line(&node.id, 200), node.kind.word())];
    lines.extend(label::title_beside(&node.id, &node.title).map(|title| label::line(title, 400)));
    lines.extend(node.detail.iter().take(MOST_LINES).map(|line| label::line(line, 400)));
    lines.join("\n")
}
