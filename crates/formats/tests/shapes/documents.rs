//! Documents that use one key of one record, derived from its shape.

use abide_core::diagnostic::{Code, Diagnostic};
use abide_core::value::Value;
use abide_formats::schema::Format;
use abide_formats::shape::{self, Key, Record, Shape};
use abide_formats::yaml::{self, Content, Node};
use abide_formats::{ability, agent, bundle, config};

/// Where a record stands in a document.
pub(crate) struct Context {
    pub(crate) record: &'static Record,
    pub(crate) format: Format,
    /// The keys that lead to the record; a number is a position in a list.
    path: &'static [&'static str],
    /// Puts the record into a whole document.
    wrap: fn(Value) -> Value,
}

/// What the reader said about a document.
pub(crate) struct Outcome {
    pub(crate) codes: Vec<Code>,
    pub(crate) problems: Vec<String>,
    /// Whether an error points at the key or into its value.
    pub(crate) at_key: bool,
}

impl Outcome {
    /// Returns whether the form is refused, as opposed to what the parts mean together.
    pub(crate) fn is_malformed(&self) -> bool {
        self.codes.iter().any(|code| code.id().starts_with("E01") || code.id().starts_with("E02"))
    }
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn with_steps(steps: Vec<Value>) -> Value {
    map([("description", text("d")), ("steps", Value::List(steps))])
}

fn other() -> Value {
    map([("id", text("other")), ("run", text("x"))])
}

fn step(record: Value) -> Value {
    with_steps(vec![record, other()])
}

fn in_step(key: &str, record: Value) -> Value {
    step(map([("id", text("s")), ("run", text("x")), (key, record)]))
}

fn in_ability(key: &str, record: Value) -> Value {
    map([("description", text("d")), ("steps", Value::List(vec![other()])), (key, record)])
}

fn in_provider(record: Value) -> Value {
    map([("providers", map([("a", record)]))])
}

macro_rules! contexts {
    ($($record:ident, $format:ident, [$($path:literal),*], $wrap:expr;)+) => {
        pub(crate) static CONTEXTS: &[Context] = &[$(Context {
            record: &shape::$record,
            format: Format::$format,
            path: &[$($path),*],
            wrap: $wrap,
        }),+];
    };
}

contexts! {
    ABILITY, Ability, [], |record| record;
    TRIGGERS, Ability, ["triggers"], |record| in_ability("triggers", record);
    INPUT, Ability, ["inputs", "a"], |record| in_ability("inputs", map([("a", record)]));
    SETTINGS, Ability, ["settings"], |record| in_ability("settings", record);
    ALLOWANCE, Ability, ["settings", "budget"], |record| in_ability("settings", map([("budget", record)]));
    SCRIPT_STEP, Ability, ["steps", "0"], step;
    AGENT_STEP, Ability, ["steps", "0"], step;
    SKILL_STEP, Ability, ["steps", "0"], step;
    APPROVAL_STEP, Ability, ["steps", "0"], step;
    WORKFLOW_STEP, Ability, ["steps", "0"], step;
    REPEAT, Ability, ["steps", "0", "repeat"], |record| in_step("repeat", record);
    VALIDATION, Ability, ["steps", "0", "validation"], |record| in_step("validation", record);
    SECRET, Ability, ["steps", "0", "env", "A"], |record| in_step("env", map([("A", record)]));
    OPTION, Ability, ["steps", "0", "options", "0"], |record| {
        step(map([("id", text("s")), ("prompt", text("p")), ("options", Value::List(vec![record]))]))
    };
    CONFIG, Config, [], |record| record;
    ABILITIES, Config, ["abilities"], |record| map([("abilities", record)]);
    SKILLS, Config, ["skills"], |record| map([("skills", record)]);
    RUNS, Config, ["runs"], |record| map([("runs", record)]);
    SESSIONS, Config, ["sessions"], |record| map([("sessions", record)]);
    BUDGET, Config, ["budget"], |record| map([("budget", record)]);
    AGENT_SETTINGS, Config, ["agents", "a"], |record| map([("agents", map([("a", record)]))]);
    SECRET_SOURCE, Config, ["secrets", "a"], |record| map([("secrets", map([("a", record)]))]);
    PROVIDER, Config, ["providers", "a"], in_provider;
    MODEL_SETTINGS, Config, ["providers", "a", "models", "m"], |record| {
        in_provider(map([("models", map([("m", record)]))]))
    };
    PRICE, Config, ["providers", "a", "models", "m", "price"], |record| {
        in_provider(map([("models", map([("m", map([("price", record)]))]))]))
    };
    AGENT, Agent, [], |record| record;
    SERVER, Config, ["capabilities", "a"], |record| map([("capabilities", map([("a", record)]))]);
    WEB, Config, ["web"], |record| map([("web", record)]);
    WEBHOOK, Config, ["webhooks", "a"], |record| map([("webhooks", map([("a", record)]))]);
    BUNDLE, Capability, [], |record| record;
    BUNDLE_TOOL, Capability, ["tools", "0"], |record| {
        map([("description", text("d")), ("tools", Value::List(vec![record]))])
    };
}

/// Returns the smallest value of a record.
pub(crate) fn minimal(record: &'static Record) -> Value {
    let required = record.keys().filter(|key| key.required);
    let mut entries: Vec<(String, Value)> =
        required.map(|key| (key.name.to_owned(), samples(record, key).swap_remove(0))).collect();
    // A step says its type, so that a missing key does not make it another one.
    if let Some((step_type, _)) = shape::STEP_RECORDS.iter().find(|(_, step)| step.name == record.name) {
        entries.push(("type".to_owned(), text(step_type.word())));
    }
    // These have one of two keys.
    if matches!(record.name, "tool" | "server") {
        entries.push(("command".to_owned(), Value::List(vec![text("x")])));
    }
    Value::Map(entries)
}

/// Returns values that a key takes, at least one for each form of its shape.
pub(crate) fn samples(record: &'static Record, key: &Key) -> Vec<Value> {
    match (record.name, key.name) {
        // What these mean depends on the rest of the document.
        ("ability", "protects") => vec![Value::List(vec![text("Bash(git push *)")])],
        (_, "needs") => vec![text("other"), Value::List(vec![text("other")]), Value::List(vec![])],
        (_, "for_each") => vec![text("{{ [1, 2] }}"), Value::List(vec![Value::Int(1)])],
        ("configuration" | "agent settings", "model") => vec![text("a/b")],
        ("provider", "key") | ("webhook", "secret") => vec![map([("env", text("X"))])],
        ("configuration", "capabilities") => vec![map([("a", map([("url", text("http://x"))]))])],
        ("server" | "webhook", "url") | ("web", "proxy") => vec![text("http://x")],
        ("web", "search_url") => vec![text("http://x/{query}")],
        ("web", "search_tool") => vec![text("a__b")],
        ("tool", "arguments") => vec![map([("type", text("object"))])],
        ("configuration", "secrets") => vec![map([("A", map([("env", text("X"))]))])],
        // The type of the record, not any type.
        (_, "type") if record.name.ends_with(" step") => {
            vec![text(record.name.trim_end_matches(" step"))]
        }
        _ => of_shape(&key.shape),
    }
}

fn of_shape(shape: &Shape) -> Vec<Value> {
    match shape {
        Shape::Text | Shape::Template => vec![text("some text"), Value::Int(7), Value::Bool(true)],
        Shape::Expression => vec![text("1 == 1"), Value::Bool(true)],
        Shape::Duration => vec![text("5m")],
        Shape::Regex => vec![text("^a+$")],
        Shape::Name(_) => vec![text("a")],
        Shape::Bool => vec![Value::Bool(true), Value::Bool(false)],
        Shape::Int(least, most) => vec![Value::Int(*least), Value::Int(*most)],
        Shape::Number => vec![Value::Int(3), Value::Float(0.5)],
        Shape::Amount(most) => vec![Value::Int(0), Value::Int(*most), Value::Float(0.5)],
        Shape::Choice(words) => {
            words.iter().map(|word| text(if word.contains('<') { "acp:x" } else { word })).collect()
        }
        Shape::List(item, least) => {
            let empty = (*least == 0).then(|| Value::List(vec![]));
            of_shape(item).into_iter().map(|item| Value::List(vec![item])).chain(empty).collect()
        }
        Shape::OneOrMany(item) => {
            let list = Value::List(of_shape(item));
            of_shape(item).into_iter().chain([list]).collect()
        }
        Shape::Map(_, value) => {
            let one = |value| map([("A", value)]);
            // Names of abilities and agents in the configuration are lower case; `A` fits every other map.
            of_shape(value).into_iter().map(one).collect()
        }
        Shape::Record(record) => vec![minimal(record)],
        Shape::AnyOf(shapes) => shapes.iter().flat_map(of_shape).collect(),
        Shape::Nothing => vec![Value::Null],
        Shape::Data => vec![text("x"), Value::Int(1), Value::List(vec![]), map([("a", Value::Null)])],
        Shape::Schema => vec![map([("type", text("object"))])],
    }
}

impl Context {
    /// Returns a document whose record has this key with this value, or lacks it.
    pub(crate) fn document(&self, key: &str, value: Option<Value>) -> Value {
        let Value::Map(mut entries) = minimal(self.record) else { return Value::Null };
        entries.retain(|(name, _)| name != key);
        // These keys count only beside another one.
        if key == "max_parallel" && self.record.name.ends_with(" step") {
            entries.push(("for_each".to_owned(), Value::List(vec![Value::Int(1)])));
        }
        if matches!((self.record.name, key), ("tool", "run") | ("server", "url")) && value.is_some() {
            entries.retain(|(name, _)| name != "command");
        }
        if self.record.name == "server" && key == "headers" {
            entries.retain(|(name, _)| name != "command");
            entries.push(("url".to_owned(), text("http://x")));
        }
        entries.extend(value.map(|value| (key.to_owned(), value)));
        (self.wrap)(Value::Map(entries))
    }

    /// Reads a document and looks whether an error stands at a key of the record.
    pub(crate) fn read(&self, document: &Value, key: &str) -> Outcome {
        let yaml = yaml::emit(document);
        let (source, problems) = match self.format {
            Format::Ability => (yaml.clone(), ability::read(&yaml, "test").problems),
            Format::Capability => (yaml.clone(), bundle::read(&yaml, "test").problems),
            Format::Config => (yaml.clone(), config::read(&yaml).problems),
            Format::Agent => {
                let source = format!("---\n{yaml}");
                let problems = agent::read(&format!("{source}---\nbody\n"), "test").problems;
                (source, problems)
            }
        };
        let errors: Vec<&Diagnostic> = problems.iter().filter(|problem| problem.is_error()).collect();
        let parsed = yaml::parse(&source);
        let place =
            parsed.root.as_ref().and_then(|root| self.find(root)).and_then(|record| entry(record, key));
        let at_key = place.is_some_and(|(name, value)| {
            let inside = |problem: &&Diagnostic| {
                problem.at.is_some_and(|at| name.span.start <= at.start && at.end <= value.span.end)
            };
            errors.iter().any(inside)
        });
        Outcome {
            codes: errors.iter().map(|problem| problem.code).collect(),
            problems: errors.iter().map(|problem| format!("{} {}", problem.code, problem.message)).collect(),
            at_key,
        }
    }

    fn find<'n, 'a>(&self, root: &'n Node<'a>) -> Option<&'n Node<'a>> {
        self.path.iter().try_fold(root, |node, step| match &node.content {
            Content::Sequence(items) => items.get(step.parse::<usize>().ok()?),
            _ => node.get(step),
        })
    }
}

fn entry<'n, 'a>(record: &'n Node<'a>, key: &str) -> Option<(&'n Node<'a>, &'n Node<'a>)> {
    let Content::Mapping(entries) = &record.content else { return None };
    entries.iter().find(|(name, _)| name.text() == Some(key)).map(|(name, value)| (name, value))
}

/// Returns data as JSON.
pub(crate) fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => (*value).into(),
        Value::Float(value) => (*value).into(),
        Value::Text(value) => value.as_str().into(),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(entries) => entries.iter().map(|(key, value)| (key.clone(), json(value))).collect(),
    }
}
