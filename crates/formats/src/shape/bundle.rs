//! The keys of a capability's file.

use super::{Key, Others, Record, Shape, VARIABLE_NAME};
use abide_core::capability::{Risk, Tier};
use abide_core::definition::{BundleStatus, Shell};

/// How ids of capabilities are written.
pub(crate) const CAPABILITY_ID: &str = "^[a-z0-9_-]{1,50}$";
/// How a capability that is needed is written.
pub(crate) const REQUIREMENT: &str = "^[a-z0-9_-]{1,50}(@[1-9][0-9]*)?$";
/// How tools are named.
pub(crate) const TOOL_NAME: &str = "^[A-Za-z0-9_-]{1,64}$";

/// The whole file.
pub static BUNDLE: Record = Record {
    name: "capability",
    doc: "A capability: tools that run commands, and what is said about them to a model. In `.abide/capabilities/` of a project (which runs nothing until you trust it: `abide capability trust`) or in `abide/capabilities/` of your configuration.",
    others: Others::Refused,
    groups: &[&[
        Key::optional("id", Shape::Name(CAPABILITY_ID), "What agents name it by.").default("the file's name"),
        Key::optional("name", Shape::Text, "What people are shown.").default("the id"),
        Key::required("description", Shape::Text, "What it is for."),
        Key::optional(
            "version",
            Shape::Int(1, u32::MAX as i64),
            "The version of its tools' shapes: a number that grows when a caller would notice. `id@2` asks for exactly that one.",
        )
        .default("1"),
        Key::optional("status", Shape::Choice(BundleStatus::WORDS), "Whether it can be used.")
            .default("available"),
        Key::optional("icon", Shape::Text, "The name of an icon."),
        Key::optional("category", Shape::Text, "The group it is shown in."),
        Key::optional("system_prompt", Shape::Text, "What it adds to the system prompt of agents that have it."),
        Key::optional(
            "depends_on",
            Shape::OneOrMany(&Shape::Name(REQUIREMENT)),
            "The capabilities that an agent gets with it, each `id` or `id@version`.",
        ),
        Key::optional(
            "configuration",
            Shape::Schema,
            "The JSON Schema of what an agent may configure; templates see it as `{{configuration.…}}`.",
        ),
        Key::required("tools", Shape::List(&Shape::Record(&BUNDLE_TOOL), 1), "Its tools, in order."),
    ]],
};

/// One tool of a capability.
pub static BUNDLE_TOOL: Record = Record {
    name: "tool",
    doc: "One tool: exactly one of `command` and `run`. The arguments are data: they stand in templates as `{{arguments.…}}`, and the whole of them comes as JSON on standard input and in the file `$ABIDE_ARGUMENTS_FILE`.",
    others: Others::Refused,
    groups: &[&[
        Key::required("name", Shape::Name(TOOL_NAME), "What a model calls it by."),
        Key::required("description", Shape::Text, "What it does and when to use it, for the model."),
        Key::optional(
            "arguments",
            Shape::Schema,
            "The JSON Schema of its arguments, with `type: object`; a call that does not fit is refused before anything runs.",
        )
        .default("no arguments"),
        Key::optional(
            "examples",
            Shape::List(&Shape::Data, 1),
            "Arguments that show how it is called; each must fit the schema.",
        ),
        Key::optional(
            "command",
            Shape::List(&Shape::Template, 1),
            "A program and its arguments. Each stays one word, whatever its value is; a text value that begins with `-` is refused unless `--` stands before it. A path in the first is relative to the file's folder.",
        ),
        Key::optional(
            "run",
            Shape::Template,
            "A script for a shell. A placeholder becomes a variable that fits its quotes, never code.",
        ),
        Key::optional("shell", Shape::Choice(Shell::WORDS), "The shell of `run`.").default("sh"),
        Key::optional(
            "env",
            Shape::Map(VARIABLE_NAME, &Shape::Template),
            "What the environment of the process adds.",
        ),
        Key::optional("risk", Shape::Choice(Risk::WORDS), "The worst that it could do.").default("high"),
        Key::optional(
            "tier",
            Shape::Choice(Tier::WORDS),
            "Who must agree to a call: nobody (`auto`), a human each time (`confirm`), or it is never made (`deny`).",
        )
        .default("confirm for risk `high`, else auto"),
        Key::optional("parallel", Shape::Bool, "Whether calls may run beside others of the same turn.")
            .default("false"),
        Key::optional("timeout", Shape::Duration, "When it is ended, with everything that it started.")
            .default("60s"),
        Key::optional("output_bytes", Shape::Int(1, 1_048_576), "The most of its output that is kept.")
            .default("65536"),
        Key::optional("json", Shape::Bool, "Whether what it prints is JSON, and anything else a failure.")
            .default("false"),
    ]],
};
