//! `abide explain [CODE]`

use crate::args::ExplainArguments;
use crate::session::Session;
use crate::{Exit, Failure};
use abide_core::diagnostic::Code;
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(crate) fn explain(session: &mut Session<'_>, arguments: &ExplainArguments) -> Result<Exit, Failure> {
    let Some(text) = &arguments.code else {
        return all(session);
    };
    let Some(code) = Code::find(text) else {
        return Err(Failure::new(Exit::NotFound, format!("`{text}` is not a code"))
            .help("`abide explain` lists every code; they look like E0302"));
    };
    if session.json {
        let mut document = object(code);
        document["page"] = Value::from(code.page());
        session.print_json(&document)?;
    } else {
        session.print(code.page())?;
    }
    Ok(Exit::Done)
}

fn all(session: &mut Session<'_>) -> Result<Exit, Failure> {
    if session.json {
        let codes: Vec<Value> = Code::ALL.iter().map(|code| object(*code)).collect();
        session.print_json(&json!({ "codes": codes }))?;
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for code in Code::ALL {
        let _ = writeln!(text, "{}  {}", code.id(), code.title());
    }
    session.print(&text)?;
    Ok(Exit::Done)
}

fn object(code: Code) -> Value {
    json!({ "code": code.id(), "severity": code.severity().word(), "title": code.title() })
}
