//! The drawing for a terminal: a chain is a list down one line, branches are indented once.
//!
//! Every step is shown once. Where the lines alone do not say what it waits for, its line ends in `← needs …`.

use super::dag::Dag;
use super::label;
use super::model::{EdgeKind, Graph, Node};
use super::outline::Outline;
use crate::definition::StepType;

/// Branches of branches are indented this often; what is deeper is listed flat.
const DEEPEST: usize = 8;
/// A line of detail is cut here.
const LONGEST: usize = 100;
/// So many steps are named after `needs`.
const NAMED: usize = 8;

/// Draws a graph as lines of text.
pub(super) fn draw(graph: &Graph) -> String {
    let dag = Dag::new(graph.nodes.len(), &graph.edges);
    let outline = Outline::new(&dag);
    let mut text = Text { graph, dag: &dag, outline: &outline, lines: String::new() };
    text.line("", &format!("{} · {}", label::line(&graph.title, LONGEST), graph.size()));
    if let Some(subtitle) = &graph.subtitle {
        text.line("", &label::line(subtitle, LONGEST));
    }
    text.tree();
    text.lines
}

struct Text<'a> {
    graph: &'a Graph,
    dag: &'a Dag,
    outline: &'a Outline,
    lines: String,
}

/// A piece of the drawing that is still to come.
enum Task {
    /// The step that goes on where the ones above meet; `above` when it stands right below a single step.
    Next { node: usize, above: Option<usize>, rail: Rail },
    /// One branch off `above`.
    Branch { node: usize, above: Option<usize>, last: bool, flat: bool, rail: Rail },
}

/// What stands left of a step, on all its lines.
#[derive(Clone)]
struct Rail {
    prefix: String,
    depth: usize,
}

impl Rail {
    /// Returns the rail of a branch: with a line for those that still come after it.
    fn branch(&self, last: bool) -> Self {
        let prefix = format!("{}{}", self.prefix, if last { "   " } else { "│  " });
        Self { prefix, depth: self.depth + 1 }
    }
}

impl Text<'_> {
    fn tree(&mut self) {
        let mut tasks = Vec::new();
        self.follow(None, &Rail { prefix: String::new(), depth: 0 }, &mut tasks);
        while let Some(task) = tasks.pop() {
            match task {
                Task::Next { node, above, rail } => {
                    self.line(&rail.prefix, "│");
                    self.step(node, above, &rail.prefix, &rail, &mut tasks);
                }
                Task::Branch { node, above, last, flat, rail } => {
                    let own = rail.branch(last);
                    let first = format!("{}{}", rail.prefix, if last { "└─ " } else { "├─ " });
                    if flat {
                        self.heading(node, above, &first);
                        self.details(node, &own.prefix, "    ");
                    } else {
                        self.step(node, above, &first, &own, &mut tasks);
                    }
                }
            }
        }
    }

    /// Draws one step and puts what follows it on the list of tasks.
    fn step(&mut self, node: usize, above: Option<usize>, first: &str, rail: &Rail, tasks: &mut Vec<Task>) {
        self.heading(node, above, first);
        let section = self.outline.after(node);
        let ends = section.branches.is_empty() && section.next.is_none();
        self.details(node, &rail.prefix, if ends { "    " } else { "│   " });
        self.follow(Some(node), rail, tasks);
    }

    /// Puts what follows a step (or the title) on the list of tasks, last first.
    fn follow(&mut self, above: Option<usize>, rail: &Rail, tasks: &mut Vec<Task>) {
        let section = above.map_or_else(|| self.outline.start(), |node| self.outline.after(node));
        let flat = rail.depth >= DEEPEST && !section.branches.is_empty();
        let (branches, next) = if flat {
            (self.everything_after(above), None)
        } else {
            (section.branches.clone(), section.next)
        };
        if let Some(node) = next {
            let above = above.filter(|_| branches.is_empty());
            tasks.push(Task::Next { node, above, rail: rail.clone() });
        }
        if !branches.is_empty() {
            self.line(&rail.prefix, "│");
        }
        let count = branches.len();
        for (index, node) in branches.into_iter().enumerate().rev() {
            let last = index + 1 == count && next.is_none();
            tasks.push(Task::Branch { node, above, last, flat, rail: rail.clone() });
        }
    }

    /// Lists all steps that stand under one, however deep.
    fn everything_after(&self, above: Option<usize>) -> Vec<usize> {
        let mut open = vec![above];
        let mut all = Vec::new();
        while let Some(node) = open.pop() {
            let section = node.map_or_else(|| self.outline.start(), |node| self.outline.after(node));
            // Last first, because what is pushed last is listed first.
            for &next in section.next.iter().chain(section.branches.iter().rev()) {
                open.push(Some(next));
            }
            all.extend(node.filter(|_| node != above));
        }
        all
    }

    /// Draws the line that names a step.
    fn heading(&mut self, node: usize, above: Option<usize>, prefix: &str) {
        let Node { id, kind, title, conditional, .. } = &self.graph.nodes[node];
        let mut text = format!("{} {} · {}", symbol(*kind), label::line(id, LONGEST), kind.word());
        if *conditional {
            text.push_str(" (conditional)");
        }
        if let Some(title) = label::title_beside(id, title) {
            text.push_str(" · ");
            text.push_str(&label::line(title, LONGEST));
        }
        let mut reasons = Vec::new();
        for (kind, word) in [(EdgeKind::Needs, "needs"), (EdgeKind::Order, "after"), (EdgeKind::Data, "uses")]
        {
            let of_kind = |&&edge: &&usize| self.dag.edges[edge].kind == kind;
            let from: Vec<usize> =
                self.dag.into[node].iter().filter(of_kind).map(|&edge| self.dag.edges[edge].from).collect();
            // The line down from a single step says it already.
            if from.iter().any(|&from| Some(from) != above) {
                reasons.push(format!("{word} {}", self.names(&from)));
            }
        }
        if !reasons.is_empty() {
            text.push_str("  ← ");
            text.push_str(&reasons.join("; "));
        }
        self.line(prefix, &text);
    }

    /// Lists the names of steps, a long list by its beginning.
    fn names(&self, nodes: &[usize]) -> String {
        let name = |&node: &usize| label::line(&self.graph.nodes[node].id, LONGEST);
        let names: Vec<String> = nodes.iter().take(NAMED).map(name).collect();
        let rest = nodes.len() - names.len();
        let more = if rest == 0 { String::new() } else { format!(" and {rest} more") };
        names.join(", ") + &more
    }

    fn details(&mut self, node: usize, prefix: &str, gutter: &str) {
        for detail in &self.graph.nodes[node].detail {
            self.line(prefix, &format!("{gutter}{}", label::line(detail, LONGEST)));
        }
    }

    fn line(&mut self, prefix: &str, text: &str) {
        let line = format!("{prefix}{text}");
        self.lines.push_str(line.trim_end());
        self.lines.push('\n');
    }
}

/// Returns the sign of a kind: one column wide in every terminal, never an emoji.
fn symbol(kind: StepType) -> char {
    match kind {
        StepType::Script => '❯',
        StepType::Agent => '✦',
        StepType::Skill => '§',
        StepType::Approval => '◆',
        StepType::Workflow => '▣',
    }
}
