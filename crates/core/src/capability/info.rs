//! Who a capability is: its id, whether it can be used, and what people are shown of it.

use super::Risk;
use smol_str::SmolStr;
use std::fmt;

/// The id of a capability: 1 to 50 of `a`-`z`, `0`-`9`, `_` and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CapabilityId(SmolStr);

macro_rules! built_in {
    ($($constant:ident, $function:ident = $id:literal;)+) => {
        impl CapabilityId {
            $(
                #[doc = concat!("`", $id, "`")]
                pub const $constant: &'static str = $id;

                #[doc = concat!("Returns `", $id, "`.")]
                pub fn $function() -> Self {
                    Self(SmolStr::new_static($id))
                }
            )+

            /// Every capability that comes with abide, in the order in which they are listed.
            pub const BUILT_IN: &'static [&'static str] = &[$($id),+];
        }
    };
}

built_in! {
    NOOP, noop = "noop";
    CURRENT_TIME, current_time = "current_time";
    RESEARCH, research = "research";
    SANDBOX, sandbox = "sandbox";
    FILE_SYSTEM, file_system = "session_file_system";
    TEST_MATH, test_math = "test_math";
    TEST_WEATHER, test_weather = "test_weather";
    STATELESS_TODO_LIST, stateless_todo_list = "stateless_todo_list";
    WEB_FETCH, web_fetch = "web_fetch";
}

impl CapabilityId {
    /// The longest id there is: what a column of the store holds.
    pub const LONGEST: usize = 50;

    /// Takes an id as somebody wrote it.
    pub fn parse(text: &str) -> Option<Self> {
        let fits = !text.is_empty()
            && text.len() <= Self::LONGEST
            && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-');
        fits.then(|| Self(text.into()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CapabilityId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// A capability that is needed, in a version where one is required: `tickets`, `tickets@2`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Requirement {
    /// Which one.
    pub id: CapabilityId,
    /// Its version, if only that will do.
    pub version: Option<u32>,
}

impl Requirement {
    /// Takes a requirement as somebody wrote it.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, version) = match text.split_once('@') {
            Some((id, version)) => (id, Some(version)),
            None => (text, None),
        };
        let number = |version: &str| {
            let plain = version.bytes().all(|byte| byte.is_ascii_digit()) && !version.starts_with('0');
            version.parse().ok().filter(|_| plain)
        };
        let version = match version {
            Some(version) => Some(number(version)?),
            None => None,
        };
        Some(Self { id: CapabilityId::parse(id)?, version })
    }
}

impl From<CapabilityId> for Requirement {
    fn from(id: CapabilityId) -> Self {
        Self { id, version: None }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.version {
            Some(version) => write!(out, "{}@{version}", self.id),
            None => self.id.fmt(out),
        }
    }
}

/// Whether a capability can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CapabilityStatus {
    /// Ready for use.
    Available,
    /// Not made yet.
    ComingSoon,
    /// It works, and something else is better.
    Deprecated,
    /// It is made, and cannot be used here.
    Unavailable {
        /// Why not, and what would help.
        why: String,
    },
}

impl CapabilityStatus {
    /// Returns the word that stands for it in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::ComingSoon => "coming_soon",
            Self::Deprecated => "deprecated",
            Self::Unavailable { .. } => "unavailable",
        }
    }

    /// Returns whether an agent may be given it.
    pub fn is_usable(&self) -> bool {
        matches!(self, Self::Available | Self::Deprecated)
    }
}

/// What people and programs are shown of a capability.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilityInfo {
    /// Its id.
    pub id: CapabilityId,
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether it can be used.
    pub status: CapabilityStatus,
    /// The name of an icon.
    pub icon: Option<String>,
    /// The group it is shown in.
    pub category: Option<String>,
    /// The version of its tools' shapes: a number that grows when a caller would notice.
    pub version: u32,
    /// The worst that one of its tools could do.
    pub risk: Risk,
    /// The capabilities that it needs.
    pub depends_on: Vec<Requirement>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requirement_is_an_id_and_perhaps_a_version() {
        for text in ["a", "web_fetch@1", "a@4294967295"] {
            assert_eq!(Requirement::parse(text).map(|found| found.to_string()), Some(text.to_owned()));
        }
        for text in ["", "@1", "a@", "a@x", "a@1.2", "a@0", "a@01", "a@+1", "a@4294967296", "A@1", "a@1@1"] {
            assert_eq!(Requirement::parse(text), None, "{text}");
        }
    }

    #[test]
    fn an_id_fits_the_column_it_is_stored_in_and_can_be_no_path() {
        for id in CapabilityId::BUILT_IN.iter().copied().chain(["my-tools2", &"a".repeat(50)]) {
            assert_eq!(CapabilityId::parse(id).map(|id| id.to_string()), Some(id.to_owned()));
        }
        for id in ["", "Noop", "a b", "../x", "a/b", "a.b", "ä", "a\0", &"a".repeat(51)] {
            assert_eq!(CapabilityId::parse(id), None, "{id:?}");
        }
        assert_eq!(CapabilityId::file_system().as_str(), "session_file_system");
        assert_eq!(CapabilityId::BUILT_IN.len(), 9);
    }
}
