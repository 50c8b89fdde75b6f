//! What is said about a tool before anybody calls it: its name, what it could do, who must agree.

use crate::definition::words;
use smol_str::SmolStr;
use std::fmt;

/// The name of a tool, as models are told it: 1 to 64 of `a`-`z`, `A`-`Z`, `0`-`9`, `_` and `-`.
///
/// The model APIs refuse any other, so a tool with one could never be called.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolName(SmolStr);

impl ToolName {
    /// The longest name there is.
    pub const LONGEST: usize = 64;

    /// Takes a name as somebody wrote it.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = !text.is_empty()
            && text.len() <= Self::LONGEST
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        fits.then(|| Self(text.into()))
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ToolName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

words! {
    /// Who must agree to a call of a tool.
    Tier {
        /// Nobody: it is made.
        Auto = "auto",
        /// A human, each time.
        Confirm = "confirm",
        /// It is never made.
        Deny = "deny",
    }
}

words! {
    /// The worst that a call of a tool could do.
    Risk {
        /// Nothing: it computes, or looks at what belongs to the session.
        None = "none",
        /// It changes what belongs to the session alone.
        Low = "low",
        /// It reaches out of the session, and only reads there.
        Medium = "medium",
        /// It runs code, or changes what others see.
        High = "high",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_has_a_name_that_every_model_api_takes() {
        for name in ["add", "read_file", "skills__deploy-it", &"a".repeat(64)] {
            assert_eq!(ToolName::parse(name).map(|name| name.to_string()), Some(name.to_owned()));
        }
        for name in ["", "ability.run", "read file", "größe", "a\0", "a/b", &"a".repeat(65)] {
            assert_eq!(ToolName::parse(name), None, "{name:?}");
        }
    }

    #[test]
    fn who_must_agree_and_what_could_happen_get_stricter_in_order() {
        assert!(Tier::Auto < Tier::Confirm && Tier::Confirm < Tier::Deny);
        assert!(Risk::None < Risk::Low && Risk::Low < Risk::Medium && Risk::Medium < Risk::High);
    }
}
