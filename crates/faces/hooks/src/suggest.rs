//! What an agent is told when its user's message suggests an ability.

use abide_core::trigger::Suggestion;

/// Returns whether a user wrote a message: Claude Code also reports the end of a background task as one.
pub fn is_from_user(message: &str) -> bool {
    !message.trim_start().starts_with("<task-notification>")
}

/// Returns what the agent is told; `start` when it is to begin without being asked again.
pub fn suggestion(found: &Suggestion, description: &str, start: bool) -> String {
    let Suggestion { ability, reason, .. } = found;
    // A pattern can be as long as a page.
    let reason: String = reason.to_string().chars().take(200).collect();
    let what = if description.is_empty() { String::new() } else { format!(" {description}") };
    let run = format!("`ability_run` (ability: `{ability}`)");
    if start {
        format!(
            "abide: this message is for the ability `{ability}` ({reason}).{what}\nStart it now with {run} and do not do its steps by \
             yourself: abide hands them out one by one. If it needs inputs that the user did not give, ask for them first."
        )
    } else {
        format!(
            "abide: this looks like the ability `{ability}` ({reason}).{what}\nIf that is what the user wants, start it with {run} \
             instead of doing its steps by yourself. If the user only mentions it, go on as you would."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::trigger::Reason;

    fn found(reason: Reason) -> Suggestion {
        Suggestion { ability: "deploy/production".into(), reason, score: 1 }
    }

    #[test]
    fn the_agent_is_told_which_ability_why_and_how_to_start_it() {
        let found = found(Reason::Keyword("ship it".into()));
        let suggested = suggestion(&found, "Ships a version.", false);
        let started = suggestion(&found, "", true);
        for text in [&suggested, &started] {
            for part in [
                "deploy/production",
                "the message says `ship it`",
                "`ability_run` (ability: `deploy/production`)",
            ] {
                assert!(text.contains(part), "{part}: {text}");
            }
        }
        assert!(
            suggested.contains("Ships a version.") && suggested.contains("only mentions it"),
            "{suggested}"
        );
        assert!(started.contains("Start it now"), "{started}");
    }

    #[test]
    fn a_page_of_a_pattern_is_not_repeated() {
        let text = suggestion(&found(Reason::Pattern("x".repeat(4_000))), "", false);
        assert!(text.len() < 1_000, "{}", text.len());
    }

    #[test]
    fn what_a_client_writes_in_the_users_place_is_not_theirs() {
        assert!(!is_from_user("<task-notification>\n<task-id>1</task-id> deploy"));
        assert!(is_from_user("deploy it"));
    }
}
