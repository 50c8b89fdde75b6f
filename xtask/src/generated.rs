//! Files that are made from code and checked in, so that a reader needs no build to see them.
//!
//! To add one, add a line to [`FILES`] and run `cargo xtask generated`.

use std::fs;
use std::path::Path;

use abide_formats::reference;
use abide_formats::schema::{self, Format};
use anyhow::{Context, bail};

/// Every generated file of the repository.
pub const FILES: &[Generated] = &[
    Generated {
        path: "schema/ability.json",
        contents: || Ok(schema::pretty(&schema::schema(Format::Ability))),
    },
    Generated {
        path: "schema/config.json",
        contents: || Ok(schema::pretty(&schema::schema(Format::Config))),
    },
    Generated {
        path: "schema/capability.json",
        contents: || Ok(schema::pretty(&schema::schema(Format::Capability))),
    },
    Generated { path: "schema/agent.json", contents: || Ok(schema::pretty(&schema::schema(Format::Agent))) },
    Generated { path: "schema/openapi.json", contents: || Ok(format!("{:#}\n", abide_http::openapi())) },
    Generated {
        path: "sdk-typescript/src/schema.ts",
        contents: || crate::typescript::module(&abide_http::openapi()),
    },
    // What the compiler makes of the one above.
    Generated {
        path: "sdk-typescript/dist/schema.d.ts",
        contents: || crate::typescript::module(&abide_http::openapi()),
    },
    Generated { path: "docs/reference.md", contents: || Ok(reference::markdown()) },
    Generated {
        path: "clients/claude-code/hooks/hooks.json",
        contents: || Ok(abide_clients::claude::plugin_hooks()),
    },
    Generated {
        path: "clients/claude-code/.claude-plugin/plugin.json",
        contents: || Ok(abide_clients::claude::plugin_manifest()),
    },
    Generated { path: "docs/cli.md", contents: || Ok(abide_cli::reference::markdown()) },
];

/// A file whose bytes follow from the code.
#[derive(Debug, Clone, Copy)]
pub struct Generated {
    /// Where it is kept, from the root of the repository.
    pub path: &'static str,
    /// Returns what it must hold.
    pub contents: fn() -> anyhow::Result<String>,
}

/// What to do about a file that is not up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Write it.
    Write,
    /// Leave it, and fail.
    Check,
}

/// Writes every file that differs from what its generator says, or fails and names each of them.
pub fn bring_up_to_date(repository: &Path, files: &[Generated], mode: Mode) -> anyhow::Result<()> {
    let mut stale = Vec::new();
    for file in files {
        let expected = (file.contents)().with_context(|| format!("could not generate {}", file.path))?;
        let path = repository.join(file.path);
        let found = match fs::read_to_string(&path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("could not read {}", path.display())),
        };
        if found.as_deref() == Some(expected.as_str()) {
            continue;
        }
        match mode {
            Mode::Check => {
                stale.push(format!("  {}: {}", file.path, difference(found.as_deref(), &expected)));
            }
            Mode::Write => {
                if let Some(folder) = path.parent() {
                    fs::create_dir_all(folder)
                        .with_context(|| format!("could not make {}", folder.display()))?;
                }
                fs::write(&path, expected).with_context(|| format!("could not write {}", path.display()))?;
                println!("wrote {}", file.path);
            }
        }
    }
    if !stale.is_empty() {
        bail!(
            "generated files are not up to date\n{}\n\
             run `cargo xtask generated`, then look at `git diff` and commit it",
            stale.join("\n")
        );
    }
    println!("{} generated files are up to date", files.len());
    Ok(())
}

/// Says where the file starts to differ: enough to know which change it was.
fn difference(found: Option<&str>, expected: &str) -> String {
    let Some(found) = found else { return "is missing".to_owned() };
    let mut found = found.lines();
    let mut expected = expected.lines();
    for line in 1.. {
        match (found.next(), expected.next()) {
            (None, None) => break,
            (have, want) if have == want => {}
            (have, want) => {
                return format!(
                    "line {line} differs\n    - {}\n    + {}",
                    have.unwrap_or("(end of file)"),
                    want.unwrap_or("(end of file)")
                );
            }
        }
    }
    "differs in its line endings or its last line break".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLOURS: &[Generated] =
        &[Generated { path: "schema/colours.txt", contents: || Ok("red\ngreen\n".to_owned()) }];

    #[test]
    fn a_file_that_was_written_passes_the_check() {
        let folder = tempfile::tempdir().unwrap();
        bring_up_to_date(folder.path(), COLOURS, Mode::Write).unwrap();
        bring_up_to_date(folder.path(), COLOURS, Mode::Check).unwrap();
    }

    #[test]
    fn a_missing_file_fails_the_check_and_stays_missing() {
        let folder = tempfile::tempdir().unwrap();
        let error = bring_up_to_date(folder.path(), COLOURS, Mode::Check).unwrap_err().to_string();
        assert!(error.contains("schema/colours.txt: is missing"), "{error}");
        assert!(!folder.path().join("schema/colours.txt").exists());
    }

    #[test]
    fn a_stale_file_is_named_with_its_first_difference_and_the_command_that_refreshes_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("schema")).unwrap();
        fs::write(folder.path().join("schema/colours.txt"), "red\nblue\n").unwrap();
        let error = bring_up_to_date(folder.path(), COLOURS, Mode::Check).unwrap_err().to_string();
        assert_eq!(
            error,
            "generated files are not up to date\n  \
             schema/colours.txt: line 2 differs\n    - blue\n    + green\n\
             run `cargo xtask generated`, then look at `git diff` and commit it"
        );
    }

    #[test]
    fn a_lost_last_line_break_is_a_difference() {
        assert_eq!(difference(Some("red"), "red\n"), "differs in its line endings or its last line break");
    }
}
