//! What each command does; the rules live in core, and these only ask and show.

mod answer;
mod audit;
mod completions;
mod demo;
mod doctor;
mod drive;
mod dry_run;
mod explain;
mod graph;
mod init;
mod list;
mod logs;
mod plan;
mod rerun;
mod run;
mod runs;
mod schema;
mod show;
mod validate;

pub(crate) use answer::{Answer, answer, cancel};
pub(crate) use audit::audit;
pub(crate) use completions::completions;
pub(crate) use demo::demo;
pub(crate) use doctor::doctor;
pub(crate) use explain::explain;
pub(crate) use graph::graph;
pub(crate) use init::init;
pub(crate) use list::list;
pub(crate) use logs::logs;
pub(crate) use plan::plan;
pub(crate) use rerun::rerun;
pub(crate) use run::{resume, run};
pub(crate) use runs::{runs, status};
pub(crate) use schema::schema;
pub(crate) use show::show;
pub(crate) use validate::validate;
