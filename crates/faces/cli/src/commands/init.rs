//! `abide init [DIR]`: a first ability that works, and what editors need to help with the next one.
#![expect(clippy::disallowed_methods, reason = "writing the first files is what this command is for")]

use crate::args::InitArguments;
use crate::session::Session;
use crate::ui::json::from_path;
use crate::{Exit, Failure};
use abide_formats::schema::{Format, pretty, schema};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::Path;

const STARTER: &str = include_str!("../../templates/ability.yaml");
const GITIGNORE: &str = "# What abide keeps about runs on this machine.\nstate/\n";

pub(crate) fn init(session: &mut Session<'_>, arguments: &InitArguments) -> Result<Exit, Failure> {
    let root = session.place.start.join(&arguments.folder);
    let files = [
        (".abide/abilities/hello/ability.yaml", STARTER.to_owned()),
        (".abide/schema/ability.json", pretty(&schema(Format::Ability))),
        (".abide/schema/config.json", pretty(&schema(Format::Config))),
        (".abide/.gitignore", GITIGNORE.to_owned()),
    ];
    let mut written = Vec::new();
    let mut kept = Vec::new();
    for (name, content) in &files {
        if write_new(&root.join(name), content)? {
            written.push(*name);
        } else {
            kept.push(*name);
        }
    }
    if session.json {
        let document: Value = json!({ "folder": from_path(&root), "written": written, "kept": kept });
        session.print_json(&document)?;
        return Ok(Exit::Done);
    }
    for name in &written {
        session.print(&format!("wrote {name}\n"))?;
    }
    for name in &kept {
        session.print(&format!("kept  {name}\n"))?;
    }
    session.say(
        "\nnext\n  abide list             shows the abilities of this project\n  abide show hello       shows everything about one\n  abide graph hello      draws its steps\n  abide validate         finds everything that is wrong\n",
    )?;
    Ok(Exit::Done)
}

/// Writes a file unless it exists; returns whether it did.
fn write_new(path: &Path, content: &str) -> Result<bool, Failure> {
    let failed = |source| Failure::new(Exit::System, format!("cannot write {}: {source}", path.display()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    // `create_new` never overwrites, whoever is quicker.
    match fs::OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(content.as_bytes()).map(|()| true).map_err(failed),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed(error)),
    }
}
