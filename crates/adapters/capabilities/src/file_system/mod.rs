//! `session_file_system`: six tools for the files of a session.
//!
//! Paths are parsed once, in the core, so that nothing leads out; where the files lie is the port's business.
//! `tools.rs` has the tools, `search.rs` what `grep_files` does.

pub(crate) mod search;
mod tools;

pub(crate) use tools::told;

use abide_core::capability::CapabilityId;
use abide_engine::port::{Capability, Quota, SessionFiles, Tool};
use serde_json::{Value, json};
use std::sync::Arc;

/// Reads, writes, lists, searches and deletes the files of a session.
#[derive(Clone)]
pub struct FileSystem {
    files: Arc<dyn SessionFiles>,
    quota: Quota,
}

impl FileSystem {
    /// Makes it with a place for the files.
    pub fn new(files: Arc<dyn SessionFiles>) -> Self {
        Self { files, quota: Quota::default() }
    }
}

const GUIDANCE: &str = "\
You have a file system of your own for this session. Nobody else sees it, and it is kept as long as the session is.

- Paths are absolute, such as /docs/notes.md. The root is /.
- Look before you act: list_directory shows what is there, stat_file whether a path exists, grep_files where a text is.
- Read a file before you change it. write_file replaces the whole file and makes the directories above it.
- Write text as it is; use encoding \"base64\" for anything else. read_file says which of the two it returns.
- delete_file takes a directory with something in it only with recursive: true.";

impl Capability for FileSystem {
    fn id(&self) -> CapabilityId {
        CapabilityId::file_system()
    }

    fn name(&self) -> &'static str {
        "File System"
    }

    fn description(&self) -> &'static str {
        "Tools to access and manipulate files in the session file system: read, write, list, search, delete."
    }

    fn system_prompt_addition(&self) -> Option<&str> {
        Some(GUIDANCE)
    }

    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        tools::all(&self.files, self.quota)
    }

    fn icon(&self) -> Option<&str> {
        Some("folder")
    }

    fn category(&self) -> Option<&str> {
        Some("File Operations")
    }

    fn configuration(&self) -> Option<Value> {
        let most = Quota::default();
        let number = |most: u64, description: &str| json!({ "type": "integer", "minimum": 1, "maximum": most, "description": description });
        Some(json!({
            "type": "object",
            "properties": {
                "file_bytes": number(most.file_bytes, "The most bytes in one file."),
                "total_bytes": number(most.total_bytes, "The most bytes in all files."),
                "entries": number(most.entries, "The most files and directories.")
            },
            "additionalProperties": false
        }))
    }

    fn configured(&self, configuration: &Value) -> Result<Arc<dyn Capability>, String> {
        let number =
            |name: &str, usual: u64| configuration.get(name).and_then(Value::as_u64).unwrap_or(usual);
        let quota = Quota {
            file_bytes: number("file_bytes", self.quota.file_bytes),
            total_bytes: number("total_bytes", self.quota.total_bytes),
            entries: number("entries", self.quota.entries),
        };
        Ok(Arc::new(Self { quota, ..self.clone() }))
    }
}
