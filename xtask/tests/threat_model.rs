//! docs/threat-model.md names what shows each line; a name that nothing has would show nothing.
#![expect(clippy::disallowed_methods, reason = "this reads the repository")]

use std::path::Path;

#[test]
fn every_test_that_the_threat_model_names_is_there() {
    let repository = xtask::repository();
    let page = std::fs::read_to_string(repository.join("docs/threat-model.md")).unwrap();
    let mut sources = String::new();
    read(&repository.join("crates"), &mut sources);
    // Names of tests are sentences; commands and settings have no three underscores.
    let names: Vec<&str> = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|text| text.matches('_').count() >= 3 && !text.contains(char::is_uppercase))
        .collect();
    assert!(names.len() > 20, "{names:?}");
    let is_there = |name: &str| ["(", "<"].iter().any(|next| sources.contains(&format!("fn {name}{next}")));
    let missing: Vec<&&str> = names.iter().filter(|name| !is_there(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let mut cases = page.split('`').filter(|text| text.starts_with(|first: char| first.is_ascii_digit()));
    let lost = cases.find(|case| !repository.join("conformance").join(case).is_dir());
    assert_eq!(lost, None, "no such case of conformance");
}

fn read(folder: &Path, sources: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            read(&path, sources);
        } else if path.extension().is_some_and(|end| end == "rs") {
            sources.push_str(&std::fs::read_to_string(&path).unwrap());
        }
    }
}
