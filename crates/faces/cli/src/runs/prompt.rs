//! Inputs that are asked for on a terminal, each until its answer fits.

use super::{Leaving, block_on};
use crate::session::Session;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_core::definition::{Ability, Input, InputType};
use abide_core::run::Run;
use abide_core::value::Value;
use abide_engine::service;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

/// How often one input is asked for.
const MOST: usize = 5;

/// Asks for every required input that is not given.
pub(crate) fn ask_for_missing(
    session: &mut Session<'_>,
    ability: &Ability,
    inputs: &mut Vec<(String, Value)>,
) -> Result<(), Failure> {
    let missing: Vec<&Input> = ability.inputs.iter().filter(|input| input.must_be_given()).collect();
    block_on(ask_for(session, &missing, inputs))?
}

/// Asks for every secret input of a run that is not given again; the log holds none.
pub(crate) async fn ask_for_secrets(
    session: &mut Session<'_>,
    run: &Run,
    inputs: &mut Vec<(String, Value)>,
) -> Result<(), Failure> {
    if !(session.surroundings.terminal_in && session.surroundings.terminal) || session.json {
        return Ok(());
    }
    let was_given =
        |input: &&Input| run.created.inputs.iter().any(|(name, _)| **name == *input.name.as_str());
    let secret = run.ability.inputs.iter().filter(|input| input.is_secret());
    let missing: Vec<&Input> = secret.filter(was_given).collect();
    ask_for(session, &missing, inputs).await
}

async fn ask_for(
    session: &mut Session<'_>,
    missing: &[&Input],
    inputs: &mut Vec<(String, Value)>,
) -> Result<(), Failure> {
    for input in missing {
        let name = input.name.as_str();
        if inputs.iter().all(|(known, _)| known != name) {
            inputs.push((name.to_owned(), Value::Text(ask(session, input).await?)));
        }
    }
    Ok(())
}

/// Asks for one input until what is typed is a value for it.
async fn ask(session: &mut Session<'_>, input: &Input) -> Result<String, Failure> {
    let question = question(input);
    for _ in 0..MOST {
        session.say(&format!("{question}: "))?;
        let typed = read_line(session, input).await?;
        let problems = service::input_problems(input, &typed);
        if problems.is_empty() {
            return Ok(typed);
        }
        for problem in problems {
            session.say(&format!("{}\n", visible(&problem, true)))?;
        }
    }
    let name = input.name.as_str();
    Err(Failure::new(Exit::Usage, format!("the input `{name}` was asked for {MOST} times")))
}

/// Returns an input's name with what it is about and what it takes.
fn question(input: &Input) -> String {
    let mut about: Vec<String> = input.description.iter().map(|about| about.trim().to_owned()).collect();
    if !input.choices.is_empty() {
        let choices = input.choices.iter().map(|choice| choice.to_string());
        about.push(format!("one of {}", choices.collect::<Vec<_>>().join(", ")));
    } else if input.input_type() != InputType::String {
        about.push(input.input_type().word().to_owned());
    }
    let about = if about.is_empty() { String::new() } else { format!(" ({})", about.join("; ")) };
    visible(&format!("{}{about}", input.name.as_str()), true).into_owned()
}

/// Turns the echo of the terminal off, and on again however that ends.
struct Quiet(Termios);

impl Quiet {
    fn begin() -> rustix::io::Result<Self> {
        let before = tcgetattr(std::io::stdin())?;
        let mut quiet = before.clone();
        quiet.local_modes.remove(LocalModes::ECHO);
        tcsetattr(std::io::stdin(), OptionalActions::Flush, &quiet)?;
        Ok(Self(before))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // What was typed is with us; a terminal that stays quiet is the lesser harm.
        let _ = tcsetattr(std::io::stdin(), OptionalActions::Flush, &self.0);
    }
}

async fn read_line(session: &mut Session<'_>, input: &Input) -> Result<String, Failure> {
    let failed = |what: String| Failure::new(Exit::System, format!("cannot read the terminal: {what}"));
    // Signals first: one that ends the process at once would leave the terminal without its echo.
    let mut keys = signal(SignalKind::interrupt()).map_err(|error| failed(error.to_string()))?;
    let mut leaving = Leaving::listen()?;
    let quiet = if input.is_secret() {
        Some(Quiet::begin().map_err(|error| failed(error.to_string()))?)
    } else {
        None
    };
    let (sender, line) = oneshot::channel();
    // Reading a terminal cannot be cancelled; the thread ends with the line, or with the process.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line);
        // Whoever waits may have been interrupted.
        let _ = sender.send(read.map(|read| (read > 0).then_some(line)));
    });
    let read = tokio::select! {
        read = line => Some(read),
        _ = keys.recv() => None,
        () = leaving.recv() => None,
    };
    drop(quiet);
    if input.is_secret() || read.is_none() {
        session.say("\n")?;
    }
    let name = input.name.as_str();
    match read {
        None => Err(Failure::new(Exit::RunCancelled, format!("nothing was begun: `{name}` was not given"))),
        Some(Ok(Ok(Some(line)))) => Ok(line.trim_end_matches(['\n', '\r']).to_owned()),
        Some(Ok(Ok(None))) => Err(Failure::new(Exit::Usage, format!("the input `{name}` is missing"))),
        Some(Ok(Err(error))) => Err(failed(error.to_string())),
        Some(Err(_)) => Err(failed("nobody reads it".to_owned())),
    }
}
