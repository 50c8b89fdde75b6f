//! `config.yaml` and the environment variables that override it.

mod provider;
mod server;
mod webhook;

use crate::read::Reader;
use crate::yaml::Node;
use crate::{agent, shape, yaml};
use abide_core::definition::{
    AbilityName, AbilitySettings, AgentName, AgentSettings, Config, Enforcement, RunSettings, Runner,
    SecretName, SecretSource, SessionSettings, SkillSettings,
};
use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::model::ModelName;
use abide_core::source::{Span, Spanned};
use abide_core::value::Duration;

/// What came of reading one configuration file.
#[derive(Debug)]
pub struct Reading {
    /// The configuration, as far as it could be read.
    pub config: Config,
    /// Everything that is wrong with it.
    pub problems: Vec<Diagnostic>,
}

/// Reads a configuration file; an empty file is an empty configuration.
pub fn read(source: &str) -> Reading {
    let document = yaml::parse(source);
    let mut reader = Reader::new(source, document.problems);
    let config = match &document.root {
        Some(root) if !root.is_null() => config(&mut reader, root),
        _ => Config::default(),
    };
    Reading { config, problems: reader.problems.sorted() }
}

fn config(reader: &mut Reader<'_>, root: &Node<'_>) -> Config {
    let Some(mut fields) = reader.fields(root, &shape::CONFIG, |_| None) else { return Config::default() };
    let config = Config {
        abilities: fields.take(reader, "abilities").map(|node| abilities(reader, node)).unwrap_or_default(),
        skills: fields.take(reader, "skills").map(|node| skills(reader, node)).unwrap_or_default(),
        agents: fields.take(reader, "agents").map(|node| agents(reader, node)).unwrap_or_default(),
        secrets: fields.take(reader, "secrets").map(|node| secrets(reader, node)).unwrap_or_default(),
        sessions: fields.take(reader, "sessions").map(|node| sessions(reader, node)).unwrap_or_default(),
        budget: fields.take(reader, "budget").map(|node| agent::budget(reader, node)).unwrap_or_default(),
        runs: fields.take(reader, "runs").map(|node| runs(reader, node)).unwrap_or_default(),
        model: fields.take(reader, "model").and_then(|node| provider::model_name(reader, node)),
        runner: fields
            .take(reader, "runner")
            .and_then(|node| reader.choice(node, Runner::WORDS, Runner::parse)),
        providers: fields
            .take(reader, "providers")
            .map(|node| provider::providers(reader, node))
            .unwrap_or_default(),
        capabilities: fields
            .take(reader, "capabilities")
            .map(|node| server::servers(reader, node))
            .unwrap_or_default(),
        web: fields.take(reader, "web").map(|node| server::web(reader, node)).unwrap_or_default(),
        webhooks: fields
            .take(reader, "webhooks")
            .map(|node| webhook::webhooks(reader, node))
            .unwrap_or_default(),
    };
    fields.finish();
    config
}

fn abilities(reader: &mut Reader<'_>, node: &Node<'_>) -> AbilitySettings {
    let Some(mut fields) = reader.fields(node, &shape::ABILITIES, |_| None) else {
        return AbilitySettings::default();
    };
    let settings = AbilitySettings {
        enabled: fields.take(reader, "enabled").and_then(|node| reader.boolean(node)),
        auto_trigger: fields.take(reader, "auto_trigger").and_then(|node| reader.boolean(node)),
        enforcement: fields
            .take(reader, "enforcement")
            .and_then(|node| reader.choice(node, Enforcement::WORDS, Enforcement::parse)),
        directories: fields
            .take(reader, "directories")
            .map(|node| directories(reader, node))
            .unwrap_or_default(),
    };
    fields.finish();
    settings
}

fn directories(reader: &mut Reader<'_>, node: &Node<'_>) -> Vec<Spanned<String>> {
    reader.one_or_many(node, Reader::full_text)
}

fn skills(reader: &mut Reader<'_>, node: &Node<'_>) -> SkillSettings {
    let Some(mut fields) = reader.fields(node, &shape::SKILLS, |_| None) else {
        return SkillSettings::default();
    };
    let settings = SkillSettings {
        claude: fields.take(reader, "claude").and_then(|node| reader.boolean(node)),
        external: fields.take(reader, "external").and_then(|node| reader.boolean(node)),
        listing: fields.take(reader, "listing").and_then(|node| reader.count(node, 1_000, 1_000_000)),
        directories: fields
            .take(reader, "directories")
            .map(|node| directories(reader, node))
            .unwrap_or_default(),
        reads: fields.take(reader, "reads").map(|node| directories(reader, node)).unwrap_or_default(),
    };
    fields.finish();
    settings
}

fn runs(reader: &mut Reader<'_>, node: &Node<'_>) -> RunSettings {
    let Some(mut fields) = reader.fields(node, &shape::RUNS, |_| None) else {
        return RunSettings::default();
    };
    let settings = RunSettings {
        keep: fields.take(reader, "keep").and_then(|node| reader.count(node, 1, RunSettings::MOST)),
        keep_for: fields.take(reader, "keep_for").and_then(|node| reader.duration(node)),
    };
    fields.finish();
    settings
}

fn sessions(reader: &mut Reader<'_>, node: &Node<'_>) -> SessionSettings {
    let Some(mut fields) = reader.fields(node, &shape::SESSIONS, |_| None) else {
        return SessionSettings::default();
    };
    let settings = SessionSettings {
        keep: fields.take(reader, "keep").and_then(|node| reader.count(node, 1, SessionSettings::MOST)),
        keep_for: fields.take(reader, "keep_for").and_then(|node| reader.duration(node)),
    };
    fields.finish();
    settings
}

fn agents(reader: &mut Reader<'_>, node: &Node<'_>) -> Vec<(Spanned<AgentName>, AgentSettings)> {
    reader
        .entries(node, "a mapping from agent names to settings")
        .iter()
        .filter_map(|(key, value)| {
            let name = reader.name(key, AgentName::parse)?;
            if value.is_null() {
                return Some((name, AgentSettings::default()));
            }
            let mut fields = reader.fields(value, &shape::AGENT_SETTINGS, |_| None)?;
            let settings = AgentSettings {
                description: fields.take(reader, "description").and_then(|node| reader.text(node)),
                model: fields.take(reader, "model").and_then(|node| provider::model_name(reader, node)),
                tools: fields
                    .take(reader, "tools")
                    .filter(|node| !node.is_null())
                    .map(|node| agent::tools(reader, node)),
                permission: fields
                    .take(reader, "permission")
                    .map(|node| agent::permission(reader, node))
                    .unwrap_or_default(),
                capabilities: fields
                    .take(reader, "capabilities")
                    .map(|node| agent::capabilities(reader, node)),
                abilities: fields.take(reader, "abilities").map(|node| {
                    reader.one_or_many(node, |reader, node| reader.name(node, AbilityName::parse))
                }),
                skills: fields.take(reader, "skills").map(|node| reader.one_or_many(node, Reader::full_text)),
                prompt: fields.take(reader, "prompt").and_then(|node| reader.text(node)),
                budget: fields
                    .take(reader, "budget")
                    .map(|node| agent::budget(reader, node))
                    .unwrap_or_default(),
            };
            fields.finish();
            Some((name, settings))
        })
        .collect()
}

fn secrets(reader: &mut Reader<'_>, node: &Node<'_>) -> Vec<(Spanned<SecretName>, Spanned<SecretSource>)> {
    reader
        .entries(node, "a mapping from secret names to their sources")
        .iter()
        .filter_map(|(key, value)| {
            let name = reader.name(key, SecretName::parse)?;
            let found = source(reader, &format!("the secret `{}`", *name), key.span, value)?;
            Some((name, found))
        })
        .collect()
}

/// Reads where `what` comes from; `at` is the key that stands for it.
fn source(reader: &mut Reader<'_>, what: &str, at: Span, value: &Node<'_>) -> Option<Spanned<SecretSource>> {
    let mut fields = reader.fields(value, &shape::SECRET_SOURCE, |_| None)?;
    let mut text = |name| fields.take(reader, name).and_then(|node| reader.full_text(node));
    let sources = [
        text("env").map(|text| SecretSource::Env(text.value)),
        text("file").map(|text| SecretSource::File(text.value)),
        text("command").map(|text| SecretSource::Command(text.value)),
    ];
    fields.finish();
    let mut sources = sources.into_iter().flatten();
    match (sources.next(), sources.next()) {
        (Some(source), None) => Some(Spanned::new(source, value.span)),
        (found, _) => {
            let count = if found.is_none() { "no source" } else { "more than one source" };
            reader.report(
                Diagnostic::new(Code::MissingKey, at, format!("{what} has {count}"))
                    .help("give it exactly one of `env`, `file` and `command`"),
            );
            None
        }
    }
}

/// An environment variable that overrides one key of the configuration.
#[derive(Debug, Clone, Copy)]
pub struct Override {
    /// The variable.
    pub variable: &'static str,
    /// The key, as a path.
    pub key: &'static str,
}

/// Every environment variable that overrides the configuration.
pub const OVERRIDES: &[Override] = &[
    Override { variable: "ABIDE_ABILITIES_ENABLED", key: "abilities.enabled" },
    Override { variable: "ABIDE_ABILITIES_AUTO_TRIGGER", key: "abilities.auto_trigger" },
    Override { variable: "ABIDE_ABILITIES_ENFORCEMENT", key: "abilities.enforcement" },
    Override { variable: "ABIDE_ABILITIES_DIRECTORIES", key: "abilities.directories" },
    Override { variable: "ABIDE_SKILLS_CLAUDE", key: "skills.claude" },
    Override { variable: "ABIDE_SKILLS_EXTERNAL", key: "skills.external" },
    Override { variable: "ABIDE_SKILLS_DIRECTORIES", key: "skills.directories" },
    Override { variable: "ABIDE_RUNS_KEEP", key: "runs.keep" },
    Override { variable: "ABIDE_RUNS_KEEP_FOR", key: "runs.keep_for" },
    Override { variable: "ABIDE_MODEL", key: "model" },
    Override { variable: "ABIDE_RUNNER", key: "runner" },
];

/// Reads the overrides from the environment; lists are separated as in `PATH`.
pub fn overrides(variable: impl Fn(&str) -> Option<String>) -> Reading {
    let mut config = Config::default();
    let mut problems = Vec::new();
    let spanned = |value| Some(Spanned::new(value, Span::default()));
    let mut bad = |name: &str, value: &str, expected: &str| {
        problems.push(
            Diagnostic::whole_file(Code::BadOverride, format!("{name}={value} is not {expected}"))
                .help(format!("set {name} to {expected}, or unset it")),
        );
    };
    for Override { variable: name, key } in OVERRIDES {
        let Some(value) = variable(name).filter(|value| !value.is_empty()) else { continue };
        let flag = match value.as_str() {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
        let folders = || {
            value
                .split(':')
                .filter(|folder| !folder.is_empty())
                .map(|folder| Spanned::new(folder.to_owned(), Span::default()))
                .collect()
        };
        match (*key, flag) {
            ("abilities.enabled", Some(flag)) => config.abilities.enabled = spanned(flag),
            ("abilities.auto_trigger", Some(flag)) => config.abilities.auto_trigger = spanned(flag),
            ("skills.claude", Some(flag)) => config.skills.claude = spanned(flag),
            ("skills.external", Some(flag)) => config.skills.external = spanned(flag),
            ("abilities.enforcement", _) => match Enforcement::parse(&value) {
                Some(level) => config.abilities.enforcement = Some(Spanned::new(level, Span::default())),
                None => bad(name, &value, "one of strict, normal, loose"),
            },
            ("abilities.directories", _) => config.abilities.directories = folders(),
            ("skills.directories", _) => config.skills.directories = folders(),
            ("runs.keep", _) => {
                match value.parse().ok().filter(|keep| (1..=RunSettings::MOST).contains(keep)) {
                    Some(keep) => config.runs.keep = Some(Spanned::new(keep, Span::default())),
                    None => bad(name, &value, "a whole number from 1 to 1000000"),
                }
            }
            ("runs.keep_for", _) => match Duration::parse(&value) {
                Ok(time) => config.runs.keep_for = Some(Spanned::new(time, Span::default())),
                Err(_) => bad(name, &value, "a duration such as 30d"),
            },
            ("model", _) => match ModelName::parse(&value) {
                Ok(model) => config.model = Some(Spanned::new(model, Span::default())),
                Err(_) => bad(name, &value, "a model such as anthropic/claude-sonnet-4"),
            },
            ("runner", _) => match Runner::parse(&value) {
                Some(runner) => config.runner = Some(Spanned::new(runner, Span::default())),
                None => bad(name, &value, "a runner such as builtin or claude"),
            },
            _ => bad(name, &value, "true or false"),
        }
    }
    // The switches of OpenCode mean the same here, so that one setting holds in both.
    let is_set =
        |name: &str| variable(name).is_some_and(|value| value == "1" || value.eq_ignore_ascii_case("true"));
    if CLAUDE_SWITCHES.iter().any(|name| is_set(name)) && config.skills.claude.is_none() {
        config.skills.claude = spanned(false);
    }
    if is_set(EXTERNAL_SWITCH) && config.skills.external.is_none() {
        config.skills.external = spanned(false);
    }
    Reading { config, problems }
}

/// The variables with which OpenCode leaves out the skills of Claude Code.
const CLAUDE_SWITCHES: [&str; 2] = ["OPENCODE_DISABLE_CLAUDE_CODE_SKILLS", "OPENCODE_DISABLE_CLAUDE_CODE"];
/// The variable with which OpenCode leaves out the skills of all other clients.
const EXTERNAL_SWITCH: &str = "OPENCODE_DISABLE_EXTERNAL_SKILLS";

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::model::Price;

    #[test]
    fn a_whole_configuration_is_read() {
        let reading = read(
            "abilities:\n  enabled: true\n  auto_trigger: true\n  enforcement: strict\n  directories:\n    - .opencode/abilities\nagents:\n  deploy-agent:\n    abilities: [deploy/production, deploy/staging]\nsecrets:\n  token: { env: TOKEN }\nskills: { claude: false }\nruns: { keep: 500, keep_for: 90d }\n",
        );
        assert_eq!(reading.problems, []);
        assert_eq!(reading.config.abilities.directories[0].value, ".opencode/abilities");
        assert_eq!(reading.config.secrets[0].1.value, SecretSource::Env("TOKEN".into()));
        assert_eq!(reading.config.runs.keep.unwrap().value, 500);
        assert_eq!(read("").problems, []);
    }

    #[test]
    fn budgets_are_read_and_a_project_cannot_raise_what_the_user_set() {
        let own = read(
            "budget: { turns: 50, tokens: 5000000, cost: 1.5, time: 30m, depth: 0 }\nsessions: { keep: 3, keep_for: 30d }\n",
        );
        assert_eq!(own.problems, []);
        assert_eq!(own.config.sessions.keep.as_ref().unwrap().value, 3);
        let project = read(
            "budget: { turns: 900, cost: 0.25 }\nagents: { a: { budget: { turns: 7 } } }\nsessions: { keep: 5 }\n",
        );
        let both = own.config.overlaid(project.config);
        let budget = both.budget;
        assert_eq!((budget.turns, budget.tokens, budget.depth), (Some(50), Some(5_000_000), Some(0)));
        assert_eq!(budget.cost.unwrap().to_string(), "$0.2500");
        assert_eq!(budget.time.unwrap().time(), std::time::Duration::from_mins(30));
        assert_eq!(both.agents[0].1.budget.turns, Some(7));
        assert_eq!(both.sessions.keep.unwrap().value, 5, "what is kept is the project's to say");
        for (source, message) in [
            ("budget: { turns: 0 }", "turns"),
            ("budget: { cost: -1 }", "cost"),
            ("budget: { depth: 99 }", "depth"),
            ("budget: { time: 5 }", "no unit"),
            ("budget: { turn: 5 }", "`turn`"),
            ("budget: 5", "mapping"),
            ("sessions: { keep: 0 }", "keep"),
        ] {
            let problems = read(source).problems;
            assert_eq!(problems.len(), 1, "{source}: {problems:?}");
            assert!(format!("{:?}", problems[0]).contains(message), "{source}: {problems:?}");
        }
    }

    #[test]
    fn models_and_who_serves_them_are_read() {
        let reading = read(
            "model: local/qwen\nproviders:\n  local:\n    format: openai\n    url: http://127.0.0.1:8080/v1\n    key: { file: ~/key }\n    idle_timeout: 30s\n    models:\n      qwen: { context_tokens: 32768, price: { input: 0.25, output: 1 } }\n      org/other:\n",
        );
        assert_eq!(reading.problems, []);
        assert_eq!(reading.config.model.unwrap().value.to_string(), "local/qwen");
        let (name, settings) = &reading.config.providers[0];
        assert_eq!(
            (name.as_str(), &settings.key.as_ref().unwrap().value),
            ("local", &SecretSource::File("~/key".into()))
        );
        let price = Price { input: 250, output: 1_000, cache_read: 250, cache_write: 250 };
        assert_eq!(settings.models[0].1.price, Some(price));
        assert_eq!(settings.models[1].0.value, "org/other");
        for (source, message) in [
            ("model: sonnet", "`sonnet` does not say who serves the model"),
            ("providers: { a: { format: gemini } }", "`gemini` is not a value of `format`"),
            ("providers: { a: { key: {} } }", "the key has no source"),
            ("providers: { a: { models: { m: { price: { input: 1 } } } } }", "a price needs `output`"),
            ("providers: { a: { models: { '/m': } } }", "`/m` is not the name of a model"),
            (
                "providers: { a: { models: { m: { price: { input: -1, output: 1 } } } } }",
                "`input` is -1, which is out of range",
            ),
        ] {
            let messages: Vec<String> =
                read(source).problems.into_iter().map(|problem| problem.message).collect();
            assert!(messages.len() == 1 && messages[0].contains(message), "{source}: {messages:?}");
        }
    }

    #[test]
    fn a_secret_has_exactly_one_source() {
        for source in ["secrets: { a: {} }", "secrets: { a: { env: X, file: y } }"] {
            assert_eq!(read(source).problems.len(), 1, "{source}");
        }
    }

    #[test]
    fn the_environment_overrides_and_is_checked_too() {
        let reading = overrides(|name| match name {
            "ABIDE_ABILITIES_ENFORCEMENT" => Some("hard".into()),
            "ABIDE_ABILITIES_ENABLED" => Some("maybe".into()),
            "ABIDE_SKILLS_CLAUDE" => Some("0".into()),
            "ABIDE_ABILITIES_DIRECTORIES" => Some("a:b".into()),
            "ABIDE_RUNS_KEEP" => Some("none".into()),
            "ABIDE_RUNS_KEEP_FOR" => Some("90d".into()),
            "ABIDE_MODEL" => Some("sonnet".into()),
            "ABIDE_RUNNER" => Some("cursor".into()),
            _ => None,
        });
        let messages: Vec<&str> = reading.problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!(
            messages,
            [
                "ABIDE_ABILITIES_ENABLED=maybe is not true or false",
                "ABIDE_ABILITIES_ENFORCEMENT=hard is not one of strict, normal, loose",
                "ABIDE_RUNS_KEEP=none is not a whole number from 1 to 1000000",
                "ABIDE_MODEL=sonnet is not a model such as anthropic/claude-sonnet-4",
                "ABIDE_RUNNER=cursor is not a runner such as builtin or claude",
            ]
        );
        assert!(!reading.config.skills.claude.unwrap().value);
        assert_eq!(reading.config.abilities.directories.len(), 2);
        assert_eq!(reading.config.runs.keep_for.unwrap().value, Duration::parse("90d").unwrap());
    }
}
