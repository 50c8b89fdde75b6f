//! `workspace`: the files of the project that an agent works on, and commands in it.
//!
//! The tools have the names that agents know (`read`, `list`, `glob`, `grep`, `write`, `edit`, `bash`) and that the gate
//! knows the kinds of, so that a step grants them as it grants those of any client. Paths stay inside the project,
//! wherever links lead. Commands are bounded and leave nothing behind; what they do is the gate's to allow.

mod command;
mod files;
mod place;

use crate::sandbox::Launch;
use abide_core::capability::CapabilityId;
use abide_engine::port::{Capability, Tool};
use place::Root;
use std::path::PathBuf;
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
}

impl Workspace {
    /// The id of the capability.
    pub const ID: &'static str = "workspace";

    /// Makes the capability for the project in a folder. Its processes carry `mark` and do not get the variables of
    /// `without`.
    pub fn new(root: PathBuf, launch: Launch, mark: impl Into<String>, without: Vec<String>) -> Self {
        let root = Root::new(root);
        Self { shared: Arc::new(Shared { root, launch, mark: mark.into(), without }) }
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
