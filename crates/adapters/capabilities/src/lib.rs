//! The capabilities that come with abide.
//!
//! Each file is one capability: what it says about itself and its tools. [`builtins`] puts them into a registry. Nothing
//! here starts, opens or looks up anything until a tool is called.
#![warn(missing_docs)]

mod bundle;
mod current_time;
mod file_system;
mod function;
mod mcp;
mod memory_files;
mod noop;
mod output;
mod research;
mod sandbox;
mod test_math;
mod test_weather;
mod todo_list;
mod web_fetch;
mod workspace;

pub use bundle::{Check, Ground, UserCapability};
pub use current_time::CurrentTime;
pub use file_system::FileSystem;
pub use mcp::{Address, LinkError, McpCapability, ServerAbout};
pub use memory_files::MemoryFiles;
pub use noop::Noop;
pub use research::Research;
pub use research::SearchTool;
pub use sandbox::{Launch, Sandbox, Take, launcher};
pub use test_math::TestMath;
pub use test_weather::TestWeather;
pub use todo_list::StatelessTodoList;
pub use web_fetch::{Lookup, WebFetch};
pub use workspace::{Reading, Workspace};

use abide_core::event::Timestamp;
use abide_engine::capability::CapabilityRegistry;
use abide_engine::port::{Capability, SessionFiles};
use std::sync::Arc;

/// Tells the time.
pub type Now = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What the built-in capabilities need of the world.
pub struct World {
    /// What time it is.
    pub now: Now,
    /// Where the files of sessions lie.
    pub files: Arc<dyn SessionFiles>,
    /// What runs code, or says why it cannot.
    pub sandbox: Sandbox,
    /// How the web may be used.
    pub web: Web,
}

/// How tools may use the web, as the user's own configuration says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Web {
    /// Hosts that may be fetched although they are not public.
    pub allow_hosts: Vec<String>,
    /// The proxy that public pages are fetched through.
    pub proxy: Option<String>,
    /// Where searches are sent, with `{query}` where the words go.
    pub search_url: Option<String>,
    /// The tool that searches instead.
    pub search_tool: Option<SearchTool>,
}

/// Returns a registry with every capability that comes with abide.
pub fn builtins(world: World) -> CapabilityRegistry {
    let web = Arc::new(WebFetch::new().opened(&world.web));
    let files = Arc::clone(&world.files);
    let research = Research::new(files, Arc::clone(&world.now), Arc::clone(&web), &world.web);
    let all: [Arc<dyn Capability>; 9] = [
        Arc::new(Noop),
        Arc::new(CurrentTime::new(world.now)),
        Arc::new(research),
        Arc::new(world.sandbox),
        Arc::new(FileSystem::new(world.files)),
        Arc::new(TestMath),
        Arc::new(TestWeather),
        Arc::new(StatelessTodoList),
        web,
    ];
    let mut registry = CapabilityRegistry::default();
    for capability in all {
        // Invariant: these are ours, and registering every one of them is a test.
        registry.register(capability).expect("a built-in capability can be registered");
    }
    registry
}
