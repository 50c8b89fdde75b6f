//! A house with real stores and processes, in a folder of its own, and a server that stands on it.

use crate::client::Client;
use crate::talkers::{TestHost, TestModel};
use crate::webhooks::{TestCourier, webhook};
use abide_capabilities::{Sandbox, Web, World, builtins};
use abide_core::event::{RunId, Timestamp};
use abide_core::value::Secret;
use abide_engine::capability::CapabilityRegistry;
use abide_engine::driver::{Driver, Observers};
use abide_engine::keys::{Scope, mint};
use abide_engine::port::{
    Agents, Audit, Clock, Definition, FoundTexts, Holder, Keys, Later, Messages, SessionFiles, Sessions,
    Starts, Workspace, WorkspaceError,
};
use abide_engine::talk::{Grounds, Inbox, Talks};
use abide_engine::trace::Tally;
use abide_engine::webhooks::{Grounds as WebhookGrounds, Webhooks};
use abide_http::{Fleet, House, HouseDriver, Hub, Look, Meter, Notices, Options, Problem, Server};
use abide_process::LocalProcess;
use abide_store_sqlite::{Settings, SqliteRegistry, SqliteSessionFiles, SqliteStore};
use abide_testkit::twin::MemoryWorkspace;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The time of this machine.
#[derive(Clone, Copy)]
pub(crate) struct TestClock;

impl Clock for TestClock {
    #[expect(clippy::disallowed_methods, reason = "what is tested runs in real time")]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Timestamp(i64::try_from(since.as_millis()).unwrap())
    }

    async fn sleep_until(&self, moment: Timestamp) {
        tokio::time::sleep(moment.since(self.now())).await;
    }

    fn new_run(&self) -> RunId {
        RunId::parse(&uuid::Uuid::new_v4().to_string()).unwrap()
    }
}

/// Abilities in memory, whose scripts run in a folder that there is.
pub(crate) struct TestWorkspace(MemoryWorkspace, PathBuf);

impl Workspace for TestWorkspace {
    fn ability(&self, name: &str) -> Result<Definition, WorkspaceError> {
        self.0.ability(name).map(|found| Definition { root: self.1.clone(), folder: None, ..found })
    }

    async fn secret(&self, name: &str) -> Result<String, WorkspaceError> {
        self.0.secret(name).await
    }

    fn secret_at_hand(&self, name: &str) -> Option<String> {
        self.0.secret_at_hand(name)
    }

    fn secret_variables(&self) -> Vec<String> {
        self.0.secret_variables()
    }

    fn exists(&self, root: &Path, path: &str) -> bool {
        root.join(path).exists()
    }

    fn texts(&self, root: &Path, pattern: &str) -> Result<FoundTexts, WorkspaceError> {
        self.0.texts(root, pattern)
    }

    fn digest(&self, _: &Path) -> Option<String> {
        None
    }
}

const ABILITIES: &[(&str, &str)] = &[
    (
        "hello",
        "description: d\nsteps:\n  - id: one\n    run: echo hello\n  - id: two\n    run: echo again >&2\n",
    ),
    (
        "release",
        "description: d\nsteps:\n  - id: ask\n    type: approval\n    prompt: May it go out?\n    approvers: [ada, eve]\n  - id: go\n    run: echo gone\n    needs: [ask]\n",
    ),
    ("simple", "description: d\nsteps:\n  - id: ask\n    type: approval\n    prompt: Yes?\n"),
    (
        "planned",
        "description: d\nsettings: { plan_approval: true }\nsteps:\n  - id: one\n    run: echo done\n",
    ),
    ("outer", "description: d\nsteps:\n  - id: inner\n    type: workflow\n    workflow: simple\n"),
    ("outermost", "description: d\nsteps:\n  - id: outer\n    type: workflow\n    workflow: outer\n"),
    ("slow", "description: d\nsteps:\n  - id: wait\n    run: echo begun; sleep 30\n"),
    (
        "hidden",
        "description: d\ninputs:\n  token: { type: string, secret: true, required: true }\nsteps:\n  - id: ask\n    type: approval\n    prompt: Yes?\n  - id: use\n    needs: [ask]\n    run: printf %s \"{{inputs.token}}\" | wc -c | grep -q 9\n",
    ),
];

/// A house with real stores.
pub(crate) struct TestHouse {
    pub(crate) registry: SqliteRegistry,
    driver: Driver<SqliteStore, LocalProcess, TestWorkspace, TestClock>,
    fleet: Arc<Fleet>,
    meter: Arc<Meter>,
    broken: AtomicBool,
    capabilities: CapabilityRegistry,
    files: Arc<SqliteSessionFiles>,
    talks: Arc<Talks<SqliteStore, TestClock>>,
    hub: Arc<Hub>,
    inbox: Arc<Inbox<TestClock>>,
    notices: Arc<Notices<TestClock>>,
    /// What the agents of sessions are asked with.
    pub(crate) model: TestModel,
}

impl TestHouse {
    /// Opens a house in a folder; with a courier there is a webhook that is told everything.
    pub(crate) fn open(folder: &Path, courier: Option<TestCourier>) -> Self {
        let workspace = ABILITIES.iter().fold(MemoryWorkspace::default(), |workspace, (name, source)| {
            workspace.with(name, (*source).to_owned(), Vec::new())
        });
        let store = SqliteStore::open(&folder.join("log.db"), Settings::new(|| TestClock.now().0)).unwrap();
        let fleet = Arc::new(Fleet::default());
        let meter = Arc::new(Meter::default());
        let registry = SqliteRegistry::open(&folder.join("server.db")).unwrap();
        let webhooks = courier.iter().map(|_| webhook()).collect();
        let measuring = Arc::clone(&meter);
        let grounds = WebhookGrounds {
            outbox: Arc::new(registry.clone()),
            courier: Arc::new(courier.unwrap_or_default()),
            clock: Arc::new(TestClock),
            secret_of: Arc::new(|_| {
                Box::pin(std::future::ready(Ok(Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))))
            }),
            hearing: Arc::new(move |told| measuring.told(told)),
        };
        let notices = Arc::new(Notices::new(Arc::new(Webhooks::new(grounds, webhooks))));
        let observers =
            Observers(vec![Arc::clone(&fleet) as _, Arc::clone(&meter) as _, Arc::clone(&notices) as _]);
        let ports = (
            Arc::new(store),
            Arc::new(LocalProcess::new().only_parent()),
            Arc::new(TestWorkspace(workspace, folder.to_path_buf())),
            Arc::new(TestClock),
        );
        let holder = Holder { name: uuid::Uuid::new_v4().to_string(), process: 1 };
        let files =
            SqliteSessionFiles::open(&folder.join("files.db"), Arc::new(|| TestClock.now().0)).unwrap();
        let files = Arc::new(files);
        let capabilities = builtins(World {
            now: Arc::new(|| TestClock.now()),
            files: Arc::clone(&files) as _,
            sandbox: Sandbox::unavailable("it was not tried"),
            web: Web::default(),
        });
        let asking = Arc::clone(&notices);
        let inbox = Inbox::new(Arc::new(TestClock), Arc::new(registry.clone()))
            .telling(Arc::new(move |asked| asking.asked(asked)));
        let (hub, inbox) = (Arc::new(Hub::default()), Arc::new(inbox));
        let model = TestModel::default();
        let host = TestHost {
            agents: registry.clone(),
            capabilities: capabilities.clone(),
            inbox: Arc::clone(&inbox),
            model: model.clone(),
            away: Arc::default(),
        };
        let sessions = folder.join("server-sessions.db");
        let grounds = Grounds {
            store: Arc::new(SqliteStore::open(&sessions, Settings::new(|| TestClock.now().0)).unwrap()),
            clock: Arc::new(TestClock),
            sessions: Arc::new(registry.clone()),
            messages: Arc::new(registry.clone()),
            holder: holder.clone(),
            is_dead: Arc::new(|_| false),
        };
        let talks = Talks::new(grounds, Arc::new(host), hub.listening());
        Self {
            registry,
            driver: Driver::new(ports, holder, Arc::new(observers), Arc::new(|_| false)),
            fleet,
            meter,
            broken: AtomicBool::new(false),
            capabilities,
            files,
            talks,
            hub,
            inbox,
            notices,
            model,
        }
    }

    /// Lets the stores stop to answer.
    pub(crate) fn break_down(&self) {
        self.broken.store(true, Ordering::SeqCst);
    }

    /// Makes a key; returns the text that opens it.
    pub(crate) async fn key(&self, scopes: &[Scope], number: u8) -> String {
        self.key_of("ada", scopes, number).await
    }

    /// Makes a key of somebody.
    pub(crate) async fn key_of(&self, name: &str, scopes: &[Scope], number: u8) -> String {
        let minted = mint(name, scopes, "root", i64::from(number), ([number; 8], [number; 32])).unwrap();
        if Keys::find(&self.registry, &minted.key.id).await.unwrap().is_none() {
            Keys::add(&self.registry, minted.key).await.unwrap();
        }
        minted.text
    }
}

impl House for TestHouse {
    type Store = SqliteStore;
    type Process = LocalProcess;
    type Workspace = TestWorkspace;
    type Clock = TestClock;

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
        None
    }

    fn keys(&self) -> &dyn Keys {
        &self.registry
    }

    fn starts(&self) -> &dyn Starts {
        &self.registry
    }

    fn agents(&self) -> &dyn Agents {
        &self.registry
    }

    fn audit(&self) -> &dyn Audit {
        &self.registry
    }

    fn sessions(&self) -> &dyn Sessions {
        &self.registry
    }

    fn messages(&self) -> &dyn Messages {
        &self.registry
    }

    fn files(&self) -> &dyn SessionFiles {
        &*self.files
    }

    fn talks(&self) -> &Arc<Talks<SqliteStore, TestClock>> {
        &self.talks
    }

    fn hub(&self) -> &Hub {
        &self.hub
    }

    fn inbox(&self) -> &Inbox<TestClock> {
        &self.inbox
    }

    fn notices(&self) -> &Arc<Notices<TestClock>> {
        &self.notices
    }

    fn capabilities(&self) -> &CapabilityRegistry {
        &self.capabilities
    }

    fn now(&self) -> i64 {
        TestClock.now().0
    }

    fn not_before(&self, _: i64) {}

    fn ready(&self) -> Later<Result<(), String>> {
        let broken = self.broken.load(Ordering::SeqCst);
        Box::pin(std::future::ready(if broken {
            Err("the disk /dev/secret is gone".to_owned())
        } else {
            Ok(())
        }))
    }

    fn look(&self, what: Look) -> Later<Result<Value, Problem>> {
        Box::pin(std::future::ready(Ok(json!({ "looked_at": format!("{what:?}") }))))
    }

    fn settle(&self, _: &RunId, _: bool) -> Later<()> {
        Box::pin(std::future::ready(()))
    }
}

/// A server that ends with the test.
pub(crate) struct Served {
    pub(crate) house: Arc<TestHouse>,
    pub(crate) client: Client,
    pub(crate) folder: Arc<TempDir>,
    stop: Mutex<Option<oneshot::Sender<()>>>,
    task: JoinHandle<()>,
}

impl Served {
    /// Serves on a free port of this machine.
    pub(crate) async fn with(options: Options) -> Self {
        Self::at(Arc::new(tempfile::tempdir().unwrap()), options).await
    }

    /// Serves what lies in a folder.
    pub(crate) async fn at(folder: Arc<TempDir>, options: Options) -> Self {
        Self::telling(folder, options, None).await
    }

    /// Serves what lies in a folder; with a courier there is a webhook.
    pub(crate) async fn telling(
        folder: Arc<TempDir>,
        options: Options,
        courier: Option<TestCourier>,
    ) -> Self {
        let house = Arc::new(TestHouse::open(folder.path(), courier));
        house.key(&[Scope::Admin], 0).await;
        let server =
            Server::bind("127.0.0.1:0".parse().unwrap(), &options, Arc::clone(&house)).await.unwrap();
        let client = Client { address: server.address() };
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(server.serve(async move {
            let _ = stopped.await;
        }));
        Self { house, client, folder, stop: Mutex::new(Some(stop)), task }
    }

    /// Asks it to end, and waits until it has.
    pub(crate) async fn end(self) -> Arc<TempDir> {
        drop(self.stop.lock().unwrap().take());
        tokio::time::timeout(Duration::from_secs(20), self.task).await.unwrap().unwrap();
        self.folder
    }

    /// Starts a run; returns its id.
    pub(crate) async fn start(&self, ability: &str, key: Option<&str>) -> String {
        let body = json!({ "ability": ability });
        let got = self.client.ask("POST /v1/runs", key, Some(&body)).await;
        assert_eq!(got.status, 201, "{got:?}");
        got.json()["run"].as_str().unwrap().to_owned()
    }

    /// Waits until a run has a status; the stream of its events says when to look.
    pub(crate) async fn until(&self, run: &str, status: &str) -> Value {
        for _ in 0..400 {
            let got = self.client.ask(&format!("GET /v1/runs/{run}"), None, None).await.json();
            if got["status"] == status {
                return got;
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        panic!(
            "{run} never is {status}: {:?}",
            self.client.ask(&format!("GET /v1/runs/{run}"), None, None).await
        );
    }
}
