//! When an index is compiled anew, and what it says.

use super::*;
use crate::triggers::Suggestible;
use std::cell::Cell;

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
        let index = gate.index(self.folder.path(), "1", now, |_| {
            self.compiled.set(self.compiled.get() + 1);
            let pattern = fs::read_to_string(self.file()).unwrap_or_default();
            let reserved = ReservedCall { ability: "a".into(), pattern, file: self.file() };
            let index = Index { version: "1".into(), reserved: vec![reserved], ..Index::default() };
            let sources = vec![self.folder.path().to_path_buf(), self.file()];
            Compiled { index, triggers: TriggerIndex::default(), sources }
        });
        index.unwrap().reserved.into_iter().map(|reserved| reserved.pattern).collect()
    }
}

#[test]
fn it_is_compiled_again_when_something_changed_and_not_otherwise() {
    let home = tempfile::tempdir().unwrap();
    let gate = Gate::at(home.path());
    let project = Project::new();
    let minute = Duration::from_mins(1);
    assert_eq!(project.ask(&gate, minute), [""]);
    assert_eq!(project.ask(&gate, minute * 2), [""]);
    assert_eq!(project.compiled.get(), 1, "nothing changed");
    fs::write(project.file(), "Bash(x)").unwrap();
    assert_eq!(project.ask(&gate, minute * 3), ["Bash(x)"], "a new file");
    fs::write(project.file(), "Bash(yy)").unwrap();
    assert_eq!(project.ask(&gate, minute * 4), ["Bash(yy)"], "an edit in place");
    fs::remove_file(project.file()).unwrap();
    assert_eq!(project.ask(&gate, minute * 5), [""]);
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
    let index = Index {
        restricted: vec![restricted("deploy", "deployer"), restricted("wipe", "root")],
        agents: vec![("deployer".into(), vec!["deploy".into(), "wipe".into(), "test".into()])],
        ..Index::default()
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
    let other = gate.index(project.folder.path(), "2", SystemTime::now() + minute * 3, |_| Compiled {
        index: Index { version: "2".into(), ..Index::default() },
        triggers: TriggerIndex::default(),
        sources: Vec::new(),
    });
    assert_eq!(other.unwrap().version, "2");
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
    for broken in ["{", ""] {
        fs::write(&sources, broken).unwrap();
        project.ask(&gate, minute * 4);
    }
    fs::remove_file(&sources).unwrap();
    project.ask(&gate, minute * 5);
    assert_eq!(project.compiled.get(), 6);
}

#[test]
fn an_index_of_an_older_form_is_compiled_anew_and_still_tells_what_was_reserved() {
    let home = tempfile::tempdir().unwrap();
    let gate = Gate::at(home.path());
    let project = Project::new();
    fs::write(project.file(), "Bash(x)").unwrap();
    let minute = Duration::from_mins(1);
    project.ask(&gate, minute);
    let file = gate.index_file(project.folder.path());
    let mut old: serde_json::Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let fields = old.as_object_mut().unwrap();
    fields.remove("format").unwrap();
    fields.remove("triggers").unwrap();
    fields.remove("written").unwrap();
    fields["index"]["reserved"] =
        serde_json::json!([{"ability": "a", "pattern": "Bash(x)", "file": "/p/a.yaml"}]);
    fields["index"]["guarded"] = serde_json::json!([{"path": "/p/a.yaml", "role": "Definition"}]);
    fields.insert("sources".to_owned(), serde_json::json!([["/p", "Absent"]]));
    fs::write(&file, old.to_string()).unwrap();
    let mut before = Vec::new();
    gate.index(project.folder.path(), "1", SystemTime::now() + minute * 2, |index| {
        before.extend(index.into_iter().flat_map(|index| index.reserved.clone()));
        Compiled { index: Index::default(), triggers: TriggerIndex::default(), sources: Vec::new() }
    })
    .unwrap();
    assert_eq!(before.len(), 1, "it is compiled again, and given what was there");
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
