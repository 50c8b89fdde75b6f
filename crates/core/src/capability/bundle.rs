//! What is run for a call of a bundle's tool: values stay data, in a script as in a list of words.

use crate::definition::check::script_problems;
use crate::definition::{Bundle, BundleTool, Shell, ToolAction};
use crate::diagnostic::{Code, Diagnostic, Problems};
use crate::policy::{Client, ToolKind, kind};
use crate::source::Spanned;
use crate::value::expression::{Fields, Scope, Type};
use crate::value::shell::Dialect;
use crate::value::template::{Part, script};
use crate::value::{Template, Value};
use std::sync::Arc;

/// A process that answers a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// What its environment adds.
    pub variables: Vec<(String, String)>,
}

/// How long a value may be that goes through the environment or a word of a command; the system takes no longer ones.
const LONGEST: usize = 120 * 1024;

impl BundleTool {
    /// Returns what is run for a call. `arguments` fit the schema.
    ///
    /// Fails with a sentence for the caller: a value that cannot travel, or that is missing and used.
    pub fn invocation(&self, arguments: &Value, configuration: &Value) -> Result<Invocation, String> {
        let values = Value::Map(vec![
            ("arguments".to_owned(), with_defaults(arguments, self.arguments.as_ref())),
            ("configuration".to_owned(), configuration.clone()),
        ]);
        let mut variables = Vec::new();
        for (name, template) in &self.env {
            let value = template.render(&values).map_err(|error| error.to_string())?;
            variables.push((name.value.clone(), value));
        }
        let (program, arguments) = match &self.action {
            ToolAction::Command(words) => command(words, &values)?,
            ToolAction::Run { script: text, shell } => {
                let shell = shell.as_ref().map_or(Shell::Sh, |shell| shell.value);
                let (text, values) = script(text, dialect(shell), &values)?;
                variables.extend(values);
                (shell.word().to_owned(), vec!["-c".to_owned(), text])
            }
        };
        let travels = |text: &str| !text.contains('\0') && text.len() <= LONGEST;
        if !variables.iter().all(|(_, value)| travels(value)) || !arguments.iter().all(|word| travels(word)) {
            return Err(format!(
                "a value has a NUL byte or more than {LONGEST} bytes, which no environment and no command line holds"
            ));
        }
        Ok(Invocation { program, arguments, variables })
    }
}

fn command(words: &[Spanned<Template>], values: &Value) -> Result<(String, Vec<String>), String> {
    let mut rendered = Vec::new();
    let mut options_over = false;
    for word in words {
        let text = word.render(values).map_err(|error| error.to_string())?;
        if let Some(Part::Placeholder(placeholder)) = word.parts().next()
            && !options_over
            && text.starts_with('-')
            && matches!(placeholder.evaluate(values), Ok(Value::Text(_)))
        {
            return Err(format!("{text:?} would be read as an option; a value may not begin with `-` here"));
        }
        options_over |= word.is_literal() && text == "--";
        rendered.push(text);
    }
    let mut rendered = rendered.into_iter();
    let program = rendered.next().filter(|program| !program.is_empty()).ok_or("the command is empty")?;
    Ok((program, rendered.collect()))
}

/// Returns arguments in which what is left out has the default of its schema.
fn with_defaults(arguments: &Value, schema: Option<&Spanned<Value>>) -> Value {
    let mut entries = match arguments {
        Value::Map(entries) => entries.clone(),
        _ => Vec::new(),
    };
    for (name, property) in properties(schema) {
        if arguments.get(name).is_none()
            && let Some(default) = property.get("default")
        {
            entries.push((name.clone(), default.clone()));
        }
    }
    Value::Map(entries)
}

fn properties(schema: Option<&Spanned<Value>>) -> &[(String, Value)] {
    match schema.and_then(|schema| schema.value.get("properties")) {
        Some(Value::Map(properties)) => properties,
        _ => &[],
    }
}

impl Bundle {
    /// Returns what is wrong between the parts of the file.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut problems = Problems::default();
        for (index, tool) in self.tools.iter().enumerate() {
            if self.tools[..index].iter().any(|other| other.name.value == tool.name.value) {
                problems.push(
                    Diagnostic::new(
                        Code::DuplicateTool,
                        tool.name.span,
                        format!("there are two tools `{}`", tool.name.value),
                    )
                    .help("give one of them another name"),
                );
            }
            // The gate knows tools by their names: one that is called like a tool of abide would pass for it.
            if kind(Client::Other, tool.name.value.as_str()) != ToolKind::Other {
                problems.push(
                    Diagnostic::new(
                        Code::BadCapability,
                        tool.name.span,
                        format!("`{}` is the name of a tool that comes with abide", tool.name.value),
                    )
                    .help("give it another name: rules and the gate know that one"),
                );
            }
            let scope = ToolScope { tool, bundle: self };
            for (_, template) in &tool.env {
                check_template(template, &scope, &mut problems);
            }
            match &tool.action {
                ToolAction::Command(words) => {
                    if let Some(first) = words.first().filter(|first| !first.is_literal()) {
                        problems.push(
                            Diagnostic::new(
                                Code::UnsafePlaceholder,
                                first.span,
                                "which program runs would be up to the caller",
                            )
                            .help("name the program, and give it the value as an argument"),
                        );
                    }
                    for word in words {
                        check_template(word, &scope, &mut problems);
                    }
                }
                ToolAction::Run { script, shell } => {
                    check_template(script, &scope, &mut problems);
                    let shell = shell.as_ref().map_or(Shell::Sh, |shell| shell.value);
                    script_problems(script, dialect(shell), &mut problems);
                }
            }
        }
        problems.sorted()
    }
}

fn check_template(template: &Spanned<Template>, scope: &ToolScope<'_>, problems: &mut Problems) {
    problems.extend(template.check(scope).problems);
    for placeholder in template.placeholders().iter().filter(|placeholder| placeholder.raw) {
        problems.push(
            Diagnostic::new(
                Code::UnsafePlaceholder,
                placeholder.span,
                "`| raw` would run what a model wrote as code",
            )
            .help("leave `| raw` out: the value is passed as data"),
        );
    }
}

/// What a template of a tool may name.
struct ToolScope<'a> {
    tool: &'a BundleTool,
    bundle: &'a Bundle,
}

impl Scope for ToolScope<'_> {
    fn root(&self, name: &str) -> Option<Type> {
        match name {
            "arguments" => Some(record(self.tool.arguments.as_ref())),
            "configuration" => Some(record(self.bundle.configuration.as_ref())),
            _ => None,
        }
    }

    fn roots(&self) -> Vec<&str> {
        vec!["arguments", "configuration"]
    }
}

fn record(schema: Option<&Spanned<Value>>) -> Type {
    let required = |name: &str| match schema.and_then(|schema| schema.value.get("required")) {
        Some(Value::List(names)) => names.iter().any(|known| *known == Value::Text(name.to_owned())),
        _ => false,
    };
    let fields = properties(schema).iter().map(|(name, property)| {
        let ty = property_type(property);
        let given = required(name) || property.get("default").is_some();
        (name.as_str(), if given { ty } else { Type::Optional(Box::new(ty)) })
    });
    Type::Record(Arc::new(fields.collect::<Fields>()))
}

fn property_type(property: &Value) -> Type {
    match property.get("type") {
        Some(Value::Text(word)) => match word.as_str() {
            "string" => Type::Text,
            "integer" => Type::Int,
            "number" => Type::Float,
            "boolean" => Type::Bool,
            "array" => Type::List(Box::new(Type::Any)),
            _ => Type::Any,
        },
        _ => Type::Any,
    }
}

fn dialect(shell: Shell) -> Dialect {
    match shell {
        Shell::Sh => Dialect::Sh,
        Shell::Bash => Dialect::Bash,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Span;

    fn template(text: &str) -> Spanned<Template> {
        Spanned::new(Template::parse(text, &|offset| offset).unwrap(), Span::default())
    }

    fn tool(action: ToolAction) -> BundleTool {
        let schema = Value::Map(vec![(
            "properties".to_owned(),
            Value::Map(vec![
                ("city".to_owned(), Value::Map(vec![("type".to_owned(), text("string"))])),
                ("days".to_owned(), Value::Map(vec![("default".to_owned(), Value::Int(3))])),
            ]),
        )]);
        BundleTool {
            name: Spanned::new(crate::capability::ToolName::parse("t").unwrap(), Span::default()),
            description: Spanned::new("t".to_owned(), Span::default()),
            arguments: Some(Spanned::new(schema, Span::default())),
            examples: Vec::new(),
            action,
            env: vec![(Spanned::new("CITY".to_owned(), Span::default()), template("{{arguments.city}}"))],
            risk: None,
            tier: None,
            parallel: None,
            timeout: None,
            output_bytes: None,
            json: None,
        }
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    fn invoked(action: ToolAction, city: &str) -> Result<Invocation, String> {
        tool(action).invocation(&Value::Map(vec![("city".to_owned(), text(city))]), &Value::Null)
    }

    fn words(words: &[&str]) -> ToolAction {
        ToolAction::Command(words.iter().map(|word| template(word)).collect())
    }

    #[test]
    fn each_word_of_a_command_stays_one_word() {
        let found =
            invoked(words(&["weather", "--days={{arguments.days}}", "{{arguments.city}}"]), "a b; rm -r *");
        let found = found.unwrap();
        assert_eq!(
            (found.program.as_str(), found.arguments),
            ("weather", vec!["--days=3".to_owned(), "a b; rm -r *".to_owned()])
        );
        assert_eq!(found.variables, [("CITY".to_owned(), "a b; rm -r *".to_owned())]);
    }

    #[test]
    fn a_value_is_no_option_unless_options_are_over() {
        let refused = invoked(words(&["rm", "{{arguments.city}}"]), "-rf").unwrap_err();
        assert!(refused.contains("would be read as an option"), "{refused}");
        assert!(invoked(words(&["rm", "--", "{{arguments.city}}"]), "-rf").is_ok());
        assert!(invoked(words(&["rm", "x{{arguments.city}}"]), "-rf").is_ok());
    }

    #[test]
    fn a_script_gets_its_values_through_the_environment() {
        let action = ToolAction::Run { script: template("echo {{arguments.city}}"), shell: None };
        let found = invoked(action, "$(id)").unwrap();
        assert_eq!(found.arguments, ["-c", "echo \"${ABIDE_VALUE_0}\""]);
        assert!(found.variables.contains(&("ABIDE_VALUE_0".to_owned(), "$(id)".to_owned())));
    }

    #[test]
    fn what_cannot_travel_is_refused() {
        let action = || ToolAction::Run { script: template("echo {{arguments.city}}"), shell: None };
        for value in ["a\0b", &"x".repeat(LONGEST + 1)] {
            assert!(invoked(action(), value).unwrap_err().contains("NUL byte"), "{}", value.len());
        }
        let missing = tool(action()).invocation(&Value::Map(Vec::new()), &Value::Null).unwrap_err();
        assert!(missing.contains("arguments.city"), "{missing}");
    }
}
