//! An ability as the model that is drawn.

use super::{Edge, EdgeKind, Graph, Node};
use crate::definition::check::{DependencyKind, dependencies};
use crate::definition::{Ability, Items, Step, StepKind};

impl Graph {
    /// Returns the steps of an ability and what each of them waits for.
    ///
    /// Where steps run one after the other and nothing else orders them, their place in the list does.
    pub fn of(ability: &Ability) -> Self {
        let nodes = ability.steps.iter().map(node).collect();
        let mut edges = Vec::new();
        for (to, before) in dependencies(ability).iter().enumerate() {
            for dependency in before {
                let kind = match dependency.kind {
                    DependencyKind::Needs => EdgeKind::Needs,
                    DependencyKind::Uses => EdgeKind::Data,
                };
                edges.push(Edge { from: dependency.on, to, kind });
            }
            if before.is_empty() && to > 0 && !ability.settings.is_parallel() {
                edges.push(Edge { from: to - 1, to, kind: EdgeKind::Order });
            }
        }
        Self {
            title: ability.name.to_string(),
            subtitle: Some(ability.description.value.clone()).filter(|text| !text.is_empty()),
            nodes,
            edges,
        }
    }
}

fn node(step: &Step) -> Node {
    let what = match &step.kind {
        StepKind::Script(script) => first_line(script.run.text()),
        StepKind::Agent(agent) => format!("agent {}", *agent.agent),
        StepKind::Skill(skill) => format!("skill {}", *skill.skill),
        StepKind::Approval(approval) => first_line(approval.prompt.text()),
        StepKind::Workflow(workflow) => format!("ability {}", *workflow.workflow),
    };
    let mut detail = vec![what];
    if let Some(for_each) = &step.for_each {
        detail.push(match &for_each.items.value {
            Items::Template(items) => format!("for each of {}", items.text()),
            Items::List(items) => format!("for each of {} items", items.len()),
        });
    }
    if let Some(repeat) = &step.repeat {
        detail.push(format!("until {}", *repeat.until));
    }
    if let Some(when) = &step.when {
        detail.push(format!("when {}", **when));
    }
    let title = step.description.as_ref().map_or(step.id.as_str(), |description| description.as_str());
    Node {
        id: step.id.to_string(),
        kind: step.kind.step_type(),
        title: first_line(title),
        detail,
        conditional: step.when.is_some(),
    }
}

/// Returns the first line that says something.
fn first_line(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    if lines.next().is_some() { format!("{first} …") } else { first }
}
