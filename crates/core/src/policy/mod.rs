//! What an agent may do now: enforcement, written once for hooks, MCP and our own loop.
//!
//! [`verdict`] answers about one tool call, [`stop`] about ending a turn, [`cancel`] and [`approve`] about the run.
//! All of them are functions of a [`Situation`], which a caller makes from an index: no run is loaded and no ability
//! read. The table is that of the levels ([`verdict`]); what holds at every level are three things: abide's own
//! commands are a human's (`cli`), its files are nobody's to change (`guard`), and what an ability reserves is done
//! by a run of it (`reserve`).
//!
//! Two questions look alike and lean to opposite sides. Whether a call is *reserved* must be answered with yes when
//! in doubt; whether it is *granted* with no. `shell` therefore says what a line could run at most, and
//! `likeness` has three values.

mod call;
mod cli;
mod glob;
mod grant;
mod guard;
mod kill;
mod kind;
mod likeness;
mod patch;
mod path;
mod permission;
mod reading;
mod reason;
mod reserve;
mod script;
mod shell;
mod situation;
mod sought;
mod stop;
mod subject;
mod summary;
#[cfg(test)]
mod tests;
mod told;
mod verdict;
mod written;

pub use call::{Arguments, ToolCall};
pub use grant::names_tool;
pub use kind::{Client, OwnTool, ToolKind, kind};
pub use path::{Files, NoLinks, Place, Remembered};
pub use permission::{Permit, wildcard};
pub use script::made_by_script;
pub use shell::Told;
pub use situation::{
    Active, ActiveStep, AgentRights, Grants, Guarded, Reserved, Role, Seat, Session, Situation, Standing,
};
pub use sought::{Sought, folder_of_guarded, name_of_reserved};
pub use stop::{Asker, StopVerdict, approve, cancel, stop};
pub use summary::summary;
pub use verdict::{Verdict, verdict};
