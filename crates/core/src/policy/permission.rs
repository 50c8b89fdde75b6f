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
use super::situation::{Grants, Situation};
use super::subject::Subject;
use crate::definition::{AgentProfile, AgentTools, Permission, PermissionAction};
use crate::skill::tool::{PREFIX, tool_name};
use crate::source::Spanned;
use crate::value::Value;

/// What clients put in front of the names of our server's tools.
const SERVERS: [&str; 3] = ["mcp__abide__", "mcp__plugin_abide_abide__", "abide_"];

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
    ///
    /// Silence is stricter than a rule that says yes: a line is not allowed by a rule about one half of it.
    #[must_use]
    pub fn stricter(self, other: Self) -> Self {
        let rank = |permit: &Self| (permit.action, permit.why.is_none());
        if rank(&other) > rank(&self) { other } else { self }
    }
}

impl AgentProfile {
    /// Returns what the profile says about a call. It says yes where it says nothing: the tier of the tool and the
    /// gate have their say beside it.
    pub fn permits(&self, call: &ToolCall, place: &Place, files: &dyn Files) -> Permit {
        let situation = Situation::at_place(place);
        let subject = Subject::new(&situation, call, files);
        let mut permit = match self.has(&subject) {
            // That it has the tool is no yes to the call.
            Permit { action: PermissionAction::Allow, .. } => self.ruled(&subject),
            denied => denied,
        };
        for inner in &call.arguments.nested {
            permit = permit.stricter(self.permits(inner, place, files));
        }
        permit
    }

    /// Returns what the profile says about a skill: it must be among those of the agent, and no rule may be against it.
    pub fn permits_skill(&self, name: &str) -> Permit {
        let listed = self.skills.as_ref().is_none_or(|skills| skills.iter().any(|skill| skill.value == name));
        if listed {
            return self.permits_named("skill", name);
        }
        let why = format!("the skill `{name}` is not among the skills of `{}`", self.name.value);
        Permit { action: PermissionAction::Deny, why: Some(why) }
    }

    /// Returns the skills that a call loads or runs, whatever its client calls the tool; nothing if it does neither. Of one that
    /// names none, the name is empty.
    pub fn skills_of(&self, call: &ToolCall, arguments: &Value) -> Option<Vec<String>> {
        let own = SERVERS.iter().find_map(|server| call.name.strip_prefix(server)).unwrap_or(&call.name);
        if own.starts_with(PREFIX) {
            // What models cannot say of a name is `_` in the tool's.
            let means =
                |name: &&Spanned<String>| tool_name(&name.value).is_some_and(|tool| tool.as_str() == own);
            let listed = self.skills.iter().flatten().find(means).map(|name| name.value.clone());
            return Some(vec![listed.unwrap_or_else(|| own[PREFIX.len()..].to_owned())]);
        }
        let keys: &[&str] = match own {
            "skill" | "Skill" => &["name", "skill", "command"],
            "SlashCommand" => &["command"],
            _ => return None,
        };
        let Value::Map(entries) = arguments else { return Some(vec![String::new()]) };
        let named = entries.iter().find_map(|(key, value)| match value {
            Value::Text(text) if keys.contains(&key.as_str()) => text.split_whitespace().next(),
            _ => None,
        });
        Some(vec![named.unwrap_or_default().trim_start_matches('/').to_owned()])
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
    if by_text && arguments.command.is_none() {
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
mod tests;
