//! The look of a problem in a terminal.

use super::{RELEASE, find, no_sources, report, unknown_need};
use crate::ui::Style;
use crate::ui::diagnostics::{FileReport, render_terminal, summary};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::source::Span;
use insta::assert_snapshot;

fn render(source: &str, problems: &[Diagnostic]) -> String {
    render_terminal(&report(source, problems), Style::plain(), &no_sources)
}

/// Shows a problem at one place, with the label `here`.
fn at(source: &str, at: Span) -> String {
    render(source, &[Diagnostic::new(Code::WrongType, at, "wrong").label("here")])
}

#[test]
fn a_problem_shows_its_line_its_place_and_what_to_do() {
    assert_snapshot!(render(RELEASE, &[unknown_need()]), @"
    error[E0302]: step `deploy` needs `aprove`, which is not a step
      ┌─ release.yaml:7:13
     7│     needs: [aprove]
      │             ^^^^^^ did you mean `approve`?
      = `needs` names steps of the same ability by their `id`
    ");
}

#[test]
fn a_related_place_has_its_own_line_in_the_order_of_the_file() {
    let source = "steps:\n  - id: build\n    run: make\n  - id: build\n    run: make all\n";
    let problem =
        Diagnostic::new(Code::DuplicateStep, find(source, "build", 1), "a step `build` exists already")
            .related(find(source, "build", 0), "the first one")
            .help("give this step an id of its own");
    assert_snapshot!(render(source, &[problem]), @"
    error[E0301]: a step `build` exists already
      ┌─ release.yaml:4:9
     2│   - id: build
      │         ----- the first one
      ·
     4│   - id: build
      │         ^^^^^
      = give this step an id of its own
    ");
}

#[test]
fn places_on_one_line_share_it() {
    let source = "inputs: { a: { min: 9, max: 1 } }\n";
    let problem =
        Diagnostic::new(Code::ImpossibleRule, find(source, "1", 0), "no number is at least 9 and at most 1")
            .related(find(source, "9", 0), "the lower bound");
    assert_snapshot!(render(source, &[problem]), @"
    error[E0403]: no number is at least 9 and at most 1
      ┌─ release.yaml:1:29
     1│ inputs: { a: { min: 9, max: 1 } }
      │                             ^
      │                     - the lower bound
    ");
}

#[test]
fn a_place_in_another_file_has_its_own_header() {
    let problem =
        Diagnostic::new(Code::WorkflowCycle, Span::new(10, 14), "these abilities call each other: a → b → a")
            .label("`a` calls `b`")
            .related_in("b.yaml".into(), Span::new(21, 22), "`b` calls `a`")
            .related_in("gone.yaml".into(), Span::new(3, 4), "`gone` calls it too");
    let sources = |path: &str| (path == "b.yaml").then(|| "steps:\n  - workflow: a\n".to_owned());
    let shown = render_terminal(&report("workflow: b/it\n", &[problem]), Style::plain(), &sources);
    assert_snapshot!(shown, @"
    error[E0604]: these abilities call each other: a → b → a
      ┌─ release.yaml:1:11
     1│ workflow: b/it
      │           ^^^^ `a` calls `b`
      ┌─ b.yaml:2:15
     2│   - workflow: a
      │               - `b` calls `a`
      ┌─ gone.yaml
      = `gone` calls it too
    ");
}

#[test]
fn problems_are_apart_and_their_line_numbers_align() {
    let source = "a\n".repeat(120);
    let problems = [
        Diagnostic::new(Code::UselessKey, Span::new(4, 5), "first"),
        Diagnostic::new(Code::WrongType, Span::new(200, 201), "second"),
    ];
    assert_snapshot!(render(&source, &problems), @"
    warning[W0215]: first
       ┌─ release.yaml:3:1
      3│ a
       │ ^

    error[E0202]: second
       ┌─ release.yaml:101:1
    101│ a
       │ ^
    ");
}

#[test]
fn a_problem_of_the_whole_file_has_no_line() {
    let problem =
        Diagnostic::whole_file(Code::Encoding, "the file is encoded as UTF-16").help("save it as UTF-8");
    let unread = FileReport { path: "a b.yaml", source: None, problems: std::slice::from_ref(&problem) };
    assert_snapshot!(render_terminal(&unread, Style::plain(), &no_sources), @"
    error[E0103]: the file is encoded as UTF-16
      ┌─ a b.yaml
      = save it as UTF-8
    ");
    // A place without its text cannot be shown, but its label can.
    let problem = unknown_need();
    let unread = FileReport { path: "a.yaml", source: None, problems: std::slice::from_ref(&problem) };
    assert_snapshot!(render_terminal(&unread, Style::plain(), &no_sources), @"
    error[E0302]: step `deploy` needs `aprove`, which is not a step
      ┌─ a.yaml
      = did you mean `approve`?
      = `needs` names steps of the same ability by their `id`
    ");
}

#[test]
fn several_lines_are_marked_by_the_first() {
    let source = "run: |  \n  one\n  two\n";
    assert_snapshot!(at(source, Span::new(5, 17)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:6
     1│ run: |
      │      ^ here
    ");
}

#[test]
fn wide_characters_and_accents_are_counted_in_columns() {
    let source = "key: 漢字 e\u{301}te 🎉 x\n";
    // The snapshots have the accent as one character, so that they can be read.
    let at = |place| at(source, place).replace("e\u{301}", "é");
    assert_snapshot!(at(find(source, "e\u{301}te", 0)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:9
     1│ key: 漢字 éte 🎉 x
      │           ^^^ here
    ");
    assert_snapshot!(at(find(source, "漢字", 0)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:6
     1│ key: 漢字 éte 🎉 x
      │      ^^^^ here
    ");
    assert_snapshot!(at(find(source, "x", 0)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:16
     1│ key: 漢字 éte 🎉 x
      │                  ^ here
    ");
}

#[test]
fn tabs_are_expanded() {
    assert_snapshot!(at("\tkey:\tvalue\n", Span::new(6, 11)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:7
     1│     key:    value
      │             ^^^^^ here
    ");
}

#[test]
fn carriage_returns_end_lines_and_are_not_shown() {
    let source = "a: 1\r\nbad: 2\r\nc: 3\r\n";
    assert_snapshot!(at(source, find(source, "bad: 2\r\n", 0)), @"
    error[E0202]: wrong
      ┌─ release.yaml:2:1
     2│ bad: 2
      │ ^^^^^^ here
    ");
}

#[test]
fn empty_spans_and_the_end_of_the_file_get_a_caret() {
    assert_snapshot!(at("key:\n", Span::at(4)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:5
     1│ key:
      │     ^ here
    ");
    assert_snapshot!(at("key:\n", Span::at(5)), @"
    error[E0202]: wrong
      ┌─ release.yaml:2:1
     2│
      │ ^ here
    ");
    assert_snapshot!(at("", Span::at(0)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:1
     1│
      │ ^ here
    ");
    assert_snapshot!(at("key", Span::new(900, 1_000)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:4
     1│ key
      │    ^ here
    ");
}

#[test]
fn a_span_inside_a_character_takes_all_of_it() {
    assert_snapshot!(at("漢字", Span::new(1, 4)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:1
     1│ 漢字
      │ ^^^^ here
    ");
}

#[test]
fn a_long_line_is_cut_around_its_place() {
    let before = "word ".repeat(40);
    let source = format!("{before}HERE{}", " tail".repeat(40));
    assert_snapshot!(at(&source, find(&source, "HERE", 0)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:201
     1│ …word word word word word word word word word word word word HERE tail tail tail tail tail tail…
      │                                                              ^^^^ here
    ");
    let source = format!("HERE{}", " tail".repeat(40));
    assert_snapshot!(at(&source, find(&source, "HERE", 0)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:1
     1│ HERE tail tail tail tail tail tail tail tail tail tail tail tail tail tail tail tail tail tail…
      │ ^^^^ here
    ");
    let source = format!("{before}HERE");
    assert_snapshot!(at(&source, find(&source, "HERE", 0)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:201
     1│ …word word word word word word word word word word word word word word word word word word HERE
      │                                                                                            ^^^^ here
    ");
    let source = format!("key: {}", "x".repeat(400));
    assert_snapshot!(at(&source, Span::new(5, 405)), @"
    error[E0202]: wrong
      ┌─ release.yaml:1:6
     1│ key: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
      │      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ here
    ");
}

#[test]
fn what_a_terminal_would_obey_is_shown_instead() {
    let source = "name: \u{1b}[2J\u{1b}]0;owned\u{7}x\u{202e}evil\u{202c}\u{0}\n";
    let problem =
        Diagnostic::new(Code::BadName, Span::new(6, 10), "the name `\u{1b}[2J\n\u{9b}31m` is not a name")
            .label("\u{202e}here")
            .help("try\r`\u{200b}`");
    let hostile = FileReport { path: "a\u{1b}[1m.yaml", source: Some(source), problems: &[problem] };
    assert_snapshot!(render_terminal(&hostile, Style::plain(), &no_sources), @"
    error[E0205]: the name `␛[2J␊<U+009B>31m` is not a name
      ┌─ a␛[1m.yaml:1:7
     1│ name: ␛[2J␛]0;owned␇x<U+202E>evil<U+202C>␀
      │       ^^^^ <U+202E>here
      = try␍`<U+200B>`
    ");
    let ascii = Style { unicode: false, ..Style::plain() };
    assert_snapshot!(render_terminal(&hostile, ascii, &no_sources), @r"
    error[E0205]: the name `\x1b[2J\x0a<U+009B>31m` is not a name
      --> a\x1b[1m.yaml:1:7
     1| name: \x1b[2J\x1b]0;owned\x07x<U+202E>evil<U+202C>\x00
      |       ^^^^^^^ <U+202E>here
      = try\x0d`<U+200B>`
    ");
}

#[test]
fn an_endless_message_ends() {
    let shown = render("a", &[Diagnostic::new(Code::BadName, Span::new(0, 1), "x".repeat(100_000))]);
    assert!(shown.len() < 700, "{}", shown.len());
}

#[test]
fn colours_are_used_only_when_asked_for() {
    let colour = Style { colour: true, ..Style::plain() };
    let shown = render_terminal(&report(RELEASE, &[unknown_need()]), colour, &no_sources);
    assert_snapshot!(shown.replace('\u{1b}', "ESC"), @"
    ESC[1;31merror[E0302]ESC[0mESC[1m: step `deploy` needs `aprove`, which is not a stepESC[0m
    ESC[1;34m  ┌─ ESC[0mrelease.yaml:7:13
    ESC[1;34m 7│ ESC[0m    needs: [aprove]
    ESC[1;34m  │ ESC[0m            ESC[1;31m^^^^^^ did you mean `approve`?ESC[0m
    ESC[1;34m  = ESC[0m`needs` names steps of the same ability by their `id`
    ");
}

#[test]
fn ascii_terminals_get_ascii_frames() {
    let source = "steps:\n  - id: build\n    run: make\n  - id: build\n";
    let problem =
        Diagnostic::new(Code::DuplicateStep, find(source, "build", 1), "a step `build` exists already")
            .related(find(source, "build", 0), "the first one");
    let ascii = Style { unicode: false, ..Style::plain() };
    assert_snapshot!(render_terminal(&report(source, &[problem]), ascii, &no_sources), @"
    error[E0301]: a step `build` exists already
      --> release.yaml:4:9
     2|   - id: build
      |         ----- the first one
      .
     4|   - id: build
      |         ^^^^^
    ");
}

#[test]
fn the_summary_counts_what_there_is() {
    let error = || Diagnostic::whole_file(Code::Encoding, "no");
    let warning = || Diagnostic::whole_file(Code::Shadowed, "hm");
    let many = [error(), error(), warning()];
    let one = [error()];
    let hint = [warning()];
    let file = |problems| FileReport { path: "a", source: None, problems };
    for (reports, expected) in [
        (vec![file(&many), file(&one), file(&[])], "3 errors and 1 warning in 2 files"),
        (vec![file(&one)], "1 error in 1 file"),
        (vec![file(&hint), file(&hint)], "2 warnings in 2 files"),
        (vec![file(&[]), file(&[])], "no problems in 2 files"),
        (vec![], "no problems in 0 files"),
    ] {
        assert_eq!(summary(&reports), expected);
    }
}
