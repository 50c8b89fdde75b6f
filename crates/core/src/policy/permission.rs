//! What an agent's own profile says about a call: its tools, and its permission rules.
//!
//! The rules are read as their authors mean them: the last one that matches wins. Where it is not certain that a rule
//! matches (a part of a command that is not known, a name of another client, a path that leads elsewhere), it can only
//! make the answer stricter. A profile narrows what an agent may do; it never widens what a run allows.

use super::call::ToolCall;
use super::glob::{ANY, can_be, glob, is_known};
use super::grant::{granted, is_tool};
use super::kind::{ToolKind, kind, meant_kind};
use super::likeness::joined;
use super::path::{Files, Place, absolute, normal};
use super::shell::Origin;
use super::situation::{AgentRights, Grants, Seat, Session, Situation};
use super::subject::Subject;
use crate::definition::{AgentProfile, AgentTools, Permission, PermissionAction};

/// What a profile says about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permit {
    /// Whether it is made, a human is asked, or it is refused.
    pub action: PermissionAction,
    /// Which part of the profile says so, for people and models; nothing when the profile says nothing.
    pub why: Option<String>,
}

impl Permit {
    const ALLOW: Self = Self { action: PermissionAction::Allow, why: None };

    fn by(rule: &Permission) -> Self {
        let pattern = if rule.pattern == "*" { String::new() } else { format!(" ({})", rule.pattern) };
        Self {
            action: rule.action,
            why: Some(format!("rule `{}{pattern}: {}` of the agent", rule.tool, rule.action.word())),
        }
    }

    /// Returns the stricter of two; the first where they are as strict.
    fn stricter(self, other: Self) -> Self {
        if other.action > self.action { other } else { self }
    }
}

impl AgentProfile {
    /// Returns what the profile says about a call. It says yes where it says nothing: the tier of the tool and the
    /// gate have their say beside it.
    pub fn permits(&self, call: &ToolCall, place: &Place, files: &dyn Files) -> Permit {
        let situation = Situation {
            place: place.clone(),
            session: Session::Free,
            seat: Seat::Main,
            agent: AgentRights::Only(Vec::new()),
            reserved: Vec::new(),
            guarded: Vec::new(),
            processes: Vec::new(),
        };
        let subject = Subject::new(&situation, call, files);
        let mut permit = self.has(&subject).stricter(self.ruled(&subject));
        for inner in &call.arguments.nested {
            permit = permit.stricter(self.permits(inner, place, files));
        }
        permit
    }

    /// Returns what the rules say about one thing that a tool is asked for by name, such as a skill.
    pub fn permits_named(&self, tool: &str, name: &str) -> Permit {
        let subject = [Part::plain(name)];
        self.judge(
            |rule| if rule.tool == tool || wildcard(&rule.tool, tool) { Fit::Sure } else { Fit::No },
            &subject,
        )
    }

    fn has(&self, subject: &Subject<'_>) -> Permit {
        let call = subject.call;
        if matches!(subject.kind, ToolKind::Own(_)) {
            return Permit::ALLOW;
        }
        let has = match &self.tools {
            None => true,
            Some(AgentTools::Only(names)) => {
                names.iter().any(|name| name.value == subject.kind.word())
                    || granted(subject, &Grants::Only(names.iter().map(|name| name.value.clone()).collect()))
            }
            Some(AgentTools::Switched(switches)) => {
                let mut has = true;
                for switch in switches {
                    match names_tool(&switch.tool, call) {
                        Fit::Sure => has = switch.granted,
                        Fit::Perhaps => has &= switch.granted,
                        Fit::No => {}
                    }
                }
                has
            }
        };
        if has {
            return Permit::ALLOW;
        }
        let why = format!("`{}` with these arguments is not among the agent's tools", call.name);
        Permit { action: PermissionAction::Deny, why: Some(why) }
    }

    fn ruled(&self, subject: &Subject<'_>) -> Permit {
        if self.permission.is_empty() {
            return Permit::ALLOW;
        }
        let own = matches!(subject.kind, ToolKind::Own(_));
        // What a run needs of abide itself is only ruled by who names it: `'*': deny` is not about handing in a step.
        let fit = |rule: &Permission| match names_tool(&rule.tool, subject.call) {
            _ if own && !rule.tool.contains("ability") => Fit::No,
            fit => fit,
        };
        self.judge(fit, &parts(subject))
    }

    fn judge(&self, tool: impl Fn(&Permission) -> Fit, parts: &[Part]) -> Permit {
        let mut strictest: Option<Permit> = None;
        for part in parts {
            let mut permit = Permit::ALLOW;
            let mut specific = false;
            for rule in &self.permission {
                match tool(rule).and(part.fit(&rule.pattern)) {
                    Fit::Sure => {
                        permit = Permit::by(rule);
                        specific = rule.pattern != "*";
                    }
                    Fit::Perhaps => {
                        let other = Permit::by(rule);
                        specific |= other.action > permit.action && rule.pattern != "*";
                        permit = permit.stricter(other);
                    }
                    Fit::No => {}
                }
            }
            // What a line only mentions may never run: rules for everything are not about it.
            if part.mentioned && !specific {
                continue;
            }
            strictest = Some(match strictest.take() {
                Some(strictest) => strictest.stricter(permit),
                None => permit,
            });
        }
        strictest.unwrap_or(Permit::ALLOW)
    }
}

/// Whether something matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    No,
    Perhaps,
    Sure,
}

impl Fit {
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::No, _) | (_, Self::No) => Self::No,
            (Self::Sure, Self::Sure) => Self::Sure,
            _ => Self::Perhaps,
        }
    }
}

/// Returns whether a name of a profile means the tool of a call: its name, a wildcard, the word of its kind, or the name
/// that another client has for the same.
fn names_tool(wanted: &str, call: &ToolCall) -> Fit {
    let found = kind(call.client, &call.name);
    if wildcard(wanted, &call.name) || is_tool(wanted, call.client, &call.name) || wanted == found.word() {
        return Fit::Sure;
    }
    if found != ToolKind::Other && meant_kind(wanted) == Some(found) { Fit::Perhaps } else { Fit::No }
}

/// How the patterns for a part are read.
enum Names {
    /// As they are written.
    Text,
    /// As paths: capitals do not count, and one may begin with the home folder.
    Path { home: Option<String> },
}

/// One thing that a call is about, in each of its spellings.
struct Part {
    spellings: Vec<String>,
    /// Whether nothing is known about it.
    blind: bool,
    /// Whether it is a command that may or may not run.
    mentioned: bool,
    names: Names,
}

impl Part {
    fn plain(text: &str) -> Self {
        Self { spellings: vec![text.to_owned()], blind: false, mentioned: false, names: Names::Text }
    }

    fn blind() -> Self {
        Self { spellings: Vec::new(), blind: true, mentioned: false, names: Names::Text }
    }

    fn fit(&self, pattern: &str) -> Fit {
        if pattern == "*" {
            return Fit::Sure;
        }
        if self.blind {
            return Fit::Perhaps;
        }
        let pattern = match &self.names {
            Names::Text => pattern.to_owned(),
            Names::Path { home } => in_home(pattern, home.as_deref()).to_lowercase(),
        };
        let mut found = Fit::No;
        for text in &self.spellings {
            if is_known(text) {
                if wildcard(&pattern, text) {
                    return Fit::Sure;
                }
            } else if can_be(&glob(&pattern).replace('?', &ANY.to_string()), text) {
                found = Fit::Perhaps;
            }
        }
        found
    }
}

fn in_home(pattern: &str, home: Option<&str>) -> String {
    let rest = ["~", "$HOME"].into_iter().find_map(|word| {
        let rest = pattern.strip_prefix(word)?;
        (rest.is_empty() || rest.starts_with('/')).then_some(rest)
    });
    match (rest, home) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        _ => pattern.strip_prefix("./").unwrap_or(pattern).to_owned(),
    }
}

/// Returns what a call is about: each command that it could run, each file, each address, or each of its texts.
fn parts(subject: &Subject<'_>) -> Vec<Part> {
    let arguments = &subject.call.arguments;
    let mut parts = Vec::new();
    if let Some(line) = subject.line() {
        for command in &line.commands {
            let mentioned = command.origin == Origin::Mentioned;
            parts.push(Part { mentioned, ..Part::plain(&joined(&command.words)) });
        }
        if line.blind.is_some() {
            parts.push(Part::blind());
        }
    }
    if arguments.unreadable {
        parts.push(Part::blind());
    }
    parts.extend(arguments.paths.iter().flat_map(|path| paths(subject, path)));
    parts.extend(arguments.urls.iter().map(|url| Part::plain(url)));
    parts.extend(arguments.ability.iter().map(|ability| Part::plain(ability)));
    // The content of a file is not what a rule for files is about.
    let by_text = matches!(subject.kind, ToolKind::Other | ToolKind::Agent | ToolKind::Network);
    if by_text && subject.line().is_none() {
        parts.extend(arguments.texts.iter().map(|text| Part::plain(text)));
    }
    if parts.is_empty() {
        parts.push(Part::plain(""));
    }
    parts
}

/// Returns a path as it is written and where it leads: two things, of which the stricter counts.
fn paths(subject: &Subject<'_>, path: &str) -> Vec<Part> {
    let place = &subject.situation.place;
    let raw = absolute(path, &place.cwd, place.home.as_deref());
    let mut found = vec![normal(&raw, &place.cwd)];
    found.extend(subject.files.real(&raw).map(|real| normal(&real, &place.cwd)));
    found.dedup();
    found
        .into_iter()
        .map(|path| {
            let inner = subject.seen_from_root(&path);
            Part {
                spellings: vec![path, inner],
                blind: false,
                mentioned: false,
                names: Names::Path { home: place.home.clone() },
            }
        })
        .collect()
}

/// Returns whether a text fits a wildcard: `*` is any text, `?` any character, and ` *` at the end may be missing.
pub fn wildcard(pattern: &str, text: &str) -> bool {
    pattern.strip_suffix(" *").is_some_and(|open| matches(open, text)) || matches(pattern, text)
}

fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at, mut read) = (0, 0);
    // Where the last `*` stands, and how much of the text it has taken.
    let mut star: Option<(usize, usize)> = None;
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[read] => {
                at += 1;
                read += 1;
            }
            _ => match star {
                Some((place, taken)) => {
                    star = Some((place, taken + 1));
                    at = place + 1;
                    read = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::super::kind::Client;
    use super::super::path::NoLinks;
    use super::*;
    use crate::definition::{AgentName, ToolGrant};
    use crate::source::{Span, Spanned};
    use crate::value::Value;

    fn spanned<T>(value: T) -> Spanned<T> {
        Spanned::new(value, Span::default())
    }

    fn profile(rules: &[(&str, &str, &str)]) -> AgentProfile {
        let rule = |(tool, pattern, action): &(&str, &str, &str)| {
            spanned(Permission {
                tool: (*tool).to_owned(),
                pattern: (*pattern).to_owned(),
                action: PermissionAction::parse(action).unwrap(),
            })
        };
        AgentProfile {
            name: spanned(AgentName::parse("a").unwrap()),
            description: None,
            model: None,
            tools: None,
            permission: rules.iter().map(rule).collect(),
            capabilities: Vec::new(),
            abilities: None,
            skills: None,
            prompt: String::new(),
        }
    }

    fn place() -> Place {
        Place { root: "/proj".into(), cwd: "/proj/sub".into(), home: Some("/home/ada".into()) }
    }

    fn call(client: Client, name: &str, arguments: &[(&str, &str)]) -> ToolCall {
        let entries =
            arguments.iter().map(|(key, value)| ((*key).to_owned(), Value::Text((*value).to_owned())));
        ToolCall::read(client, name, &Value::Map(entries.collect()))
    }

    fn bash(profile: &AgentProfile, command: &str) -> &'static str {
        let call = call(Client::ClaudeCode, "Bash", &[("command", command)]);
        profile.permits(&call, &place(), &NoLinks).action.word()
    }

    fn ours(profile: &AgentProfile, name: &str, arguments: &[(&str, &str)]) -> &'static str {
        profile.permits(&call(Client::Other, name, arguments), &place(), &NoLinks).action.word()
    }

    #[test]
    fn the_last_rule_that_matches_wins_for_each_command_of_a_line() {
        let profile = profile(&[
            ("bash", "*", "ask"),
            ("bash", "git *", "allow"),
            ("bash", "git push *", "deny"),
            ("bash", "git push --dry-run *", "allow"),
        ]);
        for (command, action) in [
            ("git status", "allow"),
            ("git", "allow"),
            ("gitk", "ask"),
            ("ls", "ask"),
            ("git push", "deny"),
            ("git push origin main", "deny"),
            ("git push --dry-run origin", "allow"),
            ("git status && rm -r x", "ask"),
            ("git status; git push", "deny"),
            ("env A=1 git push", "deny"),
            ("sh -c 'git push'", "deny"),
            ("git 'push'", "deny"),
            ("git $(echo push)", "deny"),
            ("git $WHAT", "deny"),
            ("eval \"$X\"", "deny"),
            ("git commit -m 'then git push'", "allow"),
        ] {
            assert_eq!(bash(&profile, command), action, "{command}");
        }
        let why = profile.permits(
            &call(Client::ClaudeCode, "Bash", &[("command", "git push x")]),
            &place(),
            &NoLinks,
        );
        assert_eq!(why.why.unwrap(), "rule `bash (git push *): deny` of the agent");
    }

    #[test]
    fn a_profile_without_rules_says_nothing() {
        assert_eq!(bash(&profile(&[]), "rm -rf /"), "allow");
        assert_eq!(bash(&profile(&[("edit", "*", "deny")]), "ls"), "allow");
        assert_eq!(bash(&profile(&[("*", "*", "deny")]), "ls"), "deny");
    }

    #[test]
    fn a_path_counts_by_where_it_leads() {
        struct Link;
        impl Files for Link {
            fn real(&self, path: &str) -> Option<String> {
                Some(path.replace("/proj/sub/notes", "/home/ada/.ssh/id"))
            }
        }
        let profile =
            profile(&[("read", "*.env", "deny"), ("read", "~/.ssh/*", "deny"), ("edit", "src/*", "ask")]);
        for (name, path, action) in [
            ("read_file", "x.txt", "allow"),
            ("read_file", "a/.env", "deny"),
            ("read_file", "a/.ENV", "deny"),
            ("read_file", "a/b/../../.env", "deny"),
            ("read_file", "/home/ada/.ssh/id", "deny"),
            ("read_file", "../../home/ada/x/../.ssh/id", "deny"),
            ("write_file", "/proj/src/a.rs", "ask"),
            ("write_file", "../src/a.rs", "ask"),
            ("write_file", "a.rs", "allow"),
        ] {
            assert_eq!(ours(&profile, name, &[("path", path)]), action, "{name} {path}");
        }
        let linked = call(Client::Other, "read_file", &[("path", "notes")]);
        assert_eq!(profile.permits(&linked, &place(), &NoLinks).action, PermissionAction::Allow);
        assert_eq!(profile.permits(&linked, &place(), &Link).action, PermissionAction::Deny);
    }

    #[test]
    fn a_rule_names_tools_by_name_wildcard_kind_or_the_word_of_another_client() {
        for (tool, name, action) in [
            ("web_fetch", "web_fetch", "deny"),
            ("web*", "web_fetch", "deny"),
            ("network", "web_fetch", "deny"),
            ("WebFetch", "web_fetch", "deny"),
            ("db__*", "db__query", "deny"),
            ("db__*", "dbx__query", "allow"),
            ("bash", "execute_code", "deny"),
            ("execute", "execute_code", "deny"),
            ("*", "ability_submit", "allow"),
            ("ability_run", "ability_run", "deny"),
        ] {
            assert_eq!(ours(&profile(&[(tool, "*", "deny")]), name, &[("x", "y")]), action, "{tool} {name}");
        }
        // A name of another client may make it stricter, and never opens what a nearer rule has closed.
        let closed = profile(&[("execute_code", "*", "deny"), ("bash", "*", "allow")]);
        assert_eq!(ours(&closed, "execute_code", &[("code", "1")]), "deny");
    }

    #[test]
    fn the_tools_of_a_profile_are_all_that_it_has() {
        let only = |names: &[&str]| AgentProfile {
            tools: Some(AgentTools::Only(names.iter().map(|name| spanned((*name).to_owned())).collect())),
            ..profile(&[])
        };
        assert_eq!(ours(&only(&["Read"]), "read_file", &[("path", "a")]), "allow");
        assert_eq!(ours(&only(&["read"]), "read_file", &[("path", "a")]), "allow");
        assert_eq!(ours(&only(&["Read"]), "write_file", &[("path", "a")]), "deny");
        assert_eq!(ours(&only(&[]), "read_file", &[("path", "a")]), "deny");
        assert_eq!(ours(&only(&[]), "ability_submit", &[]), "allow");
        assert_eq!(bash(&only(&["Bash(git *)"]), "git status"), "allow");
        assert_eq!(bash(&only(&["Bash(git *)"]), "git status | sh"), "deny");
        let switched = |switches: &[(&str, bool)]| AgentProfile {
            tools: Some(AgentTools::Switched(
                switches
                    .iter()
                    .map(|(tool, granted)| spanned(ToolGrant { tool: (*tool).to_owned(), granted: *granted }))
                    .collect(),
            )),
            ..profile(&[])
        };
        assert_eq!(ours(&switched(&[("write", false)]), "write_file", &[("path", "a")]), "deny");
        assert_eq!(ours(&switched(&[("write", false)]), "read_file", &[("path", "a")]), "allow");
        let but_one = switched(&[("*", false), ("web_fetch", true)]);
        assert_eq!(ours(&but_one, "web_fetch", &[("url", "http://x")]), "allow");
        assert_eq!(ours(&but_one, "read_file", &[("path", "a")]), "deny");
    }

    #[test]
    fn a_batch_is_as_strict_as_the_strictest_of_its_calls() {
        let text = |text: &str| Value::Text(text.to_owned());
        let map = |entries: Vec<(&str, Value)>| {
            Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        };
        let inner = map(vec![("tool", text("bash")), ("parameters", map(vec![("command", text("rm x"))]))]);
        let batch =
            ToolCall::read(Client::OpenCode, "batch", &map(vec![("tool_calls", Value::List(vec![inner]))]));
        let rules = profile(&[("bash", "rm *", "deny")]);
        assert_eq!(rules.permits(&batch, &place(), &NoLinks).action, PermissionAction::Deny);
        let unreadable = ToolCall::read(Client::OpenCode, "batch", &Value::Null);
        let rules = profile(&[("batch", "x", "deny")]);
        assert_eq!(rules.permits(&unreadable, &place(), &NoLinks).action, PermissionAction::Deny);
    }

    #[test]
    fn a_skill_is_ruled_by_its_name() {
        let profile =
            profile(&[("skill", "*", "deny"), ("skill", "docs-*", "allow"), ("skill", "docs-x", "ask")]);
        for (name, action) in [("docs-a", "allow"), ("docs-x", "ask"), ("other", "deny")] {
            assert_eq!(profile.permits_named("skill", name).action.word(), action, "{name}");
        }
    }

    #[test]
    fn wildcards_match_whole_texts_in_little_time() {
        for (pattern, text, fits) in [
            ("*", "", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("ls *", "ls", true),
            ("ls *", "lsof", false),
            ("*.rs", "a/b.rs", true),
            ("a*b*c", "a\n/b/xc", true),
        ] {
            assert_eq!(wildcard(pattern, text), fits, "{pattern} {text}");
        }
        assert!(!wildcard(&"*a".repeat(200), &"a".repeat(100)));
        assert!(!wildcard(&format!("{}b", "*a".repeat(50)), &"a".repeat(60_000)));
    }
}
