//! A skill as a task: its text filled in, and what bounds whoever does it.

use super::Loaded;
use abide_core::model::ModelName;
use abide_core::skill::text::Arguments;
use abide_process::LocalProcess;
use abide_skills::{Commands, Reads, Setting, expand};
use std::path::{Path, PathBuf};

/// What a skill may do while it is filled in.
pub(crate) struct Filling<'a> {
    pub(crate) commands: Commands,
    pub(crate) reads: Reads,
    /// The project's root.
    pub(crate) project: &'a Path,
    /// More folders that it may have files read from.
    pub(crate) allowed: Vec<PathBuf>,
    /// What `~` is.
    pub(crate) home: Option<PathBuf>,
    /// The variables of our environment that its commands do not get.
    pub(crate) without: &'a [String],
    /// The mark of every process that is started.
    pub(crate) mark: String,
}

/// A skill that is ready to be done.
pub(crate) struct Brief {
    /// What whoever does it is told.
    pub(crate) text: String,
    /// What could not be filled in.
    pub(crate) notes: Vec<String>,
    /// How many turns it has when it is run by itself.
    pub(crate) turns: u32,
    /// How many it says it has.
    pub(crate) own_turns: Option<u32>,
    /// The tools that it says it uses; it is given no others.
    pub(crate) tools: Option<Vec<String>>,
}

impl Brief {
    /// Fills a skill in.
    pub(crate) async fn of(
        loaded: &Loaded,
        arguments: &Arguments,
        process: &LocalProcess,
        filling: Filling<'_>,
    ) -> Self {
        let skill = &loaded.skill;
        let setting = Setting {
            folder: &loaded.folder,
            project: filling.project,
            reads: filling.reads,
            allowed: &filling.allowed,
            home: filling.home.as_deref(),
            commands: filling.commands,
            without: filling.without,
            mark: filling.mark,
        };
        let filled = expand(process, &skill.body, arguments, &setting).await;
        let text = format!(
            "{}\n\nBase directory for this skill: {}\nRelative paths in this skill (e.g., scripts/, reference/) are relative to this base directory.",
            filled.text.trim(),
            loaded.folder.display()
        );
        Self {
            text,
            notes: filled.notes,
            turns: skill.max_turns(),
            own_turns: skill.own_turns(),
            tools: skill.allowed_tools(),
        }
    }

    /// Returns the text with how often whoever does it may answer.
    pub(crate) fn bounded(&self) -> String {
        match self.own_turns {
            None | Some(1) => self.text.clone(),
            Some(turns) => format!(
                "{}\n\nYou have {turns} answers for this, those that call tools included. The last one must be the result, and calls nothing.",
                self.text
            ),
        }
    }
}

impl Loaded {
    /// Returns the model that the skill asks for, if that is the full name of one.
    pub(crate) fn model(&self) -> Option<ModelName> {
        self.skill.model().and_then(|name| ModelName::parse(name).ok())
    }
}
