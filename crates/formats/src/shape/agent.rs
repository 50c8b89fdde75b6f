//! The keys of an agent profile's frontmatter.

use super::{ABILITY_NAME, FOREIGN_NAME, Key, Others, Record, Shape};
use abide_core::definition::PermissionAction;

/// The frontmatter of an agent's Markdown file; the text below it is the system prompt.
pub static AGENT: Record = Record {
    name: "agent",
    doc: "An agent profile: Markdown with frontmatter; the text below it is the system prompt.",
    others: Others::Foreign,
    groups: &[&[
        Key::optional("name", Shape::Name(FOREIGN_NAME), "What the agent is called.")
            .default("the file's name"),
        Key::optional("description", Shape::Text, "What the agent is for."),
        Key::optional("model", Shape::Text, "The model it uses, as `provider/model`."),
        TOOLS,
        PERMISSION,
        CAPABILITIES,
        Key::optional("abilities", Shape::OneOrMany(&Shape::Name(ABILITY_NAME)), "The abilities it may run.")
            .default("those that do not name other agents"),
        Key::optional("skills", Shape::OneOrMany(&Shape::Text), "The skills it may use.").default("all"),
        BUDGET_KEY,
    ]],
};

/// `budget` of an agent, or of all.
pub(super) const BUDGET_KEY: Key = Key::optional(
    "budget",
    Shape::Record(&BUDGET),
    "What an agent of abide's own loop may use at most. Of several that say so, the smallest number holds.",
);

/// What an agent may use at most.
pub static BUDGET: Record = Record {
    name: "budget",
    doc: "What an agent of abide's own loop and everybody that it calls may use for one message or one attempt of a step.",
    others: Others::Refused,
    groups: &[&[
        Key::optional("turns", Shape::Int(1, 100_000), "How often its model may answer.").default("200"),
        Key::optional("tokens", Shape::Int(1, 1_000_000_000_000), "Tokens, in both directions.")
            .default("20000000"),
        Key::optional(
            "cost",
            Shape::Amount(1_000_000),
            "Dollars, where the prices of the model are configured.",
        )
        .default("no limit"),
        Key::optional("time", Shape::Duration, "Time.").default("4h"),
        Key::optional("depth", Shape::Int(0, 16), "How many levels of agents there may be below it.")
            .default("4"),
    ]],
};

/// What agents may use at most in a step or a run.
pub static ALLOWANCE: Record = Record {
    name: "allowance",
    doc: "What agents may use of models at most, all attempts together; time is what `timeout` is for.",
    others: Others::Refused,
    groups: &[&[
        Key::optional("turns", Shape::Int(1, 100_000), "How often models may answer.").default("no limit"),
        Key::optional("tokens", Shape::Int(1, 1_000_000_000_000), "Tokens, in both directions.")
            .default("no limit"),
        Key::optional(
            "cost",
            Shape::Amount(1_000_000),
            "Dollars, where the prices of the model are configured.",
        )
        .default("no limit"),
    ]],
};

/// `tools` of an agent.
pub(super) const TOOLS: Key = Key::optional(
    "tools",
    Shape::AnyOf(&[
        Shape::Text,
        Shape::List(&Shape::Text, 0),
        Shape::Map("^.+$", &Shape::Bool),
        Shape::Nothing,
    ]),
    "The tools it has: names separated by commas or in a list are all that it has (`Read, Bash(git *)`); a mapping from names to true or false switches some on and off.",
);

/// `permission` of an agent.
pub(super) const PERMISSION: Key = Key::optional(
    "permission",
    Shape::AnyOf(&[
        Shape::Choice(PermissionAction::WORDS),
        Shape::Map(
            "^.+$",
            &Shape::AnyOf(&[
                Shape::Choice(PermissionAction::WORDS),
                Shape::Map("^.+$", &Shape::Choice(PermissionAction::WORDS)),
            ]),
        ),
    ]),
    "Rules for single calls: by the name of a tool, a wildcard or a kind (`read`, `search`, `edit`, `execute`, `network`), and by a wildcard for what it is called with; the last one that matches wins.",
);

/// `capabilities` of an agent.
pub(super) const CAPABILITIES: Key = Key::optional(
    "capabilities",
    Shape::AnyOf(&[
        Shape::Text,
        Shape::List(&Shape::AnyOf(&[Shape::Text, CONFIGURED]), 0),
        CONFIGURED,
        Shape::Nothing,
    ]),
    "The capabilities it is given, in order: ids (`web_fetch`, `tickets@2` for a version), each alone or as the key of what is configured for this agent.",
);

const CONFIGURED: Shape =
    Shape::Map("^.+$", &Shape::AnyOf(&[Shape::Map("^.*$", &Shape::Data), Shape::Nothing]));
