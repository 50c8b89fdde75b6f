//! Which row a step stands in: the first in which everything before it is done.
//!
//! So a row is a wave of steps that may run at the same time, which is what a reader wants to see; a layering
//! with shorter edges would hide it.

use super::super::dag::Dag;

/// Up to this many cards may stand in a row of even a small drawing.
const ALWAYS_FIT: usize = 6;

/// Returns the row of each node, from zero; every edge leads to a higher row.
pub(super) fn rows(dag: &Dag) -> Vec<usize> {
    let mut wave = vec![0; dag.order.len()];
    for &node in &dag.order {
        wave[node] = dag.before(node).map(|from| wave[from] + 1).max().unwrap_or(0);
    }
    wrapped(&wave)
}

/// Breaks waves that are too wide for a page into several rows, as even as possible.
///
/// What fits grows with the drawing, so that it stays about as wide as it is high.
fn wrapped(wave: &[usize]) -> Vec<usize> {
    let fit = (wave.len().isqrt() * 3 / 2).max(ALWAYS_FIT);
    let mut waves: Vec<Vec<usize>> = vec![Vec::new(); wave.iter().max().map_or(0, |last| last + 1)];
    for (node, &wave) in wave.iter().enumerate() {
        waves[wave].push(node);
    }
    let mut rows = vec![0; wave.len()];
    let mut first = 0;
    for members in waves {
        let lines = members.len().div_ceil(fit).max(1);
        let in_line = members.len().div_ceil(lines).max(1);
        for (index, node) in members.into_iter().enumerate() {
            rows[node] = first + index / in_line;
        }
        first += lines;
    }
    rows
}
