//! Steps as an outline: which of them branch off, and which one goes on where all branches meet again.
//!
//! A tree of "who needs me" would show a join once per branch and indent a chain ever deeper. Instead a step
//! stands under the last step that every way to it goes through (its dominator), so a join stands beside the
//! branches that it joins, and a chain needs no indentation at all.

use super::dag::Dag;
use super::shortcut::shortcuts;

/// What follows each step, and what a drawing starts with.
pub(super) struct Outline {
    /// Per step, and in the last place for the start of it all.
    sections: Vec<Section>,
}

/// What follows one step, or the start.
#[derive(Default, Clone)]
pub(super) struct Section {
    /// Those that run beside each other, in an order in which each comes after what it needs.
    pub(super) branches: Vec<usize>,
    /// The one after all branches (or the only one), which everything in them leads to.
    pub(super) next: Option<usize>,
}

impl Outline {
    /// Finds the outline of a graph.
    pub(super) fn new(dag: &Dag) -> Self {
        let nodes = dag.order.len();
        let before = direct_predecessors(dag);
        let dominators = Dominators::new(dag, &before);
        let mut sections = vec![Section::default(); nodes + 1];
        let mut leads_on = vec![false; nodes];
        for &node in &dag.order {
            let under = dominators.parent[node];
            sections[under].branches.push(node);
            for &from in before[node].iter().filter(|&&from| from != under) {
                leads_on[dominators.ancestor_below(from, under)] = true;
            }
        }
        for section in &mut sections {
            // With a single end, everything leads to it: it is where the branches meet.
            let mut ends = section.branches.iter().filter(|&&node| !leads_on[node]);
            if let (Some(&end), None) = (ends.next(), ends.next()) {
                section.branches.retain(|&node| node != end);
                section.next = Some(end);
            }
        }
        Self { sections }
    }

    /// Returns what stands at the very start.
    pub(super) fn start(&self) -> &Section {
        &self.sections[self.sections.len() - 1]
    }

    /// Returns what follows a step.
    pub(super) fn after(&self, node: usize) -> &Section {
        &self.sections[node]
    }
}

/// Lists, per node, what it follows directly; a shortcut would hide that branches have met before.
fn direct_predecessors(dag: &Dag) -> Vec<Vec<usize>> {
    let shortcut = shortcuts(dag);
    let direct = |edges: &Vec<usize>| {
        edges.iter().filter(|&&edge| !shortcut[edge]).map(|&edge| dag.edges[edge].from).collect()
    };
    dag.into.iter().map(direct).collect()
}

/// The tree of dominators, with jumps upward so that a common ancestor is found in logarithmic time.
struct Dominators {
    parent: Vec<usize>,
    depth: Vec<usize>,
    jump: Vec<usize>,
}

impl Dominators {
    fn new(dag: &Dag, before: &[Vec<usize>]) -> Self {
        let start = dag.order.len();
        let mut tree =
            Self { parent: vec![start; start + 1], depth: vec![0; start + 1], jump: vec![start; start + 1] };
        for &node in &dag.order {
            let parent = before[node].iter().copied().reduce(|a, b| tree.common(a, b)).unwrap_or(start);
            let (jump, depth) = (tree.jump[parent], &tree.depth);
            // Myers' skew-binary jumps: as long as the last two together, when those are equally long.
            let equal = depth[parent] - depth[jump] == depth[jump] - depth[tree.jump[jump]];
            tree.jump[node] = if equal { tree.jump[jump] } else { parent };
            tree.depth[node] = tree.depth[parent] + 1;
            tree.parent[node] = parent;
        }
        tree
    }

    /// Returns the ancestor of a node (or the node itself) at a depth.
    fn ancestor_at(&self, mut node: usize, depth: usize) -> usize {
        while self.depth[node] > depth {
            let jump = self.jump[node];
            node = if self.depth[jump] >= depth { jump } else { self.parent[node] };
        }
        node
    }

    /// Returns the child of `top` that `node` stands under.
    fn ancestor_below(&self, node: usize, top: usize) -> usize {
        self.ancestor_at(node, self.depth[top] + 1)
    }

    fn common(&self, a: usize, b: usize) -> usize {
        let depth = self.depth[a].min(self.depth[b]);
        let (mut a, mut b) = (self.ancestor_at(a, depth), self.ancestor_at(b, depth));
        while a != b {
            let jumps = self.jump[a] != self.jump[b];
            (a, b) = if jumps { (self.jump[a], self.jump[b]) } else { (self.parent[a], self.parent[b]) };
        }
        a
    }
}
