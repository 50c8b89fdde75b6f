//! The edges that can be drawn: in range, once each, and never in a circle.
//!
//! A valid ability has no cycle, but a drawing is also what somebody asks for to understand a broken one.

use super::model::Edge;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A graph's edges without those that cannot be drawn, and an order in which all of them point forward.
pub(super) struct Dag {
    /// What is left of the edges, sorted.
    pub(super) edges: Vec<Edge>,
    /// Per node: which of `edges` come in, by the order of their sources.
    pub(super) into: Vec<Vec<usize>>,
    /// All nodes, each after everything that it follows; as near to the given order as that allows.
    pub(super) order: Vec<usize>,
}

impl Dag {
    /// Takes the edges of `nodes` nodes; of two between the same nodes, the stronger kind stays.
    pub(super) fn new(nodes: usize, edges: &[Edge]) -> Self {
        let mut edges: Vec<Edge> = edges
            .iter()
            .copied()
            .filter(|edge| edge.from < nodes && edge.to < nodes && edge.from != edge.to)
            .collect();
        edges.sort_unstable();
        edges.dedup_by_key(|edge| (edge.from, edge.to));

        let closing = closing_edges(&edges, &by_end(nodes, &edges, |edge| edge.from));
        let mut closing = closing.into_iter();
        edges.retain(|_| !closing.next().unwrap_or(false));

        let into = by_end(nodes, &edges, |edge| edge.to);
        let out = by_end(nodes, &edges, |edge| edge.from);
        let order = forward_order(&edges, &into, &out);
        Self { edges, into, order }
    }

    /// Yields the nodes that a node follows.
    pub(super) fn before(&self, node: usize) -> impl Iterator<Item = usize> {
        self.into[node].iter().map(|&edge| self.edges[edge].from)
    }
}

/// Lists, per node, the edges that have it at one end.
fn by_end(nodes: usize, edges: &[Edge], end: impl Fn(&Edge) -> usize) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new(); nodes];
    for (index, edge) in edges.iter().enumerate() {
        lists[end(edge)].push(index);
    }
    lists
}

/// Marks the edges that close a cycle: those that lead back into the path of a depth-first walk.
///
/// The walk keeps its own stack, because a chain may be far deeper than the machine's.
fn closing_edges(edges: &[Edge], out: &[Vec<usize>]) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        OnPath,
        Done,
    }
    let mut closing = vec![false; edges.len()];
    let mut seen = vec![Seen::No; out.len()];
    for start in 0..out.len() {
        if seen[start] != Seen::No {
            continue;
        }
        seen[start] = Seen::OnPath;
        let mut path = vec![(start, 0)];
        while let Some((node, next)) = path.last_mut() {
            let Some(&edge) = out[*node].get(*next) else {
                seen[*node] = Seen::Done;
                path.pop();
                continue;
            };
            *next += 1;
            let to = edges[edge].to;
            match seen[to] {
                Seen::No => {
                    seen[to] = Seen::OnPath;
                    path.push((to, 0));
                }
                Seen::OnPath => closing[edge] = true,
                Seen::Done => {}
            }
        }
    }
    closing
}

/// Orders the nodes so that every edge points forward, preferring the given order.
fn forward_order(edges: &[Edge], into: &[Vec<usize>], out: &[Vec<usize>]) -> Vec<usize> {
    let mut missing: Vec<usize> = into.iter().map(Vec::len).collect();
    let mut ready: BinaryHeap<_> = (0..into.len()).filter(|&node| missing[node] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(into.len());
    while let Some(Reverse(node)) = ready.pop() {
        order.push(node);
        for &edge in &out[node] {
            let to = edges[edge].to;
            missing[to] -= 1;
            if missing[to] == 0 {
                ready.push(Reverse(to));
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::super::model::EdgeKind::{Data, Needs};
    use super::*;

    #[test]
    fn what_cannot_be_drawn_is_left_out() {
        let edge = |from, to, kind| Edge { from, to, kind };
        let given = [
            edge(2, 0, Needs), // closes 0 → 1 → 2
            edge(0, 1, Data),
            edge(0, 1, Needs), // stronger than the one before
            edge(1, 2, Needs),
            edge(1, 1, Needs),
            edge(1, 7, Needs),
        ];
        let dag = Dag::new(3, &given);
        assert_eq!(dag.edges, [edge(0, 1, Needs), edge(1, 2, Needs)]);
        assert_eq!(dag.order, [0, 1, 2]);
    }
}
