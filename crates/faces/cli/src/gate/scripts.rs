//! Whether an ability that an agent starts runs what another one reserves.

use super::situation::{anchored, index};
use crate::commands::hook::Disk;
use crate::session::Session;
use crate::{Exit, Failure};
use abide_catalog::{Catalog, Found, Listing, Status};
use abide_core::definition::{Ability, Step, StepId, StepKind};
use abide_core::policy::{self, Reserved, Sought, made_by_script};
use abide_core::run::Run;
use abide_core::value::template::as_text;
use abide_core::value::{Template, Value};
use std::time::SystemTime;

/// How deep abilities call each other at most.
const DEEPEST: usize = 8;

/// Refuses a run that an agent starts whose scripts, or those of abilities that it calls, make a call that is reserved for another
/// ability. A human may start it, and what comes after an approval is decided by one.
#[expect(
    clippy::disallowed_methods,
    reason = "whether definitions have changed is told by the clock of files"
)]
pub(crate) fn keeps_to_its_own(session: &Session<'_>, run: &Run) -> Result<(), Failure> {
    let Some(gate) = super::gate(session.surroundings) else { return Ok(()) };
    let place = anchored(&gate, &session.place);
    let known = index(session.surroundings, &gate, &place, SystemTime::now(), &Sought::everything())
        .map_err(|why| Failure::new(Exit::System, why))?;
    if known.reserved.is_empty() {
        return Ok(());
    }
    let mut catalog = session.catalog();
    let listing = catalog.scan();
    let inputs = run.created.inputs.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
    let home = session.surroundings.variable("HOME");
    let looked = Looked { home, catalog: &catalog, listing: &listing, reserved: &known.reserved, inputs };
    match looked.at(&run.ability, &run.created.root, &[run.created.name.as_str()]) {
        None => Ok(()),
        Some((step, reserved)) => Err(Failure::new(
            Exit::Refused,
            format!(
                "step `{step}` runs `{}`, which is reserved for the ability `{}`",
                reserved.pattern, reserved.ability
            ),
        )
        .help(format!(
            "run `{}`, or ask the user: what comes after an approval may do so, and so may a run that they start in a terminal",
            reserved.ability
        ))),
    }
}

/// Returns whether a step certainly comes after a yes of a human, who then has decided about it.
fn is_approved(ability: &Ability, step: &Step) -> bool {
    if ability.settings.plan_approval.as_ref().is_some_and(|flag| flag.value) {
        return true;
    }
    let named = |id: &StepId| ability.steps.iter().find(|step| step.id.value == *id);
    let mut before: Vec<&Step> = vec![step];
    let mut at = 0;
    while let Some(step) = before.get(at).copied() {
        at += 1;
        for needed in step.needs.iter().filter_map(|id| named(&id.value)) {
            // One that may be skipped, or whose no does not end what follows, is none.
            let holds = needed.when.is_none() && needed.on_failure.is_none() && needed.for_each.is_none();
            if matches!(needed.kind, StepKind::Approval(_)) && holds {
                return true;
            }
            if !before.iter().any(|known| known.id.value == needed.id.value) {
                before.push(needed);
            }
        }
    }
    false
}

struct Looked<'a> {
    home: Option<String>,
    catalog: &'a Catalog,
    listing: &'a Listing,
    reserved: &'a [Reserved],
    /// What the run is given; what abilities that it calls are given is not known.
    inputs: Vec<(String, Value)>,
}

impl Looked<'_> {
    /// Returns the step that makes a call of another ability, and that call.
    fn at(&self, ability: &Ability, root: &str, chain: &[&str]) -> Option<(String, Reserved)> {
        ability.steps.iter().filter(|step| !is_approved(ability, step)).find_map(|step| {
            let (scripts, folder): (Vec<&Template>, Option<&Template>) = match &step.kind {
                StepKind::Script(script) => {
                    let checks = script.validation.check.iter().map(|check| &check.value);
                    (
                        std::iter::once(&script.run.value).chain(checks).collect(),
                        script.cwd.as_ref().map(|cwd| &cwd.value),
                    )
                }
                StepKind::Agent(agent) => {
                    (agent.validation.check.iter().map(|check| &check.value).collect(), None)
                }
                StepKind::Skill(skill) => {
                    (skill.validation.check.iter().map(|check| &check.value).collect(), None)
                }
                StepKind::Approval(_) => return None,
                StepKind::Workflow(workflow) => {
                    return self.below(workflow.workflow.value.as_str(), chain);
                }
            };
            let cwd = folder
                .map_or_else(|| root.to_owned(), |folder| format!("{root}/{}", self.shown(folder, chain)));
            let place = policy::Place { root: root.to_owned(), cwd, home: self.home.clone() };
            let made = |script: &Template| {
                made_by_script(&self.shown(script, chain), chain, &place, self.reserved, &Disk)
            };
            scripts.into_iter().find_map(made).map(|reserved| (step.id.value.to_string(), reserved))
        })
    }

    fn below(&self, name: &str, chain: &[&str]) -> Option<(String, Reserved)> {
        if chain.len() > DEEPEST || chain.contains(&name) {
            return None;
        }
        let Found::Ability(entry) = self.listing.find(name) else { return None };
        if entry.status() != Status::Usable {
            return None;
        }
        let (_, ability) = self.catalog.load(entry).ok()?;
        let chain: Vec<&str> = chain.iter().copied().chain([name]).collect();
        self.at(&ability?, &entry.root.display().to_string(), &chain)
    }

    /// Returns a template with the inputs of the run in their places, and a word where a value is not known yet.
    fn shown(&self, template: &Template, chain: &[&str]) -> String {
        let text = template.text();
        let (mut shown, mut from) = (String::new(), 0);
        for placeholder in template.placeholders() {
            shown.push_str(&text[from..placeholder.range.start]);
            from = placeholder.range.end;
            let named = text[placeholder.range.clone()].trim_matches(['{', '}']).trim();
            let given = named.strip_prefix("inputs.").filter(|_| chain.len() == 1);
            let given = given.and_then(|name| self.inputs.iter().find(|(known, _)| known == name));
            match given {
                Some((_, value)) => shown.push_str(&as_text(value)),
                None => shown.push_str("value"),
            }
        }
        shown.push_str(&text[from..]);
        shown
    }
}
