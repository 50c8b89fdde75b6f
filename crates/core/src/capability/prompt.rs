//! What a model is told before everything else.

/// Puts a system prompt together: what each capability adds, in order, and then the agent's own.
///
/// Parts that say nothing are left out; a blank line stands between the others.
pub fn system_prompt<'a>(additions: impl IntoIterator<Item = &'a str>, own: &'a str) -> String {
    let parts: Vec<&str> =
        additions.into_iter().chain([own]).map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_capabilities_add_stands_in_order_before_the_agents_own_prompt() {
        assert_eq!(system_prompt(["one\n", "  ", "two"], "You help.\n"), "one\n\ntwo\n\nYou help.");
        assert_eq!(system_prompt([], "You help."), "You help.");
        assert_eq!(system_prompt(["one"], ""), "one");
    }
}
