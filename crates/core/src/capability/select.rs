//! Which capabilities an agent gets, in which order, and what their tools are called.

use super::{CapabilityId, CapabilityStatus, Requirement, ToolName};
use crate::diagnostic::nearest;
use std::collections::BTreeMap;

/// A capability that there is, as far as choosing among them needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Its id.
    pub id: CapabilityId,
    /// Its version.
    pub version: u32,
    /// Whether it can be used.
    pub status: CapabilityStatus,
    /// What it needs.
    pub depends_on: Vec<Requirement>,
    /// The names of its tools, in order.
    pub tools: Vec<ToolName>,
}

/// What happens to two tools with one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Conflicts {
    /// The agent is refused.
    #[default]
    Refuse,
    /// The capability that comes first keeps the name; the tool of the other becomes `<capability>__<tool>`.
    Alias,
}

/// A capability that an agent gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// Its id.
    pub id: CapabilityId,
    /// The capability that brought it along, if the agent did not name it.
    pub because_of: Option<CapabilityId>,
    /// Its tools, with the names that the model is told.
    pub tools: Vec<SelectedTool>,
}

/// A tool that an agent gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedTool {
    /// What it is called by those who made it.
    pub name: ToolName,
    /// What the model calls it.
    pub called: ToolName,
}

/// Why an agent cannot have what it names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// There is none with that id.
    #[error("there is no capability `{id}`{}", hint(nearest.as_deref()))]
    Unknown {
        /// What was named.
        id: String,
        /// What it may have been meant to be.
        nearest: Option<String>,
    },
    /// One is named twice.
    #[error("capability `{0}` is named twice")]
    Twice(CapabilityId),
    /// One cannot be used.
    #[error("capability `{id}` cannot be used: {why}")]
    Unusable {
        /// Which one.
        id: CapabilityId,
        /// Why not.
        why: String,
    },
    /// One needs what is not there.
    #[error("capability `{id}` needs `{needs}`, which does not exist")]
    Missing {
        /// Which one.
        id: CapabilityId,
        /// What it needs.
        needs: CapabilityId,
    },
    /// One is there in another version.
    #[error("{} version {wanted} of capability `{id}` is needed, and version {has} is there", asker.as_ref().map_or_else(|| "the agent asks:".to_owned(), |asker| format!("for `{asker}`,")))]
    Version {
        /// Which one.
        id: CapabilityId,
        /// The version that is needed.
        wanted: u32,
        /// The version that there is.
        has: u32,
        /// The capability that needs it, if the agent did not name it.
        asker: Option<CapabilityId>,
    },
    /// Some need each other in a circle.
    #[error("capabilities need each other in a circle: {}", circle(.0))]
    Circle(Vec<CapabilityId>),
    /// Two tools have one name.
    #[error(
        "`{first}` and `{second}` both have a tool `{tool}`: leave one out, or let the second be aliased"
    )]
    Conflict {
        /// Whose tool comes first.
        first: CapabilityId,
        /// Whose comes later.
        second: CapabilityId,
        /// The name of both.
        tool: ToolName,
    },
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|id| format!("; did you mean `{id}`?")).unwrap_or_default()
}

fn circle(ids: &[CapabilityId]) -> String {
    ids.iter().map(CapabilityId::as_str).collect::<Vec<_>>().join(" → ")
}

/// Returns the capabilities that an agent gets for the ids that it names, or every reason why it cannot have them.
///
/// They stand in the order of the ids; what one needs and nobody named stands right before it. The same ids always
/// give the same order and the same tool names.
pub fn select(
    wanted: &[&str],
    offers: &[Offer],
    conflicts: Conflicts,
) -> Result<Vec<Selected>, Vec<SelectionError>> {
    let named: Vec<&str> = wanted.iter().map(|text| text.split('@').next().unwrap_or(text)).collect();
    let mut selection = Selection {
        offers: offers.iter().map(|offer| (offer.id.as_str(), offer)).collect(),
        named: &named,
        order: Vec::new(),
        problems: Vec::new(),
    };
    for (index, (text, id)) in wanted.iter().zip(&named).enumerate() {
        match (selection.offers.get(id).copied(), Requirement::parse(text)) {
            (Some(offer), Some(_)) if named[..index].contains(id) => {
                selection.problems.push(SelectionError::Twice(offer.id.clone()));
            }
            (Some(offer), Some(required)) => {
                selection.version(offer, &required, None);
                selection.visit(offer, None, &mut Vec::new());
            }
            _ => selection.problems.push(SelectionError::Unknown {
                id: (*text).to_owned(),
                nearest: nearest(id, selection.offers.keys().copied()).map(str::to_owned),
            }),
        }
    }
    let mut problems = selection.problems;
    let selected = name_tools(&selection.order, conflicts, &mut problems);
    if problems.is_empty() { Ok(selected) } else { Err(problems) }
}

type Ordered<'a> = (&'a Offer, Option<&'a CapabilityId>);

struct Selection<'a> {
    offers: BTreeMap<&'a str, &'a Offer>,
    named: &'a [&'a str],
    order: Vec<Ordered<'a>>,
    problems: Vec<SelectionError>,
}

impl<'a> Selection<'a> {
    fn version(&mut self, offer: &Offer, required: &Requirement, asker: Option<&CapabilityId>) {
        if let Some(wanted) = required.version.filter(|wanted| *wanted != offer.version) {
            let (id, has, asker) = (offer.id.clone(), offer.version, asker.cloned());
            self.problems.push(SelectionError::Version { id, wanted, has, asker });
        }
    }

    /// Puts what an offer needs before it, and then the offer. The path is what is being put in place right now.
    fn visit(&mut self, offer: &'a Offer, asker: Option<&'a CapabilityId>, path: &mut Vec<&'a CapabilityId>) {
        if let Some(start) = path.iter().position(|id| **id == offer.id) {
            let ids = path[start..].iter().copied().chain([&offer.id]).cloned().collect();
            let circle = SelectionError::Circle(ids);
            if !self.problems.contains(&circle) {
                self.problems.push(circle);
            }
            return;
        }
        if self.order.iter().any(|(other, _)| other.id == offer.id) {
            return;
        }
        if let Some(why) = why_not(&offer.status) {
            self.problems.push(SelectionError::Unusable { id: offer.id.clone(), why });
        }
        path.push(&offer.id);
        for needs in &offer.depends_on {
            match self.offers.get(needs.id.as_str()).copied() {
                Some(needed) => {
                    self.version(needed, needs, Some(&offer.id));
                    self.visit(needed, Some(&offer.id), path);
                }
                None => {
                    let (id, needs) = (offer.id.clone(), needs.id.clone());
                    self.problems.push(SelectionError::Missing { id, needs });
                }
            }
        }
        path.pop();
        let asker = asker.filter(|_| !self.named.contains(&offer.id.as_str()));
        self.order.push((offer, asker));
    }
}

fn why_not(status: &CapabilityStatus) -> Option<String> {
    match status {
        CapabilityStatus::Available | CapabilityStatus::Deprecated => None,
        CapabilityStatus::ComingSoon => Some("it is not made yet".to_owned()),
        CapabilityStatus::Unavailable { why } => Some(why.clone()),
    }
}

fn name_tools(
    order: &[Ordered<'_>],
    conflicts: Conflicts,
    problems: &mut Vec<SelectionError>,
) -> Vec<Selected> {
    // The first of a name keeps it, so all original names are taken before any alias is given.
    let mut taken: BTreeMap<ToolName, &CapabilityId> = BTreeMap::new();
    for (offer, _) in order {
        for tool in &offer.tools {
            taken.entry(tool.clone()).or_insert(&offer.id);
        }
    }
    let mut selected = Vec::new();
    for (offer, asker) in order {
        let mut tools: Vec<SelectedTool> = Vec::new();
        for tool in &offer.tools {
            let first = taken[tool];
            let again = tools.iter().any(|other| other.name == *tool);
            let called = if *first == offer.id && !again {
                Some(tool.clone())
            } else {
                let alias = ToolName::parse(&format!("{}__{tool}", offer.id));
                alias.filter(|alias| conflicts == Conflicts::Alias && !again && !taken.contains_key(alias))
            };
            let Some(called) = called else {
                problems.push(SelectionError::Conflict {
                    first: first.clone(),
                    second: offer.id.clone(),
                    tool: tool.clone(),
                });
                continue;
            };
            taken.entry(called.clone()).or_insert(&offer.id);
            tools.push(SelectedTool { name: tool.clone(), called });
        }
        selected.push(Selected { id: offer.id.clone(), because_of: asker.cloned(), tools });
    }
    selected
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> CapabilityId {
        CapabilityId::parse(text).unwrap()
    }

    fn offer(name: &str, needs: &[&str], tools: &[&str]) -> Offer {
        let tools = tools.iter().map(|name| ToolName::parse(name).unwrap()).collect();
        let depends_on = needs.iter().map(|needs| Requirement::parse(needs).unwrap()).collect();
        Offer { id: id(name), version: 1, status: CapabilityStatus::Available, depends_on, tools }
    }

    fn told(wanted: &[&str], offers: &[Offer], conflicts: Conflicts) -> Vec<String> {
        match select(wanted, offers, conflicts) {
            Ok(selected) => selected
                .iter()
                .map(|one| {
                    let tools: Vec<_> = one.tools.iter().map(|tool| tool.called.as_str()).collect();
                    let because = one.because_of.as_ref().map(|id| format!(" for {id}")).unwrap_or_default();
                    format!("{}{because}: {}", one.id, tools.join(" "))
                })
                .collect(),
            Err(problems) => problems.iter().map(ToString::to_string).collect(),
        }
    }

    #[test]
    fn capabilities_stand_in_the_order_in_which_they_are_named() {
        let offers = [offer("a", &[], &["x", "y"]), offer("b", &[], &["z"])];
        assert_eq!(told(&["b", "a"], &offers, Conflicts::Refuse), ["b: z", "a: x y"]);
        assert_eq!(told(&["a"], &offers, Conflicts::Refuse), ["a: x y"]);
        assert_eq!(told(&[], &offers, Conflicts::Refuse), Vec::<String>::new());
    }

    #[test]
    fn what_a_capability_needs_comes_along_right_before_it() {
        let offers = [offer("a", &["c"], &[]), offer("b", &["a", "c"], &[]), offer("c", &[], &[])];
        assert_eq!(told(&["b"], &offers, Conflicts::Refuse), ["c for a: ", "a for b: ", "b: "]);
        assert_eq!(told(&["b", "c"], &offers, Conflicts::Refuse), ["c: ", "a for b: ", "b: "]);
    }

    #[test]
    fn every_reason_against_a_choice_is_told_at_once() {
        let soon = Offer { status: CapabilityStatus::ComingSoon, ..offer("soon", &[], &[]) };
        let why = "no user namespaces".to_owned();
        let broken = Offer { status: CapabilityStatus::Unavailable { why }, ..offer("sandbox", &[], &[]) };
        let old = Offer { status: CapabilityStatus::Deprecated, ..offer("old", &[], &[]) };
        let offers = [
            soon,
            broken,
            old,
            offer("lost", &["nowhere"], &[]),
            offer("web_fetch", &[], &[]),
            offer("chicken", &["egg"], &[]),
            offer("egg", &["chicken"], &[]),
        ];
        let wanted = ["web_fetsh", "web_fetch", "web_fetch", "soon", "sandbox", "old", "lost", "chicken"];
        assert_eq!(
            told(&wanted, &offers, Conflicts::Refuse),
            [
                "there is no capability `web_fetsh`; did you mean `web_fetch`?",
                "capability `web_fetch` is named twice",
                "capability `soon` cannot be used: it is not made yet",
                "capability `sandbox` cannot be used: no user namespaces",
                "capability `lost` needs `nowhere`, which does not exist",
                "capabilities need each other in a circle: chicken → egg → chicken",
            ]
        );
    }

    #[test]
    fn two_tools_with_one_name_are_refused_or_the_later_one_gets_an_alias() {
        let offers =
            [offer("a", &[], &["read"]), offer("b", &[], &["read", "write"]), offer("c", &[], &["read"])];
        assert_eq!(
            told(&["a", "b"], &offers, Conflicts::Refuse),
            ["`a` and `b` both have a tool `read`: leave one out, or let the second be aliased"]
        );
        assert_eq!(
            told(&["b", "c", "a"], &offers, Conflicts::Alias),
            ["b: read write", "c: c__read", "a: a__read"]
        );
    }

    #[test]
    fn an_alias_takes_no_name_that_a_tool_has() {
        let offers = [offer("a", &[], &["read"]), offer("b", &[], &["read"]), offer("c", &[], &["b__read"])];
        assert_eq!(told(&["a", "b", "c"], &offers, Conflicts::Alias).len(), 1);
        assert_eq!(told(&["a", "c"], &offers, Conflicts::Alias), ["a: read", "c: b__read"]);
        let long = "r".repeat(64);
        let offers = [offer("a", &[], &[&long]), offer("b", &[], &[&long]), offer("t", &[], &["x", "x"])];
        assert!(told(&["a", "b"], &offers, Conflicts::Alias)[0].contains("both have a tool"));
        assert!(told(&["t"], &offers, Conflicts::Alias)[0].contains("`t` and `t` both have a tool `x`"));
    }

    #[test]
    fn a_version_is_exactly_the_one_that_is_required() {
        let offers = [offer("a", &["b@2"], &[]), offer("b", &[], &[])];
        assert_eq!(told(&["b@1"], &offers, Conflicts::Refuse), ["b: "]);
        assert_eq!(
            told(&["b@3", "a"], &offers, Conflicts::Refuse),
            [
                "the agent asks: version 3 of capability `b` is needed, and version 1 is there",
                "for `a`, version 2 of capability `b` is needed, and version 1 is there",
            ]
        );
        assert_eq!(
            told(&["b@x"], &offers, Conflicts::Refuse),
            ["there is no capability `b@x`; did you mean `b`?"]
        );
        assert_eq!(told(&["b@1", "b"], &offers, Conflicts::Refuse), ["capability `b` is named twice"]);
    }
}
