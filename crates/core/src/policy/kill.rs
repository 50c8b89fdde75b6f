//! Ending the process that drives a run, which a shell can do in many ways.

use super::glob::is_known;
use super::path::name_of;
use super::shell::{Command, only_reads};
use super::subject::Subject;

/// What is said on the command line of a process that drives a run, behind the name of the program.
const DRIVERS: &[&str] = &["mcp", "run", "serve", "worker", "chat", "agent", "resume", "hook", "rerun"];

/// Returns whether a command ends, or could end, a process that drives a run.
pub(super) fn kills(command: &Command, subject: &Subject<'_>) -> bool {
    let run = subject.situation.may_be_active();
    let Some(first) = command.words.first().filter(|first| is_known(first)) else { return false };
    let name = name_of(first).to_ascii_lowercase();
    let words = &command.words[1..];
    let own = |word: &String| {
        let word = word.rsplit(['=', ',']).next().unwrap_or(word);
        let number = word.trim_start_matches('-').parse::<u32>();
        number.is_ok_and(|number| subject.situation.processes.contains(&number))
    };
    match name.as_str() {
        "pkill" | "killall" | "skill" | "snice" | "xkill" => {
            let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
            by_name(&name, &words, subject, run)
        }
        "killall5" => run,
        "fuser" => {
            let kills =
                |word: &String| word.starts_with("--k") || word.starts_with('-') && word.contains('k');
            run && words.iter().any(kills)
        }
        // `kill -9 -1` is everybody; the first number after a dash is a signal.
        "kill" | "taskkill" => words.iter().any(|word| own(word) || run && (!is_known(word) || word == "-1")),
        // Debuggers, and whatever else takes hold of a process.
        _ => run && !only_reads(&name) && words.iter().any(own),
    }
}

/// Returns whether processes are chosen by something that a driver could have, too.
fn by_name(program: &str, words: &[String], subject: &Subject<'_>, run: bool) -> bool {
    if words.iter().any(|word| word.contains("abide")) {
        return true;
    }
    if !run {
        return false;
    }
    let short = |letters: &str| {
        words.iter().any(|word| {
            let signal = word.len() > 2
                && word[1..].chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit());
            word.starts_with('-')
                && !word.starts_with("--")
                && !signal
                && word.contains(|letter| letters.contains(letter))
        })
    };
    // By whose they are, where they run and when they began.
    let others = [
        "--uid",
        "--euid",
        "--user",
        "--group",
        "--pgroup",
        "--parent",
        "--session",
        "--terminal",
        "--inverse",
        "--newest",
        "--oldest",
        "--pidfile",
        "--older",
        "--younger",
        "--regexp",
        "--cgroup",
        "--ns",
        "--env",
    ];
    let long = words.iter().any(|word| {
        others
            .iter()
            .any(|option| word.len() > 3 && option.starts_with(word.split('=').next().unwrap_or(word)))
    });
    if long || program != "skill" && short("ugpstvnor") {
        return true;
    }
    let full = program != "killall"
        && (program == "skill" || short("f") || words.iter().any(|word| word.starts_with("--fu")));
    let mut named = words.iter().filter(|word| !word.starts_with('-')).peekable();
    if named.peek().is_none() {
        return program != "xkill";
    }
    let place = &subject.situation.place;
    named.any(|word| {
        let pattern = !is_known(word) || word.contains(['.', '*', '[', '^', '$', '|', '?', '+', '(', '\\']);
        let in_line = || {
            DRIVERS.iter().any(|said| format!("abide {said} ").contains(word.as_str()) || word.contains(said))
                || place.root.to_lowercase().contains(word.as_str())
                || place.home.as_deref().is_some_and(|home| home.to_lowercase().contains(word.as_str()))
                || subject.situation.active().is_some_and(|active| {
                    active.ability.to_lowercase().contains(word.as_str())
                        || active.run.contains(word.as_str())
                })
        };
        pattern || "abide".contains(word.as_str()) || full && in_line()
    })
}
