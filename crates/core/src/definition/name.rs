//! Names, each of which is parsed once and then believed.

use crate::diagnostic::excerpt;
use smol_str::SmolStr;
use std::fmt;

/// Why a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadName {
    /// Nothing was written.
    #[error("the {what} is empty")]
    Empty {
        /// What it would name.
        what: &'static str,
    },
    /// More characters than a name may have.
    #[error("the {what} is longer than {most} characters")]
    TooLong {
        /// What it would name.
        what: &'static str,
        /// The limit.
        most: usize,
    },
    /// A character that names do not have.
    #[error("the {what} `{name}` must not contain {found:?}")]
    Character {
        /// What it would name.
        what: &'static str,
        /// The whole text.
        name: String,
        /// The first character that does not fit.
        found: char,
    },
    /// The first character of the name or of one of its parts does not fit.
    #[error("the {what} `{name}` must start with a {start}")]
    Start {
        /// What it would name.
        what: &'static str,
        /// The whole text.
        name: String,
        /// What it may start with.
        start: &'static str,
    },
}

impl BadName {
    /// Returns the sentence that says how such a name is formed.
    pub fn help(&self) -> &'static str {
        let what = match self {
            Self::Empty { what }
            | Self::TooLong { what, .. }
            | Self::Character { what, .. }
            | Self::Start { what, .. } => what,
        };
        match *what {
            AbilityName::WHAT => {
                "an ability is named by lower-case letters, digits, `-` and `_`, in parts separated by `/`, as in `deploy/production`"
            }
            StepId::WHAT => {
                "a step id is made of letters, digits, `-` and `_`, and starts with a letter, as in `run-tests`"
            }
            InputName::WHAT => {
                "an input is named by letters, digits, `-` and `_`, and starts with a letter, as in `environment`"
            }
            _ => "a name is made of letters, digits, `-`, `_`, `.`, `:` and `/`",
        }
    }
}

/// How the characters of a kind of name are restricted.
#[derive(Clone, Copy)]
struct Rule {
    what: &'static str,
    most: usize,
    start: &'static str,
    starts: fn(char) -> bool,
    continues: fn(char) -> bool,
    /// Whether `/` separates parts, each of which follows the rule.
    parts: bool,
}

fn check(text: &str, rule: Rule) -> Result<(), BadName> {
    let what = rule.what;
    if text.is_empty() {
        return Err(BadName::Empty { what });
    }
    if text.len() > rule.most {
        return Err(BadName::TooLong { what, most: rule.most });
    }
    let mut at_start = true;
    for character in text.chars() {
        if rule.parts && character == '/' && !at_start {
            at_start = true;
            continue;
        }
        if at_start && (rule.continues)(character) && !(rule.starts)(character) {
            return Err(BadName::Start { what, name: excerpt(text).into_owned(), start: rule.start });
        }
        if !(rule.continues)(character) {
            return Err(BadName::Character { what, name: excerpt(text).into_owned(), found: character });
        }
        at_start = false;
    }
    if at_start {
        Err(BadName::Character { what, name: excerpt(text).into_owned(), found: '/' })
    } else {
        Ok(())
    }
}

macro_rules! names {
    ($($(#[$doc:meta])+ $name:ident = $what:literal, $most:literal, $start:literal, $starts:expr, $continues:expr, $parts:literal;)+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(SmolStr);

        impl $name {
            const WHAT: &'static str = $what;

            /// Reads the name; this is the only way to get one.
            pub fn parse(text: &str) -> Result<Self, BadName> {
                check(text, Rule {
                    what: Self::WHAT, most: $most, start: $start, starts: $starts, continues: $continues, parts: $parts,
                })?;
                Ok(Self(text.into()))
            }

            /// Returns the name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    )+};
}

fn lower(character: char) -> bool {
    character.is_ascii_lowercase() || character.is_ascii_digit()
}

fn word(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
}

fn letter(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_'
}

/// Agents and skills are also named by other tools, whose rules are looser than ours.
fn foreign(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '-' | '_' | '.' | ':' | '/' | '@' | '+')
}

names! {
    /// The name of an ability, such as `deploy/production`.
    AbilityName = "ability name", 128, "letter or a digit", lower, |character| lower(character) || matches!(character, '-' | '_'), true;
    /// The id of a step, unique in its ability.
    StepId = "step id", 64, "letter", letter, word, false;
    /// The name of an input.
    InputName = "input name", 64, "letter", letter, word, false;
    /// The name of an agent.
    AgentName = "agent name", 128, "letter or a digit", char::is_alphanumeric, foreign, false;
    /// The name of a skill.
    SkillName = "skill name", 128, "letter or a digit", char::is_alphanumeric, foreign, false;
    /// The name of a secret.
    SecretName = "secret name", 64, "letter", letter, word, false;
    /// The name of who serves models.
    ProviderName = "provider name", 64, "letter", letter, word, false;
    /// The name of a webhook.
    WebhookName = "webhook name", 64, "letter", letter, word, false;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parsed_at_the_door() {
        for good in ["deploy", "deploy/production", "a-b_c/9"] {
            assert_eq!(AbilityName::parse(good).unwrap().as_str(), good);
        }
        for (bad, why) in [
            ("", "the ability name is empty"),
            ("Deploy", "the ability name `Deploy` must not contain 'D'"),
            ("a//b", "the ability name `a//b` must not contain '/'"),
            ("/a", "the ability name `/a` must not contain '/'"),
            ("a/", "the ability name `a/` must not contain '/'"),
            ("../x", "the ability name `../x` must not contain '.'"),
            ("-x", "the ability name `-x` must start with a letter or a digit"),
            ("a b", "the ability name `a b` must not contain ' '"),
        ] {
            assert_eq!(AbilityName::parse(bad).unwrap_err().to_string(), why);
        }
        assert_eq!(
            AbilityName::parse(&"a".repeat(129)).unwrap_err().to_string(),
            "the ability name is longer than 128 characters"
        );
        assert_eq!(StepId::parse("get-diff").unwrap().as_str(), "get-diff");
        assert_eq!(
            StepId::parse("1st").unwrap_err().to_string(),
            "the step id `1st` must start with a letter"
        );
        assert_eq!(
            StepId::parse("deploy[eu]").unwrap_err().to_string(),
            "the step id `deploy[eu]` must not contain '['"
        );
    }
}
