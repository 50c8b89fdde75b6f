//! What a server keeps beside the log keeps the contracts of its ports, and outlives the process that wrote it.
#![expect(clippy::disallowed_methods, reason = "a test reads the file")]

use abide_engine::keys::{Scope, mint};
use abide_engine::port::Keys as _;
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

#[tokio::test]
async fn a_key_that_another_process_revokes_is_revoked_here_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.db");
    let (first, second) = (SqliteRegistry::open(&path).unwrap(), SqliteRegistry::open(&path).unwrap());
    let key = mint("ada", &[Scope::Read], "root", 1, ([1; 8], [1; 32])).unwrap().key;
    first.add(key.clone()).await.unwrap();
    assert_eq!(second.find(&key.id).await.unwrap().unwrap().revoked_at, None);
    second.revoke(&key.id, 5).await.unwrap();
    assert_eq!(first.find(&key.id).await.unwrap().unwrap().revoked_at, Some(5));
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
    use abide_engine::port::{Audit as _, NewNote, verify_audit};
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
