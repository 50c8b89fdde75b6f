//! The `abide` binary: reads what surrounds the process, and hands it to the library.
#![expect(clippy::disallowed_methods, reason = "the environment is read here, once")]

use abide_cli::Surroundings;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

fn main() -> ExitCode {
    let surroundings = Surroundings {
        folder: std::env::current_dir().unwrap_or_default(),
        variables: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        binary: std::env::current_exe().ok(),
        terminal: io::stdout().is_terminal(),
        terminal_in: io::stdin().is_terminal(),
        width: || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)),
    };
    let arguments: Vec<String> = std::env::args_os().filter_map(|word| word.into_string().ok()).collect();
    // Clients ask this many times a minute, and wait: nothing else is started for it.
    if let [_, command, client, rest @ ..] = &arguments[..]
        && command == "hook"
        && !client.starts_with('-')
        && rest.len() < 2
    {
        let spoken = abide_cli::hook(&surroundings, client, rest.first().map(String::as_str), io::stdin());
        let written = io::stdout().write_all(spoken.out.as_bytes());
        let said = io::stderr().write_all(spoken.talk.as_bytes());
        // An answer that could not be given is a denial, as far as a code can say it.
        return ExitCode::from(if written.and(said).is_ok() { spoken.exit } else { 2 });
    }
    // Not locked: a server writes from threads of its own.
    abide_cli::main(&surroundings, std::env::args_os(), &mut io::stdout(), &mut io::stderr()).into()
}
