//! `protects`: whether a call is one that an ability reserves.

use super::glob::{can_be, glob};
use super::guard::written;
use super::kind::{ToolKind, meant_kind};
use super::likeness::{CommandPattern, Likeness};
use super::shell::Blind;
use super::situation::Reserved;
use super::subject::Subject;
use crate::definition::Protect;

/// A call that is reserved, or could be.
pub(super) struct Hit<'a> {
    pub(super) reserved: &'a Reserved,
    /// Why it is not certain, if it is not.
    pub(super) doubt: Option<Doubt>,
}

/// Why it is not certain that a call is reserved.
pub(super) enum Doubt {
    /// A part of it is known only when it runs, or reads in several ways.
    Unknown,
    /// It has code that cannot be read.
    Blind(Blind),
}

/// Returns the first reserved call that this one is, or else the first that it could be.
pub(super) fn reserved<'a>(subject: &Subject<'a>) -> Vec<Hit<'a>> {
    let mut hits = Vec::new();
    for reserved in &subject.situation.reserved {
        match likeness(subject, &reserved.pattern) {
            (Likeness::CanNot, _) => {}
            (Likeness::Is, _) => hits.push(Hit { reserved, doubt: None }),
            (Likeness::Could, doubt) => {
                hits.push(Hit { reserved, doubt: Some(doubt.unwrap_or(Doubt::Unknown)) });
            }
        }
    }
    // What is certain makes the better message.
    hits.sort_by_key(|hit| hit.doubt.is_some());
    hits
}

fn likeness(subject: &Subject<'_>, pattern: &Protect) -> (Likeness, Option<Doubt>) {
    let name = subject.call.name.to_lowercase();
    let by_name = can_be(&glob(&pattern.tool().to_lowercase()), &name);
    let meant = meant_kind(pattern.tool());
    let by_kind = meant == Some(subject.kind);
    // A tool that nobody knows and that is given a command is a shell under another name.
    let hidden_shell = meant == Some(ToolKind::Execute) && subject.line().is_some();
    let writes = meant == Some(ToolKind::Edit) && subject.kind.can_write();
    if !(by_name || by_kind || hidden_shell || writes) {
        return (Likeness::CanNot, None);
    }
    let Some(argument) = pattern.argument() else {
        return (if by_name || by_kind { Likeness::Is } else { Likeness::CanNot }, None);
    };
    match meant {
        Some(ToolKind::Execute) => command(subject, argument),
        Some(ToolKind::Edit | ToolKind::Read | ToolKind::Search) => (path(subject, argument), None),
        _ => (text(subject, argument), None),
    }
}

fn command(subject: &Subject<'_>, argument: &str) -> (Likeness, Option<Doubt>) {
    let Some(line) = subject.line() else { return (Likeness::CanNot, None) };
    let place = &subject.situation.place;
    let pattern = CommandPattern::new(argument, place, subject.files);
    let found = line.commands.iter().map(|command| pattern.likeness(command, place, subject.files)).max();
    match (found.unwrap_or(Likeness::CanNot), &line.blind) {
        (Likeness::Is, _) => (Likeness::Is, None),
        (_, Some(blind)) => (Likeness::Could, Some(Doubt::Blind(blind.clone()))),
        (found, None) => (found, None),
    }
}

fn path(subject: &Subject<'_>, argument: &str) -> Likeness {
    let arguments = &subject.call.arguments;
    if arguments.unreadable {
        return Likeness::Could;
    }
    let wanted = glob(&argument.to_lowercase());
    let wanted = wanted.strip_prefix("./").unwrap_or(&wanted);
    let fits = |path: &str| {
        subject
            .spellings(path)
            .iter()
            .any(|path| can_be(wanted, path) || can_be(wanted, &subject.seen_from_root(path)))
    };
    if arguments.paths.iter().any(|path| fits(path) || can_be(wanted, &path.to_lowercase())) {
        return Likeness::Is;
    }
    let Some(line) = subject.line() else { return Likeness::CanNot };
    let by_shell = written(line).any(|(word, _)| {
        !super::glob::is_unknown(word) && (can_be(wanted, &word.to_lowercase()) || fits(word))
    });
    if by_shell { Likeness::Could } else { Likeness::CanNot }
}

fn text(subject: &Subject<'_>, argument: &str) -> Likeness {
    let arguments = &subject.call.arguments;
    if arguments.unreadable {
        return Likeness::Could;
    }
    let wanted = glob(&argument.to_lowercase());
    let fits = |text: &str| can_be(&wanted, &text.trim().to_lowercase());
    let address = |url: &str| fits(url) || fits(&plain_address(url));
    let found = arguments.urls.iter().any(|url| address(url))
        || arguments.texts.iter().chain(&arguments.paths).chain(&arguments.command).any(|text| address(text));
    if found { Likeness::Is } else { Likeness::CanNot }
}

/// Returns an address without a user, a default port and `.` at the end of its host.
fn plain_address(url: &str) -> String {
    let url = url.trim().to_lowercase();
    let Some((scheme, rest)) = url.split_once("://") else { return url };
    let (host, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or(host);
    let default = if scheme == "https" { ":443" } else { ":80" };
    let host = host.strip_suffix(default).unwrap_or(host).trim_end_matches('.');
    let path = if path.is_empty() { "/" } else { path };
    format!("{scheme}://{host}{path}")
}
