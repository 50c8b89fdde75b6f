//! What a step grants, and what in a call it does not cover.

use super::*;

fn granted(client: Client, grants: &[&str], name: &str, arguments: &Value) -> bool {
    let situation = running("build", Enforcement::Strict, step(StepType::Agent, only(grants)));
    judge(&situation, &ToolCall::read(client, name, arguments)).is_allowed()
}

#[test]
fn a_name_grants_the_tool_of_that_name_in_every_client() {
    let none = map(&[]);
    for (client, grants, name, expected) in [
        (Client::ClaudeCode, &["Read"][..], "Read", true),
        (Client::ClaudeCode, &["Read"], "Edit", false),
        (Client::ClaudeCode, &["Grep"], "Glob", false),
        (Client::ClaudeCode, &["WebFetch"], "WebSearch", false),
        (Client::OpenCode, &["Read"], "read", true),
        (Client::OpenCode, &["Grep"], "grep", true),
        (Client::OpenCode, &["Grep"], "glob", false),
        (Client::Codex, &["Edit"], "view_image", false),
        (Client::Codex, &["shell"], "write_stdin", false),
        (Client::Codex, &["MultiEdit"], "view_image", false),
        (Client::Codex, &["Read"], "view_image", true),
        (Client::ClaudeCode, &["mcp__github__*"], "mcp__github__pr", true),
        (Client::ClaudeCode, &["mcp__github__*"], "mcp__gitlab__pr", false),
        (Client::ClaudeCode, &["Read"], "READ", false),
        (Client::ClaudeCode, &["*"], "anything", true),
        (Client::ClaudeCode, &["not a tool("], "Read", false),
        (Client::ClaudeCode, &[], "Read", false),
    ] {
        assert_eq!(granted(client, grants, name, &none), expected, "{client:?} {grants:?} {name}");
    }
}

#[test]
fn a_pattern_grants_only_what_certainly_fits_it() {
    let command = |text_: &str| map(&[("command", text(text_))]);
    let grants = &["Bash(cargo test *)", "Bash(./scripts/check.sh)", "Bash(git diff *)"];
    for fits in [
        "cargo test",
        "cargo test -p x",
        "cd src && cargo test",
        "cargo test && git diff --stat",
        "./scripts/check.sh",
        "cd src && ../scripts/check.sh",
        "cargo test 2>/dev/null",
        "cargo test 2>&1",
    ] {
        assert!(granted(Client::ClaudeCode, grants, "Bash", &command(fits)), "{fits}");
    }
    for more in [
        "cargo testing",
        "cargo build",
        "cargo test; rm x",
        "cargo test $(rm x)",
        "cargo test > x",
        "cargo test $X",
        "/tmp/cargo test",
        "PATH=/tmp:$PATH cargo test",
        "LD_PRELOAD=x cargo test",
        "sh -c 'cargo test'",
        "cd src && ./scripts/check.sh",
        "./scripts/check.sh more",
        "cargo test | tee x",
        "",
    ] {
        assert!(!granted(Client::ClaudeCode, grants, "Bash", &command(more)), "{more}");
    }
    let patch = map(&[("command", text("*** Begin Patch\n*** Update File: src/a.rs\n*** End Patch"))]);
    assert!(granted(Client::Codex, &["Edit"], "apply_patch", &patch));
    assert!(granted(Client::Codex, &["Write(src/*)"], "apply_patch", &patch));
    assert!(!granted(Client::Codex, &["Edit(docs/*)"], "apply_patch", &patch));
    let file = |text_: &str| map(&[("file_path", text(text_))]);
    let grants = &["Edit(src/*)"];
    assert!(granted(Client::ClaudeCode, grants, "Edit", &file("/project/src/a.rs")));
    assert!(granted(Client::ClaudeCode, grants, "Edit", &file("src/deep/a.rs")));
    for other in ["src/../Cargo.toml", "/project/srcs/a", "/etc/src/a", "../src/a"] {
        assert!(!granted(Client::ClaudeCode, grants, "Edit", &file(other)), "{other}");
    }
    assert!(!granted(Client::ClaudeCode, grants, "Edit", &map(&[])));
    let url = |text_: &str| map(&[("url", text(text_))]);
    let grants = &["WebFetch(https://docs.rs/*)"];
    assert!(granted(Client::ClaudeCode, grants, "WebFetch", &url("https://docs.rs/x")));
    assert!(!granted(Client::ClaudeCode, grants, "WebFetch", &url("https://docs.rs.evil.com/x")));
}

/// A disk on which `src/link` leads out of the project.
struct Linked;

impl Files for Linked {
    fn real(&self, path: &str) -> Option<String> {
        Some(
            path.replace("/./", "/")
                .replace("/project/src/link", "/etc")
                .replace("/project/d", "/project/deploy.sh"),
        )
        .filter(|real| real != path)
    }
}

#[test]
fn a_link_grants_only_what_it_leads_to() {
    let situation = running("build", Enforcement::Strict, step(StepType::Agent, only(&["Edit(src/*)"])));
    let edit = |path: &str| ToolCall::read(Client::ClaudeCode, "Edit", &map(&[("file_path", text(path))]));
    assert!(judge_on(&situation, &edit("src/a"), &Linked).is_allowed());
    assert!(is_denied(&judge_on(&situation, &edit("src/link/passwd"), &Linked)));
    assert!(is_denied(&judge_on(&free(), &bash("./d production"), &Linked)));
    assert!(is_denied(&judge_on(&free(), &bash("sh d"), &Linked)));
}

#[test]
fn a_reserved_call_needs_a_step_that_names_it() {
    use Enforcement::{Loose, Strict};
    let at = |ability, level, grants| running(ability, level, step(StepType::Agent, grants));
    let named = only(&["Bash(./deploy.sh *)", "Read"]);
    for (situation, expected) in [
        (at("deploy", Strict, named.clone()), true),
        (at("deploy", Strict, only(&["Bash"])), true),
        (at("deploy", Strict, Grants::Own), false),
        (at("deploy", Strict, only(&["Read"])), false),
        (at("deploy", Loose, Grants::Own), true),
        (at("build", Strict, named.clone()), false),
        (at("build", Loose, Grants::Own), false),
        (at("build", Loose, only(&["Bash"])), false),
    ] {
        let found = judge(&situation, &bash("./deploy.sh production"));
        assert_eq!(found.is_allowed(), expected, "{situation:?}\n{found:?}");
    }
}
