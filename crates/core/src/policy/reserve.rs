//! `protects`: whether a call is one that an ability reserves.

use super::glob::{ANY, can_be, glob, is_known, is_unknown};
use super::guard::Reach;
use super::kind::{ToolKind, meant_kind};
use super::likeness::{CommandPattern, Likeness, name_that_tells, names_another, plain_program};
use super::path::{absolute, inside, normal};
use super::shell::{Blind, Line};
use super::situation::Reserved;
use super::subject::{Subject, seen_from};
use super::written::{Trees, written};
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
    let name = subject.call.name.to_lowercase();
    let programs = subject.line().and_then(programs);
    let mut hits = Vec::new();
    // There can be thousands, and most are about the same tool.
    let mut last: Option<(&str, Tool)> = None;
    for reserved in &subject.situation.reserved {
        let pattern = &reserved.pattern;
        let tool = match last {
            Some((known, tool)) if known == pattern.tool() => tool,
            _ => Tool::of(subject, &name, pattern),
        };
        last = Some((pattern.tool(), tool));
        match likeness(subject, reserved, tool, programs.as_deref()) {
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

/// Returns the programs of a line that is read to its end, if all are such that most patterns are told apart by a name.
pub(super) fn programs(line: &Line) -> Option<Vec<&str>> {
    let commands = line.blind.is_none().then_some(&line.commands)?;
    commands.iter().map(plain_program).collect()
}

/// Returns the name by which a pattern is told apart from those for other [`programs`], if it is one for commands that has such
/// a name. What one for commands means, only a line can be.
pub(super) fn program_of(pattern: &Protect) -> Option<&str> {
    let of_commands = meant_kind(pattern.tool()) == Some(ToolKind::Execute);
    pattern.argument().filter(|_| of_commands).and_then(name_that_tells)
}

/// How the tool of a pattern and that of a call belong together.
#[derive(Clone, Copy)]
struct Tool {
    meant: Option<ToolKind>,
    /// Whether it is the same tool, by its name or by what it is for.
    same: bool,
    /// Whether it could do the same under another name.
    alike: bool,
}

impl Tool {
    fn of(subject: &Subject<'_>, name: &str, pattern: &Protect) -> Self {
        let meant = meant_kind(pattern.tool());
        let by_name = can_be(&glob(&pattern.tool().to_lowercase()), name);
        let by_kind = meant == Some(subject.kind);
        // A tool that nobody knows and that is given a command is a shell under another name.
        let hidden_shell = meant == Some(ToolKind::Execute) && subject.line().is_some();
        let writes = meant == Some(ToolKind::Edit) && subject.kind.can_write();
        Self { meant, same: by_name || by_kind, alike: hidden_shell || writes }
    }
}

fn likeness(
    subject: &Subject<'_>,
    reserved: &Reserved,
    tool: Tool,
    programs: Option<&[&str]>,
) -> (Likeness, Option<Doubt>) {
    if !(tool.same || tool.alike) {
        return (Likeness::CanNot, None);
    }
    let Some(argument) = reserved.pattern.argument() else {
        return (if tool.same { Likeness::Is } else { Likeness::CanNot }, None);
    };
    match tool.meant {
        Some(ToolKind::Execute) if programs.is_some_and(|programs| names_another(argument, programs)) => {
            (Likeness::CanNot, None)
        }
        Some(ToolKind::Execute) => command(subject, argument, &reserved.root),
        Some(ToolKind::Edit | ToolKind::Read | ToolKind::Search) => path(subject, argument, &reserved.root),
        _ => (text(subject, argument), None),
    }
}

fn command(subject: &Subject<'_>, argument: &str, root: &str) -> (Likeness, Option<Doubt>) {
    let Some(line) = subject.line() else { return (Likeness::CanNot, None) };
    let place = &subject.situation.place;
    let pattern = CommandPattern::new(argument, root, place).in_line_that_copies(line.copies);
    let found = line.commands.iter().map(|command| pattern.likeness(command, place, subject.files)).max();
    match (found.unwrap_or(Likeness::CanNot), &line.blind) {
        (Likeness::Is, _) => (Likeness::Is, None),
        (_, Some(blind)) => (Likeness::Could, Some(Doubt::Blind(blind.clone()))),
        (found, None) => (found, None),
    }
}

fn path(subject: &Subject<'_>, argument: &str, root: &str) -> (Likeness, Option<Doubt>) {
    let arguments = &subject.call.arguments;
    if arguments.unreadable {
        return (Likeness::Could, None);
    }
    let wanted = glob(&argument.to_lowercase());
    let wanted = wanted.strip_prefix("./").unwrap_or(&wanted);
    let fits = |path: &str| {
        subject
            .spellings(path)
            .iter()
            .any(|path| can_be(wanted, path) || can_be(wanted, &seen_from(path, root)))
    };
    if arguments.paths.iter().any(|path| fits(path) || can_be(wanted, &path.to_lowercase())) {
        return (Likeness::Is, None);
    }
    // Nobody knows which texts of a tool that nobody knows are paths.
    let could_be_path = |text: &&String| text.len() <= LONGEST_PATH && !text.contains('\n');
    let told = arguments.told.iter().flat_map(|told| &told.words).filter(could_be_path);
    if subject.kind == ToolKind::Other && told.into_iter().any(|text| fits(text)) {
        return (Likeness::Could, None);
    }
    let Some(line) = subject.line() else { return (Likeness::CanNot, None) };
    if let Some(blind) = &line.blind {
        return (Likeness::Could, Some(Doubt::Blind(blind.clone())));
    }
    let folder = Folder::of(wanted, root);
    let by_shell = written(line).any(|(word, reach)| {
        !is_unknown(&word)
            && (can_be(wanted, &word.to_lowercase())
                || fits(&word)
                || folder.is_reached(&word, &reach, subject))
    });
    (if by_shell { Likeness::Could } else { Likeness::CanNot }, None)
}

/// How long a text may be that names a file.
const LONGEST_PATH: usize = 4_096;

/// The folder of the files that a pattern means.
struct Folder {
    /// The pattern from the root of the disk.
    wanted: String,
    /// What of it names the folder for certain.
    path: String,
}

impl Folder {
    fn of(wanted: &str, root: &str) -> Self {
        let root = normal(root, "");
        let wanted =
            if wanted.starts_with(['/', ANY]) { wanted.to_owned() } else { format!("{root}/{wanted}") };
        let certain = wanted.split(ANY).next().unwrap_or_default();
        let path = certain.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        Self { wanted, path: if path.is_empty() { "/".to_owned() } else { path } }
    }

    /// Returns whether something is written into the folder, where the line is then, or all above it is changed.
    fn is_reached(&self, word: &str, reach: &Reach<'_>, subject: &Subject<'_>) -> bool {
        if word.is_empty() || word.starts_with('-') || !is_known(word) {
            return false;
        }
        let place = &subject.situation.place;
        let relative = !word.starts_with(['/', '~']);
        reach.folders.iter().any(|folder| match folder.as_deref().or_else(|| (!relative).then_some("/")) {
            Some(folder) => {
                let raw = absolute(word, folder, place.home.as_deref());
                let real = || subject.files.real(&raw).map(|real| normal(&real, folder));
                self.has(&normal(&raw, folder), reach) || real().is_some_and(|real| self.has(&real, reach))
            }
            // In a folder that nobody knows, the first name says whether it could lead there.
            None => {
                let path = normal(&format!("/{word}"), "");
                let first = path.trim_start_matches('/').split('/').next().unwrap_or_default();
                !first.is_empty() && self.path.rsplit('/').any(|part| part == first)
            }
        })
    }

    fn has(&self, path: &str, reach: &Reach<'_>) -> bool {
        let within = inside(path, &self.path) && can_be(&self.wanted, &format!("{path}/{ANY}"));
        can_be(&self.wanted, path)
            || within
            || reach.trees == Trees::All && reach.names.is_empty() && inside(&self.path, path)
    }
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

#[cfg(test)]
mod tests {
    use super::super::path::{NoLinks, Place};
    use super::super::shell;
    use super::*;

    /// Telling patterns apart by a name saves reading them; it must never tell apart what reading would not.
    #[test]
    fn what_a_name_tells_apart_reading_tells_apart_too() {
        let place =
            Place { root: "/p".to_owned(), cwd: "/p/sub".to_owned(), home: Some("/home/ada".to_owned()) };
        let lines = [
            "cargo test --workspace",
            "git push",
            "git",
            "GIT push origin",
            "git.exe push",
            "push",
            "./deploy.sh now",
            "deploy.sh now",
            "cp deploy.sh x",
            "mv a b",
            "make deploy",
            "npm run deploy",
            "sh -c 'git push'",
            "$X push",
            "X=git; $X push",
            "env git push",
            "xargs git",
            "sudo -u ada git push",
            "cat f | tee g",
            "a && git push; b",
            "\"\" x",
            "echo git push",
            "find . -exec git push \\;",
            "bash deploy.sh",
            "python3 deploy.py",
            "~/deploy.sh",
            "gitpush",
            ".exe",
            "timeout 5 kubectl apply -f x",
            "deploy",
            "DEPLOY.SH",
            "é push",
            "ls /usr/bin/git",
        ];
        let patterns = [
            "git push *",
            "git *",
            "git:*",
            "git",
            "./deploy.sh *",
            "deploy.sh",
            "/usr/bin/git *",
            "~/deploy.sh",
            "*",
            "* push",
            "g*t push",
            "kubectl -n x apply *",
            "make deploy",
            "npm run deploy:*",
            "cp *",
            "tee *",
            "é *",
            "DEPLOY.SH *",
            "deploy *",
            "push",
            "/",
            ".exe",
            "python3 deploy.py",
            "bash *",
        ];
        let (mut told, mut all) = (0, 0);
        for line in lines {
            let read = shell::read(line, &place, None);
            let programs: Option<Vec<&str>> = read.commands.iter().map(plain_program).collect();
            for pattern in patterns {
                all += 1;
                if programs.as_ref().is_some_and(|programs| names_another(pattern, programs)) {
                    told += 1;
                    let whole = CommandPattern::new(pattern, &place.root, &place);
                    for command in &read.commands {
                        let likeness = whole.likeness(command, &place, &NoLinks);
                        assert_eq!(likeness, Likeness::CanNot, "`{pattern}` and {command:?} of `{line}`");
                    }
                }
            }
        }
        assert!(told * 3 > all, "{told} of {all}: it is worth its lines");
    }
}
