//! When an index is compiled anew, and what it says.

use super::*;
use crate::triggers::Suggestible;
use std::cell::Cell;
use std::fs;
use std::os::unix::fs::symlink;

fn call(pattern: String, file: &Path) -> ReservedCall {
    ReservedCall {
        ability: "a".into(),
        pattern,
        file: file.to_path_buf(),
        root: "/p".into(),
        standing: Standing::Current,
    }
}

struct Project {
    folder: tempfile::TempDir,
    compiled: Cell<usize>,
}

impl Project {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), compiled: Cell::new(0) }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("ability.yaml")
    }

    /// Asks at a moment after now; the pattern is what the file says.
    fn ask(&self, gate: &Gate, later: Duration) -> Vec<String> {
        let now = SystemTime::now() + later;
        let index = gate.index(self.folder.path(), "1", now, &Sought::everything(), |_| {
            self.compiled.set(self.compiled.get() + 1);
            let pattern = fs::read_to_string(self.file()).ok();
            let reserved = pattern.map(|pattern| call(pattern, &self.file()));
            let reserved = reserved.into_iter().collect();
            let index = Index { version: "1".into(), reserved, ..Index::default() };
            let sources = vec![self.folder.path().to_path_buf(), self.file()];
            Compiled { index, triggers: TriggerIndex::default(), sources }
        });
        index.unwrap().reserved.into_iter().map(|reserved| reserved.pattern.to_string()).collect()
    }
}

#[test]
fn it_is_compiled_again_when_something_changed_and_not_otherwise() {
    let home = tempfile::tempdir().unwrap();
    let gate = Gate::at(home.path());
    let project = Project::new();
    let minute = Duration::from_mins(1);
    assert!(project.ask(&gate, minute).is_empty());
    assert!(project.ask(&gate, minute * 2).is_empty());
    assert_eq!(project.compiled.get(), 1, "nothing changed");
    fs::write(project.file(), "Bash(x)").unwrap();
    assert_eq!(project.ask(&gate, minute * 3), ["Bash(x)"], "a new file");
    fs::write(project.file(), "Bash(yy)").unwrap();
    assert_eq!(project.ask(&gate, minute * 4), ["Bash(yy)"], "an edit in place");
    fs::remove_file(project.file()).unwrap();
    assert!(project.ask(&gate, minute * 5).is_empty());
    assert_eq!(project.compiled.get(), 4);
}

#[test]
fn what_changes_while_it_is_compiled_is_seen() {
    let home = tempfile::tempdir().unwrap();
    let gate = Gate::at(home.path());
    let project = Project::new();
    fs::write(project.file(), "Bash(x)").unwrap();
    project.ask(&gate, Duration::ZERO);
    // Same size, and perhaps the same time as the clock of the disk counts.
    fs::write(project.file(), "Bash(y)").unwrap();
    assert_eq!(project.ask(&gate, SETTLED * 2), ["Bash(y)"]);
}

#[test]
fn what_an_agent_may_run_follows_from_both_sides() {
    let restricted =
        |ability: &str, agent: &str| Restricted { ability: ability.into(), agents: vec![agent.into()] };
    let index = Known {
        restricted: vec![restricted("deploy", "deployer"), restricted("wipe", "root")],
        agents: vec![("deployer".into(), vec!["deploy".into(), "wipe".into(), "test".into()])],
        ..Known::default()
    };
    let except =
        |names: &[&str]| AgentRights::Any { except: names.iter().map(|name| (*name).to_owned()).collect() };
    assert_eq!(index.rights(None), except(&["deploy", "wipe"]));
    assert_eq!(index.rights(Some("stranger")), except(&["deploy", "wipe"]));
    assert_eq!(index.rights(Some("root")), except(&["deploy"]));
    assert_eq!(index.rights(Some("deployer")), AgentRights::Only(vec!["deploy".into(), "test".into()]));
}

#[test]
fn another_version_and_a_damaged_file_are_compiled_anew() {
    let home = tempfile::tempdir().unwrap();
    let gate = Gate::at(home.path());
    let project = Project::new();
    let minute = Duration::from_mins(1);
    project.ask(&gate, minute);
    fs::write(gate.index_file(project.folder.path()), "{").unwrap();
    project.ask(&gate, minute * 2);
    assert_eq!(project.compiled.get(), 2);
    let other =
        gate.index(project.folder.path(), "2", SystemTime::now() + minute * 3, &Sought::everything(), |_| {
            project.compiled.set(project.compiled.get() + 1);
            Compiled {
                index: Index { version: "2".into(), ..Index::default() },
                triggers: TriggerIndex::default(),
                sources: Vec::new(),
            }
        });
    assert_eq!(other.unwrap(), Known::default());
    assert_eq!(project.compiled.get(), 3);
}

#[test]
fn an_index_is_believed_only_with_the_sources_that_it_was_made_from() {
    let home = tempfile::tempdir().unwrap();
    let gate = Gate::at(home.path());
    let project = Project::new();
    let minute = Duration::from_mins(1);
    let index = gate.index_file(project.folder.path());
    let sources = sources_file(&index);
    project.ask(&gate, minute);
    let older = fs::read(&index).unwrap();
    fs::write(project.file(), "Bash(x)").unwrap();
    assert_eq!(project.ask(&gate, minute * 2), ["Bash(x)"]);
    // As when somebody who began earlier is done later.
    fs::write(&index, older).unwrap();
    assert_eq!(project.ask(&gate, minute * 3), ["Bash(x)"]);
    assert_eq!(project.compiled.get(), 3);
    for (minutes, broken) in [(4, "{"), (5, "")] {
        fs::write(&sources, broken).unwrap();
        project.ask(&gate, minute * minutes);
    }
    fs::remove_file(&sources).unwrap();
    project.ask(&gate, minute * 6);
    assert_eq!(project.compiled.get(), 6);
}

#[test]
fn an_index_of_an_older_form_is_compiled_anew_and_still_tells_what_was_reserved() {
    let home = tempfile::tempdir().unwrap();
    let gate = Gate::at(home.path());
    let project = Project::new();
    let minute = Duration::from_mins(1);
    let older = older_file(&gate.index_file(project.folder.path()));
    let reserved =
        [r#"[["a","Bash(x)","/p/a.yaml"]]"#, r#"[{"ability":"a","pattern":"Bash(x)","file":"/p/a.yaml"}]"#];
    fs::create_dir_all(older.parent().unwrap()).unwrap();
    for reserved in reserved {
        let text = format!(
            r#"{{"format":3,"written":"w","index":{{"version":"1","level":null,"reserved":{reserved},"guarded":[]}}}}"#
        );
        fs::write(&older, text).unwrap();
        let mut before = Vec::new();
        gate.index(project.folder.path(), "1", SystemTime::now() + minute, &Sought::everything(), |index| {
            before.extend(index.into_iter().flat_map(|index| index.reserved.clone()));
            Compiled { index: Index::default(), triggers: TriggerIndex::default(), sources: Vec::new() }
        })
        .unwrap();
        assert_eq!(before.len(), 1, "it is compiled again, and given what was there");
        assert!(!older.exists(), "and it is gone");
        fs::remove_file(gate.index_file(project.folder.path())).unwrap();
    }
}

#[test]
fn triggers_that_do_not_belong_to_the_index_are_compiled_anew() {
    let home = tempfile::tempdir().unwrap();
    let gate = Gate::at(home.path());
    let (root, minute) = (Path::new("/p"), Duration::from_mins(1));
    let compiled = Cell::new(0);
    let ask = |later: u32, word: &str| {
        let found = gate.triggers(root, "1", SystemTime::now() + minute * later, |_| {
            compiled.set(compiled.get() + 1);
            let ability = Suggestible {
                ability: "deploy".into(),
                description: String::new(),
                keywords: vec![word.into()],
                patterns: Vec::new(),
            };
            Compiled {
                index: Index { version: "1".into(), ..Index::default() },
                triggers: TriggerIndex { start: false, abilities: vec![ability] },
                sources: Vec::new(),
            }
        });
        found.unwrap().abilities[0].keywords[0].clone()
    };
    assert_eq!((ask(1, "one").as_str(), compiled.get()), ("one", 1));
    assert_eq!((ask(2, "two").as_str(), compiled.get()), ("one", 1), "they are kept");
    let other = KeptTriggers::new(TriggerIndex { start: true, abilities: Vec::new() });
    files::replace(&gate.triggers_file(root), &other).unwrap();
    assert_eq!((ask(3, "three").as_str(), compiled.get()), ("three", 2), "another one wrote them");
    for damage in ["{", ""] {
        fs::write(gate.triggers_file(root), damage).unwrap();
        let before = compiled.get();
        ask(4, "four");
        assert_eq!(compiled.get(), before + 1);
    }
    fs::remove_file(gate.triggers_file(root)).unwrap();
    assert_eq!(ask(5, "five"), "five");
}

/// What somebody may do to a definition so that it looks as it was.
#[test]
fn no_change_of_a_definition_goes_unseen() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 7] = [
        ("edited in place, with the same size", |file| fs::write(file, "Bash(y)").unwrap()),
        ("edited in place, and its time set back", |file| {
            let before = file.metadata().unwrap().modified().unwrap();
            fs::write(file, "Bash(y)").unwrap();
            File::options().write(true).open(file).unwrap().set_modified(before).unwrap();
        }),
        ("another one renamed over it, with the same time", |file| {
            let other = file.with_extension("new");
            fs::write(&other, "Bash(y)").unwrap();
            let before = file.metadata().unwrap().modified().unwrap();
            File::options().write(true).open(&other).unwrap().set_modified(before).unwrap();
            fs::rename(&other, file).unwrap();
        }),
        ("a link in its place", |file| {
            let other = file.with_extension("other");
            fs::write(&other, "Bash(y)").unwrap();
            fs::remove_file(file).unwrap();
            symlink(&other, file).unwrap();
        }),
        ("another folder in the place of its own", |file| {
            let folder = file.parent().unwrap();
            let (old, new) = (folder.with_extension("old"), folder.with_extension("new"));
            fs::create_dir(&new).unwrap();
            fs::write(new.join("ability.yaml"), "Bash(y)").unwrap();
            fs::rename(folder, &old).unwrap();
            fs::rename(&new, folder).unwrap();
        }),
        ("a link to another folder in the place of its own", |file| {
            let folder = file.parent().unwrap();
            let (old, new) = (folder.with_extension("old"), folder.with_extension("new"));
            fs::create_dir(&new).unwrap();
            fs::write(new.join("ability.yaml"), "Bash(y)").unwrap();
            fs::rename(folder, &old).unwrap();
            symlink(&new, folder).unwrap();
        }),
        ("what it is linked to, edited in place", |file| {
            let other = file.with_extension("other");
            fs::write(&other, "Bash(y)").unwrap();
            assert!(file.is_symlink());
        }),
    ];
    for (what, change) in changes {
        for look_before in [false, true] {
            let home = tempfile::tempdir().unwrap();
            let gate = Gate::at(home.path().join("gate"));
            let file = home.path().join("abilities/ability.yaml");
            fs::create_dir(file.parent().unwrap()).unwrap();
            if what.starts_with("what it is linked to") {
                fs::write(file.with_extension("other"), "Bash(x)").unwrap();
                symlink(file.with_extension("other"), &file).unwrap();
            } else {
                fs::write(&file, "Bash(x)").unwrap();
            }
            // Files' times are coarse: what is as new as the index is doubted for that alone.
            std::thread::sleep(Duration::from_millis(60));
            let ask = |later: Duration| {
                let known =
                    gate.index(home.path(), "1", SystemTime::now() + later, &Sought::everything(), |_| {
                        let pattern = fs::read_to_string(&file).unwrap();
                        let reserved = vec![call(pattern, &file)];
                        // Not the folder: what is in a file must be seen by the file alone.
                        Compiled {
                            index: Index { version: "1".into(), reserved, ..Index::default() },
                            triggers: TriggerIndex::default(),
                            sources: vec![file.clone()],
                        }
                    });
                known.unwrap().reserved[0].pattern.to_string()
            };
            assert_eq!(ask(Duration::ZERO), "Bash(x)");
            if look_before {
                assert_eq!(ask(SETTLED), "Bash(x)");
            }
            change(&file);
            assert_eq!(ask(SETTLED * 3), "Bash(y)", "{what}");
        }
    }
}

#[test]
fn what_is_kept_is_looked_at_before_a_hook_would() {
    let home = tempfile::tempdir().unwrap();
    let gate = Gate::at(home.path());
    let folder = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> = (0..3).map(|number| folder.path().join(number.to_string())).collect();
    let compiled = Cell::new(0);
    let began = SystemTime::now() + Duration::from_mins(1);
    let compile = |_: Option<&Index>| {
        compiled.set(compiled.get() + 1);
        let pattern = fs::read_to_string(&files[0]).unwrap_or_else(|_| "Read".to_owned());
        let reserved = vec![call(pattern, &files[0])];
        Compiled {
            index: Index { version: "1".into(), reserved, ..Index::default() },
            triggers: TriggerIndex::default(),
            sources: files.clone(),
        }
    };
    let after = |millis: u64| began + Duration::from_millis(millis);
    let keep = |millis| gate.keep_index(folder.path(), "1", after(millis), compile).unwrap();
    let ask = |millis| {
        let known = gate.index(folder.path(), "1", after(millis), &Sought::everything(), compile).unwrap();
        known.reserved[0].pattern.to_string()
    };
    assert!(!keep(0), "nobody has asked");
    assert_eq!((ask(0).as_str(), compiled.get()), ("Read", 1));
    assert_eq!((ask(999).as_str(), compiled.get()), ("Read", 1));
    assert!(keep(400));
    fs::write(&files[0], "Bash(x)").unwrap();
    assert_eq!(ask(1_399), "Read", "it was looked at less than a second ago");
    assert!(keep(800));
    assert_eq!((ask(801).as_str(), compiled.get()), ("Bash(x)", 2), "the keeper saw it");
    fs::write(&files[0], "Bash(y)").unwrap();
    assert_eq!(
        (ask(1_801).as_str(), compiled.get()),
        ("Bash(y)", 3),
        "a keeper that is gone is not waited for"
    );
}

#[test]
fn a_keeper_hears_of_hooks() {
    let home = tempfile::tempdir().unwrap();
    let gate = Gate::at(home.path());
    let project = Project::new();
    project.ask(&gate, Duration::ZERO);
    let heard = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            gate.wait_for_hooks().unwrap();
            heard.store(true, Ordering::SeqCst);
        });
        // Until the other thread waits, what is asked is not heard.
        while !heard.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(5));
            project.ask(&gate, Duration::ZERO);
        }
    });
}

#[test]
fn a_repository_counts_by_being_there() {
    let (home, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let gate = Gate::at(home.path());
    let git = folder.path().join(".git");
    let compiled = Cell::new(0);
    let ask = |later: u64| {
        let now = SystemTime::now() + Duration::from_secs(later);
        gate.index(folder.path(), "1", now, &Sought::everything(), |_| {
            compiled.set(compiled.get() + 1);
            Compiled {
                index: Index { version: "1".into(), ..Index::default() },
                triggers: TriggerIndex::default(),
                sources: vec![git.clone()],
            }
        })
        .unwrap();
        compiled.get()
    };
    assert_eq!((ask(10), ask(20)), (1, 1));
    fs::create_dir(&git).unwrap();
    assert_eq!(ask(30), 2, "another folder may be the root now");
    fs::write(git.join("index.lock"), "").unwrap();
    assert_eq!(ask(40), 2, "what git does in it says nothing");
    fs::remove_dir_all(&git).unwrap();
    assert_eq!(ask(50), 3);
}
