//! How a client is started once with a model of ours behind it, to see what it does with a call: with the user's own settings, so
//! that what is seen is what a session of the user would do.

use crate::Client;
use serde_json::{Value as Json, json};

/// What a trial is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// The arguments, with the prompt.
    pub arguments: Vec<String>,
    /// What its environment adds.
    pub variables: Vec<(String, String)>,
}

/// The variable by which OpenCode takes settings beside those of its files.
pub(crate) const OPENCODE_SETTINGS: &str = "OPENCODE_CONFIG_CONTENT";

/// Returns what starts a client with the model at `url`; `inherited` is what the environment says already.
///
/// Nobody is asked anything, and nothing is allowed that the user's settings do not allow: a call that gets through only because
/// nobody asked abide is seen to get through, or is denied in other words than abide's.
pub fn trial(client: Client, url: &str, prompt: &str, inherited: impl Fn(&str) -> Option<String>) -> Trial {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let variables = |variables: &[(&str, &str)]| {
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect::<Vec<_>>()
    };
    match client {
        Client::Claude => Trial {
            arguments: words(&["-p", "--output-format", "json", "--permission-mode", "dontAsk", prompt]),
            variables: variables(&[
                ("ANTHROPIC_BASE_URL", url),
                ("ANTHROPIC_API_KEY", "none"),
                ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                ("DISABLE_AUTOUPDATER", "1"),
            ]),
        },
        Client::Codex => {
            // JSON's strings are TOML's basic strings.
            let address = json!(format!("{url}/v1"));
            let provider = format!(
                "{{name=\"abide\",base_url={address},wire_api=\"responses\",env_key=\"ABIDE_TRIAL_KEY\"}}"
            );
            let mut arguments = words(&["exec", "--skip-git-repo-check", "--sandbox", "read-only"]);
            for setting in [
                // A model that is given a shell as a tool of its own.
                "model=\"gpt-5.5\"".to_owned(),
                "model_provider=\"abide\"".to_owned(),
                format!("model_providers.abide={provider}"),
                "check_for_update_on_startup=false".to_owned(),
            ] {
                arguments.extend(["-c".to_owned(), setting]);
            }
            arguments.push(prompt.to_owned());
            Trial { arguments, variables: variables(&[("ABIDE_TRIAL_KEY", "none")]) }
        }
        Client::OpenCode => {
            let mut settings = object(inherited(OPENCODE_SETTINGS).as_deref());
            settings["model"] = json!("abide/trial");
            settings["small_model"] = json!("abide/trial");
            settings["provider"]["abide"] = json!({
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": format!("{url}/v1"), "apiKey": "none"},
                "models": {"trial": {"tool_call": true, "limit": {"context": 100_000, "output": 4_000}}},
            });
            Trial {
                arguments: words(&["run", "--format", "json", prompt]),
                variables: variables(&[
                    (OPENCODE_SETTINGS, &settings.to_string()),
                    ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
                    ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
                ]),
            }
        }
    }
}

/// Returns the settings that a text holds; none if it holds anything else, which the client would refuse.
pub(crate) fn object(text: Option<&str>) -> Json {
    text.and_then(|text| serde_json::from_str::<Json>(text).ok())
        .filter(Json::is_object)
        .unwrap_or_else(|| json!({}))
}

/// Returns the name and the arguments of the tool by which a client's model runs a command.
pub fn shell(client: Client, command: &str) -> (&'static str, Json) {
    match client {
        Client::Claude => ("Bash", json!({"command": command, "description": "asks the gate"})),
        Client::Codex => ("exec_command", json!({"cmd": command, "login": false})),
        Client::OpenCode => ("bash", json!({"command": command, "description": "asks the gate"})),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_environment_says_to_opencode_stays() {
        let inherited = |_: &str| Some(r#"{"share":"disabled","provider":{"own":{}}}"#.to_owned());
        let trial = trial(Client::OpenCode, "http://127.0.0.1:1", "go", inherited);
        let settings: Json = serde_json::from_str(&trial.variables[0].1).unwrap();
        assert_eq!(settings["share"], "disabled");
        assert!(settings["provider"]["own"].is_object());
        assert_eq!(settings["provider"]["abide"]["options"]["baseURL"], "http://127.0.0.1:1/v1");
    }

    #[test]
    fn the_options_of_codex_are_toml() {
        let trial = trial(Client::Codex, "http://127.0.0.1:1", "go", |_| None);
        let settings = trial.arguments.windows(2).filter(|words| words[0] == "-c");
        let text: Vec<&str> = settings.map(|words| words[1].as_str()).collect();
        assert!(toml_edit::DocumentMut::from_str(&text.join("\n")).is_ok(), "{text:?}");
        assert_eq!(trial.arguments.last().map(String::as_str), Some("go"));
    }

    use std::str::FromStr as _;
}
