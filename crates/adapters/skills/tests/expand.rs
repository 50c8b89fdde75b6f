//! Bodies, filled in with real files and real commands.
#![expect(clippy::disallowed_methods, reason = "tests make skills on the disk")]

use abide_core::skill::text::Arguments;
use abide_process::LocalProcess;
use abide_skills::{Commands, Expanded, Reads, Setting, expand};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

struct Stage(tempfile::TempDir);

impl Stage {
    fn new() -> Self {
        let stage = Self(tempfile::tempdir().unwrap());
        for folder in ["project/.claude/skills/x", "secret"] {
            fs::create_dir_all(stage.path(folder)).unwrap();
        }
        fs::write(stage.path("secret/key"), "PRIVATE").unwrap();
        stage
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    async fn expand(&self, body: &str, arguments: &str, commands: Commands) -> Expanded {
        self.expand_reading(body, arguments, commands, Reads::Project).await
    }

    async fn expand_reading(
        &self,
        body: &str,
        arguments: &str,
        commands: Commands,
        reads: Reads,
    ) -> Expanded {
        let setting = Setting {
            reads,
            folder: &self.path("project/.claude/skills/x"),
            project: &self.path("project"),
            allowed: &[self.path("notes")],
            home: Some(&self.path("")),
            commands,
            without: &["HOME".to_owned()],
            mark: format!("skill-{}", std::process::id()),
        };
        expand(&LocalProcess::new(), body, &Arguments::read(arguments), &setting).await
    }
}

#[tokio::test]
async fn commands_run_only_with_trust() {
    let stage = Stage::new();
    let body = "Now: !`echo $(( 1 + 1 )); touch ran` done. In prose wow!`touch prose` stays.";
    let refused = stage.expand(body, "", Commands::Refused("it is not trusted".into())).await;
    assert_eq!(
        refused.text,
        "Now: !`echo $(( 1 + 1 )); touch ran` [not run: it is not trusted] done. In prose wow!`touch prose` stays."
    );
    assert_eq!(refused.notes.len(), 1);
    assert!(!stage.path("project/ran").exists());
    let ran = stage.expand(body, "", Commands::Run).await;
    assert_eq!(ran.text, "Now: 2 done. In prose wow!`touch prose` stays.");
    assert!(stage.path("project/ran").exists());
    assert!(!stage.path("project/prose").exists());
}

#[tokio::test]
async fn commands_do_not_get_what_is_kept_from_them() {
    assert!(std::env::var_os("HOME").is_some(), "there is nothing to keep");
    let ran = Stage::new().expand("!`echo \"${HOME-none} ${PATH:+a path}\"`", "", Commands::Run).await;
    assert_eq!(ran.text, "none a path");
}

#[tokio::test]
async fn arguments_never_become_commands() {
    let stage = Stage::new();
    let evil = "'; touch owned; echo $(touch owned)' `touch owned` !`touch owned` @../../secret/key";
    let body = "Given $1 of $ARGUMENTS:\n!`printf '%s|' \"$1\" \"$ARGUMENTS\"`";
    let ran = stage.expand(body, evil, Commands::Run).await;
    assert!(ran.text.contains("; touch owned; echo $(touch owned)|'; touch owned"), "{}", ran.text);
    assert!(!stage.path("project/owned").exists());
    assert!(!ran.text.contains("PRIVATE"));
}

#[tokio::test]
async fn failures_are_visible() {
    let stage = Stage::new();
    let ran = stage.expand("!`echo out; echo why >&2; exit 3`", "", Commands::Run).await;
    assert_eq!(ran.text, "[the command `echo out; echo why >&2; exit 3` failed: exit code 3]\nout\n\nwhy");
    let long = stage.expand("!`head -c 200000 /dev/zero | tr '\\0' x`", "", Commands::Run).await;
    assert!(
        long.text.ends_with("[134464 more bytes were left out]"),
        "{}",
        &long.text[long.text.len() - 60..]
    );
}

#[tokio::test]
async fn files_are_read_where_the_skill_may_read_and_nowhere_else() {
    let stage = Stage::new();
    fs::write(stage.path("project/.claude/skills/x/notes.md"), "from the skill\n").unwrap();
    fs::write(stage.path("project/notes.md"), "from the project").unwrap();
    fs::write(stage.path("project/readme.md"), "<file>\n").unwrap();
    symlink(stage.path("secret/key"), stage.path("project/.claude/skills/x/link")).unwrap();
    symlink(stage.path("secret"), stage.path("project/.claude/skills/x/folder")).unwrap();
    let secret = stage.path("secret/key");
    let body = format!(
        "See @notes.md and @readme.md, not @/etc/passwd @{} @link @folder/key @../../../../secret @gone me@notes.md `@notes.md` @/dev/zero",
        secret.display()
    );
    let read = stage.expand(&body, "", Commands::Run).await;
    assert!(!read.text.contains("PRIVATE") && !read.text.contains("root:"), "{}", read.text);
    let (_, attached) = read.text.split_once("\n\n").unwrap();
    assert_eq!(
        attached,
        "<file path=\"notes.md\">\nfrom the skill\n</file>\n\n<file path=\"readme.md\">\n<file>\n</file>\n\n\
         <folder path=\"../\">\nx/\n</folder>"
    );
    assert_eq!(read.notes.len(), 5, "{:?}", read.notes);
    assert!(read.notes.iter().all(|note| note.ends_with("it lies outside the skill and the project")));
}

#[tokio::test]
async fn arguments_without_a_place_come_after_the_body() {
    let stage = Stage::new();
    assert_eq!(stage.expand("Do it.\n", "for $5 & me", Commands::Run).await.text, "Do it.\n\nfor $5 & me");
    assert_eq!(stage.expand("Pay $5.\n", "", Commands::Run).await.text, "Pay $5.");
}

#[tokio::test]
async fn a_skill_that_nobody_trusts_reads_nothing_but_its_own_files() {
    let stage = Stage::new();
    fs::write(stage.path("project/.claude/skills/x/notes.md"), "from the skill\n").unwrap();
    fs::write(stage.path("project/.claude/settings.json"), "SETTINGS").unwrap();
    fs::write(stage.path("project/.env"), "TOKEN").unwrap();
    let body = "See @notes.md @.env @../../settings.json @../../../.env @$1 @nobody";
    let refused = Commands::Refused("it is not trusted".into());
    let read = stage.expand_reading(body, ".env", refused, Reads::Skill).await;
    let (_, attached) = read.text.split_once("\n\n").unwrap();
    assert_eq!(attached, "<file path=\"notes.md\">\nfrom the skill\n</file>");
    assert_eq!(read.notes.len(), 4, "{:?}", read.notes);
    assert!(read.notes.iter().all(|note| note.ends_with("it lies outside the folder of the skill")));
}

#[tokio::test]
async fn folders_that_the_user_allows_are_read_for_skills_that_may_read_the_project() {
    let stage = Stage::new();
    fs::create_dir_all(stage.path("notes/deep")).unwrap();
    fs::write(stage.path("notes/deep/style.md"), "be short").unwrap();
    symlink(stage.path("secret/key"), stage.path("notes/out")).unwrap();
    let body =
        format!("See @~/notes/deep/style.md and @{}/notes/out @~/secret/key", stage.path("").display());
    let read = stage.expand(&body, "", Commands::Run).await;
    assert!(read.text.ends_with("<file path=\"~/notes/deep/style.md\">\nbe short\n</file>"), "{}", read.text);
    assert!(!read.text.contains("PRIVATE"), "{}", read.text);
    assert_eq!(read.notes.len(), 2, "{:?}", read.notes);
    let refused = Commands::Refused("it is not trusted".into());
    let untrusted = stage.expand_reading(&body, "", refused, Reads::Skill).await;
    assert!(!untrusted.text.contains("be short"), "{}", untrusted.text);
}
