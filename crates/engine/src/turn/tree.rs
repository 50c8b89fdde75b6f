//! What a call tree shares: what it may use and has used, and which calls it has made.

use crate::port::Clock;
use abide_core::definition::Budget;
use abide_core::event::Timestamp;
use abide_core::model::{Cost, ToolCall, Usage};
use abide_core::turn::{Envelope, Exhausted, Repeats, Spent, Turn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The place of one agent in a call tree; clones are the same place.
///
/// An agent and everybody that it calls share one envelope: whoever uses something uses it of all that are above it. A
/// child may be given less than what is left, never more.
#[derive(Debug, Clone)]
pub struct CallTree {
    shared: Arc<Mutex<Shared>>,
    place: usize,
}

#[derive(Debug)]
struct Shared {
    places: Vec<Place>,
    /// Shared with children, so that nobody gets round it by asking another agent.
    repeats: Repeats,
}

#[derive(Debug)]
struct Place {
    above: Option<usize>,
    envelope: Envelope,
    spent: Spent,
    /// What was used by those below, and stands in no log of this place yet.
    owed: Spent,
    began: Timestamp,
    /// How often the agent itself may answer in a turn, and how often it has; those that it calls have their own.
    own_turns: Option<u32>,
    answered: u32,
}

impl Place {
    fn new(above: Option<usize>, envelope: Envelope) -> Self {
        let began = Timestamp(i64::MAX);
        let (spent, owed) = (Spent::default(), Spent::default());
        Self { above, envelope, spent, owed, began, own_turns: None, answered: 0 }
    }

    fn own_exhausted(&self) -> Option<Exhausted> {
        self.own_turns.filter(|limit| self.answered >= *limit).map(|limit| Exhausted::Turns { limit })
    }
}

impl CallTree {
    /// Makes a tree of one agent.
    pub fn new(envelope: Envelope) -> Self {
        let shared = Shared { places: vec![Place::new(None, envelope)], repeats: Repeats::default() };
        Self { shared: Arc::new(Mutex::new(shared)), place: 0 }
    }

    /// Makes the place of somebody that this agent calls, who may use what is left and no more than `envelope`.
    pub fn child(&self, envelope: Envelope) -> Result<Self, Exhausted> {
        let mut shared = self.lock();
        let allowed = shared.places[self.place].envelope.depth;
        let Some(depth) = allowed.checked_sub(1) else {
            return Err(Exhausted::Depth { limit: shared.places[0].envelope.depth });
        };
        let envelope = Envelope { depth: depth.min(envelope.depth), ..envelope };
        shared.places.push(Place::new(Some(self.place), envelope));
        let place = shared.places.len() - 1;
        drop(shared);
        Ok(Self { shared: Arc::clone(&self.shared), place })
    }

    /// Gives this agent no more than so much time for a turn.
    pub fn end_within(&self, time: Duration) {
        let envelope = &mut self.lock().places[self.place].envelope;
        envelope.time = Some(envelope.time.map_or(time, |known| known.min(time)));
    }

    /// Gives this agent, and everybody that it calls, no more than so much for a turn.
    pub fn spend_within(&self, budget: Budget) {
        fn least<T: Ord>(known: &mut Option<T>, other: Option<T>) {
            *known = known.take().into_iter().chain(other).min();
        }
        let envelope = &mut self.lock().places[self.place].envelope;
        least(&mut envelope.tokens, budget.tokens);
        least(&mut envelope.cost, budget.cost);
        least(&mut envelope.turns, budget.turns);
    }

    /// Lets this agent answer so often in a turn, whatever those that it calls use; `None` takes the limit away.
    pub fn answer_within(&self, turns: Option<u32>) {
        self.lock().places[self.place].own_turns = turns;
    }

    /// Begins a turn, or takes one up that has used something already.
    ///
    /// A turn of the first agent is a new tree: nothing of an earlier turn counts.
    pub(super) fn begin(&self, turn: &Turn, now: Timestamp) {
        let mut shared = self.lock();
        if self.place == 0 {
            shared.repeats = Repeats::default();
        }
        // What a child did before a crash stands in its own log alone.
        shared.repeats.add(&turn.repeats);
        let place = &mut shared.places[self.place];
        (place.spent, place.owed) = (Spent::default(), Spent::default());
        place.began = now;
        place.answered = turn.answers;
        self.add(&mut shared, turn.spent);
    }

    /// Notes what a child used that has come to its end in a process that is gone.
    pub(super) fn settle(&self, spent: Spent) {
        self.add(&mut self.lock(), spent);
    }

    /// Takes what those below have used since the last time.
    pub(super) fn take_owed(&self) -> Option<Spent> {
        let owed = std::mem::take(&mut self.lock().places[self.place].owed);
        (owed != Spent::default()).then_some(owed)
    }

    /// Returns what has run out, here or above.
    pub fn exhausted(&self, clock: &impl Clock) -> Option<Exhausted> {
        self.exhausted_at(&self.lock(), clock.now())
    }

    fn exhausted_at(&self, shared: &Shared, now: Timestamp) -> Option<Exhausted> {
        let of_tree = |place: &Place| place.envelope.exhausted(&place.spent, passed(place, now));
        self.chain(shared).find_map(of_tree).or_else(|| shared.places[self.place].own_exhausted())
    }

    /// Takes one turn, unless something has run out; of two that take the last one at once, one gets it.
    pub(super) fn take_turn(&self, now: Timestamp) -> Result<(), Exhausted> {
        let mut shared = self.lock();
        match self.exhausted_at(&shared, now) {
            Some(exhausted) => Err(exhausted),
            None => {
                shared.places[self.place].answered += 1;
                self.add(&mut shared, Spent { turns: 1, ..Spent::default() });
                Ok(())
            }
        }
    }

    /// Notes what an answer used.
    pub(super) fn charge(&self, usage: Usage, cost: Cost) {
        self.add(&mut self.lock(), Spent { usage, cost, turns: 0 });
    }

    /// Returns the most tokens that are left.
    pub(super) fn tokens_left(&self) -> Option<u64> {
        self.chain(&self.lock()).filter_map(|place| place.envelope.tokens_left(&place.spent)).min()
    }

    /// Returns when the time is over.
    pub(super) fn until(&self) -> Option<Timestamp> {
        self.chain(&self.lock()).filter_map(|place| Some(place.began.after(place.envelope.time?))).min()
    }

    /// Counts a call; returns whether it came too often.
    pub(super) fn repeats(&self, call: &ToolCall) -> bool {
        self.lock().repeats.count(call)
    }

    fn add(&self, shared: &mut Shared, Spent { usage, cost, turns }: Spent) {
        let mut next = Some(self.place);
        while let Some(position) = next {
            let place = &mut shared.places[position];
            place.spent.add(usage, cost, turns);
            if position != self.place {
                place.owed.add(usage, cost, turns);
            }
            next = place.above;
        }
    }

    /// Returns this place and all that are above it.
    fn chain<'s>(&self, shared: &'s Shared) -> impl Iterator<Item = &'s Place> {
        let above = |place: &&'s Place| place.above.and_then(|position| shared.places.get(position));
        std::iter::successors(shared.places.get(self.place), above)
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn passed(place: &Place, now: Timestamp) -> Duration {
    now.since(place.began)
}
