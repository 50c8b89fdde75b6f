//! The skill tool of the server: which skills there are, and what one says.
//!
//! What was found stays in memory ([`KeptShelf`]), and clients are told when it changed.

use super::{LocalDesk, refused};
use crate::skills::{KeptShelf, Reader, Shelf, Unfit};
use abide_mcp::desk::{MoreTool, Report};
use serde_json::{Map, Value, json};
use std::sync::OnceLock;
use tokio::sync::watch;

/// What the tool is called.
pub(super) const TOOL: &str = "skill";
/// The skills of the desk, once somebody asked for them.
#[derive(Default)]
pub(super) struct SkillDesk(OnceLock<KeptShelf>);

impl LocalDesk {
    fn kept_skills(&self) -> Result<&KeptShelf, Report> {
        if let Some(kept) = self.skills.0.get() {
            return Ok(kept);
        }
        let place = self.quietly(|session| Ok(session.place.clone())).map_err(|failure| refused(&failure))?;
        Ok(self.skills.0.get_or_init(|| KeptShelf::new(self.surroundings.clone(), place)))
    }

    /// Returns the counter of changes; nothing where files cannot be watched.
    pub(super) fn skill_changes(&self) -> Option<&watch::Receiver<u64>> {
        self.kept_skills().ok()?.changes()
    }

    /// Works with the skills as they are now.
    fn with_shelf<T>(&self, work: impl FnOnce(&Shelf) -> T) -> Result<T, Report> {
        let kept = self.kept_skills()?;
        // This process stays: changes are noticed from the first look on.
        kept.changes();
        Ok(kept.with(work))
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
            let loaded = shelf.load(name, Reader::Agent(None))?;
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
