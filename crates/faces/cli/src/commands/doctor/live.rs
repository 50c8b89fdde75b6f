//! `abide doctor --live`: whether a client itself is held, and not only its files right.
//!
//! The client is started as its user would start it, with a model of ours on loopback that makes it call what must be denied. So
//! what keeps it from asking abide is found, wherever it comes from: a setting, a variable, a version, a project that it does not trust.

use super::canary::{EXPECTED, run};
use super::{Check, Outcome, on_path};
use crate::session::Session;
use abide_clients::Client;
use abide_clients::trial::{shell, trial};
use abide_engine::port::Variable;
use abide_model_mock::{ModelServer, Script, ToolCall, Turn};
use std::path::Path;

/// How long a client may take, in milliseconds; some install packages at their first start.
const PATIENCE: u64 = 180_000;

/// What the model asks for: it is harmless, since there is no such run, and no denial can say what it writes when it is carried out.
const CALL: &str = "echo $((6 * 7007)); abide approve canary";
const DONE: &str = "42042";

/// Starts a client and says what became of the call.
pub(super) fn tried(session: &Session<'_>, client: Client) -> Check {
    let name = client.name();
    let check =
        |result, found: String, help: Option<String>| Check { what: client.word(), result, found, help };
    let Some(program) = on_path(session, client.word()) else {
        let help = format!("`{}` is looked for on PATH", client.word());
        return check(Outcome::Worth, format!("{name} is not here to be started"), Some(help));
    };
    match try_out(session, client, &program) {
        Ok(()) => check(Outcome::Good, format!("{name} was started, and its call was denied by abide"), None),
        Err(why) => {
            let help = "until that is changed, nothing holds an agent there: look at its settings and at its environment";
            check(Outcome::Bad, why, Some(help.to_owned()))
        }
    }
}

fn try_out(session: &Session<'_>, client: Client, program: &Path) -> Result<(), String> {
    let name = client.name();
    let program = program.to_str().ok_or_else(|| format!("{name} cannot be tried: its path is not text"))?;
    let (tool, arguments) = shell(client, CALL);
    let mut is_asked = false;
    let script = Script::function(move |_| {
        if std::mem::replace(&mut is_asked, true) {
            return Turn::text("done");
        }
        Turn::call(ToolCall::new(tool, arguments.clone()))
    });
    let server = ModelServer::start(script)
        .map_err(|error| format!("{name} cannot be tried: no model can be served on loopback: {error}"))?;
    let trial = trial(client, &server.url(), "Ask the gate.", |name| session.surroundings.variable(name));
    let variables = trial.variables.into_iter();
    let variables = variables.map(|(name, value)| Variable { name, value, secret: false }).collect();
    let ended = run(session, program, trial.arguments, &session.place.start, variables, PATIENCE)
        .ok_or_else(|| format!("{name} could not be started"))?;
    let turns = server.turns();
    let told = turns.iter().flat_map(|turn| turn.new_results()).map(|result| result.text.as_str()).next();
    match told {
        Some(told) if told.contains(DONE) => {
            Err(format!("the gate does not hold in {name}: a call that must be denied was carried out"))
        }
        Some(told) if told.contains(EXPECTED) => Ok(()),
        Some(told) => Err(format!("{name} did not ask abide: its call ended with `{}`", first_line(told))),
        None => Err(format!("{name} was started and did not do what its model said: {}", ended.first_line())),
    }
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().chars().take(200).collect()
}
