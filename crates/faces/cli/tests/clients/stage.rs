//! A project with something to protect, a user's home, and abide installed into a client as a user does it.

use abide_testkit::client::{Client, Launch, Outcome};
use abide_testkit::model::ModelServer;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The ability that protects what the eager agent wants.
const DEPLOY: &str = r#"description: Deploys the project.
protects: ["Bash(./deploy.sh *)"]
steps:
  - id: build
    run: ./scripts/build.sh
  - id: review
    agent: default
    prompt: Look at notes.txt and write what you find to review.txt.
    tools: [Read, "Bash(cat *)", "Write(review.txt)"]
    needs: [build]
    on_failure: retry
    max_retries: 3
    retry_delay: 10ms
    validation: { file_exists: review.txt }
  - id: approve
    type: approval
    prompt: Shall this be deployed?
    needs: [review]
  - id: ship
    run: ./deploy.sh shipped
    needs: [approve]
"#;

/// Where [`DEPLOY`] and its script lie.
pub(crate) const ABILITY: &str = ".abide/abilities/deploy/ability.yaml";
pub(crate) const SCRIPT: &str = ".abide/abilities/deploy/scripts/build.sh";

/// Where the protected script notes that it has run, and how it was called.
const DEPLOYED: &str = "deployed";

/// A client, its project and its home.
pub(crate) struct Stage<C> {
    pub(crate) client: C,
    project: tempfile::TempDir,
}

impl<C: Client> Stage<C> {
    /// Makes the project, without abide in the client.
    pub(crate) fn bare(client: C) -> Self {
        let stage = Self { client, project: tempfile::tempdir().unwrap() };
        let bin = stage.home().join("bin");
        fs::create_dir_all(&bin).unwrap();
        symlink(env!("CARGO_BIN_EXE_abide"), bin.join("abide")).unwrap();
        let made = Command::new("git").args(["init", "--quiet"]).arg(stage.root()).status().unwrap();
        assert!(made.success());
        stage.write(ABILITY, DEPLOY);
        stage.script(SCRIPT, "echo built > built");
        stage.script("deploy.sh", &format!("echo \"$0 $*\" >> '{}'", stage.path(DEPLOYED).display()));
        stage.write("notes.txt", "the heron is grey\n");
        stage.write("src/keep", "");
        stage
    }

    /// Makes the project and installs abide into the client for it.
    pub(crate) fn new(client: C) -> Self {
        let stage = Self::bare(client);
        stage.install();
        stage
    }

    /// Makes the project with an ability that is enforced at another level.
    pub(crate) fn at_level(client: C, level: &str) -> Self {
        let stage = Self::new(client);
        stage.write(ABILITY, &format!("{DEPLOY}settings: {{ enforcement: {level} }}\n"));
        stage
    }

    /// Installs abide into the client for the project.
    pub(crate) fn install(&self) {
        self.abide(&["install", C::NAME, "--project", "--yes"]);
    }

    pub(crate) fn root(&self) -> &Path {
        self.project.path()
    }

    pub(crate) fn home(&self) -> &Path {
        self.client.home()
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.root().join(file)
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn script(&self, file: &str, text: &str) {
        self.write(file, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(file), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.path(file)).ok()
    }

    /// Returns how the protected script was called so far.
    pub(crate) fn deployed(&self) -> Vec<String> {
        self.read(DEPLOYED).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// The tools of the system, with abide in front.
    fn search_path(&self) -> String {
        format!("{}:{}", self.home().join("bin").display(), std::env::var("PATH").unwrap_or_default())
    }

    /// Prepares a program that runs as the user, outside of the client.
    pub(crate) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.root()).env_clear();
        command.env("HOME", self.home()).env("PATH", self.search_path());
        command
    }

    /// Runs abide as the user, who succeeds.
    pub(crate) fn abide(&self, arguments: &[&str]) -> Output {
        let output = self.command("abide", arguments).output().unwrap();
        assert!(output.status.success(), "abide {arguments:?}: {output:#?}");
        output
    }

    /// Prepares a session of the client.
    pub(crate) fn launch<'a>(&'a self, prompt: &'a str, model: &ModelServer) -> Launch<'a> {
        Launch::new(self.root(), prompt, model).variable("PATH", &self.search_path())
    }

    /// Runs a session of the client to its end.
    pub(crate) async fn run(&self, launch: Launch<'_>) -> Outcome {
        let outcome = self.client.run(launch).await.unwrap();
        assert!(outcome.succeeded(), "{outcome:#?}");
        outcome
    }
}
