//! Skills as they lie on the disk: where they are found, who wins, and what a hostile repository cannot do.
#![expect(clippy::disallowed_methods, reason = "tests make projects on the disk")]

use abide_catalog::{Catalog, Configuration, Place, Skills};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

struct Stage {
    folder: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("project/.git")).unwrap();
        fs::create_dir_all(folder.path().join("home/.config")).unwrap();
        Self { folder }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn skill(&self, folder: &str, name: &str) {
        self.write(
            &format!("{folder}/SKILL.md"),
            &format!("---\nname: {name}\ndescription: About {name}\n---\nBody\n"),
        );
    }

    fn link(&self, target: &Path, link: &str) {
        let link = self.path(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, link).unwrap();
    }

    fn catalog(&self) -> Catalog {
        let place = Place {
            start: self.path("project"),
            home: Some(self.path("home")),
            config_home: Some(self.path("home/.config")),
        };
        let configuration = Configuration::load(&place, |_| None);
        Catalog::open(place, configuration)
    }

    fn skills(&self) -> Skills {
        self.catalog().skills()
    }
}

fn lines(skills: &Skills) -> Vec<String> {
    let line = |entry: &abide_catalog::SkillEntry| {
        let state = match (&entry.shadowed_by, &entry.summary) {
            (Some(winner), _) => format!("shadowed by {winner}"),
            (None, Some(_)) => "ok".to_owned(),
            (None, None) => entry.problems[0].message.clone(),
        };
        format!("{} {} {}: {state}", entry.name, entry.origin.word(), entry.shown)
    };
    skills.entries.iter().map(line).collect()
}

#[test]
fn skills_of_every_client_are_found_and_the_nearest_wins() {
    let stage = Stage::new();
    for (folder, name) in [
        ("project/.claude/skills/a", "a"),
        ("project/.agents/skills/b", "b"),
        ("project/.opencode/skill/c", "c"),
        ("project/.opencode/skills/group/deep/d", "d"),
        ("project/.abide/skills/e", "e"),
        ("project/.codex/skills/f", "f"),
        ("home/.claude/skills/g", "g"),
        ("home/.agents/skills/a", "a"),
        ("home/.config/opencode/skills/h", "h"),
        ("home/.config/abide/skills/e", "e"),
        ("home/.abide/skills/i", "i"),
        ("project/.abide/skills/a", "a"),
        ("extra/j", "j"),
        ("project/.abide/skills/e/inner", "nested"),
    ] {
        stage.skill(folder, name);
    }
    let extra = stage.path("extra");
    stage.write(
        "home/.config/abide/config.yaml",
        &format!("skills: {{ directories: [{}, nowhere] }}\n", extra.display()),
    );
    let skills = stage.skills();
    assert_eq!(
        lines(&skills),
        [
            "a project .abide/skills/a/SKILL.md: ok",
            "a project .claude/skills/a/SKILL.md: shadowed by .abide/skills/a/SKILL.md",
            "a global ~/.agents/skills/a/SKILL.md: shadowed by .abide/skills/a/SKILL.md",
            "b project .agents/skills/b/SKILL.md: ok",
            "c project .opencode/skill/c/SKILL.md: ok",
            "d project .opencode/skills/group/deep/d/SKILL.md: ok",
            "e project .abide/skills/e/SKILL.md: ok",
            "e global ~/.config/abide/skills/e/SKILL.md: shadowed by .abide/skills/e/SKILL.md",
            "f project .codex/skills/f/SKILL.md: ok",
            "g global ~/.claude/skills/g/SKILL.md: ok",
            "h global ~/.config/opencode/skills/h/SKILL.md: ok",
            "i global ~/.abide/skills/i/SKILL.md: ok",
            &format!("j configured {}/j/SKILL.md: ok", extra.display()),
            "nested project .abide/skills/e/inner/SKILL.md: ok",
        ]
    );
    assert_eq!(skills.find("a").unwrap().0.shown.as_ref(), ".abide/skills/a/SKILL.md");
    assert!(skills.find("nowhere").is_none());
}

#[test]
fn the_folders_of_other_clients_can_be_left_out() {
    let stage = Stage::new();
    stage.skill("project/.claude/skills/a", "a");
    stage.skill("home/.agents/skills/b", "b");
    stage.skill("project/.abide/skills/c", "c");
    let names = |config: &str| {
        stage.write("project/.abide/config.yaml", config);
        let skills = stage.skills();
        skills.winners().map(|(entry, _)| entry.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names("skills: { claude: false }\n"), ["b", "c"]);
    assert_eq!(names("skills: { external: false }\n"), ["c"]);
}

#[test]
fn a_repository_has_nothing_read_outside_of_itself() {
    let stage = Stage::new();
    stage.write("secret/SKILL.md", "---\nname: stolen\ndescription: top secret\n---\n");
    stage.write("home/.ssh/id", "---\nname: key\ndescription: PRIVATE\n---\n");
    stage.link(&stage.path("secret"), "project/.claude/skills/folder");
    stage.link(&stage.path("home/.ssh/id"), "project/.claude/skills/file/SKILL.md");
    stage.link(Path::new("/dev/zero"), "project/.claude/skills/device/SKILL.md");
    stage.link(Path::new("/nowhere"), "project/.claude/skills/broken/SKILL.md");
    stage.link(&stage.path("secret"), "project/.agents/skills");
    // Such a link was never a skill, so there is nothing to say about it either.
    stage.link(&stage.path("home/.ssh/id"), "project/.claude/skills/js/notes.md");
    fs::create_dir_all(stage.path("project/.claude/skills/pipe")).unwrap();
    let made =
        std::process::Command::new("mkfifo").arg(stage.path("project/.claude/skills/pipe/SKILL.md")).status();
    assert!(made.unwrap().success());
    fs::create_dir_all(stage.path("project/.claude/skills/directory/SKILL.md")).unwrap();
    stage.write(
        "project/.claude/skills/js/SKILL.md",
        "---js\nrequire('fs').writeFileSync('owned', '')\n---\n",
    );
    stage.write(
        "project/.abide/config.yaml",
        &format!("skills: {{ directories: [{}, ../secret] }}\n", stage.path("secret").display()),
    );
    stage.write("project/.claude/skills/large/SKILL.md", &"x".repeat(9 * 1024 * 1024));
    let out = "the link leads out of the project, so it was not followed";
    let skills = stage.skills();
    assert_eq!(
        lines(&skills),
        [
            "broken project .claude/skills/broken/SKILL.md: the file cannot be read: the link leads nowhere: No such file or directory (os error 2)",
            &format!("device project .claude/skills/device/SKILL.md: {out}"),
            "directory project .claude/skills/directory/SKILL.md: the file cannot be read: it is a folder",
            &format!("file project .claude/skills/file/SKILL.md: {out}"),
            &format!("folder project .claude/skills/folder/SKILL.md: {out}"),
            "js project .claude/skills/js/SKILL.md: the frontmatter says that it is `js`",
            "large project .claude/skills/large/SKILL.md: the file has 9437184 bytes; abide reads at most 8388608",
            "pipe project .claude/skills/pipe/SKILL.md: the file cannot be read: it is not a regular file",
        ]
    );
    assert_eq!(skills.others.len(), 1, "{:?}", skills.others);
    assert_eq!(skills.others[0].1.message, out);
    assert!(!stage.path("project/owned").exists());
}

#[test]
fn links_are_followed_and_never_in_circles() {
    let stage = Stage::new();
    stage.skill("project/shared/x", "x");
    stage.skill("home/.agents/skills/y", "y");
    stage.link(&stage.path("project/shared/x"), "project/.claude/skills/x");
    stage.link(&stage.path("home/.agents/skills/y"), "project/.claude/skills/mine");
    stage.link(&stage.path("project/.claude/skills"), "project/.claude/skills/loop");
    stage.link(&stage.path("project"), "project/shared/x/up");
    stage.link(&stage.path("project/shared"), "home/.claude/skills/far");
    let skills = stage.skills();
    assert_eq!(
        lines(&skills),
        [
            "x project .claude/skills/x/SKILL.md: ok",
            "x global ~/.claude/skills/far/x/SKILL.md: shadowed by .claude/skills/x/SKILL.md",
            "y project .claude/skills/mine/SKILL.md: ok",
            "y global ~/.agents/skills/y/SKILL.md: shadowed by .claude/skills/mine/SKILL.md",
        ]
    );
}

#[test]
fn an_edit_is_seen_without_a_restart_and_the_rest_is_not_read_again() {
    let stage = Stage::new();
    stage.skill("project/.abide/skills/a", "a");
    stage.skill("project/.abide/skills/b", "b");
    let mut catalog = stage.catalog();
    let before = catalog.skills();
    stage.write("project/.abide/skills/a/SKILL.md", "---\nname: a\ndescription: Changed\n---\n");
    fs::remove_dir_all(stage.path("project/.abide/skills/b")).unwrap();
    stage.skill("project/.abide/skills/c", "c");
    let after = catalog.skills();
    let names =
        |skills: &Skills| skills.winners().map(|(entry, _)| entry.name.to_string()).collect::<Vec<_>>();
    assert_eq!(
        (names(&before), names(&after)),
        (vec!["a".to_owned(), "b".to_owned()], vec!["a".to_owned(), "c".to_owned()])
    );
    assert_eq!(after.find("a").unwrap().1.description.as_deref(), Some("Changed"));
    let again = catalog.skills();
    assert!(std::sync::Arc::ptr_eq(after.find("a").unwrap().1, again.find("a").unwrap().1));
}

#[test]
fn the_answer_does_not_depend_on_threads() {
    let stage = Stage::new();
    for index in 0..600 {
        stage.skill(&format!("project/.claude/skills/s{index:03}"), &format!("name-{:02}", index % 50));
    }
    let first = lines(&stage.skills());
    assert_eq!(first.len(), 600);
    assert_eq!(first[0], "name-00 project .claude/skills/s000/SKILL.md: ok");
    assert_eq!(
        first[1],
        "name-00 project .claude/skills/s050/SKILL.md: shadowed by .claude/skills/s000/SKILL.md"
    );
    for _ in 0..5 {
        assert_eq!(lines(&stage.skills()), first);
    }
}
