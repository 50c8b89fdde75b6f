//! Secrets of a run: who gets them, and that nobody can read them afterwards.

use crate::support::{Project, Said};

const DEPLOY: &str = "deploy-hunter2";
const PIN: &str = "pin-hunter22";

/// Returns everything that can be read of the newest run.
fn all_that_is_told(project: &Project) -> String {
    let mut told = String::new();
    for words in [&["audit", "show", "--json"][..], &["logs"], &["status"]] {
        let said = project.abide(words).expect(0);
        told.push_str(&said.out);
        told.push_str(&said.talk);
    }
    told
}

#[test]
fn what_a_secret_comes_from_is_in_no_environment_and_its_value_in_no_output() {
    let project = Project::new(&[(
        "deploy/ability",
        "description: d
inputs: { pin: { secret: true, required: true }, open: { required: true } }
steps:
  - id: use
    env: { TOKEN: { secret: deploy-token }, KEY: { secret: key } }
    run: |
      printf '%s %s' \"$TOKEN\" \"$KEY\" > kept
      env > use.env
    validation: { check: env > check.env }
  - id: tell
    run: env; env > tell.env; cat kept key; printf '%s' {{inputs.pin}} | base64
",
    )]);
    project.write(".abide/abilities/deploy/hooks/before/10.sh", "env > hook.env\n");
    project.write(
        ".abide/config.yaml",
        "secrets: { deploy-token: { env: DEPLOY_TOKEN }, key: { file: key } }\n",
    );
    project.write("key", "the-file-hunter2\n");
    let mut command = project.command(&["run", "deploy"]);
    command.env("DEPLOY_TOKEN", DEPLOY).env("ABIDE_INPUT_PIN", PIN).env("ABIDE_INPUT_OPEN", "yes");
    let said = Said::of(command.output().unwrap()).expect(0);
    assert_eq!(project.read("kept"), format!("{DEPLOY} the-file-hunter2"), "the step has its secrets");
    assert!(project.read("use.env").contains(&format!("TOKEN={DEPLOY}\n")));
    for file in ["use.env", "tell.env", "check.env", "hook.env"] {
        let environment = project.read(file);
        assert!(environment.contains("PATH="), "{file}: {environment}");
        assert!(environment.contains("ABIDE_INPUT_OPEN=yes"), "{file}: what is no secret stays");
        assert!(!environment.contains("DEPLOY_TOKEN="), "{file}: {environment}");
        assert!(!environment.contains("ABIDE_INPUT_PIN"), "{file}: {environment}");
    }
    let told = format!("{}{}{}", said.out, said.talk, all_that_is_told(&project));
    assert!(told.contains("••• •••"), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
}

#[test]
fn the_command_of_a_secret_runs_when_it_is_needed_and_one_that_fails_is_its_steps_alone() {
    let project = Project::new(&[(
        "deploy",
        "description: d
steps:
  - { id: use, env: { TOKEN: { secret: made } }, run: 'printf %s \"$TOKEN\" > kept' }
  - { id: other, env: { TOKEN: { secret: broken } }, run: touch ran, on_failure: continue }
  - { id: ask, type: approval, prompt: Go on? }
  - { id: tell, run: cat kept }
  - { id: again, run: cat kept }
  - { id: never, when: 1 == 2, env: { TOKEN: { secret: unused } }, run: 'true' }
",
    )]);
    project.write(
        ".abide/config.yaml",
        "secrets:
  made: { command: \"echo x >> calls; echo swordfish\" }
  broken: { command: exit 4 }
  unused: { command: \"touch unused\" }
",
    );
    let mut run = project.start(&["run", "deploy"]);
    let id = project.wait_for("waiting");
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(project.read("calls"), "x\n");
    project.abide(&["approve", &id]).expect(0);
    project.abide(&["resume", &id]).expect(0);
    // The second driver must know what the first one gave away, and asks once.
    assert_eq!(project.read("calls"), "x\nx\n");
    let told = all_that_is_told(&project);
    assert!(told.contains("•••") && !told.contains("swordfish"), "{told}");
    assert!(told.contains("the command of the secret `broken` failed"), "{told}");
    assert!(!project.path("ran").exists() && !project.path("unused").exists());
}
