//! The keys of the five types of steps.

use super::agent::ALLOWANCE;
use super::{ABILITY_NAME, FOREIGN_NAME, Key, Others, Record, Shape, VARIABLE_NAME, WORD};
use abide_core::definition::{OnFailure, Runner, Shell, StepType};

/// The records of the five types of steps, in the order of [`StepType::WORDS`].
pub static STEP_RECORDS: [(StepType, &Record); 5] = [
    (StepType::Script, &SCRIPT_STEP),
    (StepType::Agent, &AGENT_STEP),
    (StepType::Skill, &SKILL_STEP),
    (StepType::Approval, &APPROVAL_STEP),
    (StepType::Workflow, &WORKFLOW_STEP),
];

pub(super) static STEP_SHAPES: &[Shape] = &[
    Shape::Record(&SCRIPT_STEP),
    Shape::Record(&AGENT_STEP),
    Shape::Record(&SKILL_STEP),
    Shape::Record(&APPROVAL_STEP),
    Shape::Record(&WORKFLOW_STEP),
];

/// Keys that every step has.
static COMMON: &[Key] = &[
    Key::required(
        "id",
        Shape::Name(WORD),
        "The step's id, unique in the ability; later steps refer to it as `steps.<id>`.",
    ),
    Key::optional("type", Shape::Choice(StepType::WORDS), "What the step does.")
        .default("told by `run`, `agent`, `skill`, `workflow`, or `prompt` with `options`"),
    Key::optional("description", Shape::Text, "What the step is for, in a few words."),
    Key::optional(
        "needs",
        Shape::OneOrMany(&Shape::Name(WORD)),
        "The steps that must be done before this one; a step whose output is used in a template counts too.",
    )
    .default("none"),
    Key::optional(
        "when",
        Shape::Expression,
        "A condition; when it is false the step is skipped, and the steps that need it go on.",
    )
    .default("true"),
    Key::optional(
        "timeout",
        Shape::Duration,
        "How long one attempt may take; an approval is rejected when it ends.",
    )
    .default("5m; none for approvals and workflows"),
];

/// Keys of steps that can be run again.
static AGAIN: &[Key] = &[
    Key::optional("on_failure", Shape::Choice(OnFailure::WORDS), "What happens when the step fails.").default("what `settings.on_failure` says, else stop"),
    Key::optional("max_retries", Shape::Int(0, 100), "How often the step is tried again: after a failure with `on_failure: retry`, and for missing evidence of an agent or a skill.").default("1"),
    Key::optional("retry_delay", Shape::Duration, "How long to wait before the first retry; each further wait is twice as long, with jitter.").default("1s"),
    Key::optional("idempotent", Shape::Bool, "Whether the step may simply be run again after a crash in the middle of it.").default("false"),
    Key::optional("for_each", Shape::AnyOf(&[Shape::Template, Shape::List(&Shape::Data, 1)]), "A list, or one placeholder that yields a list: the step is run once per item, with `item` and `index` in its templates."),
    Key::optional("max_parallel", Shape::Int(1, 256), "How many instances of a `for_each` step may run at the same time.").default("1"),
    Key::optional("repeat", Shape::Record(&REPEAT), "Runs the step again until a condition holds."),
];

/// A step that is run again.
pub static REPEAT: Record = Record {
    name: "repeat",
    doc: "Runs the step again until a condition holds.",
    others: Others::Refused,
    groups: &[&[
        Key::required("until", Shape::Expression, "The condition; the step's own results are `steps.<id>`."),
        Key::optional(
            "max",
            Shape::Int(1, 1_000),
            "How often the step is run at most; the step fails when the condition does not hold by then.",
        )
        .default("5"),
        Key::optional("delay", Shape::Duration, "How long to wait in between.").default("1s"),
    ]],
};

static VALIDATION_KEY: &[Key] = &[Key::optional(
    "validation",
    Shape::Record(&VALIDATION),
    "What proves that the step was done; every rule that is given must hold.",
)];

/// The evidence of a step.
pub static VALIDATION: Record = Record {
    name: "validation",
    doc: "What proves that a step was done; every rule that is given must hold.",
    others: Others::Refused,
    groups: &[&[
        Key::optional(
            "exit_code",
            Shape::OneOrMany(&Shape::Int(0, 255)),
            "The exit codes that count as success.",
        )
        .default("0"),
        Key::optional(
            "stdout_contains",
            Shape::OneOrMany(&Shape::Template),
            "Text that must occur in standard output (or in an agent's answer).",
        ),
        Key::optional(
            "stderr_contains",
            Shape::OneOrMany(&Shape::Template),
            "Text that must occur in standard error.",
        ),
        Key::optional(
            "stdout_matches",
            Shape::OneOrMany(&Shape::Regex),
            "A regular expression that standard output must match.",
        ),
        Key::optional(
            "file_exists",
            Shape::OneOrMany(&Shape::Template),
            "A path that must exist, relative to where the step runs; with a final `/` it must be a folder.",
        ),
        Key::optional("json_schema", Shape::Schema, "A JSON Schema that the output must fit."),
        Key::optional("check", Shape::OneOrMany(&Shape::Template), "A command that must exit with 0."),
    ]],
};

const SUMMARIZE: Key = Key {
    name: "summarize",
    doc: "Asks a model to condense the output before the agents of later steps get it: `true`, or an instruction that says how. Without it, only an output that is too long to be passed on whole is condensed; `false` leaves it its start and its end.",
    shape: Shape::AnyOf(&[Shape::Bool, Shape::Text]),
    required: false,
    default: None,
};

const BUDGET_KEY: Key = Key {
    name: "budget",
    doc: "What the agent and everybody that it calls may use of models, all attempts of the step together.",
    shape: Shape::Record(&ALLOWANCE),
    required: false,
    default: Some("no limit beside those of the agent, the run and the configuration"),
};

const RUNNER: Key = Key {
    name: "runner",
    doc: "What executes the step: abide's own loop, a client in its headless mode, the session that started the run, or `acp:` and a command.",
    shape: Shape::Choice(Runner::WORDS),
    required: false,
    default: Some("builtin, or the session that started the run"),
};

/// A step that runs a command.
pub static SCRIPT_STEP: Record = Record {
    name: "script step",
    doc: "Runs a command.",
    others: Others::Refused,
    groups: &[
        COMMON,
        AGAIN,
        VALIDATION_KEY,
        &[
            Key::required(
                "run",
                Shape::Template,
                "The command. Placeholders are passed as data: no value can become code.",
            ),
            Key::optional("shell", Shape::Choice(Shell::WORDS), "Which shell runs the command.")
                .default("sh"),
            Key::optional("cwd", Shape::Template, "Where the command runs, relative to the project's root.")
                .default("the project's root"),
            Key::optional(
                "env",
                Shape::Map(VARIABLE_NAME, &Shape::AnyOf(&[Shape::Template, Shape::Record(&SECRET)])),
                "What the command's environment adds; `{ secret: name }` takes a named secret that only this step gets.",
            ),
        ],
    ],
};

/// A secret by name.
pub static SECRET: Record = Record {
    name: "secret",
    doc: "A secret of the configuration, by name.",
    others: Others::Refused,
    groups: &[&[Key::required(
        "secret",
        Shape::Name(WORD),
        "The secret's name in the configuration's `secrets`.",
    )]],
};

/// A step that gives an agent a task.
pub static AGENT_STEP: Record = Record {
    name: "agent step",
    doc: "Gives an agent a task.",
    others: Others::Refused,
    groups: &[
        COMMON,
        AGAIN,
        VALIDATION_KEY,
        &[
            Key::required("agent", Shape::Name(FOREIGN_NAME), "Which agent."),
            Key::required(
                "prompt",
                Shape::Template,
                "The task. Outputs of the steps in `needs` are put before it.",
            ),
            Key::optional(
                "context",
                Shape::OneOrMany(&Shape::Template),
                "Paths, globs and templates that are put before the task.",
            ),
            Key::optional(
                "tools",
                Shape::List(&Shape::Text, 0),
                "The tools that the agent may use in this step.",
            )
            .default("the agent's own"),
            RUNNER,
            Key::optional(
                "output_schema",
                Shape::Schema,
                "A JSON Schema that the answer must fit; later steps see the parsed answer as `steps.<id>.json`.",
            ),
            SUMMARIZE,
            BUDGET_KEY,
        ],
    ],
};

/// A step that runs a skill.
pub static SKILL_STEP: Record = Record {
    name: "skill step",
    doc: "Runs a skill.",
    others: Others::Refused,
    groups: &[
        COMMON,
        AGAIN,
        VALIDATION_KEY,
        &[
            Key::required("skill", Shape::Name(FOREIGN_NAME), "Which skill."),
            Key::optional("inputs", Shape::Map(WORD, &Shape::Data), "What the skill is given."),
            RUNNER,
            SUMMARIZE,
            BUDGET_KEY,
        ],
    ],
};

/// A step that asks a human.
pub static APPROVAL_STEP: Record = Record {
    name: "approval step",
    doc: "Asks a human; no agent can answer.",
    others: Others::Refused,
    groups: &[
        COMMON,
        &[
            Key::required("prompt", Shape::Template, "The question."),
            Key::optional("options", Shape::List(&Shape::Record(&OPTION), 1), "The possible answers.")
                .default("approve and reject"),
            Key::optional(
                "approvers",
                Shape::OneOrMany(&Shape::Text),
                "Who may answer, by name; `\"*\"` is anybody but whoever started the run. Nobody approves a run that they started where this is said.",
            )
            .default("anyone"),
        ],
    ],
};

/// An answer of an approval.
pub static OPTION: Record = Record {
    name: "option",
    doc: "One possible answer of an approval.",
    others: Others::Refused,
    groups: &[&[
        Key::required("label", Shape::Text, "What the human sees."),
        Key::optional(
            "value",
            Shape::Text,
            "What later steps see as `steps.<id>.answer`; `rejected` rejects.",
        )
        .default("the label in lower case"),
    ]],
};

/// A step that runs another ability.
pub static WORKFLOW_STEP: Record = Record {
    name: "workflow step",
    doc: "Runs another ability as a child with its own log.",
    others: Others::Refused,
    groups: &[
        COMMON,
        AGAIN,
        &[
            Key::required("workflow", Shape::Name(ABILITY_NAME), "Which ability."),
            Key::optional(
                "inputs",
                Shape::Map(WORD, &Shape::Data),
                "What it is given; one placeholder alone keeps the type of its value.",
            ),
        ],
    ],
};
