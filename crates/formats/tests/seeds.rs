//! The ability files that the product was asked for parse as they were printed.

use abide_core::diagnostic::Code;
use abide_formats::ability::{Reading, print, read};

fn reading(source: &str) -> Reading {
    let reading = read(source, "seed");
    let errors: Vec<_> = reading.problems.iter().filter(|problem| problem.is_error()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
    reading
}

#[test]
fn the_complete_example_has_no_problem() {
    let reading = reading(include_str!("seeds/complete.yaml"));
    assert_eq!(reading.problems, []);
    let ability = reading.ability.unwrap();
    assert_eq!(ability.name.as_str(), "safe-deploy");
    assert_eq!(ability.version.as_ref().unwrap().value, "1.0.0");
    assert_eq!(ability.steps.len(), 5);
}

#[test]
fn every_step_type_is_understood_and_unquoted_templates_are_pointed_out() {
    let reading = reading(include_str!("seeds/step-types.yaml"));
    let codes: Vec<Code> = reading.problems.iter().map(|problem| problem.code).collect();
    assert_eq!(codes, [Code::UnquotedTemplate, Code::UnquotedTemplate]);
    let ability = reading.ability.unwrap();
    let types: Vec<&str> = ability.steps.iter().map(|step| step.kind.step_type().word()).collect();
    assert_eq!(
        types,
        ["script", "script", "agent", "skill", "approval", "workflow", "agent", "agent", "agent", "agent"]
    );
}

#[test]
fn what_is_printed_reads_back_as_the_same_ability() {
    for source in [include_str!("seeds/complete.yaml"), include_str!("seeds/step-types.yaml")] {
        let ability = reading(source).ability.unwrap();
        let printed = print(&ability);
        assert_eq!(reading(&printed).ability.unwrap(), ability, "{printed}");
    }
}
