//! The rules of the agent that a session of abide's own is, as they lie in its seat.
//!
//! They are written with the seat: what an agent changes about its profile while it works is not what it is held to.

use abide_core::definition::{AgentName, AgentProfile, AgentTools, Permission, PermissionAction, ToolGrant};
use abide_core::source::{Span, Spanned};
use serde::{Deserialize, Serialize};

/// What the profile of an agent says about its calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The agent.
    pub agent: String,
    /// The only tools that it has, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only: Option<Vec<String>>,
    /// The tools that are switched on or off, if it says that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switched: Option<Vec<(String, bool)>>,
    /// The only skills that it may use, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// Its rules in their order: tool, pattern, action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permission: Vec<(String, String, String)>,
}

impl Rules {
    /// Takes from a profile what concerns calls; nothing if it says nothing about them.
    pub fn of(profile: &AgentProfile) -> Option<Self> {
        let (only, switched) = match &profile.tools {
            None => (None, None),
            Some(AgentTools::Only(names)) => {
                (Some(names.iter().map(|name| name.value.clone()).collect()), None)
            }
            Some(AgentTools::Switched(grants)) => {
                (None, Some(grants.iter().map(|grant| (grant.tool.clone(), grant.granted)).collect()))
            }
        };
        let skills: Option<Vec<String>> =
            profile.skills.as_ref().map(|skills| skills.iter().map(|skill| skill.value.clone()).collect());
        if only.is_none() && switched.is_none() && skills.is_none() && profile.permission.is_empty() {
            return None;
        }
        let rule = |rule: &Spanned<Permission>| {
            (rule.tool.clone(), rule.pattern.clone(), rule.action.word().to_owned())
        };
        let permission = profile.permission.iter().map(rule).collect();
        Some(Self { agent: profile.name.as_str().to_owned(), only, switched, skills, permission })
    }

    /// Returns a profile that says the same; an error says which word is not one that abide writes.
    pub fn profile(&self) -> Result<AgentProfile, String> {
        let name = AgentName::parse(&self.agent).map_err(|_| format!("the agent `{}`", self.agent))?;
        let mut profile = AgentProfile::named(Spanned::new(name, Span::default()));
        let spanned = |text: &String| Spanned::new(text.clone(), Span::default());
        profile.tools = match (&self.only, &self.switched) {
            (Some(only), _) => Some(AgentTools::Only(only.iter().map(spanned).collect())),
            (None, Some(switched)) => {
                let grant =
                    |(tool, granted): &(String, bool)| ToolGrant { tool: tool.clone(), granted: *granted };
                let grants = switched.iter().map(|one| Spanned::new(grant(one), Span::default()));
                Some(AgentTools::Switched(grants.collect()))
            }
            (None, None) => None,
        };
        profile.skills = self.skills.as_ref().map(|skills| skills.iter().map(spanned).collect());
        for (tool, pattern, action) in &self.permission {
            let action = PermissionAction::parse(action).ok_or_else(|| format!("the action `{action}`"))?;
            let rule = Permission { tool: tool.clone(), pattern: pattern.clone(), action };
            profile.permission.push(Spanned::new(rule, Span::default()));
        }
        Ok(profile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_keeps_what_a_profile_says_about_calls() {
        let rules = Rules {
            agent: "reviewer".into(),
            only: None,
            switched: Some(vec![("*".into(), true), ("write".into(), false)]),
            skills: Some(vec!["review".into()]),
            permission: vec![("bash".into(), "git push *".into(), "deny".into())],
        };
        let profile = rules.profile().unwrap();
        assert_eq!(Rules::of(&profile), Some(rules));
        let only = Rules {
            agent: "a".into(),
            only: Some(vec!["Read".into()]),
            switched: None,
            skills: None,
            permission: Vec::new(),
        };
        let of_skills = Rules { only: None, skills: Some(Vec::new()), ..only.clone() };
        assert_eq!(Rules::of(&of_skills.profile().unwrap()), Some(of_skills), "none at all is said, too");
        assert_eq!(Rules::of(&only.profile().unwrap()), Some(only.clone()));
        let silent = Rules { only: None, ..only.clone() };
        assert_eq!(Rules::of(&silent.profile().unwrap()), None);
        let strange = Rules { permission: vec![("a".into(), "*".into(), "perhaps".into())], ..only };
        assert!(strange.profile().is_err());
    }
}
