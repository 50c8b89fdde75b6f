//! Side-by-side benchmarks: what abide costs, as a ratio to the least that the same work could cost.
//!
//! ```text
//! cargo run --release -p abide-bench -- validate [--quick]
//! cargo run --release -p abide-bench -- runs [--quick]
//! cargo run --release -p abide-bench -- hook [--quick]
//! cargo run --release -p abide-bench -- skills [--quick]
//! cargo run --release -p abide-bench -- turn [--quick]
//! cargo run --release -p abide-bench -- server [--quick]
//! ```
//! The program calls itself for the other side of a comparison, so that both are cold processes.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a benchmark starts processes, writes files, reads the clock and prints"
)]

mod abilities;
mod floor;
mod hook;
mod langgraph;
mod measure;
mod runs;
mod server;
mod skills;
mod turn;
mod validate;

use anyhow::bail;
use std::process::ExitCode;

fn main() -> anyhow::Result<ExitCode> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["validate"] => validate::run(validate::THOROUGH),
        ["validate", "--quick"] => validate::run(validate::QUICK),
        ["runs"] => runs::run(false),
        ["runs", "--quick"] => runs::run(true),
        ["turn"] => turn::run(false),
        ["turn", "--quick"] => turn::run(true),
        ["turn-side", ref rest @ ..] => turn::other(rest),
        ["hook"] => hook::run(false),
        ["hook", "--quick"] => hook::run(true),
        ["server"] => server::run(false, None),
        ["server", "--quick"] => server::run(true, None),
        ["server", "--quick", part] => server::run(true, Some(part)),
        ["server-bare", answers] => server::bare(answers),
        ["server-asks", url, bodies] => server::asks(url, bodies),
        ["skills"] => skills::run(false),
        ["skills", "--quick"] => skills::run(true),
        ["floor", "read", list] => skills::read(list.as_ref()),
        ["floor", "events", folder] => floor::events(folder.as_ref()),
        ["floor", "bare", folder] => floor::bare(folder.as_ref()),
        ["measure", program, ref rest @ ..] => measure::child(program, rest),
        _ => bail!("usage: abide-bench validate|runs|hook|skills|turn|server [--quick]"),
    }
}
