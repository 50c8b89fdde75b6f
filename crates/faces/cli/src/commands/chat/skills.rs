//! Skills that are typed: `/name arguments` tells the agent of the conversation what the skill says, `/help` and an
//! unfinished name list what can be called.
//!
//! The turn is the skill's: within its `max_turns` if it says any, with no tool that it does not say it uses, and without
//! the tool that would run it again.

use super::terminal::Lines;
use crate::Failure;
use crate::builtin::skills::{Bounds, By, Unrun, Workshop};
use crate::session::Session;
use crate::skills::{Brief, Question, Reader, Unfit};
use crate::ui::visible::visible;
use abide_core::skill::standard::CHAT_COMMANDS;
use abide_core::skill::text::Arguments;
use std::fmt::Write as _;
use std::sync::Arc;

/// How much of a description is listed.
const SHOWN: usize = 100;
/// How many skills are listed.
const MOST: usize = 200;

/// What came of a line that begins with `/` and is no command.
pub(super) enum Called {
    /// The agent is told this.
    Skill { brief: Brief, bounds: Bounds },
    /// Nothing: the user was told why.
    Nothing,
}

/// Finds the skill that a line calls, and fills it in.
pub(super) async fn called(
    session: &mut Session<'_>,
    workshop: &Arc<Workshop>,
    line: &str,
    human: Option<&mut Lines>,
) -> Result<Called, Failure> {
    let (name, rest) = split(line);
    if CHAT_COMMANDS.contains(&name) {
        session.say(&format!("`/{name}` is a command, and takes nothing more; /help shows all of them\n"))?;
        return Ok(Called::Nothing);
    }
    if let Some(lines) = human {
        offer(session, workshop, name, lines).await?;
    }
    let why = match workshop.brief(name, &Arguments::read(rest), By::Person, false).await {
        Ok(brief) => {
            for note in &brief.notes {
                session.say(&format!("note: {}\n", visible(note, true)))?;
            }
            let bounds = Bounds::default().of(name, brief.tools.as_deref());
            return Ok(Called::Skill { brief, bounds });
        }
        Err(Unrun::Unfit(Unfit::Unknown(_))) => {
            let listed = list(workshop, name).await;
            if listed.is_empty() {
                format!("there is no command `/{name}`; /help shows all of them\n")
            } else {
                listed
            }
        }
        Err(
            Unrun::Unfit(Unfit::Denied(why) | Unfit::Ask(why) | Unfit::Unusable(why)) | Unrun::Failed(why),
        ) => {
            format!("{why}\n")
        }
    };
    for line in why.lines() {
        session.say(&visible(line, true))?;
        session.say("\n")?;
    }
    Ok(Called::Nothing)
}

/// Asks whoever sits at the terminal about a skill that came with the project and would run commands.
async fn offer(
    session: &mut Session<'_>,
    workshop: &Workshop,
    name: &str,
    lines: &mut Lines,
) -> Result<(), Failure> {
    let name = name.to_owned();
    let asked = workshop.look(move |shelf| {
        let loaded = shelf.load(&name, Reader::Person).ok()?;
        shelf.question(&loaded)
    });
    let Some(question) = asked.await.flatten() else { return Ok(()) };
    lines.forget();
    session.say(&question.text())?;
    let answer = lines.next().await.unwrap_or_default();
    if !Question::is_yes(&answer) {
        return Ok(());
    }
    workshop.look(move |shelf| shelf.accept(&question)).await.unwrap_or(Ok(()))
}

fn split(line: &str) -> (&str, &str) {
    let typed = line.trim().strip_prefix('/').unwrap_or_default();
    typed.split_once(char::is_whitespace).unwrap_or((typed, ""))
}

/// Returns whether a line calls a skill that there is.
pub(super) async fn named(workshop: &Workshop, line: &str) -> bool {
    let name = split(line).0.to_owned();
    if CHAT_COMMANDS.contains(&name.as_str()) {
        return false;
    }
    workshop.look(move |shelf| shelf.skills.find(&name).is_some()).await.unwrap_or_default()
}

/// Returns the skills that can be called, each on a line; of an unfinished name, those that begin with it.
pub(super) async fn list(workshop: &Workshop, begin: &str) -> String {
    let begin = begin.to_owned();
    let listed = workshop.look(move |shelf| {
        let mut text = String::new();
        let fitting = shelf.for_people().filter(|summary| summary.name.starts_with(&begin));
        for summary in fitting.take(MOST) {
            let about = summary.description.as_deref().unwrap_or_default();
            let about: String = about.split_whitespace().collect::<Vec<_>>().join(" ");
            let about: String = about.chars().take(SHOWN).collect();
            // Writing to a string cannot fail.
            let _ = if CHAT_COMMANDS.contains(&&*summary.name) {
                writeln!(text, "  ({} is a command here; `abide skill run {0}` runs the skill)", summary.name)
            } else {
                writeln!(text, "  /{}  {about}", summary.name.escape_debug())
            };
        }
        text
    });
    listed.await.unwrap_or_default()
}
