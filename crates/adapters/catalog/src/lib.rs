//! What is on the disk: abilities, agents, skills and the configuration, found within bounds.
//!
//! A [`Catalog`] is opened for one [`Place`] and scanned into a [`Listing`]; a long-lived process scans again
//! when [`Watch`] says that something changed, and only files that changed are read again. Broken and
//! shadowed files are part of the listing: nothing disappears without a word.
#![warn(missing_docs)]
#![expect(clippy::disallowed_methods, reason = "this crate is the home of reading definitions from the disk")]

mod abilities;
mod agents;
mod bundles;
mod catalog;
mod configuration;
mod file;
mod listing;
mod place;
mod skills;
mod texts;
mod trust;
mod walk;
mod watch;

pub use agents::AgentEntry;
pub use bundles::{BundleEntry, bundle_digest};
pub use catalog::Catalog;
pub use configuration::Configuration;
pub use file::{Unreadable, read_text};
pub use listing::{Entry, FileProblems, Folder, Found, Hooks, Listing, Status, Summary};
pub use place::{Origin, Place};
pub use skills::{ForAgents, LoadedSkill, SkillEntry, SkillSummary, Skills, skill_files};
pub use texts::{Texts, texts};
pub use trust::{Trust, TrustError, TrustKind, digest};
pub use walk::{DEEPEST, MOST_ENTRIES};
pub use watch::{Watch, WatchError};
