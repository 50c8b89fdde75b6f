//! The runs that this process drives for sessions: what their agents were handed, and what the gate must know of them.
//!
//! Everything that happens to a run passes through here before anybody is told: the gate's file says which step is
//! being done at every moment, so that a hook in another process judges by it.

mod bound;

use abide_core::definition::StepType;
use abide_core::event::{Event, RunId, StepKey};
use abide_core::run::Run;
use abide_core::value::Value;
use abide_core::view::standing::{Asks, Standing};
use abide_engine::driver::Observer;
use abide_engine::port::{Answer, Signal, Task};
use abide_gate::sessions::Bound;
use abide_gate::{Gate, SessionId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{oneshot, watch};

/// The runs that this process drives.
pub(crate) struct Floor {
    gate: Option<Gate>,
    attended: Mutex<HashMap<RunId, Attended>>,
}

/// A run that is driven here, with those that it calls.
struct Attended {
    /// The session that it is bound to; a run that holds nobody has none.
    session: Option<SessionId>,
    /// What the gate's file says.
    bound: Bound,
    /// Whether the file could not be written the last time.
    behind: bool,
    /// Where the run and those that it calls stand.
    standings: HashMap<RunId, Standing>,
    /// What the agent was handed.
    given: Option<Given>,
    /// Whose turn it is to be handed out: an agent does one thing at a time.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Counts what happened, for those who wait.
    news: watch::Sender<u64>,
    /// Asks the driver to leave.
    stop: watch::Sender<Option<Signal>>,
    /// Whether a driver is at it.
    driven: bool,
    /// Whether that driver waits for another process to be done with it.
    queued: bool,
    /// Why the driver could not go on.
    broke: Option<String>,
}

/// A task in the agent's hands.
struct Given {
    task: Arc<Task>,
    ability: String,
    reply: oneshot::Sender<Answer>,
}

/// What somebody who waits for a run sees.
#[derive(Debug, Clone)]
pub(crate) enum Seen {
    /// A task is the agent's to do; it belongs to this ability.
    Yours(Arc<Task>, String),
    /// A human is asked, by this run.
    Asks(RunId, Asks),
    /// A step's driver was lost: a human must say what to do.
    Lost(StepKey),
    /// It is over.
    Over,
    /// Nobody drives it, for this reason.
    Broke(String),
    /// abide is at it.
    Busy,
    /// It is not driven here.
    Unknown,
}

impl Floor {
    pub(crate) fn new(gate: Option<Gate>) -> Self {
        Self { gate, attended: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Attended>> {
        self.attended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a run in that is about to be driven; returns what tells its driver to leave.
    pub(crate) fn attend(
        &self,
        run: &Run,
        session: Option<SessionId>,
        bound: Bound,
    ) -> watch::Receiver<Option<Signal>> {
        let (stop, stopped) = watch::channel(None);
        let mut all = self.lock();
        // Of each session the last run is remembered, so that its agent can be told how it ended.
        all.retain(|id, attended| *id == run.id || attended.driven || attended.session != session);
        let attended = all.entry(run.id.clone()).or_insert_with(|| Attended {
            session: None,
            bound: bound.clone(),
            behind: false,
            standings: HashMap::new(),
            given: None,
            turn: Arc::default(),
            news: watch::channel(0).0,
            stop: watch::channel(None).0,
            driven: false,
            queued: false,
            broke: None,
        });
        (attended.session, attended.bound, attended.stop) = (session, bound, stop);
        (attended.driven, attended.broke) = (true, None);
        // Whoever had the run before may have written last.
        attended.behind = true;
        attended.standings.insert(run.id.clone(), Standing::of(run));
        stopped
    }

    /// Notes how a drive of a run ended.
    pub(crate) fn left(&self, id: &RunId, why: Option<String>) {
        let mut all = self.lock();
        let Some(attended) = all.get_mut(id) else { return };
        (attended.driven, attended.queued, attended.broke) = (false, false, why);
        self.refresh(id, attended);
    }

    /// Notes that another process is at a run, and that its driver here waits for that.
    pub(crate) fn queues(&self, id: &RunId) {
        if let Some(attended) = self.lock().get_mut(id) {
            attended.queued = true;
        }
    }

    /// Forgets a run that did not begin.
    pub(crate) fn forget(&self, id: &RunId) {
        self.lock().remove(id);
    }

    /// Returns whether a driver of this process is at a run.
    pub(crate) fn drives(&self, id: &RunId) -> bool {
        self.lock().get(id).is_some_and(|attended| attended.driven)
    }

    /// Returns whether a run of this process holds nobody.
    pub(crate) fn is_free(&self, id: &RunId) -> bool {
        self.lock().get(id).is_some_and(|attended| attended.session.is_none())
    }

    /// Returns the last run of a session that this process has driven.
    pub(crate) fn last(&self, session: &SessionId) -> Option<RunId> {
        let all = self.lock();
        let own = all.iter().filter(|(_, attended)| attended.session.as_ref() == Some(session));
        own.max_by_key(|(_, attended)| attended.driven).map(|(id, _)| id.clone())
    }

    /// Returns the level that a run is held at.
    pub(crate) fn level(&self, id: &RunId) -> Option<String> {
        self.lock().get(id).map(|attended| attended.bound.level.clone())
    }

    /// Returns what somebody who waits for a run sees now, and what tells them to look again.
    pub(crate) fn look(&self, id: &RunId) -> (Seen, Option<watch::Receiver<u64>>) {
        let all = self.lock();
        let Some(attended) = all.get(id) else { return (Seen::Unknown, None) };
        (attended.seen(id), Some(attended.news.subscribe()))
    }

    /// Returns where a run stands.
    pub(crate) fn standing(&self, id: &RunId) -> Option<Standing> {
        self.lock().get(id).and_then(|attended| attended.standings.get(id).cloned())
    }

    /// Returns whether this is where a run stands as far as its driver knows.
    pub(crate) fn knows(&self, standing: &Standing) -> bool {
        let all = self.lock();
        all.values().any(|attended| attended.standings.get(&standing.run) == Some(standing))
    }

    /// Hands a result in for the step that the agent was handed; the error is what it was handed, if anything.
    pub(crate) fn submit(&self, id: &RunId, step: &str, output: &Value) -> Result<(), Option<String>> {
        let mut all = self.lock();
        let Some(attended) = all.get_mut(id) else { return Err(None) };
        match attended.given.take() {
            Some(given) if given.task.key.to_string() == step => {
                let (text, structured) = match output {
                    Value::Text(text) => (text.clone(), None),
                    other => (other.to_string(), Some(other.clone())),
                };
                let answer = Answer { structured, ..Answer::finished(text) };
                // A task that was just taken back has nobody to hear it: then the next look tells.
                let _ = given.reply.send(answer);
                self.refresh(id, attended);
                Ok(())
            }
            Some(given) => {
                let other = given.task.key.to_string();
                attended.given = Some(given);
                Err(Some(other))
            }
            None => Err(None),
        }
    }

    /// Returns whose turn it is in the run that a task belongs to.
    pub(super) fn turn(&self, run: &RunId) -> Option<Arc<tokio::sync::Mutex<()>>> {
        let all = self.lock();
        all.values()
            .find(|attended| attended.standings.contains_key(run))
            .map(|attended| Arc::clone(&attended.turn))
    }

    /// Puts a task into the agent's hands; dropping what is returned takes it back.
    pub(super) fn give(self: &Arc<Self>, task: Task) -> (Handed, oneshot::Receiver<Answer>) {
        let (reply, answered) = oneshot::channel();
        let task = Arc::new(task);
        let mut all = self.lock();
        let found = all.iter_mut().find(|(_, attended)| attended.standings.contains_key(&task.run));
        if let Some((id, attended)) = found {
            let ability = attended.standings.get(&task.run).map(|standing| standing.ability.clone());
            attended.given =
                Some(Given { task: Arc::clone(&task), ability: ability.unwrap_or_default(), reply });
            let id = id.clone();
            self.refresh(&id, attended);
        }
        (Handed { floor: Arc::clone(self), task }, answered)
    }

    /// Asks every driver to leave whose run waits for somebody else; returns whether one is still busy.
    pub(crate) fn leave(&self) -> bool {
        let mut busy = false;
        for attended in self.lock().values().filter(|attended| attended.driven) {
            busy = true;
            if attended.queued || !attended.works() {
                attended.stop.send_replace(Some(Signal::Ask));
            }
        }
        busy
    }

    /// Returns whether abide itself does something that should not be cut short.
    pub(crate) fn is_working(&self) -> bool {
        self.lock().values().any(|attended| attended.driven && !attended.queued && attended.works())
    }

    /// Says to the gate and to those who wait where a run is now.
    fn refresh(&self, id: &RunId, attended: &mut Attended) {
        let over = attended.standings.get(id).is_some_and(|standing| standing.status.is_final());
        if let (Some(gate), Some(session)) = (&self.gate, &attended.session) {
            let written = if over {
                gate.release(session, id.as_str())
            } else {
                let bound = attended.bound_now(id);
                let is_said = bound == attended.bound && !attended.behind;
                // The process that drives it now says where it is.
                let is_others = || {
                    !attended.driven
                        && !matches!(gate.bound(session), Ok(Some(known)) if known.driver == attended.bound.driver)
                };
                if is_said || is_others() {
                    Ok(())
                } else {
                    let written = gate.update(session, &bound);
                    attended.bound = bound;
                    written
                }
            };
            // What the gate says is then older than the run; the next event tries again.
            attended.behind = written.is_err();
        }
        attended.news.send_modify(|count| *count += 1);
    }

    fn heard(&self, run: &Run) {
        let mut all = self.lock();
        let above = run.created.parent.as_ref().map(|(parent, _)| parent);
        let found = all.iter_mut().find(|(_, attended)| {
            attended.standings.contains_key(&run.id)
                || above.is_some_and(|parent| attended.standings.contains_key(parent))
        });
        let Some((id, attended)) = found else { return };
        attended.queued = false;
        let standing = Standing::of(run);
        if standing.status.is_final() && run.id != *id {
            attended.standings.remove(&run.id);
        } else {
            attended.standings.insert(run.id.clone(), standing);
        }
        let id = id.clone();
        self.refresh(&id, attended);
    }
}

impl Observer for Floor {
    fn driving(&self, run: &Run) {
        self.heard(run);
    }

    fn event(&self, run: &Run, _: &Event) {
        self.heard(run);
    }
}

impl Attended {
    fn seen(&self, id: &RunId) -> Seen {
        let ends = self.standings.get(id).is_some_and(|standing| standing.ending);
        if let Some(given) = self.given.as_ref().filter(|_| !ends) {
            return Seen::Yours(Arc::clone(&given.task), given.ability.clone());
        }
        let own = self.standings.get(id);
        if own.is_some_and(|standing| standing.status.is_final()) {
            return Seen::Over;
        }
        if let Some((run, asks)) = self.asks() {
            return Seen::Asks(run, asks);
        }
        if let Some(key) = self.standings.values().find_map(|standing| standing.lost.clone()) {
            return Seen::Lost(key);
        }
        match &self.broke {
            Some(why) => Seen::Broke(why.clone()),
            None => Seen::Busy,
        }
    }

    /// Returns whether its driver was asked to leave.
    fn leaves(&self) -> bool {
        self.stop.borrow().is_some()
    }

    fn asks(&self) -> Option<(RunId, Asks)> {
        self.standings.values().find_map(|standing| Some((standing.run.clone(), standing.asks.clone()?)))
    }

    /// Returns whether abide itself does something that should not be cut short.
    fn works(&self) -> bool {
        let given = self.given.as_ref().map(|given| (&given.task.run, &given.task.key));
        self.standings.values().any(|standing| {
            let own = |(key, step_type): &(StepKey, StepType)| {
                // The runs that are called stand here themselves; what waits for the agent can wait for the next driver.
                *step_type == StepType::Script
                    && given.is_none_or(|(run, given)| *run != standing.run || given != key)
            };
            standing.in_hook || standing.doing.iter().any(own)
        })
    }
}

/// A task in the agent's hands, for as long as it is.
pub(super) struct Handed {
    floor: Arc<Floor>,
    task: Arc<Task>,
}

impl Drop for Handed {
    fn drop(&mut self) {
        let mut all = self.floor.lock();
        let held = |given: &Given| Arc::ptr_eq(&given.task, &self.task);
        let found = all.iter_mut().find(|(_, attended)| attended.given.as_ref().is_some_and(held));
        if let Some((id, attended)) = found {
            attended.given = None;
            let id = id.clone();
            self.floor.refresh(&id, attended);
        }
    }
}
