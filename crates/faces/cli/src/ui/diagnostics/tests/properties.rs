//! Any text, any place: never a panic, never a character that a terminal obeys.

use crate::ui::diagnostics::{FileReport, render_terminal, to_json, to_sarif};
use crate::ui::{Style, visible};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::source::Span;
use proptest::prelude::*;

/// Texts of pieces that have broken such code before.
fn hostile() -> impl Strategy<Value = String> {
    let pieces = vec![
        "a",
        "key: ",
        " ",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "漢",
        "e\u{301}",
        "\u{301}",
        "🎉",
        "👩‍👧",
        "\u{202e}",
        "\u{1b}[31m",
        "\u{1b}]0;x\u{7}",
        "\u{0}",
        "\u{7f}",
        "\u{85}",
        "\u{9b}",
        "\u{200b}",
        "\u{feff}",
        "\u{2028}",
        "\u{e0041}",
        "ﷺ",
    ];
    let piece = prop_oneof![
        4 => prop::sample::select(pieces).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-z ]{20,200}",
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

fn span() -> impl Strategy<Value = Span> {
    prop_oneof![
        8 => (0_u32..400, 0_u32..400).prop_map(|(start, end)| Span { start, end }),
        1 => any::<(u32, u32)>().prop_map(|(start, end)| Span { start, end }),
    ]
}

fn problem() -> impl Strategy<Value = Diagnostic> {
    let place = (prop::option::of(Just("other.yaml")), span(), hostile());
    (
        prop::sample::select(Code::ALL),
        prop::option::of(span()),
        (hostile(), prop::option::of(hostile()), prop::option::of(hostile())),
        prop::collection::vec(place, 0..4),
        prop::option::of((span(), hostile())),
    )
        .prop_map(|(code, at, (message, label, help), related, fix)| {
            let mut problem = Diagnostic { at, label, help, ..Diagnostic::whole_file(code, message) };
            for (file, at, text) in related {
                problem = match file {
                    Some(file) => problem.related_in(file.into(), at, text),
                    None => problem.related(at, text),
                };
            }
            match fix {
                Some((at, text)) => problem.fix(at, text),
                None => problem,
            }
        })
}

fn unseen(text: &str) -> Option<char> {
    text.chars().find(|character| *character != '\n' && visible::is_unseen(*character))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_problem_of_any_text_is_shown_harmlessly(
        path in hostile(),
        source in prop::option::of(hostile()),
        other in prop::option::of(hostile()),
        problems in prop::collection::vec(problem(), 0..4),
        unicode in any::<bool>(),
        width in 0_usize..120,
    ) {
        let report = FileReport { path: &path, source: source.as_deref(), problems: &problems };
        let sources = |_: &str| other.clone();
        let plain = Style { colour: false, unicode, width };
        let shown = render_terminal(&report, plain, &sources);
        prop_assert_eq!(unseen(&shown), None, "{}", shown);
        let mut coloured = render_terminal(&report, Style { colour: true, ..plain }, &sources);
        for code in ["0", "1", "1;31", "1;33", "1;34"] {
            coloured = coloured.replace(&format!("\u{1b}[{code}m"), "");
        }
        prop_assert_eq!(unseen(&coloured), None, "{}", coloured);
        for document in [to_json(&[report], &sources), to_sarif(&[report], &sources)] {
            prop_assert_eq!(unseen(&document), None, "{}", document);
            prop_assert!(serde_json::from_str::<serde_json::Value>(&document).is_ok());
        }
    }

    #[test]
    fn code_is_cut_to_the_width_that_there_is(source in hostile(), at in span(), width in 30_usize..120) {
        let problems = [Diagnostic::new(Code::WrongType, at, "")];
        let report = FileReport { path: "", source: Some(&source), problems: &problems };
        let shown = render_terminal(&report, Style { width, ..Style::plain() }, &|_| None);
        for row in shown.lines().filter(|row| row.contains('│')) {
            // A caret may stand one past the end of a line.
            prop_assert!(unicode_width::UnicodeWidthStr::width(row) <= width + 1, "{row}");
        }
    }
}
