//! What was packed, and what is damaged.

use super::*;
use crate::index::Restricted;
use std::ffi::OsStr;
use std::io::Write as _;

fn kept(bytes: &[u8]) -> Kept<'_> {
    Kept::Bytes(bytes.into())
}

fn index() -> Index {
    let call = |pattern: &str, file: &str| ReservedCall {
        ability: "deploy".into(),
        pattern: pattern.into(),
        file: file.into(),
        root: "/p".into(),
        standing: if pattern.starts_with("Bash") { Standing::Current } else { Standing::Gone },
    };
    Index {
        version: "1".into(),
        level: Some("strict".into()),
        reserved: vec![call("Bash(./deploy.sh *)", "/p/a.yaml"), call("mcp__x", "/p/b.yaml")],
        guarded: vec![
            GuardedPath { path: "/p/a.yaml".into(), role: GuardedRole::Reservation },
            GuardedPath { path: OsStr::from_bytes(b"/p/\xff").into(), role: GuardedRole::State },
            GuardedPath { path: "/p/d".into(), role: GuardedRole::Definition },
            GuardedPath { path: "/p/.claude".into(), role: GuardedRole::Settings },
        ],
        restricted: vec![Restricted { ability: "wipe".into(), agents: vec!["root".into()] }],
        agents: vec![("ada".into(), vec!["deploy".into(), "wipe".into()]), ("bob".into(), Vec::new())],
        stopped: Some("too many files".into()),
    }
}

fn label() -> Label {
    Label { version: "1".into(), triggers: "t".into(), written: "w".into() }
}

#[test]
fn what_was_packed_is_unpacked() {
    let bytes = pack(&label(), &index());
    assert_eq!(unpack(&bytes), Some((label(), index())));
    let (read, known) = known(&kept(&bytes), &Sought::everything()).unwrap();
    assert_eq!(read, label());
    let patterns: Vec<String> = known.reserved.iter().map(|one| one.pattern.to_string()).collect();
    assert_eq!(patterns, ["Bash(./deploy.sh *)", "mcp__x"]);
    let paths: Vec<&str> = known.guarded.iter().map(|one| one.path.as_str()).collect();
    assert_eq!(paths, ["/p/a.yaml", "/p/\u{fffd}", "/p/d", "/p/.claude"]);
    assert_eq!((known.restricted, known.agents), (index().restricted, index().agents));
}

#[test]
fn no_part_of_it_is_taken_for_the_whole_and_no_damage_is_believed_to_hold_less() {
    let bytes = pack(&label(), &index());
    for end in 0..bytes.len() {
        assert!(
            known(&kept(&bytes[..end]), &Sought::everything()).is_none() && unpack(&bytes[..end]).is_none(),
            "{end}"
        );
    }
    for at in 0..bytes.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            // A letter may be another letter; nothing may be lost, and nothing may panic.
            if let Some((_, known)) = known(&kept(&damaged), &Sought::everything()) {
                assert_eq!((known.reserved.len(), known.guarded.len()), (2, 4), "{at}: {value}");
            }
            let _ = unpack(&damaged);
        }
    }
    let mut bad = index();
    bad.reserved[0].pattern = "Bash(".into();
    assert!(known(&kept(&pack(&label(), &bad)), &Sought::nothing()).is_none(), "a pattern that is none");
}

fn bash(command: &str) -> Sought {
    use abide_core::policy::{Client, NoLinks, Place, ToolCall};
    let arguments = abide_core::value::Value::Map(vec![(
        "command".to_owned(),
        abide_core::value::Value::Text(command.to_owned()),
    )]);
    let place = Place { root: "/p".to_owned(), cwd: "/p".to_owned(), home: None };
    Sought::by(&ToolCall::read(Client::ClaudeCode, "Bash", &arguments), &place, &NoLinks)
}

/// An index of many reservations and folders.
fn large(count: usize) -> Index {
    let mut index = index();
    for number in 0..count {
        index.reserved.push(ReservedCall {
            ability: format!("a{number}"),
            pattern: format!("Bash(./run-{number}.sh *)"),
            file: format!("/p/{number}.yaml").into(),
            root: "/p/packages".into(),
            standing: STANDINGS[number % 3],
        });
        let path = format!("/p/folder-{}/{number}.yaml", number % 50);
        index.guarded.push(GuardedPath { path: path.into(), role: GuardedRole::Reservation });
    }
    index
}

#[test]
fn what_is_sought_is_found_in_a_file_and_little_else_is_read() {
    let bytes = pack(&label(), &large(500));
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    for (command, wanted, paths) in [
        ("run-7.sh now", Some("Bash(./run-7.sh *)"), 0),
        ("run-499.sh", Some("Bash(./run-499.sh *)"), 0),
        ("run-500.sh", None, 0),
        ("touch folder-3/3.yaml", None, 10),
        ("rm -rf folder-3 folder-4", None, 20),
    ] {
        let kept = Kept::in_file(&file, bytes.len() as u64, false).unwrap();
        let (read, known) = known(&kept, &bash(command)).unwrap();
        assert_eq!(read, label());
        let found: Vec<String> = known.reserved.iter().map(|one| one.pattern.to_string()).collect();
        assert!(
            wanted.is_none_or(|wanted| found.iter().any(|found| found == wanted)),
            "{command}: {found:?}"
        );
        assert!(found.len() < 12, "{command}: {found:?}");
        let guarded = known.guarded.iter().filter(|one| one.path.starts_with("/p/folder-")).count();
        assert_eq!(guarded, paths, "{command}");
    }
    let kept = Kept::in_file(&file, bytes.len() as u64, true).unwrap();
    let (_, all) = known(&kept, &Sought::everything()).unwrap();
    let order: Vec<String> = all.reserved.iter().map(|one| one.pattern.to_string()).collect();
    assert_eq!(order, large(500).reserved.iter().map(|one| one.pattern.clone()).collect::<Vec<_>>());
    assert_eq!(all.guarded.len(), large(500).guarded.len());
    assert_eq!(unpack(&bytes), Some((label(), large(500))));
}

#[test]
fn a_part_that_is_damaged_is_not_believed_to_hold_less() {
    let bytes = pack(&label(), &large(60));
    let sought = bash("run-7.sh; touch folder-3/x");
    let (_, whole) = known(&kept(&bytes), &sought).unwrap();
    let mut noticed = 0;
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x55;
        match known(&kept(&damaged), &sought) {
            None => noticed += 1,
            Some((_, known)) => assert_eq!(known, whole, "{at}"),
        }
    }
    assert!(noticed > 200, "{noticed}");
}
