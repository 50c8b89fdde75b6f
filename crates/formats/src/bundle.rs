//! Capabilities that users write: YAML → [`Bundle`].

use crate::ability::schema;
use crate::read::{Fields, Reader, data};
use crate::yaml::{Content, Node};
use crate::{shape, yaml};
use abide_core::capability::{CapabilityId, Requirement, Risk, Tier, ToolName};
use abide_core::definition::{Bundle, BundleStatus, BundleTool, Shell, ToolAction};
use abide_core::diagnostic::{Code, Diagnostic, excerpt};
use abide_core::source::{Span, Spanned};
use abide_core::value::{Template, Value};

/// What came of reading one capability file.
#[derive(Debug)]
pub struct Reading {
    /// The capability, as far as it could be read; whole when there are no errors.
    pub bundle: Option<Bundle>,
    /// Everything that is wrong with the file.
    pub problems: Vec<Diagnostic>,
}

/// Reads a capability; `default_id` is what its place on the disk gives it.
pub fn read(source: &str, default_id: &str) -> Reading {
    let document = yaml::parse(source);
    let mut reader = Reader::new(source, document.problems);
    let bundle = match &document.root {
        Some(root) if !root.is_null() => bundle(&mut reader, root, default_id),
        Some(_) | None => {
            if reader.problems.as_slice().is_empty() {
                reader.report(
                    Diagnostic::whole_file(Code::Documents, "the file is empty")
                        .help("a capability needs at least `description` and `tools`"),
                );
            }
            None
        }
    };
    if let Some(bundle) = &bundle {
        for problem in bundle.check() {
            reader.report(problem);
        }
    }
    Reading { bundle, problems: reader.problems.sorted() }
}

fn bundle(reader: &mut Reader<'_>, root: &Node<'_>, default_id: &str) -> Option<Bundle> {
    let mut fields = reader.fields(root, &shape::BUNDLE, |_| None)?;
    let head = fields.head;
    let id = match fields.take(reader, "id") {
        Some(node) => id(reader, node),
        None => default(reader, default_id, head),
    };
    let bundle = (
        fields.take(reader, "name").and_then(|node| reader.full_text(node)),
        fields.take(reader, "description").and_then(|node| reader.full_text(node)),
        fields.take(reader, "version").and_then(|node| reader.count(node, 1, u32::MAX)),
        fields
            .take(reader, "status")
            .and_then(|node| reader.choice(node, BundleStatus::WORDS, BundleStatus::parse)),
        fields.take(reader, "icon").and_then(|node| reader.full_text(node)),
        fields.take(reader, "category").and_then(|node| reader.full_text(node)),
    );
    let (name, description, version, status, icon, category) = bundle;
    let system_prompt = fields.take(reader, "system_prompt").and_then(|node| reader.text(node));
    let depends_on = fields
        .take(reader, "depends_on")
        .map(|node| reader.one_or_many(node, requirement))
        .unwrap_or_default();
    let configuration = fields.take(reader, "configuration").and_then(|node| schema(reader, node));
    let tools = fields.take(reader, "tools").map(|node| reader.list(node, "a list of tools", tool));
    fields.finish();
    Some(Bundle {
        id: id?,
        name,
        description: description?,
        version,
        status,
        icon,
        category,
        system_prompt,
        depends_on,
        configuration,
        tools: tools?,
    })
}

/// Reads the id of a capability.
pub(crate) fn id(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Spanned<CapabilityId>> {
    let text = reader.full_text(node)?;
    let id = CapabilityId::parse(&text);
    if id.is_none() {
        reader.report(
            Diagnostic::new(
                Code::BadName,
                text.span,
                format!("`{}` is no id of a capability", excerpt(&text)),
            )
            .help("use up to 50 of `a`-`z`, `0`-`9`, `_` and `-`"),
        );
    }
    id.map(|id| Spanned::new(id, text.span))
}

fn default(reader: &mut Reader<'_>, default_id: &str, at: Span) -> Option<Spanned<CapabilityId>> {
    let id = CapabilityId::parse(default_id);
    if id.is_none() {
        reader.report(
            Diagnostic::new(
                Code::BadName,
                at,
                format!("the file's name gives the capability no id: `{}`", excerpt(default_id)),
            )
            .help("rename the file, or give it an `id:` of `a`-`z`, `0`-`9`, `_` and `-`"),
        );
    }
    id.map(|id| Spanned::new(id, at))
}

fn requirement(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Spanned<Requirement>> {
    let text = reader.full_text(node)?;
    let found = Requirement::parse(&text);
    if found.is_none() {
        reader.report(
            Diagnostic::new(Code::BadName, text.span, format!("`{}` names no capability", excerpt(&text)))
                .help("write an id such as `web_fetch`, or `web_fetch@1` for one version"),
        );
    }
    found.map(|found| Spanned::new(found, text.span))
}

fn tool(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<BundleTool> {
    let mut fields = reader.fields(node, &shape::BUNDLE_TOOL, |_| None)?;
    let name = fields.take(reader, "name").and_then(|node| tool_name(reader, node));
    let description = fields.take(reader, "description").and_then(|node| reader.full_text(node));
    let arguments = fields.take(reader, "arguments").and_then(|node| arguments(reader, node));
    let examples = match fields.take(reader, "examples") {
        Some(node) => {
            reader.list(node, "a list of arguments", |_, node| Some(Spanned::new(data(node), node.span)))
        }
        None => Vec::new(),
    };
    let action = action(reader, &mut fields);
    let env = fields.take(reader, "env").map(|node| environment(reader, node)).unwrap_or_default();
    let tool = BundleTool {
        name: name?,
        description: description?,
        arguments,
        examples,
        action: action?,
        env,
        risk: fields.take(reader, "risk").and_then(|node| reader.choice(node, Risk::WORDS, Risk::parse)),
        tier: fields.take(reader, "tier").and_then(|node| reader.choice(node, Tier::WORDS, Tier::parse)),
        parallel: fields.take(reader, "parallel").and_then(|node| reader.boolean(node)),
        timeout: fields.take(reader, "timeout").and_then(|node| reader.duration(node)),
        output_bytes: fields.take(reader, "output_bytes").and_then(|node| reader.count(node, 1, 1 << 20)),
        json: fields.take(reader, "json").and_then(|node| reader.boolean(node)),
    };
    fields.finish();
    Some(tool)
}

fn tool_name(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Spanned<ToolName>> {
    let text = reader.full_text(node)?;
    let name = ToolName::parse(&text);
    if name.is_none() {
        reader.report(
            Diagnostic::new(Code::BadName, text.span, format!("`{}` is no name of a tool", excerpt(&text)))
                .help("use up to 64 letters, digits, `_` and `-`: models are told no other"),
        );
    }
    name.map(|name| Spanned::new(name, text.span))
}

fn arguments(reader: &mut Reader<'_>, node: &Node<'_>) -> Option<Spanned<Value>> {
    let mut found = schema(reader, node)?;
    let object = Value::Text("object".to_owned());
    let says = found.value.get("type").is_some();
    if let (false, Value::Map(entries)) = (says, &mut found.value) {
        entries.push(("type".to_owned(), object.clone()));
    }
    if found.value.get("type") != Some(&object) {
        reader.report(
            Diagnostic::new(Code::BadSchema, node.span, "arguments are an object")
                .help("write `type: object` and put each argument under `properties`"),
        );
        return None;
    }
    Some(found)
}

fn action(reader: &mut Reader<'_>, fields: &mut Fields<'_, '_>) -> Option<ToolAction> {
    let command = fields.take_with_key(reader, "command");
    let words = command.map(|(_, node)| {
        // One text is what people write who think of a shell; it would be the name of one program.
        if let Content::Scalar(_) = &node.content {
            reader.wrong_type(node, "a list of words (or write `run:` for a shell)");
            return Vec::new();
        }
        reader.list(node, "a list of words", Reader::template)
    });
    let run = fields.take_with_key(reader, "run");
    let script = run.and_then(|(_, node)| reader.full_template(node));
    let shell = fields.take(reader, "shell").and_then(|node| reader.choice(node, Shell::WORDS, Shell::parse));
    match (command, run) {
        (Some((at, _)), Some(_)) => {
            reader.report(
                Diagnostic::new(Code::MisplacedKey, at, "a tool has either `command` or `run`, not both")
                    .help("keep `command` for a program and its words, `run` for a script"),
            );
            None
        }
        (None, None) => {
            reader.report(
                Diagnostic::new(Code::MissingKey, fields.head, "a tool needs `command` or `run`")
                    .label("nothing here says what is run")
                    .help("`command: [program, \"{{arguments.name}}\"]`, or `run:` with a script"),
            );
            None
        }
        (Some(_), None) => {
            if let Some(shell) = shell {
                reader.report(
                    Diagnostic::new(Code::UselessKey, shell.span, "`shell` is only for `run`")
                        .help("a `command` is started without a shell"),
                );
            }
            words.filter(|words| !words.is_empty()).map(ToolAction::Command)
        }
        (None, Some(_)) => Some(ToolAction::Run { script: script?, shell }),
    }
}

fn environment(reader: &mut Reader<'_>, node: &Node<'_>) -> Vec<(Spanned<String>, Spanned<Template>)> {
    let mut found = Vec::new();
    for (key, value) in reader.entries(node, "a mapping from variable names to values") {
        let Some(name) = reader.variable_name(key) else { continue };
        found.extend(reader.template(value).map(|value| (name, value)));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEATHER: &str = "\
description: Tells the weather
version: 2
depends_on: [web_fetch@1]
configuration: { type: object, properties: { unit: { type: string, default: celsius } } }
tools:
  - name: forecast
    description: The weather of a city
    arguments:
      type: object
      properties: { city: { type: string }, days: { type: integer } }
      required: [city]
    examples: [{ city: Paris }]
    command: [./forecast.py, --unit, '{{configuration.unit}}', --, '{{arguments.city}}']
    risk: medium
    timeout: 10s
  - name: moon
    description: The moon
    run: |
      echo \"{{configuration.unit}}\"
";

    fn codes(source: &str) -> Vec<String> {
        let problems = read(source, "x").problems;
        problems.iter().map(|problem| format!("{} {}", problem.code, problem.message)).collect()
    }

    #[test]
    fn a_capability_is_read() {
        let reading = read(WEATHER, "weather");
        assert_eq!(reading.problems, []);
        let bundle = reading.bundle.unwrap();
        assert_eq!((bundle.id.as_str(), bundle.version.unwrap().value), ("weather", 2));
        assert_eq!(bundle.depends_on[0].value.to_string(), "web_fetch@1");
        assert!(matches!(&bundle.tools[0].action, ToolAction::Command(words) if words.len() == 5));
        assert!(matches!(&bundle.tools[1].action, ToolAction::Run { .. }));
    }

    #[test]
    fn everything_that_is_wrong_is_said_at_once() {
        let found = codes(
            "descripton: x\ntools:\n  - name: a b\n    description: y\n    command: [x]\n  - name: c\n    description: y\n  - name: d\n    description: y\n    run: echo {{arguments.city}}\n    command: [x]\n  - name: e\n    description: y\n    command: echo hi\n",
        );
        assert_eq!(
            found,
            [
                "E0201 `descripton` is not a key of a capability",
                "E0205 `a b` is no name of a tool",
                "E0203 a tool needs `command` or `run`",
                "E0209 a tool has either `command` or `run`, not both",
                "E0202 `command` takes a list of words (or write `run:` for a shell), not a string",
            ]
        );
    }

    #[test]
    fn values_may_not_become_code_or_programs() {
        let tool = |action: &str| {
            codes(&format!(
                "description: x\ntools:\n  - name: t\n    description: y\n    arguments: {{ type: object, properties: {{ a: {{ type: string }} }}, required: [a] }}\n    {action}\n"
            ))
        };
        assert_eq!(tool("run: echo {{arguments.a}}"), Vec::<String>::new());
        for (action, tells) in [
            ("run: echo {{arguments.a | raw}}", "`| raw` would run what a model wrote as code"),
            ("command: ['{{arguments.a}}', x]", "which program runs would be up to the caller"),
            ("run: echo $(( {{arguments.a}} ))", "E0506"),
            ("run: echo {{arguments.b}}", "E0503"),
            ("run: echo {{inputs.a}}", "E0502"),
        ] {
            let found = tool(action);
            assert!(found.iter().any(|problem| problem.contains(tells)), "{action}: {found:?}");
        }
    }

    #[test]
    fn two_tools_of_one_name_and_bad_schemas_are_refused() {
        let found = codes(
            "description: x\ntools:\n  - { name: t, description: y, command: [a] }\n  - { name: t, description: y, command: [b], arguments: { type: strin } }\n  - { name: u, description: y, command: [b], arguments: { type: array } }\n",
        );
        assert_eq!(
            found,
            [
                "E1201 there are two tools `t`",
                "E0213 `strin` is not a type of JSON Schema",
                "E0213 arguments are an object",
            ]
        );
        for name in ["read_file", "ability_submit", "bash"] {
            let found =
                codes(&format!("description: x\ntools: [{{ name: {name}, description: y, command: [a] }}]"));
            assert_eq!(found, [format!("E1202 `{name}` is the name of a tool that comes with abide")]);
        }
        assert!(codes("")[0].starts_with("E0107"), "{:?}", codes(""));
    }
}
