//! abide's own commands in a shell: an agent may look, and a human decides.

use super::glob::{ANY, can_be, is_known};
use super::kill::kills;
use super::path::name_of;
use super::shell::{Command, Origin};
use super::subject::Subject;

/// Commands of `abide` that only show something.
const LOOKS: &[&str] = &[
    "list",
    "show",
    "graph",
    "validate",
    "plan",
    "runs",
    "status",
    "logs",
    "detect",
    "doctor",
    "audit",
    "schema",
    "completions",
    "explain",
    "help",
    "version",
    "skill",
    "skills",
    "capability",
    "capabilities",
];

/// Commands of `abide` that an agent could use to go round the gate.
const DECIDES: &[&str] = &[
    "approve",
    "reject",
    "cancel",
    "resume",
    "rerun",
    "run",
    "hook",
    "mcp",
    "serve",
    "key",
    "worker",
    "backup",
    "restore",
    "install",
    "uninstall",
    "chat",
    "agent",
];

/// Options whose value is the next word: those of every command, and those of `abide run`.
const VALUED: &[&str] = &[
    "-c",
    "--directory",
    "--color",
    "--server",
    "--key-file",
    "-i",
    "--input",
    "--inputs",
    "--text",
    "--stubs",
];

/// Why a command in a shell is refused.
pub(super) enum Refused {
    /// It is, or could be, a command of abide that is a human's.
    Command(String),
    /// It starts a run that this agent may not start, or not now.
    Run(String),
    /// It ends, or could end, a process that drives a run.
    Kill,
    /// It types into another terminal, where a human's answer would come from.
    Types,
}

/// Returns the command of abide that a shell line would call, if an agent may not.
pub(super) fn refused(subject: &Subject<'_>) -> Option<Refused> {
    let line = subject.line()?;
    line.commands.iter().find_map(|command| {
        own(command, subject)
            .or_else(|| kills(command, subject).then_some(Refused::Kill))
            .or_else(|| types(command, subject))
    })
}

fn own(command: &Command, subject: &Subject<'_>) -> Option<Refused> {
    let run = subject.situation.may_be_active();
    // A text may mention thousands of words.
    let another = |first: &String| is_known(first) && first.is_ascii() && !first.contains(['/', 'b', 'B']);
    if !run && command.words.first().is_some_and(another) {
        return None;
    }
    let words: Vec<String> = command.words.iter().map(|word| word.to_lowercase()).collect();
    let first = words.first()?;
    if is_known(first) {
        if !is_abide(first, command, subject) {
            return by_run(&words, subject);
        }
    } else {
        // A program that is not known is taken for abide only where there is a run to protect.
        let could = command.origin != Origin::Mentioned
            && (can_be(first, "abide") || can_be(first, &format!("{ANY}/abide")));
        if !(run && could) {
            return None;
        }
    }
    let rest = &words[1..];
    if is_known(first)
        // What stands behind `--` is another command's.
        && rest.iter().take_while(|word| *word != "--").any(|word| matches!(word.as_str(), "--help" | "-h" | "--version" | "-v"))
    {
        return None;
    }
    let at = rest.iter().position(|word| !word.starts_with('-'));
    let Some(at) = at else {
        // `$X` alone could be all of `abide approve`.
        return (!is_known(first)).then(|| Refused::Command("abide".to_owned()));
    };
    // `abide -C . --color never --server URL --key-file FILE approve`: options stand before a command, and their values are none.
    // There are four that have one, and a command has two words at most.
    let candidates: Vec<&String> = rest[at..].iter().filter(|word| !word.starts_with('-')).take(6).collect();
    let decides = candidates.iter().enumerate().find(|(place, word)| {
        // `abide model mock SCRIPT -- COMMAND` runs any command.
        let mocks = can_be(word, "mock") && candidates[..*place].iter().any(|before| can_be(before, "model"));
        mocks || DECIDES.iter().any(|name| can_be(word, name))
    });
    // Trusting code that a project brings along is a human's, wherever the options stand; and so is running a skill or its
    // commands, which no gate would see, and saying that skills are as they should be.
    let brings = |word: &&String, names: [&str; 2]| names.iter().any(|name| can_be(word, name));
    let trusts = || {
        let about = candidates
            .iter()
            .any(|word| brings(word, ["skill", "skills"]) || brings(word, ["capability", "capabilities"]));
        let runs_code =
            |word: &&String| is_known(word) && matches!(word.as_str(), "trust" | "expand" | "lock");
        rest[at..].iter().filter(|_| about).find(runs_code)
    };
    // `abide skill run NAME`, and not `abide run skill`.
    let of_skill =
        candidates.iter().take_while(|word| **word != "run").any(|word| brings(word, ["skill", "skills"]));
    let decides = decides.map(|(_, word)| *word).or_else(trusts);
    match decides {
        Some(word) if word == "run" && is_known(first) && !run && !of_skill => {
            // A run is of one ability: if more than one word could name it, all of them must be the agent's.
            let wrong = |name: &&String| !(is_known(name) && subject.situation.agent.may_run(name));
            abilities(&command.words[1..]).into_iter().find(wrong).map(|name| Refused::Run(name.clone()))
        }
        Some(word) => Some(Refused::Command(shown(word))),
        None if !is_known(first) || looks(&rest[at..]) => None,
        // Other commands write files, which the gate does not keep an agent from outside a run.
        None if !run && is_known(&rest[at]) => None,
        None => Some(Refused::Command(shown(&rest[at]))),
    }
}

/// Returns the words that could name what `abide run` runs: neither options nor their values.
fn abilities(words: &[String]) -> Vec<&String> {
    let mut plain = Vec::new();
    let (mut value, mut rest) = (false, false);
    for word in words {
        if rest || !(std::mem::take(&mut value) || word.starts_with('-')) {
            plain.push(word);
        } else if word == "--" {
            rest = true;
        } else {
            value = VALUED.contains(&word.to_lowercase().as_str());
        }
    }
    let behind = plain.iter().position(|word| *word == "run").map_or(0, |at| at + 1);
    plain.split_off(behind)
}

/// Returns whether a command, its name first, only shows something. `capability test` calls a tool, `skill lock` writes a file.
fn looks(command: &[String]) -> bool {
    let Some((name, rest)) = command.split_first() else { return false };
    let calls = matches!(name.as_str(), "capability" | "capabilities")
        && rest.iter().any(|word| can_be(word, "test"));
    let changes = matches!(name.as_str(), "skill" | "skills")
        && rest.iter().any(|word| can_be(word, "lock") || can_be(word, "untrust") || can_be(word, "expand"));
    LOOKS.contains(&name.as_str()) && !calls && !changes
}

fn shown(word: &str) -> String {
    if is_known(word) { format!("abide {word}") } else { "abide".to_owned() }
}

fn is_abide(word: &str, command: &Command, subject: &Subject<'_>) -> bool {
    let plain = |name: &str| name.strip_suffix(".exe").unwrap_or(name) == "abide";
    if plain(name_of(word)) {
        return true;
    }
    let home = subject.situation.place.home.as_deref();
    let raws = command.folders.iter().flatten();
    word.contains('/')
        && raws
            .filter_map(|folder| subject.files.real(&super::path::absolute(&command.words[0], folder, home)))
            .any(|real| plain(name_of(&real.to_lowercase())))
}

/// Recognises a copy of abide under another name by the run that it is told to decide about.
fn by_run(words: &[String], subject: &Subject<'_>) -> Option<Refused> {
    let run = &subject.situation.active()?.run;
    let about = |word: &String| word.len() >= 8 && run.to_lowercase().contains(word.as_str());
    let decides =
        words.iter().find(|word| matches!(word.as_str(), "approve" | "reject" | "cancel" | "resume"))?;
    words.iter().any(about).then(|| Refused::Command(shown(decides)))
}

/// Recognises what types into another terminal: what runs there, no line shows, and a human could be asked there.
fn types(command: &Command, subject: &Subject<'_>) -> Option<Refused> {
    if command.origin == Origin::Mentioned
        || !subject.situation.may_be_active() && subject.situation.reserved.is_empty()
    {
        return None;
    }
    let first = command.words.first().filter(|first| is_known(first))?;
    let words = &command.words[1..];
    // These know a command by any beginning of its name.
    let begins =
        |starts: &[&str]| words.iter().any(|word| starts.iter().any(|start| word.starts_with(start)));
    let hit = match name_of(first).to_ascii_lowercase().as_str() {
        "tmux" => begins(&["send", "paste", "pasteb"]),
        "screen" => begins(&["stuff", "paste", "readreg", "register"]),
        "zellij" => begins(&["write"]),
        "wezterm" | "kitty" | "kitten" => begins(&["send-text", "send-key"]),
        "xdotool" => begins(&["type", "key"]),
        "ydotool" | "wtype" => true,
        _ => false,
    };
    hit.then_some(Refused::Types)
}
