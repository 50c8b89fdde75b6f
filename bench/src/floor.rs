//! The least that validating could cost: the same files read and parsed, and nothing done with them.

use anyhow::{Context, anyhow};
use granit_parser::{Options, Parser};
use serde::de::IgnoredAny;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Parses every file to its last event with the YAML parser that abide uses, and drops the events.
pub(crate) fn events(folder: &Path) -> anyhow::Result<ExitCode> {
    each_file(folder, |text| {
        let mut options = Options::default();
        options.set_emit_comments(false);
        let mut parser = Parser::new_from_str_with_options(text, options);
        let mut count = 0;
        while let Some(event) = parser.next_event() {
            event.map_err(|error| anyhow!("{error}"))?;
            count += 1;
        }
        Ok(count)
    })
}

/// Parses every file with the YAML crate of the field, serde-saphyr, and builds nothing of it.
pub(crate) fn bare(folder: &Path) -> anyhow::Result<ExitCode> {
    each_file(folder, |text| {
        serde_saphyr::from_str::<IgnoredAny>(text).map_err(|error| anyhow!("{error}"))?;
        Ok(1)
    })
}

fn each_file(folder: &Path, parse: impl Fn(&str) -> anyhow::Result<usize>) -> anyhow::Result<ExitCode> {
    let mut folders: Vec<PathBuf> = vec![folder.to_path_buf()];
    let mut total = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
                continue;
            }
            let path = entry.path();
            let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            total += parse(&text).with_context(|| path.display().to_string())?;
        }
    }
    // Printed, so that the work cannot be optimised away.
    println!("{total}");
    Ok(ExitCode::SUCCESS)
}
