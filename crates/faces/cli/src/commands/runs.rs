//! `abide runs` and `abide status [RUN]`

use crate::args::{RunsArguments, StatusArguments};
use crate::gate::try_to_take_verdicts;
use crate::runs::{self, SystemClock};
use crate::session::Session;
use crate::ui::table::Table;
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_core::event::RunId;
use abide_core::run::{Run, Verdicts};
use abide_core::view::status::{Page, StepLine, step_lines};
use abide_engine::port::{Clock as _, Store as _};
use abide_engine::service::{self, Member, Open};
use abide_http::view;
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
        runs::look_up(store.heads(None, arguments.limit))?.map_err(|error| runs::store_failure(&error))?;
    if session.json {
        let list: Vec<Value> = heads.iter().map(view::head).collect();
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
    let text = table.render(session.style, (session.surroundings.width)());
    session.print(&text)?;
    Ok(Exit::Done)
}

pub(crate) fn ago(millis: i64) -> String {
    match millis / 1_000 {
        seconds @ ..60 => format!("{}s ago", seconds.max(0)),
        seconds @ 60..3_600 => format!("{}m ago", seconds / 60),
        seconds @ 3_600..172_800 => format!("{}h ago", seconds / 3_600),
        seconds => format!("{}d ago", seconds / 86_400),
    }
}

/// Whether somebody brings a run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Driven {
    /// Somebody does, or nobody has to, or it is said elsewhere.
    Yes,
    /// Nobody does.
    No,
}

/// What is known of the run that was asked about.
enum Looked {
    Page(RunId, Page),
    Family(Vec<Member>, Driven),
}

pub(crate) fn status(session: &mut Session<'_>, arguments: &StatusArguments) -> Result<Exit, Failure> {
    let Some(store) = runs::find_store(session)? else { return nothing(session) };
    let in_words = !session.json;
    let looked = runs::look_up(async {
        let id = runs::find_run(&store, arguments.run.as_deref(), runs::Wanted::Any).await?;
        try_to_take_verdicts(session.surroundings, &store, &id).await;
        // Of a run that is over it was written down; a log that cannot be read says why itself.
        if in_words && let Ok(Some(page)) = service::page(&store, &id).await {
            return Ok(Looked::Page(id, page));
        }
        let family = service::family(&store, &id).await.map_err(|error| runs::load_failure(&error))?;
        let is_over = family.first().is_none_or(|first| first.run.is_finished());
        let driven = if is_over || !in_words {
            Driven::Yes
        } else {
            let driven = service::is_driven(&store, &id, SystemClock.now(), runs::is_dead).await;
            if driven.map_err(|error| runs::store_failure(&error))? { Driven::Yes } else { Driven::No }
        };
        Ok(Looked::Family(family, driven))
    })??;
    let (family, driven) = match looked {
        Looked::Page(id, page) => {
            session.print(&page_alone(&id, &page))?;
            return Ok(Exit::Done);
        }
        Looked::Family(family, driven) => (family, driven),
    };
    // A family begins with the run itself.
    let Some(first) = family.first() else { return nothing(session) };
    if session.json {
        session.print_json(&view::family(&family, first))?;
    } else {
        session.print(&family_page(&family, first, driven))?;
    }
    Ok(Exit::Done)
}

/// Returns how a run stands that is over and calls no others, for people.
fn page_alone(id: &RunId, page: &Page) -> String {
    let mut text = page_head(id, page);
    for line in &page.lines {
        let _ = writeln!(text, "{}", step_line(line));
    }
    text
}

/// Returns how a run and those that it calls stand, for people.
pub(crate) fn family_page(family: &[Member], first: &Member, driven: Driven) -> String {
    let mut text = page_head(&first.run.id, &Page::of(&first.run));
    if driven == Driven::No {
        // Before the empty line that ends the head.
        text.pop();
        let _ = writeln!(text, "driver   {}\n", nobody(&first.run));
    }
    push_steps(&mut text, family, first, 0);
    for member in family {
        for open in member.open() {
            let id = &member.run.id;
            let _ = match open {
                Open::Plan => writeln!(text, "\n? the plan waits to be approved\n  abide approve {id}"),
                Open::Question(key, question) => {
                    let prompt = visible(&question.prompt, true);
                    writeln!(text, "\n? {key}: {prompt}\n  abide approve {id} {key}")
                }
            };
        }
        for key in member.run.lost() {
            let whose =
                if member.run.id == first.run.id { String::new() } else { format!(" of {}", member.run.id) };
            let id = &first.run.id;
            let _ = writeln!(
                text,
                "\n! {key}{whose} was interrupted in the middle, and nobody knows how far it came\n  abide resume {id} --rerun   runs it again\n  abide resume {id} --fail    counts it as failed"
            );
        }
    }
    text
}

/// Says that nobody drives a run, and what to do about that.
fn nobody(run: &Run) -> String {
    match (&run.created.parent, &run.created.session) {
        (Some((parent, _)), _) => format!("nobody; `abide resume {parent}` drives it on"),
        (None, Some(session)) if run.ending.is_none() => {
            format!("nobody; it goes on in its session, {}", visible(session, true))
        }
        _ => format!("nobody; `abide resume {}` drives it on", run.id),
    }
}

/// Returns what stands above the steps of a run.
fn page_head(id: &RunId, page: &Page) -> String {
    let mut text = format!("run      {id}\nability  {}\nstatus   {}\n", page.ability, page.status.word());
    if let Some(error) = &page.error {
        let _ = writeln!(text, "error    {}", visible(error, true));
    }
    if let Some(verdicts) = verdicts(page.verdicts) {
        let _ = writeln!(text, "gate     {verdicts}; `abide audit show {id}` tells each");
    }
    text.push('\n');
    text
}

/// Returns the line of a step.
fn step_line(line: &StepLine) -> String {
    let note = line.note.as_deref().map(|note| format!("  {}", visible(note, true))).unwrap_or_default();
    let attempts = if line.attempts > 1 { format!(" (attempt {})", line.attempts) } else { String::new() };
    format!("{} {}{attempts}{note}", line.mark.sign(), line.key)
}

/// Says how often the gate answered with something else than a plain yes.
fn verdicts(verdicts: Verdicts) -> Option<String> {
    let Verdicts { denied, asked, warned, lost, .. } = verdicts;
    let counts = [(denied, "denied"), (asked, "asked"), (warned, "warned"), (lost, "not known")];
    let told: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// Writes the steps of a run, and below each one those of the run that it calls.
fn push_steps(text: &mut String, family: &[Member], member: &Member, depth: usize) {
    let indent = "  ".repeat(depth);
    for line in step_lines(&member.run) {
        let called = family.iter().find(|child| is_called_by(child, &member.run, &line.key));
        let child = called.map(|child| format!("  run {}", child.run.id)).unwrap_or_default();
        let _ = writeln!(text, "{indent}{}{child}", step_line(&line));
        if let Some(child) = called {
            push_steps(text, family, child, depth + 1);
        }
    }
}

fn is_called_by(child: &Member, run: &Run, key: &str) -> bool {
    child.called_by.as_ref().is_some_and(|(caller, step)| *caller == run.id && step.to_string() == key)
}
