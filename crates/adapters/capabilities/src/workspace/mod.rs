//! `workspace`: the files of the project that an agent works on, and commands in it.
//!
//! The tools have the names that agents know (`read`, `list`, `glob`, `grep`, `write`, `edit`, `bash`) and that the gate
//! knows the kinds of, so that a step grants them as it grants those of any client. Paths stay inside the project,
//! wherever links lead; what only looks may enter the folders of skills, too. Commands are bounded and leave nothing behind; what they do is the gate's to allow.

mod command;
mod files;
mod place;

use crate::sandbox::Launch;
use abide_core::capability::CapabilityId;
use abide_engine::port::{Capability, Tool, ToolError};
use place::{Root, beyond};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Works on the files of one project.
#[derive(Clone)]
pub struct Workspace {
    shared: Arc<Shared>,
}

struct Shared {
    root: Root,
    launch: Launch,
    /// The mark of its processes; commands run one after the other.
    mark: String,
    /// Variables that commands do not get.
    without: Vec<String>,
    reading: Option<Reading>,
}

/// Finds the folder that a path lies in, of those outside the project that may be read: a skill's, for an agent that may use it.
pub type Reading = Arc<dyn Fn(&Path) -> Option<PathBuf> + Send + Sync>;

impl Shared {
    /// Returns where a path leads that is only looked at.
    fn to_read(&self, text: &str) -> Result<PathBuf, ToolError> {
        self.root.resolve(text).or_else(|refused| {
            let reading = self.reading.as_ref();
            reading.and_then(|reading| beyond(text, &**reading)).ok_or(refused)
        })
    }
}

impl Workspace {
    /// The id of the capability.
    pub const ID: &'static str = "workspace";

    /// Makes the capability for the project in a folder. Its processes carry `mark` and do not get the variables of
    /// `without`.
    pub fn new(root: PathBuf, launch: Launch, mark: impl Into<String>, without: Vec<String>) -> Self {
        let root = Root::new(root);
        Self { shared: Arc::new(Shared { root, launch, mark: mark.into(), without, reading: None }) }
    }

    /// Lets the tools that only look enter some folders outside the project, too.
    #[must_use]
    pub fn with_reading(self, reading: Reading) -> Self {
        let Shared { root, launch, mark, without, .. } = &*self.shared;
        let (root, launch) = (root.clone(), Arc::clone(launch));
        let (mark, without, reading) = (mark.clone(), without.clone(), Some(reading));
        Self { shared: Arc::new(Shared { root, launch, mark, without, reading }) }
    }
}

impl Capability for Workspace {
    fn id(&self) -> CapabilityId {
        // Invariant: the id is a literal of letters, and registering it is a test.
        CapabilityId::parse(Self::ID).expect("`workspace` is an id")
    }

    fn name(&self) -> &'static str {
        "Workspace"
    }

    fn description(&self) -> &'static str {
        "Reads, searches and changes the files of the project, and runs commands in it."
    }

    fn system_prompt_addition(&self) -> Option<&str> {
        Some(
            "You work on the files of a project. Paths are relative to its root. Read a file before you change it, change \
             as little as needed, and look at what a command answered before you go on. A tool that is refused tells you why: \
             do not try to get round it.",
        )
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let mut tools = files::tools(&self.shared);
        tools.push(command::bash(&self.shared));
        tools
    }

    fn icon(&self) -> Option<&str> {
        Some("folder-code")
    }

    fn category(&self) -> Option<&str> {
        Some("Files")
    }
}
