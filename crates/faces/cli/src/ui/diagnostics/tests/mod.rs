//! What is shown for every kind of problem, and that nothing hostile gets through.

mod documents;
mod properties;
mod terminal;

use super::FileReport;
use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::source::Span;

const RELEASE: &str = "\
description: Releases a version
steps:
  - id: approve
    prompt: Release it?
  - id: deploy
    run: ./deploy.sh
    needs: [aprove]
";

/// Returns the place of the `nth` occurrence of `word`, from 0.
fn find(source: &str, word: &str, nth: usize) -> Span {
    let (start, _) = source.match_indices(word).nth(nth).unwrap();
    Span::new(start, start + word.len())
}

fn unknown_need() -> Diagnostic {
    Diagnostic::new(
        Code::UnknownNeed,
        find(RELEASE, "aprove", 0),
        "step `deploy` needs `aprove`, which is not a step",
    )
    .did_you_mean("aprove", ["approve", "deploy"])
    .help("`needs` names steps of the same ability by their `id`")
}

fn report<'a>(source: &'a str, problems: &'a [Diagnostic]) -> FileReport<'a> {
    FileReport { path: "release.yaml", source: Some(source), problems }
}

fn no_sources(_: &str) -> Option<String> {
    None
}
