//! What everybody in a simulation shares: time, the store, the processes, chance.

use super::Sabotage;
use super::host::Host;
use super::ledger::Ledger;
use super::store::{FaultyStore, Weather};
use crate::simulation::{Chance, ability, ability::CHILD, laws};
use crate::store::MemoryStore;
use crate::twin::{MemoryWorkspace, Script, TwinProcess, VirtualClock, World};
use abide_core::definition::Ability;
use abide_core::event::{Event, HookKey, HookPhase, RunId};
use abide_core::run::Run;
use abide_engine::driver::{Driver, Observer};
use abide_engine::port::{Ending, Holder, Line, Spec, Stream, Workspace as _};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The ability that is run.
pub(super) const ABILITY: &str = "simulated";

/// The real driver on twins of its ports.
pub(super) type SimulatedDriver = Driver<FaultyStore, TwinProcess, MemoryWorkspace, VirtualClock>;

pub(super) struct Stage {
    pub(super) clock: VirtualClock,
    pub(super) store: MemoryStore,
    pub(super) sabotage: Sabotage,
    chance: Mutex<Chance>,
    ledger: Mutex<Ledger>,
    weather: Mutex<Weather>,
    world: Mutex<Option<Arc<World>>>,
    workspace: Arc<MemoryWorkspace>,
    /// Its own ability and the one that it calls.
    abilities: [Arc<Ability>; 2],
    hosts: Mutex<BTreeMap<String, Arc<Host>>>,
    /// Whether one program can see that another is gone; those on other machines cannot.
    one_machine: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stage {
    pub(super) fn set(seed: u64, sabotage: Sabotage) -> Arc<Self> {
        let mut chance = Chance::new(seed);
        let hooks = |chance: &mut Chance| -> Vec<HookKey> {
            [(HookPhase::Before, "a.sh"), (HookPhase::Before, "b.sh"), (HookPhase::After, "z.sh")]
                .into_iter()
                .filter(|_| chance.percent(12))
                .map(|(phase, file)| HookKey { phase, file: file.into() })
                .collect()
        };
        let own = ability(&mut chance, true);
        let child = ability(&mut chance, false);
        let abilities = [laws::read(&own), laws::read(&child)];
        let workspace = MemoryWorkspace::default().with(ABILITY, own, hooks(&mut chance)).with(
            CHILD,
            child,
            hooks(&mut chance),
        );
        let clock = VirtualClock::at(1_000_000_000);
        let one_machine = chance.percent(70);
        let stage = Arc::new(Self {
            store: MemoryStore::new(clock.shown()),
            clock: clock.clone(),
            sabotage,
            chance: Mutex::new(chance),
            ledger: Mutex::default(),
            weather: Mutex::default(),
            world: Mutex::default(),
            workspace: Arc::new(workspace),
            abilities,
            hosts: Mutex::default(),
            one_machine,
        });
        let scripts = Arc::downgrade(&stage);
        let world = World::new(clock, move |spec| {
            scripts.upgrade().map(|stage| stage.script(spec)).unwrap_or_default()
        });
        *lock(&stage.world) = Some(world);
        stage
    }

    pub(super) fn chance(&self) -> MutexGuard<'_, Chance> {
        lock(&self.chance)
    }

    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        lock(&self.ledger)
    }

    pub(super) fn weather(&self) -> Weather {
        *lock(&self.weather)
    }

    pub(super) fn set_weather(&self, weather: Weather) {
        *lock(&self.weather) = weather;
    }

    /// Returns the abilities as they would be written.
    pub(super) fn abilities_as_text(&self) -> String {
        let text = |name: &str| self.workspace.ability(name).map(|found| format!("{name}: {}", found.source));
        [ABILITY, CHILD].iter().filter_map(|name| text(name).ok()).collect()
    }

    /// Returns a run as all that was written makes it, without asking the store.
    pub(super) fn picture(&self, id: &RunId) -> Run {
        let ledger = self.ledger();
        let mut log = ledger.log(id.as_str()).iter().map(|(_, event)| event);
        let Some(Event::Created(created)) = log.next() else { panic!("a log begins with its creation") };
        let ability = &self.abilities[usize::from(created.parent.is_some())];
        let mut run = Run::create(id.clone(), (**created).clone(), Arc::clone(ability));
        log.for_each(|event| run.apply(event));
        run
    }

    pub(super) fn world(&self) -> Arc<World> {
        lock(&self.world).clone().unwrap_or_else(|| unreachable!("a stage has a world"))
    }

    /// Brings another program onto the stage.
    pub(super) fn host(&self) -> Arc<Host> {
        let mut hosts = lock(&self.hosts);
        let host = Host::new(u32::try_from(hosts.len()).unwrap_or(u32::MAX));
        hosts.insert(host.holder.name.clone(), Arc::clone(&host));
        host
    }

    /// Puts the driver of a program together.
    pub(super) fn driver(self: &Arc<Self>, host: &Arc<Host>, observer: Arc<dyn Observer>) -> SimulatedDriver {
        let process = match self.sabotage {
            Sabotage::NothingIsSwept => TwinProcess::new(&self.world(), &host.crashed).without_sweep(),
            _ => TwinProcess::new(&self.world(), &host.crashed),
        };
        let ports = (
            Arc::new(FaultyStore::new(self, host)),
            Arc::new(process),
            Arc::clone(&self.workspace),
            Arc::new(self.clock.clone()),
        );
        let stage = Arc::downgrade(self);
        let is_dead = move |holder: &Holder| stage.upgrade().is_some_and(|stage| stage.knows_gone(holder));
        Driver::new(ports, host.holder.clone(), observer, Arc::new(is_dead))
    }

    fn knows_gone(&self, holder: &Holder) -> bool {
        match self.sabotage {
            Sabotage::LeasesMeanNothing => true,
            _ => self.one_machine && lock(&self.hosts).get(&holder.name).is_none_or(|host| host.is_gone()),
        }
    }

    /// Decides what a process does, and looks at whether it may begin at all.
    fn script(&self, spec: &Spec) -> Script {
        let alive = self.world().alive();
        let mut chance = self.chance();
        let ending = match chance.within(0..100) {
            0..=74 => Ending::Exited(0),
            75..=94 => Ending::Exited(1),
            _ => Ending::Signalled(9),
        };
        let takes = match chance.within(0..100) {
            0..=59 => Some(chance.within(0..400)),
            60..=89 => Some(chance.within(400..8_000)),
            90..=96 => Some(chance.within(8_000..120_000)),
            _ => None,
        };
        let text = chance.one(&["", "ready", "building\n"]);
        let line = Line { stream: Stream::Stdout, bytes: text.as_bytes().to_vec() };
        let output = if text.is_empty() { Vec::new() } else { vec![(takes.unwrap_or(9) / 2, line)] };
        let refused = chance.percent(3).then(|| "there is no such program".to_owned());
        let deaf = chance.percent(12);
        drop(chance);
        if refused.is_none() {
            self.ledger().starts(&spec.mark, &alive);
        }
        Script { takes, ending, output, deaf, refused }
    }
}
