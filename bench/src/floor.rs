//! The least that validating could cost: the same files read and parsed, and nothing done with them.

use anyhow::{Context, anyhow};
use granit_parser::{Options, Parser};
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

/// Parses every file into an untyped value with serde, and drops the value.
pub(crate) fn value(folder: &Path) -> anyhow::Result<ExitCode> {
    each_file(folder, |text| {
        let value: serde_json::Value = serde_saphyr::from_str(text).map_err(|error| anyhow!("{error}"))?;
        Ok(value.as_object().map_or(0, serde_json::Map::len))
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
