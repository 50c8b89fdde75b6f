//! `abide skill`: what there is, why one cannot be used, what it may do, and what it says.

use crate::support::Project;
use serde_json::{Value, json};

fn skill(name: &str, more: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}\n{more}---\n{body}\n")
}

fn states(project: &Project) -> Vec<(String, String, Option<String>)> {
    let list = project.json(&["skill", "list"]);
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let skills = list["skills"].as_array().unwrap().iter();
    skills
        .map(|skill| (text(&skill["name"]).unwrap(), text(&skill["state"]).unwrap(), text(&skill["reason"])))
        .collect()
}

fn said(name: &str, state: &str, reason: Option<&str>) -> (String, String, Option<String>) {
    (name.to_owned(), state.to_owned(), reason.map(str::to_owned))
}

#[test]
fn every_skill_is_listed_with_its_state_and_the_reason() {
    let project = Project::new();
    project
        .write(".claude/skills/good/SKILL.md", skill("good", "", "Do it."))
        .write("../home/.agents/skills/good/SKILL.md", skill("good", "", "Other."))
        .write(".agents/skills/needy/SKILL.md", skill("needy", "requires: { bin: no-such-program }\n", "x"))
        .write(".agents/skills/on-top/SKILL.md", skill("on-top", "requires: { skill: needy }\n", "x"))
        .write(".opencode/skill/js/SKILL.md", "---js\nprocess.exit(1)\n---\n")
        .write(".abide/skills/colon/SKILL.md", "---\nname: colon\ndescription: Use when: asked\n---\nx\n");
    let missing = "the program `no-such-program` is not there";
    assert_eq!(
        states(&project),
        [
            said("colon", "available", None),
            said("good", "available", None),
            said("good", "shadowed", Some(".claude/skills/good/SKILL.md wins")),
            said("js", "dropped", Some("the frontmatter says that it is `js`")),
            said("needy", "unavailable", Some(missing)),
            said("on-top", "unavailable", Some(&format!("the skill `needy` cannot be used: {missing}"))),
        ]
    );
    let table = project.abide(&["skill", "list"]);
    assert_eq!(table.code, Some(0));
    assert!(table.out.contains("no-such-program"), "{table:?}");
    let invalid = project.abide(&["skill", "validate"]);
    assert_eq!(invalid.code, Some(1), "{invalid:?}");
    for code in ["W1101", "W1103", "W0901", "E0109"] {
        assert!(invalid.out.contains(code), "{code}: {invalid:?}");
    }
    assert_eq!(project.abide(&["skill", "validate", "good"]).code, Some(0));
    let unknown = project.abide(&["skill", "show", "goood"]);
    assert_eq!(unknown.code, Some(3));
    assert!(unknown.err.contains("did you mean `good`?"), "{unknown:?}");
}

#[test]
fn what_cannot_be_looked_for_is_said() {
    let project = Project::new();
    project.write(".abide/skills/odd/SKILL.md", skill("odd", "requires: { python: '>=3.8' }\n", "x")).write(
        ".abide/skills/claw/SKILL.md",
        skill("claw", "metadata: { openclaw: { requires: { bins: [no-such-program] } } }\n", "x"),
    );
    let missing = "the program `no-such-program` is not there";
    assert_eq!(
        states(&project),
        [said("claw", "unavailable", Some(missing)), said("odd", "available", None)]
    );
    let why = "`python` is not a kind of thing that abide looks for";
    assert_eq!(project.json(&["skill", "show", "odd"])["unclear"], json!([why]));
    assert_eq!(project.json(&["skill", "list"])["skills"][1]["unclear"], json!([why]));
    for command in [&["skill", "list"][..], &["skill", "show", "odd"]] {
        let said = project.abide(command);
        assert!(said.out.contains(why), "{said:?}");
    }
    let listed = project.abide(&["skill", "list"]).out;
    assert!(listed.lines().any(|line| line.starts_with("?  odd")), "{listed}");
}

#[test]
fn what_is_missing_is_looked_for_again() {
    let project = Project::new();
    project.write(".abide/skills/x/SKILL.md", skill("x", "requires: [env:TOKEN, skill:y]\n", "x"));
    assert_eq!(states(&project)[0].1, "unavailable");
    project.write(".abide/skills/y/SKILL.md", skill("y", "", "y"));
    let reason = Some("the environment variable `TOKEN` is not there");
    assert_eq!(states(&project)[0], said("x", "unavailable", reason));
    let mut command = project.command(&["skill", "show", "x", "--json"]);
    let output = command.env("TOKEN", "1").output().unwrap();
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["state"], "available", "{shown}");
}

#[test]
fn commands_of_a_project_run_only_while_it_is_trusted() {
    let project = Project::new();
    let body = "Branch: !`echo main; touch ran`\nGiven: $1";
    project
        .write(".claude/skills/x/SKILL.md", skill("x", "", body))
        .write(".claude/skills/x/help.md", "help");
    let expand = || project.json(&["skill", "expand", "x", "one"])["text"].as_str().unwrap().to_owned();
    assert!(expand().contains("not run: the skill came with the project"), "{}", expand());
    assert!(!project.path("ran").exists());
    assert_eq!(project.abide(&["skill", "trust", "x"]).code, Some(0));
    assert_eq!(expand(), "Branch: main\nGiven: one");
    assert!(project.path("ran").exists());
    // Any file of it counts.
    project.write(".claude/skills/x/help.md", "changed");
    assert!(expand().contains("not run: the skill changed since it was trusted"), "{}", expand());
    assert_eq!(project.abide(&["skill", "trust", "x"]).code, Some(0));
    assert_eq!(project.abide(&["skill", "untrust", "x"]).code, Some(0));
    assert!(expand().contains("not run: "), "{}", expand());
    // The user's own need no question.
    project.write("../home/.claude/skills/mine/SKILL.md", skill("mine", "", "!`echo $1`"));
    assert_eq!(project.json(&["skill", "expand", "mine", "a; touch owned"])["text"], "a; touch owned");
    assert!(!project.path("owned").exists());
}

#[test]
fn what_a_link_leads_to_is_a_part_of_the_skill() {
    let project = Project::new();
    let link = |from: &str, to: &str| {
        let from = project.path(from);
        std::fs::create_dir_all(from.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&from);
        std::os::unix::fs::symlink(to, from).unwrap();
    };
    project
        .write("shared/x.md", skill("x", "", "!`echo good`"))
        .write("shared/scripts/run.sh", "echo good\n")
        .write(".claude/skills/y/SKILL.md", skill("y", "", "!`sh $ABIDE_SKILL_DIR/scripts/run.sh`"));
    link(".claude/skills/x/SKILL.md", "../../../shared/x.md");
    link(".claude/skills/y/scripts", "../../../shared/scripts");
    let expand = |name: &str| project.json(&["skill", "expand", name])["text"].as_str().unwrap().to_owned();
    for name in ["x", "y"] {
        assert_eq!(project.abide(&["skill", "trust", name]).code, Some(0));
        assert_eq!(expand(name), "good");
    }
    assert_eq!(project.abide(&["skill", "lock"]).code, Some(0));
    assert_eq!(project.abide(&["skill", "verify"]).code, Some(0));
    project
        .write("shared/x.md", skill("x", "", "!`touch evil-x`"))
        .write("shared/scripts/run.sh", "touch evil-y\n");
    for name in ["x", "y"] {
        assert!(expand(name).contains("the skill changed since it was trusted"), "{}", expand(name));
        assert!(!project.path(format!("evil-{name}")).exists());
    }
    let verified = project.abide(&["skill", "verify", "--json"]);
    let changed = |name: &str| json!({ "name": name, "problem": "has changed" });
    assert_eq!(verified.json()["differences"], json!([changed("x"), changed("y")]));
}

#[test]
fn a_skill_whose_links_lead_out_of_the_project_cannot_be_trusted() {
    let project = Project::new();
    project
        .write("../outside/run.sh", "echo good\n")
        .write(".claude/skills/z/SKILL.md", skill("z", "", "!`sh $ABIDE_SKILL_DIR/run.sh`"));
    assert_eq!(project.abide(&["skill", "lock"]).code, Some(0));
    std::os::unix::fs::symlink("../../../../outside/run.sh", project.path(".claude/skills/z/run.sh"))
        .unwrap();
    for command in [&["skill", "trust", "z"][..], &["skill", "lock"]] {
        let refused = project.abide(command);
        assert_eq!(refused.code, Some(4), "{refused:?}");
        assert!(refused.err.contains("out of the project"), "{refused:?}");
    }
    let text = project.json(&["skill", "expand", "z"])["text"].as_str().unwrap().to_owned();
    assert!(text.contains("not run: the link ") && !text.contains("good"), "{text}");
    let verified = project.abide(&["skill", "verify"]);
    assert_eq!(verified.code, Some(1), "{verified:?}");
    assert!(verified.out.contains("z cannot be held to anything: the link"), "{verified:?}");
}

#[test]
fn a_refused_link_says_why_and_nothing_about_what_it_leads_to() {
    let project = Project::new();
    for (name, target) in [("there", "../outside"), ("gone", "../nowhere")] {
        project.write("../outside/SKILL.md", skill("outside", "", "x"));
        std::fs::create_dir_all(project.path(".claude/skills")).unwrap();
        let target = project.path(target);
        std::os::unix::fs::symlink(target, project.path(format!(".claude/skills/{name}"))).unwrap();
    }
    let validated = project.abide(&["skill", "validate", "there"]);
    assert_eq!(validated.code, Some(1), "{validated:?}");
    assert!(validated.out.contains("the link leads out of the project"), "{validated:?}");
    assert!(!validated.out.contains("outside"), "{validated:?}");
    std::fs::remove_file(project.path("../outside/SKILL.md")).unwrap();
    let without = project.abide(&["skill", "validate", "there"]);
    assert_eq!(without.out, validated.out, "whether there is a SKILL.md behind it is not told");
}

#[test]
fn a_lock_tells_what_has_changed() {
    let project = Project::new();
    project
        .write(".claude/skills/a/SKILL.md", skill("a", "", "a"))
        .write(".claude/skills/b/SKILL.md", skill("b", "", "b"));
    assert_eq!(project.abide(&["skill", "verify"]).code, Some(3));
    assert_eq!(project.json(&["skill", "lock"])["locked"], 2);
    assert_eq!(project.json(&["skill", "verify"])["differences"], json!([]));
    project
        .write(".claude/skills/a/run.sh", "#!/bin/sh\n")
        .write(".claude/skills/c/SKILL.md", skill("c", "", "c"));
    std::fs::remove_dir_all(project.path(".claude/skills/b")).unwrap();
    let verified = project.abide(&["skill", "verify", "--json"]);
    assert_eq!(verified.code, Some(1));
    assert_eq!(
        verified.json()["differences"],
        json!([
            { "name": "a", "problem": "has changed" },
            { "name": "b", "problem": "is not there any more" },
            { "name": "c", "problem": "is not locked" },
        ])
    );
}

#[test]
fn an_agent_is_listed_what_it_may_use() {
    let project = Project::new();
    for name in ["deploy-eu", "deploy-us", "docs", "secret"] {
        project.write(&format!(".abide/skills/{name}/SKILL.md"), skill(name, "", "x"));
    }
    project.write(
        ".abide/agents/writer.md",
        "---\npermission:\n  skill:\n    '*': allow\n    'deploy-*': deny\n    deploy-eu: ask\n    secret: deny\n---\n",
    );
    let list = project.json(&["skill", "list", "--agent", "writer"]);
    let names: Vec<&str> =
        list["skills"].as_array().unwrap().iter().filter_map(|skill| skill["name"].as_str()).collect();
    assert_eq!(names, ["deploy-eu", "docs"]);
}

#[test]
fn what_skills_may_read_elsewhere_is_said_by_the_user_alone() {
    let project = Project::new();
    project
        .write("../home/.claude/skills/style/SKILL.md", skill("style", "", "Keep to @~/notes/style.md"))
        .write("../home/notes/style.md", "be short\n");
    let expand = || project.json(&["skill", "expand", "style"])["text"].as_str().unwrap().to_owned();
    assert!(!expand().contains("be short"));
    project.write(".abide/config.yaml", "skills: { reads: ~/notes }\n");
    assert!(!expand().contains("be short"), "not by what a project says");
    let warned = project.abide(&["validate"]);
    assert!(warned.out.contains("a project says what skills may read outside of it"), "{warned:?}");
    project
        .write(".abide/config.yaml", "")
        .write("../config/abide/config.yaml", "skills: { reads: ~/notes }\n");
    assert!(expand().contains("be short"), "{}", expand());
}

#[test]
fn the_places_and_the_flags_of_other_clients_mean_the_same_here() {
    let project = Project::new();
    for (name, file) in [
        ("claude", ".claude/skills"),
        ("agents", ".agents/skills"),
        ("codex", ".codex/skills"),
        ("opencode", ".opencode/skills"),
        ("abide", ".abide/skills"),
        ("own-claude", "../home/.claude/skills"),
        ("claude-config", "../elsewhere/claude/skills"),
        ("codex-home", "../elsewhere/codex/skills"),
        ("opencode-config", "../elsewhere/opencode/skill"),
        ("by-path", "more/skills"),
        ("by-own-path", "../home/more"),
        ("far", "../far"),
    ] {
        project.write(&format!("{file}/{name}/SKILL.md"), skill(name, "", "x"));
    }
    project
        .write(
            "opencode.jsonc",
            "{ // ours\n \"skills\": { \"paths\": [\"more\", \"../far\", \"/nowhere\"] } }",
        )
        .write("../config/opencode/opencode.json", "{\"skills\":{\"paths\":[\"~/more\"], \"urls\":[\"x\"]}}");
    let elsewhere = project.path("../elsewhere").canonicalize().unwrap();
    let found = |variables: &[(&str, &str)]| {
        let mut command = project.command(&["skill", "list", "--json"]);
        command.envs(variables.iter().copied());
        let output = command.output().unwrap();
        let list: Value = serde_json::from_slice(&output.stdout).unwrap();
        let skills = list["skills"].as_array().unwrap().iter();
        skills.map(|skill| skill["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let usual = ["abide", "agents", "by-own-path", "by-path", "claude", "codex", "opencode", "own-claude"];
    assert_eq!(found(&[]), usual);
    let without =
        |gone: &[&str]| -> Vec<&str> { usual.iter().copied().filter(|name| !gone.contains(name)).collect() };
    for flag in ["OPENCODE_DISABLE_CLAUDE_CODE_SKILLS", "OPENCODE_DISABLE_CLAUDE_CODE"] {
        assert_eq!(found(&[(flag, "1")]), without(&["claude", "own-claude"]), "{flag}");
    }
    let foreign = ["claude", "own-claude", "agents", "codex"];
    assert_eq!(found(&[("OPENCODE_DISABLE_EXTERNAL_SKILLS", "true")]), without(&foreign));
    assert_eq!(found(&[("OPENCODE_DISABLE_PROJECT_CONFIG", "1")]), without(&["opencode", "by-path"]));
    let at = |name: &str| elsewhere.join(name).display().to_string();
    for (variable, folder, name) in [
        ("CLAUDE_CONFIG_DIR", "claude", "claude-config"),
        ("CODEX_HOME", "codex", "codex-home"),
        ("OPENCODE_CONFIG_DIR", "opencode", "opencode-config"),
    ] {
        let names = found(&[(variable, &at(folder))]);
        assert!(names.contains(&name.to_owned()), "{variable}: {names:?}");
        assert_eq!(names.len(), usual.len() + 1);
        let external = [(variable, &*at(folder)), ("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1")];
        assert_eq!(found(&external).contains(&name.to_owned()), variable.starts_with("OPENCODE"));
    }
}

#[test]
fn a_step_whose_skill_cannot_be_used_is_said_before_anything_runs() {
    let project = Project::new();
    let ability = "description: Notes\nsteps:\n  - { id: write, skill: needy }\n";
    project
        .write(".abide/abilities/notes.yaml", ability)
        .write(".abide/skills/needy/SKILL.md", skill("needy", "requires: { env: TOKEN }\n", "x"));
    let why = "the environment variable `TOKEN` is not there";
    let validated = project.abide(&["validate", "notes"]);
    assert_eq!(validated.code, Some(0), "a warning: it may be there in time: {validated:?}");
    assert!(validated.out.contains(&format!("the skill `needy` cannot be used: {why}")), "{validated:?}");
    assert!(validated.out.contains("notes.yaml:3:"), "{validated:?}");
    assert_eq!(project.abide(&["validate", "--deny-warnings"]).code, Some(1));
    let note = format!("step `write`: the skill `needy` cannot be used now: {why}");
    assert!(project.abide(&["plan", "notes"]).err.contains(&note));
    assert_eq!(project.json(&["plan", "notes"])["notes"], json!([note]));
    let mut command = project.command(&["validate", "--deny-warnings"]);
    assert!(command.env("TOKEN", "1").output().unwrap().status.success());
}
