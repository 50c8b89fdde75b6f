//! What protects the gate itself: its commands, its files, its processes, and calls that are reserved by other tools.

use super::*;

fn working() -> Situation {
    running("build", Enforcement::Strict, step(StepType::Agent, Grants::Own))
}

#[test]
fn deciding_about_runs_through_a_shell_is_denied_in_any_spelling() {
    for command in [
        "abide approve 0192",
        "abide reject 0192",
        "abide cancel 0192",
        "abide resume 0192",
        "abide hook claude",
        "abide uninstall claude",
        "abide install claude",
        "abide mcp",
        "abide serve",
        "abide rerun 0192 --from x",
        "abide --json approve x",
        "abide --color never approve x",
        "/usr/local/bin/abide approve x",
        "./target/debug/abide approve x",
        "\"abi\"de approve x",
        "ABIDE approve x",
        "abide \"app\"rove x",
        "X=abide; $X approve y",
        "X=approve; abide $X y",
        "sh -c 'abide approve x'",
        "echo x | xargs abide approve",
        "env A=1 abide approve x",
        "nohup abide approve x &",
        "sudo -u root abide cancel x",
        "mywrapper abide approve x",
        "yes | abide approve x",
        "cd /tmp && abide approve x",
        "if abide approve x; then :; fi",
        "echo $(abide approve x)",
        "timeout 5 abide resume x",
        "abide capability trust tickets --yes",
        "abide capability --color never --json trust tickets",
        "abide -C x capability trust tickets",
        "abide skill trust notes",
        "abide skill expand notes",
        "abide --json skill --color never expand notes 1.4",
        "abide skill run notes 1.4",
        "abide -C . skills run --agent release-manager notes",
        "abide skill lock",
    ] {
        for situation in [free(), working()] {
            assert!(is_denied(&judge(&situation, &bash(command))), "{command}");
        }
    }
    for command in [
        "abide run build",
        "abide init",
        "abide capability test sandbox execute_code {}",
        "abide capability -C list test sandbox execute_code {}",
        "abide capability $X sandbox",
        "$X approve y",
        "$X",
        "$(echo abide) approve",
        "a*de approve x",
        "cp $(which abide) /tmp/x; /tmp/x approve 0192f0c1-2345-7abc-8def-0123456789ab",
        "/tmp/x cancel 0192f0c1-2345",
        "abide $X",
    ] {
        assert!(is_denied(&judge(&working(), &bash(command))), "{command}");
    }
    for command in [
        "abide status",
        "abide capability list",
        "abide capability show web_fetch --json",
        "abide list --json",
        "abide show deploy",
        "abide validate .abide/abilities/deploy/ability.yaml",
        "abide logs -f x",
        "abide approve --help",
        "abide --version",
        "abide",
        "grep -r 'abide approve' docs",
        "echo abide approve",
        "git commit -m 'abide approve'",
        "cargo test approve",
    ] {
        for situation in [free(), working()] {
            assert_eq!(judge(&situation, &bash(command)), Verdict::Allow, "{command}");
        }
    }
    assert_eq!(judge(&free(), &bash("abide run build")), Verdict::Allow);
    assert!(is_denied(&judge(&free(), &bash("abide run secret"))));
    assert!(is_denied(&judge(&free(), &bash("abide run $X"))));
}

#[test]
fn an_ability_that_is_not_the_agents_is_not_run() {
    let run = |ability: &str| {
        ToolCall::read(Client::ClaudeCode, "mcp__abide__ability_run", &map(&[("ability", text(ability))]))
    };
    assert_eq!(judge(&free(), &run("build")), Verdict::Allow);
    assert!(is_denied(&judge(&free(), &run("secret"))));
    let unknown = Situation { agent: AgentRights::Only(Vec::new()), ..free() };
    assert!(is_denied(&judge(&unknown, &run("build"))));
    let broken = map(&[("ability", Value::List(vec![text("build")]))]);
    let broken = ToolCall::read(Client::ClaudeCode, "mcp__abide__ability_run", &broken);
    assert!(is_denied(&judge(&free(), &broken)));
}

#[test]
fn files_of_the_gate_are_not_written_by_any_tool() {
    let edit = |path: &str| ToolCall::read(Client::ClaudeCode, "Edit", &map(&[("file_path", text(path))]));
    let definition = [
        ".abide/abilities/deploy/ability.yaml",
        "/project/.abide/abilities/deploy/ability.yaml",
        "src/../.abide/abilities/deploy/ability.yaml",
        ".ABIDE/abilities/deploy/Ability.yaml",
        ".abide/abilities/deploy/ability.yaml.",
        "~/../../project/.abide/abilities/deploy/ability.yaml",
        "file:///project/.abide/abilities/deploy/ability.yaml",
        ".abide/abilities/deploy/scripts/deploy.sh",
        ".claude/settings.json",
    ];
    for path in definition {
        assert!(is_denied(&judge(&working(), &edit(path))), "{path}");
        let settings = path.contains("settings");
        assert_eq!(is_denied(&judge(&free(), &edit(path))), settings, "{path}: something is reserved");
        let nothing_reserved = Situation { reserved: Vec::new(), ..free() };
        assert_eq!(judge(&nothing_reserved, &edit(path)), Verdict::Allow, "{path}");
        let loose = running("build", Enforcement::Loose, step(StepType::Agent, Grants::Own));
        assert!(is_denied(&judge(&loose, &edit(path))), "{path}");
        let other = map(&[("path", text(path))]);
        assert!(is_denied(&judge(&working(), &ToolCall::read(Client::ClaudeCode, "mcp__fs__write", &other))));
        let read = ToolCall::read(Client::ClaudeCode, "Read", &map(&[("file_path", text(path))]));
        assert_eq!(judge(&working(), &read), Verdict::Allow);
    }
    for situation in [free(), working()] {
        assert!(is_denied(&judge(&situation, &edit("/home/ada/.local/share/abide/runs.db"))));
        assert!(is_denied(&judge(&situation, &edit("~/.local/share/abide/runs.db"))));
    }
    let patch = "*** Begin Patch\n*** Update File: a\n*** Delete File: .abide/abilities/deploy/ability.yaml\n*** End Patch";
    let patch = ToolCall::read(Client::Codex, "apply_patch", &map(&[("command", text(patch))]));
    assert!(is_denied(&judge(&working(), &patch)));
    assert_eq!(judge(&working(), &edit("src/a.rs")), Verdict::Allow);
}

#[test]
fn a_patch_in_a_shell_line_writes_the_files_that_it_names() {
    const FILE: &str = ".abide/abilities/deploy/ability.yaml";
    let patch = |file: &str| format!("*** Begin Patch\n*** Add File: {file}\n+x\n*** End Patch\n");
    let diff = |file: &str| format!("--- a/{file}\n+++ b/{file}\n@@ -1 +1 @@\n-x\n+y\n");
    let mut always = free();
    for guarded in always.guarded.iter_mut().filter(|guarded| guarded.role == Role::Definition) {
        guarded.role = Role::Reservation;
    }
    for (command, without_run) in [
        (format!("apply_patch <<'EOF'\n{}EOF", patch(FILE)), true),
        (format!("cd src && apply_patch <<EOF\n{}EOF", patch(&format!("../{FILE}"))), true),
        (format!("apply_patch '{}'", patch(FILE)), true),
        (format!("apply_patch <<< '{}'", patch(FILE)), true),
        (format!("X={FILE}; apply_patch <<EOF\n{}EOF", patch("$X")), true),
        (format!("apply_patch <<'EOF'\n{}EOF\napply_patch $'{}'", patch("a.rs"), patch(FILE)), true),
        (format!("patch -p1 <<'EOF'\n{}EOF", diff(FILE)), true),
        (format!("patch -p3 <<'EOF'\n{}EOF", diff(&format!("x/y/{FILE}"))), true),
        (format!("git apply <<'EOF'\n{}EOF", diff(FILE)), true),
        ("base64 -d <<< KioqIEJlZ2lu | apply_patch".to_owned(), true),
        ("apply_patch \"$(cat changes)\"".to_owned(), true),
        // What a file holds is not known: people apply patches every day, but not in the middle of a run.
        ("git apply changes.diff".to_owned(), false),
        ("patch -p1 < changes.diff".to_owned(), false),
    ] {
        assert!(is_denied(&judge(&working(), &bash(&command))), "{command}");
        assert_eq!(is_denied(&judge(&always, &bash(&command))), without_run, "{command}");
    }
    for command in [
        format!("apply_patch <<'EOF'\n{}EOF", patch("src/a.rs")),
        format!("git apply <<'EOF'\n{}EOF", diff("src/a.rs")),
        "git log -- apply".to_owned(),
    ] {
        assert_eq!(judge(&always, &bash(&command)), Verdict::Allow, "{command}");
    }
    let infra = format!("apply_patch <<'EOF'\n{}EOF", patch("infra/main.tf"));
    assert!(is_denied(&judge(&free(), &bash(&infra))), "it is what `Write(infra/*)` reserves");
}

#[test]
fn a_definition_that_reserves_calls_is_guarded_without_a_run() {
    let mut situation = free();
    for guarded in &mut situation.guarded {
        if guarded.role == Role::Definition {
            guarded.role = Role::Reservation;
        }
    }
    let path = ".abide/abilities/deploy/ability.yaml";
    let edit = ToolCall::read(Client::ClaudeCode, "Edit", &map(&[("file_path", text(path))]));
    assert!(is_denied(&judge(&situation, &edit)));
    for command in ["rm .abide/abilities/deploy/ability.yaml", "rm -rf .abide/abilities", "git clean -fdx"] {
        assert!(is_denied(&judge(&situation, &bash(command))), "{command}");
    }
    let read = ToolCall::read(Client::ClaudeCode, "Read", &map(&[("file_path", text(path))]));
    assert_eq!(judge(&situation, &read), Verdict::Allow);
    assert_eq!(judge(&situation, &bash("git clean -fdx target")), Verdict::Allow);
}

#[test]
fn files_of_the_gate_are_not_written_through_a_shell() {
    for command in [
        "echo x > .abide/abilities/deploy/ability.yaml",
        "echo x >> /project/.abide/abilities/deploy/ability.yaml",
        "echo x >| .abide/abilities/deploy/ability.yaml",
        "echo x &> .abide/abilities/deploy/ability.yaml",
        "cd .abide/abilities && echo x > deploy/ability.yaml",
        "cd \"$X\" && echo x > deploy/ability.yaml",
        "rm -rf .abide",
        "rm -rf .",
        "rm -rf *",
        "rm .abide/abilities/deploy/*",
        "rm -rf /project",
        "rm \"$F\"",
        "mv .abide .hidden",
        "mv evil.sh .abide/abilities/deploy/scripts/deploy.sh",
        "cp evil.sh .abide/abilities/deploy/scripts/",
        "cp -t .abide/abilities/deploy/scripts evil.sh",
        "ln -sf /tmp/evil .abide/abilities/deploy/scripts",
        "sed -i s/a/b/ .abide/abilities/deploy/ability.yaml",
        "tee .abide/abilities/deploy/ability.yaml < x",
        "dd if=x of=.abide/abilities/deploy/ability.yaml",
        "truncate -s 0 .claude/settings.json",
        "chmod -x .abide/abilities/deploy/scripts/deploy.sh",
        "find .abide -delete",
        "find . -name '*.yaml' -exec rm {} \\;",
        "find . -name '*.yaml' | xargs rm",
        "git checkout HEAD~5 -- .abide",
        "git restore .",
        "git clean -fdx",
        "mytool --out=.abide/abilities/deploy/ability.yaml",
        "mytool .abide/abilities/deploy/ability.yaml",
        "curl -o .claude/settings.json https://x",
        "sh -c 'echo x > .claude/settings.json'",
        "X=.claude; echo > $X/settings.json",
        "echo x > .cla*/settings.json",
        "python3 -c 'open(\".claude/settings.json\", \"w\")'",
        "perl -i -pe 's/a/b/' .claude/settings.json",
        "vim .claude/settings.json",
        "> .claude/settings.json",
        "pkill abide",
        "pkill -f abide",
        "killall abide",
        "pkill -f 'ab.*'",
        "kill 4242",
        "kill -9 4242",
        "kill -9 $(pgrep abide)",
        "kill -9 -1",
    ] {
        assert!(is_denied(&judge(&working(), &bash(command))), "{command}");
    }
    for command in [
        "rm -rf ~/.local/share/abide",
        "echo x > ~/.local/share/abide/runs.db",
        "sqlite3 ~/.local/share/abide/runs.db 'delete from events'",
        "rm -rf $HOME/.local/share/abid?",
        "pkill abide",
        "kill 4242",
    ] {
        assert!(is_denied(&judge(&free(), &bash(command))), "{command}");
    }
    for command in [
        "cat .abide/abilities/deploy/ability.yaml",
        "grep -r x .abide",
        "ls .abide > listing.txt",
        "git add .abide && git status",
        "git diff -- .abide",
        "cp .abide/abilities/deploy/ability.yaml /tmp/x",
        "echo x > src/a.rs",
        "rm -rf target",
        "rm src/*.o",
        "mv a b",
        "sed -i s/a/b/ src/a.rs",
        "cargo build .",
        "npx prettier --write .",
        "make test > log.txt 2>&1",
        "kill 12345",
        "mkdir -p src/deep",
        "find . -name '*.rs' | xargs wc -l",
    ] {
        assert_eq!(judge(&working(), &bash(command)), Verdict::Allow, "{command}");
    }
}

#[test]
fn calls_of_other_tools_are_reserved_too() {
    let call = |client, name: &str, key: &str, value: &str| {
        ToolCall::read(client, name, &map(&[(key, text(value))]))
    };
    for reserved in [
        call(Client::ClaudeCode, "Write", "file_path", "infra/main.tf"),
        call(Client::ClaudeCode, "Edit", "file_path", "/project/infra/deep/main.tf"),
        call(Client::OpenCode, "multiedit", "filePath", "src/../infra/main.tf"),
        call(Client::ClaudeCode, "mcp__fs__write", "path", "infra/main.tf"),
        call(Client::Codex, "apply_patch", "command", "*** Add File: infra/x.tf"),
        bash("echo x > infra/main.tf"),
        bash("sed -i s/a/b/ infra/main.tf"),
        call(Client::ClaudeCode, "WebFetch", "url", "https://registry.example.com/x"),
        call(Client::ClaudeCode, "WebFetch", "url", "HTTPS://a@Registry.example.com:443/x"),
        call(Client::OpenCode, "webfetch", "url", "https://registry.example.com./x"),
        call(Client::ClaudeCode, "mcp__prod__delete", "x", "y"),
        call(Client::ClaudeCode, "MCP__prod__delete", "x", "y"),
        call(Client::OpenCode, "bash", "command", "git push"),
        call(Client::Codex, "exec_command", "cmd", "git push"),
        call(Client::ClaudeCode, "BASH", "command", "git push"),
        call(Client::ClaudeCode, "mcp__shell__run", "command", "git push"),
        call(Client::Codex, "write_stdin", "chars", "git push\n"),
        call(Client::Codex, "write_stdin", "chars", "ls\n"),
        ToolCall::read(Client::ClaudeCode, "Bash", &map(&[("command", Value::Int(1))])),
        ToolCall::read(Client::ClaudeCode, "Bash", &text("git push")),
    ] {
        assert!(is_denied(&judge(&free(), &reserved)), "{reserved:?}");
    }
    for open in [
        call(Client::ClaudeCode, "Write", "file_path", "src/infra.rs"),
        call(Client::ClaudeCode, "Read", "file_path", "infra/main.tf"),
        bash("cat infra/main.tf"),
        call(Client::ClaudeCode, "WebFetch", "url", "https://example.com/"),
        call(Client::ClaudeCode, "WebFetch", "url", "https://registry.example.com@evil.com/"),
        call(Client::ClaudeCode, "mcp__dev__delete", "x", "y"),
        call(Client::ClaudeCode, "Write", "content", "git push"),
    ] {
        assert_eq!(judge(&free(), &open), Verdict::Allow, "{open:?}");
    }
}

#[test]
fn a_batch_is_as_allowed_as_the_strictest_of_its_calls() {
    let inner =
        |command: &str| map(&[("tool", text("bash")), ("parameters", map(&[("command", text(command))]))]);
    let batch = |commands: &[&str]| {
        let calls = commands.iter().map(|command| inner(command)).collect();
        ToolCall::read(Client::OpenCode, "batch", &map(&[("tool_calls", Value::List(calls))]))
    };
    assert_eq!(judge(&free(), &batch(&["ls", "cargo test"])), Verdict::Allow);
    assert!(is_denied(&judge(&free(), &batch(&["ls", "git push"]))));
    let in_batch = map(&[
        ("tool", text("batch")),
        ("parameters", map(&[("tool_calls", Value::List(vec![inner("git push")]))])),
    ]);
    let nested = ToolCall::read(
        Client::OpenCode,
        "batch",
        &map(&[("tool_calls", Value::List(vec![inner("ls"), in_batch]))]),
    );
    assert!(is_denied(&judge(&free(), &nested)));
    let strict = running("build", Enforcement::Strict, step(StepType::Agent, only(&["batch", "read"])));
    assert!(is_denied(&judge(&strict, &batch(&["ls"]))));
}

#[test]
fn long_and_deep_commands_are_answered_at_once_and_safely() {
    let long = "echo ".to_owned() + &"x".repeat(100_000);
    let deep = "$(".repeat(2_000) + &")".repeat(2_000);
    let wide = "ls; ".repeat(10_000);
    let nested = "sh -c \"".repeat(100);
    let many = format!("mytool {}", "git push ".repeat(2_000));
    let braces = "{a,".repeat(5_000);
    let variables: Vec<String> = (0..2_000).map(|number| format!("X{number}=$X{}; ", number + 1)).collect();
    let variables = variables.concat();
    for command in [long, deep, wide, nested, many, variables.clone() + "$X0"] {
        assert!(is_denied(&judge(&free(), &bash(&command))), "{}", &command[..40]);
    }
    // Nothing is reserved that these could be; they only have to be answered.
    for command in [braces, variables, "a ".repeat(30_000), "'".repeat(50_000), "$".repeat(60_000)] {
        let _ = judge(&free(), &bash(&command));
    }
}

#[test]
fn a_scripted_model_is_no_way_to_run_a_command_that_is_held_back() {
    for command in [
        "abide model mock s.yaml -- ./deploy.sh production",
        "abide model mock s.yaml -- ./deploy.sh production -h",
        "abide model mock s.yaml -- sh -c './deploy.sh production' --help",
        "abide -C . --color never model mock s.yaml -- ./deploy.sh production",
        "abide --json -C . model mock --port 80 s.yaml -- ./deploy.sh production",
        "abide -C . --color never model mock s.yaml -- abide approve",
        "abide -C . --color never --json model mock s.yaml -- sh -c './deploy.sh production'",
    ] {
        assert!(is_denied(&judge(&free(), &bash(command))), "{command}");
    }
    for command in ["abide model list", "abide -C . model test", "abide show mock"] {
        assert!(!is_denied(&judge(&free(), &bash(command))), "{command}");
    }
}

#[test]
fn a_server_decides_no_more_for_an_agent_than_this_machine_does() {
    for command in ["approve x", "reject x", "cancel x", "resume x", "key create me", "skill trust notes"] {
        for line in [
            format!("abide --server http://host:7070 {command}"),
            format!("abide --server=http://host:7070 {command}"),
            format!("abide {command} --server http://host:7070"),
            format!("ABIDE_SERVER=http://host:7070 abide {command}"),
            format!("ABIDE_SERVER=http://host ABIDE_KEY=abide_a_b abide {command}"),
            format!("env ABIDE_SERVER=http://host abide {command}"),
            format!("export ABIDE_SERVER=http://host; abide {command}"),
            format!("abide --server http://host --key-file k {command}"),
            format!("abide -C . --color never --server http://host --key-file k {command}"),
            format!("abide --key-file k --server http://host --json --color never -C . {command}"),
        ] {
            for situation in [free(), working()] {
                assert!(is_denied(&judge(&situation, &bash(&line))), "{line}");
            }
        }
    }
    let line = "abide -C . --color never --server http://host --key-file k model mock s.yaml -- ./deploy.sh production";
    assert!(is_denied(&judge(&free(), &bash(line))));
    assert!(is_denied(&judge(&working(), &bash("abide --server http://host run build"))));
    assert!(!is_denied(&judge(&free(), &bash("abide --server http://host status"))));
}

#[test]
fn the_value_of_an_option_is_not_taken_for_the_ability_that_is_run() {
    for line in [
        "abide run secret",
        "abide run --text build secret",
        "abide run -i build secret",
        "abide run -C build secret",
        "abide run --server build secret",
        "abide run --key-file build secret",
        "abide run --inputs build --color never secret",
        "abide run --stubs build secret",
        "abide run -- secret",
        "abide --server http://host run secret",
        "ABIDE_SERVER=http://host abide run secret",
    ] {
        assert!(is_denied(&judge(&free(), &bash(line))), "{line}");
    }
    for line in [
        "abide run build",
        "abide run --text secret build",
        "abide run -i a=secret build --detach",
        "abide run --server http://host build",
        "abide --server http://host run build",
    ] {
        assert!(!is_denied(&judge(&free(), &bash(line))), "{line}");
    }
}

#[test]
fn options_before_a_command_do_not_hide_it() {
    for command in ["approve", "cancel", "resume", "install claude"] {
        let call = bash(&format!("abide -C . --color never --json {command}"));
        assert!(is_denied(&judge(&free(), &call)), "{command}");
    }
}
