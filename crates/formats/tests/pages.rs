//! The pages of `abide explain` are true: what they say fails, fails with that code, and the rest passes.
//!
//! An example is a fenced block whose info string ends with `fails` or `passes`; the word before it is the
//! format (`config`, `agent`, `skill`), or nothing for an ability. An ability's example may leave out the `description` and
//! the `steps` that every ability needs; they are added here, so that a page shows only what it is about.

use abide_core::definition::check::{Call, References, Signature, World, workflows};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::skill::standard;
use abide_formats::{ability, agent, bundle, config, skill};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Codes whose failing example cannot be a file, and why.
const WITHOUT_EXAMPLE: &[(Code, &str)] = &[
    (Code::Unreadable, "about the disk"),
    (Code::ProjectWeb, "about whose file it is"),
    (Code::ProjectWebhook, "about whose file it is"),
    (Code::TooLarge, "the file would have 8 MB"),
    (Code::Encoding, "the file would not be text"),
    (Code::WorkflowTooDeep, "it takes nine files"),
    (Code::Shadowed, "about folders"),
    (Code::DuplicateAbility, "about folders"),
    (Code::ScanStopped, "about folders"),
    (Code::MissingFolder, "about folders"),
    (Code::BadOverride, "about the environment"),
    (Code::ProjectKey, "whose file it is, only the catalog knows"),
    (Code::SkillUnavailable, "about what there is"),
    (Code::SkillUntrusted, "whose file it is, only the catalog knows"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Promise {
    Fails,
    Passes,
}

#[derive(Debug)]
struct Example<'a> {
    format: &'a str,
    promise: Promise,
    text: String,
}

fn examples(code: Code) -> Vec<Example<'static>> {
    let mut found = Vec::new();
    let mut lines = code.page().lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let text: String =
            lines.by_ref().take_while(|line| *line != "```").flat_map(|line| [line, "\n"]).collect();
        let mut words = info.split(' ').skip(1);
        let (format, promise) = match (words.next(), words.next()) {
            (None, _) => continue,
            (Some(promise), None) => ("ability", promise),
            (Some(format), Some(promise)) => (format, promise),
        };
        let promise = match promise {
            "fails" => Promise::Fails,
            "passes" => Promise::Passes,
            other => panic!("{code}: `{other}` promises nothing"),
        };
        found.push(Example { format, promise, text });
    }
    found
}

/// Adds what every ability needs.
fn whole(example: &str) -> String {
    let has = |key: &str| example.lines().any(|line| line.starts_with(key));
    let description = if has("description:") { "" } else { "description: An example\n" };
    let steps = if has("steps:") { "" } else { "steps:\n  - id: only\n    run: make\n" };
    format!("{description}{example}{steps}")
}

/// What the examples may refer to.
fn world() -> World {
    let set = |names: &[&str]| names.iter().map(|name| Arc::from(*name)).collect();
    let signature = |source: &str| Some(Signature::of(&ability::read(&whole(source), "x").ability.unwrap()));
    World {
        agents: set(&["reviewer"]),
        skills: set(&["code-review"]),
        abilities: [
            ("deploy/production", signature("inputs:\n  version: { required: true }\n")),
            ("build", signature("")),
            ("release", signature("")),
            ("test", signature("")),
        ]
        .into_iter()
        .map(|(name, signature)| (Arc::from(name), signature))
        .collect(),
        secrets: set(&["deploy-token"]),
    }
}

/// Returns everything that is wrong with some examples, which may be about each other.
fn problems(examples: &[&Example<'_>]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut calls = Vec::new();
    for example in examples {
        match example.format {
            "ability" => {
                let reading = ability::read(&whole(&example.text), "example");
                problems.extend(reading.problems);
                let Some(ability) = reading.ability else { continue };
                let references = References::of(&ability);
                problems.extend(references.check(&world()));
                let from: Arc<str> = ability.name.as_str().into();
                calls.extend(references.workflows.iter().map(|step| Call {
                    file: Arc::clone(&from),
                    from: Arc::clone(&from),
                    to: step.workflow.as_str().into(),
                    span: step.workflow.span,
                }));
            }
            "agent" => problems.extend(agent::read(&example.text, "example").problems),
            "capability" => problems.extend(bundle::read(&example.text, "example").problems),
            "config" => problems.extend(config::read(&example.text).problems),
            "skill" => {
                let reading = skill::read(example.text.as_bytes());
                problems.extend(reading.problems);
                problems.extend(reading.skill.iter().flat_map(|skill| standard::check(skill, &skill.name)));
            }
            other => panic!("`{other}` is not a format"),
        }
    }
    problems.extend(workflows(&calls).into_iter().map(|(_, problem)| problem));
    problems
}

fn codes(problems: &[Diagnostic]) -> Vec<Code> {
    problems.iter().map(|problem| problem.code).collect::<BTreeSet<_>>().into_iter().collect()
}

#[test]
fn a_failing_example_fails_with_the_code_of_its_page_and_no_other() {
    for code in Code::ALL {
        let examples = examples(*code);
        let failing: Vec<&Example<'_>> =
            examples.iter().filter(|example| example.promise == Promise::Fails).collect();
        let expected_to_have_none = WITHOUT_EXAMPLE.iter().any(|(without, _)| without == code);
        assert_eq!(failing.is_empty(), expected_to_have_none, "{code}: an example, or a reason to have none");
        if failing.is_empty() {
            continue;
        }
        let found = problems(&failing);
        assert_eq!(codes(&found), [*code], "{code}\n{found:#?}");
    }
}

#[test]
fn a_corrected_example_has_no_problem_at_all() {
    for code in Code::ALL {
        for example in examples(*code).iter().filter(|example| example.promise == Promise::Passes) {
            let found = problems(&[example]);
            assert!(found.is_empty(), "{code}\n{}\n{found:#?}", example.text);
        }
    }
}

#[test]
fn a_page_that_shows_how_to_fail_shows_how_to_pass() {
    for code in Code::ALL {
        let examples = examples(*code);
        let has = |promise| examples.iter().any(|example| example.promise == promise);
        assert!(!has(Promise::Fails) || has(Promise::Passes), "{code}");
        assert!(code.page().contains("```"), "{code} has neither an example nor a command");
    }
}
