//! The gate before every call of our own loop: the very one that hooks ask, for a session of ours.
//!
//! What a session is in is looked at anew for each call, because its run moves on meanwhile. Start at [`SessionGate`].

use super::rules::Disk;
use super::seat::nothing_known;
use crate::Surroundings;
use crate::gate::{self, gate, note_verdict, suggested};
use crate::runs::SystemClock;
use abide_core::model::{Arguments, ToolCall};
use abide_core::policy::{self, Client, Remembered, Situation, StopVerdict, Verdict};
use abide_core::value::Value;
use abide_engine::port::{Clock as _, Later};
use abide_engine::turn::Gate as LoopGate;
use abide_gate::seats::{self, Seated};
use abide_gate::{Gate, SessionId};
use abide_hooks::answer::Answer;
use abide_hooks::asked::{Asked, Moment, Use};
use abide_hooks::decide::{Given, brief, decide, judged, stopped};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

/// The gate of a session of our own loop.
#[derive(Clone)]
pub(crate) struct SessionGate(Arc<Inner>);

struct Inner {
    surroundings: Surroundings,
    gate: Option<Gate>,
    session: SessionId,
    agent: String,
    folder: PathBuf,
}

impl SessionGate {
    /// Makes the gate of a session whose agent works in a folder.
    pub(crate) fn new(surroundings: &Surroundings, session: &str, agent: &str, folder: PathBuf) -> Self {
        Self(Arc::new(Inner {
            surroundings: surroundings.clone(),
            gate: gate(surroundings),
            session: SessionId::new(Client::Other, session),
            agent: agent.to_owned(),
            folder,
        }))
    }

    /// Returns the session as the gate's files know it.
    pub(crate) fn session(&self) -> &SessionId {
        &self.0.session
    }

    /// Returns whether a run is bound to the session, or could be.
    pub(crate) fn is_bound(&self) -> bool {
        self.0.gate.as_ref().is_some_and(|gate| !matches!(gate.bound(&self.0.session), Ok(None)))
    }

    /// Returns what the agent is told beside a message of its user: the step that it is at, or an ability that the
    /// message is about.
    pub(crate) async fn prompted(&self, message: &str) -> Option<String> {
        let (inner, message) = (Arc::clone(&self.0), message.to_owned());
        let told = tokio::task::spawn_blocking(move || inner.prompted(message));
        // What goes wrong here costs a hint; the calls are judged on their own.
        told.await.ok().flatten()
    }

    /// Does something with what the session is in now, away from the loop: files are read for it.
    fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner, Situation) -> T + Send + 'static,
        failed: impl FnOnce() -> T + Send + 'static,
    ) -> Later<T> {
        let inner = Arc::clone(&self.0);
        let looked = tokio::task::spawn_blocking(move || {
            let situation = inner.situation(&inner.asked(Moment::Compaction));
            work(&inner, situation)
        });
        Box::pin(async move { looked.await.unwrap_or_else(|_| failed()) })
    }
}

impl LoopGate for SessionGate {
    fn verdict(&self, call: &ToolCall) -> Later<Verdict> {
        let arguments = match &call.arguments {
            Arguments::Data(value) => value.clone(),
            // Anything that is no mapping is unreadable to the gate.
            Arguments::Unreadable(text) => Value::Text(text.clone()),
        };
        let used = Use { tool: call.name.clone(), arguments, id: Some(call.id.clone()) };
        let failed = || Verdict::Deny {
            why: "abide failed while it looked at this call, so it is denied".to_owned(),
            instead: String::new(),
        };
        let judge = move |inner: &Inner, situation: Situation| {
            let (verdict, given) = judged(Client::Other, &used, &situation, &Disk);
            inner.note(&situation, given.as_ref());
            verdict
        };
        self.with(judge, failed)
    }

    fn stop(&self) -> Later<StopVerdict> {
        let failed = || StopVerdict::Refuse {
            why: "abide failed while it looked whether a run is active; call `ability_status`".to_owned(),
        };
        let judge = |inner: &Inner, situation: Situation| {
            let verdict = policy::stop(&situation);
            inner.note(&situation, stopped(&verdict, &situation).as_ref());
            if let (StopVerdict::Warn { .. }, Some(active), Some(gate)) =
                (&verdict, situation.active(), &inner.gate)
            {
                // One that cannot be noted is told again; the loop counts how often.
                let _ = gate.warn(&inner.session, &active.run);
            }
            verdict
        };
        self.with(judge, failed)
    }

    fn brief(&self) -> Later<Option<String>> {
        self.with(|_, situation| situation.active().map(brief), || None)
    }
}

impl Inner {
    fn asked(&self, moment: Moment) -> Asked {
        Asked {
            session: self.session.id().to_owned(),
            sub_agent: None,
            agent: Some(self.agent.clone()),
            folder: Some(self.folder.display().to_string()),
            plugin: None,
            moment,
        }
    }

    /// Returns what the session is in now, as a hook would be told it. What cannot be known is held as strictly as can be.
    fn situation(&self, asked: &Asked) -> Situation {
        let unknown = |why: String| {
            let root = self.folder.display().to_string();
            let home = self.surroundings.variable("HOME");
            nothing_known(policy::Place { cwd: root.clone(), root, home }, why)
        };
        let Some(gate) = &self.gate else {
            return unknown("there is no folder for the gate's state: set HOME".to_owned());
        };
        // Whoever lets an agent talk from inside a step of another run is held to that step.
        let seat = match gate.seated(self.surroundings.variable(seats::VARIABLE).as_deref()) {
            Ok(Seated::Nowhere) => None,
            Ok(Seated::In(seat)) => Some(seat.bound),
            Ok(Seated::Lost(why)) => return unknown(why),
            Err(error) => return unknown(error.to_string()),
        };
        let (asking, files) = ((Client::Other, asked), Remembered::new(&Disk));
        let mut situation =
            gate::situation(&self.surroundings, gate, &self.session, asking, seat, &files, now());
        situation.processes.push(std::process::id());
        situation
    }

    fn prompted(&self, message: String) -> Option<String> {
        let asked = self.asked(Moment::Prompt { text: message });
        let situation = self.situation(&asked);
        if let Answer::Tell(text) = decide(Client::Other, &asked, &situation, &Disk).answer {
            return Some(text);
        }
        let gate = self.gate.as_ref()?;
        suggested(&self.surroundings, gate, &self.session, &asked, &situation, now())
    }

    fn note(&self, situation: &Situation, given: Option<&Given>) {
        if let (Some(gate), Some(given)) = (&self.gate, given) {
            note_verdict(gate, &self.session, None, situation, given, SystemClock.now().0);
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "whether definitions have changed is told by the clock of files"
)]
fn now() -> SystemTime {
    SystemTime::now()
}
