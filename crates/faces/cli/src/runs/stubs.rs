//! What steps do in a dry run, read from a file.
#![expect(clippy::disallowed_methods, reason = "`--stubs` names a file to read")]

use crate::session::{Session, find};
use crate::{Exit, Failure};
use abide_core::definition::{Ability, StepKind};
use abide_core::diagnostic::nearest;
use abide_core::event::StepKey;
use abide_core::plan::{Stub, Stubs};
use abide_core::value::Value;
use std::path::Path;

const KEYS: &[&str] = &["exit_code", "stdout", "stderr", "json", "answer", "missing", "times_out"];

/// Reads stubs, or says everything that is wrong with them.
pub(crate) fn stubs(session: &Session<'_>, file: &Path, ability: &Ability) -> Result<Stubs, Failure> {
    let shown = file.display();
    let bytes = std::fs::read(session.place.start.join(file))
        .map_err(|error| Failure::new(Exit::NotFound, format!("cannot read {shown}: {error}")))?;
    let wrong = |what: &str| Failure::new(Exit::Usage, format!("{shown}: {what}"));
    let text = abide_formats::text::decode(&bytes).map_err(|problem| wrong(&problem.message))?;
    let data = abide_formats::yaml::data(text).map_err(|problem| wrong(&problem))?;
    let called = |name: &str| {
        let mut catalog = session.catalog();
        let listing = catalog.scan();
        let entry = find(&listing, name).ok()?;
        catalog.load(entry).ok().and_then(|(_, ability)| ability)
    };
    read(data, ability, &called).map_err(|problems| wrong(&problems.join("; ")))
}

/// Says what is wrong with the name of a stub: a step, or `step/…` for a step of the ability that it calls.
fn unknown(name: &str, ability: &Ability, called: &dyn Fn(&str) -> Option<Ability>) -> Option<String> {
    let (own, below) = name.split_once('/').map_or((name, None), |(own, below)| (own, Some(below)));
    let Some(step) = StepKey::parse(own).and_then(|key| ability.step(key.step.as_str())) else {
        let steps = ability.steps.iter().map(|step| step.id.as_str());
        let hint = nearest(own, steps).map(|near| format!("; did you mean `{near}`?"));
        return Some(format!("`{}` has no step `{own}`{}", ability.name.as_str(), hint.unwrap_or_default()));
    };
    match (below, &step.kind) {
        (None, _) => None,
        (Some(below), StepKind::Workflow(workflow)) => {
            unknown(below, &called(workflow.workflow.as_str())?, called)
        }
        (Some(_), _) => Some(format!("`{name}`: step `{own}` calls no ability")),
    }
}

fn read(
    data: Value,
    ability: &Ability,
    called: &dyn Fn(&str) -> Option<Ability>,
) -> Result<Stubs, Vec<String>> {
    let Value::Map(entries) = data else {
        return Err(vec!["stubs are a mapping from steps to what they do".to_owned()]);
    };
    let mut problems = Vec::new();
    let mut stubs = Vec::new();
    for (name, value) in entries {
        problems.extend(unknown(&name, ability, called));
        let attempts = match value {
            Value::List(attempts) if !attempts.is_empty() => attempts,
            one => vec![one],
        };
        let attempts = attempts.into_iter().map(|attempt| stub(&name, attempt, &mut problems)).collect();
        stubs.push((name, attempts));
    }
    if problems.is_empty() { Ok(stubs) } else { Err(problems) }
}

fn stub(step: &str, value: Value, problems: &mut Vec<String>) -> Stub {
    let mut stub = Stub::default();
    let Value::Map(fields) = value else {
        problems.push(format!("what `{step}` does is a mapping, or a list with one for each attempt"));
        return stub;
    };
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("exit_code", Value::Int(code)) if i32::try_from(code).is_ok() => {
                stub.exit_code = i32::try_from(code).ok();
            }
            ("stdout", Value::Text(text)) => stub.stdout = text,
            ("stderr", Value::Text(text)) => stub.stderr = text,
            ("json", json) => stub.json = Some(json),
            ("answer", Value::Text(answer)) => stub.answer = Some(answer.into()),
            ("missing", Value::Text(text)) => stub.missing.push(text),
            ("times_out", Value::Bool(flag)) => stub.times_out = flag,
            (known, value) if KEYS.contains(&known) => {
                problems.push(format!("`{known}` of `{step}` cannot be {}", value.kind()));
            }
            (unknown, _) => {
                let hint =
                    nearest(unknown, KEYS.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
                problems.push(format!("`{unknown}` of `{step}` is not known{}", hint.unwrap_or_default()));
            }
        }
    }
    stub
}
