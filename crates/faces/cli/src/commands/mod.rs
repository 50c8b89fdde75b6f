//! What each command does; the rules live in core, and these only ask and show.

mod completions;
mod doctor;
mod explain;
mod graph;
mod init;
mod list;
mod schema;
mod show;
mod validate;

pub(crate) use completions::completions;
pub(crate) use doctor::doctor;
pub(crate) use explain::explain;
pub(crate) use graph::graph;
pub(crate) use init::init;
pub(crate) use list::list;
pub(crate) use schema::schema;
pub(crate) use show::show;
pub(crate) use validate::validate;
