//! Which crate may depend on which: arrows point inward.
//!
//! ```text
//! faces (3) → adapters (2) → engine (1) → formats → core (0)      testkit, xtask, bench, fuzz: outside
//! ```
//! The sdk stands beside them: it needs no crate of the workspace, and only the cli uses it.
//! Only normal and build dependencies are arrows: a test may use anything. Start at [`broken_rules`].

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use serde::Deserialize;

/// Where a crate stands, told by its folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// Ring 0: pure values and functions.
    Core,
    /// Ring 0: text to definitions and back.
    Formats,
    /// Ring 1: drives runs through ports.
    Engine,
    /// Ring 2: implements ports with one technology.
    Adapter(String),
    /// Ring 3: the binary, the only place that wires things.
    Cli,
    /// Ring 3: translates one protocol.
    Face(String),
    /// Ring 3: the client of the HTTP API.
    Sdk,
    /// Tests, benchmarks and chores: may use anything, and nothing may need them.
    Outside(String),
}

/// What `cargo metadata --no-deps` says about the workspace, as far as the rules need it.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    packages: Vec<Package>,
    workspace_root: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// `dev`, `build`, or nothing for a normal one.
    kind: Option<String>,
    /// The folder of a dependency that is given by path.
    path: Option<PathBuf>,
}

impl Metadata {
    /// Asks cargo about the workspace in a folder.
    pub fn of(repository: &Path) -> anyhow::Result<Self> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--offline", "--no-deps", "--format-version", "1"])
            .current_dir(repository)
            .output()
            .context("could not start cargo")?;
        ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).context("cargo metadata has another shape")
    }
}

/// Returns one sentence per arrow that may not be, and per crate that has no place.
pub fn broken_rules(metadata: &Metadata) -> Vec<String> {
    let mut broken = Vec::new();
    for package in &metadata.packages {
        let folder = package.manifest_path.parent().unwrap_or(Path::new(""));
        let Some(from) = place(&metadata.workspace_root, folder) else {
            broken.push(format!(
                "`{}` in {} has no place in the architecture: give it one in xtask/src/architecture/arrows.rs",
                package.name,
                folder.display()
            ));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|each| each.kind.as_deref() != Some("dev")) {
            let reason = match &dependency.path {
                Some(folder) => match place(&metadata.workspace_root, folder) {
                    Some(to) => why_not(&from, &to).map(str::to_owned),
                    None => Some("that crate has no place in the architecture".to_owned()),
                },
                None => why_without(&from, &dependency.name).map(str::to_owned),
            };
            if let Some(reason) = reason {
                broken.push(format!(
                    "`{}` ({from}) must not depend on `{}`: {reason}",
                    package.name, dependency.name
                ));
            }
        }
    }
    broken
}

fn place(root: &Path, folder: &Path) -> Option<Place> {
    let path = folder.strip_prefix(root).ok()?;
    let parts: Vec<&str> = path.iter().map(|part| part.to_str().unwrap_or_default()).collect();
    Some(match parts.as_slice() {
        ["crates", "core"] => Place::Core,
        ["crates", "formats"] => Place::Formats,
        ["crates", "engine"] => Place::Engine,
        ["crates", "adapters", name] => Place::Adapter((*name).to_owned()),
        ["crates", "faces", "cli"] => Place::Cli,
        ["crates", "faces", name] => Place::Face((*name).to_owned()),
        ["crates", "sdk"] => Place::Sdk,
        ["crates", "testkit"] => Place::Outside("testkit".to_owned()),
        [name @ ("testkit" | "xtask" | "bench" | "fuzz"), ..] => Place::Outside((*name).to_owned()),
        _ => return None,
    })
}

/// Returns why a crate may not depend on another one of the workspace, or nothing if it may.
fn why_not(from: &Place, to: &Place) -> Option<&'static str> {
    use Place::{Adapter, Cli, Core, Engine, Face, Formats, Outside, Sdk};
    match (from, to) {
        (Outside(_), _)
        | (Formats, Core)
        | (Engine, Core | Formats)
        | (Adapter(_) | Face(_), Core | Formats | Engine)
        | (Cli, Core | Formats | Engine | Adapter(_) | Face(_) | Sdk) => None,
        (_, Outside(_)) => Some("it is for tests and chores; only a dev-dependency may name it"),
        (Core, _) => Some("the core depends on no crate of the workspace"),
        (Formats, _) => Some("formats depend on the core alone"),
        (Engine, _) => {
            Some("the arrow points outward; the engine owns a port, and the other side implements it")
        }
        (Adapter(_), Adapter(_)) => Some("an adapter is one technology; what two of them share is a port"),
        (Adapter(_), _) => Some("the arrow points outward"),
        (Sdk, _) => Some("a client of the server knows what it answers, and nothing of how abide is made"),
        (Face(_), Adapter(_)) => Some("only the cli wires adapters; a face calls the engine"),
        (Face(_), _) => Some("faces do not know each other; what they share is the engine's service"),
        (Cli, Cli) => Some("a crate cannot need itself"),
    }
}

/// What the pure crates do without, and why.
const IMPURE: &[(&[&str], &str)] = &[
    (
        &["tokio", "async-std", "smol", "futures", "futures-util", "async-trait"],
        "`async` begins in the engine",
    ),
    (&["reqwest", "hyper", "ureq", "axum", "sqlx", "rusqlite"], "networks and databases are adapters"),
    (
        &["walkdir", "ignore", "notify", "tempfile", "memmap2", "fs-err", "dirs", "etcetera"],
        "disks are the adapters' business",
    ),
    (&["chrono", "time", "instant"], "a clock comes in through a port, so that a run can be replayed"),
    (&["rand", "getrandom", "fastrand"], "randomness comes in through a port, so that a run can be replayed"),
    (&["tracing", "log"], "a pure function returns what it has to say"),
];

/// What the core does without beyond that: it knows values, not notations.
const NOTATIONS: &[&str] = &["serde_json", "serde_yaml", "serde-saphyr", "granit-parser", "toml", "schemars"];

/// Returns why a crate must do without a crate from outside the workspace, or nothing if it need not.
fn why_without(from: &Place, name: &str) -> Option<&'static str> {
    if matches!(from, Place::Core | Place::Formats)
        && let Some((_, reason)) = IMPURE.iter().find(|(names, _)| names.contains(&name))
    {
        return Some(reason);
    }
    if *from == Place::Core && NOTATIONS.contains(&name) {
        return Some("reading and writing text is for formats");
    }
    if name == "anyhow" && !matches!(from, Place::Cli | Place::Outside(_)) {
        return Some("a library returns its own error type, so that a caller can act on it");
    }
    None
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Core => f.write_str("core, ring 0"),
            Self::Formats => f.write_str("formats, ring 0"),
            Self::Engine => f.write_str("engine, ring 1"),
            Self::Adapter(name) => write!(f, "adapter {name}, ring 2"),
            Self::Cli => f.write_str("cli, ring 3"),
            Self::Face(name) => write!(f, "face {name}, ring 3"),
            Self::Sdk => f.write_str("sdk, ring 3"),
            Self::Outside(name) => write!(f, "{name}, outside the rings"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// A workspace of crates given as (folder, dependencies), each dependency `kind:folder` or `kind:=name`.
    fn workspace(crates: &[(&str, &[&str])]) -> Metadata {
        let packages: Vec<Value> = crates
            .iter()
            .map(|(folder, dependencies)| {
                let dependencies: Vec<Value> = dependencies
                    .iter()
                    .map(|dependency| {
                        let (kind, target) = dependency.split_once(':').unwrap();
                        let kind = if kind == "normal" { Value::Null } else { kind.into() };
                        match target.strip_prefix('=') {
                            Some(name) => json!({ "name": name, "kind": kind }),
                            None => json!({ "name": target, "kind": kind, "path": format!("/r/{target}") }),
                        }
                    })
                    .collect();
                json!({
                    "name": folder,
                    "manifest_path": format!("/r/{folder}/Cargo.toml"),
                    "dependencies": dependencies,
                })
            })
            .collect();
        serde_json::from_value(json!({ "packages": packages, "workspace_root": "/r" })).unwrap()
    }

    #[test]
    fn arrows_that_point_inward_are_fine() {
        let metadata = workspace(&[
            ("crates/core", &["normal:=thiserror", "dev:crates/testkit", "dev:=serde_json"]),
            ("crates/formats", &["normal:crates/core", "normal:=serde_json"]),
            ("crates/engine", &["normal:crates/core", "normal:=tokio", "dev:crates/adapters/process"]),
            ("crates/adapters/process", &["normal:crates/engine", "normal:crates/formats"]),
            ("crates/faces/http", &["normal:crates/engine"]),
            (
                "crates/faces/cli",
                &["normal:crates/faces/http", "normal:crates/adapters/process", "normal:=anyhow"],
            ),
            ("crates/testkit", &["normal:crates/engine", "normal:crates/adapters/process"]),
            ("bench", &["normal:crates/faces/cli", "normal:=anyhow"]),
        ]);
        assert_eq!(broken_rules(&metadata), Vec::<String>::new());
    }

    #[test]
    fn every_other_arrow_is_reported() {
        for (from, to) in [
            ("crates/core", "normal:crates/formats"),
            ("crates/core", "build:crates/formats"),
            ("crates/core", "normal:crates/engine"),
            ("crates/formats", "normal:crates/engine"),
            ("crates/engine", "normal:crates/adapters/process"),
            ("crates/engine", "normal:crates/faces/cli"),
            ("crates/adapters/process", "normal:crates/adapters/catalog"),
            ("crates/adapters/process", "normal:crates/faces/http"),
            ("crates/faces/http", "normal:crates/faces/mcp"),
            ("crates/faces/http", "normal:crates/faces/cli"),
            ("crates/faces/http", "normal:crates/adapters/process"),
            ("crates/sdk", "normal:crates/faces/http"),
            ("crates/sdk", "normal:crates/core"),
            ("crates/faces/cli", "normal:crates/testkit"),
            ("crates/engine", "normal:xtask"),
            ("crates/engine", "normal:crates/unheard-of"),
            ("crates/core", "normal:=tokio"),
            ("crates/core", "normal:=serde_json"),
            ("crates/core", "build:=rand"),
            ("crates/formats", "normal:=reqwest"),
            ("crates/engine", "normal:=anyhow"),
        ] {
            let broken = broken_rules(&workspace(&[(from, &[to])]));
            assert_eq!(broken.len(), 1, "{from} → {to}: {broken:?}");
        }
    }

    #[test]
    fn a_report_names_both_ends_and_the_reason() {
        let broken = broken_rules(&workspace(&[("crates/engine", &["normal:crates/adapters/process"])]));
        assert_eq!(
            broken,
            ["`crates/engine` (engine, ring 1) must not depend on `crates/adapters/process`: \
              the arrow points outward; the engine owns a port, and the other side implements it"]
        );
    }

    #[test]
    fn a_crate_without_a_place_is_reported() {
        let broken = broken_rules(&workspace(&[("crates/misc", &[])]));
        assert!(broken[0].starts_with("`crates/misc` in /r/crates/misc has no place"), "{broken:?}");
    }
}
