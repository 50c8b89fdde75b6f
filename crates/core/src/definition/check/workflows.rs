//! Abilities that call each other: in a circle, or too deeply.

use super::graph::{Dependency, DependencyKind, cycles};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::collections::HashMap;
use std::sync::Arc;

/// How many abilities may call each other in a row.
pub const DEEPEST_WORKFLOW: usize = 8;

/// A `workflow` step, seen from outside its ability.
#[derive(Debug, Clone)]
pub struct Call {
    /// The file of the calling ability.
    pub file: Arc<str>,
    /// The calling ability.
    pub from: Arc<str>,
    /// The called ability.
    pub to: Arc<str>,
    /// Where the call is written.
    pub span: Span,
}

/// Returns what is wrong between abilities, each with the file that it is about.
pub fn workflows(calls: &[Call]) -> Vec<(Arc<str>, Diagnostic)> {
    let mut positions: HashMap<&str, usize> = HashMap::new();
    let mut names: Vec<&str> = Vec::new();
    for call in calls {
        for name in [&call.from, &call.to] {
            positions.entry(name).or_insert_with(|| {
                names.push(name);
                names.len() - 1
            });
        }
    }
    let mut outgoing: Vec<Vec<(Dependency, &Call)>> = vec![Vec::new(); names.len()];
    for call in calls {
        let dependency = Dependency { on: positions[&*call.to], kind: DependencyKind::Uses, span: call.span };
        outgoing[positions[&*call.from]].push((dependency, call));
    }
    let graph: Vec<Vec<Dependency>> =
        outgoing.iter().map(|edges| edges.iter().map(|(dependency, _)| *dependency).collect()).collect();
    let mut problems = Vec::new();
    let circles = cycles(&graph);
    for cycle in &circles {
        let mut path: Vec<&str> = cycle.iter().map(|index| names[*index]).collect();
        path.push(names[cycle[0]]);
        let mut problem: Option<(Arc<str>, Diagnostic)> = None;
        for (position, from) in cycle.iter().enumerate() {
            let on = cycle[(position + 1) % cycle.len()];
            let Some((_, call)) = outgoing[*from].iter().find(|(dependency, _)| dependency.on == on) else {
                continue;
            };
            let text = format!("`{}` calls `{}`", call.from, call.to);
            match &mut problem {
                None => {
                    let message = format!("these abilities call each other: {}", path.join(" → "));
                    let found = Diagnostic::new(Code::WorkflowCycle, call.span, message)
                        .label(text)
                        .help("a run would never end; take one of the calls away");
                    problem = Some((Arc::clone(&call.file), found));
                }
                Some((_, first)) => {
                    *first = first.clone().related_in(Arc::clone(&call.file), call.span, text);
                }
            }
        }
        problems.extend(problem);
    }
    if circles.is_empty() {
        problems.extend(too_deep(&names, &outgoing));
    }
    problems
}

/// Reports the first call that is nested deeper than [`DEEPEST_WORKFLOW`]; the graph has no circles.
fn too_deep(names: &[&str], outgoing: &[Vec<(Dependency, &Call)>]) -> Option<(Arc<str>, Diagnostic)> {
    // The longest chain below each ability, computed from the leaves up without recursion.
    let mut depth = vec![0_usize; names.len()];
    let mut waiting: Vec<usize> = outgoing.iter().map(Vec::len).collect();
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); names.len()];
    for (from, edges) in outgoing.iter().enumerate() {
        for (dependency, _) in edges {
            callers[dependency.on].push(from);
        }
    }
    let mut ready: Vec<usize> = (0..names.len()).filter(|index| waiting[*index] == 0).collect();
    while let Some(done) = ready.pop() {
        for caller in &callers[done] {
            depth[*caller] = depth[*caller].max(depth[done] + 1);
            waiting[*caller] -= 1;
            if waiting[*caller] == 0 {
                ready.push(*caller);
            }
        }
    }
    let top = (0..names.len()).find(|index| depth[*index] >= DEEPEST_WORKFLOW)?;
    let (_, call) = outgoing[top].iter().max_by_key(|(dependency, _)| depth[dependency.on])?;
    let message = format!(
        "`{}` starts a chain of {} abilities that call each other; {DEEPEST_WORKFLOW} is the most",
        call.from,
        depth[top] + 1
    );
    Some((
        Arc::clone(&call.file),
        Diagnostic::new(Code::WorkflowTooDeep, call.span, message)
            .help("call the inner abilities from fewer layers"),
    ))
}
