//! `abide runs` and `abide status [RUN]`

use crate::args::{RunsArguments, StatusArguments};
use crate::runs::{self, SystemClock};
use crate::session::Session;
use crate::ui::json::from_value;
use crate::ui::table::Table;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_core::run::Run;
use abide_core::view::status::step_lines;
use abide_engine::port::{Clock as _, Store as _, StreamHead};
use serde_json::{Value, json};
use std::fmt::Write as _;

pub(super) fn nothing(session: &mut Session<'_>) -> Result<Exit, Failure> {
    if session.json {
        session.print_json(&json!({ "runs": [] }))?;
    } else {
        session.say("no run was ever started here\n\n  abide list        shows the abilities\n  abide run NAME    runs one\n")?;
    }
    Ok(Exit::Done)
}

pub(crate) fn runs(session: &mut Session<'_>, arguments: &RunsArguments) -> Result<Exit, Failure> {
    let Some(store) = runs::find_store(session)? else { return nothing(session) };
    let heads =
        runs::block_on(store.heads(None, arguments.limit))?.map_err(|error| runs::store_failure(&error))?;
    if session.json {
        let list: Vec<Value> = heads.iter().map(head_json).collect();
        session.print_json(&json!({ "runs": list }))?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(["RUN", "STATUS", "ABILITY", "STARTED", "BY"]);
    let now = SystemClock.now().0;
    for head in &heads {
        let summary = runs::summary(head);
        let text = |name| runs::text_of(&summary, name).unwrap_or_default().to_owned();
        table.row(
            None,
            [head.stream.clone(), text("status"), text("ability"), ago(now - head.created_at), text("by")],
        );
    }
    let text = table.render(session.style, session.surroundings.width);
    session.print(&text)?;
    Ok(Exit::Done)
}

fn head_json(head: &StreamHead) -> Value {
    let mut value = from_value(&runs::summary(head));
    value["run"] = Value::from(head.stream.as_str());
    value["events"] = Value::from(head.seq);
    value["created_at"] = Value::from(head.created_at);
    value["changed_at"] = Value::from(head.changed_at);
    value
}

fn ago(millis: i64) -> String {
    match millis / 1_000 {
        seconds @ ..60 => format!("{}s ago", seconds.max(0)),
        seconds @ 60..3_600 => format!("{}m ago", seconds / 60),
        seconds @ 3_600..172_800 => format!("{}h ago", seconds / 3_600),
        seconds => format!("{}d ago", seconds / 86_400),
    }
}

pub(crate) fn status(session: &mut Session<'_>, arguments: &StatusArguments) -> Result<Exit, Failure> {
    let Some(store) = runs::find_store(session)? else { return nothing(session) };
    let run = runs::block_on(async {
        let id = runs::find_run(&store, arguments.run.as_deref(), |_| true).await?;
        runs::load_run(&store, &id).await.map(|loaded| loaded.run)
    })??;
    if session.json {
        session.print_json(&run_json(&run))?;
    } else {
        session.print(&page(&run))?;
    }
    Ok(Exit::Done)
}

fn page(run: &Run) -> String {
    let mut text =
        format!("run      {}\nability  {}\nstatus   {}\n", run.id, run.created.name, run.status().word());
    if let Some((_, Some(error))) = &run.ending {
        let _ = writeln!(text, "error    {}", visible(error, true));
    }
    text.push('\n');
    for line in step_lines(run) {
        let note = line.note.map(|note| format!("  {}", visible(&note, true))).unwrap_or_default();
        let attempts =
            if line.attempts > 1 { format!(" (attempt {})", line.attempts) } else { String::new() };
        let _ = writeln!(text, "{} {}{attempts}{note}", line.mark.sign(), line.key);
    }
    for (key, question) in run.questions() {
        let _ = writeln!(text, "\n? {key}: {}", visible(&question.prompt, true));
        let _ = writeln!(text, "  abide approve {} {key}", run.id);
    }
    text
}

fn run_json(run: &Run) -> Value {
    let steps: Vec<Value> = step_lines(run)
        .into_iter()
        .map(|line| json!({ "step": line.key, "status": format!("{:?}", line.mark).to_lowercase(), "attempts": line.attempts, "note": line.note }))
        .collect();
    let questions: Vec<Value> = run
        .questions()
        .into_iter()
        .map(|(key, question)| {
            let options: Vec<Value> =
                question.options.iter().map(|(label, value)| json!({ "label": label, "value": value.as_str() })).collect();
            json!({ "step": key.to_string(), "prompt": question.prompt, "options": options, "approvers": question.approvers })
        })
        .collect();
    json!({
        "run": run.id.as_str(),
        "ability": run.created.name.as_str(),
        "status": run.status().word(),
        "by": run.created.by.as_str(),
        "error": run.ending.as_ref().and_then(|(_, error)| error.clone()),
        "steps": steps,
        "questions": questions,
    })
}
