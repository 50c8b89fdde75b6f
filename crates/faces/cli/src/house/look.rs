//! What lies on the disk, looked up for a server as the commands do it.

use crate::args::{
    Colour, Drawing, GraphArguments, ModelArguments, ModelCommand, Report, Shared, ShowArguments,
    SkillArguments, SkillCommand, ValidateArguments,
};
use crate::session::{Session, find};
use crate::{Exit, Failure, Surroundings, commands, runs, ui};
use abide_engine::service::Start;
use abide_http::{Code, Drawn, Look, Problem};
use serde_json::Value;
use std::io;

/// Looks something up; it reads the disk.
pub(super) fn look(surroundings: &Surroundings, shared: &Shared, what: Look) -> Result<Value, Problem> {
    let command = |json: bool, work: &dyn Fn(&mut Session<'_>) -> Result<Exit, Failure>| {
        let (mut out, mut talk) = (Vec::new(), io::sink());
        let shared = Shared { json, color: Colour::Never, ..shared.clone() };
        let mut session =
            Session::open(surroundings, &shared, &mut out, &mut talk).map_err(|failure| problem(&failure))?;
        // What a command thinks of what it shows is in what it shows.
        work(&mut session).map_err(|failure| problem(&failure))?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    };
    let data = |work: &dyn Fn(&mut Session<'_>) -> Result<Exit, Failure>| {
        let text = command(true, work)?;
        serde_json::from_str(&text)
            .map_err(|error| Problem::new(Code::Internal, format!("an answer of abide is no JSON: {error}")))
    };
    match what {
        Look::Abilities => data(&|session| commands::list(session)),
        Look::Ability(name) => {
            data(&|session| commands::show(session, &ShowArguments { name: name.clone(), yaml: false }))
        }
        Look::Problems(name) => data(&|session| {
            // A name, and never a path: a server looks at what is listed, and at nothing else.
            let name = find(&session.catalog().scan(), &name)?.name.to_string();
            let (names, format) = (vec![name], Report::Json);
            let arguments =
                ValidateArguments { names, all: false, format, deny_warnings: false, watch: false };
            commands::validate(session, &arguments)
        }),
        Look::Graph(name) => data(&|session| {
            commands::graph(
                session,
                &GraphArguments { name: name.clone(), format: Drawing::Text, output: None },
            )
        }),
        Look::Drawing(name, drawn) => {
            let format = match drawn {
                Drawn::Text => Drawing::Text,
                Drawn::Mermaid => Drawing::Mermaid,
                Drawn::Dot => Drawing::Dot,
                Drawn::Svg => Drawing::Svg,
            };
            let work = |session: &mut Session<'_>| {
                commands::graph(session, &GraphArguments { name: name.clone(), format, output: None })
            };
            command(false, &work).map(Value::from)
        }
        Look::Skills => data(&|session| {
            let command = SkillCommand::List { agent: None, names: false };
            commands::skill(session, &SkillArguments { command })
        }),
        Look::Skill(name) => data(&|session| {
            let command = SkillCommand::Show { name: name.clone() };
            commands::skill(session, &SkillArguments { command })
        }),
        Look::Models => {
            data(&|session| commands::model(session, &ModelArguments { command: ModelCommand::List }))
        }
        Look::Plan { ability, inputs, input } => data(&|session| {
            let start = Start {
                ability: ability.clone(),
                inputs: inputs.clone(),
                input: input.clone(),
                by: runs::user(session).into(),
                session: None,
                parent: None,
                depth: 0,
                id: None,
                trace: None,
            };
            let prepared = runs::prepare(session, start)?;
            let plan = runs::plan(session, &prepared)
                .map_err(|problems| Failure::several(Exit::Problems, problems))?;
            session.print_json(&ui::plan::to_json(&plan))?;
            Ok(Exit::Done)
        }),
    }
}

fn problem(failure: &Failure) -> Problem {
    let code = match failure.exit {
        Exit::NotFound => Code::NotFound,
        Exit::Usage | Exit::Problems => Code::Invalid,
        Exit::Refused => Code::Refused,
        _ => Code::Internal,
    };
    let shown: Vec<_> = failure.messages.iter().map(|message| ui::visible::visible(message, true)).collect();
    let problem = Problem::new(code, shown.join("\n"));
    match &failure.help {
        Some(help) => problem.help(ui::visible::visible(help, true)),
        None => problem,
    }
}
