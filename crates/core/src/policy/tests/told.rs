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
        "{}",
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

/// A project in which only files are reserved.
fn guarding_files() -> Situation {
    let mut situation = free();
    situation.reserved.retain(|reserved| reserved.pattern.tool() == "Write");
    assert_eq!(situation.reserved.len(), 1);
    situation
}

#[test]
fn files_that_are_reserved_are_written_by_no_line_either() {
    for line in [
        "python3 -c 'open(\"infra/x\",\"w\")'",
        "sed 'w infra/x' f",
        "sed 's/a/b/w infra/x' f",
        "perl -e 'open F,\">infra/x\"'",
        "echo 'echo x > infra/x' | sh",
        "sh -c \"$X\"",
        "cd infra && tee x",
        "cd src && tee ../infra/x",
        "cd infra; touch a",
        "mv a infra",
        "mv infra b",
        "cp a infra/",
        "cp -r a infra",
        "tar xf x -C infra",
        "tar xf x -C./infra",
        "unzip x -d infra",
        "git checkout x -- infra",
        "git checkout .",
        "git restore infra",
        "rm -rf .",
        "rm -rf ../project",
        "rsync a infra/",
        "gawk -i inplace 1 infra/x",
        "curl -o infra/x u",
        "truncate -s0 infra/x",
        "> infra/x",
    ] {
        assert!(is_denied(&judge(&guarding_files(), &bash(line))), "{line}");
    }
    for line in [
        "ls infra",
        "cat infra/x",
        "grep -r x infra",
        "cp infra/x /tmp/y",
        "cp a b",
        "touch src/x",
        "cd src && tee x",
        "tar xf x",
        "git checkout main",
        "git status",
        "npm test",
        "rm -rf target",
        "sed -n 1p infra/x",
        "./deploy.sh",
        "git push",
    ] {
        assert_eq!(judge(&guarding_files(), &bash(line)), Verdict::Allow, "{line}");
    }
    for (key, path) in
        [("relative_path", "infra/a"), ("target_file", "/project/infra/a"), ("x", "src/../infra/a")]
    {
        let call =
            ToolCall::read(Client::ClaudeCode, "mcp__f__w", &map(&[(key, text(path)), ("y", text("z"))]));
        assert!(is_denied(&judge(&guarding_files(), &call)), "{key}");
    }
    let other = ToolCall::read(Client::ClaudeCode, "mcp__f__w", &map(&[("relative_path", text("src/a"))]));
    assert_eq!(judge(&guarding_files(), &other), Verdict::Allow);
}

#[test]
fn the_process_that_drives_a_run_is_ended_by_no_line() {
    let run = running("build", Enforcement::Strict, step(StepType::Agent, Grants::Own));
    for line in [
        "pkill -f mcp",
        "pkill -x mcp -f",
        "skill -9 mcp",
        "pkill -u root",
        "pkill -9 -u root",
        "pkill -P 1",
        "pkill -s 0",
        "pkill -n",
        "pkill -v node",
        "pkill --uid root",
        "pkill bid",
        "pkill -9 'a.*'",
        "killall5 -9",
        "killall5",
        "killall -r a",
        "killall -u ada",
        "fuser -k .abide/state/log.db",
        "fuser -km /",
        "gdb -p 4242",
        "gdb --pid=4242",
        "strace -p 4242",
        "kill 4242",
        "kill 04242",
        "kill +4242",
        "busybox kill 4242",
        "renice 19 4242",
        "python3 -m timeit 'import os; os.kill(4242,9)'",
        "xargs kill <<< 4242",
        "echo 4242 | xargs kill",
    ] {
        assert!(is_denied(&judge(&run, &bash(line))), "{line}");
    }
    for line in [
        "kill 17",
        "pkill node",
        "pkill -9 vite",
        "pkill -KILL node",
        "pkill -f 'vite dev'",
        "killall node",
        "ps -p 4242",
        "echo 4242",
    ] {
        assert_eq!(judge(&run, &bash(line)), Verdict::Allow, "{line}");
    }
}
