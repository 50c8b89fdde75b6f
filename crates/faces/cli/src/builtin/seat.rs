//! An agent, put together: its profile, its model, its tools, and the gate in front of them.

use super::abilities::Abilities;
use super::rules::{Disk, Manner, ProfileRules};
use super::session_gate::SessionGate;
use super::skills::{Bounds, Workshop};
use crate::Surroundings;
use crate::capabilities::{Further, Reach};
use crate::gate::{self, gate};
use crate::models::{self, Openable};
use crate::runs::{self, SystemClock};
use crate::session::{Session, secret_variables};
use crate::skills::KeptShelf;
use abide_capabilities::{Now, Sandbox, Workspace, World, builtins, launcher};
use abide_catalog::Place;
use abide_core::capability::Conflicts;
use abide_core::definition::{AgentName, AgentProfile, AgentTools, Budget, Enforcement, StepType};
use abide_core::diagnostic::nearest;
use abide_core::model::{ModelName, Patience};
use abide_core::policy::{self, Active, ActiveStep, Client, Grants, Situation, ToolKind, kind, names_tool};
use abide_core::source::{Span, Spanned};
use abide_engine::capability::Choice;
use abide_engine::port::{Clock as _, Confirm, ModelError, NobodyToAsk, Store as _, Task, ToolSpec, Worker};
use abide_engine::toolbox::{CheckedTool, Toolbox};
use abide_engine::turn::{CallTree, Gate, ModelSeat, Seat, StepGate};
use abide_process::LocalProcess;
use abide_store_sqlite::{SqliteSessionFiles, SqliteStore};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// Where agents talk: the machine and the project, as far as putting one together needs them.
pub(crate) struct Here {
    pub(super) surroundings: Surroundings,
    pub(super) place: Place,
    log: PathBuf,
    pub(super) process: Arc<LocalProcess>,
    skills: Arc<KeptShelf>,
}

/// Who is to be put together, and for what.
pub(crate) struct Wanted<'a> {
    pub(crate) agent: String,
    /// The model, where it is not the agent's own.
    pub(crate) model: Option<ModelName>,
    /// What it talks for.
    pub(crate) purpose: Purpose<'a>,
    pub(crate) manner: Manner,
    /// The mark of the processes that it starts.
    pub(crate) mark: String,
    pub(crate) confirm: Arc<dyn Confirm>,
}

/// What an agent is put together for: that says what holds it.
pub(crate) enum Purpose<'a> {
    /// A step of a run.
    Step(&'a Task),
    /// A conversation, in which it may run abilities if there are any for it.
    Talk(SessionGate, Option<Abilities>),
}

impl<'a> Wanted<'a> {
    fn task(&self) -> Option<&'a Task> {
        match &self.purpose {
            Purpose::Step(task) => Some(task),
            Purpose::Talk(..) => None,
        }
    }

    /// Asks for the agent of a step.
    pub(super) fn step(agent: String, task: &'a Task) -> Self {
        Self {
            agent,
            model: None,
            purpose: Purpose::Step(task),
            manner: Manner::Step,
            mark: task.mark.clone(),
            confirm: Arc::new(NobodyToAsk),
        }
    }
}

impl Here {
    pub(crate) fn of(session: &Session<'_>) -> Self {
        Self {
            surroundings: session.surroundings.clone(),
            place: session.place.clone(),
            log: runs::log_file(session),
            process: Arc::new(LocalProcess::new().only_parent()),
            skills: Arc::new(KeptShelf::new(session.surroundings.clone(), session.place.clone())),
        }
    }

    /// Returns the skills of the place.
    pub(crate) fn skills(&self) -> &Arc<KeptShelf> {
        &self.skills
    }

    /// Returns where sessions are kept.
    fn sessions(&self) -> PathBuf {
        self.log.with_file_name("sessions.db")
    }

    /// Puts an agent together, or says what is missing.
    pub(crate) async fn seat(&self, wanted: &Wanted<'_>) -> Result<Seat, String> {
        Ok(self.furnished(wanted).await?.0)
    }

    /// Puts an agent together, with what it loads and runs skills with.
    pub(crate) async fn furnished(&self, wanted: &Wanted<'_>) -> Result<(Seat, Arc<Workshop>), String> {
        let (seat, profile) = self.unfurnished(wanted).await?;
        let granted = wanted.task().and_then(|task| task.tools.clone());
        let project = wanted.task().map_or_else(|| self.place.root(), |task| task.folder.clone());
        let hidden = self.hidden_from(wanted.task());
        let workshop = self.workshop(&seat, profile, granted, (project, wanted.mark.clone()), hidden);
        let toolbox = workshop.toolbox(&seat.tree, &Bounds::default()).await?;
        Ok((Seat { toolbox, ..seat }, workshop))
    }

    /// Makes what an agent loads and runs skills with.
    pub(super) fn workshop(
        &self,
        seat: &Seat,
        profile: AgentProfile,
        granted: Option<Vec<String>>,
        (project, mark): (PathBuf, String),
        hidden: Vec<String>,
    ) -> Arc<Workshop> {
        Arc::new(Workshop {
            kept: Arc::clone(&self.skills),
            profile,
            granted,
            tools: seat.toolbox.iter().map(CheckedTool::handler).collect(),
            model: seat.model.clone(),
            model_name: seat.model_name.clone(),
            system: seat.system.clone(),
            permissions: Arc::clone(&seat.permissions),
            gate: Arc::clone(&seat.gate),
            confirm: Arc::clone(&seat.confirm),
            process: Arc::clone(&self.process),
            project,
            place: self.policy_place(),
            mark,
            hidden,
            sessions: self.sessions(),
            store: OnceLock::new(),
        })
    }

    /// Returns the variables with secrets, which nothing gets that is started for an agent: those of the configuration, and of a
    /// step those of its run.
    pub(super) fn hidden_from(&self, task: Option<&Task>) -> Vec<String> {
        let own = self.quietly(secret_variables);
        own.into_iter().chain(task.into_iter().flat_map(|task| task.without.iter().cloned())).collect()
    }

    async fn unfurnished(&self, wanted: &Wanted<'_>) -> Result<(Seat, AgentProfile), String> {
        let Chosen { profile, model, openable, without, budget } = self.chosen(wanted)?;
        let (http, facts) = openable.open().await.map_err(|error| with_help(&error))?;
        let equipment = self.equipped(&profile, wanted, without).await?;
        let gate: Arc<dyn Gate> = match &wanted.purpose {
            Purpose::Step(task) => self.step_gate(&wanted.agent, task).await,
            Purpose::Talk(gate, _) => Arc::new(gate.clone()),
        };
        let (system, toolbox) = equipment;
        let place = self.policy_place();
        let rules = ProfileRules { profile: profile.clone(), place, manner: wanted.manner };
        let seat = Seat {
            model: ModelSeat {
                model: Arc::new(http),
                name: model.model().to_owned(),
                facts,
                patience: Patience::default(),
            },
            model_name: model.to_string(),
            system,
            toolbox,
            permissions: Arc::new(rules),
            gate,
            confirm: Arc::clone(&wanted.confirm),
            tree: CallTree::new(budget.envelope()),
        };
        Ok((seat, profile))
    }

    /// Says what is missing if there is no model that any agent could be asked with.
    pub(crate) fn no_model(&self) -> Option<String> {
        self.quietly(|session| {
            let survey = models::survey(session);
            let own = survey.models.iter().find(|model| !model.agents.is_empty());
            let named = survey.default.as_ref().and_then(|name| survey.model(name)).or(own);
            let others = "or name another `runner` (`claude`, `opencode`, `codex`), or let an agent start it (see `abide install --help`)";
            match named {
                None => Some(format!("{NO_MODEL}, {others}")),
                Some(model) => {
                    let trouble = model.trouble.as_ref()?;
                    Some(format!("{}: {}, {others}", trouble.problem, trouble.help))
                }
            }
        })
    }

    /// Finds the model that puts the output of a step in short: that of the agent that did it, else the configured one.
    pub(super) fn summarizing(&self, agent: Option<&str>) -> Result<(ModelName, Openable), String> {
        self.quietly(|session| {
            let own = agent.and_then(|agent| profile(session, agent).ok()?.model);
            let own = own.and_then(|model| ModelName::parse(&model.value).ok());
            let own = own.and_then(|model| Some((models::openable(session, &model).ok()?, model)));
            if let Some((openable, model)) = own {
                return Ok((model, openable));
            }
            let model = session.configuration().config.model.map(|model| model.value);
            let model = model.ok_or_else(|| NO_MODEL.to_owned())?;
            let openable = models::openable(session, &model).map_err(|error| with_help(&error))?;
            Ok((model, openable))
        })
    }

    /// Does something as a command would that was started here.
    pub(super) fn quietly<T>(&self, work: impl FnOnce(&Session<'_>) -> T) -> T {
        let (mut out, mut talk) = (io::sink(), io::sink());
        work(&Session::quiet(&self.surroundings, self.place.clone(), &mut out, &mut talk))
    }

    /// Finds the profile, the model and what must be kept from commands.
    fn chosen(&self, wanted: &Wanted<'_>) -> Result<Chosen, String> {
        self.quietly(|session| {
            let config = session.configuration().config;
            let profile = profile(session, &wanted.agent)?;
            let own = profile.model.as_ref().and_then(|model| ModelName::parse(&model.value).ok());
            let model =
                wanted.model.clone().or(own).or(config.model.as_ref().map(|model| model.value.clone()));
            let model = model.ok_or_else(|| format!("agent `{}`: {NO_MODEL}", wanted.agent))?;
            let openable = models::openable(session, &model).map_err(|error| with_help(&error))?;
            let without = kept_from_commands(session);
            let budget = config.budget.and(profile.budget);
            Ok(Chosen { profile, model, openable, without, budget })
        })
    }

    /// Gives an agent its tools: those of its capabilities and those of the project, as far as it may use them.
    async fn equipped(
        &self,
        profile: &AgentProfile,
        wanted: &Wanted<'_>,
        mut without: Vec<String>,
    ) -> Result<(String, Toolbox), String> {
        let of_run = wanted.task().map(|task| task.without.as_slice()).unwrap_or_default();
        without.extend_from_slice(of_run);
        let now: Now = Arc::new(|| SystemClock.now());
        let files =
            SqliteSessionFiles::open(&self.log.with_file_name("files.db"), Arc::new(|| SystemClock.now().0))
                .map_err(|error| error.to_string())?;
        let launch = launcher(Arc::clone(&self.process));
        let further = self.quietly(|session| Further::of(session, Arc::clone(&self.process)).hiding(of_run));
        let ids: Vec<&str> = profile.capabilities.iter().map(|one| one.id.value.as_str()).collect();
        let wants_code = further.with_needs(&ids).iter().any(|id| id == "sandbox");
        let sandbox = if wants_code {
            Sandbox::probe(Arc::clone(&launch)).await
        } else {
            Sandbox::unavailable("nobody asked for it")
        };
        let registry = builtins(World { now, files: Arc::new(files), sandbox, web: further.web() });
        let mut registry = further.added_to(registry, Reach::Only(&ids)).await.registry;
        let root = wanted.task().map_or_else(|| self.place.root(), |task| task.folder.clone());
        // The files of a skill lie where the skill does, which need not be in the project.
        let (skills, reader) = (Arc::clone(&self.skills), profile.clone());
        let workspace = Workspace::new(root, launch, wanted.mark.clone(), without)
            .with_reading(Arc::new(move |path| skills.with(|shelf| shelf.folder_of(path, &reader))));
        registry.register(Arc::new(workspace)).map_err(|error| error.to_string())?;
        let mut choices: Vec<Choice> = profile
            .capabilities
            .iter()
            .map(|capability| Choice {
                id: capability.id.value.clone(),
                configuration: capability.configuration.as_ref().map(abide_formats::json::to_json),
            })
            .collect();
        if !choices.iter().any(|choice| choice.id == Workspace::ID) {
            choices.push(Choice::of(Workspace::ID));
        }
        if let Purpose::Talk(_, Some(abilities)) = &wanted.purpose {
            registry.register(Arc::new(abilities.clone())).map_err(|error| error.to_string())?;
            // It comes first: of two tools with one name, the other gets an alias.
            choices.insert(0, Choice::of(Abilities::ID));
        }
        let equipment = registry.equip(&choices, &profile.prompt, Conflicts::Alias).map_err(|errors| {
            let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
            format!("the agent `{}` cannot be equipped: {}", profile.name.as_str(), errors.join("; "))
        })?;
        let may_use = |spec: &ToolSpec| {
            // What a run is done with is no tool of the profile; which abilities it may run is. Nobody else's tool may
            // have such a name, because the gate lets it pass.
            if let ToolKind::Own(_) = kind(Client::Other, spec.name.as_str()) {
                return matches!(wanted.purpose, Purpose::Talk(_, Some(_)));
            }
            let by_step = wanted.task().and_then(|task| task.tools.as_deref());
            let by_step = by_step.is_none_or(|names| names_tool(names, Client::Other, spec.name.as_str()));
            by_step && has(profile, spec)
        };
        let own = equipment.toolbox.iter().filter(|tool| may_use(tool.spec())).map(CheckedTool::handler);
        let toolbox = Toolbox::new(own).map_err(|error| error.to_string())?;
        Ok((equipment.system_prompt, toolbox))
    }

    /// Makes the gate of a step: its grants and nothing else, whatever the level of the ability.
    pub(super) async fn step_gate(&self, agent: &str, task: &Task) -> Arc<dyn Gate> {
        let ability = self.ability_of(task).await;
        let grants = task.tools.clone().map_or(Grants::Own, Grants::Only);
        let active = Active {
            run: task.run.to_string(),
            ability: ability.clone().unwrap_or_default(),
            level: Enforcement::Strict,
            step: Some(ActiveStep {
                id: task.key.step.as_str().to_owned(),
                step_type: match task.worker {
                    Worker::Agent { .. } => StepType::Agent,
                    Worker::Skill { .. } => StepType::Skill,
                },
                grants,
                task: first_line(&task.prompt),
                waits_for_human: false,
            }),
            done: 0,
            total: 0,
            warned: false,
            worker: true,
        };
        Arc::new(StepGate {
            situation: self.situation(agent, policy::Session::Active(Box::new(active))),
            files: Arc::new(Disk),
        })
    }

    fn situation(&self, agent: &str, session: policy::Session) -> Situation {
        let held =
            gate(&self.surroundings).map(|gate| gate::held(&self.surroundings, &gate, &self.place, agent));
        let place = self.policy_place();
        match held {
            Some(Ok((reserved, guarded, rights))) => Situation {
                place,
                session,
                seat: policy::Seat::Main,
                agent: rights,
                reserved,
                guarded,
                processes: vec![std::process::id()],
            },
            // What cannot be known is held as strictly as can be.
            Some(Err(why)) => nothing_known(place, why),
            None => nothing_known(place, "there is no folder for the gate's state: set HOME".to_owned()),
        }
    }

    pub(super) fn policy_place(&self) -> policy::Place {
        let root = self.place.root().display().to_string();
        policy::Place { cwd: root.clone(), root, home: self.surroundings.variable("HOME") }
    }

    /// Reads from the log which ability a run is one of.
    async fn ability_of(&self, task: &Task) -> Option<String> {
        let store = SqliteStore::find(&self.log, runs::settings()).ok()??;
        let head = store.head(task.run.as_str()).await.ok()??;
        runs::text_of(&runs::summary(&head), "ability").map(str::to_owned)
    }
}

/// Returns what commands of agents are not given: what abide asks models with, and what steps are given alone.
pub(super) fn kept_from_commands(session: &Session<'_>) -> Vec<String> {
    secret_variables(session).into_iter().chain(models::key_variables(session)).collect()
}

/// Says why a model cannot be asked, and what to do about it.
pub(super) fn with_help(error: &ModelError) -> String {
    let help = error.help.as_ref().map(|help| format!(": {help}")).unwrap_or_default();
    format!("{error}{help}")
}

/// What was found about an agent.
struct Chosen {
    profile: AgentProfile,
    model: ModelName,
    openable: Openable,
    without: Vec<String>,
    budget: Budget,
}

pub(super) fn nothing_known(place: policy::Place, why: String) -> Situation {
    Situation {
        place,
        session: policy::Session::Unreadable { level: Some(Enforcement::Strict), why },
        seat: policy::Seat::Main,
        agent: policy::AgentRights::Only(Vec::new()),
        reserved: Vec::new(),
        guarded: Vec::new(),
        processes: vec![std::process::id()],
    }
}

/// Finds the profile of an agent, with what the configuration adds to it.
pub(crate) fn profile(session: &Session<'_>, name: &str) -> Result<AgentProfile, String> {
    let config = session.configuration().config;
    let entries = session.catalog().agents();
    let settings = config.agents.iter().find(|(known, _)| known.as_str() == name);
    let found = entries.iter().find(|entry| &*entry.name == name);
    let profile = match (found.and_then(|entry| entry.profile.clone()), settings) {
        (Some(profile), None) => return Ok(profile),
        (Some(profile), Some(_)) => profile,
        (None, Some((name, _))) => AgentProfile::named(name.clone()),
        (None, None) if found.is_some() => return Err(format!("the profile of agent `{name}` has errors")),
        (None, None) => {
            let parsed = AgentName::parse(name).map_err(|error| error.to_string())?;
            if name == "default" {
                return Ok(AgentProfile::named(Spanned::new(parsed, Span::default())));
            }
            let near = nearest(name, entries.iter().map(|entry| &*entry.name));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(format!("there is no agent `{name}`{near}"));
        }
    };
    Ok(match settings {
        Some((_, settings)) => profile.configured(settings),
        None => profile,
    })
}

/// Returns whether a profile has a tool at all; which calls of it are made is said call by call.
fn has(profile: &AgentProfile, spec: &ToolSpec) -> bool {
    match &profile.tools {
        None | Some(AgentTools::Switched(_)) => true,
        Some(AgentTools::Only(names)) => {
            let names: Vec<String> = names.iter().map(|name| name.value.clone()).collect();
            names_tool(&names, Client::Other, spec.name.as_str())
        }
    }
}

/// What is said where no model is set.
pub(super) const NO_MODEL: &str = "no model is set: set `model: provider/name` in the configuration or in the agent's profile (`abide model list` shows what can be used)";

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(200).collect()
}
