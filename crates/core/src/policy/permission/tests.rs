//! What a profile permits: rules, tools, and everything that tries to get past them.

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
        budget: crate::definition::Budget::default(),
    }
}

fn place() -> Place {
    Place { root: "/proj".into(), cwd: "/proj/sub".into(), home: Some("/home/ada".into()) }
}

fn call(client: Client, name: &str, arguments: &[(&str, &str)]) -> ToolCall {
    let entries = arguments.iter().map(|(key, value)| ((*key).to_owned(), Value::Text((*value).to_owned())));
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
    let why =
        profile.permits(&call(Client::ClaudeCode, "Bash", &[("command", "git push x")]), &place(), &NoLinks);
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

#[test]
fn a_yes_is_known_from_silence_and_counts_for_what_it_is_about_alone() {
    let rules = profile(&[("bash", "git *", "allow"), ("write", "docs/*", "allow")]);
    let yes = |name: &str, key: &str, value: &str| {
        let permit = rules.permits(&call(Client::Other, name, &[(key, value)]), &place(), &NoLinks);
        assert_eq!(permit.action, PermissionAction::Allow, "{value}");
        permit.why.is_some()
    };
    assert!(yes("bash", "command", "git status"));
    assert!(yes("bash", "command", "git add . && git commit"));
    for silent in ["rm -r build", "git status && rm -r build", "rm -r build; git status", "git log; eval $X"]
    {
        assert!(!yes("bash", "command", silent), "{silent}");
    }
    assert!(yes("write", "path", "/proj/docs/a.md") && !yes("write", "path", "/proj/src/a.rs"));
}

#[test]
fn a_call_for_a_skill_is_known_in_every_client() {
    let mut limited = profile(&[("skill", "old", "deny")]);
    limited.skills = Some(vec![spanned("old".to_owned()), spanned("a b".to_owned())]);
    let named = |client: Client, tool: &str, arguments: &[(&str, &str)]| {
        let data = Value::Map(
            arguments
                .iter()
                .map(|(key, value)| ((*key).to_owned(), Value::Text((*value).to_owned())))
                .collect(),
        );
        limited.skills_of(&ToolCall::read(client, tool, &data), &data)
    };
    let one = |name: &str| Some(vec![name.to_owned()]);
    assert_eq!(named(Client::ClaudeCode, "Skill", &[("skill", "x"), ("args", "y")]), one("x"));
    assert_eq!(named(Client::ClaudeCode, "SlashCommand", &[("command", "/x y")]), one("x"));
    assert_eq!(named(Client::OpenCode, "skill", &[("name", "x")]), one("x"));
    assert_eq!(named(Client::OpenCode, "abide_skill", &[("name", "x")]), one("x"));
    assert_eq!(named(Client::ClaudeCode, "mcp__abide__skills__x", &[]), one("x"));
    assert_eq!(named(Client::Other, "skills__a_b", &[]), one("a b"), "the name that the tool stands for");
    assert_eq!(named(Client::Codex, "mcp__abide__skill", &[]), one(""), "none is named");
    assert_eq!(named(Client::ClaudeCode, "Read", &[("name", "x")]), None);
    let action = |name: &str| limited.permits_skill(name).action;
    assert_eq!(action("a b"), PermissionAction::Allow);
    for denied in ["old", "x", ""] {
        assert_eq!(action(denied), PermissionAction::Deny, "{denied}");
    }
}
