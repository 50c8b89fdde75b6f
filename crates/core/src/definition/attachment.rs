//! Which agent may run which ability: the three ways of attaching one to the other, in one rule.

/// The name of the agent that a client's session has when it names none.
pub const DEFAULT_AGENT: &str = "default";

/// Returns whether an agent may run an ability.
///
/// `reserved_for` is whom the ability is for (`compatible_agents`, `exclusive_agent`; empty is everybody). `own` is what the
/// agent's profile or the configuration gives it; `None` for an agent that says nothing, or that nobody knows.
pub fn may_run<'n>(
    agent: &str,
    ability: &str,
    reserved_for: impl IntoIterator<Item = &'n str>,
    own: Option<&[impl AsRef<str>]>,
) -> bool {
    let mut agents = reserved_for.into_iter().peekable();
    let open = agents.peek().is_none() || agents.any(|name| name == agent);
    open && own.is_none_or(|own| own.iter().any(|name| name.as_ref() == ability))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_must_agree() {
        let nothing: Option<&[&str]> = None;
        for (agent, reserved_for, own, may) in [
            ("default", &[][..], nothing, true),
            ("default", &["deployer"][..], nothing, false),
            ("default", &["deployer", "default"][..], nothing, true),
            ("deployer", &["deployer"][..], nothing, true),
            ("deployer", &[][..], Some(&["deploy"][..]), true),
            ("deployer", &[][..], Some(&["test"][..]), false),
            ("deployer", &[][..], Some(&[][..]), false),
            ("deployer", &["other"][..], Some(&["deploy"][..]), false),
            ("nobody knows it", &["deployer"][..], nothing, false),
            ("Deployer", &["deployer"][..], nothing, false),
        ] {
            let found = may_run(agent, "deploy", reserved_for.iter().copied(), own);
            assert_eq!(found, may, "{agent} {reserved_for:?} {own:?}");
        }
    }
}
