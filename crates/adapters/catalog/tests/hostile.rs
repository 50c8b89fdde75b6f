//! Folders that nobody made on purpose, or that somebody made to hurt: a clear answer, in time.
#![expect(clippy::disallowed_methods, reason = "these tests make the folders that are scanned")]

use abide_catalog::{Catalog, Configuration, Listing, MOST_ENTRIES, Place, Status};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const GOOD: &str = "description: x\nsteps:\n  - { id: a, run: ls }\n";

/// A project whose abilities lie in one folder.
struct Project(TempDir);

impl Project {
    fn new() -> Self {
        let project = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(project.abilities()).unwrap();
        project
    }

    fn abilities(&self) -> PathBuf {
        self.0.path().join(".abide/abilities")
    }

    fn write(&self, name: impl AsRef<Path>, text: impl AsRef<[u8]>) {
        let path = self.abilities().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn catalog(&self) -> Catalog {
        let place = Place { start: self.0.path().canonicalize().unwrap(), home: None, config_home: None };
        Catalog::open(place, Configuration::default())
    }

    /// Scans within a time that only a hang or something quadratic exceeds.
    fn scan(&self) -> Listing {
        let started = Instant::now();
        let listing = self.catalog().scan();
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
        listing
    }
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.abilities.iter().map(|entry| &*entry.name).collect()
}

/// Returns every message about an ability or another file.
fn messages(listing: &Listing) -> String {
    let own = listing.abilities.iter().flat_map(|entry| &entry.problems);
    let others = listing.others.iter().flat_map(|file| &file.problems);
    own.chain(others).map(|problem| problem.message.clone() + "\n").collect()
}

#[test]
fn links_that_lead_in_circles_end() {
    let project = Project::new();
    let root = project.abilities();
    project.write("real/deep/ability.yaml", GOOD);
    symlink(".", root.join("here")).unwrap();
    symlink("..", root.join("real/up")).unwrap();
    symlink("../..", root.join("real/deep/project")).unwrap();
    symlink("itself", root.join("itself")).unwrap();
    symlink("pong", root.join("ping")).unwrap();
    symlink("ping", root.join("pong")).unwrap();
    symlink("real", root.join("again")).unwrap();
    symlink("/", root.join("everything")).unwrap();
    let listing = project.scan();
    assert_eq!(names(&listing), ["real/deep"], "each ability once, by its own name");
    assert_eq!(messages(&listing), "");
}

#[test]
fn links_that_lead_out_are_followed_once() {
    let project = Project::new();
    let shared = project.0.path().join("shared");
    fs::create_dir_all(shared.join("team")).unwrap();
    fs::write(shared.join("team/one.yaml"), GOOD).unwrap();
    fs::write(project.0.path().join("single.yaml"), GOOD).unwrap();
    symlink(&shared, shared.join("team/loop")).unwrap();
    symlink(&shared, project.abilities().join("a")).unwrap();
    symlink(&shared, project.abilities().join("b")).unwrap();
    symlink("../../single.yaml", project.abilities().join("linked.yaml")).unwrap();
    symlink("../../absent.yaml", project.abilities().join("dangling.yaml")).unwrap();
    symlink("../../absent", project.abilities().join("dangling")).unwrap();
    assert_eq!(names(&project.scan()), ["a/team/one", "linked"]);
}

#[test]
fn a_hundred_thousand_unrelated_files_do_not_matter() {
    let project = Project::new();
    project.write("one.yaml", GOOD);
    for number in 0..100_000 {
        File::create(project.abilities().join(format!("{number}.txt"))).unwrap();
    }
    let listing = project.scan();
    assert_eq!((names(&listing), messages(&listing)), (vec!["one"], String::new()));
}

#[test]
fn more_candidates_than_anybody_has_are_cut_off_and_that_is_said() {
    let project = Project::new();
    for number in 0..25_000 {
        fs::write(project.abilities().join(format!("{number:05}.yaml")), "kind: Service\n").unwrap();
    }
    project.write("00000.yaml", GOOD);
    let listing = project.scan();
    assert_eq!(names(&listing), ["00000"]);
    assert!(
        messages(&listing).contains(&format!("more than {MOST_ENTRIES} files")),
        "{}",
        messages(&listing)
    );
}

#[test]
fn folders_below_folders_end_at_a_depth() {
    let project = Project::new();
    let deep: PathBuf = std::iter::repeat_n("d", 200).collect();
    project.write(deep.join("ability.yaml"), GOOD);
    project.write("d/d/ability.yaml", GOOD);
    let listing = project.scan();
    assert_eq!(names(&listing), ["d/d"]);
    assert!(messages(&listing).contains("more than 8 levels deep"), "{}", messages(&listing));
}

#[test]
fn pipes_sockets_and_devices_are_not_opened() {
    let project = Project::new();
    for name in ["pipe", "socket", "device"] {
        fs::create_dir_all(project.abilities().join(name)).unwrap();
    }
    let pipe = project.abilities().join("pipe/ability.yaml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    symlink(&pipe, project.abilities().join("to-pipe.yaml")).unwrap();
    let socket = UnixListener::bind(project.abilities().join("socket/ability.yaml")).unwrap();
    symlink("/dev/zero", project.abilities().join("device/ability.yaml")).unwrap();
    project.write("one.yaml", GOOD);
    assert_eq!(names(&project.scan()), ["one"]);
    drop(socket);
}

#[test]
fn files_may_come_and_go_while_they_are_looked_at() {
    let project = Project::new();
    project.write("stays.yaml", GOOD);
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !ended.load(Ordering::Relaxed) {
                number += 1;
                let folder = project.abilities().join(format!("f{}", number % 7));
                let _ = fs::create_dir(&folder);
                let _ = fs::write(folder.join("ability.yaml"), GOOD);
                let _ = fs::write(folder.join("other.yaml"), &GOOD[..number % GOOD.len()]);
                let _ = fs::remove_dir_all(project.abilities().join(format!("f{}", (number + 3) % 7)));
            }
        });
        let mut catalog = project.catalog();
        for _ in 0..200 {
            let listing = catalog.scan();
            let stays = listing.abilities.iter().find(|entry| &*entry.name == "stays").unwrap();
            assert_eq!(stays.status(), Status::Usable);
        }
        ended.store(true, Ordering::Relaxed);
    });
    assert_eq!(names(&project.scan()).last(), Some(&"stays"));
}

#[test]
fn a_second_scan_sees_every_change() {
    let project = Project::new();
    project.write("one.yaml", GOOD);
    let mut catalog = project.catalog();
    assert_eq!(names(&catalog.scan()), ["one"]);
    project.write("two.yaml", GOOD);
    assert_eq!(names(&catalog.scan()), ["one", "two"]);
    project.write("two.yaml", "description: x\nsteps: []\n");
    assert_eq!(catalog.scan().abilities[1].status(), Status::Broken);
    project.write("two.yaml", "no: ability\n");
    assert_eq!(names(&catalog.scan()), ["one"]);
    fs::remove_file(project.abilities().join("one.yaml")).unwrap();
    assert_eq!(names(&catalog.scan()), [""; 0]);
}

#[test]
fn names_that_are_not_text_are_passed_over() {
    let project = Project::new();
    project.write("one.yaml", GOOD);
    project.write(std::ffi::OsStr::from_bytes(b"caf\xe9.yaml"), GOOD);
    project.write(Path::new(std::ffi::OsStr::from_bytes(b"\xff\xfe")).join("ability.yaml"), GOOD);
    assert_eq!(names(&project.scan()), ["one"]);
}

#[test]
fn files_too_large_to_be_definitions_are_reported_when_they_are_meant_as_one() {
    let project = Project::new();
    for (name, start) in [("named/ability.yaml", "data: 1\n"), ("meant.yaml", GOOD), ("data.yaml", "rows:\n")]
    {
        project.write(name, start);
        let file = File::options().append(true).open(project.abilities().join(name)).unwrap();
        // A hole: it has no blocks on the disk, and reads as NUL bytes.
        file.set_len(50 << 20).unwrap();
    }
    let listing = project.scan();
    assert_eq!(names(&listing), ["meant", "named"]);
    assert!(listing.abilities.iter().all(|entry| entry.status() == Status::Broken));
    assert!(messages(&listing).contains("the file has 52428800 bytes"), "{}", messages(&listing));
}

#[test]
fn what_is_not_text_is_reported() {
    let project = Project::new();
    let wide = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{GOOD}").encode_utf16().flat_map(order).collect()
    };
    project.write("little.yaml", wide(u16::to_le_bytes));
    project.write("big.yaml", wide(u16::to_be_bytes));
    project.write("nul.yaml", GOOD.replace("ls", "l\0s"));
    project.write("zeros.yaml", vec![0; 4096]);
    project.write("noise.yaml", (0..=255).collect::<Vec<u8>>());
    let listing = project.scan();
    assert_eq!(names(&listing), ["big", "little", "noise", "nul", "zeros"]);
    assert!(listing.abilities.iter().all(|entry| entry.status() == Status::Broken));
}

#[test]
fn a_folder_that_may_not_be_read_is_reported() {
    use std::os::unix::fs::PermissionsExt as _;
    let project = Project::new();
    project.write("one.yaml", GOOD);
    project.write("closed/two.yaml", GOOD);
    let closed = project.abilities().join("closed");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let readable = fs::read_dir(&closed).is_ok(); // root may read everything
    let listing = project.scan();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    if !readable {
        assert_eq!(names(&listing), ["one"]);
        assert!(messages(&listing).contains("the folder cannot be read"), "{}", messages(&listing));
    }
}
