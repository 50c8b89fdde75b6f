//! What abilities name outside themselves: other abilities, agents, skills and secrets.

use crate::support::{GOOD, Project};

fn ability(step: &str) -> String {
    format!("description: x\nsteps:\n  - {step}\n")
}

/// Returns the messages and labels of all problems.
fn said(project: &Project) -> String {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    project
        .problems()
        .iter()
        .map(|problem| text(&problem["message"]) + " " + &text(&problem["label"]) + "\n")
        .collect()
}

#[test]
fn an_unknown_workflow_is_answered_with_the_nearest() {
    let project = Project::new();
    project.write(".abide/abilities/deploy.yaml", GOOD);
    project.write(".abide/abilities/all.yaml", ability("{ id: a, workflow: deplyo }"));
    assert!(
        said(&project).contains("`deplyo`") && said(&project).contains("did you mean `deploy`?"),
        "{}",
        said(&project)
    );
    project.write(".abide/abilities/all.yaml", ability("{ id: a, workflow: deploy }"));
    assert_eq!(said(&project), "");
}

#[test]
fn inputs_of_a_workflow_are_checked_against_what_it_takes() {
    let project = Project::new();
    project.write(
        ".abide/abilities/deploy.yaml",
        "description: x\ninputs:\n  version: { type: string, required: true }\nsteps: [{ id: a, run: ls }]\n",
    );
    project
        .write(".abide/abilities/all.yaml", ability("{ id: a, workflow: deploy, inputs: { versoin: v1 } }"));
    assert!(said(&project).contains("versoin"), "{}", said(&project));
    assert!(said(&project).contains("did you mean `version`?"), "{}", said(&project));
}

#[test]
fn an_unknown_agent_is_answered_with_the_nearest() {
    let project = Project::new();
    project.write(".abide/abilities/review.yaml", ability("{ id: a, agent: reviewr, prompt: Look }"));
    assert!(said(&project).contains("`reviewr`"), "{}", said(&project));
    for place in [
        ".abide/agents/reviewer.md",
        ".opencode/agent/reviewer.md",
        ".opencode/agents/reviewer.md",
        ".claude/agents/reviewer.md",
        "../config/abide/agents/reviewer.md",
        "../config/opencode/agent/reviewer.md",
        "../home/.claude/agents/reviewer.md",
    ] {
        project.write(place, "---\ndescription: Reviews\n---\nReview.\n");
        assert!(said(&project).contains("did you mean `reviewer`?"), "{place}: {}", said(&project));
        std::fs::remove_file(project.path(place)).unwrap();
    }
    project.write(".abide/config.yaml", "agents:\n  reviewer:\n    abilities: [review]\n");
    assert!(said(&project).contains("did you mean `reviewer`?"), "{}", said(&project));
}

#[test]
fn problems_of_agent_profiles_are_shown_with_their_place() {
    let project = Project::new();
    project.write(".abide/abilities/review.yaml", ability("{ id: a, agent: reviewer, prompt: Look }"));
    project.write(".abide/agents/reviewer.md", "---\nname: [\n---\nReview.\n");
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert!(outcome.out.contains(".abide/agents/reviewer.md:"), "{outcome:?}");
}

#[test]
fn an_unknown_skill_is_answered_with_the_nearest() {
    let project = Project::new();
    project.write(".abide/abilities/review.yaml", ability("{ id: a, skill: pdf-toolz }"));
    project.write(".claude/skills/pdf-tools/SKILL.md", "---\nname: pdf-tools\ndescription: x\n---\nText\n");
    assert!(said(&project).contains("did you mean `pdf-tools`?"), "{}", said(&project));
    project.write(".abide/abilities/review.yaml", ability("{ id: a, skill: pdf-tools }"));
    assert_eq!(said(&project), "");
}

#[test]
fn an_unknown_secret_is_answered_with_the_nearest() {
    let project = Project::new();
    let step = |name: &str| {
        ability(&format!("{{ id: a, run: ./deploy.sh, env: {{ TOKEN: {{ secret: {name} }} }} }}"))
    };
    project.write(".abide/config.yaml", "secrets:\n  deploy-token: { env: DEPLOY_TOKEN }\n");
    project.write(".abide/abilities/deploy.yaml", step("deploy-tokn"));
    assert!(said(&project).contains("did you mean `deploy-token`?"), "{}", said(&project));
    project.write(".abide/abilities/deploy.yaml", step("deploy-token"));
    assert_eq!(said(&project), "");
}

#[test]
fn a_circle_of_workflows_shows_the_place_in_the_other_file() {
    let project = Project::new();
    project.write(".abide/abilities/one.yaml", ability("{ id: a, workflow: two }"));
    project.write(".abide/abilities/two.yaml", ability("{ id: b, workflow: three }"));
    project.write(".abide/abilities/three.yaml", ability("{ id: c, workflow: one }"));
    let outcome = project.abide(&["validate"]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    for file in ["one", "two", "three"] {
        assert!(outcome.out.contains(&format!(".abide/abilities/{file}.yaml:3:")), "{file}: {}", outcome.out);
    }
    assert!(outcome.out.contains("workflow: three"), "the other file's line is shown: {}", outcome.out);
    let related: Vec<String> = project
        .problems()
        .iter()
        .flat_map(|problem| problem["related"].as_array().unwrap().clone())
        .map(|related| format!("{}:{}", related["path"].as_str().unwrap(), related["line"]))
        .collect();
    assert!(related.contains(&".abide/abilities/two.yaml:3".to_owned()), "{related:?}");
    assert!(project.abide(&["validate", "--format", "sarif"]).out.contains(".abide/abilities/two.yaml"));
}

#[test]
fn an_ability_that_calls_itself_is_a_circle() {
    let project = Project::new();
    project.write(".abide/abilities/self.yaml", ability("{ id: a, workflow: self }"));
    assert!(!said(&project).is_empty());
    assert_eq!(project.abide(&["validate", "self"]).code, Some(1));
}
