//! What a tool answers about a run: for the model to act on, and the same as data.

use super::floor::Seen;
use super::{LocalDesk, refused};
use crate::commands::{Driven, family_json, family_page};
use crate::runs;
use abide_core::event::RunId;
use abide_core::run::Run;
use abide_core::view::standing::Asks;
use abide_engine::port::{Task, Worker};
use abide_engine::service;
use abide_mcp::desk::Report;
use serde_json::{Map, json};
use std::fmt::Write as _;

/// How much of what one step printed a model is shown.
const OUTPUT: usize = 2_000;
/// How much of what all of them printed.
const MOST_OUTPUT: usize = 16_000;

impl LocalDesk {
    /// Reports what is seen of a run.
    pub(super) async fn report(&self, id: &RunId, seen: &Seen) -> Report {
        let standing = self.floor.standing(id);
        let mut data = Map::new();
        data.insert("run".to_owned(), json!(id.as_str()));
        if let Some(standing) = &standing {
            data.insert("ability".to_owned(), json!(standing.ability));
            data.insert("status".to_owned(), json!(standing.status.word()));
            data.insert("done".to_owned(), json!(standing.done));
            data.insert("total".to_owned(), json!(standing.total));
        }
        let far = standing.as_ref().map_or_else(
            || format!("run {id}"),
            |standing| {
                format!(
                    "run {id} of `{}`, {} of {} steps done",
                    standing.ability, standing.done, standing.total
                )
            },
        );
        let text = match seen {
            Seen::Yours(task, ability) => {
                data.insert("step".to_owned(), step_data(task, ability));
                yours(&far, id, task)
            }
            Seen::Asks(run, asks) => {
                data.insert("waits_for".to_owned(), asked_data(run, asks));
                waits(&far, run, asks)
            }
            Seen::Lost(key) => format!(
                "{far}. Step `{key}` was interrupted, and nobody knows how far it came. A human must decide: \
                 `abide resume {id} --rerun` runs it again, `abide resume {id} --fail` counts it as failed. You can stop here; \
                 `ability_status` goes on with it afterwards."
            ),
            Seen::Busy => {
                let doing: Vec<String> = standing
                    .iter()
                    .flat_map(|standing| &standing.doing)
                    .map(|(key, _)| format!("`{key}`"))
                    .collect();
                let doing = if doing.is_empty() { "it".to_owned() } else { doing.join(", ") };
                format!("{far}. abide is still at {doing}; call `ability_status` to wait for what follows.")
            }
            Seen::Broke(why) => format!(
                "{far}. abide cannot drive it on: {why}. `ability_status` tries again; the user can look with `abide status {id}`."
            ),
            Seen::Over | Seen::Unknown => return self.over(id).await,
        };
        let failed = matches!(seen, Seen::Broke(_));
        Report { text, data, failed }
    }

    /// Reports a run that is over, or that nobody here drives, as its log tells it.
    async fn over(&self, id: &RunId) -> Report {
        self.logged(Some(id.as_str())).await
    }

    /// Reports a run as its log tells it; without an id there is nothing to tell.
    pub(super) async fn logged(&self, run: Option<&str>) -> Report {
        let Some(run) = run else {
            let text = "this session has no active run; `ability_run` starts one, `ability_list` shows which there are";
            let data = Map::from_iter([("run".to_owned(), json!(null))]);
            return Report { text: text.to_owned(), data, failed: false };
        };
        let store = match self.quietly(runs::find_store) {
            Ok(Some(store)) => store,
            Ok(None) => return Report::failure("no run was ever started here"),
            Err(failure) => return refused(&failure),
        };
        let family = async {
            let id = runs::find_run(&store, Some(run), runs::Wanted::Any).await?;
            service::family(&store, &id).await.map_err(|error| runs::load_failure(&error))
        };
        match family.await {
            Ok(family) => {
                let Some(first) = family.first() else {
                    return Report::failure(format!("there is no run {run}"));
                };
                let data = match family_json(&family, first) {
                    serde_json::Value::Object(data) => data,
                    _ => Map::new(),
                };
                let page = format!("{}{}", family_page(&family, first, Driven::Yes), outputs(&first.run));
                Report { text: page, data, failed: false }
            }
            Err(failure) => refused(&failure),
        }
    }
}

/// Returns what the steps of a run printed, as far as a model wants to read it.
fn outputs(run: &Run) -> String {
    let mut text = String::new();
    for (position, state) in run.steps.iter().enumerate() {
        let printed = state.result.output.text.trim_end();
        if printed.is_empty() || text.len() > MOST_OUTPUT {
            continue;
        }
        let skipped = printed.chars().count().saturating_sub(OUTPUT);
        let end: String = printed.chars().skip(skipped).collect();
        let cut = if skipped > 0 { ", at its end" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(text, "\n`{}` says{cut}:\n{end}\n", run.step(position).id.value);
    }
    text
}

fn yours(far: &str, id: &RunId, task: &Task) -> String {
    let mut text = format!("{far}. Step `{}` is yours", task.key);
    // Writing to a string cannot fail.
    let _ = match &task.worker {
        Worker::Agent { name } => write!(text, ", as the agent `{name}`"),
        Worker::Skill { name, .. } => write!(text, ", with the skill `{name}`"),
    };
    let _ = write!(text, ":\n\n{}\n\n", task.message());
    match task.tools.as_deref() {
        None => {}
        Some([]) => text.push_str("Use no tools for it.\n"),
        Some(tools) => {
            let _ = writeln!(text, "Use only these tools for it: {}.", tools.join(", "));
        }
    }
    if let Some(schema) = &task.output_schema {
        let _ = writeln!(text, "The result must fit this JSON Schema: {schema}");
    }
    let _ = write!(
        text,
        "When it is done, call `ability_submit` with run `{id}`, step `{}` and your result as output. abide checks the evidence itself.",
        task.key
    );
    text
}

fn step_data(task: &Task, ability: &str) -> serde_json::Value {
    let (kind, name) = match &task.worker {
        Worker::Agent { name } => ("agent", name),
        Worker::Skill { name, .. } => ("skill", name),
    };
    json!({
        "step": task.key.to_string(),
        "type": kind,
        kind: name,
        "ability": ability,
        "attempt": task.attempt,
        "tools": task.tools,
        "missing": task.missing,
        "output_schema": task.output_schema.as_ref().map(abide_formats::json::to_json),
    })
}

fn waits(far: &str, run: &RunId, asks: &Asks) -> String {
    let (what, step) = match asks {
        Asks::Plan => ("whether its plan may be carried out".to_owned(), String::new()),
        Asks::Question(key, question) => {
            let options: Vec<&str> = question.options.iter().map(|(label, _)| label.as_str()).collect();
            (format!("{} ({})", question.prompt, options.join(", ")), format!(" {key}"))
        }
    };
    format!(
        "{far}. It waits for a human: {what}\nThe user answers with `abide approve {run}{step}` or `abide reject {run}{step}` in a \
         terminal; you cannot. Tell them, and stop here: `ability_status` goes on with the run when it is answered."
    )
}

fn asked_data(run: &RunId, asks: &Asks) -> serde_json::Value {
    match asks {
        Asks::Plan => json!({ "run": run.as_str(), "plan": true }),
        Asks::Question(key, question) => {
            let options: Vec<serde_json::Value> = question
                .options
                .iter()
                .map(|(label, value)| json!({ "label": label, "value": value.as_str() }))
                .collect();
            json!({
                "run": run.as_str(), "step": key.to_string(), "prompt": question.prompt,
                "options": options, "approvers": question.approvers,
            })
        }
    }
}
