//! That notes survive each other, their writers and their own number.

use super::*;

fn note(tool: &str) -> Note {
    Note {
        at: 5,
        answer: "denied".into(),
        tool: tool.into(),
        kind: "execute".into(),
        what: "./deploy.sh".into(),
        why: "it is reserved".into(),
        client: "claude".into(),
        session: "s".into(),
        sub_agent: None,
        project: "/p".into(),
    }
}

fn gate() -> (tempfile::TempDir, Gate) {
    let folder = tempfile::tempdir().unwrap();
    let gate = Gate::at(folder.path().join("gate"));
    (folder, gate)
}

fn tools(noted: &[(u64, NotedVerdict)]) -> Vec<&str> {
    let tool = |noted: &NotedVerdict| match noted {
        NotedVerdict::Given(given) => given.tool.clone(),
        NotedVerdict::Lost(why) => why.clone(),
    };
    noted.iter().map(|(_, noted)| &*tool(noted).leak()).collect()
}

#[test]
fn what_is_noted_is_read_once_from_where_one_was() {
    let (_folder, gate) = gate();
    assert_eq!(gate.noted("r1", 0).unwrap(), []);
    gate.note("r1", &note("a")).unwrap();
    gate.note("r1", &note("b")).unwrap();
    gate.note("r2", &note("other")).unwrap();
    let all = gate.noted("r1", 0).unwrap();
    assert_eq!(tools(&all), ["a", "b"]);
    let rest = gate.noted("r1", all[0].0).unwrap();
    assert_eq!(rest, all[1..], "positions do not depend on where one begins");
    assert_eq!(gate.noted("r1", all[1].0).unwrap(), []);
    assert_eq!(gate.noted("r1", 1_000_000).unwrap(), [], "a position behind the end");
}

#[test]
fn a_note_that_was_cut_off_spoils_no_other() {
    let (_folder, gate) = gate();
    gate.note("r", &note("a")).unwrap();
    let whole = line(&Line::Note(Box::new(note("cut"))));
    for cut in [1, 2, 40, whole.len() - 2, whole.len() - 1] {
        let (_folder, gate) = self::gate();
        gate.note("r", &note("a")).unwrap();
        appended(&gate.notes_file("r")).unwrap().write_all(&whole[..cut]).unwrap();
        assert_eq!(tools(&gate.noted("r", 0).unwrap()), ["a"], "nobody knows yet whether more comes ({cut})");
        gate.note("r", &note("b")).unwrap();
        let noted = gate.noted("r", 0).unwrap();
        let found = tools(&noted);
        assert_eq!((found[0], *found.last().unwrap()), ("a", "b"), "{cut}");
        match &found[1..found.len() - 1] {
            [] => assert_eq!(cut, 1, "nothing but a line end was written"),
            ["the note of a verdict was cut off"] => assert!(cut < whole.len() - 1),
            // Only the line end was missing, which the next one brought.
            ["cut"] => assert_eq!(cut, whole.len() - 1),
            other => panic!("{cut}: {other:?}"),
        }
    }
}

#[test]
fn many_that_note_at_once_do_not_mix() {
    let (_folder, gate) = gate();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let gate = &gate;
            scope.spawn(move || {
                for number in 0..50 {
                    gate.note("r", &note(&format!("{thread}-{number}"))).unwrap();
                    gate.note_outside(&note(&format!("{thread}-{number}"))).unwrap();
                }
            });
        }
    });
    let noted = gate.noted("r", 0).unwrap();
    let mut found = tools(&noted);
    found.sort_unstable();
    found.dedup();
    assert_eq!((noted.len(), found.len()), (400, 400));
    assert!(noted.is_sorted_by_key(|(until, _)| *until));
    assert_eq!(gate.noted_outside().unwrap().len(), 400);
}

#[test]
fn a_full_file_says_so_once_and_takes_no_more() {
    let (_folder, gate) = gate();
    let mut long = note("x");
    long.what = "y".repeat(10_000);
    let mut written = 0;
    while fs::metadata(gate.notes_file("r")).map_or(0, |metadata| metadata.len()) <= MOST {
        gate.note("r", &long).unwrap();
        written += 1;
        assert!(written < 10_000);
    }
    let size = fs::metadata(gate.notes_file("r")).unwrap().len();
    gate.note("r", &long).unwrap();
    // Another hook had looked at the length before it was full.
    appended(&gate.notes_file("r")).unwrap().write_all(&line(&Line::Note(Box::new(note("late"))))).unwrap();
    assert!(size < MOST + 2_000, "{size}");
    let noted = gate.noted("r", 0).unwrap();
    let found = tools(&noted);
    assert_eq!(found.len(), written, "all but the last, and the word that there are more");
    assert_eq!(found.last(), Some(&"more verdicts were given than are noted for one run"));
    assert_eq!(found.iter().filter(|tool| **tool == "x").count(), written - 1);
}

#[test]
fn a_note_is_short_whatever_is_asked() {
    let mut long = note(&"🦀".repeat(100_000));
    long.why = "\n\"".repeat(100_000);
    assert!(line(&Line::Note(Box::new(long.short()))).len() < 8_000);
}

#[test]
fn the_journal_keeps_the_newest_and_stays_bounded() {
    let (_folder, gate) = gate();
    let mut long = note("first");
    long.what = "y".repeat(400);
    gate.note_outside(&long).unwrap();
    for number in 0..6_000 {
        long.tool = format!("t{number}");
        gate.note_outside(&long).unwrap();
    }
    let noted = gate.noted_outside().unwrap();
    assert_eq!(noted.last().unwrap().tool, "t5999");
    assert!(noted.len() > 1_000 && noted.len() < 6_000, "{}", noted.len());
    let numbers: Vec<usize> = noted.iter().map(|note| note.tool[1..].parse().unwrap()).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "none in between is lost");
    let size = |path: &Path| fs::metadata(path).map_or(0, |metadata| metadata.len());
    assert!(size(&gate.journal()) <= MOST + 2_000 && size(&before(&gate.journal())) <= MOST + 2_000);
}

#[test]
fn notes_are_forgotten_when_they_are_in_the_log_and_nobody_writes() {
    let (_folder, gate) = gate();
    gate.note("r", &note("a")).unwrap();
    let until = gate.noted("r", 0).unwrap()[0].0;
    let age = |seconds: u64| {
        let file = File::options().append(true).open(gate.notes_file("r")).unwrap();
        file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(seconds)).unwrap();
    };
    gate.forget_notes("r", until);
    age(KEPT + 60);
    gate.forget_notes("r", 0);
    assert_eq!(gate.noted("r", 0).unwrap().len(), 1, "too new, or not taken in");
    gate.forget_notes("r", until);
    assert_eq!(gate.noted("r", 0).unwrap(), []);
}
