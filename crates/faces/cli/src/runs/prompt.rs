//! Inputs that are asked for on a terminal.

use crate::session::Session;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_core::definition::{Ability, Input};
use abide_core::value::Value;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

/// Asks for every required input that is not given.
pub(crate) fn ask_for_missing(
    session: &mut Session<'_>,
    ability: &Ability,
    inputs: &mut Vec<(String, Value)>,
) -> Result<(), Failure> {
    for input in ability.inputs.iter().filter(|input| input.must_be_given()) {
        let name = input.name.as_str();
        if inputs.iter().any(|(known, _)| known == name) {
            continue;
        }
        let about =
            input.description.as_ref().map(|about| format!(" ({})", about.trim())).unwrap_or_default();
        session.say(&format!("{name}{}: ", visible(&about, true)))?;
        let text = read_line(session, input)?;
        inputs.push((name.to_owned(), Value::Text(text)));
    }
    Ok(())
}

fn read_line(session: &mut Session<'_>, input: &Input) -> Result<String, Failure> {
    let failed = |what: String| Failure::new(Exit::System, format!("cannot read the terminal: {what}"));
    let terminal = std::io::stdin();
    let before = tcgetattr(&terminal).map_err(|error| failed(error.to_string()))?;
    if input.is_secret() {
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&terminal, OptionalActions::Flush, &quiet).map_err(|error| failed(error.to_string()))?;
    }
    let mut line = String::new();
    let read = terminal.read_line(&mut line);
    if input.is_secret() {
        // What was typed is with us; a terminal that stays quiet is the lesser harm.
        let _ = tcsetattr(&terminal, OptionalActions::Flush, &before);
        session.say("\n")?;
    }
    match read {
        Ok(0) => Err(Failure::new(Exit::Usage, format!("the input `{}` is missing", input.name.as_str()))),
        Ok(_) => Ok(line.trim_end_matches(['\n', '\r']).to_owned()),
        Err(error) => Err(failed(error.to_string())),
    }
}
