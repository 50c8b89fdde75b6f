//! What a server keeps beside the log keeps the contracts of its ports, and outlives the process that wrote it.
#![expect(clippy::disallowed_methods, reason = "a test reads the file")]

use abide_engine::audit::noting;
use abide_engine::capability::Choice;
use abide_engine::keys::{Scope, mint};
use abide_engine::port::{
    AgentRow, AgentStatus, Agents, AgentsError, Audit as _, Keys, NewNote, verify_audit,
};
use abide_store_sqlite::SqliteRegistry;
use std::os::unix::fs::PermissionsExt as _;
use tempfile::TempDir;

fn make() -> (SqliteRegistry, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (SqliteRegistry::open(&folder.path().join("state/server.db")).unwrap(), folder)
}

abide_testkit::keys_contract!(make);
abide_testkit::starts_contract!(make);
abide_testkit::agents_contract!(make);
abide_testkit::audit_contract!(make);
abide_testkit::sessions_contract!(make);
abide_testkit::messages_contract!(make);
abide_testkit::outbox_contract!(make);
abide_testkit::questions_contract!(make);

#[tokio::test]
async fn a_key_that_another_process_revokes_is_revoked_here_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.db");
    let (first, second) = (SqliteRegistry::open(&path).unwrap(), SqliteRegistry::open(&path).unwrap());
    let key = mint("ada", &[Scope::Read], "root", 1, ([1; 8], [1; 32])).unwrap().key;
    Keys::add(&first, key.clone()).await.unwrap();
    assert_eq!(Keys::find(&second, &key.id).await.unwrap().unwrap().revoked_at, None);
    second.revoke(&key.id, 5).await.unwrap();
    assert_eq!(Keys::find(&first, &key.id).await.unwrap().unwrap().revoked_at, Some(5));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_file_of_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    let before = std::fs::read(&path).unwrap();
    assert!(SqliteRegistry::open(&path).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn an_audit_that_somebody_changed_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.db");
    let registry = SqliteRegistry::open(&path).unwrap();
    for by in ["ada", "eve", "ada"] {
        let (by, action) = (by.to_owned(), "createKey".to_owned());
        let note =
            NewNote { at: 1, by, action, subject: String::new(), request: None, detail: "{}".to_owned() };
        registry.note(note).await.unwrap();
    }
    assert_eq!(verify_audit(&registry).await.unwrap(), 3);
    let other = rusqlite::Connection::open(&path).unwrap();
    for sql in ["UPDATE audit SET data = '{}' WHERE seq = 2", "DELETE FROM audit WHERE seq = 2"] {
        assert!(other.execute(sql, ()).is_err(), "a statement cannot change it by mistake");
    }
    other.execute_batch("DROP TRIGGER audit_is_never_changed; DROP TRIGGER audit_is_never_removed").unwrap();
    other.execute("UPDATE audit SET data = replace(data, 'eve', 'ada') WHERE seq = 2", ()).unwrap();
    let error = verify_audit(&registry).await.unwrap_err().to_string();
    assert!(error.contains("event 2"), "{error}");
    other.execute("DELETE FROM audit WHERE seq = 2", ()).unwrap();
    assert!(verify_audit(&registry).await.is_err());
}

fn agent(number: u32) -> AgentRow {
    AgentRow {
        id: format!("00000000-0000-7000-8000-{number:012}"),
        name: format!("Agent {number}"),
        description: None,
        system_prompt: "You review changes.".to_owned(),
        model: None,
        capabilities: vec![Choice::of("current_time")],
        status: AgentStatus::Active,
        created_at: 1,
        updated_at: 1,
        version: 1,
    }
}

#[tokio::test]
async fn an_agent_that_was_read_and_that_another_process_changes_is_another_one_here_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.db");
    let (first, second) = (SqliteRegistry::open(&path).unwrap(), SqliteRegistry::open(&path).unwrap());
    let id = agent(1).id;
    Agents::add(&first, agent(1)).await.unwrap();
    for version in 1..50 {
        for registry in [&first, &second, &first] {
            let found = Agents::find(registry, &id).await.unwrap().unwrap();
            assert_eq!((found.version, found.updated_at), (version, version.try_into().unwrap()));
        }
        let changed = AgentRow { updated_at: i64::try_from(version).unwrap() + 1, version, ..agent(1) };
        let whoever = if version % 2 == 0 { &first } else { &second };
        assert_eq!(whoever.replace(changed).await.unwrap(), version + 1);
    }
    let replacing = AgentRow { version: 1, ..agent(1) };
    assert_eq!(first.replace(replacing).await, Err(AgentsError::Changed { expected: 1, found: 50 }));
}

#[tokio::test]
async fn an_agent_that_was_not_there_is_found_once_it_is() {
    let (registry, _folder) = make();
    assert_eq!(Agents::find(&registry, &agent(1).id).await.unwrap(), None);
    Agents::add(&registry, agent(1)).await.unwrap();
    assert_eq!(Agents::find(&registry, &agent(1).id).await.unwrap(), Some(agent(1)));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_changes_at_once_each_is_made_or_refused_with_its_own_note() {
    let (registry, _folder) = make();
    let change = |number: u32| {
        let registry = registry.clone();
        tokio::spawn(async move {
            let (by, action) = (format!("key-{number}"), "createAgent".to_owned());
            let note =
                NewNote { at: 1, by, action, subject: String::new(), request: None, detail: "{}".to_owned() };
            // Every second one is there already, and what fails of those that share a commit takes no other along.
            noting(Some(note), Agents::add(&registry, agent(number / 2))).await
        })
    };
    let changes: Vec<_> = (0..200).map(change).collect();
    let (mut made, mut left) = (0, 0);
    for change in changes {
        let (done, note) = change.await.unwrap();
        assert_eq!(done.is_ok(), note.is_none(), "a note is written with its change, and with nothing else");
        made += usize::from(done.is_ok());
        left += usize::from(note.is_some());
    }
    assert_eq!((made, left), (100, 100));
    assert_eq!(verify_audit(&registry).await.unwrap(), 100);
    assert_eq!(Agents::list(&registry, None, None, 200).await.unwrap().len(), 100);
}
