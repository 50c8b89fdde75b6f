//! What the profile of an agent says about a call, beside the run: the stricter answer counts.

use abide_core::definition::PermissionAction;
use abide_core::event::VerdictAnswer;
use abide_core::policy::{Client, Files, Situation, ToolCall, kind, summary};
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
            let permit = profile.permits(&call, &situation.place, files);
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
