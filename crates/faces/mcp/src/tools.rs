//! The tools that a client is offered: their names, what the model reads about them, and their arguments.
//!
//! This table is the one place that knows them; reading the arguments of a call and docs/mcp.md are held to it.

use crate::desk::MoreTool;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

/// A tool of abide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own {
    List,
    Run,
    Status,
    Submit,
    Cancel,
    Validate,
    Agent,
}

/// One argument of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Argument {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    pub(crate) required: bool,
    pub(crate) description: &'static str,
    /// Another name that it is known by; the plugin that abide grew out of called things so.
    pub(crate) alias: Option<&'static str>,
}

/// What an argument can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Text,
    Object,
    Anything,
}

const fn argument(name: &'static str, takes: Takes, description: &'static str) -> Argument {
    Argument { name, takes, required: false, description, alias: None }
}

const fn required(name: &'static str, takes: Takes, description: &'static str) -> Argument {
    Argument { required: true, ..argument(name, takes, description) }
}

impl Own {
    /// Every tool, in the order that clients list them.
    pub(crate) const ALL: [Own; 7] =
        [Self::List, Self::Run, Self::Status, Self::Submit, Self::Cancel, Self::Validate, Self::Agent];

    /// Returns the tool of a name, or of the name with a dot that the first plugin gave it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let bare = name.strip_prefix("ability_").or_else(|| name.strip_prefix("ability."))?;
        Self::ALL.into_iter().find(|tool| tool.name()["ability_".len()..] == *bare)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::List => "ability_list",
            Self::Run => "ability_run",
            Self::Status => "ability_status",
            Self::Submit => "ability_submit",
            Self::Cancel => "ability_cancel",
            Self::Validate => "ability_validate",
            Self::Agent => "ability_agent",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::List => "List abilities",
            Self::Run => "Run an ability",
            Self::Status => "Show a run",
            Self::Submit => "Submit a step's result",
            Self::Cancel => "Cancel a run",
            Self::Validate => "Validate abilities",
            Self::Agent => "Show what an agent may run",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::List => {
                "Lists the abilities of this project: enforced workflows with a name, a description and inputs. Look here \
                 before doing by hand what an ability may exist for, like a deployment or a release."
            }
            Self::Run => {
                "Starts an ability. abide runs its script steps itself. When a step is for you, the answer is its prompt and \
                 what you may use: do that work, then call `ability_submit`. Answers when the run is over, waits for you or \
                 for a human, or takes long: then `ability_status` waits for what follows. Until the run is over, do nothing \
                 but its current step."
            }
            Self::Status => {
                "Shows how a run stands: its steps, the current one and what is expected of you; waits a while if abide is at \
                 work. Without `run`, the run of this session. Always allowed."
            }
            Self::Submit => {
                "Hands in the result of the step that a run waits for. abide checks the step's evidence itself; if something \
                 is missing, the answer says what, and the step goes on. Otherwise the run goes on to its next step as with \
                 `ability_run`."
            }
            Self::Cancel => {
                "Ends a run before its time. In a strict ability only a human may do that, and so it is refused. Without \
                 `run`, the run of this session."
            }
            Self::Validate => {
                "Checks the definition of an ability, or of all, and reports every problem with its file, line and likely \
                 fix. Changes nothing."
            }
            Self::Agent => {
                "Shows which abilities an agent may run, and which agents there are. Without `agent`, the one that asks."
            }
        }
    }

    /// Returns the arguments of the tool.
    pub(crate) fn arguments(self) -> &'static [Argument] {
        use Takes::{Anything, Object, Text};
        const RUN: Argument = argument("run", Text, "The id of the run; without it, the run of this session");
        match self {
            Self::List => &[],
            Self::Run => {
                const ARGUMENTS: &[Argument] = &[
                    Argument {
                        alias: Some("name"),
                        ..required("ability", Text, "The name of the ability, as `ability_list` gives it")
                    },
                    argument("inputs", Object, "The inputs of the ability, by name"),
                    argument("input", Text, "What the user asked for, in their words"),
                ];
                ARGUMENTS
            }
            Self::Status => &[RUN],
            Self::Submit => {
                const ARGUMENTS: &[Argument] = &[
                    required("run", Text, "The id of the run"),
                    required("step", Text, "The id of the step"),
                    required(
                        "output",
                        Anything,
                        "The result: a text, or, if the step has an output schema, the JSON that it asks for",
                    ),
                ];
                ARGUMENTS
            }
            Self::Cancel => {
                const ARGUMENTS: &[Argument] =
                    &[RUN, argument("reason", Text, "Why; it is kept in the log of the run")];
                ARGUMENTS
            }
            Self::Validate => {
                const ARGUMENTS: &[Argument] = &[Argument {
                    alias: Some("name"),
                    ..argument("ability", Text, "The name of the ability; without it, all of them")
                }];
                ARGUMENTS
            }
            Self::Agent => {
                const ARGUMENTS: &[Argument] =
                    &[argument("agent", Text, "The name of the agent; without it, the one that asks")];
                ARGUMENTS
            }
        }
    }

    fn annotations(self) -> ToolAnnotations {
        let hints = ToolAnnotations::with_title(self.title());
        match self {
            Self::List | Self::Status | Self::Validate | Self::Agent => {
                hints.read_only(true).destructive(false).idempotent(true).open_world(false)
            }
            // What the steps of an ability do, nobody can know here.
            Self::Run | Self::Submit => {
                hints.read_only(false).destructive(true).idempotent(false).open_world(true)
            }
            Self::Cancel => hints.read_only(false).destructive(true).idempotent(true).open_world(false),
        }
    }

    /// Returns the tool as one that a desk brings along.
    pub(crate) fn described(self) -> MoreTool {
        MoreTool {
            name: self.name().to_owned(),
            title: self.title().to_owned(),
            description: self.description().to_owned(),
            schema: self.schema(),
            reads_only: self.annotations().read_only_hint == Some(true),
        }
    }

    /// Returns what a client is told about the tool.
    pub(crate) fn offer(self) -> Tool {
        Tool::new(self.name(), self.description(), self.schema())
            .with_title(self.title())
            .with_annotations(self.annotations())
    }

    fn schema(self) -> JsonObject {
        let mut properties = JsonObject::new();
        for argument in self.arguments() {
            let mut property = match argument.takes {
                Takes::Text => json!({ "type": "string" }),
                Takes::Object => json!({ "type": "object", "additionalProperties": true }),
                // A client that knows only one type takes the first.
                Takes::Anything => json!({ "type": ["string", "object", "array", "number", "boolean"] }),
            };
            property["description"] = argument.description.into();
            properties.insert(argument.name.to_owned(), property);
        }
        let needed: Vec<Value> =
            self.arguments().iter().filter(|each| each.required).map(|each| each.name.into()).collect();
        let mut schema = JsonObject::from_iter([
            ("type".to_owned(), "object".into()),
            ("properties".to_owned(), properties.into()),
            ("additionalProperties".to_owned(), false.into()),
        ]);
        if !needed.is_empty() {
            schema.insert("required".to_owned(), needed.into());
        }
        schema
    }
}

/// Returns what a client is told about a tool that the desk brings along.
pub(crate) fn offer_of(tool: MoreTool) -> Tool {
    let hints = ToolAnnotations::with_title(&tool.title)
        .read_only(tool.reads_only)
        .destructive(!tool.reads_only)
        .idempotent(tool.reads_only)
        .open_world(!tool.reads_only);
    Tool::new(tool.name, tool.description, tool.schema).with_title(tool.title).with_annotations(hints)
}

#[cfg(test)]
mod tests {
    use super::*;
    use abide_core::policy::{Client, ToolKind, kind};

    #[test]
    fn every_tool_is_known_to_the_gate_under_the_names_that_clients_give_it() {
        for tool in Own::ALL {
            for (client, name) in [
                (Client::ClaudeCode, format!("mcp__abide__{}", tool.name())),
                (Client::ClaudeCode, format!("mcp__plugin_abide_abide__{}", tool.name())),
                (Client::Codex, format!("mcp__abide__{}", tool.name())),
                (Client::OpenCode, format!("abide_{}", tool.name())),
                (Client::Other, tool.name().to_owned()),
            ] {
                let ToolKind::Own(own) = kind(client, &name) else { panic!("{client:?} {name} is unknown") };
                assert_eq!(own.word(), tool.name(), "{client:?} {name}");
            }
        }
    }

    #[test]
    fn a_tool_that_only_looks_says_so_and_the_gate_agrees() {
        for tool in Own::ALL {
            let hint = tool.annotations().read_only_hint;
            assert_eq!(hint, Some(kind(Client::Other, tool.name()).only_reads()), "{}", tool.name());
        }
    }

    /// Returns what docs/mcp.md says about the tools.
    fn page() -> String {
        let mut page = String::new();
        for tool in Own::ALL {
            page.push('\n');
            page.push_str(&item("- ", &format!("**`{}`**: {}", tool.name(), tool.description())));
            for argument in tool.arguments() {
                let needed = if argument.required { ", required" } else { "" };
                page.push_str(&item(
                    "  - ",
                    &format!("`{}`{needed}: {}", argument.name, argument.description),
                ));
            }
        }
        page
    }

    /// Returns an item of a list in lines of a readable length.
    fn item(mark: &str, text: &str) -> String {
        let mut lines = vec![mark.to_owned()];
        for word in text.split(' ') {
            let last = lines.last_mut().unwrap();
            let begins = last.trim_start_matches(['-', ' ']).is_empty();
            if !begins && last.chars().count() + 1 + word.chars().count() > 118 {
                lines.push(format!("{}{word}", " ".repeat(mark.len())));
            } else {
                last.push_str(if begins { "" } else { " " });
                last.push_str(word);
            }
        }
        lines.join("\n") + "\n"
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test reads the page that it holds to the tools")]
    fn the_page_about_the_server_says_what_the_tools_say() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/mcp.md");
        let text = std::fs::read_to_string(path).unwrap();
        let (_, rest) =
            text.split_once("<!-- tools: a test holds this part against the server -->\n").unwrap();
        let (said, _) = rest.split_once("\n<!-- /tools -->").unwrap();
        assert_eq!(said, page(), "the part must be:\n{}", page());
        for (uri, ..) in crate::uri::TEMPLATES {
            assert!(text.contains(&format!("| `{uri}` |")), "{uri} is missing");
        }
    }

    #[test]
    fn names_with_dots_mean_the_same_tools() {
        for tool in Own::ALL {
            assert_eq!(Own::named(tool.name()), Some(tool));
            assert_eq!(Own::named(&tool.name().replace('_', ".")), Some(tool));
        }
        for wrong in ["", "ability", "ability_", "ability.", "ability_lis", "ability-list", "Ability_list"] {
            assert_eq!(Own::named(wrong), None, "{wrong}");
        }
    }
}
