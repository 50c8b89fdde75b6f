//! The files of sessions keep the contract of their port, and outlive the process that wrote them.

use abide_core::capability::FilePath;
use abide_core::event::Timestamp;
use abide_engine::port::{NewFile, Quota, SessionFiles as _, SessionId};
use abide_store_sqlite::SqliteSessionFiles;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use tempfile::TempDir;

fn make(clock: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> (SqliteSessionFiles, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state/files.db");
    (SqliteSessionFiles::open(&path, Arc::new(move || clock().0)).unwrap(), folder)
}

abide_testkit::files_contract!(make);

#[tokio::test]
async fn files_outlive_whoever_wrote_them_and_are_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("files.db");
    let open = || SqliteSessionFiles::open(&path, Arc::new(|| 7)).unwrap();
    let session = SessionId::parse("s").unwrap();
    let at = FilePath::parse("/a/b").unwrap();
    let file = NewFile { path: at.clone(), bytes: b"x".to_vec(), readonly: false };
    open().write(&session, file, Quota::default()).await.unwrap();
    let (first, second) = (open(), open());
    assert_eq!(first.read(&session, &at).await, Ok(b"x".to_vec()));
    second.delete(&session, &at, false).await.unwrap();
    assert_eq!(first.stat(&session, &at).await, Ok(None), "a second process is seen");
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_file_of_something_else_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE t (a)").unwrap();
    let error = SqliteSessionFiles::open(&path, Arc::new(|| 7)).err().unwrap();
    assert!(error.to_string().contains("not a file of sessions"), "{error}");
}
