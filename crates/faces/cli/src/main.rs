//! The `abide` binary: reads what surrounds the process, and hands it to the library.
#![expect(clippy::disallowed_methods, reason = "the environment is read here, once")]

use abide_cli::{Spoken, Surroundings};
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a thread needs that only waits and then says a line.
const STACK: usize = 64 * 1024;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args_os().filter_map(|word| word.into_string().ok()).collect();
    // Clients ask this many times a minute, and wait: nothing else is started for it, or looked at.
    if let [_, command, client, rest @ ..] = &arguments[..]
        && command == "hook"
        && !client.starts_with('-')
        && rest.len() < 2
    {
        return hook(client, rest.first().map(String::as_str));
    }
    let surroundings = Surroundings {
        binary: std::env::current_exe().ok(),
        terminal: io::stdout().is_terminal(),
        terminal_in: io::stdin().is_terminal(),
        width: || terminal_size::terminal_size().map(|(width, _)| usize::from(width.0)),
        ..bare()
    };
    // Not locked: a server writes from threads of its own.
    abide_cli::main(&surroundings, std::env::args_os(), &mut io::stdout(), &mut io::stderr()).into()
}

/// Returns what every command must know of its surroundings.
fn bare() -> Surroundings {
    Surroundings {
        folder: std::env::current_dir().unwrap_or_default(),
        variables: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        binary: None,
        terminal: false,
        terminal_in: false,
        width: || None,
    }
}

/// Answers a client. The answer is worked out right here, and another thread counts the time: that way round, nobody
/// waits until a thread has started.
fn hook(client: &str, event: Option<&str>) -> ExitCode {
    static ANSWERED: AtomicBool = AtomicBool::new(false);
    let patience = std::thread::Builder::new().name("patience".to_owned()).stack_size(STACK).spawn(|| {
        std::thread::sleep(abide_cli::HOOK_LONGEST);
        if !ANSWERED.swap(true, Ordering::SeqCst) {
            std::process::exit(i32::from(speak(&abide_cli::hook_is_late())));
        }
    });
    let spoken = match patience {
        Ok(_) => abide_cli::hook(&bare(), client, event, io::stdin()),
        Err(error) => abide_cli::hook_failed(&error.to_string()),
    };
    if ANSWERED.swap(true, Ordering::SeqCst) {
        // Too late: the other thread is speaking, and ends this process.
        loop {
            std::thread::park();
        }
    }
    ExitCode::from(speak(&spoken))
}

/// Says an answer and returns its exit code.
fn speak(spoken: &Spoken) -> u8 {
    let written = io::stdout().write_all(spoken.out.as_bytes());
    let said = io::stderr().write_all(spoken.talk.as_bytes());
    // An answer that could not be given is a denial, as far as a code can say it.
    if written.and(said).is_ok() { spoken.exit } else { 2 }
}
