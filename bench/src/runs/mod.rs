//! `runs`: what a durable step costs, what opening a long run costs, and how soon `abide status` answers.
//!
//! Everything runs through the real driver, the real log and real processes, in this program.

mod bars;
mod commands;
mod floor;
mod meter;
mod opening;
mod stack;
mod steps;

pub(crate) use bars::Bars;
pub(crate) use opening::long_run;

use std::process::ExitCode;

/// Measures everything; with `quick`, less often.
pub(crate) fn run(quick: bool) -> anyhow::Result<ExitCode> {
    let mut bars = Bars::default();
    let rounds = if quick { 30 } else { 100 };
    steps::measure(quick, &mut bars)?;
    opening::measure(rounds, &mut bars)?;
    commands::status(rounds, &mut bars)?;
    commands::others(if quick { 5 } else { 15 })?;
    Ok(if bars.report() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
