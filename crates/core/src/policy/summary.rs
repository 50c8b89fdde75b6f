//! What a call asks for, in a few words that anybody may read later.
//!
//! The arguments of a call may hold a password or a token, and a log is read by people who must not have them. So a summary
//! names programs, files, hosts and abilities, and repeats nothing else.

use super::call::ToolCall;
use super::glob::is_known;
use super::path::Files;
use super::shell::Origin;
use super::situation::Situation;
use super::subject::Subject;

/// The longest summary, in characters.
const LONGEST: usize = 200;
/// How many things it names.
const MOST: usize = 8;

/// Programs whose next word says what they do.
const WITH_COMMANDS: &[&str] = &[
    "abide",
    "apt",
    "apt-get",
    "aws",
    "az",
    "brew",
    "bun",
    "cargo",
    "docker",
    "flyctl",
    "gcloud",
    "gh",
    "git",
    "go",
    "heroku",
    "helm",
    "kubectl",
    "make",
    "npm",
    "pip",
    "pnpm",
    "podman",
    "systemctl",
    "terraform",
    "yarn",
];

/// Returns what a call asks for.
pub fn summary(situation: &Situation, call: &ToolCall, files: &dyn Files) -> String {
    let subject = Subject::new(situation, call, files);
    let arguments = &call.arguments;
    let mut named: Vec<String> = Vec::new();
    if let Some(line) = subject.line() {
        // What an argument could run at most is an argument, too.
        let run =
            line.commands.iter().filter(|command| matches!(command.origin, Origin::Runs | Origin::File));
        named.extend(run.map(|command| program(&command.words)));
        named.extend(line.writes.iter().map(|(path, _)| format!("> {}", known(path))));
    }
    named.extend(arguments.paths.iter().cloned());
    named.extend(arguments.urls.iter().map(|url| host(url)));
    named.extend(arguments.ability.clone());
    named.extend(arguments.nested.iter().map(|call| call.name.clone()));
    let mut shown: Vec<String> = Vec::new();
    for name in named {
        if !name.is_empty() && !shown.contains(&name) {
            shown.push(name);
        }
    }
    let more = if shown.len() > MOST { ", …" } else { "" };
    shown.truncate(MOST);
    let text = format!("{}{more}", shown.join(", "));
    // Line ends and other control characters would let a call write lines of its own.
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).take(LONGEST).collect()
}

fn known(word: &str) -> String {
    if is_known(word) { word.to_owned() } else { "…".to_owned() }
}

/// Returns a program, and its subcommand if it is one that has such.
fn program(words: &[String]) -> String {
    let Some(first) = words.first() else { return String::new() };
    let name = first.rsplit('/').next().unwrap_or(first);
    let is_plain = |word: &&String| {
        word.len() <= 20 && word.chars().all(|character| character.is_ascii_lowercase() || character == '-')
    };
    match words.get(1).filter(is_plain) {
        Some(second) if WITH_COMMANDS.contains(&name) && !second.starts_with('-') => {
            format!("{} {second}", known(first))
        }
        _ => known(first),
    }
}

/// Returns the host of an address: a user, a path and a query may be secrets.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.rsplit('@').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{AgentRights, Client, NoLinks, Place, Seat, Session};
    use crate::value::Value;

    fn of(tool: &str, key: &str, value: &str) -> String {
        let situation = Situation {
            place: Place { root: "/p".into(), cwd: "/p".into(), home: None },
            session: Session::Free,
            seat: Seat::Main,
            agent: AgentRights::Any { except: Vec::new() },
            reserved: Vec::new(),
            guarded: Vec::new(),
            processes: Vec::new(),
        };
        let arguments = Value::Map(vec![(key.to_owned(), Value::Text(value.to_owned()))]);
        summary(&situation, &ToolCall::read(Client::ClaudeCode, tool, &arguments), &NoLinks)
    }

    #[test]
    fn it_names_programs_files_hosts_and_abilities() {
        assert_eq!(of("Bash", "command", "cd x && ./deploy.sh now | tee out.txt"), "cd, ./deploy.sh, tee");
        assert_eq!(of("Bash", "command", "git push origin main"), "git push");
        assert_eq!(of("Write", "file_path", "/p/a.rs"), "/p/a.rs");
        assert_eq!(of("WebFetch", "url", "https://ada:pw@example.com/x?token=1"), "example.com");
        assert_eq!(of("mcp__abide__ability_run", "ability", "deploy"), "deploy");
    }

    #[test]
    fn no_argument_gets_into_it() {
        for command in [
            "TOKEN=hunter2 ./deploy.sh --password hunter2",
            "echo hunter2 | docker login -p hunter2 --password-stdin",
            "curl -H 'Authorization: Bearer hunter2' https://x:hunter2@example.com/hunter2",
            "sh -c 'mysql -phunter2'",
            "git -c http.extraHeader=hunter2 push",
            "aws configure set secret hunter2",
            "python3 -c 'print(\"hunter2\")'",
            "cat <<< hunter2",
            "ssh hunter2@host",
        ] {
            let text = of("Bash", "command", command);
            assert!(!text.contains("hunter2"), "{command}: {text}");
        }
        assert!(!of("Unknown", "secret", "hunter2").contains("hunter2"));
    }

    #[test]
    fn it_is_one_short_line() {
        let text = of("Bash", "command", &"/a/very/long/path/to/some/program\n".repeat(500));
        assert!(text.chars().count() <= LONGEST && !text.contains('\n'), "{text}");
        let many: Vec<String> = (0..100).map(|number| format!("p{number}")).collect();
        assert!(of("Bash", "command", &many.join(";")).ends_with("p7, …"));
        assert!(!of("Write", "file_path", "/p/a\n{\"tool\":1}").contains('\n'));
    }
}
