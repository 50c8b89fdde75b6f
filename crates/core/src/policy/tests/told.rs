//! Tools that nobody knows, and what else the known shells are told: every text may be a command.

use super::*;

fn tool(arguments: &str) -> ToolCall {
    ToolCall::read(Client::ClaudeCode, "mcp__sh__run", &value(arguments))
}

/// Reads the little JSON of these tests.
fn value(text: &str) -> Value {
    let (value, rest) = json(text.trim());
    assert_eq!(rest.trim(), "", "{text}");
    value
}

fn json(text: &str) -> (Value, &str) {
    let text = text.trim_start();
    let closed = |text: &str| text.trim_start().chars().next().unwrap();
    if let Some(mut rest) = text.strip_prefix('[') {
        let mut items = Vec::new();
        while closed(rest) != ']' {
            let (item, after) = json(rest.trim_start().trim_start_matches(','));
            items.push(item);
            rest = after;
        }
        return (Value::List(items), &rest.trim_start()[1..]);
    }
    if let Some(mut rest) = text.strip_prefix('{') {
        let mut entries = Vec::new();
        while closed(rest) != '}' {
            let (Value::Text(key), after) = json(rest.trim_start().trim_start_matches(',')) else {
                panic!("{rest}")
            };
            let (item, after) = json(after.trim_start().strip_prefix(':').unwrap());
            entries.push((key, item));
            rest = after;
        }
        let entries = entries.iter().map(|(key, item)| (key.as_str(), item.clone())).collect::<Vec<_>>();
        return (map(&entries), &rest.trim_start()[1..]);
    }
    let text = text.strip_prefix('"').unwrap_or_else(|| panic!("{text}"));
    let (inner, rest) = text.split_once('"').unwrap();
    (Value::Text(inner.replace("\\n", "\n")), rest)
}

#[test]
fn whatever_a_tool_that_nobody_knows_is_told_may_be_a_command() {
    let situation = free();
    let open: Vec<&str> = [
        r#"{"command": "git", "args": ["push"]}"#,
        r#"{"args": ["push"], "command": "git"}"#,
        r#"{"command": "env", "args": ["./deploy.sh"]}"#,
        r#"{"command": "../deploy.sh x", "cwd": "/project/src"}"#,
        r#"{"command": "deploy.sh", "cwd": "/project"}"#,
        r#"{"commands": ["git push"]}"#,
        r#"{"commands": ["ls", "git push"]}"#,
        r#"{"steps": [{"command": "git push"}]}"#,
        r#"{"params": {"command": "git push"}}"#,
        r#"{"command_line": "./deploy.sh x"}"#,
        r#"{"input": "./deploy.sh x"}"#,
        r#"{"exec": "./deploy.sh x"}"#,
        r#"{"shell": "git push"}"#,
        r#"{"x": "y", "text": "ls\ngit push"}"#,
        r#"{"argv": ["git", "push"]}"#,
        r#"{"argv": ["git", "-C", ".", "push", "origin"]}"#,
        r#"{"program": "git", "arguments": ["push"]}"#,
        r#"{"program": "git", "arguments": "push origin"}"#,
        r#"{"tool": "git", "subcommand": "push", "remote": "origin"}"#,
        r#"{"git": "push"}"#,
        r#"{"git": ["push", "origin"]}"#,
        r#"{"calls": [{"run": {"bin": "git", "argv": ["push"]}}]}"#,
        r#"{"cmd": {"program": "sh", "args": ["-c", "git push"]}}"#,
        r#"{"command": "python3", "args": ["-c", "import os; os.system('x')"]}"#,
        r#"{"exec": "bash", "args": ["-c", "$(base64 -d x)"]}"#,
        r#"{"script": "echo x | sh"}"#,
        r#"{"line": "eval $X"}"#,
        r#"{"keys": "./dep\nloy.sh; $CMD"}"#,
        r#"{"path": "./deploy.sh"}"#,
        r#"{"env": {"EDITOR": "./deploy.sh"}, "command": "x"}"#,
        r#"{"command": "abide", "args": ["approve"]}"#,
        r#"{"command": "abide", "args": ["approve", "x"]}"#,
        r#"{"text": "abide approve x"}"#,
        r#"{"program": "/usr/bin/abide", "args": "cancel x"}"#,
        r#"{"a": [[[[[[[[[[["x"]]]]]]]]]]]}"#,
    ]
    .into_iter()
    .filter(|arguments| !is_denied(&judge(&situation, &tool(arguments))))
    .collect();
    assert_eq!(open, Vec::<&str>::new(), "these get through");
    let many = Value::List((0..5_000).map(|_| text("x")).collect());
    assert!(is_denied(&judge(&situation, &ToolCall::read(Client::OpenCode, "x_y", &map(&[("a", many)])))));
    let long = "x ".repeat(40_000);
    assert!(is_denied(&judge(
        &situation,
        &ToolCall::read(Client::OpenCode, "x_y", &map(&[("a", text(&long))]))
    )));
    let shut: Vec<String> = [
        r#"{}"#,
        r#"{"query": "select * from users where name = 'push'"}"#,
        r#"{"title": "Don't fail (see #3)", "body": "It's broken; `foo` doesn't work.\n\n- python is slow\n- git is fine"}"#,
        r#"{"owner": "a", "repo": "b", "labels": ["bug", "git"], "state": "open"}"#,
        r#"{"path": "src/main.rs", "content": "fn main() { println!(); }"}"#,
        r#"{"url": "https://example.com/x?y=z", "method": "GET", "headers": {"Accept": "text/html"}}"#,
        r#"{"language": "bash", "shell": "bash", "name": "python"}"#,
        r#"{"command": "ls", "args": ["-la"]}"#,
        r#"{"command": "cargo test", "cwd": "/project"}"#,
        r#"{"command": "git", "args": ["status"]}"#,
        r#"{"message": "find the bug at noon, sed by hand"}"#,
        r#"{"selector": "main > div.x", "text": "Hello, world!"}"#,
    ]
    .into_iter()
    .filter_map(|arguments| match judge(&situation, &tool(arguments)) {
        Verdict::Allow => None,
        other => Some(format!("{arguments}: {other:?}")),
    })
    .collect();
    assert_eq!(shut, Vec::<String>::new(), "these are everyday work");
}

#[test]
fn what_else_a_shell_is_told_may_be_a_command() {
    let codex = |arguments: &str| ToolCall::read(Client::Codex, "exec_command", &value(arguments));
    for arguments in [
        r#"{"cmd": "ls", "shell": "./deploy.sh"}"#,
        r#"{"cmd": "ls", "shell": "/project/deploy.sh"}"#,
        r#"{"cmd": "ls", "env": {"BASH_ENV": "./deploy.sh"}}"#,
        r#"{"cmd": "ls", "args": ["git", "push"]}"#,
    ] {
        assert!(is_denied(&judge(&free(), &codex(arguments))), "{arguments}");
    }
    for arguments in [
        r#"{"cmd": "ls", "shell": "/bin/bash", "workdir": "/project"}"#,
        r#"{"cmd": "cargo test", "justification": "before we git push"}"#,
    ] {
        assert_eq!(judge(&free(), &codex(arguments)), Verdict::Allow, "{arguments}");
    }
    let plan = map(&[("plan", text("1. test\n2. git push"))]);
    assert_eq!(judge(&free(), &ToolCall::read(Client::ClaudeCode, "ExitPlanMode", &plan)), Verdict::Allow);
}
