//! `explain`, `schema` and `completions`: what abide knows about itself.

use crate::support::Project;
use abide_core::diagnostic::Code;
use abide_formats::schema::{Format, pretty, schema};
use std::io::Write as _;
use std::process::{Command, Stdio};

#[test]
fn every_code_has_a_page_however_it_is_typed() {
    let project = Project::new();
    let list = project.abide(&["explain"]).out;
    let documents = project.json(&["explain"]);
    assert_eq!(documents["codes"].as_array().unwrap().len(), Code::ALL.len());
    for code in Code::ALL {
        assert!(list.contains(&format!("{}  {}", code.id(), code.title())), "{code}");
        let outcome = project.abide(&["explain", code.id()]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{code}");
        assert_eq!(outcome.out, code.page(), "{code}");
    }
    let code = Code::ALL[0];
    assert_eq!(project.abide(&["explain", &code.id().to_lowercase()]).out, code.page());
    assert_eq!(project.json(&["explain", code.id()])["page"], code.page());
}

#[test]
fn an_unknown_code_is_not_found() {
    let outcome = Project::new().abide(&["explain", "E9999"]);
    assert_eq!((outcome.code, outcome.out.as_str()), (Some(3), ""));
    assert!(outcome.err.contains("`E9999` is not a code"), "{outcome:?}");
}

#[test]
fn the_schema_is_the_generated_one() {
    let project = Project::new();
    for (name, format) in [("ability", Format::Ability), ("config", Format::Config), ("agent", Format::Agent)]
    {
        let outcome = project.abide(&["schema", name]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""));
        assert_eq!(outcome.out, pretty(&schema(format)), "{name}");
    }
    assert_eq!(project.abide(&["schema"]).out, project.abide(&["schema", "ability"]).out);
    project.abide(&["init"]);
    let written = std::fs::read_to_string(project.path(".abide/schema/ability.json")).unwrap();
    assert_eq!(written, project.abide(&["schema"]).out);
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let outcome = project.abide(&["completions", shell]);
        assert_eq!((outcome.code, outcome.err.as_str()), (Some(0), ""), "{shell}");
        for command in ["validate", "explain", "doctor", "deny-warnings"] {
            assert!(outcome.out.contains(command), "{shell}: {command}");
        }
        assert_eq!(project.json(&["completions", shell])["script"], outcome.out.as_str());
    }
}

#[test]
fn shells_accept_their_scripts() {
    let project = Project::new();
    for shell in ["bash", "zsh", "fish"] {
        let started = Command::new(shell).arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
        // Only bash is promised by ./test; the others are asked where they are installed.
        let Ok(mut child) = started else {
            assert_ne!(shell, "bash", "bash is not installed");
            continue;
        };
        let script = project.abide(&["completions", shell]).out;
        child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
