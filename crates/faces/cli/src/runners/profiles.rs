//! Who the agents of this project are, for runners that must be told.

use crate::session::Session;
use abide_core::definition::AgentTools;
use abide_gate::rules::Rules;
use abide_runners::{Profile, Profiles};
use std::collections::HashMap;

/// The agents that there were when the driver was put together.
pub(super) struct LocalProfiles(HashMap<String, (Profile, Option<Rules>)>);

impl LocalProfiles {
    pub(super) fn of(session: &Session<'_>) -> Self {
        let config = session.configuration().config;
        let agents = session.catalog().agents().into_iter().filter_map(|entry| {
            let settings = config.agents.iter().find(|(name, _)| name.as_str() == &*entry.name);
            let profile = match settings {
                Some((name, settings)) => {
                    let named = abide_core::definition::AgentProfile::named(name.clone());
                    entry.profile.unwrap_or(named).configured(settings)
                }
                None => entry.profile?,
            };
            let rules = Rules::of(&profile);
            let tools = match profile.tools {
                Some(AgentTools::Only(names)) => Some(names.into_iter().map(|name| name.value).collect()),
                Some(AgentTools::Switched(_)) | None => None,
            };
            let model = profile.model.map(|model| model.value);
            Some((entry.name.to_string(), (Profile { model, prompt: profile.prompt, tools }, rules)))
        });
        Self(agents.collect())
    }

    /// Returns what the profile of an agent says about its calls.
    pub(super) fn rules(&self, agent: &str) -> Option<Rules> {
        self.0.get(agent)?.1.clone()
    }
}

impl Profiles for LocalProfiles {
    fn find(&self, agent: &str) -> Option<Profile> {
        self.0.get(agent).map(|(profile, _)| profile.clone())
    }
}
