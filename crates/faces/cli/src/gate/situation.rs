//! What a session of a client is in, put together from the gate's files.

use super::compile::{Kept, compile};
use crate::Surroundings;
use crate::runs;
use abide_catalog::{Configuration, Place};
use abide_core::definition::Enforcement;
use abide_core::policy::{
    self, Active, AgentRights, Client, Guarded, Remembered, Role, Seat, Session, Situation, Sought, Standing,
    ToolCall,
};
use abide_gate::index::{Compiled, Index, Known, ReservedCall};
use abide_gate::sessions::Bound;
use abide_gate::{Gate, SessionId};
use abide_hooks::asked::{Asked, Moment};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Which abide compiles.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns what a session is in now, as far as it counts for what is asked; `seat` is what abide started it for.
///
/// `files` must be the ones that the answer is worked out with, remembered: of what is reserved and guarded, only what could
/// count is in it, and that depends on where links lead.
pub(crate) fn situation(
    surroundings: &Surroundings,
    gate: &Gate,
    session: &SessionId,
    (client, asked): (Client, &Asked),
    seat: Option<Bound>,
    files: &Remembered<'_>,
    now: SystemTime,
) -> Situation {
    let folder = asked.folder.as_deref().map_or(surroundings.folder.as_path(), Path::new);
    let mut troubles = Vec::new();
    let mut worker = false;
    let bound = match seat {
        // Whatever else its session was bound to before: it does this step now.
        Some(bound) => {
            worker = true;
            Ok(Some(bound))
        }
        None => gate.bound(session).map(|bound| bound.filter(|bound| !is_over(gate, session, bound))),
    };
    let bound = bound.unwrap_or_else(|error| {
        troubles.push(error.to_string());
        None
    });
    let places = places(surroundings, gate, session, folder, bound.as_ref());
    let place = policy::Place {
        root: places[0].root().display().to_string(),
        cwd: folder.display().to_string(),
        home: surroundings.variable("HOME"),
    };
    let sought = match &asked.moment {
        Moment::BeforeTool(used) | Moment::AfterTool(used) | Moment::Permission(used) => {
            Sought::by(&ToolCall::read(client, &used.tool, &used.arguments), &place, files)
        }
        _ => Sought::everything(),
    };
    let mut indexes = Vec::new();
    for place in &places {
        match index(surroundings, gate, place, now, &sought) {
            Ok(mut index) => {
                troubles.extend(index.stopped.take());
                if bound.as_ref().is_some_and(|bound| !bound.root.starts_with(place.root())) {
                    // A run of another project is not one of what is defined here, whatever it is called.
                    index.reserved.iter_mut().for_each(replace);
                }
                indexes.push(index);
            }
            Err(error) => troubles.push(error),
        }
    }
    let agent = rights(&indexes, asked.agent.as_deref());
    let (mut reserved, mut guarded) = (Vec::new(), Vec::new());
    for index in indexes {
        reserved.extend(index.reserved);
        guarded.extend(index.guarded);
    }
    guarded.push(Guarded { path: gate.folder().display().to_string(), role: Role::State });
    if let Some(bound) = &bound {
        let files = bound.guarded.iter().map(|path| path.display().to_string());
        guarded.extend(files.map(|path| Guarded { path, role: Role::Script }));
    }
    let seat = match (&asked.sub_agent, bound.as_ref().and_then(|bound| bound.sub_agent.as_ref())) {
        (None, _) => Seat::Main,
        (Some(agent), Some(starter)) if agent == starter => Seat::ChildWithRun,
        (Some(_), _) => Seat::Child,
    };
    let processes = bound.iter().map(|bound| bound.driver.process).collect();
    Situation {
        place,
        session: state(gate, session, (bound.as_ref(), worker), troubles),
        seat,
        agent,
        reserved,
        guarded,
        processes,
    }
}

/// Returns the places whose definitions count: where the session began, where it has been, where its run is, where it is.
pub(super) fn places(
    surroundings: &Surroundings,
    gate: &Gate,
    session: &SessionId,
    folder: &Path,
    bound: Option<&Bound>,
) -> Vec<Place> {
    let home = surroundings.variable("HOME").map(PathBuf::from);
    let config_home = surroundings
        .variable("XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .filter(|path| path.is_absolute())
        .or_else(|| home.as_ref().map(|home| home.join(".config")));
    let at = |start: PathBuf| Place { start, home: home.clone(), config_home: config_home.clone() };
    let mut roots = gate.roots(session).unwrap_or_default();
    // Clients say where a session began, wherever its shell has gone since.
    let began = surroundings.variable("CLAUDE_PROJECT_DIR").map(PathBuf::from);
    for start in began.into_iter().chain([folder.to_path_buf()]) {
        let root = anchored(gate, &at(start.canonicalize().unwrap_or(start))).start;
        if !roots.contains(&root) {
            // A session that cannot be remembered is judged by what is known now.
            let _ = gate.see(session, &root);
            roots.push(root);
        }
    }
    if let Some(bound) = bound.filter(|bound| !roots.contains(&bound.root)) {
        roots.push(bound.root.clone());
    }
    roots.into_iter().map(at).collect()
}

/// Returns a place as the gate knows it: definitions are looked for from a folder up, so two with the same ones are one place.
///
/// A folder whose definitions are gone stays one as long as their index is there.
pub(super) fn anchored(gate: &Gate, place: &Place) -> Place {
    Place { start: place.anchor(|folder| gate.has_index(folder)), ..place.clone() }
}

/// Looks into the index of an [`anchored`] place.
pub(super) fn index(
    surroundings: &Surroundings,
    gate: &Gate,
    place: &Place,
    now: SystemTime,
    sought: &Sought,
) -> Result<Known, String> {
    gate.index(&place.start, VERSION, now, sought, |before| compiled(surroundings, place, before))
        .map_err(|error| error.to_string())
}

/// Compiles the definitions of a place.
pub(super) fn compiled(surroundings: &Surroundings, place: &Place, before: Option<&Index>) -> Compiled {
    let configuration = Configuration::load(place, |name| surroundings.variable(name));
    compile(place, configuration, VERSION, (before, Kept::AsItWas))
}

/// Lets go of what definitions of a place reserved and do not any more, as a human has looked at them; returns what that was.
#[expect(
    clippy::disallowed_methods,
    reason = "whether definitions have changed is told by the clock of files"
)]
pub(crate) fn let_go(surroundings: &Surroundings, place: &Place) -> Vec<ReservedCall> {
    let Some(gate) = super::gate(surroundings) else { return Vec::new() };
    let mut gone = Vec::new();
    for start in place.project_folders() {
        let place = Place { start, ..place.clone() };
        let configuration = Configuration::load(&place, |name| surroundings.variable(name));
        let compile = |before: Option<&Index>| {
            let compiled = compile(&place, configuration, VERSION, (before, Kept::LetGo));
            let is_kept = |call: &&ReservedCall| {
                compiled
                    .index
                    .reserved
                    .iter()
                    .any(|one| (&one.file, &one.pattern) == (&call.file, &call.pattern))
            };
            let before = before.into_iter().flat_map(|index| &index.reserved);
            gone.extend(before.filter(|call| !is_kept(call)).cloned());
            compiled
        };
        // What cannot be written is held as before.
        let _ = gate.index_anew(&place.start, SystemTime::now(), compile);
    }
    gone.sort_by(|one, other| (&one.ability, &one.pattern).cmp(&(&other.ability, &other.pattern)));
    gone.dedup();
    gone
}

/// Returns what an agent may run in one place.
#[expect(
    clippy::disallowed_methods,
    reason = "whether definitions have changed is told by the clock of files"
)]
pub(crate) fn rights_in(
    surroundings: &Surroundings,
    gate: &Gate,
    place: &Place,
    agent: Option<&str>,
) -> Result<AgentRights, String> {
    let place = anchored(gate, place);
    Ok(index(surroundings, gate, &place, SystemTime::now(), &Sought::nothing())?.rights(agent))
}

/// Returns what holds every agent of a place: the calls that abilities reserve, the files that are guarded, and what the
/// agent may run.
#[expect(
    clippy::disallowed_methods,
    reason = "whether definitions have changed is told by the clock of files"
)]
pub(crate) fn held(
    surroundings: &Surroundings,
    gate: &Gate,
    place: &Place,
    agent: &str,
) -> Result<(Vec<policy::Reserved>, Vec<Guarded>, AgentRights), String> {
    let place = anchored(gate, place);
    let index = index(surroundings, gate, &place, SystemTime::now(), &Sought::everything())?;
    let rights = index.rights(Some(agent));
    let mut guarded = index.guarded;
    guarded.push(Guarded { path: gate.folder().display().to_string(), role: Role::State });
    Ok((index.reserved, guarded, rights))
}

fn replace(reserved: &mut policy::Reserved) {
    if reserved.standing == Standing::Current {
        reserved.standing = Standing::Replaced;
    }
}

fn rights(indexes: &[Known], agent: Option<&str>) -> AgentRights {
    let mut except = Vec::new();
    let mut only: Option<Vec<String>> = None;
    for index in indexes {
        match index.rights(agent) {
            AgentRights::Any { except: more } => except.extend(more),
            AgentRights::Only(more) => only.get_or_insert_with(Vec::new).extend(more),
        }
    }
    match only {
        Some(mut only) => {
            only.retain(|ability| !except.contains(ability));
            AgentRights::Only(only)
        }
        None => AgentRights::Any { except },
    }
}

/// Returns the session's run; what is in doubt is not taken for free.
fn state(
    gate: &Gate,
    session: &SessionId,
    (bound, worker): (Option<&Bound>, bool),
    troubles: Vec<String>,
) -> Session {
    let level = bound.and_then(|bound| Enforcement::parse(&bound.level));
    if let Some(why) = troubles.into_iter().next() {
        return Session::Unreadable { level, why };
    }
    match bound {
        None => Session::Free,
        Some(bound) => match bound.active(gate.was_warned(session, &bound.run)) {
            Ok(active) => Session::Active(Box::new(Active { worker, ..active })),
            Err(why) => Session::Unreadable { level, why: format!("its state holds {why}") },
        },
    }
}

/// Returns whether a run is over although its session is still bound to it: its driver died before it could say so.
fn is_over(gate: &Gate, session: &SessionId, bound: &Bound) -> bool {
    if bound.driver.lives() {
        return false;
    }
    // A log that cannot be read says nothing: then the run counts as active.
    let over = runs::is_over(&bound.log, &bound.run);
    if over {
        let _ = gate.release(session, &bound.run);
    }
    over
}
