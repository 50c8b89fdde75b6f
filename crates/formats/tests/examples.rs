//! Every example is a definition without a problem, reads back as it is printed, and fits its JSON Schema.
#![expect(clippy::disallowed_methods, reason = "the examples are files")]

use abide_core::definition::check::{References, World};
use abide_core::value::Value;
use abide_formats::ability::{print, read};
use abide_formats::schema::{Format, schema};
use abide_formats::{agent, config, yaml};
use jsonschema::Validator;
use std::fs;
use std::path::{Path, PathBuf};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

/// Returns every file below a folder of the examples, in a stable order.
fn files(folder: &str) -> Vec<PathBuf> {
    let mut folders = vec![examples().join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

fn ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

/// Returns each ability file with its text and the name that its place gives it.
fn abilities() -> Vec<(PathBuf, String, String)> {
    let root = examples().join(".abide/abilities");
    let found: Vec<_> = files(".abide/abilities")
        .into_iter()
        .filter(|path| ending(path, "yaml"))
        .map(|path| {
            let place = path.strip_prefix(&root).unwrap().with_extension("");
            let name = place.to_str().unwrap().trim_end_matches("/ability").to_owned();
            let text = fs::read_to_string(&path).unwrap();
            (path, text, name)
        })
        .collect();
    assert!(found.len() >= 10, "{found:?}");
    found
}

fn validator(format: Format) -> Validator {
    let text = schema(format).to_string();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

/// Returns what a standard validator says about a YAML text.
fn complaints(validator: &Validator, source: &str) -> Vec<String> {
    let document = yaml::parse(source);
    assert!(document.problems.is_empty(), "{:?}", document.problems);
    let json = plain(document.root.as_ref().unwrap()).to_string();
    let instance = serde_json::from_str(&json).unwrap();
    validator.iter_errors(&instance).map(|error| format!("{} at {}", error, error.instance_path())).collect()
}

/// Returns a node as any YAML reader would see it.
fn plain(node: &yaml::Node<'_>) -> Value {
    match &node.content {
        yaml::Content::Scalar(scalar) => match scalar.resolve() {
            yaml::Resolved::Null => Value::Null,
            yaml::Resolved::Bool(value) => Value::Bool(value),
            yaml::Resolved::Int(value) => Value::Int(value),
            yaml::Resolved::Float(value) => Value::Float(value),
            yaml::Resolved::Text => Value::Text(scalar.text.clone().into_owned()),
        },
        yaml::Content::Sequence(items) => Value::List(items.iter().map(plain).collect()),
        yaml::Content::Mapping(entries) => Value::Map(
            entries
                .iter()
                .map(|(key, value)| (key.text().unwrap_or_default().to_owned(), plain(value)))
                .collect(),
        ),
    }
}

#[test]
fn abilities_have_no_problem_and_are_named_by_their_place() {
    for (path, text, name) in abilities() {
        let reading = read(&text, &name);
        assert_eq!(reading.problems, [], "{}", path.display());
        assert_eq!(reading.ability.unwrap().name.as_str(), name, "{}", path.display());
    }
}

#[test]
fn what_abilities_name_elsewhere_exists() {
    let mut world = World::default();
    for path in files(".abide/agents") {
        world.agents.insert(path.file_stem().unwrap().to_str().unwrap().into());
    }
    for path in files(".abide/skills") {
        world.skills.insert(path.parent().unwrap().file_name().unwrap().to_str().unwrap().into());
    }
    let config = config::read(&fs::read_to_string(examples().join(".abide/config.yaml")).unwrap()).config;
    world.secrets = config.secrets.iter().map(|(name, _)| name.as_str().into()).collect();
    let abilities: Vec<_> =
        abilities().iter().map(|(_, text, name)| read(text, name).ability.unwrap()).collect();
    for ability in &abilities {
        let signature = abide_core::definition::check::Signature::of(ability);
        world.abilities.insert(ability.name.as_str().into(), Some(signature));
    }
    for ability in &abilities {
        assert_eq!(References::of(ability).check(&world), [], "{}", *ability.name);
    }
}

#[test]
fn abilities_read_back_as_they_are_printed() {
    for (_, text, name) in abilities() {
        let ability = read(&text, &name).ability.unwrap();
        let printed = print(&ability);
        let again = read(&printed, &name);
        assert_eq!(again.problems, [], "{printed}");
        assert_eq!(again.ability.unwrap(), ability, "{printed}");
    }
}

#[test]
fn a_standard_validator_accepts_every_example() {
    let ability = validator(Format::Ability);
    for (path, text, _) in abilities() {
        assert_eq!(complaints(&ability, &text), [""; 0], "{}", path.display());
    }
    let agent = validator(Format::Agent);
    for path in files(".abide/agents") {
        let text = fs::read_to_string(&path).unwrap();
        let head = text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).unwrap().0;
        assert_eq!(complaints(&agent, head), [""; 0], "{}", path.display());
    }
    let text = fs::read_to_string(examples().join(".abide/config.yaml")).unwrap();
    assert_eq!(complaints(&validator(Format::Config), &text), [""; 0]);
}

#[test]
fn a_standard_validator_refuses_what_abide_refuses() {
    let ability = validator(Format::Ability);
    for source in [
        "description: x",
        "description: x\nsteps: []",
        "description: x\nsteps: [{ id: a, run: x, colour: red }]",
        "description: x\nsteps: [{ id: a, run: x, timeout: 5 }]",
        "description: x\nsteps: [{ id: 1st, run: x }]",
    ] {
        assert!(!complaints(&ability, source).is_empty(), "{source}");
    }
}

#[test]
fn agents_and_the_configuration_have_no_problem() {
    for path in files(".abide/agents") {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let reading = agent::read(&fs::read_to_string(&path).unwrap(), stem);
        assert_eq!(reading.problems, [], "{}", path.display());
        assert_eq!(reading.agent.unwrap().name.as_str(), stem);
    }
    let reading = config::read(&fs::read_to_string(examples().join(".abide/config.yaml")).unwrap());
    assert_eq!(reading.problems, []);
}

#[test]
fn every_file_names_the_schema_beside_it() {
    let config = examples().join(".abide/config.yaml");
    for path in abilities().into_iter().map(|(path, ..)| path).chain([config]) {
        let text = fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap();
        let schema = first.strip_prefix("# yaml-language-server: $schema=").unwrap_or_else(|| {
            panic!("{} does not start with its schema", path.display());
        });
        assert!(path.parent().unwrap().join(schema).is_file(), "{}: {schema}", path.display());
    }
}

#[test]
fn the_table_of_the_readme_has_every_ability() {
    let readme = fs::read_to_string(examples().join("README.md")).unwrap();
    for (path, _, name) in abilities() {
        let place = path.strip_prefix(examples()).unwrap().display().to_string();
        assert!(readme.contains(&format!("| [{name}]({place}) |")), "{name}");
    }
}

#[test]
fn scripts_can_be_started_and_name_their_shell() {
    use std::os::unix::fs::PermissionsExt as _;
    for path in files(".").into_iter().filter(|path| ending(path, "sh")) {
        assert!(fs::read_to_string(&path).unwrap().starts_with("#!/bin/sh\n"), "{}", path.display());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o111, 0o111, "{}", path.display());
    }
}
