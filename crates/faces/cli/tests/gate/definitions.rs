//! What is protected stays protected: by definitions elsewhere, below, of one name, among many files, and by those that are gone.

use crate::DEPLOY;
use crate::stage::{Stage, answer};
use std::fs;

fn ask_in(stage: &Stage, session: &str, folder: &str, command: &str) -> Result<(), String> {
    let question = serde_json::json!({
        "session_id": session, "cwd": stage.path(folder), "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": { "command": command },
    });
    answer(&stage.hook(&question.to_string()))
}

#[test]
fn a_session_that_began_elsewhere_is_held_by_every_project_that_it_comes_to() {
    let stage = Stage::new();
    stage.define("deploy.yaml", DEPLOY);
    ask_in(&stage, "s1", "elsewhere", "ls").unwrap();
    let script = stage.path("project/deploy.sh").display().to_string();
    for (folder, command) in [
        ("project", "./deploy.sh now"),
        ("project", script.as_str()),
        ("elsewhere", script.as_str()),
        ("elsewhere", "cd ../project && ./deploy.sh now"),
    ] {
        let denied = ask_in(&stage, "s1", folder, command).unwrap_err();
        assert!(denied.contains("deploy"), "{folder} {command}: {denied}");
    }
    // A script of that name in the other folder is another one.
    ask_in(&stage, "s1", "elsewhere", "./deploy.sh now").unwrap();
}

#[test]
fn definitions_of_a_folder_inside_of_the_project_hold_there() {
    let stage = Stage::new();
    let packages = stage.path("project/packages/a/.abide/abilities");
    fs::create_dir_all(&packages).unwrap();
    fs::create_dir_all(stage.path("project/packages/a/src/deep")).unwrap();
    fs::write(packages.join("pub.yaml"), "description: Publishes\nprotects: [\"Bash(./publish.sh *)\", \"Write(out/*)\"]\nsteps:\n  - { id: go, run: ./publish.sh }\n").unwrap();
    for (folder, command) in [
        ("project/packages/a", "./publish.sh now"),
        ("project/packages/a", "echo x > out/x"),
        ("project/packages/a/src/deep", "../../publish.sh now"),
        // Once it has been there, it is held wherever it goes.
        ("project", "./packages/a/publish.sh now"),
        ("project", "echo x > packages/a/out/x"),
    ] {
        ask_in(&stage, "s1", folder, command).unwrap_err();
    }
    ask_in(&stage, "s1", "project", "./publish.sh now").unwrap();
    fs::remove_dir_all(stage.path("project/packages/a/.abide")).unwrap();
    Stage::settle();
    ask_in(&stage, "s2", "project/packages/a", "./publish.sh now").unwrap_err();
}

#[test]
fn a_definition_that_takes_the_name_of_another_does_not_lift_what_that_one_protects() {
    let stage = Stage::new();
    let own = stage.path("home/.config/abide/abilities");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("deploy.yaml"), DEPLOY).unwrap();
    stage.shell("./deploy.sh now").unwrap_err();
    stage.define("deploy.yaml", "description: Mine\nsteps:\n  - { id: go, run: ls }\n");
    Stage::settle();
    let denied = stage.shell("./deploy.sh now").unwrap_err();
    assert!(denied.contains("another `deploy`"), "{denied}");
}

#[test]
fn too_many_files_hide_no_definition() {
    let stage = Stage::new();
    stage.define("deploy.yaml", DEPLOY);
    stage.shell("./deploy.sh now").unwrap_err();
    let flood = stage.path("project/.abide/abilities/aaa");
    fs::create_dir(&flood).unwrap();
    for number in 0..20_005 {
        fs::write(flood.join(format!("{number}.yaml")), "").unwrap();
    }
    Stage::settle();
    stage.shell("./deploy.sh now").unwrap_err();
    let denied = stage.shell("ls").unwrap_err();
    assert!(denied.contains("there are too many files to tell what is protected"), "{denied}");
    // Nor for somebody who has never looked.
    fs::remove_dir_all(stage.path("home/.local")).unwrap();
    stage.shell("./deploy.sh now").unwrap_err();
    fs::remove_dir_all(&flood).unwrap();
    Stage::settle();
    stage.shell("ls").unwrap();
}

#[test]
fn what_a_definition_protected_that_is_gone_is_protected_until_a_human_lets_it_go() {
    let stage = Stage::new();
    let file = stage.path("project/.abide/abilities/deploy.yaml");
    stage.define("deploy.yaml", DEPLOY);
    stage.shell("./deploy.sh now").unwrap_err();
    let weaker = DEPLOY.replace("protects: [\"Bash(./deploy.sh *)\"]\n", "");
    for taken in [None, Some(weaker.as_str())] {
        match taken {
            None => fs::remove_file(&file).unwrap(),
            Some(text) => fs::write(&file, text).unwrap(),
        }
        Stage::settle();
        let denied = stage.shell("./deploy.sh now").unwrap_err();
        assert!(denied.contains("a human lets it go with `abide validate`"), "{denied}");
        // Nor is anything put in its place, and an agent's own look lets nothing go.
        stage.shell("echo x > .abide/abilities/deploy.yaml").unwrap_err();
        let looked = std::process::Command::new(env!("CARGO_BIN_EXE_abide"))
            .arg("validate")
            .env_clear()
            .env("HOME", stage.path("home"))
            .current_dir(stage.path("project"))
            .output()
            .unwrap();
        assert!(!String::from_utf8_lossy(&looked.stderr).contains("not protected any more"), "{looked:?}");
        stage.shell("./deploy.sh now").unwrap_err();
        let (_, said) = stage.person("project", &["validate"]);
        assert!(
            said.contains("`Bash(./deploy.sh *)` is not protected any more, as it was for deploy"),
            "{said}"
        );
        stage.shell("./deploy.sh now").unwrap();
        fs::write(&file, DEPLOY).unwrap();
        Stage::settle();
        stage.shell("./deploy.sh now").unwrap_err();
    }
}

#[test]
fn an_agent_starts_no_ability_around_what_another_one_reserves() {
    let stage = Stage::new();
    stage.define("deploy.yaml", DEPLOY);
    fs::write(stage.path("project/deploy.sh"), "#!/bin/sh\necho \"$*\" >> shipped\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(stage.path("project/deploy.sh"), mode).unwrap();
    let evil = |name: &str, head: &str, step: &str| {
        stage.define(
            &format!("{name}.yaml"),
            &format!("description: Evil\n{head}steps:\n  - {{ id: go, {step} }}\n"),
        );
    };
    evil("evil", "", "run: ./deploy.sh evil");
    evil("around", "", "workflow: evil");
    stage.define("fine.yaml", "description: Fine\nsteps:\n  - { id: go, run: echo fine >> shipped }\n");
    stage.define("calls.yaml", "description: Calls\nsteps:\n  - { id: go, workflow: deploy }\n");
    let start = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_abide"))
            .args(arguments)
            .env_clear()
            .env("HOME", stage.path("home"))
            .env("PATH", "/usr/bin:/bin")
            .env("CLAUDECODE", "1")
            .current_dir(stage.path("project"))
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let run = |name: &str| start(&["run", name]);
    evil(
        "skipped",
        "",
        "run: ./deploy.sh evil, needs: [ask] }\n  - { id: ask, type: approval, prompt: Go on?, when: \"1 == 2\"",
    );
    evil("asked", "", "run: ./deploy.sh evil, needs: [ask] }\n  - { id: ask, type: approval, prompt: Go on?");
    for name in ["evil", "around", "skipped"] {
        let (done, said) = run(name);
        assert!(!done && said.contains("is reserved for the ability"), "{name}: {said}");
    }
    assert!(!stage.path("project/shipped").exists());
    for name in ["fine", "deploy", "calls"] {
        let (done, said) = run(name);
        assert!(done, "{name}: {said}");
    }
    // What comes after an approval is a human's to decide.
    let (_, said) = start(&["run", "asked", "--detach"]);
    assert!(!said.contains("is reserved for"), "{said}");
    // A human has read it.
    let (code, said) = stage.person("project", &["run", "evil"]);
    assert_eq!(code, 0, "{said}");
    // To say that it protects the same makes it no owner.
    evil("owner", "protects: [\"Bash(./deploy.sh *)\"]\n", "run: ./deploy.sh evil");
    Stage::settle();
    let (done, said) = run("owner");
    assert!(!done && said.contains("is reserved for the ability `deploy`"), "{said}");
}
