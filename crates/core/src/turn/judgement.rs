//! Who must agree to a call: its tool, the agent's rules and the gate together.

use super::{Check, Decision};
use crate::capability::Tier;
use crate::policy::Verdict;

/// What the rules of an agent say about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ruling {
    /// Who must agree.
    pub tier: Tier,
    /// Which rule says so.
    pub why: Option<String>,
}

impl From<Tier> for Ruling {
    fn from(tier: Tier) -> Self {
        Self { tier, why: None }
    }
}

impl Ruling {
    /// Returns the stricter of two: what a caller may not do, nobody that it calls may.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if other.tier > self.tier { other } else { self }
    }
}

/// What follows for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It may be made.
    Allow {
        /// What the model is told beside the result.
        note: Option<String>,
    },
    /// A human must agree.
    Ask {
        /// What about.
        why: String,
    },
    /// It may not be made.
    Deny {
        /// Why.
        why: String,
    },
}

impl Judgement {
    /// Returns the event that says so.
    pub fn decision(&self) -> Decision {
        match self {
            Self::Allow { note } => Decision::Allowed { note: note.clone() },
            Self::Ask { why } => Decision::Asked { why: why.clone() },
            Self::Deny { why } => Decision::Denied { check: Check::Policy, why: why.clone() },
        }
    }
}

/// Returns who must agree to a call of `tool`: the strictest of what the rules and the gate say.
pub fn judged(tool: &str, ruling: &Ruling, verdict: Verdict) -> Judgement {
    let because = |why: &Option<String>| why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    if ruling.tier == Tier::Deny {
        return Judgement::Deny { why: format!("`{tool}` is not allowed here{}", because(&ruling.why)) };
    }
    match verdict {
        Verdict::Deny { why, instead } if instead.is_empty() => Judgement::Deny { why },
        Verdict::Deny { why, instead } => Judgement::Deny { why: format!("{why}\n{instead}") },
        Verdict::Ask { why } => Judgement::Ask { why },
        Verdict::Allow | Verdict::Warn { .. } if ruling.tier == Tier::Confirm => {
            Judgement::Ask { why: format!("`{tool}` needs a human's yes{}", because(&ruling.why)) }
        }
        Verdict::Allow => Judgement::Allow { note: None },
        Verdict::Warn { why } => Judgement::Allow { note: Some(why) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strictest_wins_whoever_says_it() {
        let deny = || Verdict::Deny { why: "not now".into(), instead: "do this".into() };
        let ask = || Verdict::Ask { why: "really?".into() };
        let warn = || Verdict::Warn { why: "off".into() };
        let word = |tier: Tier, verdict: Verdict| match judged("rm", &tier.into(), verdict) {
            Judgement::Allow { note: None } => "allow".to_owned(),
            Judgement::Allow { note: Some(note) } => format!("allow, {note}"),
            Judgement::Ask { why } => format!("ask, {why}"),
            Judgement::Deny { why } => format!("deny, {why}"),
        };
        for (tier, verdict, expected) in [
            (Tier::Auto, Verdict::Allow, "allow"),
            (Tier::Auto, warn(), "allow, off"),
            (Tier::Auto, ask(), "ask, really?"),
            (Tier::Auto, deny(), "deny, not now\ndo this"),
            (Tier::Confirm, Verdict::Allow, "ask, `rm` needs a human's yes"),
            (Tier::Confirm, warn(), "ask, `rm` needs a human's yes"),
            (Tier::Confirm, ask(), "ask, really?"),
            (Tier::Confirm, deny(), "deny, not now\ndo this"),
            (Tier::Deny, Verdict::Allow, "deny, `rm` is not allowed here"),
            (Tier::Deny, ask(), "deny, `rm` is not allowed here"),
        ] {
            assert_eq!(word(tier, verdict.clone()), expected, "{tier:?} {verdict:?}");
        }
        let ruled = |tier, why: &str| Ruling { tier, why: Some(why.into()) };
        assert_eq!(
            ruled(Tier::Auto, "child").and(ruled(Tier::Deny, "parent")),
            ruled(Tier::Deny, "parent"),
            "a child cannot do what its parent cannot"
        );
        assert_eq!(ruled(Tier::Confirm, "child").and(Tier::Auto.into()), ruled(Tier::Confirm, "child"));
    }
}
