//! The capabilities of this machine: those that come with abide, the user's own, and those that a project brings along.

use crate::runs::LocalWorkspace;
use crate::runs::{SystemClock, log_file};
use crate::session::{Session, secret_variables};
use crate::{Exit, Failure};
use abide_capabilities::{
    Address, Check, Ground, McpCapability, MemoryFiles, Now, Sandbox, SearchTool, ServerAbout,
    UserCapability, Web, World, builtins, launcher,
};
use abide_catalog::{BundleEntry, Configuration, Origin, Place, Trust, TrustKind, bundle_digest, digest};
use abide_core::capability::{CapabilityId, CapabilityStatus, Risk, Tier};
use abide_core::definition::{Given, Reached, ServerSettings};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_engine::capability::CapabilityRegistry;
use abide_engine::port::{Capability as _, Clock as _, SessionFiles};
use abide_process::LocalProcess;
use abide_store_sqlite::SqliteSessionFiles;
use std::sync::Arc;

/// Every capability, and what is wrong with those that could not be offered.
pub(crate) struct Capabilities {
    /// Those that are there, usable or not.
    pub(crate) registry: CapabilityRegistry,
    /// Where each that did not come with abide is written down.
    pub(crate) sources: Vec<Source>,
    /// Files that are no capability, each with the reason.
    pub(crate) broken: Vec<Broken>,
}

/// Where a capability is written down.
pub(crate) struct Source {
    /// Its id.
    pub(crate) id: String,
    /// The file, as it is shown.
    pub(crate) shown: String,
    /// Whose it is.
    pub(crate) origin: Origin,
}

/// A file that should be a capability and is none.
pub(crate) struct Broken {
    /// What it would be called.
    pub(crate) id: String,
    /// The file, as it is shown.
    pub(crate) shown: String,
    /// Why it is none.
    pub(crate) why: String,
}

/// Tells the time.
pub(crate) fn now() -> Now {
    Arc::new(|| SystemClock.now())
}

/// Returns files that are forgotten with the command.
pub(crate) fn in_memory() -> Arc<dyn SessionFiles> {
    Arc::new(MemoryFiles::new(now()))
}

/// Opens the files of the project's sessions.
pub(crate) fn kept(session: &Session<'_>) -> Result<Arc<dyn SessionFiles>, Failure> {
    let path = log_file(session).with_file_name("files.db");
    let opened = SqliteSessionFiles::open(&path, Arc::new(|| SystemClock.now().0));
    Ok(Arc::new(opened.map_err(|error| Failure::new(Exit::System, error.to_string()))?))
}

/// Puts the capabilities together. The sandbox is tried once, which takes some milliseconds: only then is it known
/// whether it is safe here.
pub(crate) async fn capabilities(
    session: &Session<'_>,
    files: Arc<dyn SessionFiles>,
    reach: Reach<'_>,
) -> Capabilities {
    let process = Arc::new(LocalProcess::new().only_parent());
    let sandbox = Sandbox::probe(launcher(Arc::clone(&process))).await;
    let further = Further::of(session, process);
    let registry = builtins(World { now: now(), files, sandbox, web: further.web() });
    further.added_to(registry, reach).await
}

/// The capabilities that did not come with abide, as they are written down here: nothing of them runs yet.
pub(crate) struct Further {
    place: Place,
    configuration: Configuration,
    bundles: Vec<BundleEntry>,
    workspace: LocalWorkspace,
    process: Arc<LocalProcess>,
    /// The variables that none of their processes gets.
    hidden: Vec<String>,
    /// What `research` searches with; it is found when its server is connected.
    search_tool: Option<SearchTool>,
}

impl Further {
    /// Looks at what is written down.
    pub(crate) fn of(session: &Session<'_>, process: Arc<LocalProcess>) -> Self {
        let configuration = session.configuration();
        let search_tool =
            configuration.config.web.search_tool.as_ref().map(|tool| SearchTool::named(&tool.value));
        Self {
            search_tool,
            place: session.place.clone(),
            configuration,
            hidden: secret_variables(session),
            bundles: session.catalog().bundles(),
            workspace: LocalWorkspace::new(session, Arc::clone(&process)),
            process,
        }
    }

    /// Keeps more variables from their processes: those with the secrets of a run.
    pub(crate) fn hiding(mut self, more: &[String]) -> Self {
        self.hidden.extend_from_slice(more);
        self
    }

    /// Returns what the user says about the web.
    pub(crate) fn web(&self) -> Web {
        let web = self.configuration.config.web.clone();
        let mut allow_hosts: Vec<String> = web.allow_hosts.iter().map(|host| host.value.clone()).collect();
        let search_url = web.search_url.map(|url| url.value);
        // Whoever names a search engine means to reach it.
        let searched = search_url.as_deref().and_then(|url| url.split("//").nth(1)?.split(['/', '?']).next());
        allow_hosts.extend(searched.map(str::to_owned));
        let search_tool = self.search_tool.clone();
        Web { allow_hosts, proxy: web.proxy.map(|proxy| proxy.value), search_url, search_tool }
    }

    /// Returns the ids of the capabilities that an agent gets who names some: those, and whatever they need.
    pub(crate) fn with_needs(&self, named: &[&str]) -> Vec<String> {
        let offered = offered_here();
        let mut ids: Vec<String> =
            named.iter().map(|id| id.split('@').next().unwrap_or_default().to_owned()).collect();
        let mut next = 0;
        // Each id stands here once, so this ends also where capabilities need each other in a circle.
        while let Some(id) = ids.get(next).cloned() {
            next += 1;
            let of_user = self.bundles.iter().filter(|entry| entry.shadowed_by.is_none() && *entry.id == *id);
            let of_user = of_user.flat_map(|entry| &entry.bundle).flat_map(|bundle| &bundle.depends_on);
            let built_in = offered.get(&id).map(|one| one.depends_on()).unwrap_or_default();
            for needed in of_user.map(|needed| &needed.value).chain(&built_in) {
                if !ids.iter().any(|known| known == needed.id.as_str()) {
                    ids.push(needed.id.to_string());
                }
            }
        }
        ids
    }

    /// Adds them to others.
    pub(crate) async fn added_to(self, registry: CapabilityRegistry, reach: Reach<'_>) -> Capabilities {
        let mut found = Capabilities { registry, sources: Vec::new(), broken: Vec::new() };
        let trust = Trust::of(&self.place);
        for entry in self.bundles.iter().filter(|entry| entry.shadowed_by.is_none()) {
            let (id, shown) = (entry.id.to_string(), entry.shown.to_string());
            let Some(bundle) = entry.bundle.clone() else {
                let first = entry.problems.iter().find(|problem| problem.is_error());
                let why = first.map_or_else(|| "it cannot be read".to_owned(), |first| first.message.clone());
                found.broken.push(Broken { id, shown, why });
                continue;
            };
            let ground = Ground {
                folder: entry.path.parent().map_or_else(|| entry.root.clone(), Into::into),
                root: entry.root.clone(),
                launch: launcher(Arc::clone(&self.process)),
                without: self.hidden.clone(),
                check: check(entry, trust.clone()),
            };
            match found.registry.register(Arc::new(UserCapability::new(bundle, ground))) {
                Ok(()) => found.sources.push(Source { id, shown, origin: entry.origin }),
                Err(error) => found.broken.push(Broken { id, shown, why: error.to_string() }),
            }
        }
        self.servers(reach, &mut found).await;
        found
    }

    /// Connects the MCP servers of the configuration, all at the same time.
    async fn servers(&self, reach: Reach<'_>, found: &mut Capabilities) {
        let mut connecting = tokio::task::JoinSet::new();
        let mut capabilities: Vec<(usize, McpCapability)> = Vec::new();
        let all = &self.configuration.config.capabilities;
        let reached = match reach {
            Reach::All => None,
            Reach::Only(ids) => Some(self.with_needs(ids)),
        };
        let is_reached =
            |id: &str| reached.as_ref().is_none_or(|ids| ids.iter().any(|reached| reached == id));
        for (index, (id, settings)) in all.iter().enumerate() {
            let about = server_about(id.value.clone(), settings);
            let wanted = is_reached(id.as_str()) || (is_reached("research") && self.searches_by(id.as_str()));
            let ready = if !wanted {
                Err("it was not asked for".to_owned())
            } else if let Err(why) = server_check(&self.place, id.as_str(), settings) {
                Err(why)
            } else {
                self.address(settings).await
            };
            match ready {
                Ok(address) => {
                    connecting.spawn(async move { (index, McpCapability::connect(about, address).await) });
                }
                Err(why) => capabilities.push((index, McpCapability::unavailable(about, why))),
            }
        }
        while let Some(connected) = connecting.join_next().await {
            // Invariant: a task that panicked has shown its panic, and its capability is simply missing.
            capabilities.extend(connected.ok());
        }
        capabilities.sort_by_key(|(index, _)| *index);
        for (index, capability) in capabilities {
            let (id, settings) = &all[index];
            let (id, origin) =
                (id.to_string(), if settings.of_project { Origin::Project } else { Origin::Global });
            let shown = "config.yaml".to_owned();
            if let Some(search_tool) = self.search_tool.as_ref().filter(|_| self.searches_by(&id)) {
                match capability.status() {
                    CapabilityStatus::Unavailable { why } => search_tool.find_in(Err(why)),
                    _ => search_tool.find_in(Ok(&capability.tools())),
                }
            }
            match found.registry.register(Arc::new(capability)) {
                Ok(()) => found.sources.push(Source { id, shown, origin }),
                Err(error) => found.broken.push(Broken { id, shown, why: error.to_string() }),
            }
        }
    }

    /// Returns whether a server has the tool that `research` searches with.
    fn searches_by(&self, id: &str) -> bool {
        self.search_tool.as_ref().is_some_and(|tool| tool.server() == id)
    }

    /// Works out where a server is, with its secrets in place.
    async fn address(&self, settings: &ServerSettings) -> Result<Address, String> {
        let mut pairs = Vec::new();
        let (Reached::Command { env: given, .. } | Reached::Url { headers: given, .. }) = &settings.reached;
        for (name, value) in given {
            let value = match &value.value {
                Given::Text(text) => text.clone(),
                Given::Secret(secret) => {
                    let known =
                        self.configuration.config.secrets.iter().find(|(name, _)| name.as_str() == secret);
                    let (_, source) = known.ok_or_else(|| format!("the secret `{secret}` has no source"))?;
                    let read =
                        self.workspace.secret_from(&format!("the secret `{secret}`"), &source.value).await;
                    read.map_err(|error| error.to_string())?
                }
            };
            pairs.push((name.value.clone(), value));
        }
        Ok(match &settings.reached {
            Reached::Command { words, .. } => Address::Command {
                words: words.iter().map(|word| word.value.clone()).collect(),
                variables: pairs,
                without: self.hidden.clone(),
                folder: self.place.root(),
            },
            Reached::Url { url, .. } => Address::Url { url: url.value.clone(), headers: pairs },
        })
    }
}

/// Which MCP servers are started or reached: each takes a moment, and some of them a long one.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reach<'a> {
    /// All of them.
    All,
    /// The ones with these ids, and those that they need; the others are there and unavailable.
    Only(&'a [&'a str]),
}

fn server_about(id: CapabilityId, settings: &ServerSettings) -> ServerAbout {
    let usual = ServerAbout::new(id);
    let text =
        |text: &Option<abide_core::source::Spanned<String>>| text.as_ref().map(|text| text.value.clone());
    ServerAbout {
        name: text(&settings.name),
        description: text(&settings.description),
        system_prompt: text(&settings.system_prompt),
        tools: settings.tools.as_ref().map(|tools| tools.iter().map(|tool| tool.value.clone()).collect()),
        risk: settings.risk.as_ref().map_or(Risk::High, |risk| risk.value),
        tier: settings.tier.as_ref().map_or(Tier::Confirm, |tier| tier.value),
        connect_timeout: settings
            .connect_timeout
            .as_ref()
            .map_or(usual.connect_timeout, |time| time.value.time()),
        timeout: settings.timeout.as_ref().map_or(usual.timeout, |time| time.value.time()),
        ..usual
    }
}

/// Returns how a server of the project's configuration is named in the user's trust, and the digest of what it says.
pub(crate) fn server_trust(place: &Place, id: &str, settings: &ServerSettings) -> (String, String) {
    let at = format!("{}#{id}", place.root().display());
    (at, digest([settings.trusted_text().as_bytes()]))
}

fn server_check(place: &Place, id: &str, settings: &ServerSettings) -> Result<(), String> {
    if !settings.of_project {
        return Ok(());
    }
    let (at, digest) = server_trust(place, id, settings);
    if Trust::of(place).is_some_and(|trust| trust.holds(TrustKind::Server, &at, &digest)) {
        return Ok(());
    }
    Err(format!(
        "it is the project's, and runs or sends what the project says: look at its configuration, then run `abide capability trust {id}`"
    ))
}

/// Makes what is asked before each call: a project's files run only as they were when the user trusted them.
fn check(entry: &BundleEntry, trust: Option<Trust>) -> Check {
    if entry.origin == Origin::Global {
        return Arc::new(|| Ok(()));
    }
    let (path, root, at) = (entry.path.clone(), entry.root.clone(), entry.trusted_as());
    let (shown, id) = (entry.shown.to_string(), entry.id.to_string());
    Arc::new(move || {
        let Some(trust) = &trust else {
            return Err("there is no configuration folder in which you could have trusted it".to_owned());
        };
        match bundle_digest(&path, &root) {
            Some(digest) if trust.holds(TrustKind::Capability, &at, &digest) => Ok(()),
            _ if trust.knows(TrustKind::Capability, &at) => Err(format!(
                "{shown} or what it runs has changed since you trusted it: look at it, then run `abide capability trust {id}`"
            )),
            _ => Err(format!(
                "it is the project's and runs code: look at {shown}, then run `abide capability trust {id}`"
            )),
        }
    })
}

/// Returns the capabilities that come with abide, for those who only look at their names.
pub(crate) fn offered_here() -> CapabilityRegistry {
    let sandbox = Sandbox::unavailable("it was not tried");
    builtins(World { now: now(), files: in_memory(), sandbox, web: Web::default() })
}

/// Returns what is wrong with capability files that only shows when they are put together, for `abide validate`.
pub(crate) fn unfit(entry: &BundleEntry, registry: &mut CapabilityRegistry) -> Option<Diagnostic> {
    let bundle = entry.bundle.clone()?;
    let id = bundle.id.span;
    let ground = Ground {
        folder: entry.root.clone(),
        root: entry.root.clone(),
        launch: launcher(Arc::new(LocalProcess::new())),
        without: Vec::new(),
        check: Arc::new(|| Ok(())),
    };
    let error = registry.register(Arc::new(UserCapability::new(bundle, ground))).err()?;
    Some(Diagnostic::new(Code::BadCapability, id, error.to_string()))
}
