//! Whether a step grants a call: every part of the call must certainly be granted.

use super::glob::{can_be, glob, is_known};
use super::kind::{Client, ToolKind, kind, meant_kind, takes_other_code};
use super::likeness::joined;
use super::path::{absolute, normal};
use super::shell::{Command, Line, Origin, Program, program};
use super::situation::Grants;
use super::subject::Subject;
use crate::definition::Protect;

/// Returns whether the grants of a step cover a call.
pub(super) fn granted(subject: &Subject<'_>, grants: &Grants) -> bool {
    let Grants::Only(names) = grants else { return true };
    let patterns: Vec<Protect> = names
        .iter()
        .filter_map(|name| Protect::parse(name.trim()).ok())
        .filter(|pattern| is_tool(pattern.tool(), subject.call.client, &subject.call.name))
        .collect();
    if patterns.iter().any(|pattern| pattern.argument().is_none()) {
        return true;
    }
    let arguments = &subject.call.arguments;
    let globs: Vec<&str> = patterns.iter().filter_map(Protect::argument).collect();
    if globs.is_empty() || arguments.unreadable {
        return false;
    }
    match subject.kind {
        ToolKind::Execute => subject.line().is_some_and(|line| line_fits(subject, line, &globs)),
        ToolKind::Read | ToolKind::Search | ToolKind::Edit => {
            !arguments.paths.is_empty() && arguments.paths.iter().all(|path| path_fits(subject, path, &globs))
        }
        ToolKind::Network => {
            let fits = |url: &String| globs.iter().any(|wanted| can_be(&glob(wanted), url));
            !arguments.urls.is_empty() && arguments.urls.iter().all(fits)
        }
        _ => false,
    }
}

/// Returns whether one of the tools that a definition names means a tool of a client, whatever the call may be given.
///
/// For offering tools: whether a call is granted is for the verdict to say.
pub fn names_tool(names: &[String], client: Client, tool: &str) -> bool {
    let patterns = names.iter().filter_map(|name| Protect::parse(name.trim()).ok());
    patterns.into_iter().any(|pattern| is_tool(pattern.tool(), client, tool))
}

/// Returns whether a tool name of a definition means a tool of a client.
///
/// A definition is written once and run in several clients. A name that the client has, give or take its
/// capitals, means that tool alone; a name of another client means the tools that do the same.
pub(super) fn is_tool(wanted: &str, client: Client, name: &str) -> bool {
    if wanted == name || (wanted.contains('*') && can_be(&glob(wanted), name)) {
        return true;
    }
    if kind(client, name) == ToolKind::Other || takes_other_code(name) {
        return false;
    }
    let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
    if plain(wanted) == plain(name) {
        return true;
    }
    // Our own loop has the tools of capabilities; `Read` is Claude Code's word there, and means what reads.
    let is_own = |known: &str| match client {
        Client::Other => known == wanted,
        _ => plain(known) == plain(wanted),
    };
    let has_its_own = super::kind::names(client).any(is_own);
    !has_its_own && meant_kind(wanted) == Some(kind(client, name))
}

/// Names with which a command that is granted would run another program.
fn is_dangerous(variable: &str) -> bool {
    ["PATH", "IFS", "ENV", "BASH_ENV", "SHELL", "PAGER", "EDITOR", "VISUAL", "PROMPT_COMMAND"]
        .contains(&variable)
        || ["LD_", "DYLD_", "GIT_", "PYTHON", "PERL", "RUBY", "NODE_", "BASH_", "CARGO_", "RUSTC", "MAKE"]
            .iter()
            .any(|prefix| variable.starts_with(prefix))
}

fn line_fits(subject: &Subject<'_>, line: &Line, globs: &[&str]) -> bool {
    let writes = line.writes.iter().any(|(target, _)| target != "/dev/null");
    if line.blind.is_some() || writes || line.variables.iter().any(|name| is_dangerous(name)) {
        return false;
    }
    let mut some = false;
    for command in line.commands.iter().filter(|command| command.origin != Origin::Mentioned) {
        let moves = matches!(program(&command.words[0]), Program::Folder);
        if !(moves || command_fits(subject, command, globs)) {
            return false;
        }
        some = true;
    }
    some
}

fn command_fits(subject: &Subject<'_>, command: &Command, globs: &[&str]) -> bool {
    if !command.words.iter().all(|word| is_known(word)) || command.origin == Origin::File {
        return false;
    }
    let text = joined(&command.words);
    let rooted = rooted(subject, command);
    globs.iter().any(|wanted| {
        let open = wanted.strip_suffix(" *").or_else(|| wanted.strip_suffix(":*"));
        let fits = |text: &str| {
            can_be(&glob(wanted), text)
                || open.is_some_and(|open| {
                    can_be(&glob(open), text) || can_be(&glob(&format!("{open} *")), text)
                })
        };
        // A path means the same file wherever the line has gone.
        if wanted.starts_with(['.', '/']) || wanted.split(' ').next().is_some_and(|first| first.contains('/'))
        {
            rooted.iter().any(|text| fits(text))
        } else {
            fits(&text)
        }
    })
}

/// Returns a command whose program is a path, as it is written from the project's root.
fn rooted(subject: &Subject<'_>, command: &Command) -> Vec<String> {
    let [Some(folder)] = command.folders.as_slice() else { return Vec::new() };
    let first = &command.words[0];
    if !first.contains('/') {
        return Vec::new();
    }
    let place = &subject.situation.place;
    let raw = absolute(first, folder, place.home.as_deref());
    let path = subject.files.real(&raw).map_or_else(|| normal(&raw, folder), |real| normal(&real, folder));
    let inner = subject.seen_from_root(&path);
    [path.clone(), inner.clone(), format!("./{inner}")]
        .into_iter()
        .map(|program| {
            let mut words = command.words.clone();
            words[0] = program;
            joined(&words)
        })
        .collect()
}

fn path_fits(subject: &Subject<'_>, path: &str, globs: &[&str]) -> bool {
    let place = &subject.situation.place;
    let raw = absolute(path, &place.cwd, place.home.as_deref());
    let mut spellings = vec![normal(&raw, &place.cwd)];
    // Both must fit: the path as written, and where it leads.
    spellings.extend(subject.files.real(&raw).map(|real| normal(&real, &place.cwd)));
    spellings.iter().all(|path| {
        let inner = subject.seen_from_root(path);
        globs.iter().any(|wanted| {
            let wanted = glob(&wanted.to_lowercase());
            let wanted = wanted.strip_prefix("./").unwrap_or(&wanted);
            can_be(wanted, path) || can_be(wanted, &inner)
        })
    })
}
