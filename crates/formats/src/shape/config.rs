//! The keys of `config.yaml`.

use super::{ABILITY_NAME, FOREIGN_NAME, Key, Others, Record, Shape, WORD};
use abide_core::definition::Enforcement;

/// The whole file: `.abide/config.yaml` of a project, or the user's own.
pub static CONFIG: Record = Record {
    name: "configuration",
    doc: "abide's configuration: `.abide/config.yaml` of the project over `abide/config.yaml` of the user.",
    others: Others::Refused,
    groups: &[&[
        Key::optional("abilities", Shape::Record(&ABILITIES), "How abilities are found and enforced."),
        Key::optional("skills", Shape::Record(&SKILLS), "How skills are found."),
        Key::optional(
            "agents",
            Shape::Map(FOREIGN_NAME, &Shape::AnyOf(&[Shape::Record(&AGENT_SETTINGS), Shape::Nothing])),
            "Agents by name: new ones, and additions to their profiles.",
        ),
        Key::optional(
            "secrets",
            Shape::Map(WORD, &Shape::Record(&SECRET_SOURCE)),
            "Where secrets come from, by name; a step takes one with `env: { TOKEN: { secret: name } }`.",
        ),
        Key::optional("runs", Shape::Record(&RUNS), "How long runs are kept."),
    ]],
};

/// How abilities are found.
pub static ABILITIES: Record = Record {
    name: "abilities",
    doc: "How abilities are found and enforced.",
    others: Others::Refused,
    groups: &[&[
        Key::optional("enabled", Shape::Bool, "Whether abilities are used at all.").default("true"),
        Key::optional(
            "auto_trigger",
            Shape::Bool,
            "Whether a trigger may start an ability by itself; otherwise it suggests it.",
        )
        .default("false"),
        Key::optional(
            "enforcement",
            Shape::Choice(Enforcement::WORDS),
            "The enforcement of abilities that do not set their own.",
        )
        .default("strict"),
        Key::optional(
            "directories",
            Shape::OneOrMany(&Shape::Text),
            "More folders with abilities, after the project's and the user's; relative to the project's root, `~/` is the home folder.",
        ),
    ]],
};

/// How skills are found.
pub static SKILLS: Record = Record {
    name: "skills",
    doc: "How skills are found.",
    others: Others::Refused,
    groups: &[&[
        Key::optional("claude", Shape::Bool, "Whether `.claude/skills` folders are looked at.")
            .default("true"),
        Key::optional(
            "directories",
            Shape::OneOrMany(&Shape::Text),
            "More folders with skills; relative to the project's root, `~/` is the home folder.",
        ),
    ]],
};

/// How long runs are kept.
pub static RUNS: Record = Record {
    name: "runs",
    doc: "How long runs are kept. What is over is forgotten with its outputs when a run ends; what is not over never is.",
    others: Others::Refused,
    groups: &[&[
        Key::optional(
            "keep",
            Shape::Int(1, 1_000_000),
            "How many runs are kept, those that others call included; the ones that changed longest ago go first.",
        )
        .default("10000"),
        Key::optional("keep_for", Shape::Duration, "How long a run is kept after its last event.")
            .default("for ever"),
    ]],
};

/// An agent of the configuration.
pub static AGENT_SETTINGS: Record = Record {
    name: "agent settings",
    doc: "What the configuration says about an agent.",
    others: Others::Refused,
    groups: &[&[
        Key::optional("description", Shape::Text, "What the agent is for."),
        Key::optional("model", Shape::Text, "The model it uses, as `provider/model`."),
        Key::optional("abilities", Shape::OneOrMany(&Shape::Name(ABILITY_NAME)), "The abilities it may run."),
    ]],
};

/// Where a secret comes from.
pub static SECRET_SOURCE: Record = Record {
    name: "secret source",
    doc: "Where a secret comes from: exactly one of the keys.",
    others: Others::Refused,
    groups: &[&[
        Key::optional("env", Shape::Text, "An environment variable."),
        Key::optional("file", Shape::Text, "A file; its last line end is dropped."),
        Key::optional(
            "command",
            Shape::Text,
            "A command, whose output is the secret; the last line end is dropped.",
        ),
    ]],
};
