//! The examples that the product was asked for run unchanged: stand-in scripts, and agents that a script answers for.

use crate::stage::{Project, picture, run_to_end};
use abide_core::run::Run;
use abide_testkit::runner::{ScriptedRunner, read_script};
use std::sync::Arc;

/// The complete example, as it was printed.
const COMPLETE: &str = include_str!("../../../formats/tests/seeds/complete.yaml");
const PRODUCTION: &str = include_str!("../../../../examples/.abide/abilities/deploy/production/ability.yaml");

fn runner(script: &str) -> Arc<ScriptedRunner> {
    let data = abide_formats::yaml::data(script).unwrap();
    Arc::new(ScriptedRunner::new(read_script(&data).unwrap()))
}

/// A project with the abilities of the seeds, and stand-ins for what they call.
fn project() -> Project {
    let project = Project::new();
    project.write(".abide/abilities/safe-deploy/ability.yaml", COMPLETE);
    project.script(
        ".abide/abilities/safe-deploy/scripts/deploy.sh",
        r#"echo "$1 $2" >>deployed.log; echo "deployed $2 to $1""#,
    );
    project.write(".abide/abilities/deploy/production/ability.yaml", PRODUCTION);
    project.script("deploy.sh", r#"echo "$1 $2" >>deployed.log; echo "deployed $2 to $1""#);
    for agent in ["reviewer", "tester"] {
        let profile = format!("../../examples/.abide/agents/{agent}.md");
        let text =
            std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(profile)).unwrap();
        project.write(&format!(".abide/agents/{agent}.md"), &text);
    }
    project.script("bin/npm", r#"echo "npm $*" | tee -a npm.log"#);
    project
}

async fn safe_deploy(
    project: &Project,
    runner: &Arc<ScriptedRunner>,
    environment: &str,
    answers: &[(&str, &str)],
) -> Run {
    let inputs = [("version", "v1.2.3"), ("environment", environment)];
    let run = run_to_end(project, Arc::clone(runner) as _, "safe-deploy", &inputs, answers).await;
    assert_eq!(runner.surprises(), [""; 0]);
    run
}

#[tokio::test]
async fn the_complete_example_deploys_to_staging_without_asking() {
    let project = project();
    let runner = runner("review: No issues found.");
    let run = safe_deploy(&project, &runner, "staging", &[]).await;
    insta::assert_snapshot!(picture(&run), @r#"
    completed
    ✓ test
    ✓ build
    ✓ review
    – approve inputs.environment is "staging"
    ✓ deploy
    "#);
    insta::assert_snapshot!(runner.tasks()[0].message(), @r"
    ## Context from prior steps

    ### Step: build (script)
    npm run build -- --env=staging

    ---

    ## Your task
    Review the build output for security issues.
    Environment: staging
    ");
    assert_eq!(project.read("npm.log").unwrap(), "npm test\nnpm run build -- --env=staging\n");
    assert_eq!(project.read("deployed.log").unwrap(), "staging v1.2.3\n", "exactly once");
}

#[tokio::test]
async fn the_complete_example_deploys_to_production_when_a_human_agrees() {
    let project = project();
    let runner = runner("review: No issues found.");
    let run = safe_deploy(&project, &runner, "production", &[("approve", "approved")]).await;
    insta::assert_snapshot!(picture(&run), @r"
    completed
    ✓ test
    ✓ build
    ✓ review
    ✓ approve
    ✓ deploy
    ");
    assert_eq!(project.read("deployed.log").unwrap(), "production v1.2.3\n", "exactly once");
}

#[tokio::test]
async fn the_complete_example_does_not_deploy_when_a_human_says_no() {
    let project = project();
    let runner = runner("review: It leaks the token.");
    let run = safe_deploy(&project, &runner, "production", &[("approve", "rejected")]).await;
    insta::assert_snapshot!(picture(&run), @r"
    failed
    ✓ test
    ✓ build
    ✓ review
    ✗ approve rejected by grace
    – deploy needs `approve`, which was rejected
    ");
    assert_eq!(project.read("deployed.log"), None);
}

#[tokio::test]
async fn nothing_is_deployed_when_the_reviewer_gives_up() {
    let project = project();
    let runner = runner("review: { fails: no model is set }");
    let run = safe_deploy(&project, &runner, "staging", &[]).await;
    insta::assert_snapshot!(picture(&run), @r"
    failed
    ✓ test
    ✓ build
    ✗ review its runner failed: no model is set
    ○ approve
    ○ deploy
    ");
    assert_eq!(project.read("deployed.log"), None);
}

#[tokio::test]
async fn the_production_pipeline_runs_through_two_agents_and_an_approval() {
    let project = project();
    let runner = runner(
        "
        security-scan: { told: [Scan for security vulnerabilities, '### Step: build (script)'], answer: clean }
        smoke-test: { told: ['deployed v1.2.3 to staging', Run smoke tests on staging], answer: all green }
        ",
    );
    let inputs = [("version", "v1.2.3")];
    let answers = [("approve", "approved")];
    let run = run_to_end(&project, Arc::clone(&runner) as _, "deploy/production", &inputs, &answers).await;
    assert_eq!(runner.surprises(), [""; 0]);
    insta::assert_snapshot!(picture(&run), @r"
    completed
    ✓ test
    ✓ build
    ✓ security-scan
    ✓ deploy-staging
    ✓ smoke-test
    ✓ approve
    ✓ deploy-prod
    ");
    assert_eq!(project.read("deployed.log").unwrap(), "staging v1.2.3\nproduction v1.2.3\n");
    let agents: Vec<_> = runner.tasks().into_iter().map(|task| task.worker).collect();
    insta::assert_debug_snapshot!(agents, @r#"
    [
        Agent {
            name: "reviewer",
        },
        Agent {
            name: "tester",
        },
    ]
    "#);
}
