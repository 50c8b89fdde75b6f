//! The `abide` binary: reads what surrounds the process, and hands it to the library.
#![expect(clippy::disallowed_methods, reason = "the environment is read here, once")]

use abide_cli::Surroundings;
use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

/// Reading many small definitions allocates many small things, on several threads at once.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let surroundings = Surroundings {
        folder: std::env::current_dir().unwrap_or_default(),
        variables: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        terminal: io::stdout().is_terminal(),
        terminal_in: io::stdin().is_terminal(),
        width: || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)),
    };
    abide_cli::main(&surroundings, std::env::args_os(), &mut io::stdout().lock(), &mut io::stderr().lock())
        .into()
}
