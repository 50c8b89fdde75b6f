//! What a server of this machine stands on: its stores, its driver, and what lies on the disk, put together.

mod host;
mod log;
mod look;
mod store;
mod stores;

pub(crate) use log::{ServerLog, log};
pub(crate) use store::ServerStore;
pub(crate) use stores::Stores;

use crate::args::Shared;
use crate::builtin::Here;
use crate::capabilities::{Reach, capabilities};
use crate::gate::try_to_take_verdicts;
use crate::runs::{self, LocalWorkspace, SystemClock};
use crate::session::Session;
use crate::traces::Traces;
use crate::{Surroundings, runners, webhooks};
use abide_capabilities::{Workspace, launcher};
use abide_core::event::{RunId, Timestamp};
use abide_engine::capability::CapabilityRegistry;
use abide_engine::driver::{Driver, Observer, Observers};
use abide_engine::history::{self, Limits};
use abide_engine::port::{
    Agents, Audit, Clock as _, Keys, Later, Messages, SessionFiles, Sessions, Starts, Store as _,
};
use abide_engine::talk::{Grounds, Inbox, Talks};
use abide_engine::trace::Tally;
use abide_engine::turn::{Ear, Ears};
use abide_engine::webhooks::Hearing;
use abide_http::{Code, Fleet, House, HouseDriver, Hub, Look, Meter, Notices, Problem};
use abide_process::LocalProcess;
use host::LocalHost;
use serde_json::Value;
use std::sync::Arc;

/// What a server of this machine stands on.
pub(crate) struct LocalHouse {
    stores: Stores,
    driver: Driver<ServerStore, LocalProcess, LocalWorkspace, SystemClock>,
    fleet: Arc<Fleet>,
    meter: Arc<Meter>,
    traces: Option<Arc<Traces>>,
    talks: Arc<Talks<ServerStore, SystemClock>>,
    hub: Arc<Hub>,
    inbox: Arc<Inbox<SystemClock>>,
    notices: Arc<Notices<SystemClock>>,
    limits: Limits,
    capabilities: CapabilityRegistry,
    surroundings: Surroundings,
    shared: Shared,
}

impl LocalHouse {
    /// Puts everything together; MCP servers of the configuration are started or reached now, and stay.
    pub(crate) async fn new(
        session: &Session<'_>,
        shared: &Shared,
        stores: Stores,
        log: Option<Hearing>,
        traces: Option<Arc<Traces>>,
    ) -> Self {
        let fleet = Arc::new(Fleet::default());
        let meter = Arc::new(Meter::default());
        // One server is one process; a second one in it would only lack the numbers of its agents.
        let tracing = traces.iter().map(|traces| Arc::clone(traces) as Arc<dyn Ear>);
        let ears = std::iter::once(Arc::clone(&meter) as Arc<dyn Ear>).chain(tracing).collect();
        abide_engine::turn::listen(Arc::new(Ears(ears)));
        let measuring = Arc::clone(&meter);
        let hearing: Hearing = Arc::new(move |told| {
            measuring.told(told);
            if let Some(log) = &log {
                log(told);
            }
        });
        let notices = webhooks::open(session, Arc::clone(&stores.outbox), hearing);
        let notices = Arc::new(Notices::new(Arc::new(notices)));
        let observer: Arc<dyn Observer> = Arc::new(Observers(vec![
            Arc::clone(&fleet) as _,
            Arc::clone(&meter) as _,
            Arc::clone(&notices) as _,
        ]));
        let driver = match &*stores.log {
            ServerStore::Sqlite(_) => runners::server_driver(session, Arc::clone(&stores.log), observer),
            ServerStore::Postgres(_) => runners::shared_driver(session, Arc::clone(&stores.log), observer),
        };
        let mut capabilities = capabilities(session, Arc::clone(&stores.files), Reach::All).await.registry;
        let here = Arc::new(Here::of(session));
        let launch = launcher(Arc::new(LocalProcess::new().only_parent()));
        let workspace = Workspace::new(here.root(), launch, "serve/sessions", here.kept_from_commands());
        // Nothing else is called so: what comes with abide is registered first, and what a project brings along is checked.
        let _ = capabilities.register(Arc::new(workspace));
        let asking = Arc::clone(&notices);
        let inbox = Inbox::new(Arc::new(SystemClock), Arc::clone(&stores.questions))
            .telling(Arc::new(move |asked| asking.asked(asked)));
        let (hub, inbox) = (Arc::new(Hub::default()), Arc::new(inbox));
        let host = LocalHost {
            here,
            agents: Arc::clone(&stores.agents),
            capabilities: capabilities.clone(),
            inbox: Arc::clone(&inbox),
            models: Arc::default(),
        };
        let (holder, is_dead) = match &*stores.talks {
            ServerStore::Sqlite(_) => (runs::holder(), Arc::new(runs::is_dead) as runs::IsDead),
            ServerStore::Postgres(_) => runners::shared_holder(),
        };
        let grounds = Grounds {
            store: Arc::clone(&stores.talks),
            clock: Arc::new(SystemClock),
            sessions: Arc::clone(&stores.sessions),
            messages: Arc::clone(&stores.messages),
            holder,
            is_dead,
        };
        let talks = Talks::new(grounds, Arc::new(host), hub.listening());
        Self {
            stores,
            driver,
            fleet,
            meter,
            traces,
            talks,
            hub,
            inbox,
            notices,
            limits: runs::limits(session),
            capabilities,
            surroundings: session.surroundings.clone(),
            shared: shared.clone(),
        }
    }
}

impl House for LocalHouse {
    type Store = ServerStore;
    type Process = LocalProcess;
    type Workspace = LocalWorkspace;
    type Clock = SystemClock;

    fn driver(&self) -> &HouseDriver<Self> {
        &self.driver
    }

    fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    fn meter(&self) -> &Arc<Meter> {
        &self.meter
    }

    fn spans(&self) -> Option<&Tally> {
        self.traces.as_ref().map(|traces| traces.tally())
    }

    fn keys(&self) -> &dyn Keys {
        &*self.stores.keys
    }

    fn starts(&self) -> &dyn Starts {
        &*self.stores.starts
    }

    fn agents(&self) -> &dyn Agents {
        &*self.stores.agents
    }

    fn audit(&self) -> &dyn Audit {
        &*self.stores.audit
    }

    fn sessions(&self) -> &dyn Sessions {
        &*self.stores.sessions
    }

    fn messages(&self) -> &dyn Messages {
        &*self.stores.messages
    }

    fn files(&self) -> &dyn SessionFiles {
        &*self.stores.files
    }

    fn talks(&self) -> &Arc<Talks<ServerStore, SystemClock>> {
        &self.talks
    }

    fn hub(&self) -> &Hub {
        &self.hub
    }

    fn inbox(&self) -> &Inbox<SystemClock> {
        &self.inbox
    }

    fn notices(&self) -> &Arc<Notices<SystemClock>> {
        &self.notices
    }

    fn capabilities(&self) -> &CapabilityRegistry {
        &self.capabilities
    }

    fn now(&self) -> i64 {
        SystemClock.now().0
    }

    fn not_before(&self, moment: i64) {
        SystemClock::not_before(Timestamp(moment));
    }

    fn ready(&self) -> Later<Result<(), String>> {
        let (log, keys) = (Arc::clone(&self.stores.log), Arc::clone(&self.stores.keys));
        Box::pin(async move {
            log.extent().await.map_err(|error| error.to_string())?;
            keys.find("").await.map(drop).map_err(|error| error.to_string())
        })
    }

    fn look(&self, what: Look) -> Later<Result<Value, Problem>> {
        let (surroundings, shared) = (self.surroundings.clone(), self.shared.clone());
        Box::pin(async move {
            let looked = tokio::task::spawn_blocking(move || look::look(&surroundings, &shared, what)).await;
            looked.unwrap_or_else(|_| Err(Problem::new(Code::Internal, "abide failed while it looked")))
        })
    }

    fn settle(&self, run: &RunId, over: bool) -> Later<()> {
        let (log, run, limits) = (Arc::clone(&self.stores.log), run.clone(), self.limits);
        let (surroundings, traces) = (self.surroundings.clone(), self.traces.clone());
        Box::pin(async move {
            try_to_take_verdicts(&surroundings, &*log, &run).await;
            if over {
                if let Some(traces) = traces {
                    traces.run(run.clone());
                }
                // The run is over, whatever comes of this; the next one tries again.
                let _ = history::prune(&*log, &SystemClock, limits, &run).await;
            }
        })
    }
}
