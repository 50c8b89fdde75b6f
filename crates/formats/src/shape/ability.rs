//! The keys of `ability.yaml` outside its steps.

use super::agent::ALLOWANCE;
use super::{ABILITY_NAME, FOREIGN_NAME, Key, Others, Record, Shape, WORD, step};
use abide_core::definition::{Enforcement, OnFailure};

/// The whole file.
pub static ABILITY: Record = Record {
    name: "ability",
    doc: "A workflow that agents must follow: steps that are enforced, validated and resumable.",
    others: Others::Refused,
    groups: &[&[
        Key::optional("name", Shape::Name(ABILITY_NAME), "What the ability is called.")
            .default("the path of the file below its `abilities` folder, such as `deploy/production`"),
        Key::required(
            "description",
            Shape::Text,
            "What the ability is for; people and agents choose it by this.",
        ),
        Key::optional("version", Shape::Text, "The author's version of the ability, such as `1.0.0`."),
        Key::optional("triggers", Shape::Record(&TRIGGERS), "Which messages suggest the ability."),
        Key::optional(
            "inputs",
            Shape::Map(WORD, &Shape::AnyOf(&[Shape::Record(&INPUT), Shape::Nothing])),
            "What the ability must be given; checked before anything runs.",
        ),
        Key::required("steps", Shape::List(&Shape::AnyOf(step::STEP_SHAPES), 1), "What is done, in order."),
        Key::optional("settings", Shape::Record(&SETTINGS), "How the ability is run."),
        Key::optional(
            "compatible_agents",
            Shape::List(&Shape::Name(FOREIGN_NAME), 1),
            "The agents that may run the ability.",
        )
        .default("every agent"),
        Key::optional(
            "exclusive_agent",
            Shape::Name(FOREIGN_NAME),
            "The one agent that may run the ability.",
        ),
        Key::optional(
            "protects",
            Shape::List(&Shape::Text, 1),
            "Tool calls that are allowed only inside a run of this ability, such as `Bash(./deploy.sh *)`.",
        ),
    ]],
};

/// Which messages suggest an ability.
pub static TRIGGERS: Record = Record {
    name: "triggers",
    doc: "Which messages suggest the ability. A trigger suggests; it never takes over.",
    others: Others::Refused,
    groups: &[&[
        Key::optional(
            "keywords",
            Shape::List(&Shape::Text, 1),
            "Words and phrases; they match as whole words.",
        ),
        Key::optional(
            "patterns",
            Shape::List(&Shape::Regex, 1),
            "Regular expressions (linear time: no look-around, no back-references).",
        ),
    ]],
};

/// One input.
pub static INPUT: Record = Record {
    name: "input",
    doc: "A value that the ability must be given.",
    others: Others::Refused,
    groups: &[&[
        Key::optional(
            "type",
            Shape::Choice(abide_core::definition::InputType::WORDS),
            "What the value must be.",
        )
        .default("string"),
        Key::optional(
            "required",
            Shape::Bool,
            "Whether the ability refuses to start without it (a default counts as given).",
        )
        .default("false"),
        Key::optional("default", Shape::Data, "The value when none is given; it must follow the rules too."),
        Key::optional("description", Shape::Text, "What the value is for; shown when it is asked for."),
        Key::optional(
            "pattern",
            Shape::Regex,
            "A regular expression that a string must match somewhere; anchor it with `^…$`.",
        ),
        Key::optional("enum", Shape::List(&Shape::Data, 1), "The only values that are allowed."),
        Key::optional("min", Shape::Number, "The smallest number that is allowed."),
        Key::optional("max", Shape::Number, "The largest number that is allowed."),
        Key::optional(
            "minLength",
            Shape::Int(0, 1_000_000),
            "The fewest characters of a string, or items of an array.",
        ),
        Key::optional(
            "maxLength",
            Shape::Int(0, 1_000_000),
            "The most characters of a string, or items of an array.",
        ),
        Key::optional(
            "secret",
            Shape::Bool,
            "Whether the value, which is a string, is masked in logs, events and views.",
        )
        .default("false"),
    ]],
};

/// How an ability is run.
pub static SETTINGS: Record = Record {
    name: "settings",
    doc: "How the ability is run.",
    others: Others::Refused,
    groups: &[&[
        Key::optional("timeout", Shape::Duration, "How long the whole run may take.").default("no limit"),
        Key::optional(
            "parallel",
            Shape::Bool,
            "Whether steps that do not wait for each other run at the same time.",
        )
        .default("false"),
        Key::optional(
            "max_parallel",
            Shape::Int(1, 256),
            "How many steps may run at the same time, with `parallel: true`.",
        )
        .default("4"),
        Key::optional(
            "enforcement",
            Shape::Choice(Enforcement::WORDS),
            "What the gate does with tool calls outside the current step.",
        )
        .default("strict, or what the configuration says"),
        Key::optional(
            "on_failure",
            Shape::Choice(OnFailure::WORDS),
            "What happens when a step fails that does not say so itself.",
        )
        .default("stop"),
        Key::optional(
            "plan_approval",
            Shape::Bool,
            "Whether a human must agree to the plan before anything runs.",
        )
        .default("false"),
        Key::optional(
            "budget",
            Shape::Record(&ALLOWANCE),
            "What all agents and summaries of a run may use of models together; an ability that is called has its own.",
        )
        .default("no limit beside those of the agents and the configuration"),
    ]],
};
