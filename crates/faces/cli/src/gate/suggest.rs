//! Which ability a user's message suggests to the agent of a session.

use super::situation::{VERSION, compiled, places};
use crate::Surroundings;
use abide_core::event::Timestamp;
use abide_core::policy::{AgentRights, Session, Situation};
use abide_core::trigger::{Detection, Suggestion, detect};
use abide_gate::triggers::{Suggestible, TriggerIndex};
use abide_gate::{Gate, SessionId};
use abide_hooks::asked::{Asked, Moment};
use abide_hooks::suggest::{is_from_user, suggestion};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns what the agent is told about an ability that a message suggests.
///
/// Nothing is suggested while a run is or may be active, to sub-agents (a user does not write to them), or again within
/// ten seconds. What goes wrong here costs a suggestion and never holds up a message.
pub(crate) fn suggested(
    surroundings: &Surroundings,
    gate: &Gate,
    session: &SessionId,
    asked: &Asked,
    situation: &Situation,
    now: SystemTime,
) -> Option<String> {
    let Moment::Prompt { text } = &asked.moment else { return None };
    if situation.session != Session::Free || asked.sub_agent.is_some() || !is_from_user(text) {
        return None;
    }
    let folder = asked.folder.as_deref().map_or(surroundings.folder.as_path(), Path::new);
    // A server starts the abilities of the project in which its session began.
    let place = places(surroundings, gate, session, folder, None).into_iter().next()?;
    let compile = |before: Option<&_>| compiled(surroundings, &place, before);
    let triggers = gate.triggers(&place.start, VERSION, now, compile).ok()?;
    let detection = detected(&triggers, text);
    let best = told(&detection, &situation.agent)?;
    let at = i64::try_from(now.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()).ok()?;
    if !gate.suggest(session, &best.ability, Timestamp(at)).ok()? {
        return None;
    }
    let description = described(&triggers, &best.ability);
    Some(suggestion(best, description, triggers.start))
}

/// Returns what a message says about a project's abilities.
pub(crate) fn detected(index: &TriggerIndex, message: &str) -> Detection {
    let triggers: Vec<_> = index.abilities.iter().map(Suggestible::triggers).collect();
    let names = index.abilities.iter().map(|ability| ability.ability.as_str());
    detect(message, names.zip(&triggers))
}

/// Returns the ability that an agent is told about.
pub(crate) fn told<'d>(detection: &'d Detection, rights: &AgentRights) -> Option<&'d Suggestion> {
    detection.best(|ability| rights.may_run(ability))
}

/// Returns what an ability does.
pub(crate) fn described<'i>(index: &'i TriggerIndex, ability: &str) -> &'i str {
    let found = index.abilities.iter().find(|known| known.ability == ability);
    found.map_or("", |ability| ability.description.as_str())
}
