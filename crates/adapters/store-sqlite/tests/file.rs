//! The file: who may read it, which versions are taken, and what happens when the disk does not want.
#![expect(clippy::disallowed_methods, reason = "these tests look at the file itself")]

mod common;

use abide_engine::port::{OutputKey, Store as _, StoreError};
use abide_store_sqlite::{Settings, SqliteStore};
use abide_testkit::ManualClock;
use abide_testkit::store::{Subject as _, check};
use common::{SqliteSubject, append};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

fn subject() -> SqliteSubject {
    SqliteSubject::new(ManualClock::at(1_700_000_000_000))
}

fn key() -> OutputKey {
    OutputKey { stream: "s".to_owned(), attempt: "a#1".to_owned(), channel: "stdout" }
}

#[test]
fn only_the_owner_sees_the_log() {
    check(async {
        let subject = subject();
        let store = subject.open();
        append(&store, "s", 0, "{}").await.unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(subject.path().parent().unwrap().to_owned()), 0o700);
        for suffix in ["", "-wal", "-shm"] {
            let file = subject.path().with_file_name(format!("abide.db{suffix}"));
            assert_eq!(mode(file), 0o600, "{suffix}");
        }
    });
}

#[test]
fn finding_makes_nothing() {
    let subject = subject();
    assert!(SqliteStore::find(&subject.path(), subject.settings()).unwrap().is_none());
    assert!(!subject.path().parent().unwrap().exists());
    drop(subject.open());
    assert!(SqliteStore::find(&subject.path(), subject.settings()).unwrap().is_some());
}

#[test]
fn what_was_written_is_there_after_closing() {
    check(async {
        let subject = subject();
        let store = subject.open();
        append(&store, "s", 0, "{}").await.unwrap();
        store.write_output(&key(), b"output".to_vec()).await.unwrap();
        assert_eq!(store.head("s").await.unwrap().unwrap().seq, 1);
        let _ = tokio::time::timeout(Duration::from_millis(200), store.changed("s", 1)).await;
        drop(store);
        let main = fs::metadata(subject.path()).unwrap().len();
        assert!(main > 4096, "closing has moved the write-ahead log into the file");
        assert_eq!(fs::metadata(subject.path().with_file_name("abide.db-wal")).unwrap().len(), 0);
        let store = SqliteStore::find(&subject.path(), subject.settings()).unwrap().unwrap();
        assert_eq!(store.read("s", 0..9).await.unwrap().len(), 1);
        assert_eq!(store.read_output(&key(), 0..9).await.unwrap(), b"output");
    });
}

/// Returns why a file cannot be opened, without its folder.
fn refusal(subject: &SqliteSubject) -> String {
    let error = subject.try_open().err().expect("it is refused");
    assert!(matches!(error, StoreError::Unreadable { .. }), "{error:?}");
    error.to_string().replace(&subject.path().parent().unwrap().display().to_string(), "STATE")
}

#[test]
fn a_newer_file_is_refused_with_what_to_do() {
    let subject = subject();
    drop(subject.open());
    subject.connect().pragma_update(None, "user_version", 7).unwrap();
    assert_eq!(
        refusal(&subject),
        "cannot read STATE/abide.db: a newer abide has written it (format 7, this one knows 1); update abide"
    );
}

#[test]
fn another_programs_file_is_refused_and_left_alone() {
    let subject = subject();
    fs::create_dir(subject.path().parent().unwrap()).unwrap();
    subject.connect().execute_batch("CREATE TABLE theirs (a)").unwrap();
    let before = fs::read(subject.path()).unwrap();
    assert_eq!(
        refusal(&subject),
        "cannot read STATE/abide.db: it is the database of another program; name another file, or move it away"
    );
    assert_eq!(fs::read(subject.path()).unwrap(), before);
}

#[test]
fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let subject = subject();
    fs::create_dir(subject.path().parent().unwrap()).unwrap();
    let text = "not a database, but long enough to look like one\n".repeat(200);
    fs::write(subject.path(), &text).unwrap();
    assert_eq!(
        refusal(&subject),
        "cannot read STATE/abide.db: the file is damaged; move it away to start with an empty log, or put a \
         copy in its place (file is not a database)"
    );
    assert_eq!(fs::read_to_string(subject.path()).unwrap(), text);
}

#[test]
fn a_file_whose_making_was_interrupted_is_made() {
    check(async {
        let subject = subject();
        fs::create_dir(subject.path().parent().unwrap()).unwrap();
        fs::write(subject.path(), "").unwrap();
        let store = subject.open();
        append(&store, "s", 0, "{}").await.unwrap();
        let other = self::subject();
        fs::create_dir(other.path().parent().unwrap()).unwrap();
        other.connect().pragma_update(None, "journal_mode", "wal").unwrap();
        append(&other.open(), "s", 0, "{}").await.unwrap();
    });
}

#[test]
fn many_may_make_the_file_at_once() {
    for _ in 0..20 {
        let subject = subject();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| drop(subject.open()));
            }
        });
    }
}

#[test]
fn a_page_that_rots_is_found_and_the_rest_still_reads() {
    check(async {
        let subject = subject();
        let store = subject.open();
        for expected in 0..50 {
            append(&store, "rotten", expected, &"x".repeat(3000)).await.unwrap();
        }
        drop(store);
        let mut bytes = fs::read(subject.path()).unwrap();
        let pages = bytes.len() / 4096;
        bytes[(pages - 4) * 4096..(pages - 1) * 4096].fill(0xff);
        fs::write(subject.path(), bytes).unwrap();
        let store = subject.open();
        let error = store.read("rotten", 0..99).await.unwrap_err();
        assert!(matches!(error, StoreError::Unreadable { .. } | StoreError::Damaged { .. }), "{error:?}");
        assert_eq!(store.head("rotten").await.unwrap().unwrap().seq, 50);
        assert_eq!(store.read("rotten", 1..3).await.unwrap().len(), 2);
    });
}

#[test]
fn a_file_whose_end_is_missing_is_refused_and_left_alone() {
    check(async {
        let subject = subject();
        append(&subject.open(), "s", 0, "{}").await.unwrap();
        let whole = fs::read(subject.path()).unwrap();
        for length in [whole.len() - 1, whole.len() / 2, 4096] {
            fs::write(subject.path(), &whole[..length]).unwrap();
            assert_eq!(
                refusal(&subject),
                "cannot read STATE/abide.db: the file is damaged; move it away to start with an empty log, or put a \
                 copy in its place (its end is missing)"
            );
            assert_eq!(fs::metadata(subject.path()).unwrap().len(), length as u64);
        }
        fs::write(subject.path(), &whole).unwrap();
        append(&subject.open(), "s", 1, "{}").await.unwrap();
    });
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let subject = subject();
    let file = subject.path().parent().unwrap().to_owned();
    fs::write(&file, "a file where the folder should be").unwrap();
    let error = subject.try_open().err().expect("it is refused");
    assert!(error.to_string().contains(&file.display().to_string()), "{error}");
}

#[test]
fn a_full_disk_writes_nothing_and_recovers() {
    check(async {
        let subject = subject();
        let settings = Settings { largest: Some(400 * 1024), ..subject.settings() };
        let store = SqliteStore::open(&subject.path(), settings).unwrap();
        append(&store, "keep", 0, "{}").await.unwrap();
        append(&store, "s", 0, "{}").await.unwrap();
        let (mut end, mut size) = (1, 64 * 1024);
        let mut error = None;
        while size > 16 {
            match append(&store, "s", end, &"x".repeat(size)).await {
                Ok(seq) => end = seq,
                Err(failure) => {
                    error = Some(failure);
                    size /= 2;
                }
            }
        }
        let error = error.expect("the disk was full");
        let place = subject.path().display().to_string();
        assert_eq!(error.to_string(), format!("cannot write to {place}: the disk is full"));
        let full = store.write_output(&key(), vec![0; 1_000_000]).await.unwrap_err();
        assert!(matches!(full, StoreError::Unwritable { .. }), "{full:?}");
        assert_eq!(store.read_output(&key(), 0..9).await.unwrap(), b"");
        assert_eq!(store.read("s", 0..u64::MAX).await.unwrap().len() as u64, end);
        store.forget("s").await.unwrap();
        append(&store, "keep", 1, &"x".repeat(64 * 1024)).await.unwrap();
        assert_eq!(store.read("keep", 0..9).await.unwrap().len(), 2);
    });
}

#[test]
fn what_does_not_fit_does_not_fail_its_neighbours() {
    check(async {
        let subject = subject();
        let settings = Settings { largest: Some(400 * 1024), ..subject.settings() };
        let store = std::sync::Arc::new(SqliteStore::open(&subject.path(), settings).unwrap());
        let mut tasks = tokio::task::JoinSet::new();
        for stream in 0..64 {
            let store = store.clone();
            let size = if stream % 8 == 0 { 1_000_000 } else { 10 };
            tasks.spawn(
                async move { (size, append(&*store, &format!("s{stream}"), 0, &"x".repeat(size)).await) },
            );
        }
        for (size, result) in tasks.join_all().await {
            assert_eq!(result.is_ok(), size == 10, "{result:?}");
        }
        assert_eq!(store.heads(None, 99).await.unwrap().len(), 56);
    });
}

#[test]
fn a_lock_that_stays_is_said_and_readers_do_not_wait() {
    check(async {
        let subject = subject();
        let settings = Settings { patience: Duration::from_millis(100), ..subject.settings() };
        let store = SqliteStore::open(&subject.path(), settings).unwrap();
        append(&store, "s", 0, "{}").await.unwrap();
        let other = subject.connect();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = append(&store, "s", 1, "{}").await.unwrap_err();
        let place = subject.path().display().to_string();
        assert_eq!(
            error.to_string(),
            format!("cannot write to {place}: another process has kept it locked for too long")
        );
        assert_eq!(store.read("s", 0..9).await.unwrap().len(), 1);
        other.execute_batch("ROLLBACK").unwrap();
        append(&store, "s", 1, "{}").await.unwrap();
    });
}

#[test]
fn a_file_that_was_removed_is_not_written_to() {
    check(async {
        let subject = subject();
        let store = subject.open();
        append(&store, "s", 0, "{}").await.unwrap();
        for suffix in ["", "-wal", "-shm"] {
            fs::remove_file(subject.path().with_file_name(format!("abide.db{suffix}"))).unwrap();
        }
        let error = append(&store, "s", 1, "{}").await.unwrap_err();
        assert!(matches!(error, StoreError::Unwritable { .. }), "{error:?}");
        assert!(!subject.path().exists());
    });
}

#[test]
fn small_writes_do_not_make_a_row_each() {
    check(async {
        let subject = subject();
        let store = subject.open();
        append(&store, "s", 0, "{}").await.unwrap();
        for _ in 0..1000 {
            store.write_output(&key(), b"a line of sixteen".to_vec()).await.unwrap();
        }
        let rows: usize =
            subject.connect().query_row("SELECT count(*) FROM outputs", (), |row| row.get(0)).unwrap();
        assert_eq!(rows, 5);
    });
}

#[test]
fn text_that_is_no_text_is_damage() {
    check(async {
        let subject = subject();
        let store = subject.open();
        append(&store, "s", 0, "{}").await.unwrap();
        append(&store, "s", 1, "{}").await.unwrap();
        subject
            .connect()
            .execute("UPDATE events SET data = CAST(x'ff00fe' AS TEXT) WHERE seq = 2", ())
            .unwrap();
        let error = store.read("s", 0..9).await.unwrap_err();
        assert_eq!(error.to_string(), "the log of s is damaged at event 2: it is not text");
    });
}

/// On a quick disk a commit is made in place; one that another process holds up is left to the thread.
#[test]
fn nobody_waits_in_place_for_another_process() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let subject = subject();
        let store = subject.open();
        for seq in 0..20 {
            append(&store, "s", seq, "{}").await.unwrap();
        }
        let other = subject.connect();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let mut appending = std::pin::pin!(append(&store, "s", 20, "{}"));
        // There is one thread: an append that held it would let nobody look at the time for as long as it has patience.
        let before = Instant::now();
        let waited = tokio::time::timeout(Duration::from_millis(100), &mut appending).await;
        assert!(waited.is_err(), "the append ended: {waited:?}");
        assert!(
            before.elapsed() < Duration::from_secs(3),
            "the append held its thread: {:?}",
            before.elapsed()
        );
        other.execute_batch("ROLLBACK").unwrap();
        appending.await.unwrap();
        assert_eq!(store.head("s").await.unwrap().unwrap().seq, 21);
    });
}
