//! The capabilities that there are, and what an agent gets of them.
//!
//! [`CapabilityRegistry::equip`] turns the ids of an agent into a system prompt and a toolbox, or tells everything that
//! is wrong with them, before a session starts.

use crate::port::{Capability, Later, Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use crate::toolbox::{BadTool, Toolbox, compiled, problems};
use abide_core::capability::{
    CapabilityId, CapabilityInfo, Conflicts, Offer, Selected, SelectionError, ToolName, select, system_prompt,
};
use serde_json::Value;
use std::sync::Arc;

/// Every capability that there is, in the order in which they are listed.
#[derive(Clone, Default)]
pub struct CapabilityRegistry(Vec<Arc<dyn Capability>>);

/// Why a capability cannot be registered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// There is one with its id.
    #[error("there are two capabilities `{0}`")]
    Twice(CapabilityId),
    /// One of its tools cannot be offered.
    #[error("capability `{id}`: {reason}")]
    Tool {
        /// Which capability.
        id: CapabilityId,
        /// What is wrong with the tool.
        reason: BadTool,
    },
    /// The schema of its configuration cannot be used.
    #[error("capability `{id}`: the schema of its configuration cannot be used: {reason}")]
    Configuration {
        /// Which capability.
        id: CapabilityId,
        /// What is wrong with it.
        reason: String,
    },
}

/// A capability that an agent names.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Choice {
    /// Its id, as somebody wrote it, with `@version` behind it where one is required.
    pub id: String,
    /// What is configured for this agent.
    pub configuration: Option<Value>,
}

impl Choice {
    /// Makes a choice that configures nothing.
    pub fn of(id: impl Into<String>) -> Self {
        Self { id: id.into(), configuration: None }
    }

    /// Returns its id without the version that is required.
    pub fn bare_id(&self) -> &str {
        self.id.split('@').next().unwrap_or(&self.id)
    }
}

/// What an agent gets.
#[derive(Debug, Clone)]
pub struct Equipment {
    /// All that the model is told first: what the capabilities add, and the agent's own prompt.
    pub system_prompt: String,
    /// Its tools.
    pub toolbox: Toolbox,
    /// Where they come from.
    pub selected: Vec<Selected>,
}

/// Why an agent cannot be equipped.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EquipError {
    /// The choice does not work out.
    #[error(transparent)]
    Selection(#[from] SelectionError),
    /// What is configured for a capability does not fit it.
    #[error("the configuration of capability `{id}` does not fit: {}", problems.join("; "))]
    Configuration {
        /// Which capability.
        id: CapabilityId,
        /// Each problem as a sentence.
        problems: Vec<String>,
    },
    /// A tool cannot be offered; registering has checked the ones that were there then.
    #[error(transparent)]
    Tool(#[from] BadTool),
}

impl CapabilityRegistry {
    /// Adds a capability whose tools can all be offered.
    pub fn register(&mut self, capability: Arc<dyn Capability>) -> Result<(), RegisterError> {
        let id = capability.id();
        if self.get(id.as_str()).is_some() {
            return Err(RegisterError::Twice(id));
        }
        Toolbox::new(capability.tools()).map_err(|reason| RegisterError::Tool { id: id.clone(), reason })?;
        if let Some(schema) = capability.configuration() {
            compiled(&schema).map_err(|reason| RegisterError::Configuration { id, reason })?;
        }
        self.0.push(capability);
        Ok(())
    }

    /// Finds a capability.
    pub fn get(&self, id: &str) -> Option<&Arc<dyn Capability>> {
        self.0.iter().find(|capability| capability.id().as_str() == id)
    }

    /// Returns the capabilities, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Capability>> {
        self.0.iter()
    }

    /// Returns what people and programs are shown of each, in order.
    pub fn list(&self) -> Vec<CapabilityInfo> {
        self.0.iter().map(|capability| capability.info()).collect()
    }

    /// Returns what an agent gets for the capabilities that it names, or everything that is wrong with them.
    pub fn equip(
        &self,
        choices: &[Choice],
        own_prompt: &str,
        conflicts: Conflicts,
    ) -> Result<Equipment, Vec<EquipError>> {
        let mut wrong = Vec::new();
        let configured: Vec<Arc<dyn Capability>> = self
            .0
            .iter()
            .map(|capability| {
                let id = capability.id();
                let choice = choices.iter().find(|choice| choice.bare_id() == id.as_str());
                let Some(configuration) = choice.and_then(|choice| choice.configuration.as_ref()) else {
                    return Arc::clone(capability);
                };
                configure(capability, configuration).unwrap_or_else(|problems| {
                    wrong.push(EquipError::Configuration { id, problems });
                    Arc::clone(capability)
                })
            })
            .collect();
        let offers: Vec<Offer> = configured.iter().map(|capability| offer(&**capability)).collect();
        let wanted: Vec<&str> = choices.iter().map(|choice| choice.id.as_str()).collect();
        let selected = match select(&wanted, &offers, conflicts) {
            Ok(selected) if wrong.is_empty() => selected,
            Ok(_) => return Err(wrong),
            Err(reasons) => {
                wrong.extend(reasons.into_iter().map(EquipError::Selection));
                return Err(wrong);
            }
        };
        let mut additions: Vec<String> = Vec::new();
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for chosen in &selected {
            let Some(capability) = configured.iter().find(|capability| capability.id() == chosen.id) else {
                continue;
            };
            additions.extend(capability.system_prompt_addition().map(str::to_owned));
            let named = capability.tools().into_iter().zip(&chosen.tools);
            tools.extend(named.map(|(tool, name)| renamed(tool, &name.called)));
        }
        let toolbox = Toolbox::new(tools).map_err(|error| vec![EquipError::Tool(error)])?;
        let system_prompt = system_prompt(additions.iter().map(String::as_str), own_prompt);
        Ok(Equipment { system_prompt, toolbox, selected })
    }
}

impl std::fmt::Debug for CapabilityRegistry {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_list().entries(self.0.iter().map(|capability| capability.id())).finish()
    }
}

fn configure(
    capability: &Arc<dyn Capability>,
    configuration: &Value,
) -> Result<Arc<dyn Capability>, Vec<String>> {
    if let Some(schema) = capability.configuration() {
        let schema = compiled(&schema).map_err(|reason| vec![reason])?;
        let found = problems(&schema, configuration);
        if !found.is_empty() {
            return Err(found);
        }
    }
    capability.configured(configuration).map_err(|reason| vec![reason])
}

fn offer(capability: &dyn Capability) -> Offer {
    Offer {
        id: capability.id(),
        version: capability.version(),
        status: capability.status(),
        depends_on: capability.depends_on(),
        tools: capability.tools().iter().map(|tool| tool.spec().name.clone()).collect(),
    }
}

/// A tool under another name.
struct Renamed {
    tool: Arc<dyn Tool>,
    spec: ToolSpec,
}

impl Tool for Renamed {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: Value, context: ToolContext) -> Later<Result<ToolOutput, ToolError>> {
        self.tool.call(arguments, context)
    }

    fn takes_up(&self) -> bool {
        self.tool.takes_up()
    }
}

fn renamed(tool: Arc<dyn Tool>, name: &ToolName) -> Arc<dyn Tool> {
    if tool.spec().name == *name {
        return tool;
    }
    let spec = ToolSpec { name: name.clone(), ..tool.spec().clone() };
    Arc::new(Renamed { tool, spec })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::{Beside, SessionId};
    use abide_core::capability::{CapabilityStatus, Risk, Tier};
    use abide_core::policy::ToolKind;
    use serde_json::json;

    /// A capability with one tool that answers with the greeting that is configured.
    #[derive(Clone)]
    struct Greeter {
        id: &'static str,
        greeting: String,
        schema: Value,
    }

    struct Greet(ToolSpec, String);

    impl Tool for Greet {
        fn spec(&self) -> &ToolSpec {
            &self.0
        }

        fn call(&self, _: Value, _: ToolContext) -> Later<Result<ToolOutput, ToolError>> {
            let greeting = self.1.clone();
            Box::pin(async { Ok(ToolOutput::Text(greeting)) })
        }
    }

    impl Capability for Greeter {
        fn id(&self) -> CapabilityId {
            CapabilityId::parse(self.id).unwrap()
        }
        fn name(&self) -> &'static str {
            "Greeter"
        }
        fn description(&self) -> &'static str {
            "Greets."
        }
        fn system_prompt_addition(&self) -> Option<&str> {
            Some("Greet with `greet`.")
        }
        fn tools(&self) -> Vec<Arc<dyn Tool>> {
            let spec = ToolSpec {
                name: ToolName::parse("greet").unwrap(),
                description: "greets".to_owned(),
                arguments: self.schema.clone(),
                kind: ToolKind::Other,
                risk: Risk::Low,
                tier: Tier::Auto,
                beside: Beside::Others,
                examples: Vec::new(),
            };
            vec![Arc::new(Greet(spec, self.greeting.clone()))]
        }
        fn configuration(&self) -> Option<Value> {
            let greeting = json!({ "type": "string" });
            Some(
                json!({ "type": "object", "properties": { "greeting": greeting }, "required": ["greeting"] }),
            )
        }
        fn configured(&self, configuration: &Value) -> Result<Arc<dyn Capability>, String> {
            let greeting = configuration["greeting"].as_str().unwrap_or_default().to_owned();
            if greeting.is_empty() {
                Err("a greeting says something".to_owned())
            } else {
                Ok(Arc::new(Self { greeting, ..self.clone() }))
            }
        }
    }

    fn greeter(id: &'static str) -> Greeter {
        Greeter { id, greeting: id.to_owned(), schema: json!({ "type": "object" }) }
    }

    fn registry() -> CapabilityRegistry {
        let mut registry = CapabilityRegistry::default();
        registry.register(Arc::new(greeter("hello"))).unwrap();
        registry.register(Arc::new(greeter("ahoy"))).unwrap();
        registry
    }

    async fn answers(equipment: &Equipment, tool: &str) -> String {
        let context = ToolContext::new(SessionId::parse("s").unwrap());
        equipment.toolbox.find(tool).unwrap().call(json!({}), context).await.unwrap().for_model()
    }

    #[test]
    fn a_registry_takes_only_what_it_can_offer() {
        let mut registry = registry();
        let twice = registry.register(Arc::new(greeter("hello"))).unwrap_err();
        assert_eq!(twice.to_string(), "there are two capabilities `hello`");
        let broken = Greeter { schema: json!({ "type": "array" }), ..greeter("broken") };
        let error = registry.register(Arc::new(broken)).unwrap_err();
        assert!(error.to_string().starts_with("capability `broken`: the schema of tool `greet`"), "{error}");
        let listed = registry.list();
        assert_eq!(listed.iter().map(|info| info.id.as_str()).collect::<Vec<_>>(), ["hello", "ahoy"]);
        assert_eq!((listed[0].risk, &listed[0].status), (Risk::Low, &CapabilityStatus::Available));
    }

    #[tokio::test]
    async fn an_agent_gets_the_tools_and_prompts_of_what_it_names_in_order() {
        let choices = [Choice::of("ahoy")];
        let equipment = registry().equip(&choices, "You help.", Conflicts::Refuse).unwrap();
        assert_eq!(equipment.system_prompt, "Greet with `greet`.\n\nYou help.");
        assert_eq!(answers(&equipment, "greet").await, "ahoy");

        let both = [Choice::of("ahoy"), Choice::of("hello")];
        let refused = registry().equip(&both, "", Conflicts::Refuse).unwrap_err();
        assert!(refused[0].to_string().contains("both have a tool `greet`"), "{refused:?}");
        let equipment = registry().equip(&both, "", Conflicts::Alias).unwrap();
        assert_eq!(answers(&equipment, "greet").await, "ahoy");
        assert_eq!(answers(&equipment, "hello__greet").await, "hello");
    }

    #[tokio::test]
    async fn a_capability_is_configured_for_one_agent_alone() {
        let registry = registry();
        let configured = |value| [Choice { id: "hello".to_owned(), configuration: Some(value) }];
        let equipment =
            registry.equip(&configured(json!({ "greeting": "hi" })), "", Conflicts::Refuse).unwrap();
        assert_eq!(answers(&equipment, "greet").await, "hi");
        let other = registry.equip(&[Choice::of("hello")], "", Conflicts::Refuse).unwrap();
        assert_eq!(answers(&other, "greet").await, "hello");
        for (value, tells) in [
            (json!({ "greeting": 3 }), "/greeting: 3 is not of type \"string\""),
            (json!({}), "\"greeting\" is a required property"),
            (json!({ "greeting": "" }), "a greeting says something"),
        ] {
            let wrong = registry.equip(&configured(value), "", Conflicts::Refuse).unwrap_err();
            assert!(wrong[0].to_string().contains(tells), "{wrong:?}");
        }
    }
}
