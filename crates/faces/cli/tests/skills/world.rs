//! What a skill requires is looked for each time, and only what can be used is offered for completion.

use super::Project;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// A server that serves as long as there is a file called `up` beside it.
const SERVER: &str = include_str!("tickets.py");

/// Returns how each skill stands, by `abide skill list`.
fn states(project: &Project, path: &str) -> String {
    let listed = project.abide(&["skill", "list", "--json"]).env("PATH", path).output().unwrap();
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let skills = listed["skills"].as_array().unwrap().iter();
    let line = |skill: &serde_json::Value| {
        let reason = skill["reason"].as_str().map(|why| format!(": {why}")).unwrap_or_default();
        format!("{} {}{reason}\n", skill["name"].as_str().unwrap(), skill["state"].as_str().unwrap())
    };
    skills.map(line).collect()
}

#[test]
fn what_a_skill_requires_is_looked_at_again_when_the_world_changes() {
    let project = Project::new(vec![]);
    project
        .skill("by-program", "requires: bin:mytool\n", "x")
        .skill("by-server", "requires: { mcp: tickets }\n", "x")
        .skill("on-top", "requires: skill:by-program\n", "x");
    let folder = project.home().join("bin");
    let server = project.home().join("server.py");
    let configuration = project.home().join(".config/abide/config.yaml");
    for folder in [&folder, configuration.parent().unwrap()] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(&server, SERVER).unwrap();
    let command = format!("capabilities: {{ tickets: {{ command: [python3, {}] }} }}\n", server.display());
    std::fs::write(&configuration, command).unwrap();
    let path = format!("{}:/usr/bin:/bin", folder.display());

    let before = states(&project, &path);
    for part in [
        "by-program unavailable: the program `mytool` is not there",
        "on-top unavailable: the skill `by-program` cannot be used",
        "by-server unavailable: the MCP server `tickets` cannot be used",
        "no token",
    ] {
        assert!(before.contains(part), "{part}: {before}");
    }
    let tool = folder.join("mytool");
    std::fs::write(&tool, "#!/bin/sh\n").unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::write(project.home().join("up"), "").unwrap();
    assert_eq!(states(&project, &path), "by-program available\nby-server available\non-top available\n");
    // What is there and cannot be executed is no program, and a server that fails its probe does not count.
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o644)).unwrap();
    std::fs::remove_file(project.home().join("up")).unwrap();
    assert_eq!(states(&project, &path), before);
}

#[test]
fn a_shell_completes_the_names_that_can_be_called_and_runs_none_of_them() {
    let project = Project::new(vec![]);
    project
        .skill("deploy-docs", "", "x")
        .skill("deploy-site", "requires: bin:no-such-program\n", "x")
        .skill("deploy-model", "user-invocable: false\n", "x")
        .skill("review", "", "x")
        .write(".abide/skills/evil/SKILL.md", "---\nname: deploy-$(touch pwned)\ndescription: x\n---\nx\n")
        .write(
            ".abide/skills/worse/SKILL.md",
            "---\nname: \"deploy-`touch pwned`;touch pwned\"\ndescription: x\n---\nx\n",
        );
    let names = project.output(&["skill", "list", "--names"]);
    assert_eq!((names.code, names.out.as_str()), (Some(0), "deploy-docs\nreview\n"), "{names:?}");
    let script = project.output(&["completions", "bash"]).out;
    std::fs::write(project.home().join("abide.bash"), script).unwrap();
    let complete = |words: &str| {
        let program = format!(
            ". \"$HOME/abide.bash\"; COMP_WORDS=({words}); COMP_CWORD=$(({count} - 1)); _abide_or_skills abide \"${{COMP_WORDS[COMP_CWORD]}}\" \"${{COMP_WORDS[COMP_CWORD - 1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            count = words.split(' ').count(),
        );
        let mut bash = Command::new("bash");
        let abide = std::path::Path::new(env!("CARGO_BIN_EXE_abide"));
        let path = format!("{}:/usr/bin:/bin", abide.parent().unwrap().display());
        bash.args(["--norc", "-c", &program]).current_dir(project.path()).env_clear();
        let output = bash.env("HOME", project.home()).env("PATH", path).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(complete("abide skill run deploy"), "deploy-docs\n");
    assert_eq!(complete("abide skill show re"), "review\n");
    let commands = complete("abide skill expa");
    assert_eq!(commands, "expand\n", "commands are completed as before");
    assert!(!project.has("pwned"));
    let zsh = project.output(&["completions", "zsh"]).out;
    assert!(zsh.contains("The skill:_abide_skills") && zsh.contains("_abide_skills() {"), "{zsh}");
    assert!(project.output(&["completions", "fish"]).out.contains("(abide skill list --names"));
}
