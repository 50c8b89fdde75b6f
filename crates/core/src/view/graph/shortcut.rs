//! Which edges only repeat what others say: `deploy` needs `build` and `scan`, but `scan` needs `build` anyway.
//!
//! They are still drawn, but the shape of a drawing is decided without them.

use super::dag::Dag;

/// How many looks at an edge the search may take; what it does not get to is taken for direct.
const SEARCH: usize = 4_000_000;

/// Marks the edges whose end can also be reached by way of others.
pub(super) fn shortcuts(dag: &Dag) -> Vec<bool> {
    let mut shortcut = vec![false; dag.edges.len()];
    let mut place = vec![0; dag.order.len()];
    for (index, &node) in dag.order.iter().enumerate() {
        place[node] = index;
    }
    // For which node each was last found to come before one of its predecessors.
    let mut found_for = vec![usize::MAX; dag.order.len()];
    let mut looks = SEARCH;
    for &node in dag.order.iter().filter(|&&node| dag.into[node].len() > 1) {
        let earliest = dag.before(node).map(|from| place[from]).min().unwrap_or(0);
        let mut open: Vec<usize> = dag.before(node).collect();
        while let Some(from) = open.pop() {
            for &edge in &dag.into[from] {
                if looks == 0 {
                    return shortcut;
                }
                looks -= 1;
                let earlier = dag.edges[edge].from;
                if !shortcut[edge] && place[earlier] >= earliest && found_for[earlier] != node {
                    found_for[earlier] = node;
                    open.push(earlier);
                }
            }
        }
        for &edge in &dag.into[node] {
            shortcut[edge] = found_for[dag.edges[edge].from] == node;
        }
    }
    shortcut
}

#[cfg(test)]
mod tests {
    use super::super::model::{Edge, EdgeKind};
    use super::*;

    #[test]
    fn an_edge_past_a_longer_way_is_a_shortcut() {
        let edges = [(0, 1), (0, 3), (1, 2), (1, 3), (2, 3)];
        let edges = edges.map(|(from, to)| Edge { from, to, kind: EdgeKind::Needs });
        assert_eq!(shortcuts(&Dag::new(4, &edges)), [false, true, false, true, false]);
    }
}
