//! Who the agents of this project are, for runners that must be told.

use crate::session::Session;
use abide_core::definition::AgentTools;
use abide_runners::{Profile, Profiles};
use std::collections::HashMap;

/// The agents that there were when the driver was put together.
pub(super) struct LocalProfiles(HashMap<String, Profile>);

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
            let tools = match profile.tools {
                Some(AgentTools::Only(names)) => Some(names.into_iter().map(|name| name.value).collect()),
                Some(AgentTools::Switched(_)) | None => None,
            };
            let model = profile.model.map(|model| model.value);
            Some((entry.name.to_string(), Profile { model, prompt: profile.prompt, tools }))
        });
        Self(agents.collect())
    }
}

impl Profiles for LocalProfiles {
    fn find(&self, agent: &str) -> Option<Profile> {
        self.0.get(agent).cloned()
    }
}
