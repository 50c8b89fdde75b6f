//! One session, driven: message after message, for as long as this process has its lease.

use super::{Leaving, NoSeat, Standing, TalkError, Talks};
use crate::port::{
    Clock, Later, Lease, MessageEnd, MessageRow, SessionId, SessionRow, Stopper, Store, StoreError,
};
use crate::turn::{Agent, Heard, Seat, SessionLog, TurnError, Watch};
use abide_core::model::Part;
use abide_core::turn::{SessionCreated, TurnEnd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long a lease holds without a heartbeat, and how often it is renewed.
const LEASE: Duration = Duration::from_secs(15);
const HEARTBEAT: Duration = Duration::from_secs(5);

/// A session that is driven.
pub(super) struct Sitting<'a, S, C> {
    pub(super) talks: &'a Arc<Talks<S, C>>,
    pub(super) id: &'a str,
    pub(super) leaving: watch::Receiver<Leaving>,
}

/// What a turn begins with.
enum Turn {
    Tell(String),
    GoOn,
}

/// How a turn came to its end here.
enum Over {
    /// It is over.
    Ended,
    /// It is not, and goes on elsewhere.
    Left,
}

impl<S: Store, C: Clock> Sitting<'_, S, C> {
    /// Drives the session until nothing of it is open.
    pub(super) async fn talk(&mut self) -> Result<(), TalkError> {
        let talks = self.talks;
        if talks.messages.open(self.id).await?.is_empty() {
            return Ok(());
        }
        let Some(row) = talks.sessions.find(self.id).await? else { return Ok(()) };
        let Some(id) = SessionId::parse(self.id) else { return Ok(()) };
        let lease = self.lease().await?;
        let talked = self.turns(&row, &id, &lease).await;
        // Whoever takes over does not have to wait; a lease that cannot be given back ends by itself.
        let _ = talks.store.release(&lease).await;
        talked
    }

    async fn lease(&self) -> Result<Lease, StoreError> {
        let (talks, now) = (self.talks, self.talks.clock.now());
        talks.store.lease(self.id, &talks.holder, now.0, now.after(LEASE).0, &*talks.is_dead).await
    }

    async fn turns(&mut self, row: &SessionRow, id: &SessionId, lease: &Lease) -> Result<(), TalkError> {
        let talks = self.talks;
        let mut log = SessionLog::find(Arc::clone(&talks.store), id.clone()).await?;
        if let Some(log) = &mut log {
            log.hold(lease.clone());
        }
        let mut renewed = Instant::now();
        while *self.leaving.borrow() == Leaving::No {
            let news = talks.messages.news(self.id);
            let open = talks.messages.open(self.id).await?;
            // One that was told is not told again, whatever has come before it meanwhile.
            let over = open.iter().find_map(|open| Some((open, told_before(log.as_ref(), open)?)));
            if let Some((message, end)) = over {
                self.note_end(message, end, log.as_ref()).await?;
                continue;
            }
            let active = log.as_ref().and_then(|log| log.conversation().active.as_ref());
            let label = active.and_then(|turn| turn.label.clone());
            let under_way = active.is_some();
            let message = match &label {
                Some(label) => open.iter().find(|message| message.id == *label),
                None => open.first(),
            };
            let Some(message) = message else {
                if under_way {
                    // Nobody knows who began it, and nobody waits for it.
                    self.end_lost(log.as_mut()).await?;
                    continue;
                }
                return Ok(());
            };
            if renewed.elapsed() >= HEARTBEAT {
                self.lease().await?;
                renewed = Instant::now();
            }
            match self.turn(row, id, lease, (&mut log, message, under_way), (&open, news)).await? {
                Over::Ended => {}
                Over::Left => return Ok(()),
            }
        }
        Ok(())
    }

    /// Ends a turn whose message is gone.
    async fn end_lost(&self, log: Option<&mut SessionLog<S>>) -> Result<(), TalkError> {
        match log {
            Some(log) => Ok(log.close(None, TurnEnd::Cancelled).await?),
            None => Ok(()),
        }
    }

    /// Tells a message or goes on with its turn, to the end.
    async fn turn(
        &mut self,
        row: &SessionRow,
        id: &SessionId,
        lease: &Lease,
        (log, message, under_way): (&mut Option<SessionLog<S>>, &MessageRow, bool),
        (open, news): (&[MessageRow], Later<()>),
    ) -> Result<Over, TalkError> {
        let talks = self.talks;
        let seat = if is_to_end(message, open) {
            Err(TurnEnd::Cancelled)
        } else {
            seated(talks.host.seat(row, message).await)?
        };
        // What is said first names the model that says it.
        let log = match log {
            Some(log) => log,
            none => {
                let model = seat.as_ref().map(|seat| seat.model_name.clone()).unwrap_or_default();
                let created = SessionCreated { agent: row.agent.clone(), model, ..SessionCreated::default() };
                let mut made = SessionLog::create(Arc::clone(&talks.store), id.clone(), created).await?;
                made.hold(lease.clone());
                none.insert(made)
            }
        };
        let turn = match &seat {
            Ok(_) if under_way => Ok(Turn::GoOn),
            Ok(_) => seated(talks.host.told(row, message).await)?.map(Turn::Tell),
            Err(end) => Err(end.clone()),
        };
        let over = match (seat, turn) {
            (Ok(seat), Ok(turn)) => self.driven(log, message, seat, turn, news).await?,
            (_, Err(end)) | (Err(end), _) => {
                let told = (!under_way).then(|| (message.text.clone(), message.id.clone()));
                log.close(told, end).await?;
                Over::Ended
            }
        };
        if let (Over::Ended, Some(end)) = (&over, told_before(Some(log), message)) {
            self.note_end(message, end, Some(log)).await?;
        }
        Ok(over)
    }

    /// Lets the agent talk until its turn is over, somebody wants it to end, or this process leaves.
    async fn driven(
        &mut self,
        log: &mut SessionLog<S>,
        message: &MessageRow,
        seat: Seat,
        turn: Turn,
        mut news: Later<()>,
    ) -> Result<Over, TalkError> {
        let (talks, session) = (self.talks, self.id);
        let agent = Agent {
            clock: Arc::clone(&talks.clock),
            model: seat.model,
            system: seat.system,
            toolbox: seat.toolbox,
            schema: None,
            permissions: seat.permissions,
            gate: seat.gate,
            confirm: seat.confirm,
            tree: seat.tree,
            watch: Some(self.watch(log.seq())),
        };
        let (stopper, stop) = Stopper::pair();
        let turning = async {
            match turn {
                Turn::Tell(text) => {
                    let parts = vec![Part::Text(text)];
                    agent.turn(log, parts, Some(message.id.clone()), &stop).await.map(drop)
                }
                Turn::GoOn => agent.go_on(log, &stop).await.map(drop),
            }
        };
        tokio::pin!(turning);
        let mut renewed = Instant::now();
        let mut beat = tokio::time::interval_at(renewed + HEARTBEAT, HEARTBEAT);
        let mut leaving = self.leaving.clone();
        beat.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                done = &mut turning => {
                    return match done {
                        Ok(()) => Ok(Over::Ended),
                        Err(TurnError::Session(error)) => Err(error.into()),
                        // The row is as long as a body may be, and no turn is under way.
                        Err(TurnError::Busy | TurnError::TooLong { .. }) => Ok(Over::Left),
                    };
                }
                () = &mut news => {
                    news = talks.messages.news(session);
                    // What cannot be looked at now is with the next news.
                    let Ok(open) = talks.messages.open(session).await else { continue };
                    let own = open.iter().find(|open| open.id == message.id);
                    if own.is_none_or(|own| is_to_end(own, &open)) {
                        stopper.stop();
                    }
                }
                _ = beat.tick() => match self.lease().await {
                    Ok(_) => renewed = Instant::now(),
                    // A store that does not answer for a moment interrupts nobody: nobody else can take the session over either.
                    Err(error) if matches!(error, StoreError::Held { .. }) || renewed.elapsed() >= LEASE => {
                        // Whoever has taken it over goes on with the turn: here it ends at once, and nothing is written.
                        return Err(error.into());
                    }
                    Err(_) => {}
                },
                () = at_once(&mut leaving) => return Ok(Over::Left),
            }
        }
    }

    /// Returns what tells whoever listens what happens, and where the session stands by then.
    fn watch(&self, seq: u64) -> Watch {
        let (listening, session) = (Arc::clone(&self.talks.listening), self.id.to_owned());
        let standing = Mutex::new(Standing { events: seq, said: 0 });
        Arc::new(move |heard| {
            let stands = heard_at(&mut standing.lock().unwrap_or_else(PoisonError::into_inner), &heard);
            listening(&session, stands, &heard);
            Box::pin(std::future::ready(()))
        })
    }

    async fn note_end(
        &self,
        message: &MessageRow,
        end: TurnEnd,
        log: Option<&SessionLog<S>>,
    ) -> Result<(), TalkError> {
        let (status, error) = match &end {
            TurnEnd::Finished => ("finished", None),
            TurnEnd::Cancelled => ("cancelled", None),
            TurnEnd::OutOfBudget(what) => ("out_of_budget", Some(what.to_string())),
            TurnEnd::Failed { why } => ("failed", Some(why.clone())),
        };
        let end = MessageEnd {
            status: status.to_owned(),
            answer: log.map(|log| log.conversation().text.clone()).unwrap_or_default(),
            error,
            at: self.talks.clock.now().0,
        };
        Ok(self.talks.messages.end(self.id, &message.id, end).await?)
    }
}

/// Takes what the host says: a turn ends with what stays as it is, and what passes is tried again.
fn seated<T>(said: Result<T, NoSeat>) -> Result<Result<T, TurnEnd>, TalkError> {
    match said {
        Ok(said) => Ok(Ok(said)),
        Err(NoSeat::Never(why)) => Ok(Err(TurnEnd::Failed { why })),
        Err(NoSeat::NotNow(why)) => Err(TalkError::Host(why)),
    }
}

/// Returns where a session stands when something is heard, and keeps where it stands then.
fn heard_at(standing: &mut Standing, heard: &Heard) -> Standing {
    match heard {
        Heard::Happened(_) => *standing = Standing { events: standing.events + 1, said: 0 },
        Heard::Again { .. } => standing.said = 0,
        Heard::Text(_) | Heard::Thought(_) | Heard::Calling(_) => {}
    }
    let stands = *standing;
    if let Heard::Text(text) = heard {
        standing.said += text.chars().count() as u64;
    }
    stands
}

/// Waits until everything is to be left where it is.
async fn at_once(leaving: &mut watch::Receiver<Leaving>) {
    if leaving.wait_for(|leaving| *leaving == Leaving::Now).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Returns how the turn of a message ended, if it was the last one and is over: a crash may come before that is noted.
fn told_before<S: Store>(log: Option<&SessionLog<S>>, message: &MessageRow) -> Option<TurnEnd> {
    let conversation = log?.conversation();
    let (label, end) = conversation.last.as_ref()?;
    let is_last = conversation.active.is_none() && label.as_deref() == Some(&*message.id);
    is_last.then(|| end.clone())
}

/// Returns whether somebody wants the turn of a message to end.
fn is_to_end(message: &MessageRow, open: &[MessageRow]) -> bool {
    message.cancelled_by.is_some() || open.iter().any(|other| other.interrupts(message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::turn::TurnEvent;

    #[test]
    fn a_piece_says_how_much_of_its_answer_was_said_before() {
        let mut standing = Standing { events: 2, said: 0 };
        let mut at = |heard| {
            let stands = heard_at(&mut standing, &heard);
            (stands.events, stands.said)
        };
        assert_eq!(at(Heard::Happened(TurnEvent::Asked)), (3, 0));
        assert_eq!(at(Heard::Text("über ".to_owned())), (3, 0));
        assert_eq!(at(Heard::Thought("hm".to_owned())), (3, 5));
        assert_eq!(at(Heard::Text("all".to_owned())), (3, 5));
        assert_eq!(at(Heard::Again { because: String::new(), wait: 0 }), (3, 0));
        assert_eq!(at(Heard::Text("a".to_owned())), (3, 0));
        assert_eq!(at(Heard::Text("b".to_owned())), (3, 1));
        assert_eq!(at(Heard::Happened(TurnEvent::Asked)), (4, 0));
    }
}
