//! What a driver knows of the secrets of a run and of those around it: it masks them, and it says which variables of
//! our environment would give them away.

use super::attempt::masked;
use super::drive::Drive;
use super::{Busy, Driver};
use crate::port::{Clock, Process, Store, Variable, Workspace};
use abide_core::definition::{Environment, Input, StepKind};
use abide_core::event::RunId;
use abide_core::run::{Command, Run};
use abide_core::value::output::{Masker, Secret};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// The secrets of a run, shared with the runs that it calls: what one of them was told, another may say.
#[derive(Default)]
pub(super) struct Vault {
    known: Mutex<Known>,
    /// Named secrets that a driver before this one gave to a step and that only a command yields again.
    owed: tokio::sync::Mutex<BTreeSet<String>>,
}

#[derive(Default)]
struct Known {
    secrets: Vec<Secret>,
    /// Takes out all of them; nothing as long as there are none.
    masker: Option<Masker>,
    hidden: BTreeSet<String>,
}

impl Vault {
    fn with<T>(&self, look: impl FnOnce(&mut Known) -> T) -> T {
        look(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes in a value, which is masked from now on; the error is why it cannot be.
    pub(super) fn learn(&self, name: &str, value: &str) -> Result<(), String> {
        let secret = Secret::new(value).map_err(|error| format!("`{name}`: {error}"))?;
        self.with(|known| {
            if !known.secrets.contains(&secret) {
                known.secrets.push(secret);
                known.masker = Some(Masker::new(&known.secrets));
            }
        });
        Ok(())
    }

    /// Returns what takes the secrets that are known by now out of a stream.
    pub(super) fn masker(&self) -> Masker {
        self.with(|known| known.masker.clone()).unwrap_or_else(|| Masker::new([]))
    }

    /// Lets a masker know what was learned since it was made.
    pub(super) fn teach(&self, masker: &mut Masker) {
        self.with(|known| {
            if let Some(latest) = &known.masker {
                masker.learn(latest);
            }
        });
    }

    /// Returns a text without secrets.
    pub(super) fn masked(&self, text: &str) -> String {
        masked(&self.masker(), text)
    }

    /// Returns the variables of our environment that no process gets.
    pub(super) fn hidden(&self) -> Vec<String> {
        self.with(|known| known.hidden.iter().cloned().collect())
    }
}

impl<S: Store, P: Process, W: Workspace, C: Clock> Driver<S, P, W, C> {
    /// Returns what is known of the secrets of a run; nothing when this driver does not drive it.
    pub(super) fn vault(&self, run: &RunId) -> Arc<Vault> {
        let vaults = self.vaults.lock().unwrap_or_else(PoisonError::into_inner);
        vaults.get(run).map(Arc::clone).unwrap_or_default()
    }

    /// Lets a run share what is known with the one that calls it.
    pub(super) fn share_vault(&self, parent: &RunId, child: &RunId) {
        let mut vaults = self.vaults.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = vaults.entry(parent.clone()).or_default();
        let shared = Arc::clone(shared);
        vaults.entry(child.clone()).or_insert(shared);
    }

    /// Returns what is known once a step's own secrets are, before anything of the step begins.
    pub(super) async fn opened_vault(&self, run: &Run, named: &[Variable]) -> Result<Arc<Vault>, String> {
        let vault = self.vault(&run.id);
        {
            // Whoever comes meanwhile waits, and does not run the command again.
            let mut owed = vault.owed.lock().await;
            while let Some(name) = owed.first().cloned() {
                // One that cannot be had any more fails the step that takes it, and no other.
                if let Ok(value) = self.workspace.secret(&name).await {
                    let _ = vault.learn(&name, &value);
                }
                owed.remove(&name);
            }
        }
        for (name, value) in &self.secrets_of(&run.id) {
            vault.learn(name, value)?;
        }
        for variable in named {
            vault.learn(&variable.name, &variable.value)?;
        }
        Ok(vault)
    }

    /// Returns what somebody says about a run without the secrets that this driver knows.
    pub(crate) fn unsaid(&self, run: &RunId, command: Command) -> Command {
        let vault = self.vault(run);
        let text = |text: Option<String>| text.map(|text| vault.masked(&text));
        match command {
            Command::Answer { key, answer, by, comment, now } => {
                Command::Answer { key, answer, by, comment: text(comment), now }
            }
            Command::AnswerPlan { by, approved, comment } => {
                Command::AnswerPlan { by, approved, comment: text(comment) }
            }
            Command::Cancel { by, reason } => Command::Cancel { by, reason: text(reason) },
            other => other,
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
        self.vaults.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.id);
    }
}

impl<S: Store, P: Process, W: Workspace, C: Clock> Drive<'_, S, P, W, C> {
    /// Takes in what can be known of the run's secrets before anything of it begins.
    ///
    /// No command runs for it: one that a step needs runs when the step begins, and again after another driver only if a
    /// step has had its value.
    pub(super) async fn open_vault(&self) {
        let (driver, run) = (self.driver, &self.loaded.run);
        let vault = {
            let mut vaults = driver.vaults.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(vaults.entry(run.id.clone()).or_default())
        };
        for (name, value) in &self.secrets {
            // A step that uses one which cannot be masked is refused when it begins.
            let _ = vault.learn(name, value);
        }
        let given = run.ability.inputs.iter().filter(|input| input.is_secret()).map(Input::variable);
        let hidden: Vec<String> = driver.workspace.secret_variables().into_iter().chain(given).collect();
        vault.with(|known| known.hidden.extend(hidden));
        let mut owed = BTreeSet::new();
        for (step, definition) in run.ability.steps.iter().enumerate() {
            let StepKind::Script(script) = &definition.kind else { continue };
            for (_, value) in &script.env {
                let Environment::Secret(name) = &value.value else { continue };
                match driver.workspace.secret_at_hand(name.as_str()) {
                    Some(value) => drop(vault.learn(name.as_str(), &value)),
                    None if run.steps[step].instances.iter().any(|instance| instance.attempt > 0) => {
                        owed.insert(name.to_string());
                    }
                    None => {}
                }
            }
        }
        vault.owed.lock().await.extend(owed);
    }
}
