//! What an agent's step consists of, before anybody executes it.

use abide_core::event::StepKey;
use abide_core::run::{AgentWork, ContextWork, SkillWork, Work};
use abide_core::value::Value;
use abide_testkit::play::{Do, Play};

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
    play.happen(&Do::Finish("review", "fine")).unwrap();
    let inputs = [("token", "•••"), ("module", "core")];
    let inputs = inputs.map(|(name, value)| (name.to_owned(), Value::Text(value.to_owned())));
    assert_eq!(
        work(&play, "notes"),
        Work::Skill(SkillWork { skill: "notes".to_owned(), inputs: inputs.into() })
    );
}

#[test]
fn an_agent_is_told_what_the_round_before_did_not_reach() {
    let ability = "description: x\nsteps:\n  - { id: fix, agent: default, prompt: Fix it., repeat: { until: 'steps.fix.output == \"green\"', max: 3, delay: 1s } }\n";
    let mut play = Play::start(ability, &[]);
    let missing = |play: &Play| play.run.steps[0].instances[0].missing.clone();
    play.happen(&Do::Finish("fix", "red")).unwrap();
    play.happen(&Do::Wait(1_000)).unwrap();
    assert_eq!(missing(&play), ["`steps.fix.output == \"green\"` does not hold yet"]);
    assert_eq!(play.replayed().steps[0].instances[0].missing, missing(&play));
    play.happen(&Do::Finish("fix", "green")).unwrap();
    assert!(missing(&play).is_empty() && play.run.is_finished());
}
