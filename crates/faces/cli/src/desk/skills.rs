//! The skill tool of the server: which skills there are, and what one says.
//!
//! What was found stays in memory. A thread watches the folders; only when something changed there, or half a minute is
//! over (a program may have been installed), is the disk looked at again.

use super::{LocalDesk, refused};
use crate::skills::{Shelf, Unfit};
use abide_catalog::{Catalog, Watch};
use abide_mcp::desk::{MoreTool, Report};
use serde_json::{Map, Value, json};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// What the tool is called.
pub(super) const TOOL: &str = "skill";
/// How long what is known about the machine counts.
const FRESH: Duration = Duration::from_secs(30);
/// How often the thread that watches looks whether anybody still listens.
const PATIENCE: Duration = Duration::from_secs(5);

/// The skills of the desk, once somebody asked for them.
#[derive(Default)]
pub(super) struct SkillDesk {
    shelf: Mutex<Option<Kept>>,
    changes: OnceLock<Option<watch::Receiver<u64>>>,
}

struct Kept {
    shelf: Shelf,
    looked: Instant,
    change: u64,
}

impl LocalDesk {
    /// Returns the counter of changes; nothing where files cannot be watched.
    pub(super) fn skill_changes(&self) -> Option<&watch::Receiver<u64>> {
        let start = || {
            let (place, configuration) =
                self.quietly(|session| Ok((session.place.clone(), session.configuration()))).ok()?;
            let mut watch = Watch::start().ok()?;
            let catalog = Catalog::open(place, configuration);
            let (sender, receiver) = watch::channel(0);
            std::thread::spawn(move || {
                while !sender.is_closed() && watch.follow(&catalog).is_ok() {
                    match watch.wait(PATIENCE) {
                        Ok(true) => sender.send_modify(|count| *count += 1),
                        Ok(false) => {}
                        Err(_) => return,
                    }
                }
            });
            Some(receiver)
        };
        self.skills.changes.get_or_init(start).as_ref()
    }

    /// Works with the skills as they are now.
    fn with_shelf<T>(&self, work: impl FnOnce(&Shelf) -> T) -> Result<T, Report> {
        let count = self.skill_changes().map(|changes| *changes.borrow());
        let mut kept: MutexGuard<'_, _> = self.skills.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = |kept: &Kept| Some(kept.change) == count && kept.looked.elapsed() < FRESH;
        if !kept.as_ref().is_some_and(fresh) {
            let (looked, change) = (Instant::now(), count.unwrap_or_default());
            let found = match kept.take() {
                Some(mut known) => {
                    let configuration = self
                        .quietly(|session| Ok(session.configuration()))
                        .map_err(|failure| refused(&failure))?;
                    known.shelf.catalog.reconfigure(configuration);
                    known.shelf.refresh(&self.surroundings);
                    known.shelf
                }
                None => {
                    self.quietly(|session| Ok(Shelf::open(session))).map_err(|failure| refused(&failure))?
                }
            };
            *kept = Some(Kept { shelf: found, looked, change });
        }
        // Filled a line above.
        let kept = kept.as_ref().ok_or_else(|| Report::failure("the skills cannot be listed"))?;
        Ok(work(&kept.shelf))
    }

    /// Returns the skill tool with what it can load.
    pub(super) fn skill_tools(&self) -> Vec<MoreTool> {
        let Ok(description) = self.with_shelf(|shelf| shelf.describe(None)) else { return Vec::new() };
        let schema = json!({
            "type": "object",
            "properties": { "name": { "type": "string", "description": "The name of the skill, as it is listed" } },
            "required": ["name"],
            "additionalProperties": false,
        });
        let Value::Object(schema) = schema else { return Vec::new() };
        vec![MoreTool {
            name: TOOL.to_owned(),
            title: "Load a skill".to_owned(),
            description,
            schema,
            reads_only: true,
        }]
    }

    /// Loads a skill.
    pub(super) fn skill(&self, arguments: &Map<String, Value>) -> Report {
        let Some(name) = arguments.get("name").and_then(Value::as_str).filter(|_| arguments.len() == 1)
        else {
            return Report::failure("`skill` takes one argument: `name`, the name of the skill");
        };
        // No hook tells whose call it is, so only what nobody may do is refused here; the hook judges the call itself.
        let loaded = self.with_shelf(|shelf| {
            let loaded = shelf.load(name, None)?;
            Ok((loaded.for_agent(), loaded.folder.display().to_string()))
        });
        match loaded {
            Ok(Ok((text, folder))) => {
                let data = [("name".to_owned(), name.into()), ("dir".to_owned(), folder.into())];
                Report { text, data: Map::from_iter(data), failed: false }
            }
            Ok(Err(Unfit::Ask(why))) => {
                Report::failure(format!("{why}; a human must agree, and cannot be asked here"))
            }
            Ok(Err(Unfit::Unknown(why) | Unfit::Denied(why) | Unfit::Unusable(why))) => Report::failure(why),
            Err(report) => report,
        }
    }
}
