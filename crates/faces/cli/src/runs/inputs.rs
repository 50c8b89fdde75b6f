//! The inputs of a run, from wherever they are given.
#![expect(clippy::disallowed_methods, reason = "`--inputs` names a file to read")]

use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::definition::Input;
use abide_core::run::Run;
use abide_core::value::Value;

/// An input that something takes.
pub(crate) struct Taken<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether it takes text.
    pub is_text: bool,
}

/// Reads `-i name=value`, `--inputs FILE` and `ABIDE_INPUT_<NAME>`; what stands first here wins.
pub(crate) fn given(
    session: &Session<'_>,
    pairs: &[String],
    file: Option<&std::path::Path>,
    taken: &[Taken<'_>],
) -> Result<Vec<(String, Value)>, Failure> {
    let mut inputs = Vec::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(Failure::new(Exit::Usage, format!("`{pair}` is not of the form name=value")));
        };
        if inputs.iter().any(|(known, _)| known == name) {
            return Err(Failure::new(Exit::Usage, format!("the input `{name}` is given twice")));
        }
        inputs.push((name.to_owned(), Value::Text(value.to_owned())));
    }
    if let Some(file) = file {
        merge(&mut inputs, from_file(session, file, taken)?);
    }
    for Taken { name, .. } in taken {
        let variable = Input::variable_of(name);
        if let Some(value) = session.surroundings.variable(&variable) {
            merge(&mut inputs, vec![((*name).to_owned(), Value::Text(value))]);
        }
    }
    Ok(inputs)
}

/// Reads the secret inputs of a run that exists: from `-i name=value` and `ABIDE_INPUT_<NAME>`.
pub(crate) fn secrets_given(
    session: &Session<'_>,
    run: &Run,
    pairs: &[String],
) -> Result<Vec<(String, Value)>, Failure> {
    let secret = run.ability.inputs.iter().filter(|input| input.is_secret());
    let taken: Vec<Taken<'_>> =
        secret.map(|input| Taken { name: input.name.as_str(), is_text: true }).collect();
    given(session, pairs, None, &taken)
}

/// Adds inputs that are not given yet.
fn merge(inputs: &mut Vec<(String, Value)>, more: Vec<(String, Value)>) {
    for (name, value) in more {
        if !inputs.iter().any(|(known, _)| *known == name) {
            inputs.push((name, value));
        }
    }
}

fn from_file(
    session: &Session<'_>,
    file: &std::path::Path,
    taken: &[Taken<'_>],
) -> Result<Vec<(String, Value)>, Failure> {
    let path = session.place.start.join(file);
    let shown = file.display();
    let bytes = std::fs::read(&path)
        .map_err(|error| Failure::new(Exit::NotFound, format!("cannot read {shown}: {error}")))?;
    let wrong = |what: &str| Failure::new(Exit::Usage, format!("{shown}: {what}"));
    let text = abide_formats::text::decode(&bytes).map_err(|problem| wrong(&problem.message))?;
    // JSON is YAML too.
    let takes_text = |name: &str| taken.iter().any(|input| input.is_text && input.name == name);
    match abide_formats::yaml::entries(text, takes_text).map_err(|problem| wrong(&problem))? {
        Value::Map(entries) => Ok(entries),
        _ => Err(wrong("inputs are a mapping from names to values")),
    }
}
