//! The graph of steps: what waits for what, unknown names and circles.
//!
//! A step waits for the steps in its `needs`, and for every step whose results it uses in a template or a
//! condition: an output that is used must exist. Everything here is iterative, so that a chain of 50,000
//! steps is as safe as one of five.

use super::Steps;
use super::expressions::texts;
use crate::definition::{Ability, Step};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::source::Span;

/// One step waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dependency {
    /// The position of the step that must be done before.
    pub on: usize,
    /// Why.
    pub kind: DependencyKind,
    /// Where that is written.
    pub span: Span,
}

/// Why one step waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DependencyKind {
    /// It is named in `needs`.
    Needs,
    /// Its results are used.
    Uses,
}

/// Returns what each step waits for, by position; each other step at most once, `needs` first.
pub fn dependencies(ability: &Ability) -> Vec<Vec<Dependency>> {
    let positions = Positions::of(ability);
    Finder::all(ability, &positions)
}

/// Finds what one step after the other waits for.
struct Finder<'a> {
    positions: &'a Positions<'a>,
    /// For each step, the last one that was found to wait for it: a step may wait for thousands.
    found_by: Vec<Option<usize>>,
}

impl Finder<'_> {
    fn all(ability: &Ability, positions: &Positions<'_>) -> Vec<Vec<Dependency>> {
        let mut finder = Finder { positions, found_by: vec![None; ability.steps.len()] };
        ability.steps.iter().enumerate().map(|(index, step)| finder.of_step(index, step)).collect()
    }

    fn of_step(&mut self, index: usize, step: &Step) -> Vec<Dependency> {
        let positions = self.positions;
        let mut found: Vec<Dependency> = Vec::new();
        let mut add = |on: usize, kind, span| {
            if self.found_by[on].replace(index) != Some(index) {
                found.push(Dependency { on, kind, span });
            }
        };
        for need in &step.needs {
            if let Some(on) = positions.get(need.as_str()) {
                add(on, DependencyKind::Needs, need.span);
            }
        }
        for text in texts(step) {
            for path in text.references() {
                let mut segments = path.segments().iter();
                let is_step = segments.next().is_some_and(|root| root.name == "steps");
                if let Some(segment) = segments.next().filter(|_| is_step)
                && let Some(on) = positions.get(segment.name.as_str())
                // A step sees its own results in what is looked at when it has ended: that is no circle.
                && !(on == index && text.sees_itself())
                {
                    add(on, DependencyKind::Uses, path.span());
                }
            }
        }
        found
    }
}

/// Where the steps stand, by id.
///
/// A sorted list, because most abilities have a handful of steps: hashing their ids costs more.
struct Positions<'a>(Vec<(&'a str, usize)>);

impl<'a> Positions<'a> {
    fn of(ability: &'a Ability) -> Self {
        let mut positions: Vec<_> =
            ability.steps.iter().enumerate().map(|(index, step)| (step.id.as_str(), index)).collect();
        positions.sort_unstable();
        Self(positions)
    }

    /// Returns the position of a step; of one id the first wins.
    fn get(&self, id: &str) -> Option<usize> {
        let at = self.0.partition_point(|(known, _)| *known < id);
        self.0.get(at).filter(|(known, _)| *known == id).map(|(_, index)| *index)
    }
}

pub(super) fn check(ability: &Ability, steps: Steps, problems: &mut Problems) {
    let positions = Positions::of(ability);
    for (index, step) in ability.steps.iter().enumerate() {
        if let Some(first) = positions.get(step.id.as_str()).filter(|first| *first != index) {
            problems.push(
                Diagnostic::new(
                    Code::DuplicateStep,
                    step.id.span,
                    format!("a step `{}` exists already", *step.id),
                )
                .related(ability.steps[first].id.span, "the first one")
                .help("give this step an id of its own"),
            );
        }
        for need in &step.needs {
            if problems.is_full() {
                return;
            }
            if steps == Steps::All && positions.get(need.as_str()).is_none() {
                let known =
                    ability.steps.iter().map(|step| step.id.as_str()).filter(|id| *id != step.id.as_str());
                problems.push(
                    Diagnostic::new(
                        Code::UnknownNeed,
                        need.span,
                        format!("step `{}` needs `{}`, which is not a step", *step.id, **need),
                    )
                    .did_you_mean(need.as_str(), known)
                    .help("`needs` names steps of the same ability by their `id`"),
                );
            }
        }
    }
    let dependencies = Finder::all(ability, &positions);
    for cycle in cycles(&dependencies) {
        if problems.is_full() {
            return;
        }
        problems.push(describe(ability, &dependencies, &cycle));
    }
}

/// Returns the circles of a graph, each as the positions along it; none that shares a step with an earlier one.
pub(super) fn cycles(dependencies: &[Vec<Dependency>]) -> Vec<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; dependencies.len()];
    let mut cycles = Vec::new();
    for start in 0..dependencies.len() {
        if marks[start] != Mark::New {
            continue;
        }
        // Each entry is a step and how many of its dependencies have been followed.
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        marks[start] = Mark::Open;
        while let Some((step, followed)) = path.last_mut() {
            let Some(dependency) = dependencies[*step].get(*followed) else {
                marks[*step] = Mark::Done;
                path.pop();
                continue;
            };
            *followed += 1;
            let on = dependency.on;
            match marks[on] {
                Mark::New => {
                    marks[on] = Mark::Open;
                    path.push((on, 0));
                }
                Mark::Open => {
                    let from = path.iter().position(|(step, _)| *step == on).unwrap_or(0);
                    cycles.push(path[from..].iter().map(|(step, _)| *step).collect());
                    // What is in one circle is not reported in another: mending the first comes first.
                    for (step, _) in path.drain(..) {
                        marks[step] = Mark::Done;
                    }
                }
                Mark::Done => {}
            }
        }
    }
    cycles
}

/// How many steps of a circle a message spells out.
const SHOWN: usize = 12;

fn describe(ability: &Ability, dependencies: &[Vec<Dependency>], cycle: &[usize]) -> Diagnostic {
    let name = |index: usize| ability.steps[index].id.as_str();
    let edge =
        |from: usize, on: usize| dependencies[from].iter().find(|dependency| dependency.on == on).copied();
    if let [only] = cycle {
        let at = edge(*only, *only).map_or(ability.steps[*only].id.span, |dependency| dependency.span);
        return Diagnostic::new(Code::Cycle, at, format!("step `{}` waits for itself", name(*only)))
            .help("a step cannot need itself, and knows its own results only in `repeat.until`, `file_exists` and `check`");
    }
    let mut names: Vec<String> = cycle.iter().take(SHOWN).map(|index| name(*index).to_owned()).collect();
    if cycle.len() > SHOWN {
        names.push(format!("… {} more …", cycle.len() - SHOWN));
    }
    names.push(name(cycle[0]).to_owned());
    let mut problem: Option<Diagnostic> = None;
    for (position, from) in cycle.iter().enumerate().take(SHOWN) {
        let on = cycle[(position + 1) % cycle.len()];
        let Some(dependency) = edge(*from, on) else { continue };
        let verb = match dependency.kind {
            DependencyKind::Needs => "needs",
            DependencyKind::Uses => "uses the results of",
        };
        let text = format!("`{}` {verb} `{}`", name(*from), name(on));
        problem = Some(match problem {
            None => Diagnostic::new(
                Code::Cycle,
                dependency.span,
                format!("these steps wait for each other: {}", names.join(" → ")),
            )
            .label(text)
            .help("take one of these away, so that a step can be first"),
            Some(problem) => problem.related(dependency.span, text),
        });
    }
    problem.unwrap_or_else(|| Diagnostic::whole_file(Code::Cycle, "these steps wait for each other"))
}
