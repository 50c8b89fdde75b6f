//! The keys of `config.yaml`.

use super::agent::{BUDGET_KEY, CAPABILITIES, PERMISSION, TOOLS};
use super::{
    ABILITY_NAME, CAPABILITY_ID, FOREIGN_NAME, Key, MODEL, MODEL_NAME, Others, Record, SECRET, Shape,
    VARIABLE_NAME, WORD,
};
use abide_core::capability::{Risk, Tier};
use abide_core::definition::{Enforcement, Runner, WebhookEvent, WireFormat};

/// How addresses are written.
pub(crate) const ADDRESS: &str = "^https?://.+$";
/// The same, with a place for what is searched for.
pub(crate) const SEARCH_ADDRESS: &str = r"^https?://.*\{query\}.*$";

/// How the tool of a server is named.
pub(crate) const SEARCH_TOOL: &str = "^.+__.+$";

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
        Key::optional(
            "sessions",
            Shape::Record(&SESSIONS),
            "How long sessions of abide's own loop are kept.",
        ),
        BUDGET_KEY,
        Key::optional(
            "model",
            Shape::Name(MODEL_NAME),
            "The model of agents that name none, as `provider/model`. Only agents that abide runs itself need one.",
        ),
        Key::optional(
            "runner",
            Shape::Choice(Runner::WORDS),
            "What executes the steps of agents and skills that name no `runner`.",
        )
        .default("builtin"),
        Key::optional(
            "providers",
            Shape::Map(WORD, &Shape::Record(&PROVIDER)),
            "Who serves models, by name: new ones, and changes to `anthropic`, `openai`, `openrouter` and `ollama`, which need none.",
        ),
        Key::optional(
            "capabilities",
            Shape::Map(CAPABILITY_ID, &Shape::Record(&SERVER)),
            "MCP servers, by the ids of the capabilities that their tools become.",
        ),
        Key::optional("web", Shape::Record(&WEB), "How tools may use the web. Your own configuration only."),
        Key::optional(
            "webhooks",
            Shape::Map(WORD, &Shape::Record(&WEBHOOK)),
            "Who is told over HTTP what happens at a server, by name. Your own configuration only.",
        ),
    ]],
};

/// An MCP server whose tools are a capability.
pub static SERVER: Record = Record {
    name: "server",
    doc: "An MCP server whose tools are a capability: started here (`command`) or reached over HTTP (`url`). One that a project names is used only after `abide capability trust`.",
    others: Others::Refused,
    groups: &[&[
        Key::optional(
            "command",
            Shape::List(&Shape::Text, 1),
            "The program that serves over its pipes, and its arguments.",
        ),
        Key::optional(
            "env",
            Shape::Map(VARIABLE_NAME, &Shape::AnyOf(&[Shape::Text, Shape::Record(&SECRET)])),
            "What the environment of `command` adds; `{ secret: name }` takes a secret of the configuration.",
        ),
        Key::optional("url", Shape::Name(ADDRESS), "Where it serves over HTTP."),
        Key::optional(
            "headers",
            Shape::Map("^[A-Za-z0-9_-]+$", &Shape::AnyOf(&[Shape::Text, Shape::Record(&SECRET)])),
            "What is sent to `url` with every request, such as `Authorization: { secret: name }`.",
        ),
        Key::optional("name", Shape::Text, "What people are shown.").default("the id"),
        Key::optional("description", Shape::Text, "What it is for."),
        Key::optional("system_prompt", Shape::Text, "What it adds to the system prompt of agents that have it."),
        Key::optional(
            "tools",
            Shape::OneOrMany(&Shape::Text),
            "Which of its tools are taken, by their names there; `*` stands for any text.",
        )
        .default("all"),
        Key::optional(
            "risk",
            Shape::Choice(Risk::WORDS),
            "The least risk of its tools; what the server says about itself never lowers it.",
        )
        .default("high"),
        Key::optional(
            "tier",
            Shape::Choice(Tier::WORDS),
            "Who must agree to a call: nobody (`auto`), a human each time (`confirm`), or it is never made (`deny`).",
        )
        .default("confirm"),
        Key::optional("connect_timeout", Shape::Duration, "How long it may take until its tools are known.")
            .default("30s"),
        Key::optional("timeout", Shape::Duration, "How long a call may take.").default("60s"),
    ]],
};

/// How tools may use the web.
pub static WEB: Record = Record {
    name: "web",
    doc: "How tools may use the web. Only your own configuration may say it; a project's may not.",
    others: Others::Refused,
    groups: &[&[
        Key::optional(
            "allow_hosts",
            Shape::OneOrMany(&Shape::Text),
            "Hosts that may be fetched although they are on a private network: `wiki.internal`, `127.0.0.1:8080`.",
        ),
        Key::optional(
            "proxy",
            Shape::Name(ADDRESS),
            "The proxy that pages are fetched through. Variables such as `HTTPS_PROXY` do not count here: whoever is behind a proxy decides what an address means.",
        )
        .default("none"),
        Key::optional(
            "search_url",
            Shape::Name(SEARCH_ADDRESS),
            "Where `research` sends searches, with `{query}` in it: a page with results, or a JSON API.",
        ),
        Key::optional(
            "search_tool",
            Shape::Name(SEARCH_TOOL),
            "The tool that `research` searches with, as `ID__TOOL`: one of an MCP server under `capabilities`. It goes before `search_url`.",
        ),
    ]],
};

/// Who is told over HTTP what happens at a server.
pub static WEBHOOK: Record = Record {
    name: "webhook",
    doc: "Who is told over HTTP what happens at a server (`abide serve`). Only your own configuration may say it; a project's may not.",
    others: Others::Refused,
    groups: &[&[
        Key::required(
            "url",
            Shape::Name(ADDRESS),
            "Where it is sent: `https://`, or `http://` to this machine or a private network.",
        ),
        Key::required(
            "secret",
            Shape::Record(&SECRET_SOURCE),
            "Where the secret comes from that it is signed with: `whsec_` and at least 24 bytes in Base64.",
        ),
        Key::optional(
            "events",
            Shape::AnyOf(&[
                Shape::Choice(WebhookEvent::WORDS),
                Shape::List(&Shape::Choice(WebhookEvent::WORDS), 1),
            ]),
            "What is told.",
        )
        .default("all"),
        Key::optional(
            "abilities",
            Shape::AnyOf(&[Shape::Text, Shape::List(&Shape::Text, 1)]),
            "The abilities that it is about, by name; `*` stands for any text.",
        )
        .default("all"),
        Key::optional(
            "private_network",
            Shape::Bool,
            "Whether the name in `url` may lead into a private network. An address that is written as such, and `localhost`, may always.",
        )
        .default("false"),
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
            "external",
            Shape::Bool,
            "Whether the folders of other clients are looked at: `.claude/skills`, `.agents/skills` and `.codex/skills`.",
        )
        .default("true"),
        Key::optional(
            "listing",
            Shape::Int(1_000, 1_000_000),
            "How many bytes agents are told about skills; descriptions are shortened to fit.",
        )
        .default("16000"),
        Key::optional(
            "directories",
            Shape::OneOrMany(&Shape::Text),
            "More folders with skills; relative to the project's root, `~/` is the home folder. A project can name folders inside itself only.",
        ),
        Key::optional(
            "reads",
            Shape::OneOrMany(&Shape::Text),
            "More folders that `@path` in a skill may read, beside the skill's own and the project; `~/` is the home folder. Your own configuration only.",
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

/// How long sessions are kept.
pub static SESSIONS: Record = Record {
    name: "sessions",
    doc: "How long sessions of abide's own loop are kept: conversations, and the steps of agents. One is forgotten with its files when a conversation or a run ends; one that somebody talks in, or that a run still needs, never is.",
    others: Others::Refused,
    groups: &[&[
        Key::optional(
            "keep",
            Shape::Int(1, 1_000_000),
            "How many sessions are kept; the ones that changed longest ago go first.",
        )
        .default("2000"),
        Key::optional("keep_for", Shape::Duration, "How long a session is kept after its last event.")
            .default("for ever"),
    ]],
};

/// An agent of the configuration.
pub static AGENT_SETTINGS: Record = Record {
    name: "agent settings",
    doc: "What the configuration says about an agent. Over a profile of the same name it wins, key by key; its `permission` comes after the profile's.",
    others: Others::Refused,
    groups: &[&[
        Key::optional("description", Shape::Text, "What the agent is for."),
        Key::optional("model", Shape::Name(MODEL_NAME), "The model it uses, as `provider/model`."),
        TOOLS,
        PERMISSION,
        CAPABILITIES,
        Key::optional("abilities", Shape::OneOrMany(&Shape::Name(ABILITY_NAME)), "The abilities it may run."),
        Key::optional("skills", Shape::OneOrMany(&Shape::Text), "The skills it may use."),
        Key::optional("prompt", Shape::Text, "Its system prompt."),
        BUDGET_KEY,
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

/// Who serves models.
pub static PROVIDER: Record = Record {
    name: "provider",
    doc: "Who serves models. In the configuration of a project it may have neither a `key`, nor the `url` of a provider that has one: a project must not decide where your key goes.",
    others: Others::Refused,
    groups: &[&[
        Key::optional(
            "format",
            Shape::Choice(WireFormat::WORDS),
            "What it speaks: `anthropic` for Messages, `openai` for Chat Completions, as Ollama, llama.cpp, vLLM and most gateways do.",
        ),
        Key::optional(
            "url",
            Shape::Text,
            "Where it is, such as `http://127.0.0.1:8080/v1`. Proxies are taken from the environment.",
        ),
        Key::optional(
            "key",
            Shape::Record(&SECRET_SOURCE),
            "Where its key comes from. `anthropic`, `openai` and `openrouter` have one of their own: `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `OPENROUTER_API_KEY`.",
        ),
        Key::optional("connect_timeout", Shape::Duration, "How long making a connection may take.")
            .default("10s"),
        Key::optional("begin_timeout", Shape::Duration, "How long it may take until an answer begins.")
            .default("5m"),
        Key::optional("idle_timeout", Shape::Duration, "How long an answer may pause.").default("2m"),
        Key::optional("answer_timeout", Shape::Duration, "How long an answer may take as a whole.")
            .default("30m"),
        Key::optional(
            "models",
            Shape::Map(MODEL, &Shape::AnyOf(&[Shape::Record(&MODEL_SETTINGS), Shape::Nothing])),
            "What is known about its models, by their names there.",
        ),
    ]],
};

/// A model of a provider.
pub static MODEL_SETTINGS: Record = Record {
    name: "model settings",
    doc: "What is known about a model.",
    others: Others::Refused,
    groups: &[&[
        Key::optional(
            "context_tokens",
            Shape::Int(1_000, 100_000_000),
            "How many tokens a conversation may have.",
        ),
        Key::optional("output_tokens", Shape::Int(1, 10_000_000), "How many tokens an answer may have.")
            .default("8192"),
        Key::optional("price", Shape::Record(&PRICE), "What it costs."),
    ]],
};

/// What a model costs.
pub static PRICE: Record = Record {
    name: "price",
    doc: "What a model costs, in dollars for a million tokens.",
    others: Others::Refused,
    groups: &[&[
        Key::required("input", Shape::Amount(1_000_000), "What goes in."),
        Key::required("output", Shape::Amount(1_000_000), "What comes out."),
        Key::optional("cache_read", Shape::Amount(1_000_000), "What goes in and was in the cache.")
            .default("as `input`"),
        Key::optional("cache_write", Shape::Amount(1_000_000), "What goes in and is put into the cache.")
            .default("as `input`"),
    ]],
};
