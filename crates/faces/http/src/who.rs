//! Who asks, and what they may.

use abide_engine::keys::{ApiKey, Scope, UNSIGNED};

/// Who asks.
#[derive(Debug, Clone)]
pub(crate) enum Who {
    /// Somebody of this machine, without a key: an agent could be it, so what is a human's to decide is not open to it.
    Unsigned,
    /// Whoever has this key.
    Key(Box<ApiKey>),
}

impl Who {
    /// Returns the name that the log gives them.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Unsigned => UNSIGNED,
            Self::Key(key) => &key.name,
        }
    }

    /// Returns whether they may do what a scope allows.
    pub(crate) fn may(&self, wanted: Scope) -> bool {
        match self {
            Self::Unsigned => matches!(wanted, Scope::Read | Scope::Run),
            Self::Key(key) => key.may(wanted),
        }
    }

    /// Returns what they are counted by.
    pub(crate) fn counted(&self) -> &str {
        match self {
            Self::Unsigned => UNSIGNED,
            Self::Key(key) => &key.id,
        }
    }
}
