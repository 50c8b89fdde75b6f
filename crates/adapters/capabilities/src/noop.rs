//! `noop`: a capability that adds nothing, to test and to show what one is.

use abide_core::capability::CapabilityId;
use abide_engine::port::Capability;

/// Adds nothing.
#[derive(Debug)]
pub struct Noop;

impl Capability for Noop {
    fn id(&self) -> CapabilityId {
        CapabilityId::noop()
    }

    fn name(&self) -> &'static str {
        "No-Op"
    }

    fn description(&self) -> &'static str {
        "A capability that adds nothing, for testing and demonstration."
    }

    fn icon(&self) -> Option<&str> {
        Some("circle-off")
    }

    fn category(&self) -> Option<&str> {
        Some("Testing")
    }
}
