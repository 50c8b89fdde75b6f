//! The contract of [`SessionFiles`], rule by rule.
//!
//! A crate that implements the port writes `abide_testkit::files_contract!(make)` in a test, where `make` is a function
//! from a clock to what it tests (and whatever must live as long); each rule becomes a test with a name.

use abide_core::capability::FilePath;
use abide_core::event::Timestamp;
use abide_engine::port::{
    Condition, FileInfo, FilesError, NewFile, Quota, SessionFiles, SessionId, Transfer, Written,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

/// A clock that goes on by one millisecond each time it is asked.
pub fn ticking() -> Arc<dyn Fn() -> Timestamp + Send + Sync> {
    let time = AtomicI64::new(1_000);
    Arc::new(move || Timestamp(time.fetch_add(1, Ordering::SeqCst)))
}

fn path(text: &str) -> FilePath {
    FilePath::parse(text).expect("a path of a test")
}

fn session(name: &str) -> SessionId {
    SessionId::parse(name).expect("a session of a test")
}

fn new(at: &str, content: &[u8]) -> NewFile {
    NewFile { path: path(at), bytes: content.to_vec(), readonly: false }
}

async fn put(files: &impl SessionFiles, at: &str, content: &str) -> Result<Written, FilesError> {
    files.write(&session("s"), new(at, content.as_bytes()), Quota::default()).await
}

fn names(listed: &[FileInfo]) -> Vec<String> {
    listed.iter().map(|info| format!("{}{}", info.path, if info.is_directory { "/" } else { "" })).collect()
}

async fn everything(files: &impl SessionFiles) -> Vec<String> {
    names(&files.files(&session("s")).await.expect("files can be listed"))
}

/// What is written comes back, byte for byte, and a second write replaces it.
pub async fn what_is_written_comes_back(files: &impl SessionFiles) {
    let s = session("s");
    let bytes: Vec<u8> = (0..=255).collect();
    assert_eq!(files.write(&s, new("/b.bin", &bytes), Quota::default()).await, Ok(Written::Created));
    assert_eq!(files.read(&s, &path("/b.bin")).await, Ok(bytes));
    let before = files.stat(&s, &path("/b.bin")).await.unwrap().expect("it is there");
    assert_eq!((before.size_bytes, before.is_directory, before.is_readonly), (256, false, false));
    assert_eq!(put(files, "/b.bin", "").await, Ok(Written::Replaced));
    assert_eq!(files.read(&s, &path("/b.bin")).await, Ok(Vec::new()));
    let after = files.stat(&s, &path("/b.bin")).await.unwrap().expect("it is there");
    assert_eq!((after.size_bytes, after.created_at), (0, before.created_at));
    assert!(after.updated_at > before.updated_at, "{before:?} {after:?}");
}

/// A write makes the folders above it, and lists are in order.
pub async fn a_write_makes_the_folders_above_it(files: &impl SessionFiles) {
    let s = session("s");
    for at in ["/a/b/c.txt", "/a/b.txt", "/a/b/ä", "/a-", "/z"] {
        assert_eq!(put(files, at, "x").await, Ok(Written::Created), "{at}");
    }
    assert_eq!(names(&files.list(&s, &path("/")).await.unwrap()), ["/a/", "/a-", "/z"]);
    assert_eq!(names(&files.list(&s, &path("/a")).await.unwrap()), ["/a/b/", "/a/b.txt"]);
    assert_eq!(names(&files.list(&s, &path("/a/b")).await.unwrap()), ["/a/b/c.txt", "/a/b/ä"]);
    assert_eq!(everything(files).await, ["/a-", "/a/b.txt", "/a/b/c.txt", "/a/b/ä", "/z"]);
    let folder = files.stat(&s, &path("/a/b")).await.unwrap().expect("it was made");
    assert!(folder.is_directory && folder.size_bytes == 0, "{folder:?}");
}

/// Names that look like patterns or differ in case are names.
pub async fn a_name_is_only_itself(files: &impl SessionFiles) {
    let s = session("s");
    for at in ["/%/x", "/_/x", "/A/x", "/a/x", "/a%/x", "/[a]/x", "/'; DROP TABLE files; --/x", "/a b/x"] {
        assert_eq!(put(files, at, at).await, Ok(Written::Created), "{at}");
    }
    assert_eq!(files.delete(&s, &path("/%"), true).await, Ok(2));
    assert_eq!(files.delete(&s, &path("/_"), true).await, Ok(2));
    assert_eq!(files.delete(&s, &path("/a"), true).await, Ok(2));
    assert_eq!(everything(files).await, ["/'; DROP TABLE files; --/x", "/A/x", "/[a]/x", "/a b/x", "/a%/x"]);
    assert_eq!(names(&files.list(&s, &path("/A")).await.unwrap()), ["/A/x"]);
}

/// Sessions do not see each other.
pub async fn sessions_are_apart(files: &impl SessionFiles) {
    put(files, "/secret/a", "mine").await.unwrap();
    let other = session("t");
    assert_eq!(files.read(&other, &path("/secret/a")).await, Err(FilesError::Missing(path("/secret/a"))));
    assert_eq!(files.list(&other, &path("/")).await, Ok(vec![]));
    assert_eq!(files.files(&other).await, Ok(vec![]));
    assert_eq!(files.stat(&other, &path("/secret")).await, Ok(None));
    assert_eq!(files.delete(&other, &path("/secret"), true).await, Err(FilesError::Missing(path("/secret"))));
    files.write(&other, new("/secret/a", b"theirs"), Quota::default()).await.unwrap();
    assert_eq!(files.read(&session("s"), &path("/secret/a")).await, Ok(b"mine".to_vec()));
    files.delete(&other, &path("/secret"), true).await.unwrap();
    assert_eq!(files.read(&session("s"), &path("/secret/a")).await, Ok(b"mine".to_vec()));
}

/// A file is no folder and a folder no file.
pub async fn files_and_folders_are_not_mixed_up(files: &impl SessionFiles) {
    let s = session("s");
    put(files, "/f", "x").await.unwrap();
    put(files, "/d/x", "x").await.unwrap();
    assert_eq!(put(files, "/f/g/h", "x").await, Err(FilesError::NotDirectory(path("/f"))));
    assert_eq!(put(files, "/d", "x").await, Err(FilesError::IsDirectory(path("/d"))));
    assert_eq!(put(files, "/", "x").await, Err(FilesError::Root));
    assert_eq!(files.read(&s, &path("/d")).await, Err(FilesError::IsDirectory(path("/d"))));
    assert_eq!(files.read(&s, &path("/")).await, Err(FilesError::IsDirectory(path("/"))));
    assert_eq!(files.read(&s, &path("/no")).await, Err(FilesError::Missing(path("/no"))));
    assert_eq!(files.list(&s, &path("/f")).await, Err(FilesError::NotDirectory(path("/f"))));
    assert_eq!(files.list(&s, &path("/no")).await, Err(FilesError::Missing(path("/no"))));
    assert_eq!(files.stat(&s, &path("/no")).await, Ok(None));
    assert!(files.stat(&s, &path("/")).await.unwrap().expect("the root is always there").is_directory);
    assert_eq!(everything(files).await, ["/d/x", "/f"]);
}

/// Deleting takes a folder only if told to, and then all of it and nothing else.
pub async fn deleting_takes_all_of_a_folder_or_nothing(files: &impl SessionFiles) {
    let s = session("s");
    for at in ["/d/e/f", "/d/g", "/d.txt", "/d2/x"] {
        put(files, at, "x").await.unwrap();
    }
    assert_eq!(files.delete(&s, &path("/d"), false).await, Err(FilesError::NotEmpty(path("/d"))));
    assert_eq!(files.delete(&s, &path("/d/e/f"), false).await, Ok(1));
    assert_eq!(files.delete(&s, &path("/d/e"), false).await, Ok(1), "a folder that is empty goes");
    assert_eq!(files.delete(&s, &path("/d"), true).await, Ok(2));
    assert_eq!(files.delete(&s, &path("/d"), true).await, Err(FilesError::Missing(path("/d"))));
    assert_eq!(files.delete(&s, &path("/"), true).await, Err(FilesError::Root));
    assert_eq!(everything(files).await, ["/d.txt", "/d2/x"]);
}

/// What is read-only stays as it is.
pub async fn what_is_readonly_stays(files: &impl SessionFiles) {
    let s = session("s");
    let given = NewFile { readonly: true, ..new("/in/given", b"as it is") };
    files.write(&s, given, Quota::default()).await.unwrap();
    put(files, "/in/own", "x").await.unwrap();
    assert!(files.stat(&s, &path("/in/given")).await.unwrap().expect("it is there").is_readonly);
    assert_eq!(put(files, "/in/given", "x").await, Err(FilesError::Readonly(path("/in/given"))));
    for (at, recursive) in [("/in/given", false), ("/in", true)] {
        let refused = files.delete(&s, &path(at), recursive).await;
        assert_eq!(refused, Err(FilesError::Readonly(path("/in/given"))), "{at}");
    }
    assert_eq!(everything(files).await, ["/in/given", "/in/own"]);
    assert_eq!(files.read(&s, &path("/in/given")).await, Ok(b"as it is".to_vec()));
}

/// A write that expects something happens only if that is so.
pub async fn a_write_may_expect_what_is_there(files: &impl SessionFiles) {
    let s = session("s");
    let write = async |content: &str, condition| {
        files.write_when(&s, new("/f", content.as_bytes()), Quota::default(), condition).await
    };
    let seen = async || {
        let found = files.stat(&s, &path("/f")).await.unwrap().expect("it is there");
        Condition::Unchanged { updated_at: found.updated_at, size_bytes: found.size_bytes }
    };
    let changed = Err(FilesError::Changed(path("/f")));
    let nothing = Condition::Unchanged { updated_at: Timestamp(0), size_bytes: 0 };
    assert_eq!(write("x", nothing).await, changed);
    assert_eq!(write("one", Condition::Missing).await, Ok(Written::Created));
    assert_eq!(write("two", Condition::Missing).await, changed);
    let first = seen().await;
    assert_eq!(write("two", first).await, Ok(Written::Replaced));
    assert_eq!(write("too late", first).await, changed);
    assert_eq!(files.read(&s, &path("/f")).await, Ok(b"two".to_vec()));
    assert_eq!(write("three", seen().await).await, Ok(Written::Replaced));
    assert_eq!(write("four", Condition::Present).await, Ok(Written::Replaced));
    let absent = files.write_when(&s, new("/g", b"x"), Quota::default(), Condition::Present).await;
    assert_eq!(absent, Err(FilesError::Changed(path("/g"))));
}

/// A deletion that expects something happens only if that is so, of files and of folders.
pub async fn a_deletion_may_expect_what_is_there(files: &impl SessionFiles) {
    let s = session("s");
    let seen = async |at: &str| {
        let found = files.stat(&s, &path(at)).await.unwrap().expect("it is there");
        Condition::Unchanged { updated_at: found.updated_at, size_bytes: found.size_bytes }
    };
    let delete = async |at: &str, condition| files.delete_when(&s, &path(at), true, condition).await;
    put(files, "/f", "one").await.unwrap();
    let first = seen("/f").await;
    put(files, "/f", "two").await.unwrap();
    assert_eq!(delete("/f", first).await, Err(FilesError::Changed(path("/f"))));
    assert_eq!(delete("/f", Condition::Missing).await, Err(FilesError::Changed(path("/f"))));
    assert_eq!(files.read(&s, &path("/f")).await, Ok(b"two".to_vec()));
    assert_eq!(delete("/f", seen("/f").await).await, Ok(1));
    for condition in [first, Condition::Present, Condition::Missing] {
        assert_eq!(delete("/f", condition).await, Err(FilesError::Missing(path("/f"))));
    }
    put(files, "/d/e", "one").await.unwrap();
    assert_eq!(delete("/d", first).await, Err(FilesError::Changed(path("/d"))));
    assert_eq!(delete("/d", seen("/d").await).await, Ok(2));
    put(files, "/g", "one").await.unwrap();
    assert_eq!(delete("/g", Condition::Present).await, Ok(1));
}

/// A move or a copy takes all of a folder, to where nothing is, or does nothing.
pub async fn a_transfer_takes_all_or_nothing(files: &impl SessionFiles) {
    let s = session("s");
    let go = async |from: &str, to: &str, keep: bool| {
        let transfer = Transfer { from: path(from), to: path(to), keep };
        files.transfer(&s, transfer, Quota { total_bytes: 40, entries: 12, ..Quota::default() }).await
    };
    for at in ["/d/e/f", "/d/g", "/d.txt", "/x"] {
        put(files, at, at).await.unwrap();
    }
    assert_eq!(go("/d", "/new/place", false).await, Ok(4));
    assert_eq!(everything(files).await, ["/d.txt", "/new/place/e/f", "/new/place/g", "/x"]);
    assert_eq!(names(&files.list(&s, &path("/new/place")).await.unwrap()), ["/new/place/e/", "/new/place/g"]);
    assert_eq!(files.read(&s, &path("/new/place/e/f")).await, Ok(b"/d/e/f".to_vec()));
    assert_eq!(files.stat(&s, &path("/d")).await, Ok(None));
    assert_eq!(go("/new/place/g", "/h", true).await, Ok(1));
    assert_eq!(files.read(&s, &path("/h")).await, Ok(b"/d/g".to_vec()));
    let before = everything(files).await;
    for (from, to, error) in [
        ("/none", "/n", FilesError::Missing(path("/none"))),
        ("/h", "/x", FilesError::Exists(path("/x"))),
        ("/h", "/h", FilesError::Exists(path("/h"))),
        ("/new", "/new/place/in", FilesError::Exists(path("/new/place/in"))),
        ("/h", "/x/y", FilesError::NotDirectory(path("/x"))),
        ("/", "/r", FilesError::Root),
        ("/h", "/", FilesError::Root),
    ] {
        for keep in [true, false] {
            assert_eq!(go(from, to, keep).await, Err(error.clone()), "{from} {to}");
        }
    }
    assert!(matches!(go("/new", "/again", true).await, Err(FilesError::Full(_))), "a copy takes room");
    let given = NewFile { readonly: true, ..new("/given", b"r") };
    files.write(&s, given, Quota::default()).await.unwrap();
    assert_eq!(go("/given", "/taken", false).await, Err(FilesError::Readonly(path("/given"))));
    assert_eq!(go("/given", "/copy", true).await, Ok(1));
    assert!(!files.stat(&s, &path("/copy")).await.unwrap().expect("it is there").is_readonly);
    let mut after = before;
    after.extend(["/copy".to_owned(), "/given".to_owned()]);
    after.sort();
    assert_eq!(everything(files).await, after, "what was refused has changed nothing");
}

/// What is forgotten is gone, whatever it is, and nobody else's with it.
pub async fn what_is_forgotten_is_gone(files: &impl SessionFiles) {
    let (s, other) = (session("s"), session("t"));
    let given = NewFile { readonly: true, ..new("/in/given", b"as it is") };
    files.write(&s, given.clone(), Quota::default()).await.unwrap();
    files.write(&other, given, Quota::default()).await.unwrap();
    assert_eq!(files.forget(&s).await, Ok(()));
    assert_eq!(files.list(&s, &path("/")).await, Ok(vec![]));
    assert_eq!(names(&files.files(&other).await.unwrap()), ["/in/given"]);
    assert_eq!(files.forget(&s).await, Ok(()), "there is nothing to forget");
}

/// A quota holds for files, bytes and entries, counts what is replaced, and leaves nothing half written.
pub async fn a_quota_holds(files: &impl SessionFiles) {
    let s = session("s");
    let quota = Quota { file_bytes: 10, total_bytes: 15, entries: 4 };
    let write = async |at: &str, size: usize| files.write(&s, new(at, &vec![b'x'; size]), quota).await;
    assert!(matches!(write("/a", 11).await, Err(FilesError::Full(_))));
    assert_eq!(write("/a", 10).await, Ok(Written::Created));
    assert!(matches!(write("/d/b", 6).await, Err(FilesError::Full(_))));
    assert_eq!(everything(files).await, ["/a"], "nothing of it was written");
    assert_eq!(files.stat(&s, &path("/d")).await, Ok(None), "nor its folder");
    assert_eq!(write("/d/b", 5).await, Ok(Written::Created));
    assert_eq!(write("/a", 10).await, Ok(Written::Replaced), "what is replaced does not count twice");
    assert!(matches!(write("/e/f", 0).await, Err(FilesError::Full(_))), "folders count");
    assert_eq!(write("/e", 0).await, Ok(Written::Created));
    assert!(matches!(write("/f", 0).await, Err(FilesError::Full(_))));
    assert_eq!(files.delete(&s, &path("/d"), true).await, Ok(2));
    assert_eq!(write("/e/f", 0).await, Err(FilesError::NotDirectory(path("/e"))));
    assert_eq!(write("/g", 5).await, Ok(Written::Created), "what is gone does not count");
    let other = files.write(&session("t"), new("/a", b"0123456789"), quota).await;
    assert_eq!(other, Ok(Written::Created), "a quota is one session's");
}

/// Writes at the same time come one after the other, and the quota holds between them.
pub async fn writes_at_once_do_not_lose_each_other<F: SessionFiles>(files: Arc<F>) {
    let quota = Quota { entries: 40, ..Quota::default() };
    let tasks: Vec<_> = (0..60)
        .map(|number| {
            let files = Arc::clone(&files);
            tokio::spawn(async move {
                files.write(&session("s"), new(&format!("/d/{number:02}"), b"x"), quota).await.is_ok()
            })
        })
        .collect();
    let mut written = 0;
    for task in tasks {
        written += usize::from(task.await.expect("it does not panic"));
    }
    assert_eq!(written, 39, "forty entries, and the folder is one of them");
    assert_eq!(everything(&*files).await.len(), 39);
}

/// Makes a test of every rule of the contract of `SessionFiles`.
#[macro_export]
macro_rules! files_contract {
    ($make:expr) => {
        $crate::files_contract!(@rules $make;
            what_is_written_comes_back
            a_write_makes_the_folders_above_it
            a_name_is_only_itself
            sessions_are_apart
            files_and_folders_are_not_mixed_up
            deleting_takes_all_of_a_folder_or_nothing
            what_is_readonly_stays
            a_quota_holds
            what_is_forgotten_is_gone
            a_write_may_expect_what_is_there
            a_deletion_may_expect_what_is_there
            a_transfer_takes_all_or_nothing
        );

        #[test]
        fn writes_at_once_do_not_lose_each_other() {
            $crate::store::check(async {
                let (files, _kept) = ($make)($crate::files::ticking());
                $crate::files::writes_at_once_do_not_lose_each_other(std::sync::Arc::new(files)).await;
            });
        }
    };
    (@rules $make:expr; $($rule:ident)+) => {
        $(
            #[test]
            fn $rule() {
                $crate::store::check(async {
                    let (files, _kept) = ($make)($crate::files::ticking());
                    $crate::files::$rule(&files).await;
                });
            }
        )+
    };
}
