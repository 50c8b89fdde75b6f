//! Capabilities: tools and a piece of the system prompt that belong together.

use super::Tool;
use abide_core::capability::{CapabilityId, CapabilityInfo, CapabilityStatus, Requirement, Risk};
use serde_json::Value;
use std::sync::Arc;

/// A unit of what an agent can do.
///
/// Contract: what it says about itself stays the same while it is registered; asking costs nothing and starts nothing.
pub trait Capability: Send + Sync + 'static {
    /// Returns its id.
    fn id(&self) -> CapabilityId;

    /// Returns what it is called.
    fn name(&self) -> &str;

    /// Returns what it is for.
    fn description(&self) -> &str;

    /// Returns whether it can be used.
    fn status(&self) -> CapabilityStatus {
        CapabilityStatus::Available
    }

    /// Returns what it adds to the system prompt.
    fn system_prompt_addition(&self) -> Option<&str> {
        None
    }

    /// Returns its tools, in order; also while it cannot be used, so that they can be shown.
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        Vec::new()
    }

    /// Returns the name of its icon.
    fn icon(&self) -> Option<&str> {
        None
    }

    /// Returns the group that it is shown in.
    fn category(&self) -> Option<&str> {
        None
    }

    /// Returns the version of its tools' shapes.
    fn version(&self) -> u32 {
        1
    }

    /// Returns what it needs.
    fn depends_on(&self) -> Vec<Requirement> {
        Vec::new()
    }

    /// Returns the JSON Schema of what can be configured for one agent, if anything can.
    fn configuration(&self) -> Option<Value> {
        None
    }

    /// Returns the capability as one agent configures it; `configuration` fits the schema.
    fn configured(&self, configuration: &Value) -> Result<Arc<dyn Capability>, String> {
        let _ = configuration;
        Err("it has nothing to configure".to_owned())
    }

    /// Returns what people and programs are shown.
    fn info(&self) -> CapabilityInfo {
        CapabilityInfo {
            id: self.id(),
            name: self.name().to_owned(),
            description: self.description().to_owned(),
            status: self.status(),
            icon: self.icon().map(str::to_owned),
            category: self.category().map(str::to_owned),
            version: self.version(),
            risk: self.tools().iter().map(|tool| tool.spec().risk).max().unwrap_or(Risk::None),
            depends_on: self.depends_on(),
        }
    }
}
