//! What makes a client ask the gate for one session that abide starts itself, whatever is installed in it.
//!
//! It is passed on the command line or in the environment of that session, and nothing is written into the user's files.

use crate::inspect::{Gate, inspect};
use crate::switches::switched_off;
use crate::trial::{OPENCODE_SETTINGS, object};
use crate::{Client, Error, Places, Scope, Target, claude, codex, opencode};
use abide_formats::edit::toml;
use abide_formats::json::to_json;
use serde_json::{Map, Value as Json, json};
use std::path::{Path, PathBuf};

/// What a session is started with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hooked {
    /// What its command line adds.
    pub arguments: Vec<String>,
    /// What its environment adds.
    pub variables: Vec<(String, String)>,
    /// A file that has to be there.
    pub file: Option<(PathBuf, String)>,
}

/// Moments that are no concern of a session that abide starts: it ends when it likes, and is looked at then.
const NOT_NEEDED: [&str; 2] = ["Stop", "SubagentStop"];

/// Returns what makes a client ask the gate; nothing if it does by what is installed.
///
/// `folder` is where a file may be put, and `inherited` what the environment says already.
pub fn hooked(
    client: Client,
    binary: &Path,
    places: &Places,
    folder: &Path,
    inherited: impl Fn(&str) -> Option<String>,
) -> Result<Hooked, Error> {
    for scope in Scope::ALL {
        let target = Target { client, scope, binary, places, server: None };
        // What cannot be read is not relied on.
        let installed = matches!(inspect(&target), Ok(Gate::Installed));
        if installed && switched_off(&target).is_ok_and(|switches| switches.is_empty()) {
            return Ok(Hooked::default());
        }
    }
    let program = binary.to_str().ok_or_else(|| Error::Path(binary.to_path_buf()))?;
    match client {
        Client::Claude => Ok(in_claude(program)),
        Client::Codex => Ok(in_codex(program)),
        Client::OpenCode => in_opencode(program, folder, inherited(OPENCODE_SETTINGS).as_deref()),
    }
}

fn in_claude(program: &str) -> Hooked {
    let mut hooks = Map::new();
    for (event, handler) in claude::handlers(program) {
        if !NOT_NEEDED.contains(&event) {
            hooks.insert(event.to_owned(), json!([{ "hooks": [to_json(&handler)] }]));
        }
    }
    let settings = json!({ "disableAllHooks": false, "hooks": hooks }).to_string();
    Hooked { arguments: vec!["--settings".to_owned(), settings], ..Hooked::default() }
}

/// What Codex calls the file that its options stand for.
const OPTIONS: &str = "/<session-flags>/config.toml";

fn in_codex(program: &str) -> Hooked {
    let mut arguments = Vec::new();
    let mut set = |setting: String| arguments.extend(["-c".to_owned(), setting]);
    let mut approved = Vec::new();
    for (event, handler) in codex::handlers(program) {
        if NOT_NEEDED.contains(&event) {
            continue;
        }
        let handler = to_json(&handler);
        set(format!("hooks.{event}=[{{hooks=[{}]}}]", table(&handler)));
        if let Some(label) = codex::label(event) {
            // Only these are approved, and only for this session: the hooks of a project stay as its user left them.
            let name = json!(format!("{OPTIONS}:{label}:0:0"));
            let digest = json!(codex::approval(label, &handler));
            approved.push(format!("{name}={{trusted_hash={digest}}}"));
        }
    }
    set(format!("hooks.state={{{}}}", approved.join(",")));
    set("features.hooks=true".to_owned());
    // What is typed into a shell that runs is asked about by nobody.
    set("features.unified_exec_tty=false".to_owned());
    Hooked { arguments, ..Hooked::default() }
}

/// Writes an object of texts and numbers as TOML, whose strings JSON's are, too.
fn table(object: &Json) -> String {
    let members = object.as_object().into_iter().flatten().map(|(name, value)| format!("{name}={value}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn in_opencode(program: &str, folder: &Path, inherited: Option<&str>) -> Result<Hooked, Error> {
    let plugin = opencode::plugin(program);
    // Another abide has another plugin, and two of them may start sessions at once.
    let name = format!("abide-{}.js", &crate::receipt::digest(&plugin)[..16]);
    let path = folder.join(name);
    let text = path.to_str().ok_or_else(|| Error::Path(path.clone()))?;
    let mut settings = object(inherited);
    let mut plugins = settings["plugin"].as_array().cloned().unwrap_or_default();
    plugins.push(json!(format!("file://{text}")));
    settings["plugin"] = Json::Array(plugins);
    Ok(Hooked {
        arguments: Vec::new(),
        variables: vec![(OPENCODE_SETTINGS.to_owned(), settings.to_string())],
        file: Some((path, plugin)),
    })
}

/// Returns whether the user has said which sandbox Codex is to have.
pub fn codex_has_sandbox(places: &Places) -> bool {
    Scope::ALL.into_iter().any(|scope| {
        let Ok(folder) = places.codex(scope) else { return false };
        let Ok(Some(text)) = crate::file::read(&folder.join("config.toml")) else { return false };
        toml::parse(&text).is_ok_and(|document| {
            ["sandbox_mode", "default_permissions"].iter().any(|key| toml::at(&document, &[key]).is_some())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(root: &Path) -> Places {
        Places {
            root: root.join("project"),
            home: Some(root.to_path_buf()),
            config_home: Some(root.join(".config")),
            state_home: Some(root.join("state")),
            claude_home: None,
            codex_home: None,
        }
    }

    #[test]
    fn every_client_is_made_to_ask_and_not_twice() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        std::fs::create_dir_all(&places.root).unwrap();
        let binary = Path::new("/opt/abide");
        for client in Client::ALL {
            let of = || hooked(client, binary, &places, root.path(), |_| None).unwrap();
            let passed = of();
            assert_ne!(passed, Hooked::default(), "{client:?}");
            let all = format!("{passed:?}");
            assert!(all.contains("/opt/abide") && all.contains("PreToolUse"), "{all}");
            let target = Target { client, scope: Scope::Project, binary, places: &places, server: None };
            crate::plan::install(target).unwrap().apply().unwrap();
            let trusted = client != Client::Codex;
            assert_eq!(
                of() == Hooked::default(),
                trusted,
                "{client:?} is asked by what is installed, if that is used"
            );
        }
    }

    #[test]
    fn what_the_environment_says_to_opencode_stays() {
        let inherited = r#"{"model":"a/b","plugin":["x"]}"#;
        let passed = in_opencode("/opt/abide", Path::new("/s"), Some(inherited)).unwrap();
        let settings: Json = serde_json::from_str(&passed.variables[0].1).unwrap();
        assert_eq!((&settings["model"], &settings["plugin"][0]), (&json!("a/b"), &json!("x")));
        let file = passed.file.unwrap().0;
        assert_eq!(settings["plugin"][1], json!(format!("file://{}", file.display())));
    }

    #[test]
    fn the_options_of_codex_are_toml() {
        let passed = in_codex("/opt/o'neil \"x\"/abide");
        let settings: Vec<&String> = passed.arguments.iter().filter(|word| *word != "-c").collect();
        for setting in settings {
            let read = toml::parse(setting);
            assert!(read.is_ok(), "{setting}: {read:?}");
        }
    }
}
