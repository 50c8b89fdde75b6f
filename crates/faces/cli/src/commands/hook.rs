//! `abide hook`: answers a client about one moment of one session.
//!
//! Whatever goes wrong here, a client that gets no answer lets its agent go on; so everything ends in an answer: what cannot be
//! read is denied, what takes too long is denied, and so is what panics.

use crate::args::HookArguments;
use crate::gate::{gate, narrowed, note_verdict, situation, suggested};
use crate::session::Session;
use crate::{Exit, Failure, Surroundings};
use abide_core::event::VerdictAnswer;
use abide_core::policy::{Client, Files, OwnTool, Remembered};
use abide_gate::heard::Heard;
use abide_gate::seats::{self, Seat, Seated};
use abide_gate::tickets::{Ticket, canonical};
use abide_gate::{Family, Gate, SessionId};
use abide_hooks::answer::{Answer, Spoken};
use abide_hooks::asked::{self, Asked, LARGEST, Moment};
use abide_hooks::decide::{Note, decide};
use abide_hooks::plugin::misfit;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long an answer may take: less than any client waits.
pub const HOOK_LONGEST: Duration = Duration::from_secs(8);

/// Answers the question on standard input, in the words of the client; whoever calls it counts the time.
pub fn hook(surroundings: &Surroundings, client: &str, event: Option<&str>, input: impl Read) -> Spoken {
    let Some(client) = named(client) else {
        return refused(&format!("abide knows no client `{client}`: claude, opencode and codex"));
    };
    // Nothing that could be left half changed outlives a panic: the process ends with this answer.
    let answered = || answered_to(surroundings, client, event, input);
    catch_unwind(AssertUnwindSafe(answered)).unwrap_or_else(|_| {
        note_failure(surroundings, client, "abide failed while it looked at a call");
        refused("abide failed while it looked at this call, so it is denied; `abide doctor` tells more")
    })
}

/// Returns the answer of a hook that took too long. Nothing is noted: what hangs may be the disk.
pub fn hook_is_late() -> Spoken {
    refused("abide took too long to look at this call, so it is denied")
}

/// Returns the answer of a hook that could not begin.
pub fn hook_failed(why: &str) -> Spoken {
    refused(&format!("abide could not look at this call: {why}"))
}

/// The same for a command line with options; a denial is the exit code that clients take for one.
pub(crate) fn answer_hook(session: &mut Session<'_>, arguments: &HookArguments) -> Result<Exit, Failure> {
    let (answered, answer) = sync_channel(1);
    let (surroundings, arguments) = (session.surroundings.clone(), arguments.clone());
    let worker = std::thread::Builder::new().name("hook".to_owned()).spawn(move || {
        let spoken = hook(&surroundings, &arguments.client, arguments.event.as_deref(), std::io::stdin());
        // Nobody listens any more when it took too long.
        let _ = answered.send(spoken);
    });
    let spoken = match worker {
        Ok(_) => answer.recv_timeout(HOOK_LONGEST).unwrap_or_else(|_| hook_is_late()),
        Err(error) => hook_failed(&error.to_string()),
    };
    session.print(&spoken.out)?;
    session.say(&spoken.talk)?;
    Ok(if spoken.exit == Exit::Done.code() { Exit::Done } else { Exit::Usage })
}

fn named(word: &str) -> Option<Client> {
    Some(match word {
        "claude" => Client::ClaudeCode,
        "opencode" => Client::OpenCode,
        "codex" => Client::Codex,
        _ => return None,
    })
}

fn refused(why: &str) -> Spoken {
    Spoken { exit: 2, out: String::new(), talk: format!("{why}\n") }
}

fn answered_to(surroundings: &Surroundings, client: Client, event: Option<&str>, input: impl Read) -> Spoken {
    let mut bytes = Vec::new();
    if let Err(error) = input.take(LARGEST as u64 + 1).read_to_end(&mut bytes) {
        return refused(&format!("abide could not read what the client asks: {error}"));
    }
    let asked = match asked::read(&String::from_utf8_lossy(&bytes), event) {
        Ok(asked) => asked,
        Err(bad) => {
            note_failure(surroundings, client, &bad.to_string());
            return refused(&format!("{bad}, so it is denied; `abide doctor` tells more"));
        }
    };
    let Some(gate) = gate(surroundings) else {
        return refused(
            "abide finds no home folder (HOME is not set), so it cannot tell whether a run is active",
        );
    };
    let now = now();
    if let Some(line) = asked.plugin.as_deref().and_then(|plugin| misfit(plugin, env!("CARGO_PKG_VERSION"))) {
        return of_a_misfit(surroundings, client, &asked.moment, line);
    }
    let seat = match seat(surroundings, &gate, &asked.moment) {
        Ok(seat) => seat,
        Err(why) => return of_a_lost_seat(&asked.moment, &why),
    };
    // One that cannot be noted is known by the variables of its processes alone.
    let _ = gate.note_client(client);
    let session = SessionId::new(client, asked.session.clone());
    let (bound, rules) = seat.map_or((None, None), |seat| (Some(seat.bound), seat.rules));
    let files = Remembered::new(&Disk);
    let situation = situation(surroundings, &gate, &session, (client, &asked), bound, &files, now);
    if let Moment::Start { .. } = asked.moment {
        let heard = Heard { at: milliseconds(now), version: env!("CARGO_PKG_VERSION").to_owned() };
        // Only `abide doctor` asks for it.
        let _ = gate.hear(client, Path::new(&situation.place.root), &heard);
    }
    let decision = decide(client, &asked, &situation, &files);
    let mut decision = narrowed(decision, client, &asked, &situation, rules.as_ref(), &files);
    if decision.answer == Answer::Silence
        && let Some(text) = suggested(surroundings, &gate, &session, &asked, &situation, now)
    {
        decision.answer = Answer::Tell(text);
    }
    if let Some(given) = &decision.given {
        note_verdict(&gate, &session, asked.sub_agent.as_deref(), &situation, given, milliseconds(now));
    }
    let noted = match &decision.note {
        None => Ok(()),
        Some(Note::Warned) => match situation.active() {
            Some(active) => gate.warn(&session, &active.run).map_err(|error| error.to_string()),
            None => Ok(()),
        },
        Some(Note::Calls { tool, ability }) => {
            leave_ticket(&gate, client, &asked, (*tool, ability.as_deref()), now)
        }
    };
    match noted {
        Ok(()) => decision.answer.spoken(client, &asked.moment),
        Err(error) => Answer::Deny(format!("abide could not note this call, so it is denied: {error}"))
            .spoken(client, &asked.moment),
    }
}

/// Returns the step that abide started the session for, if it did; an error says why there is none any more.
fn seat(surroundings: &Surroundings, gate: &Gate, moment: &Moment) -> Result<Option<Seat>, String> {
    let name = surroundings.variable(seats::VARIABLE);
    if let Some(name) = &name {
        let call = match moment {
            Moment::BeforeTool(used) => Some(used.id.as_deref().unwrap_or_default()),
            _ => None,
        };
        // Whoever started the session sees when it did not ask, and ends it.
        let _ = gate.hear_seat(name, call);
    }
    match gate.seated(name.as_deref()) {
        Ok(Seated::Nowhere) => Ok(None),
        Ok(Seated::In(seat)) => Ok(Some(*seat)),
        Ok(Seated::Lost(why)) => Err(why),
        Err(error) => Err(error.to_string()),
    }
}

/// Answers a session that abide started and looks after no more: no tools, and it may end.
fn of_a_lost_seat(moment: &Moment, why: &str) -> Spoken {
    match moment {
        Moment::BeforeTool(_) | Moment::Permission(_) => {
            refused(&format!("abide started this session, and it may use no tools any more: {why}"))
        }
        _ => Spoken { exit: 0, out: String::new(), talk: String::new() },
    }
}

/// Answers a plugin that does not fit: no tool, and everything else with the reason.
fn of_a_misfit(surroundings: &Surroundings, client: Client, moment: &Moment, line: String) -> Spoken {
    match moment {
        Moment::BeforeTool(_) | Moment::Permission(_) => {
            note_failure(surroundings, client, &line);
            refused(&line)
        }
        _ => Answer::Tell(line).spoken(client, moment),
    }
}

/// Notes a denial of something that could not be understood.
fn note_failure(surroundings: &Surroundings, client: Client, why: &str) {
    let Some(gate) = gate(surroundings) else { return };
    let _ = gate.note_outside(&abide_gate::verdicts::Note {
        at: milliseconds(now()),
        answer: VerdictAnswer::Denied.word().to_owned(),
        tool: "?".to_owned(),
        kind: "other".to_owned(),
        what: String::new(),
        why: why.to_owned(),
        client: abide_gate::word(client).to_owned(),
        session: "?".to_owned(),
        sub_agent: None,
        project: surroundings.folder.display().to_string(),
    });
}

fn milliseconds(moment: SystemTime) -> i64 {
    i64::try_from(moment.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()).unwrap_or(i64::MAX)
}

fn leave_ticket(
    gate: &Gate,
    client: Client,
    asked: &Asked,
    (tool, ability): (OwnTool, Option<&str>),
    now: SystemTime,
) -> Result<(), String> {
    let Moment::BeforeTool(used) = &asked.moment else { return Ok(()) };
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let ticket = Ticket {
        client: abide_gate::word(client).to_owned(),
        session: asked.session.clone(),
        sub_agent: asked.sub_agent.clone(),
        agent: asked.agent.clone(),
        tool: tool.word().to_owned(),
        ability: ability.map(str::to_owned),
        arguments: canonical(&used.arguments),
        call: used.id.clone(),
        at: milliseconds(now),
        family: Family::of_this(),
    };
    gate.leave(&ticket, u64::from(since.subsec_nanos())).map_err(|error| error.to_string())
}

#[expect(clippy::disallowed_methods, reason = "a hook is a process of its own, and this is its clock")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// The disk, asked where paths lead.
pub(crate) struct Disk;

impl Files for Disk {
    fn real(&self, path: &str) -> Option<String> {
        // Of a file that is to be made, the folder tells where it will be.
        let path = Path::new(path);
        let mut missing = Vec::new();
        for ancestor in path.ancestors().take(64) {
            if let Ok(real) = ancestor.canonicalize() {
                let real = missing.iter().rev().fold(real, |real, name| real.join(name));
                return real.to_str().map(str::to_owned);
            }
            missing.push(ancestor.file_name()?);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_never_ends_or_says_nothing_is_denied() {
        let surroundings = Surroundings {
            folder: "/".into(),
            variables: Vec::new(),
            binary: None,
            terminal: false,
            terminal_in: false,
            width: || None,
        };
        for (client, text, why) in [
            ("claude", "", "not JSON"),
            ("claude", "{}", "no `hook_event_name`"),
            ("cursor", "{}", "knows no client `cursor`"),
            ("codex", r#"{"hook_event_name":"Stop","session_id":"s"}"#, "HOME is not set"),
        ] {
            let spoken = hook(&surroundings, client, None, text.as_bytes());
            assert_eq!((spoken.exit, spoken.out.as_str()), (2, ""), "{client} {text}");
            assert!(spoken.talk.contains(why), "{}", spoken.talk);
        }
    }
}
