//! What an agent's step consists of, before anybody executes it.

use abide_core::event::StepKey;
use abide_core::run::{AgentWork, ContextWork, SkillWork, Work};
use abide_core::value::Value;
use abide_testkit::play::Play;

const ABILITY: &str = r#"
name: review
description: A review
inputs:
  token: { secret: true }
  module: { default: core }
steps:
  - id: review
    agent: default
    prompt: "Use {{inputs.token}} for {{inputs.module}}."
    context:
      - README.md
      - "src/**/*.rs"
      - "./src/{{inputs.module}}/"
      - "{{inputs.module}}/README.md"
      - "{{inputs.module}}"
      - "{{inputs.module}}-{{inputs.module}}"
      - "See src/{{inputs.module}}/ first."
      - "token/{{inputs.token}}"
  - { id: notes, skill: notes, inputs: { token: "{{inputs.token}}", module: "{{inputs.module}}" } }
"#;

fn work(play: &Play, step: &str) -> Work {
    let secrets = [("token".to_owned(), "hunter2".to_owned())];
    play.run.work(&StepKey::parse(step).unwrap(), &secrets).unwrap()
}

#[test]
fn a_prompt_never_holds_a_secret_and_each_context_is_files_or_a_text() {
    let mut play = Play::start(ABILITY, &[("token", Value::Text("•••".into()))]);
    let files = |pattern: &str| ContextWork::Files(pattern.to_owned());
    let text = |text: &str| ContextWork::Text(text.to_owned());
    let expected = AgentWork {
        agent: "default".to_owned(),
        prompt: "Use ••• for core.".to_owned(),
        context: vec![
            files("README.md"),
            files("src/**/*.rs"),
            files("./src/core/"),
            files("core/README.md"),
            text("core"),
            text("core-core"),
            text("See src/core/ first."),
            files("token/•••"),
        ],
    };
    assert_eq!(work(&play, "review"), Work::Agent(expected));
    play.happen(&abide_testkit::play::Do::Finish("review", "fine")).unwrap();
    let inputs = [("token", "•••"), ("module", "core")];
    let inputs = inputs.map(|(name, value)| (name.to_owned(), Value::Text(value.to_owned())));
    assert_eq!(
        work(&play, "notes"),
        Work::Skill(SkillWork { skill: "notes".to_owned(), inputs: inputs.into() })
    );
}
