//! Which links are followed: those of a project stay in the project, so that no repository can have files read elsewhere.

use super::folders::Root;
use crate::{Origin, Place};
use std::path::{Path, PathBuf};

/// Where links of a project may lead: into the project, and to the skills of the user.
pub(super) struct Allowed(Vec<PathBuf>);

impl Allowed {
    pub(super) fn of(place: &Place, roots: &[Root]) -> Self {
        let own = roots.iter().filter(|root| root.origin != Origin::Project).map(|root| root.path.clone());
        let all = std::iter::once(place.root()).chain(own);
        Self(all.filter_map(|path| path.canonicalize().ok()).collect())
    }

    /// Returns the folders.
    pub(super) fn folders(self) -> Vec<PathBuf> {
        self.0
    }

    /// Returns where a link of a root leads, or why it is not followed.
    pub(super) fn follow(&self, root: &Root, link: &Path) -> Result<PathBuf, Refused> {
        let target = link.canonicalize().map_err(|error| Refused::Broken(error.to_string()))?;
        let inside = self.0.iter().any(|allowed| target.starts_with(allowed));
        // The user's own links are the user's own business.
        if root.origin == Origin::Project && !inside {
            return Err(Refused::Outside(target));
        }
        Ok(target)
    }
}

/// Why a link is not followed.
pub(super) enum Refused {
    /// It leads out of the project, to this.
    Outside(PathBuf),
    /// It leads nowhere, or in a circle of links.
    Broken(String),
}
