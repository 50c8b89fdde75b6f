//! What the profile of an agent says about a call, beside the run: the stricter answer counts.

use abide_core::definition::{AgentProfile, PermissionAction};
use abide_core::event::VerdictAnswer;
use abide_core::policy::{Client, Files, Situation, ToolCall, kind, summary};
use abide_core::value::Value;
use abide_gate::rules::Rules;
use abide_hooks::answer::Answer;
use abide_hooks::asked::{Asked, Moment};
use abide_hooks::decide::{Decision, Given};

/// Narrows what a session that abide started is answered to what its agent may do at all.
pub(crate) fn narrowed(
    decision: Decision,
    client: Client,
    asked: &Asked,
    situation: &Situation,
    rules: Option<&Rules>,
    files: &dyn Files,
) -> Decision {
    let (Moment::BeforeTool(used) | Moment::Permission(used)) = &asked.moment else { return decision };
    let Some(rules) = rules.filter(|_| !matches!(decision.answer, Answer::Deny(_))) else { return decision };
    let call = ToolCall::read(client, &used.tool, &used.arguments);
    let why = match rules.profile() {
        Err(what) => format!("the rules of the agent cannot be read: they hold {what}"),
        Ok(profile) => {
            let mut permit = profile.permits(&call, &situation.place, files);
            for skill in skills_of(&profile, &call, &used.arguments) {
                permit = permit.stricter(profile.permits_skill(&skill));
            }
            let by = permit.why.unwrap_or_else(|| format!("the profile of `{}`", rules.agent));
            match permit.action {
                PermissionAction::Allow => return decision,
                PermissionAction::Deny => format!("{by} denies this call"),
                PermissionAction::Ask => format!("{by} wants a human to be asked, and nobody is there"),
            }
        }
    };
    let given = Given {
        answer: VerdictAnswer::Denied,
        tool: used.tool.clone(),
        kind: kind(client, &used.tool).word(),
        what: summary(situation, &call, files),
        why: why.clone(),
    };
    Decision { answer: Answer::Deny(why), note: None, given: Some(given) }
}

/// Returns the skills that a call loads or runs, those of a batch too.
fn skills_of(profile: &AgentProfile, call: &ToolCall, arguments: &Value) -> Vec<String> {
    let mut found = profile.skills_of(call, arguments).unwrap_or_default();
    for inner in &call.arguments.nested {
        // Which of its texts is the name is not known any more, so all of them must be permitted.
        let Some(unnamed) = profile.skills_of(inner, &Value::Null) else { continue };
        let texts = &inner.arguments.texts;
        let is_named = unnamed.iter().any(|name| !name.is_empty()) || texts.is_empty();
        found.extend(if is_named { unnamed } else { texts.clone() });
    }
    found
}
