//! The configuration that applies to a place: the user's, under the project's, under the environment.

use crate::file::read_text;
use crate::skills::Elsewhere;
use crate::{FileProblems, Place};
use abide_core::definition::Config;
use abide_core::diagnostic::Diagnostic;
use abide_formats::config;
use std::path::{Path, PathBuf};

/// The configuration that applies, and where it came from.
#[derive(Debug, Clone, Default)]
pub struct Configuration {
    /// The values.
    pub config: Config,
    /// The files that were read, the user's first.
    pub files: Vec<PathBuf>,
    /// What is wrong with the files and the overrides.
    pub problems: Vec<FileProblems>,
    /// Where else the clients keep skills.
    pub(crate) elsewhere: Elsewhere,
}

impl Configuration {
    /// Reads the configuration; `variable` looks up an environment variable.
    pub fn load(place: &Place, variable: impl Fn(&str) -> Option<String>) -> Self {
        let mut loaded = Self { elsewhere: Elsewhere::of(place, &variable), ..Self::default() };
        let (global, project) = places(place);
        let project = project.into_iter().find(|path| path.exists());
        if let Some(path) = global {
            loaded.add_file(place, &path, |_, _| Vec::new());
        }
        if let Some(path) = project {
            loaded.add_file(place, &path, |config, mine| {
                let mut problems = config.without_key_thieves(mine);
                problems.extend(config.without_far_skills());
                problems.extend(config.without_open_doors());
                problems.extend(config.without_webhooks());
                problems
            });
        }
        let overrides = config::overrides(variable);
        loaded.config = std::mem::take(&mut loaded.config).overlaid(overrides.config);
        if !overrides.problems.is_empty() {
            loaded.problems.push(FileProblems {
                path: PathBuf::from("environment"),
                shown: "environment".into(),
                problems: overrides.problems,
            });
        }
        loaded
    }

    /// Returns every file that would be read if it existed.
    pub(crate) fn candidates(place: &Place) -> impl Iterator<Item = PathBuf> {
        let (global, project) = places(place);
        global.into_iter().chain(project)
    }

    /// Lays a file over what has been read; `refuse` takes out of it what it may not say.
    fn add_file(
        &mut self,
        place: &Place,
        path: &Path,
        refuse: impl Fn(&mut Config, &Config) -> Vec<Diagnostic>,
    ) {
        if !path.exists() {
            return;
        }
        self.files.push(path.to_path_buf());
        let problems = match read_text(path) {
            Ok(text) => {
                let mut reading = config::read(&text);
                reading.problems.extend(refuse(&mut reading.config, &self.config));
                self.config = std::mem::take(&mut self.config).overlaid(reading.config);
                reading.problems
            }
            Err(unreadable) => vec![unreadable.diagnostic()],
        };
        if !problems.is_empty() {
            let shown = place.shown(path).into();
            self.problems.push(FileProblems { path: path.to_path_buf(), shown, problems });
        }
    }
}

/// Returns the user's file, and those that may be the project's, nearest first.
fn places(place: &Place) -> (Option<PathBuf>, Vec<PathBuf>) {
    let global = place.config_home.as_ref().map(|folder| folder.join("abide/config.yaml"));
    let project = place.project_folders().iter().map(|folder| folder.join(".abide/config.yaml")).collect();
    (global, project)
}
