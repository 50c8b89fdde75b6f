//! The examples that run, run as their page says: what it prints is what is done here.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "tests start processes and look at files")]

use abide_testkit::model::{ModelServer, Turn};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Copies an example out of the repository.
fn example(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join(name);
    copied(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples").join(name), &project);
    (folder, project)
}

/// Runs a line of a page as a shell does, with our own `abide`.
fn run(project: &Path, line: &str) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_abide")).parent().unwrap();
    Command::new("sh")
        .args(["-c", line])
        .current_dir(project)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", binary.display()))
        .env("HOME", project.parent().unwrap())
        .env("ABIDE_USER", "ada")
        .output()
        .unwrap()
}

/// Returns the commands that a page prints.
fn commands(page: &str) -> Vec<String> {
    let (_, rest) = page.split_once("```sh\n").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    block.lines().map(str::to_owned).collect()
}

#[test]
fn the_agents_do_what_their_page_says_and_no_more() {
    let (_folder, project) = example("agents");
    let page = std::fs::read_to_string(project.join("README.md")).unwrap();
    let lines = commands(&page);
    assert_eq!(lines.len(), 2, "{lines:?}");
    let notes = std::fs::read_to_string(project.join("notes.txt")).unwrap();
    let output = run(&project, &lines[0]);
    let said =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 problems in notes.txt"), "{said}");
    assert_eq!(
        std::fs::read_to_string(project.join("review.md")).unwrap(),
        "Nobody has tried the installer.\n"
    );
    assert_eq!(std::fs::read_to_string(project.join("notes.txt")).unwrap(), notes, "its profile denies that");
    let output = run(&project, &lines[1]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "I look at the clock first.\nOne thing is open, and I may not install it.\n"
    );
    assert!(said.contains("rule `bash") && !project.join("installed").exists(), "{said}");
}

#[test]
fn the_agents_and_abilities_of_the_example_are_in_order() {
    let (_folder, project) = example("agents");
    for line in ["abide validate --all --deny-warnings", "abide agent list", "abide agent show reviewer"] {
        let output = run(&project, line);
        assert!(output.status.success(), "{line}: {output:?}");
    }
}

/// The complete example of the format, as it was printed.
const COMPLETE: &str = include_str!("../../../formats/tests/seeds/complete.yaml");

/// A project with the complete example, and stand-ins for what it calls.
fn complete() -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = project.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    let reviewer = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/.abide/agents/reviewer.md");
    write(".abide/abilities/safe-deploy/ability.yaml", COMPLETE);
    write(
        ".abide/abilities/safe-deploy/scripts/deploy.sh",
        "#!/bin/sh\necho \"$1 $2\" >> deployed.log; echo \"deployed $2 to $1\"\n",
    );
    write(".abide/agents/reviewer.md", &std::fs::read_to_string(reviewer).unwrap());
    write(".abide/config.yaml", "model: openai/scripted\n");
    write("bin/npm", "#!/bin/sh\necho \"npm $*\" >> npm.log; echo \"npm $*\"\n");
    project
}

/// Returns a command line in that project, with a model that answers by a script.
fn with_model(project: &Path, server: &ModelServer, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_abide"));
    command
        .args(arguments)
        .current_dir(project)
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", project.join("bin").display()))
        .env("HOME", project)
        .env("ABIDE_USER", "ada")
        .env("OPENAI_API_KEY", "sk-secret")
        .env("OPENAI_BASE_URL", format!("{}/v1", server.url()))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

#[test]
fn the_complete_example_deploys_to_staging_unasked_and_to_production_when_a_human_agrees() {
    for environment in ["staging", "production"] {
        let folder = complete();
        let project = folder.path();
        let server = ModelServer::start(vec![Turn::text("No issues found.")]).unwrap();
        let to = format!("environment={environment}");
        let arguments = ["run", "safe-deploy", "-i", "version=v1.2.3", "-i", &to];
        let mut running = with_model(project, &server, &arguments).spawn().unwrap();
        if environment == "production" {
            let asks = || {
                let status = with_model(project, &server, &["status"]).output().unwrap();
                String::from_utf8_lossy(&status.stdout)
                    .contains("? approve: Ready to deploy v1.2.3 to production.")
            };
            while !asks() {
                assert!(running.try_wait().unwrap().is_none(), "{:?}", running.wait_with_output());
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
            assert!(!project.join("deployed.log").exists(), "before anybody agreed");
            assert!(
                with_model(project, &server, &["approve", "--by", "grace"])
                    .output()
                    .unwrap()
                    .status
                    .success()
            );
        }
        let output = running.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{said}{}", String::from_utf8_lossy(&output.stderr));
        let approval = match environment {
            "staging" => "– approve skipped: inputs.environment is \"staging\"",
            _ => "✓ approve answered `approved` by grace",
        };
        let mut rest = &*said;
        for line in ["✓ test", "✓ build", "✓ review", approval, "✓ deploy", "✓ completed"] {
            let at = rest.find(line).unwrap_or_else(|| panic!("{line}\n{said}"));
            rest = &rest[at + line.len()..];
        }
        let read = |name: &str| std::fs::read_to_string(project.join(name)).unwrap();
        assert_eq!(read("deployed.log"), format!("{environment} v1.2.3\n"), "exactly once");
        assert_eq!(read("npm.log"), format!("npm test\nnpm run build -- --env={environment}\n"));
        assert!(
            server.turns()[0].messages.iter().any(|message| message.text.contains("Review the build output"))
        );
    }
}
