//! In which order steps would begin.

use crate::definition::check::Dependency;
use std::collections::BTreeSet;

/// Returns the steps in their order, each with the number of its stage, counted from 1.
///
/// One after the other, each step is a stage of its own. In parallel, a stage is what waits for nothing but
/// earlier stages. Steps that wait for each other in a circle are left out.
pub(super) fn stages(waits: &[Vec<Dependency>], parallel: bool) -> Vec<(usize, usize)> {
    let mut unmet: Vec<usize> = waits.iter().map(Vec::len).collect();
    let mut dependents = vec![Vec::new(); waits.len()];
    for (step, before) in waits.iter().enumerate() {
        for dependency in before {
            dependents[dependency.on].push(step);
        }
    }
    let mut level = vec![1; waits.len()];
    let mut order = Vec::with_capacity(waits.len());
    let start = unmet.iter().enumerate().filter(|(_, unmet)| **unmet == 0);
    let mut ready: BTreeSet<(usize, usize)> = start.map(|(step, _)| (usize::from(parallel), step)).collect();
    while let Some((_, step)) = ready.pop_first() {
        order.push((if parallel { level[step] } else { order.len() + 1 }, step));
        for dependent in std::mem::take(&mut dependents[step]) {
            level[dependent] = level[dependent].max(level[step] + 1);
            unmet[dependent] -= 1;
            if unmet[dependent] == 0 {
                ready.insert((if parallel { level[dependent] } else { 0 }, dependent));
            }
        }
    }
    order
}
