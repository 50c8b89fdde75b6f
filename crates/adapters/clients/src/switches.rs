//! Settings of a client that leave the gate in its files and take it out of its sessions.

use crate::{Client, Error, Scope, Target, file};
use abide_formats::edit::jsonc::parse;
use abide_formats::edit::toml;
use std::path::{Path, PathBuf};

/// A setting that keeps a client from asking the gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// Where it is set.
    pub path: PathBuf,
    /// What is set.
    pub what: String,
    /// Whether it certainly keeps the client from asking; otherwise a person may still be asked for it.
    pub certain: bool,
}

/// Returns the settings that keep a client from asking the gate.
pub fn switched_off(target: &Target<'_>) -> Result<Vec<Switch>, Error> {
    match target.client {
        Client::Claude => claude(target),
        Client::Codex => codex(target),
        // It has no such setting; that its plugin is loaded is told by the sign that the plugin leaves.
        Client::OpenCode => Ok(Vec::new()),
    }
}

fn claude(target: &Target<'_>) -> Result<Vec<Switch>, Error> {
    let project = target.places.claude(Scope::Project)?;
    let mut paths = vec![project.join("settings.json"), project.join("settings.local.json")];
    // Without a home there are no settings of the user.
    paths.extend(target.places.claude(Scope::User).ok().map(|folder| folder.join("settings.json")));
    let mut found = Vec::new();
    for path in paths {
        let Some(text) = file::read(&path)? else { continue };
        let failed = |problem| Error::Edit { path: path.clone(), problem };
        let Some(root) = parse(&text).map_err(failed)? else { continue };
        if root.at(&["disableAllHooks"]).is_some_and(|node| node.value(&text) == true) {
            found.push(Switch { path, what: "`disableAllHooks` is true".to_owned(), certain: true });
        }
    }
    Ok(found)
}

fn codex(target: &Target<'_>) -> Result<Vec<Switch>, Error> {
    let mut found = Vec::new();
    let user = target.places.codex(Scope::User)?.join("config.toml");
    for path in [user.clone(), target.places.codex(Scope::Project)?.join("config.toml")] {
        for name in ["hooks", "codex_hooks"] {
            let feature = setting(&path, &["features", name], toml_edit::Item::as_bool)?;
            if feature == Some(false) {
                let what = format!("the feature `{name}` is off");
                found.push(Switch { path: path.clone(), what, certain: true });
            }
        }
    }
    if target.scope == Scope::Project {
        let root = target.places.root.to_str().unwrap_or_default();
        let trust =
            setting(&user, &["projects", root, "trust_level"], |item| item.as_str().map(str::to_owned))?;
        if trust.as_deref() != Some("trusted") {
            let what = "Codex is not told to trust this project, and skips the hooks of one that it does not"
                .to_owned();
            found.push(Switch { path: user, what, certain: trust.is_some() });
        }
    }
    Ok(found)
}

fn setting<T>(
    path: &Path,
    keys: &[&str],
    read: impl Fn(&toml_edit::Item) -> Option<T>,
) -> Result<Option<T>, Error> {
    let Some(text) = file::read(path)? else { return Ok(None) };
    let failed = |problem| Error::Edit { path: path.to_path_buf(), problem };
    let document = toml::parse(&text).map_err(failed)?;
    Ok(toml::at(&document, keys).and_then(read))
}
