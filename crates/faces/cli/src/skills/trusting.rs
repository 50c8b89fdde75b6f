//! Which skills may run commands: the user's own, and those of a project that the user has looked at.

use super::shelf::{Loaded, Shelf};
use crate::ui::visible::visible;
use crate::{Exit, Failure};
use abide_catalog::{Origin, Trust, TrustKind};
use abide_core::skill::text::{Piece, pieces};
use abide_skills::{Commands, Reads};
use abide_trust::{Digest, Scope, TrustError, digest};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What the user said about the folder of a skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Yes, to just what it holds.
    Trusted,
    /// Yes, and it has changed since.
    Changed,
    /// Nothing.
    Unknown,
}

/// What a person is asked before a skill that came with the project runs commands.
pub(crate) struct Question {
    name: String,
    changed: bool,
    commands: Vec<String>,
    folder: PathBuf,
    digest: Digest,
}

impl Question {
    /// Returns what they are shown.
    pub(crate) fn text(&self) -> String {
        let why = if self.changed { "has changed since it was trusted" } else { "came with the project" };
        let mut text = format!("the skill {} {why}, and would run, as you:\n", visible(&self.name, true));
        for command in &self.commands {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "  {}", visible(command, true));
        }
        let folder = self.folder.display().to_string();
        let _ = writeln!(text, "all of it lies in {}", visible(&folder, true));
        text + "trust it, until it changes? [y/N] "
    }

    /// Returns whether an answer is a clear yes.
    pub(crate) fn is_yes(answer: &str) -> bool {
        matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes")
    }
}

impl Shelf {
    /// Returns whether the commands of a skill run: those of the user's own do, those of a project when it is trusted.
    fn commands(&self, loaded: &Loaded) -> Commands {
        let name = &loaded.skill.name;
        if loaded.origin != Origin::Project {
            return Commands::Run;
        }
        match self.standing(&loaded.folder, Some(loaded)) {
            Ok((Standing::Trusted, _)) => Commands::Run,
            Ok((Standing::Unknown, _)) => Commands::Refused(format!(
                "the skill came with the project; look at it, then `abide skill trust {name}`"
            )),
            Ok((Standing::Changed, _)) => Commands::Refused(format!(
                "the skill changed since it was trusted; look at it, then `abide skill trust {name}`"
            )),
            Err(error) => Commands::Refused(error.to_string()),
        }
    }

    /// Returns whether the commands of a skill run, and where it may have files read: one of a project that nobody has looked
    /// at, in its own folder alone.
    pub(crate) fn rights(&self, loaded: &Loaded) -> (Commands, Reads) {
        let commands = self.commands(loaded);
        let reads = match commands {
            Commands::Run => Reads::Project,
            Commands::Refused(_) => Reads::Skill,
        };
        (commands, reads)
    }

    /// Returns the digest of the folder of a skill, with what its links lead to; what was read of it counts as it was read.
    pub(crate) fn digest(&self, folder: &Path, loaded: Option<&Loaded>) -> Result<Digest, TrustError> {
        let read = loaded.map(|loaded| (&*loaded.file, loaded.source.as_slice()));
        digest(folder, Scope { within: &self.links, read })
    }

    /// Returns what a person is asked before the commands of a skill run; nothing when nobody needs to be asked.
    pub(crate) fn question(&self, loaded: &Loaded) -> Option<Question> {
        if loaded.origin != Origin::Project {
            return None;
        }
        let commands = pieces(&loaded.skill.body).into_iter().filter_map(|piece| match piece {
            Piece::Command { command } => Some(command.to_owned()),
            Piece::Text(_) | Piece::File { .. } => None,
        });
        let commands: Vec<String> = commands.collect();
        let (standing, digest) = self.standing(&loaded.folder, Some(loaded)).ok()?;
        if commands.is_empty() || standing == Standing::Trusted {
            return None;
        }
        let name = loaded.skill.name.clone();
        Some(Question {
            name,
            changed: standing == Standing::Changed,
            commands,
            folder: loaded.folder.clone(),
            digest,
        })
    }

    /// Trusts what a person was shown and said yes to: what changed meanwhile has another digest, and does not run.
    pub(crate) fn accept(&self, question: &Question) -> Result<(), Failure> {
        let at = place_of(&question.folder);
        self.store()?
            .trust(TrustKind::Skill, &at, question.digest.as_str())
            .map_err(|error| remembering(&error))
    }

    /// Returns the folders outside the project that skills may have files read from, and what `~` is.
    pub(crate) fn further(&self) -> (Vec<PathBuf>, Option<PathBuf>) {
        let place = self.catalog.place();
        let folders = &self.catalog.configuration().config.skills.reads;
        (folders.iter().map(|folder| place.resolve(folder)).collect(), place.home.clone())
    }

    /// Returns what the user said about the folder of a skill, and what it holds.
    pub(crate) fn standing(
        &self,
        folder: &Path,
        loaded: Option<&Loaded>,
    ) -> Result<(Standing, Digest), TrustError> {
        let digest = self.digest(folder, loaded)?;
        let at = place_of(folder);
        let standing = match &self.trust {
            Some(trust) if trust.holds(TrustKind::Skill, &at, digest.as_str()) => Standing::Trusted,
            Some(trust) if trust.knows(TrustKind::Skill, &at) => Standing::Changed,
            _ => Standing::Unknown,
        };
        Ok((standing, digest))
    }

    /// Trusts the folder of a skill as it is now, or as it was read.
    pub(crate) fn trust(&self, folder: &Path, loaded: Option<&Loaded>) -> Result<Digest, Failure> {
        let digest = self.digest(folder, loaded).map_err(|error| failed(&error))?;
        self.store()?
            .trust(TrustKind::Skill, &place_of(folder), digest.as_str())
            .map_err(|error| remembering(&error))?;
        Ok(digest)
    }

    /// Takes the trust back; returns whether there was any.
    pub(crate) fn untrust(&self, folder: &Path) -> Result<bool, Failure> {
        self.store()?.forget(TrustKind::Skill, &place_of(folder)).map_err(|error| remembering(&error))
    }

    fn store(&self) -> Result<&Trust, Failure> {
        let missing = || {
            Failure::new(Exit::System, "there is no folder to remember trust in")
                .help("set HOME or XDG_CONFIG_HOME")
        };
        self.trust.as_ref().ok_or_else(missing)
    }
}

pub(crate) fn failed(error: &TrustError) -> Failure {
    Failure::new(Exit::System, error.to_string())
}

/// Returns the one name of a folder.
fn place_of(folder: &Path) -> String {
    folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()).display().to_string()
}

fn remembering(error: &abide_catalog::TrustError) -> Failure {
    Failure::new(Exit::System, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Surroundings;
    use crate::skills::Reader;
    use abide_catalog::{Catalog, Configuration, Place};

    #[expect(clippy::disallowed_methods, reason = "the skills are files")]
    #[test]
    fn what_was_swapped_while_it_was_read_does_not_run() {
        let folder = tempfile::tempdir().unwrap();
        let start = folder.path().canonicalize().unwrap();
        let file = start.join(".abide/skills/x/SKILL.md");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let write = |body: &str| std::fs::write(&file, format!("---\nname: x\n---\n{body}\n")).unwrap();
        write("!`echo good`");
        let surroundings = Surroundings {
            folder: start.clone(),
            variables: Vec::new(),
            binary: None,
            terminal: false,
            terminal_in: false,
            width: || None,
        };
        let config_home = Some(start.join("config"));
        let place = Place { start: start.clone(), home: None, config_home };
        let configuration = Configuration::load(&place, |_| None);
        let shelf = Shelf::of(&surroundings, Catalog::open(place, configuration));
        shelf.trust(file.parent().unwrap(), None).unwrap();
        let load = || shelf.load("x", Reader::Person).unwrap();
        assert_eq!(shelf.rights(&load()), (Commands::Run, Reads::Project));
        // It is evil while it is read, and good again when it is looked at.
        write("!`echo evil`");
        let evil = load();
        write("!`echo good`");
        assert!(matches!(shelf.rights(&evil), (Commands::Refused(_), Reads::Skill)));
        // And the other way round: what was read is what was trusted, and is what runs.
        let good = load();
        write("!`echo evil`");
        assert_eq!(shelf.rights(&good), (Commands::Run, Reads::Project));
        assert!(good.skill.body.contains("good"));
    }
}
