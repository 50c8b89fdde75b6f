//! What steps do in a dry run, read from a file.
#![expect(clippy::disallowed_methods, reason = "`--stubs` names a file to read")]

use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::definition::Ability;
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
    read(data, ability).map_err(|problems| wrong(&problems.join("; ")))
}

fn read(data: Value, ability: &Ability) -> Result<Stubs, Vec<String>> {
    let Value::Map(entries) = data else {
        return Err(vec!["stubs are a mapping from steps to what they do".to_owned()]);
    };
    let mut problems = Vec::new();
    let mut stubs = Vec::new();
    for (name, value) in entries {
        let known = StepKey::parse(&name).is_some_and(|key| ability.step(key.step.as_str()).is_some());
        if !known {
            let steps = ability.steps.iter().map(|step| step.id.as_str());
            let hint = nearest(&name, steps).map(|near| format!("; did you mean `{near}`?"));
            problems.push(format!("there is no step `{name}`{}", hint.unwrap_or_default()));
        }
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
