//! The six tools, each a few lines over the port.

use super::search::{Finding, Search};
use crate::function::{About, fit, tool};
use abide_core::capability::{FilePath, Risk};
use abide_core::event::Timestamp;
use abide_core::policy::ToolKind;
use abide_engine::port::{
    Beside, FileInfo, FilesError, NewFile, Quota, SessionFiles, Tool, ToolError, ToolOutput, Written,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// How many entries of a folder are told at most.
const ENTRIES: usize = 1000;

pub(super) fn all(files: &Arc<dyn SessionFiles>, quota: Quota) -> Vec<Arc<dyn Tool>> {
    vec![
        read_file(Arc::clone(files)),
        write_file(Arc::clone(files), quota),
        list_directory(Arc::clone(files)),
        grep_files(Arc::clone(files)),
        delete_file(Arc::clone(files)),
        stat_file(Arc::clone(files)),
    ]
}

#[derive(Deserialize)]
struct AtPath {
    path: String,
}

#[derive(Deserialize)]
struct Write {
    path: String,
    content: String,
    #[serde(default)]
    encoding: Encoding,
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    #[default]
    Text,
    Base64,
}

#[derive(Deserialize)]
struct List {
    #[serde(default = "root")]
    path: String,
}

fn root() -> String {
    "/".to_owned()
}

#[derive(Deserialize)]
struct Grep {
    pattern: String,
    path_pattern: Option<String>,
}

#[derive(Deserialize)]
struct Delete {
    path: String,
    #[serde(default)]
    recursive: bool,
}

fn path_schema(description: &str) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": 4096, "description": description })
}

fn arguments(properties: &Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn parse(path: &str) -> Result<FilePath, ToolError> {
    FilePath::parse(path).map_err(|error| ToolError::Refused(format!("{path:?}: {error}")))
}

/// Returns what a model is told about what cannot be done with files.
pub(crate) fn told(error: FilesError) -> ToolError {
    match error {
        FilesError::Unreachable(detail) => ToolError::Internal(detail),
        FilesError::Full(_) | FilesError::Readonly(_) | FilesError::Root => {
            ToolError::Refused(error.to_string())
        }
        other => ToolError::Failed(other.to_string()),
    }
}

fn moment(at: Timestamp) -> Value {
    let text = jiff::Timestamp::from_millisecond(at.0).map(|at| at.to_string());
    text.map_or(Value::Null, Value::String)
}

fn read_file(files: Arc<dyn SessionFiles>) -> Arc<dyn Tool> {
    let about = About {
        name: "read_file",
        description: "Read the content of a file. Text comes as it is; anything else comes in base64. A file that is too \
                      long for one answer is cut, and `truncated` says so: grep_files finds what is further down.",
        arguments: arguments(
            &json!({ "path": path_schema("Absolute path to the file, e.g. '/docs/readme.txt'.") }),
            &["path"],
        ),
        kind: ToolKind::Read,
        risk: Risk::None,
        beside: Beside::Others,
        examples: vec![json!({ "path": "/docs/readme.txt" })],
    };
    tool(about, move |AtPath { path }: AtPath, context| {
        let files = Arc::clone(&files);
        async move {
            let path = parse(&path)?;
            let bytes = files.read(&context.session, &path).await.map_err(told)?;
            let size = bytes.len();
            let (mut content, encoding) = match String::from_utf8(bytes) {
                Ok(text) if !text.contains('\0') => (text, "text"),
                Ok(text) => (STANDARD.encode(text), "base64"),
                Err(error) => (STANDARD.encode(error.as_bytes()), "base64"),
            };
            let cut = fit(&mut content, &context);
            if cut && encoding == "base64" {
                // Whole groups of four, so that what is there can be decoded.
                content.truncate(content.len() / 4 * 4);
            }
            let mut answer = json!({
                "path": path.as_str(), "content": content, "encoding": encoding, "size_bytes": size
            });
            if cut {
                answer["truncated"] = json!(true);
            }
            Ok(ToolOutput::Json(answer))
        }
    })
}

fn write_file(files: Arc<dyn SessionFiles>, quota: Quota) -> Arc<dyn Tool> {
    let about = About {
        name: "write_file",
        description: "Create a file or replace its content. The directories above it are made if they are missing.",
        arguments: arguments(
            &json!({
                "path": path_schema("Absolute path for the file."),
                "content": { "type": "string", "description": "The whole content to write." },
                "encoding": {
                    "type": "string", "enum": ["text", "base64"], "default": "text",
                    "description": "How content is encoded."
                }
            }),
            &["path", "content"],
        ),
        kind: ToolKind::Edit,
        risk: Risk::Low,
        beside: Beside::Nothing,
        examples: vec![
            json!({ "path": "/docs/readme.txt", "content": "Hello.\n" }),
            json!({ "path": "/logo.bin", "content": "AAEC/w==", "encoding": "base64" }),
        ],
    };
    tool(about, move |Write { path, content, encoding }: Write, context| {
        let files = Arc::clone(&files);
        async move {
            let path = parse(&path)?;
            let bytes = match encoding {
                Encoding::Text => content.into_bytes(),
                Encoding::Base64 => STANDARD
                    .decode(content)
                    .map_err(|error| ToolError::Failed(format!("content is not base64: {error}")))?,
            };
            let size = bytes.len();
            let file = NewFile { path: path.clone(), bytes, readonly: false };
            let written = files.write(&context.session, file, quota).await.map_err(told)?;
            let created = written == Written::Created;
            Ok(ToolOutput::Json(json!({ "path": path.as_str(), "size_bytes": size, "created": created })))
        }
    })
}

fn list_directory(files: Arc<dyn SessionFiles>) -> Arc<dyn Tool> {
    let mut path = path_schema("Directory to list; the root if left out.");
    path["default"] = json!("/");
    let about = About {
        name: "list_directory",
        description: "List the files and directories that are directly in a directory.",
        arguments: arguments(&json!({ "path": path }), &[]),
        kind: ToolKind::Search,
        risk: Risk::None,
        beside: Beside::Others,
        examples: vec![json!({}), json!({ "path": "/docs" })],
    };
    tool(about, move |List { path }: List, context| {
        let files = Arc::clone(&files);
        async move {
            let path = parse(&path)?;
            let listed = files.list(&context.session, &path).await.map_err(told)?;
            let entries: Vec<Value> = listed.iter().take(ENTRIES).map(entry).collect();
            let mut answer = json!({ "path": path.as_str(), "entries": entries, "count": listed.len() });
            if listed.len() > ENTRIES {
                answer["truncated"] = json!(true);
            }
            Ok(ToolOutput::Json(answer))
        }
    })
}

fn entry(info: &FileInfo) -> Value {
    json!({
        "name": info.path.name(),
        "path": info.path.as_str(),
        "is_directory": info.is_directory,
        "size_bytes": info.size_bytes,
    })
}

fn grep_files(files: Arc<dyn SessionFiles>) -> Arc<dyn Tool> {
    let about = About {
        name: "grep_files",
        description: "Search the lines of all text files with a regular expression.",
        arguments: arguments(
            &json!({
                "pattern": {
                    "type": "string", "minLength": 1, "maxLength": 1000,
                    "description": "Regular expression (RE2 syntax: no look-around, no back-references)."
                },
                "path_pattern": {
                    "type": "string", "minLength": 1, "maxLength": 1000,
                    "description": "Only files whose path fits this glob: '*.txt' looks at names anywhere, \
                                    '/docs/**/*.md' at whole paths."
                }
            }),
            &["pattern"],
        ),
        kind: ToolKind::Search,
        risk: Risk::None,
        beside: Beside::Others,
        examples: vec![
            json!({ "pattern": "TODO|FIXME" }),
            json!({ "pattern": "^# ", "path_pattern": "*.md" }),
        ],
    };
    tool(about, move |Grep { pattern, path_pattern }: Grep, context| {
        let files = Arc::clone(&files);
        async move {
            let mut search = Search::new(&pattern, path_pattern.as_deref()).map_err(ToolError::Failed)?;
            for info in files.files(&context.session).await.map_err(told)? {
                if !search.wants(&info.path) {
                    continue;
                }
                let bytes = match files.read(&context.session, &info.path).await {
                    Ok(bytes) => bytes,
                    // Another call of the session has deleted it meanwhile.
                    Err(FilesError::Missing(_)) => continue,
                    Err(error) => return Err(told(error)),
                };
                search = search.through(info.path, bytes, context.stop.clone()).await?;
                if search.is_over() {
                    break;
                }
            }
            let truncated = search.is_over();
            let matches: Vec<Value> = search.found.iter().map(finding).collect();
            let mut answer = json!({ "pattern": pattern, "matches": matches, "match_count": matches.len() });
            if truncated {
                answer["truncated"] = json!(true);
            }
            Ok(ToolOutput::Json(answer))
        }
    })
}

fn finding(finding: &Finding) -> Value {
    json!({ "path": finding.path.as_str(), "line_number": finding.line_number, "line": finding.line })
}

fn delete_file(files: Arc<dyn SessionFiles>) -> Arc<dyn Tool> {
    let about = About {
        name: "delete_file",
        description: "Delete a file or a directory.",
        arguments: arguments(
            &json!({
                "path": path_schema("Path to the file or directory."),
                "recursive": {
                    "type": "boolean", "default": false,
                    "description": "Delete a directory with everything in it."
                }
            }),
            &["path"],
        ),
        kind: ToolKind::Edit,
        risk: Risk::Low,
        beside: Beside::Nothing,
        examples: vec![json!({ "path": "/docs/readme.txt" }), json!({ "path": "/docs", "recursive": true })],
    };
    tool(about, move |Delete { path, recursive }: Delete, context| {
        let files = Arc::clone(&files);
        async move {
            let path = parse(&path)?;
            files.delete(&context.session, &path, recursive).await.map_err(told)?;
            Ok(ToolOutput::Json(json!({ "path": path.as_str(), "deleted": true })))
        }
    })
}

fn stat_file(files: Arc<dyn SessionFiles>) -> Arc<dyn Tool> {
    let about = About {
        name: "stat_file",
        description: "Get what is known about a file or directory, or that there is none.",
        arguments: arguments(&json!({ "path": path_schema("Path to the file or directory.") }), &["path"]),
        kind: ToolKind::Read,
        risk: Risk::None,
        beside: Beside::Others,
        examples: vec![json!({ "path": "/docs/readme.txt" })],
    };
    tool(about, move |AtPath { path }: AtPath, context| {
        let files = Arc::clone(&files);
        async move {
            let path = parse(&path)?;
            let found = files.stat(&context.session, &path).await.map_err(told)?;
            Ok(ToolOutput::Json(match found {
                None => json!({ "path": path.as_str(), "name": path.name(), "exists": false }),
                Some(info) => json!({
                    "path": path.as_str(),
                    "name": path.name(),
                    "exists": true,
                    "is_directory": info.is_directory,
                    "is_readonly": info.is_readonly,
                    "size_bytes": info.size_bytes,
                    "created_at": moment(info.created_at),
                    "updated_at": moment(info.updated_at),
                }),
            }))
        }
    })
}
