//! The model that a caller fills: what is drawn, and nothing about how.

use crate::definition::StepType;

/// An ability's steps and how they follow each other.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Graph {
    /// The ability's name.
    pub title: String,
    /// One line about it: its description.
    pub subtitle: Option<String>,
    /// The steps, in the order in which they are listed.
    pub nodes: Vec<Node>,
    /// What follows what, by index into `nodes`.
    ///
    /// An edge that makes no sense (out of range, to itself, twice, or closing a cycle) is left out of the
    /// drawing, so that a broken ability can still be looked at.
    pub edges: Vec<Edge>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// The name that `needs` uses.
    pub id: String,
    /// What kind of step it is.
    pub kind: StepType,
    /// What it does, in a few words; the same as `id` when the step does not say.
    pub title: String,
    /// Short lines about it: the command, the agent's name, `when …`, `for_each …`.
    pub detail: Vec<String>,
    /// Whether the step has a `when`, and so may be skipped.
    pub conditional: bool,
}

/// That one step comes after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Edge {
    /// The step that comes first.
    pub from: usize,
    /// The step that comes after it.
    pub to: usize,
    /// Why.
    pub kind: EdgeKind,
}

/// Why one step comes after another; where two reasons meet, the first of these is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EdgeKind {
    /// The step says `needs`.
    Needs,
    /// The steps run in the order of the list.
    Order,
    /// A template of the step uses the other's output.
    Data,
}

impl Graph {
    /// Returns the steps as a tree for a terminal, readable without colour.
    pub fn to_text(&self) -> String {
        super::text::draw(self)
    }

    /// Returns a Mermaid `flowchart`.
    pub fn to_mermaid(&self) -> String {
        super::mermaid::draw(self)
    }

    /// Returns a Graphviz `digraph`.
    pub fn to_dot(&self) -> String {
        super::dot::draw(self)
    }

    /// Returns a standalone SVG document, for light and dark pages.
    pub fn to_svg(&self) -> String {
        super::svg::draw(self)
    }

    /// Returns the one line about the whole: how many steps there are.
    pub(super) fn size(&self) -> String {
        match self.nodes.len() {
            0 => "no steps".to_owned(),
            1 => "1 step".to_owned(),
            many => format!("{many} steps"),
        }
    }
}
