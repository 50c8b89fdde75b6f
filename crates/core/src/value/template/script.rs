//! A template that is a script: its values go through the environment, whatever they hold.

use super::{Part, Template, as_text};
use crate::value::expression::Lookup;
use crate::value::shell::{self, Dialect, Piece};

/// Renders a script: each value becomes a variable, each placeholder a reference to it.
pub fn script(
    template: &Template,
    dialect: Dialect,
    lookup: &dyn Lookup,
) -> Result<(String, Vec<(String, String)>), String> {
    let mut values = Vec::new();
    let mut pieces = Vec::new();
    for part in template.parts() {
        match part {
            Part::Text(text) => pieces.push(Piece::Text(text)),
            Part::Placeholder(placeholder) => {
                let value = placeholder.evaluate(lookup).map_err(|error| error.to_string())?;
                pieces.push(Piece::Placeholder { raw: placeholder.raw });
                values.push((as_text(&value).into_owned(), placeholder.raw));
            }
        }
    }
    let name = |index: usize| format!("ABIDE_VALUE_{index}");
    let script =
        shell::render(&pieces, dialect, name, |index| values[index].0.clone()).map_err(|refusals| {
            refusals.iter().map(|refusal| refusal.why.to_string()).collect::<Vec<_>>().join("; ")
        })?;
    let variables = values
        .iter()
        .enumerate()
        .filter(|(_, (_, raw))| !raw)
        .map(|(index, (value, _))| (name(index), value.clone()));
    Ok((script, variables.collect()))
}
